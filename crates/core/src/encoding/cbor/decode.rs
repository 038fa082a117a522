//! CBOR to document, without recursion: a stack of what is left to read in each array and map.
//!
//! Definite and indefinite lengths and every width of a head are accepted; tags other than those of
//! numbers are refused by name, because dropping one would change the value. A declared count is
//! compared with the bytes that are left before it is believed.

use super::super::DecodeError;
use super::super::cursor::Cursor;
use super::super::cursor::number::big;
use super::{half, major, tag};
use crate::document::{Document, DocumentError, Node, Span};

const BREAK: u8 = 0xFF;
const INDEFINITE: u8 = 31;

/// Arguments below this stand in the head itself.
const SHORT: u8 = 24;
const SHORT_TEXT: u8 = major::TEXT;
const LONG_TEXT: u8 = major::TEXT + SHORT;

/// An array or map that is being read; at the bottom of the stack, the whole input.
struct Level {
    /// Values or pairs that are complete.
    count: u32,
    /// Values or pairs altogether, or `u32::MAX` where a break says the end.
    length: u32,
    is_map: bool,
}

const UNTIL_BREAK: u32 = u32::MAX;

pub(super) fn decode(bytes: &[u8], document: &mut Document) -> Result<(), DecodeError> {
    let mut cursor = Cursor::start("cbor", bytes, document)?;
    let mut outer: Vec<Level> = Vec::new();
    let mut level = Level { count: 0, length: 1, is_map: false };
    loop {
        // Close what is complete; definite lengths say so themselves.
        loop {
            if level.length == UNTIL_BREAK {
                if cursor.peek() != Some(BREAK) {
                    break;
                }
                cursor.byte()?;
            } else if level.count < level.length {
                break;
            }
            let Some(parent) = outer.pop() else { return cursor.finish() };
            document.close(level.count);
            level = parent;
            level.count += 1;
        }
        if level.is_map {
            let span = key(&mut cursor, document)?;
            document.push(Node::String(span));
        }
        let head = cursor.byte()?;
        let node = match head & 0xE0 {
            _ if head < SHORT => Node::Int(i64::from(head)),
            major::UNSIGNED => {
                let value = argument(&mut cursor, head)?;
                i64::try_from(value).map_or(Node::Uint(value), Node::Int)
            }
            major::NEGATIVE => {
                let value = argument(&mut cursor, head)?;
                match i64::try_from(value) {
                    Ok(value) => Node::Int(!value),
                    Err(_) => Node::Decimal(integer_text(-1 - i128::from(value), document)?),
                }
            }
            major::TEXT if head < LONG_TEXT => {
                Node::String(cursor.text(u64::from(head - SHORT_TEXT))?)
            }
            major::TEXT => Node::String(string(&mut cursor, head, document)?),
            major::ARRAY | major::MAP => {
                let inner = open(&mut cursor, head)?;
                document.open(inner.is_map)?;
                outer.push(std::mem::replace(&mut level, inner));
                continue;
            }
            major::OTHER => simple_or_float(&mut cursor, head)?,
            major::BYTES => return Err(cursor.not_json("a byte string")),
            _ => tagged(&mut cursor, head, document)?,
        };
        document.push(node);
        level.count += 1;
    }
}

/// The argument of a head, which is not that of an indefinite length.
#[inline]
fn argument(cursor: &mut Cursor<'_>, head: u8) -> Result<u64, DecodeError> {
    Ok(match head & 0x1F {
        value @ 0..SHORT => u64::from(value),
        24 => u64::from(cursor.byte()?),
        25 => u64::from(u16::from_be_bytes(cursor.array()?)),
        26 => u64::from(u32::from_be_bytes(cursor.array()?)),
        27 => u64::from_be_bytes(cursor.array()?),
        _ => return Err(cursor.corrupt("reserved additional information")),
    })
}

