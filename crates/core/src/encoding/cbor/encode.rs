//! Document to CBOR: one pass over the nodes, which stand in the order of the output.
//!
//! Arrays and maps carry their length in front, as nodes do, so that no stack is needed. Every
//! head and float must stay the shortest one that holds the value (preferred serialisation).

use super::super::Refusal;
use super::super::cursor::number::big::{BigNumber, minus_one, without_leading};
use super::super::cursor::{number, text};
use super::{half, major, tag};
use crate::document::{Document, Node};

pub(super) fn encode(document: &Document, out: &mut Vec<u8>) -> Result<(), Refusal> {
    out.reserve(document.text().len() + document.nodes().len());
    for &node in document.nodes() {
        match node {
            Node::Null => out.push(0xF6),
            Node::Bool(false) => out.push(0xF4),
            Node::Bool(true) => out.push(0xF5),
            Node::Int(value) => integer(value, out),
            Node::Uint(value) => head(major::UNSIGNED, value, out),
            Node::Float(value) => float(value, out),
            Node::Decimal(span) => {
                let text = document.bytes(span);
                match number::exact_float(text) {
                    Some(value) => float(value, out),
                    None => big_number(text, out)?,
                }
            }
            Node::String(span) => {
                text::checked(document, span)?;
                head(major::TEXT, u64::from(span.length), out);
                text::append(out, document, span);
            }
            Node::Array { length, .. } => head(major::ARRAY, u64::from(length), out),
            Node::Object { length, .. } => head(major::MAP, u64::from(length), out),
        }
    }
    Ok(())
}

#[inline]
fn integer(value: i64, out: &mut Vec<u8>) {
    // For a negative value CBOR holds -1 - value, which has the same bits inverted.
    if value >= 0 {
        head(major::UNSIGNED, value as u64, out);
    } else {
        head(major::NEGATIVE, !value as u64, out);
    }
}

/// A major type and its argument in the fewest bytes.
#[inline]
fn head(major: u8, argument: u64, out: &mut Vec<u8>) {
    if argument < 24 {
        out.push(major | argument as u8);
    } else if let Ok(argument) = u8::try_from(argument) {
        out.extend_from_slice(&[major | 24, argument]);
    } else if let Ok(argument) = u16::try_from(argument) {
        put(major | 25, argument.to_be_bytes(), out);
    } else if let Ok(argument) = u32::try_from(argument) {
        put(major | 26, argument.to_be_bytes(), out);
    } else {
        put(major | 27, argument.to_be_bytes(), out);
    }
}

#[inline]
fn float(value: f64, out: &mut Vec<u8>) {
    let single = value as f32;
    if f64::from(single) != value {
        put(major::OTHER | 27, value.to_be_bytes(), out);
    } else if let Some(half) = half::from_single(single) {
        put(major::OTHER | 25, half.to_be_bytes(), out);
    } else {
        put(major::OTHER | 26, single.to_be_bytes(), out);
    }
}

#[inline]
fn put<const N: usize>(head: u8, bytes: [u8; N], out: &mut Vec<u8>) {
    out.push(head);
    out.extend_from_slice(&bytes);
}

/// A number that no double holds: an integer of any size, or a decimal fraction.
#[cold]
fn big_number(text: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
    let number = BigNumber::parse(text).ok_or_else(|| number::refuse(text))?;
    if number.exponent != 0 {
        head(major::TAG, tag::DECIMAL_FRACTION, out);
        head(major::ARRAY, 2, out);
        integer(number.exponent, out);
    }
    let (integer_major, bignum, argument) = if number.negative {
        (major::NEGATIVE, tag::NEGATIVE_BIGNUM, minus_one(&number.magnitude))
    } else {
        (major::UNSIGNED, tag::BIGNUM, number.magnitude)
    };
    let argument = without_leading(&argument, 0);
    if argument.len() <= 8 {
        let value = argument.iter().fold(0, |value, &byte| value << 8 | u64::from(byte));
        head(integer_major, value, out);
    } else {
        head(major::TAG, bignum, out);
        head(major::BYTES, argument.len() as u64, out);
        out.extend_from_slice(argument);
    }
    Ok(())
}
