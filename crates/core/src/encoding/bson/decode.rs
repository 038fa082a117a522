//! BSON to document, without recursion: a stack of where each document must end.
//!
//! A length is checked against the document around it before anything is read, and again against
//! where its terminator stands. Types that JSON has no word for are refused by name; the keys of
//! arrays say nothing and are skipped.

use super::super::DecodeError;
use super::super::cursor::Cursor;
use super::super::cursor::text::is_utf8;
use super::element;
use crate::document::{Document, Node};

/// The shortest document: its length and its terminator.
const LENGTH_MIN: usize = 5;

/// A document or array that is being read.
struct Level {
    /// Offset of the first byte after its terminator.
    end: usize,
    count: u32,
    is_array: bool,
}

pub(super) fn decode(bytes: &[u8], document: &mut Document) -> Result<(), DecodeError> {
    let mut cursor = Cursor::start("bson", bytes, document)?;
    let mut outer: Vec<Level> = Vec::new();
    let mut level = open(&mut cursor, bytes.len(), false)?;
    document.open(true)?;
    loop {
        let kind = cursor.byte()?;
        if kind == 0 {
            if cursor.position() != level.end {
                return Err(cursor.corrupt("a document that ends before its length"));
            }
            document.close(level.count);
            let Some(parent) = outer.pop() else { return cursor.finish() };
            level = parent;
            continue;
        }
        let key_start = cursor.position();
        let key = cursor.take_until_nul()?;
        if !is_utf8(key) {
            return Err(cursor.corrupt_at(key_start, "a key that is not UTF-8"));
        }
        if !level.is_array {
            document.push(Node::String(cursor.span(key_start, key.len())));
        }
        level.count += 1;
        let node = match kind {
            element::STRING => string(&mut cursor)?,
            element::INT_32 => Node::Int(i64::from(i32::from_le_bytes(cursor.array()?))),
            element::INT_64 => Node::Int(i64::from_le_bytes(cursor.array()?)),
            element::DOUBLE => {
                let start = cursor.position();
                let value = f64::from_le_bytes(cursor.array()?);
                cursor.float(value, start)?
            }
            element::BOOLEAN => match cursor.byte()? {
                0 => Node::Bool(false),
                1 => Node::Bool(true),
                _ => return Err(cursor.corrupt("a boolean that is neither 0 nor 1")),
            },
            element::NULL => Node::Null,
            element::DOCUMENT | element::ARRAY => {
                let is_array = kind == element::ARRAY;
                let inner = open(&mut cursor, level.end - 1, is_array)?;
                document.open(!is_array)?;
                outer.push(std::mem::replace(&mut level, inner));
                continue;
            }
            _ => return Err(no_json_type(&cursor, kind, key_start - 1)),
        };
        if cursor.position() >= level.end {
            return Err(cursor.corrupt("a value that reaches past its document"));
        }
        document.push(node);
    }
}

/// Reads the length of a document that must end at `limit` at the latest: where the terminator of
/// the one around it stands.
#[inline]
fn open(cursor: &mut Cursor<'_>, limit: usize, is_array: bool) -> Result<Level, DecodeError> {
    let start = cursor.position();
    let input_end = start + cursor.remaining();
    let length = i32::from_le_bytes(cursor.array()?);
    match usize::try_from(length) {
        Ok(length) if length > input_end - start => Err(cursor.ends_early()),
        Ok(length) if length > limit.saturating_sub(start) => {
            Err(cursor.corrupt_at(start, "a document that reaches past the one around it"))
        }
        Ok(length) if length >= LENGTH_MIN => Ok(Level { end: start + length, count: 0, is_array }),
        _ => Err(cursor.corrupt_at(start, "a document shorter than its length field")),
    }
}

/// A length that counts a terminator, the bytes, and the terminator.
#[inline]
fn string(cursor: &mut Cursor<'_>) -> Result<Node, DecodeError> {
    let start = cursor.position();
    let length = i32::from_le_bytes(cursor.array()?);
    let Some(length) = u64::try_from(length).ok().and_then(|length| length.checked_sub(1)) else {
        return Err(cursor.corrupt_at(start, "a string without a terminator"));
    };
    let span = cursor.text(length)?;
    if cursor.byte()? != 0 {
        return Err(cursor.corrupt("a string without a terminator"));
    }
    Ok(Node::String(span))
}

/// The error for an element of a type that is not read.
#[cold]
fn no_json_type(cursor: &Cursor<'_>, kind: u8, offset: usize) -> DecodeError {
    let what = match kind {
        0x05 => "binary data",
        0x06 => "undefined",
        0x07 => "an ObjectId",
        0x09 => "a date",
        0x0B => "a regular expression",
        0x0C => "a DBPointer",
        0x0D | 0x0F => "JavaScript code",
        0x0E => "a symbol",
        0x11 => "a timestamp",
        0x13 => "a decimal128",
        0x7F | 0xFF => "a minimum or maximum key",
        _ => return cursor.corrupt_at(offset, "an unknown type of element"),
    };
    cursor.not_json_at(offset, what)
}
