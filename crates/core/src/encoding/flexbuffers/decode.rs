//! FlexBuffers to document, without recursion: a stack of the vectors and maps that are being
//! read, each with the place of its elements.
//!
//! Offsets may lead anywhere before them, also to the same bytes many times or in circles. So every
//! vector pays for its elements out of the length of the input, and every key and string for its
//! bytes out of what a payload may have; whoever asks for more is refused.

use super::super::DecodeError;
use super::super::cursor::Cursor;
use super::super::cursor::text::{find_nul, is_utf8};
use super::kind;
use crate::document::{Document, DocumentError, Node, Span};
use crate::limits::PAYLOAD_BYTES_MAX;

/// A vector or map that is being read.
struct Level {
    /// Where its elements stand.
    at: usize,
    /// The width of an element in bytes.
    width: usize,
    /// How many elements it has, and how many of them are read.
    length: usize,
    next: usize,
    /// The type of every element, where they have no types of their own.
    of: Option<u8>,
    /// A map's first pair among those of all open maps.
    pairs: Option<usize>,
}

/// A pair of a map: the place of its key, and its index in the map.
type Pair = (u32, u32);

pub(super) fn decode(bytes: &[u8], document: &mut Document) -> Result<(), DecodeError> {
    let cursor = Cursor::start("flexbuffers", bytes, document)?;
    let mut reader =
        Reader { bytes, cursor, elements_left: bytes.len(), text_left: PAYLOAD_BYTES_MAX };
    let [.., packed, width] = bytes else { return Err(reader.cursor.ends_early()) };
    let end = bytes.len() - 2;
    let width = usize::from(*width);
    if !matches!(width, 1 | 2 | 4 | 8) || width > end {
        return Err(reader.corrupt(end + 1, "a root of an impossible width"));
    }
    let mut open: Vec<Level> = Vec::new();
    let mut pairs: Vec<Pair> = Vec::new();
    let mut element = (end - width, width, *packed);
    loop {
        let (at, width, packed) = element;
        match reader.value(at, width, packed, &mut pairs)? {
            Found::Scalar(node) => document.push(node),
            Found::Open(level) => {
                document.open(level.pairs.is_some())?;
                open.push(level);
            }
        }
        loop {
            let Some(level) = open.last_mut() else { return Ok(()) };
            if level.next < level.length {
                let mut index = level.next;
                level.next += 1;
                if let Some(first) = level.pairs {
                    let (key, place) = pairs[first + index];
                    document.push(Node::String(reader.key(key as usize)?));
                    index = place as usize;
                }
                let at = level.at + index * level.width;
                let types = level.at + level.length * level.width;
                let packed = level.of.unwrap_or_else(|| bytes[types + index]);
                element = (at, level.width, packed);
                break;
            }
            document.close(level.length as u32);
            if let Some(first) = level.pairs {
                pairs.truncate(first);
            }
            open.pop();
        }
    }
}

/// What stands at a place.
enum Found {
    Scalar(Node),
    Open(Level),
}

struct Reader<'a> {
    bytes: &'a [u8],
    /// Makes spans and errors; nothing is read through it, since nothing stands in order.
    cursor: Cursor<'a>,
    /// How many bytes of elements may still be read.
    elements_left: usize,
    /// How many bytes of keys and strings may still be read.
    text_left: usize,
}

