//! Smile to document, without recursion: arrays and objects end with a mark, so that the stack
//! holds only what they counted so far.
//!
//! The tables of keys and strings that were read must follow the encoder's step by step. A string
//! that is referred to is the same span of the input again, so that references cost no memory.

use super::super::DecodeError;
use super::super::cursor::Cursor;
use super::super::cursor::number::big;
use super::super::cursor::text;
use super::seven_bit::{bytes as seven_bit_bytes, groups, unsigned, unzigzag};
use super::shared::SHARED_MAX;
use super::{MAGIC, SHORT_KEY_REFERENCES, SHORT_STRING_REFERENCES, flag, token};
use crate::document::{Document, Node, Span};

/// An array or object that is being read; at the bottom of the stack, the whole input.
struct Level {
    count: u32,
    is_object: bool,
}

/// The strings that can be referred to, or nothing where the header says that none are.
struct Seen {
    is_shared: bool,
    spans: Vec<Span>,
}

impl Seen {
    #[inline]
    fn add(&mut self, span: Span) {
        if self.is_shared {
            if self.spans.len() == SHARED_MAX {
                self.spans.clear();
            }
            self.spans.push(span);
        }
    }

    #[inline]
    fn get(&self, index: usize, cursor: &Cursor<'_>) -> Result<Span, DecodeError> {
        match self.spans.get(index) {
            Some(&span) => Ok(span),
            None => Err(cursor.corrupt("a reference to a string that was not there")),
        }
    }
}

pub(super) fn decode(bytes: &[u8], document: &mut Document) -> Result<(), DecodeError> {
    let mut cursor = Cursor::start("smile", bytes, document)?;
    let (mut keys, mut strings) = header(&mut cursor)?;
    let mut outer: Vec<Level> = Vec::new();
    let mut level = Level { count: 0, is_object: false };
    loop {
        let mut head = cursor.byte()?;
        if level.is_object {
            if head == token::OBJECT_END {
                if close(&mut level, &mut outer, document) {
                    break;
                }
                continue;
            }
            let span = key(&mut cursor, head, &mut keys)?;
            document.push(Node::String(span));
            head = cursor.byte()?;
        }
        let node = match head {
            token::SHORT_ASCII..token::SHORT_UNICODE => {
                let span = ascii(&mut cursor, u64::from(head & 0x3F) + 1)?;
                strings.add(span);
                Node::String(span)
            }
            token::SHORT_UNICODE..token::SMALL_INTEGER => {
                let span = cursor.text(u64::from(head & 0x3F) + 2)?;
                strings.add(span);
                Node::String(span)
            }
            token::SMALL_INTEGER..token::LONG_ASCII => Node::Int(unzigzag(u64::from(head & 0x1F))),
            0x01..=0x1F => Node::String(strings.get(usize::from(head) - 1, &cursor)?),
            token::ARRAY_START | token::OBJECT_START => {
                let is_object = head == token::OBJECT_START;
                document.open(is_object)?;
                outer.push(std::mem::replace(&mut level, Level { count: 0, is_object }));
                continue;
            }
            token::ARRAY_END if !level.is_object && !outer.is_empty() => {
                if close(&mut level, &mut outer, document) {
                    break;
                }
                continue;
            }
            _ => scalar(&mut cursor, head, &strings, document)?,
        };
        document.push(node);
        level.count += 1;
        if outer.is_empty() {
            break;
        }
    }
    if cursor.peek() == Some(token::END_OF_CONTENT) {
        cursor.byte()?;
    }
    cursor.finish()
}

/// Closes the innermost array or object; answers whether the whole is complete.
#[inline]
fn close(level: &mut Level, outer: &mut Vec<Level>, document: &mut Document) -> bool {
    document.close(level.count);
    if let Some(parent) = outer.pop() {
        *level = parent;
        level.count += 1;
    }
    outer.is_empty()
}

fn header(cursor: &mut Cursor<'_>) -> Result<(Seen, Seen), DecodeError> {
    let magic: [u8; 3] = cursor.array()?;
    if magic != MAGIC {
        return Err(cursor.corrupt_at(0, "no Smile header"));
    }
    let flags = cursor.byte()?;
    if flags & flag::VERSION_MASK != 0 {
        return Err(cursor.corrupt("a version of Smile other than 0"));
    }
    let seen = |flag| Seen { is_shared: flags & flag != 0, spans: Vec::new() };
    Ok((seen(flag::SHARED_KEYS), seen(flag::SHARED_STRINGS)))
}

#[inline]
fn key(cursor: &mut Cursor<'_>, head: u8, keys: &mut Seen) -> Result<Span, DecodeError> {
    let span = match head {
        token::KEY_REFERENCE..token::SHORT_ASCII_KEY => {
            return keys.get(usize::from(head - token::KEY_REFERENCE), cursor);
        }
        token::LONG_KEY_REFERENCE..token::LONG_KEY => {
            return keys.get(long_index(cursor, head, SHORT_KEY_REFERENCES)?, cursor);
        }
        token::EMPTY_STRING => return cursor.text(0),
        token::SHORT_ASCII_KEY..token::SHORT_UNICODE_KEY => {
            ascii(cursor, u64::from(head & 0x3F) + 1)?
        }
        token::SHORT_UNICODE_KEY..token::ARRAY_START => {
            cursor.text(u64::from(head - token::SHORT_UNICODE_KEY) + 2)?
        }
        token::LONG_KEY => long_text(cursor)?,
        _ => return Err(cursor.corrupt("a byte that starts no key")),
    };
    keys.add(span);
    Ok(span)
}

