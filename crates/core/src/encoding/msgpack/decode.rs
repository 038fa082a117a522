//! MessagePack to document, without recursion: a stack of what is left to read in each array and
//! map.
//!
//! Every form of a value is accepted, also a longer one than needed. A declared count is compared
//! with the bytes that are left before it is believed.

use super::super::DecodeError;
use super::super::cursor::Cursor;
use crate::document::{Document, Node, Span};

/// An array or map that is being read; at the bottom of the stack, the whole input.
struct Level {
    /// Values or pairs still to come.
    left: u32,
    /// Values or pairs altogether.
    length: u32,
    is_map: bool,
}

pub(super) fn decode(bytes: &[u8], document: &mut Document) -> Result<(), DecodeError> {
    let mut cursor = Cursor::start("msgpack", bytes, document)?;
    let mut outer: Vec<Level> = Vec::new();
    let mut level = Level { left: 1, length: 1, is_map: false };
    loop {
        if level.is_map {
            let span = key(&mut cursor)?;
            document.push(Node::String(span));
        }
        let node = match cursor.byte()? {
            head @ 0x00..=0x7F => Node::Int(i64::from(head)),
            head @ 0xE0..=0xFF => Node::Int(i64::from(head as i8)),
            head @ 0xA0..=0xBF => Node::String(cursor.text(u64::from(head & 0x1F))?),
            head @ (0x80..=0x9F | 0xDC..=0xDF) => {
                let inner = open(&mut cursor, head)?;
                document.open(inner.is_map)?;
                if inner.left > 0 {
                    outer.push(std::mem::replace(&mut level, inner));
                    continue;
                }
                document.close(0);
                if finish_value(&mut level, &mut outer, document) {
                    break;
                }
                continue;
            }
            head => scalar(&mut cursor, head)?,
        };
        document.push(node);
        if finish_value(&mut level, &mut outer, document) {
            break;
        }
    }
    cursor.finish()
}

/// Counts a value that is complete, and closes every array and map that it completes. Answers
/// whether the whole is complete.
#[inline]
fn finish_value(level: &mut Level, outer: &mut Vec<Level>, document: &mut Document) -> bool {
    level.left -= 1;
    while level.left == 0 {
        let Some(parent) = outer.pop() else { return true };
        document.close(level.length);
        *level = parent;
        level.left -= 1;
    }
    false
}

#[inline]
fn key(cursor: &mut Cursor<'_>) -> Result<Span, DecodeError> {
    match cursor.byte()? {
        head @ 0xA0..=0xBF => cursor.text(u64::from(head & 0x1F)),
        head @ 0xD9..=0xDB => long_text(cursor, head),
        0xC1 => Err(cursor.corrupt("the unused byte C1")),
        _ => Err(cursor.not_json("a map key that is not a string")),
    }
}

fn long_text(cursor: &mut Cursor<'_>, head: u8) -> Result<Span, DecodeError> {
    let length = match head {
        0xD9 => u64::from(cursor.byte()?),
        0xDA => u64::from(u16::from_be_bytes(cursor.array()?)),
        _ => u64::from(u32::from_be_bytes(cursor.array()?)),
    };
    cursor.text(length)
}

#[inline]
fn open(cursor: &mut Cursor<'_>, head: u8) -> Result<Level, DecodeError> {
    let (is_map, length) = match head {
        0x80..=0x8F => (true, u32::from(head & 0x0F)),
        0x90..=0x9F => (false, u32::from(head & 0x0F)),
        0xDC | 0xDE => (head == 0xDE, u32::from(u16::from_be_bytes(cursor.array()?))),
        _ => (head == 0xDF, u32::from_be_bytes(cursor.array()?)),
    };
    let length = cursor.count(u64::from(length), if is_map { 2 } else { 1 })?;
    Ok(Level { left: length, length, is_map })
}

/// Everything but the short forms, arrays and maps.
fn scalar(cursor: &mut Cursor<'_>, head: u8) -> Result<Node, DecodeError> {
    Ok(match head {
        0xC0 => Node::Null,
        0xC2 => Node::Bool(false),
        0xC3 => Node::Bool(true),
        0xCA => {
            let value = f32::from_be_bytes(cursor.array()?);
            cursor.float(f64::from(value), cursor.position() - 5)?
        }
        0xCB => {
            let value = f64::from_be_bytes(cursor.array()?);
            cursor.float(value, cursor.position() - 9)?
        }
        0xCC => Node::Int(i64::from(cursor.byte()?)),
        0xCD => Node::Int(i64::from(u16::from_be_bytes(cursor.array()?))),
        0xCE => Node::Int(i64::from(u32::from_be_bytes(cursor.array()?))),
        0xCF => {
            let value = u64::from_be_bytes(cursor.array()?);
            i64::try_from(value).map_or(Node::Uint(value), Node::Int)
        }
        0xD0 => Node::Int(i64::from(cursor.byte()? as i8)),
        0xD1 => Node::Int(i64::from(i16::from_be_bytes(cursor.array()?))),
        0xD2 => Node::Int(i64::from(i32::from_be_bytes(cursor.array()?))),
        0xD3 => Node::Int(i64::from_be_bytes(cursor.array()?)),
        0xD9..=0xDB => Node::String(long_text(cursor, head)?),
        0xC4..=0xC6 => return Err(cursor.not_json("binary data")),
        0xC7..=0xC9 | 0xD4..=0xD8 => return Err(cursor.not_json("an extension type")),
        _ => return Err(cursor.corrupt("the unused byte C1")),
    })
}
