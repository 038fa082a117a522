//! Document to FlexBuffers, without recursion: what an array or object holds is written before it,
//! so values wait on a stack until what holds them ends.
//!
//! Widths and alignment are those of the official writers: all elements of a vector have the width
//! of its widest, and an offset's width depends on where it will stand.

use super::super::Refusal;
use super::super::cursor::{number, text};
use super::keys::{KeyList, Keys};
use super::kind;
use crate::document::{Document, Node, Span};

/// The longest output whose places 32 bits tell apart.
const PLACE_MAX: u64 = u32::MAX as u64;

/// A value whose own bytes are written, or that will stand within what holds it.
#[derive(Debug, Clone, Copy)]
struct Value {
    kind: u8,
    /// The least width of the value, or that of what it points to, as a power of two.
    width: u8,
    /// The value itself, or where its bytes stand.
    bits: u64,
}

impl Value {
    fn is_inline(self) -> bool {
        self.kind <= kind::FLOAT || self.kind == kind::BOOL
    }

    /// The byte that says what an element of this width is.
    fn packed(self, width: u8) -> u8 {
        let width = if self.is_inline() { self.width.max(width) } else { self.width };
        self.kind << 2 | width
    }
}

/// An array or object that is being written.
struct Level {
    /// Index of the first node after it.
    end: usize,
    is_object: bool,
    /// Its first value and its first key among those that wait.
    values: usize,
    keys: usize,
}

/// The buffer, with places counted from its start.
struct Output<'o> {
    bytes: &'o mut Vec<u8>,
    start: usize,
}

pub(super) fn encode(document: &Document, out: &mut Vec<u8>) -> Result<(), Refusal> {
    out.reserve(document.text().len() + document.nodes().len() * 3);
    let output = Output { start: out.len(), bytes: out };
    let mut encoder = Encoder {
        document,
        output,
        values: Vec::new(),
        places: Vec::new(),
        sorted: Vec::new(),
        keys: Keys::default(),
    };
    let nodes = document.nodes();
    let mut open: Vec<Level> = Vec::new();
    let mut index = 0;
    loop {
        while let Some(level) = open.pop_if(|level| level.end == index) {
            encoder.close(&level);
        }
        if open.last().is_some_and(|level| level.is_object)
            && let Some(&Node::String(span)) = nodes.get(index)
        {
            encoder.key(span, open.last().map_or(0, |level| level.keys))?;
            index += 1;
        }
        let Some(&node) = nodes.get(index) else { break };
        index += 1;
        if let Node::Array { end, .. } | Node::Object { end, .. } = node {
            open.push(Level {
                end: end as usize,
                is_object: matches!(node, Node::Object { .. }),
                values: encoder.values.len(),
                keys: encoder.places.len(),
            });
        } else {
            let value = encoder.scalar(node)?;
            encoder.values.push(value);
        }
        if encoder.output.position() as u64 > PLACE_MAX {
            return Err(Refusal::TooLong { what: "the buffer", limit: PLACE_MAX });
        }
    }
    encoder.finish();
    Ok(())
}

struct Encoder<'d, 'o> {
    document: &'d Document,
    output: Output<'o>,
    /// Values that are not in their array or object yet, outermost first.
    values: Vec<Value>,
    /// Where the keys of the objects that are open stand.
    places: Vec<u32>,
    /// The values of an object in the order of its sorted keys.
    sorted: Vec<Value>,
    keys: Keys<'d>,
}

impl Encoder<'_, '_> {
    /// A key of the object whose first key is `first` among those that wait.
    fn key(&mut self, span: Span, first: usize) -> Result<(), Refusal> {
        let key = text::checked(self.document, span)?;
        if text::find_nul(key).is_some() {
            return Err(Refusal::NulInKey);
        }
        let before = self.places[first..].last().copied();
        let place = match self.keys.find(key, before) {
            Some(place) => place,
            None => {
                let place = self.output.position() as u32;
                text::append(self.output.bytes, self.document, span);
                self.output.bytes.push(0);
                self.keys.add(key, place);
                place
            }
        };
        self.places.push(place);
        Ok(())
    }

    fn scalar(&mut self, node: Node) -> Result<Value, Refusal> {
        Ok(match node {
            Node::Null => Value { kind: kind::NULL, width: 0, bits: 0 },
            Node::Bool(value) => Value { kind: kind::BOOL, width: 0, bits: u64::from(value) },
            Node::Int(value) => {
                // One bit more than the magnitude, for the sign.
                let magnitude = (value ^ value >> 63) as u64;
                Value { kind: kind::INT, width: width_of(magnitude << 1), bits: value as u64 }
            }
            Node::Uint(value) => Value { kind: kind::UINT, width: width_of(value), bits: value },
            Node::Float(value) => float(value),
            Node::Decimal(span) => {
                let text = self.document.bytes(span);
                float(number::exact_float(text).ok_or_else(|| number::refuse(text))?)
            }
            Node::String(span) => {
                text::checked(self.document, span)?;
                let width = width_of(u64::from(span.length));
                self.output.align(width);
                self.output.unsigned(u64::from(span.length), width);
                let at = self.output.position() as u64;
                text::append(self.output.bytes, self.document, span);
                self.output.bytes.push(0);
                Value { kind: kind::STRING, width, bits: at }
            }
            Node::Array { .. } | Node::Object { .. } => unreachable!("these are opened"),
        })
    }

    /// Writes an array or object whose values are all there.
    fn close(&mut self, level: &Level) {
        let value = if level.is_object { self.map(level) } else { self.array(level) };
        self.values.truncate(level.values);
        self.places.truncate(level.keys);
        self.values.push(value);
    }

