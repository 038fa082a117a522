//! Document to Smile: one pass over the nodes with a stack of the arrays and objects whose ends
//! have to be marked.
//!
//! The forms are those that Jackson's generator chooses, so that its own bytes for the same value
//! are ours; only what a key or value costs may never depend on what it is not.

use super::super::Refusal;
use super::super::cursor::number::big::BigNumber;
use super::super::cursor::{number, text};
use super::seven_bit::{put_bytes, put_double, put_unsigned, zigzag};
use super::shared::Shared;
use super::{MAGIC, SHORT_KEY_REFERENCES, SHORT_STRING_LENGTH_MAX, SHORT_STRING_REFERENCES};
use super::{flag, token};
use crate::document::{Document, Node, Span};

/// The longest keys that are written with their length, in bytes. The format has room for 57 bytes
/// of Unicode, of which Jackson uses 56.
const SHORT_ASCII_KEY_LENGTH_MAX: u32 = 64;
const SHORT_UNICODE_KEY_LENGTH_MAX: u32 = 56;

/// An array or object that is being written.
struct Level {
    /// Index of the first node after it.
    end: usize,
    is_object: bool,
}

pub(super) fn encode(document: &Document, out: &mut Vec<u8>) -> Result<(), Refusal> {
    out.reserve(document.text().len() + document.nodes().len());
    out.extend_from_slice(&MAGIC);
    out.push(flag::SHARED_KEYS | flag::SHARED_STRINGS);
    let (mut keys, mut strings) = (Shared::new(), Shared::new());
    let nodes = document.nodes();
    let mut outer: Vec<Level> = Vec::new();
    let mut level = Level { end: usize::MAX, is_object: false };
    let mut index = 0;
    loop {
        while index == level.end {
            out.push(if level.is_object { token::OBJECT_END } else { token::ARRAY_END });
            let Some(parent) = outer.pop() else { return Ok(()) };
            level = parent;
        }
        if level.is_object
            && let Some(&Node::String(span)) = nodes.get(index)
        {
            key(document, span, &mut keys, out)?;
            index += 1;
        }
        let Some(&node) = nodes.get(index) else { return Ok(()) };
        index += 1;
        match node {
            Node::Null => out.push(token::NULL),
            Node::Bool(false) => out.push(token::FALSE),
            Node::Bool(true) => out.push(token::TRUE),
            Node::Int(value) => integer(value, out),
            Node::Uint(value) => {
                // The sign takes a bit of its own.
                let bytes = u128::from(value).to_be_bytes();
                out.push(token::BIG_INTEGER);
                put_bytes(&bytes[7..], out);
            }
            Node::Float(value) => float(value, out),
            Node::Decimal(span) => {
                let text = document.bytes(span);
                match number::exact_float(text) {
                    Some(value) => float(value, out),
                    None => big_number(text, out)?,
                }
            }
            Node::String(span) => string(document, span, &mut strings, out)?,
            Node::Array { end, .. } | Node::Object { end, .. } => {
                let is_object = matches!(node, Node::Object { .. });
                out.push(if is_object { token::OBJECT_START } else { token::ARRAY_START });
                let inner = Level { end: end as usize, is_object };
                outer.push(std::mem::replace(&mut level, inner));
            }
        }
    }
}

#[inline]
fn integer(value: i64, out: &mut Vec<u8>) {
    let zigzag = zigzag(value);
    if zigzag < 32 {
        out.push(token::SMALL_INTEGER | zigzag as u8);
    } else {
        let fits = zigzag <= u64::from(u32::MAX);
        out.push(if fits { token::INT_32 } else { token::INT_64 });
        put_unsigned(zigzag, out);
    }
}

#[inline]
fn float(value: f64, out: &mut Vec<u8>) {
    out.push(token::FLOAT_64);
    put_double(value, out);
}