#[inline]
fn open(cursor: &mut Cursor<'_>, head: u8) -> Result<Level, DecodeError> {
    let is_map = head & 0xE0 == major::MAP;
    let length = if head & 0x1F == INDEFINITE {
        UNTIL_BREAK
    } else {
        let declared = argument(cursor, head)?;
        // At most half of 2^32 bytes are left, so that no count is `UNTIL_BREAK`.
        cursor.count(declared, if is_map { 2 } else { 1 })?
    };
    Ok(Level { count: 0, length, is_map })
}

#[inline]
fn key(cursor: &mut Cursor<'_>, document: &mut Document) -> Result<Span, DecodeError> {
    match cursor.byte()? {
        head @ SHORT_TEXT..LONG_TEXT => cursor.text(u64::from(head - SHORT_TEXT)),
        head if head & 0xE0 == major::TEXT => string(cursor, head, document),
        BREAK => Err(cursor.corrupt("a break where none may stand")),
        _ => Err(cursor.not_json("a map key that is not a text string")),
    }
}

#[inline]
fn string(cursor: &mut Cursor<'_>, head: u8, document: &mut Document) -> Result<Span, DecodeError> {
    if head & 0x1F == INDEFINITE {
        return chunked_string(cursor, document);
    }
    let length = argument(cursor, head)?;
    cursor.text(length)
}

/// A text string in chunks, each of which must be UTF-8 by itself: the chunks are copied behind
/// the input, where they stand in one piece.
fn chunked_string(cursor: &mut Cursor<'_>, document: &mut Document) -> Result<Span, DecodeError> {
    let mut whole = document.push_text(&[])?;
    loop {
        let head = cursor.byte()?;
        if head == BREAK {
            return Ok(whole);
        }
        if head & 0xE0 != major::TEXT {
            return Err(cursor.corrupt("a chunk that is not of its string's type"));
        }
        let length = argument(cursor, head)?;
        let start = cursor.position();
        let chunk = cursor.take(length)?;
        if str::from_utf8(chunk).is_err() {
            return Err(cursor.corrupt_at(start, "a string that is not UTF-8"));
        }
        whole.length += document.push_text(chunk)?.length;
    }
}

fn simple_or_float(cursor: &mut Cursor<'_>, head: u8) -> Result<Node, DecodeError> {
    let start = cursor.position() - 1;
    let value = match head & 0x1F {
        20 => return Ok(Node::Bool(false)),
        21 => return Ok(Node::Bool(true)),
        22 => return Ok(Node::Null),
        23 => return Err(cursor.not_json("undefined")),
        0..20 => return Err(cursor.not_json("a simple value")),
        24 => {
            return Err(match cursor.byte()? {
                0..32 => cursor.corrupt("a simple value in a longer form than it has"),
                _ => cursor.not_json_at(start, "a simple value"),
            });
        }
        25 => half::to_double(u16::from_be_bytes(cursor.array()?)),
        26 => f64::from(f32::from_be_bytes(cursor.array()?)),
        27 => f64::from_be_bytes(cursor.array()?),
        INDEFINITE => return Err(cursor.corrupt("a break where none may stand")),
        _ => return Err(cursor.corrupt("reserved additional information")),
    };
    cursor.float(value, start)
}

/// What follows the head of a tag: a bignum or a decimal fraction.
fn tagged(cursor: &mut Cursor<'_>, head: u8, document: &mut Document) -> Result<Node, DecodeError> {
    let start = cursor.position() - 1;
    match argument(cursor, head)? {
        tag @ (tag::BIGNUM | tag::NEGATIVE_BIGNUM) => {
            let mut text = Vec::new();
            append_bignum(cursor, tag, start, &mut text)?;
            Ok(node_of_integer(&text, document)?)
        }
        tag::DECIMAL_FRACTION => decimal_fraction(cursor, document),
        _ => Err(cursor.not_json_at(start, "a tag that is not of a number")),
    }
}

/// An integer text as the node that the document keeps it in.
fn node_of_integer(text: &[u8], document: &mut Document) -> Result<Node, DocumentError> {
    let parsed = str::from_utf8(text).ok();
    if let Some(value) = parsed.and_then(|text| text.parse().ok()) {
        return Ok(Node::Int(value));
    }
    if let Some(value) = parsed.and_then(|text| text.parse().ok()) {
        return Ok(Node::Uint(value));
    }
    Ok(Node::Decimal(document.push_text(text)?))
}