    fn array(&mut self, level: &Level) -> Value {
        let elements = &self.values[level.values..];
        match common_kind(elements) {
            Some(of) => self.output.vector(elements, None, of),
            None => self.output.vector(elements, None, kind::VECTOR),
        }
    }

    fn map(&mut self, level: &Level) -> Value {
        let places = &self.places[level.keys..];
        if self.keys.list(places).is_none() {
            let list = self.output.key_list(places);
            self.keys.add_list(places, list);
        }
        let Some(list) = self.keys.list(places) else { unreachable!("the list was added") };
        let values = &self.values[level.values..];
        self.sorted.clear();
        self.sorted.extend(list.order.iter().map(|&index| values[index as usize]));
        self.output.vector(&self.sorted, Some(list), kind::MAP)
    }

    /// The value that holds all others stands last, then its type and its width.
    fn finish(&mut self) {
        let Some(&root) = self.values.first() else { unreachable!("a document has a value") };
        let width = self.output.width_of_element(root, 0);
        self.output.align(width);
        self.output.element(root, width);
        self.output.bytes.push(root.packed(0));
        self.output.bytes.push(1 << width);
    }
}

/// The typed vector that these elements can stand in, if all are numbers of one type or booleans.
fn common_kind(elements: &[Value]) -> Option<u8> {
    let of = elements.first()?.kind;
    if elements.iter().any(|element| element.kind != of) {
        return None;
    }
    match of {
        kind::INT..=kind::FLOAT => Some(of - kind::INT + kind::VECTOR_INT),
        kind::BOOL => Some(kind::VECTOR_BOOL),
        _ => None,
    }
}

fn float(value: f64) -> Value {
    let is_single = f64::from(value as f32) == value;
    Value { kind: kind::FLOAT, width: if is_single { 2 } else { 3 }, bits: value.to_bits() }
}

/// The least width that holds an unsigned number, as a power of two.
fn width_of(value: u64) -> u8 {
    match value {
        0..=0xFF => 0,
        0x100..=0xFFFF => 1,
        0x1_0000..=0xFFFF_FFFF => 2,
        _ => 3,
    }
}

impl Output<'_> {
    fn position(&self) -> usize {
        self.bytes.len() - self.start
    }

    /// The bytes that are missing to a multiple of a width.
    fn padding(&self, width: u8) -> usize {
        self.position().wrapping_neg() & ((1 << width) - 1)
    }

    fn align(&mut self, width: u8) {
        let length = self.bytes.len() + self.padding(width);
        self.bytes.resize(length, 0);
    }

    fn unsigned(&mut self, value: u64, width: u8) {
        self.bytes.extend_from_slice(&value.to_le_bytes()[..1 << width]);
    }

    fn offset(&mut self, to: u64, width: u8) {
        self.unsigned(self.position() as u64 - to, width);
    }

    /// The width of an offset to a place from the element of this index of a vector that is about
    /// to be written.
    fn width_of_offset(&self, to: u64, index: usize) -> u8 {
        let fits = |&width: &u8| {
            let at = self.position() + self.padding(width) + (index << width);
            width_of(at as u64 - to) <= width
        };
        (0..3).find(fits).unwrap_or(3)
    }

    fn width_of_element(&self, value: Value, index: usize) -> u8 {
        if value.is_inline() { value.width } else { self.width_of_offset(value.bits, index) }
    }

    fn element(&mut self, value: Value, width: u8) {
        match value.kind {
            kind::FLOAT if width == 2 => {
                let single = f64::from_bits(value.bits) as f32;
                self.bytes.extend_from_slice(&single.to_le_bytes());
            }
            _ if value.is_inline() => self.unsigned(value.bits, width),
            _ => self.offset(value.bits, width),
        }
    }

    /// A vector or map of elements; what stands in front of them counts as elements too.
    fn vector(&mut self, elements: &[Value], keys: Option<&KeyList>, kind: u8) -> Value {
        let before = if keys.is_some() { 3 } else { 1 };
        let mut width = width_of(elements.len() as u64);
        if let Some(keys) = keys {
            width = width.max(self.width_of_offset(keys.at as u64, 0));
        }
        for (index, &element) in elements.iter().enumerate() {
            width = width.max(self.width_of_element(element, before + index));
        }
        self.align(width);
        if let Some(keys) = keys {
            self.offset(keys.at as u64, width);
            self.unsigned(1 << keys.width, width);
        }
        self.unsigned(elements.len() as u64, width);
        let at = self.position() as u64;
        for &element in elements {
            self.element(element, width);
        }
        if matches!(kind, kind::VECTOR | kind::MAP) {
            self.bytes.extend(elements.iter().map(|element| element.packed(width)));
        }
        Value { kind, width, bits: at }
    }

    /// The sorted list of the keys at these places.
    fn key_list(&mut self, places: &[u32]) -> KeyList {
        let mut order: Vec<u32> = (0..places.len() as u32).collect();
        let text = |index: &u32| {
            let place = places[*index as usize];
            let rest = &self.bytes[self.start + place as usize..];
            (&rest[..text::find_nul(rest).unwrap_or(rest.len())], place)
        };
        order.sort_unstable_by(|a, b| text(a).cmp(&text(b)));
        let key = |&index: &u32| Value {
            kind: kind::KEY,
            width: 0,
            bits: u64::from(places[index as usize]),
        };
        let sorted: Vec<Value> = order.iter().map(key).collect();
        let list = self.vector(&sorted, None, kind::VECTOR_KEY);
        KeyList { at: list.bits as usize, width: list.width, order }
    }
}