impl Reader<'_> {
    #[cold]
    fn corrupt(&self, offset: usize, what: &'static str) -> DecodeError {
        self.cursor.corrupt_at(offset, what)
    }

    /// The value of an element, `at` where it lies within the input.
    fn value(
        &mut self,
        at: usize,
        width: usize,
        packed: u8,
        pairs: &mut Vec<Pair>,
    ) -> Result<Found, DecodeError> {
        let (of, child) = (packed >> 2, 1 << (packed & 3));
        Ok(Found::Scalar(match of {
            kind::NULL => Node::Null,
            kind::BOOL => Node::Bool(self.unsigned(at, width)? != 0),
            kind::INT..=kind::FLOAT => self.number(of, at, width)?,
            kind::INDIRECT_INT..=kind::INDIRECT_FLOAT => {
                let to = self.target(at, width)?;
                self.number(of - kind::INDIRECT_INT + kind::INT, to, child)?
            }
            kind::KEY => Node::String(self.key(self.target(at, width)?)?),
            kind::STRING => Node::String(self.string(self.target(at, width)?, child)?),
            kind::MAP => {
                let to = self.target(at, width)?;
                return self.map(to, child, pairs).map(Found::Open);
            }
            kind::BLOB => return Err(self.cursor.not_json_at(at, "binary data")),
            _ => {
                let to = self.target(at, width)?;
                return self.vector(of, to, child).map(Found::Open);
            }
        }))
    }

    /// A number of `width` bytes.
    fn unsigned(&self, at: usize, width: usize) -> Result<u64, DecodeError> {
        let bytes = at.checked_add(width).and_then(|end| self.bytes.get(at..end));
        let bytes = bytes.ok_or_else(|| self.cursor.ends_early())?;
        let mut value = [0; 8];
        value[..width].copy_from_slice(bytes);
        Ok(u64::from_le_bytes(value))
    }

    fn number(&self, of: u8, at: usize, width: usize) -> Result<Node, DecodeError> {
        let value = self.unsigned(at, width)?;
        let unused = 64 - 8 * width as u32;
        let float = match of {
            kind::INT => return Ok(Node::Int((value << unused) as i64 >> unused)),
            kind::UINT => return Ok(i64::try_from(value).map_or(Node::Uint(value), Node::Int)),
            _ if width == 4 => f64::from(f32::from_bits(value as u32)),
            _ if width == 8 => f64::from_bits(value),
            _ => return Err(self.corrupt(at, "a float of less than 32 bits")),
        };
        self.cursor.float(float, at)
    }

    /// Where an offset leads.
    fn target(&self, at: usize, width: usize) -> Result<usize, DecodeError> {
        let offset = self.unsigned(at, width)?;
        match usize::try_from(offset).ok().and_then(|offset| at.checked_sub(offset)) {
            // Also to the offset itself, where an empty vector stands in front of it.
            Some(to) => Ok(to),
            None => Err(self.corrupt(at, "an offset that leads nowhere")),
        }
    }

    /// The number of `width` bytes that stands `count` such numbers in front of a place.
    fn before(&self, at: usize, width: usize, count: usize) -> Result<(usize, u64), DecodeError> {
        let Some(place) = at.checked_sub(width * count) else {
            return Err(self.corrupt(at, "a length before the start"));
        };
        Ok((place, self.unsigned(place, width)?))
    }

    /// Pays for `length` elements of `bytes_each` from a place on, which must be there.
    fn elements(&mut self, at: usize, length: u64, bytes_each: usize) -> Result<(), DecodeError> {
        let room = self.bytes.len() - at;
        if length > (room / bytes_each) as u64 {
            return Err(self.cursor.ends_early());
        }
        let bytes = length as usize * bytes_each;
        let Some(left) = self.elements_left.checked_sub(bytes) else {
            return Err(self.corrupt(at, "values that stand in more places than there are bytes"));
        };
        self.elements_left = left;
        Ok(())
    }

    fn vector(&mut self, of: u8, at: usize, width: usize) -> Result<Level, DecodeError> {
        if (kind::VECTOR_INT_2..=kind::VECTOR_FLOAT_4).contains(&of) {
            let place = of - kind::VECTOR_INT_2;
            let length = usize::from(place / 3 + 2);
            self.elements(at, length as u64, width)?;
            let of = Some((kind::INT + place % 3) << 2);
            return Ok(Level { at, width, length, next: 0, of, pairs: None });
        }
        let (of, bytes_each) = match of {
            kind::VECTOR => (None, width + 1),
            kind::VECTOR_INT..=kind::VECTOR_KEY => {
                (Some((of - kind::VECTOR_INT + kind::INT) << 2), width)
            }
            // Its strings have no lengths that could be read, and are taken as keys by all readers.
            kind::VECTOR_STRING_DEPRECATED => (Some(kind::KEY << 2), width),
            kind::VECTOR_BOOL => (Some(kind::BOOL << 2), width),
            _ => return Err(self.corrupt(at, "a type that there is not")),
        };
        let (_, length) = self.before(at, width, 1)?;
        self.elements(at, length, bytes_each)?;
        Ok(Level { at, width, length: length as usize, next: 0, of, pairs: None })
    }

    fn map(
        &mut self,
        at: usize,
        width: usize,
        pairs: &mut Vec<Pair>,
    ) -> Result<Level, DecodeError> {
        let (_, length) = self.before(at, width, 1)?;
        let (place, key_width) = self.before(at, width, 2)?;
        if !matches!(key_width, 1 | 2 | 4 | 8) {
            return Err(self.corrupt(place, "keys of an impossible width"));
        }
        let key_width = key_width as usize;
        let (place, _) = self.before(at, width, 3)?;
        let keys = self.target(place, width)?;
        let (place, key_count) = self.before(keys, key_width, 1)?;
        if key_count != length {
            return Err(self.corrupt(place, "a map with more keys than values, or fewer"));
        }
        self.elements(at, length, width + 1)?;
        let first = pairs.len();
        for index in 0..length as usize {
            let key = self.target(keys + index * key_width, key_width)?;
            pairs.push((key as u32, index as u32));
        }
        // The order in which the keys were written, which is that of the payload.
        if !pairs[first..].is_sorted() {
            pairs[first..].sort_unstable();
        }
        Ok(Level { at, width, length: length as usize, next: 0, of: None, pairs: Some(first) })
    }

    /// Pays for the bytes of a key or string.
    fn text(&mut self, at: usize, length: usize) -> Result<Span, DecodeError> {
        let Some(left) = self.text_left.checked_sub(length) else {
            return Err(DocumentError::TextTooLarge { limit: PAYLOAD_BYTES_MAX }.into());
        };
        self.text_left = left;
        if !is_utf8(&self.bytes[at..at + length]) {
            return Err(self.corrupt(at, "a string that is not UTF-8"));
        }
        Ok(self.cursor.span(at, length))
    }

    /// A text that ends with a NUL.
    fn key(&mut self, at: usize) -> Result<Span, DecodeError> {
        match find_nul(&self.bytes[at..]) {
            Some(length) => self.text(at, length),
            None => Err(self.cursor.ends_early()),
        }
    }

    /// A text with its length in front.
    fn string(&mut self, at: usize, width: usize) -> Result<Span, DecodeError> {
        let (_, length) = self.before(at, width, 1)?;
        let room = self.bytes.len() - at;
        match usize::try_from(length) {
            Ok(length) if length < room && self.bytes[at + length] == 0 => self.text(at, length),
            Ok(length) if length < room => Err(self.corrupt(at, "a string without its NUL")),
            _ => Err(self.cursor.ends_early()),
        }
    }
}