/// The index in the lowest two bits of a reference's first byte and in its second.
#[inline]
fn long_index(cursor: &mut Cursor<'_>, head: u8, short: u32) -> Result<usize, DecodeError> {
    let index = u32::from(head & 0x03) << 8 | u32::from(cursor.byte()?);
    if index < short {
        return Err(cursor.corrupt("a reference in a longer form than it has"));
    }
    Ok(index as usize)
}

#[inline]
fn ascii(cursor: &mut Cursor<'_>, length: u64) -> Result<Span, DecodeError> {
    let start = cursor.position();
    let bytes = cursor.take(length)?;
    if !text::is_ascii(bytes) {
        return Err(cursor.corrupt_at(start, "an ASCII string that is not ASCII"));
    }
    Ok(cursor.span(start, bytes.len()))
}

/// A string up to its end mark, which no UTF-8 contains.
fn long_text(cursor: &mut Cursor<'_>) -> Result<Span, DecodeError> {
    let start = cursor.position();
    let bytes = cursor.take_until(token::STRING_END)?;
    if !text::is_utf8(bytes) {
        return Err(cursor.corrupt_at(start, "a string that is not UTF-8"));
    }
    Ok(cursor.span(start, bytes.len()))
}

/// Everything but the short forms, arrays and objects.
fn scalar(
    cursor: &mut Cursor<'_>,
    head: u8,
    strings: &Seen,
    document: &mut Document,
) -> Result<Node, DecodeError> {
    let start = cursor.position() - 1;
    Ok(match head {
        token::EMPTY_STRING => Node::String(cursor.text(0)?),
        token::NULL => Node::Null,
        token::FALSE => Node::Bool(false),
        token::TRUE => Node::Bool(true),
        token::INT_32 => Node::Int(unzigzag(unsigned(cursor, 32)?)),
        token::INT_64 => Node::Int(unzigzag(unsigned(cursor, 64)?)),
        token::FLOAT_32 => {
            // Jackson fills the three bits above the float with its sign.
            let bits = groups::<5>(cursor, 7)?;
            cursor.float(f64::from(f32::from_bits(bits as u32)), start)?
        }
        token::FLOAT_64 => {
            let bits = groups::<10>(cursor, 1)?;
            cursor.float(f64::from_bits(bits), start)?
        }
        token::BIG_INTEGER => {
            let text = big_integer(cursor, start)?;
            node_of_integer(&text, document)?
        }
        token::BIG_DECIMAL => {
            let scale = unzigzag(unsigned(cursor, 32)?);
            let mut text = big_integer(cursor, start)?;
            text.push(b'e');
            text.extend_from_slice(itoa::Buffer::new().format(-scale).as_bytes());
            Node::Decimal(document.push_text(&text)?)
        }
        token::LONG_ASCII => {
            let span = long_text(cursor)?;
            if !document.bytes(span).is_ascii() {
                return Err(cursor.corrupt_at(start, "an ASCII string that is not ASCII"));
            }
            Node::String(span)
        }
        token::LONG_UNICODE => Node::String(long_text(cursor)?),
        token::LONG_STRING_REFERENCE..0xF0 => {
            let index = long_index(cursor, head, SHORT_STRING_REFERENCES)?;
            Node::String(strings.get(index, cursor)?)
        }
        token::SEVEN_BIT_BINARY | token::RAW_BINARY => {
            return Err(cursor.not_json("binary data"));
        }
        _ => return Err(cursor.corrupt("a byte that starts no value")),
    })
}

/// The digits of an integer in two's complement.
fn big_integer(cursor: &mut Cursor<'_>, start: usize) -> Result<Vec<u8>, DecodeError> {
    let mut bytes = seven_bit_bytes(cursor)?;
    let Some(&first) = bytes.first() else {
        return Err(cursor.corrupt("a big number without bytes"));
    };
    let mut text = Vec::new();
    if first & 0x80 != 0 {
        text.push(b'-');
        let mut carry = true;
        for byte in bytes.iter_mut().rev() {
            (*byte, carry) = (!*byte).overflowing_add(u8::from(carry));
        }
    }
    if !big::append_digits(&bytes, &mut text) {
        return Err(cursor.not_json_at(start, "a big number with more digits than the limit"));
    }
    Ok(text)
}

/// An integer text as the node that the document keeps it in.
fn node_of_integer(text: &[u8], document: &mut Document) -> Result<Node, DecodeError> {
    Ok(match str::from_utf8(text).ok().and_then(|text| text.parse::<i128>().ok()) {
        Some(value) if i64::try_from(value).is_ok() => Node::Int(value as i64),
        Some(value) if u64::try_from(value).is_ok() => Node::Uint(value as u64),
        _ => Node::Decimal(document.push_text(text)?),
    })
}
