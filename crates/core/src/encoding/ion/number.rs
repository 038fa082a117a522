//! Numbers of Ion: integers of any size, decimals that keep their digits, and floats.
//!
//! A number text without an exponent becomes the integer or decimal of the same digits, 12.50 with
//! its zero; one with an exponent a float, or a decimal where no float is exactly that number.

use super::heads::{put_head, put_signed, signed_bytes};
use super::kind;
use crate::document::{Document, DocumentError, Node};
use crate::encoding::Refusal;
use crate::encoding::cursor::number;
use crate::encoding::cursor::number::big::{BigNumber, without_leading};

/// The most digits that always fit 64 bits.
const DIGITS_MAX: usize = 19;

/// Decimals of at most this many digits behind the point are written with a point when they are
/// read, others with an exponent.
const PLACES_MAX: u64 = 64;

/// An integer of 64 bits and its sign.
#[inline]
pub(super) fn put_integer(negative: bool, magnitude: u64, out: &mut Vec<u8>) {
    let kind = if negative { kind::NEGATIVE } else { kind::POSITIVE };
    let bytes = magnitude.to_be_bytes();
    let used = without_zeros(&bytes);
    put_head(kind, used.len(), out);
    out.extend_from_slice(used);
}

/// A float of 32 bits where that is the same number, else of 64.
pub(super) fn put_float(value: f64, out: &mut Vec<u8>) {
    let single = value as f32;
    if value.to_bits() == 0 {
        put_head(kind::FLOAT, 0, out);
    } else if f64::from(single) == value {
        put_head(kind::FLOAT, 4, out);
        out.extend_from_slice(&single.to_be_bytes());
    } else {
        put_head(kind::FLOAT, 8, out);
        out.extend_from_slice(&value.to_be_bytes());
    }
}

/// A number that is no 64-bit integer, by its JSON text.
pub(super) fn put_text(text: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
    if let Some((negative, mantissa, places)) = short(text) {
        put_decimal(negative, &mantissa.to_be_bytes(), -places, out);
        return Ok(());
    }
    let has_exponent = text.iter().any(|byte| matches!(byte, b'e' | b'E'));
    if has_exponent && let Some(value) = number::exact_float(text) {
        put_float(value, out);
        return Ok(());
    }
    let refuse = || number::refuse(text);
    let big = BigNumber::parse(text).ok_or_else(refuse)?;
    if big.exponent == i64::MIN {
        return Err(refuse());
    }
    let is_zero = big.magnitude.is_empty();
    if big.exponent == 0 && !is_zero {
        let kind = if big.negative { kind::NEGATIVE } else { kind::POSITIVE };
        put_head(kind, big.magnitude.len(), out);
        out.extend_from_slice(&big.magnitude);
    } else {
        put_decimal(big.negative, &big.magnitude, big.exponent, out);
    }
    Ok(())
}

/// Sign, digits and places behind the point of a number of few digits without an exponent.
fn short(text: &[u8]) -> Option<(bool, u64, i64)> {
    let (negative, rest) = match text.split_first()? {
        (b'-', rest) => (true, rest),
        _ => (false, text),
    };
    if rest.len() > DIGITS_MAX {
        return None;
    }
    let mut mantissa: u64 = 0;
    let mut point = None;
    for (index, &byte) in rest.iter().enumerate() {
        match byte {
            b'0'..=b'9' => mantissa = mantissa * 10 + u64::from(byte - b'0'),
            b'.' => point = Some(index),
            _ => return None,
        }
    }
    let places = point.map_or(0, |point| rest.len() - point - 1);
    Some((negative, mantissa, places as i64))
}

/// An exponent, and digits as a big-endian magnitude with the sign in its top bit.
fn put_decimal(negative: bool, magnitude: &[u8], exponent: i64, out: &mut Vec<u8>) {
    let magnitude = without_zeros(magnitude);
    // The sign needs a byte of its own where the magnitude has its top bit, or where it is zero.
    let has_sign_byte = magnitude.first().map_or(negative, |&byte| byte >= 0x80);
    let bytes = magnitude.len() + usize::from(has_sign_byte);
    put_head(kind::DECIMAL, signed_bytes(exponent.unsigned_abs()) + bytes, out);
    put_signed(exponent < 0, exponent.unsigned_abs(), out);
    let at = out.len();
    if has_sign_byte {
        out.push(0);
    }
    out.extend_from_slice(magnitude);
    if negative {
        out[at] |= 0x80;
    }
}

fn without_zeros(bytes: &[u8]) -> &[u8] {
    without_leading(bytes, 0)
}

/// The node of a decimal: its digits, which have a sign in front if it has one, times ten to the
/// power of `exponent`.
pub(super) fn decimal_node(
    digits: &[u8],
    exponent: i64,
    document: &mut Document,
) -> Result<Node, DocumentError> {
    if exponent == 0 {
        return integer_node(digits, document);
    }
    let (sign, digits) = match digits.split_first() {
        Some((b'-', rest)) => (&b"-"[..], rest),
        _ => (&b""[..], digits),
    };
    let mut text = sign.to_vec();
    let places = exponent.unsigned_abs();
    if exponent < 0 && places <= PLACES_MAX {
        let places = places as usize;
        let zeros = (places + 1).saturating_sub(digits.len());
        text.extend(std::iter::repeat_n(b'0', zeros));
        text.extend_from_slice(digits);
        text.insert(text.len() - places, b'.');
    } else {
        text.extend_from_slice(digits);
        text.push(b'e');
        text.extend_from_slice(itoa::Buffer::new().format(exponent).as_bytes());
    }
    Ok(Node::Decimal(document.push_text(&text)?))
}

/// The node of an integer of any size; that of `-0` is its text.
pub(super) fn integer_node(text: &[u8], document: &mut Document) -> Result<Node, DocumentError> {
    let parsed = str::from_utf8(text).ok().filter(|&text| text != "-0");
    Ok(match parsed.and_then(|text| text.parse::<i128>().ok()) {
        Some(value) if i64::try_from(value).is_ok() => Node::Int(value as i64),
        Some(value) if u64::try_from(value).is_ok() => Node::Uint(value as u64),
        _ => Node::Decimal(document.push_text(text)?),
    })
}