/// A number that no double holds: an integer of any size, or one with a power of ten.
#[cold]
fn big_number(text: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
    let refuse = || number::refuse(text);
    let number = BigNumber::parse(text).ok_or_else(refuse)?;
    if number.exponent == 0 {
        if let Some(value) = small_integer(&number) {
            integer(value, out);
            return Ok(());
        }
        out.push(token::BIG_INTEGER);
    } else {
        let scale = number.exponent.checked_neg().and_then(|scale| i32::try_from(scale).ok());
        out.push(token::BIG_DECIMAL);
        put_unsigned(zigzag(i64::from(scale.ok_or_else(refuse)?)), out);
    }
    put_bytes(&twos_complement(&number), out);
    Ok(())
}

fn small_integer(number: &BigNumber) -> Option<i64> {
    if number.magnitude.len() > 8 {
        return None;
    }
    let magnitude = number.magnitude.iter().fold(0, |value, &byte| value << 8 | i128::from(byte));
    i64::try_from(if number.negative { -magnitude } else { magnitude }).ok()
}

/// The shortest big-endian two's complement.
fn twos_complement(number: &BigNumber) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(number.magnitude.len() + 1);
    bytes.push(0);
    bytes.extend_from_slice(&number.magnitude);
    if number.negative {
        let mut carry = true;
        for byte in bytes.iter_mut().rev() {
            (*byte, carry) = (!*byte).overflowing_add(u8::from(carry));
        }
    }
    if bytes.len() > 1 && (bytes[0] ^ bytes[1]) & 0x80 == 0 {
        bytes.remove(0);
    }
    bytes
}

#[inline]
fn key(
    document: &Document,
    span: Span,
    keys: &mut Shared,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    let length = span.length;
    if length == 0 {
        out.push(token::EMPTY_STRING);
        return Ok(());
    }
    let bytes = document.bytes(span);
    if let Some(index) = keys.find_or_add(document, span, bytes) {
        if index < SHORT_KEY_REFERENCES {
            out.push(token::KEY_REFERENCE + index as u8);
        } else {
            long_reference(token::LONG_KEY_REFERENCE, index, out);
        }
        return Ok(());
    }
    let is_ascii = text::is_ascii(bytes);
    if !is_ascii && !text::is_utf8(bytes) {
        return Err(Refusal::LoneSurrogate);
    }
    if is_ascii && length <= SHORT_ASCII_KEY_LENGTH_MAX {
        out.push(token::SHORT_ASCII_KEY + (length - 1) as u8);
        text::append(out, document, span);
    } else if !is_ascii && length <= SHORT_UNICODE_KEY_LENGTH_MAX {
        out.push(token::SHORT_UNICODE_KEY + (length - 2) as u8);
        text::append(out, document, span);
    } else {
        out.push(token::LONG_KEY);
        out.extend_from_slice(bytes);
        out.push(token::STRING_END);
    }
    Ok(())
}

#[inline]
fn string(
    document: &Document,
    span: Span,
    strings: &mut Shared,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    let length = span.length;
    if length == 0 {
        out.push(token::EMPTY_STRING);
        return Ok(());
    }
    let bytes = document.bytes(span);
    if length > SHORT_STRING_LENGTH_MAX {
        let is_ascii = bytes.is_ascii();
        if !is_ascii && !text::is_utf8(bytes) {
            return Err(Refusal::LoneSurrogate);
        }
        out.push(if is_ascii { token::LONG_ASCII } else { token::LONG_UNICODE });
        out.extend_from_slice(bytes);
        out.push(token::STRING_END);
        return Ok(());
    }
    if let Some(index) = strings.find_or_add(document, span, bytes) {
        if index < SHORT_STRING_REFERENCES {
            out.push(token::STRING_REFERENCE + 1 + index as u8);
        } else {
            long_reference(token::LONG_STRING_REFERENCE, index, out);
        }
        return Ok(());
    }
    if text::is_ascii(bytes) {
        out.push(token::SHORT_ASCII + (length - 1) as u8);
    } else if text::is_utf8(bytes) {
        out.push(token::SHORT_UNICODE + (length - 2) as u8);
    } else {
        return Err(Refusal::LoneSurrogate);
    }
    text::append(out, document, span);
    Ok(())
}

#[inline]
fn long_reference(token: u8, index: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(&[token | (index >> 8) as u8, index as u8]);
}
