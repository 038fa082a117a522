//! What the encodings with a schema share in their work: how a document is walked and numbers are
//! written, which fields of an object were met, which keys of a map, and how often another way may
//! be tried.

#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod testing;

use foldhash::{HashSet, HashSetExt};

use super::cursor::text::is_utf8;
use crate::document::{Document, Node, Span};
use crate::schema::Outside;
use crate::schema::tagged::Record;

/// After so many values that did not fit the way tried first, no second way is tried for a value:
/// each try may write much before it fails, and tries nest.
pub(super) const FAILED_TRIES_MAX: u32 = 1024;

/// Which fields of one object were met.
pub(super) struct Met {
    low: u64,
    high: Vec<u64>,
}

impl Met {
    /// None of so many fields.
    #[inline]
    pub(super) fn none(fields: usize) -> Met {
        let high = if fields > 64 { vec![0; fields.div_ceil(64) - 1] } else { Vec::new() };
        Met { low: 0, high }
    }

    /// Notes a field, and answers whether it is met for the first time.
    #[inline]
    pub(super) fn insert(&mut self, field: usize) -> bool {
        let word = match field.checked_sub(64) {
            None => &mut self.low,
            Some(above) => &mut self.high[above / 64],
        };
        let bit = 1 << (field % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    fn contains(&self, field: usize) -> bool {
        let word = match field.checked_sub(64) {
            None => self.low,
            Some(above) => self.high[above / 64],
        };
        word & (1 << (field % 64)) != 0
    }

    /// Refuses an object, which stands at `node`, that other readers would not take as it is.
    #[inline]
    pub(super) fn check(&self, record: &Record, node: usize) -> Result<(), Outside> {
        if record.required.is_empty() && record.choices.is_empty() {
            return Ok(());
        }
        self.check_all(record, node)
    }

    fn check_all(&self, record: &Record, node: usize) -> Result<(), Outside> {
        if record.required.iter().any(|&field| !self.contains(field)) {
            return Err(Outside { node, what: "a key that the schema requires is missing" });
        }
        let stand = |fields: &[usize]| fields.iter().filter(|&&f| self.contains(f)).count();
        if record.choices.iter().any(|fields| stand(fields) > 1) {
            return Err(Outside { node, what: "it has two keys of which the schema takes one" });
        }
        Ok(())
    }
}

/// The pairs of an object: the nodes of each key and value.
pub(super) fn pairs(document: &Document, object: usize) -> impl Iterator<Item = (usize, usize)> {
    let end = document.end_of(object);
    let mut key = object + 1;
    std::iter::from_fn(move || {
        let pair = (key < end).then_some((key, key + 1))?;
        key = document.end_of(key + 1);
        Some(pair)
    })
}

/// The elements of an array: the node that each starts with.
pub(super) fn elements(document: &Document, array: usize) -> impl Iterator<Item = usize> {
    let end = document.end_of(array);
    let mut element = array + 1;
    std::iter::from_fn(move || {
        let found = (element < end).then_some(element)?;
        element = document.end_of(element);
        Some(found)
    })
}

/// Where a key, or a string that must be one, stands in the document's text.
#[inline]
pub(super) fn span_of(document: &Document, node: usize) -> Span {
    match document.nodes()[node] {
        Node::String(span) => span,
        _ => Span { start: 0, length: 0 },
    }
}

/// The bytes of a key, or of a string that must be one.
#[inline]
pub(super) fn bytes_of(document: &Document, node: usize) -> &[u8] {
    match document.nodes()[node] {
        Node::String(span) => document.bytes(span),
        _ => &[],
    }
}

/// Where a key, or a string that must be one, stands, unless other languages could not read it.
#[inline]
pub(super) fn text_of(document: &Document, node: usize) -> Result<Span, Outside> {
    match document.nodes()[node] {
        Node::String(span) if is_utf8(document.bytes(span)) => Ok(span),
        _ => Err(Outside { node, what: "it holds a lone surrogate" }),
    }
}

/// Appends a number in groups of 7 bits, lowest first.
#[inline]
pub(super) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a number in the same way, its sign in the lowest bit.
#[inline]
pub(super) fn put_zigzag(out: &mut Vec<u8>, value: i64) {
    put_varint(out, (value << 1 ^ value >> 63) as u64);
}

/// Refuses an object as a map if a key stands in it twice: other readers keep the last only.
pub(super) fn check_map(document: &Document, object: usize) -> Result<(), Outside> {
    let Node::Object { length, .. } = document.nodes()[object] else {
        return Err(Outside { node: object, what: "it is no object" });
    };
    if length < 2 {
        return Ok(());
    }
    let mut keys = HashSet::with_capacity(length as usize);
    for (key, value) in pairs(document, object) {
        if !keys.insert(bytes_of(document, key)) {
            return Err(Outside { node: value, what: "its key stands twice in a map" });
        }
    }
    Ok(())
}