fn integer_text(value: i128, document: &mut Document) -> Result<Span, DocumentError> {
    document.push_text(itoa::Buffer::new().format(value).as_bytes())
}

/// The digits of the byte string that follows tag 2 or 3.
fn append_bignum(
    cursor: &mut Cursor<'_>,
    tag: u64,
    start: usize,
    text: &mut Vec<u8>,
) -> Result<(), DecodeError> {
    let head = cursor.byte()?;
    if head & 0xE0 != major::BYTES {
        return Err(cursor.corrupt("a bignum that is not a byte string"));
    }
    let mut joined = Vec::new();
    let bytes = if head & 0x1F == INDEFINITE {
        byte_chunks(cursor, &mut joined)?;
        &joined
    } else {
        let length = argument(cursor, head)?;
        cursor.take(length)?
    };
    let bytes = big::without_leading(bytes, 0);
    let is_small = if tag == tag::NEGATIVE_BIGNUM {
        text.push(b'-');
        bytes.len() <= big::MAGNITUDE_BYTES_MAX && big::append_digits(&big::plus_one(bytes), text)
    } else {
        big::append_digits(bytes, text)
    };
    if !is_small {
        return Err(cursor.not_json_at(start, "a bignum with more digits than the limit"));
    }
    Ok(())
}

fn byte_chunks(cursor: &mut Cursor<'_>, joined: &mut Vec<u8>) -> Result<(), DecodeError> {
    loop {
        let head = cursor.byte()?;
        if head == BREAK {
            return Ok(());
        }
        if head & 0xE0 != major::BYTES {
            return Err(cursor.corrupt("a chunk that is not of its string's type"));
        }
        let length = argument(cursor, head)?;
        joined.extend_from_slice(cursor.take(length)?);
    }
}

/// `[exponent, mantissa]`, which becomes the text `<mantissa>e<exponent>` whatever its size.
fn decimal_fraction(cursor: &mut Cursor<'_>, document: &mut Document) -> Result<Node, DecodeError> {
    let array = cursor.byte()?;
    let is_indefinite = array == major::ARRAY | INDEFINITE;
    if array & 0xE0 != major::ARRAY || (!is_indefinite && argument(cursor, array)? != 2) {
        return Err(cursor.corrupt("a decimal fraction that is not an array of two"));
    }
    let head = cursor.byte()?;
    let exponent = match head & 0xE0 {
        major::UNSIGNED => i128::from(argument(cursor, head)?),
        major::NEGATIVE => -1 - i128::from(argument(cursor, head)?),
        _ => return Err(cursor.corrupt("a decimal fraction whose exponent is no integer")),
    };
    let mut text = Vec::new();
    let mut buffer = itoa::Buffer::new();
    let mantissa_start = cursor.position();
    let head = cursor.byte()?;
    match head & 0xE0 {
        major::UNSIGNED => {
            let value = argument(cursor, head)?;
            text.extend_from_slice(buffer.format(value).as_bytes());
        }
        major::NEGATIVE => {
            let value = -1 - i128::from(argument(cursor, head)?);
            text.extend_from_slice(buffer.format(value).as_bytes());
        }
        major::TAG => match argument(cursor, head)? {
            tag @ (tag::BIGNUM | tag::NEGATIVE_BIGNUM) => {
                append_bignum(cursor, tag, mantissa_start, &mut text)?;
            }
            _ => return Err(cursor.corrupt("a decimal fraction whose mantissa is no integer")),
        },
        _ => return Err(cursor.corrupt("a decimal fraction whose mantissa is no integer")),
    }
    if is_indefinite && cursor.byte()? != BREAK {
        return Err(cursor.corrupt("a decimal fraction that is not an array of two"));
    }
    text.push(b'e');
    text.extend_from_slice(buffer.format(exponent).as_bytes());
    Ok(Node::Decimal(document.push_text(&text)?))
}
