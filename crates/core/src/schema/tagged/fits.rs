//! Whether a value can be written in a form, as far as the value itself says: what its elements and
//! members are is found when they are written.
//!
//! The answer for a list, a map or a record may turn out wrong; whoever writes takes back what was
//! written then.

use super::{Form, Integer, Plan};
use crate::document::{Document, Node, float_is_exact};

impl Integer {
    /// Whether a value is in the range.
    #[inline]
    pub(crate) fn holds(self, value: i64) -> bool {
        match self {
            Integer::I8 => i8::try_from(value).is_ok(),
            Integer::I16 => i16::try_from(value).is_ok(),
            Integer::I32 | Integer::S32 | Integer::Sfixed32 => i32::try_from(value).is_ok(),
            Integer::I64 | Integer::S64 | Integer::Sfixed64 => true,
            Integer::U32 | Integer::Fixed32 => u32::try_from(value).is_ok(),
            Integer::U64 | Integer::Fixed64 => value >= 0,
        }
    }

    /// Whether values above those of 63 bits are in the range.
    #[inline]
    pub(crate) fn holds_unsigned(self) -> bool {
        matches!(self, Integer::U64 | Integer::Fixed64)
    }
}

/// The double that a number node is exactly.
#[inline]
pub(crate) fn double_of(document: &Document, node: Node) -> Option<f64> {
    /// Integers up to here are doubles.
    const EXACT: i64 = 1 << 53;
    match node {
        Node::Int(value) if (-EXACT..=EXACT).contains(&value) => Some(value as f64),
        Node::Int(value) => float_is_exact(itoa::Buffer::new().format(value)),
        Node::Uint(value) => float_is_exact(itoa::Buffer::new().format(value)),
        Node::Float(value) => Some(value),
        Node::Decimal(span) => crate::encoding::exact_float(document.bytes(span)),
        _ => None,
    }
}

/// The 32-bit float that a number node is exactly.
pub(crate) fn float_of(document: &Document, node: Node) -> Option<f32> {
    let double = double_of(document, node)?;
    let float = double as f32;
    (f64::from(float) == double).then_some(float)
}

pub(crate) fn is_number(node: Node) -> bool {
    matches!(node, Node::Int(_) | Node::Uint(_) | Node::Float(_) | Node::Decimal(_))
}

impl Plan {
    /// Whether a value may be written in a form.
    #[inline]
    pub(crate) fn fits(&self, form: &Form, document: &Document, index: usize) -> bool {
        let node = document.nodes()[index];
        match form {
            Form::Text => matches!(node, Node::String(_)),
            Form::Integer(integer) => match node {
                Node::Int(value) => integer.holds(value),
                Node::Uint(_) => integer.holds_unsigned(),
                _ => false,
            },
            Form::Record(record) if self.records[*record].is_value => {
                let alternatives = &self.records[*record].fields[0].alternatives;
                alternatives.iter().any(|other| self.fits(&other.form, document, index))
            }
            Form::Record(_) | Form::Map(_) => matches!(node, Node::Object { .. }),
            Form::List(_) => matches!(node, Node::Array { .. }),
            Form::Bool => matches!(node, Node::Bool(_)),
            Form::Null => matches!(node, Node::Null),
            Form::Double => double_of(document, node).is_some(),
            Form::Float => float_of(document, node).is_some(),
            Form::NumberText => is_number(node),
            Form::Json => true,
            Form::Bytes => {
                matches!(node, Node::String(span) if base64_of(document.bytes(span)).is_some())
            }
            Form::Enum(names) => match node {
                Node::String(span) => names.number_of(document.bytes(span)).is_some(),
                _ => false,
            },
        }
    }
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The bytes of a base64 text in its one form: standard alphabet, padded, no bits left over.
pub(crate) fn base64_of(text: &[u8]) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(4) {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let quads = text.len() / 4;
    for (index, quad) in text.as_chunks::<4>().0.iter().enumerate() {
        let pads = quad.iter().rev().take_while(|&&byte| byte == b'=').count();
        if pads > 2 || (pads > 0 && index + 1 < quads) {
            return None;
        }
        let mut bits = 0u32;
        for &byte in &quad[..4 - pads] {
            let value = match byte {
                b'A'..=b'Z' => byte - b'A',
                b'a'..=b'z' => byte - b'a' + 26,
                b'0'..=b'9' => byte - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                _ => return None,
            };
            bits = bits << 6 | u32::from(value);
        }
        bits <<= 6 * pads;
        if bits & ((1 << (8 * pads)) - 1) != 0 {
            return None;
        }
        bytes.extend_from_slice(&bits.to_be_bytes()[1..4 - pads]);
    }
    Some(bytes)
}

/// The base64 text of bytes.
pub(crate) fn to_base64(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let mut three = [0; 3];
        three[..chunk.len()].copy_from_slice(chunk);
        let bits = u32::from_be_bytes([0, three[0], three[1], three[2]]);
        for place in 0..4 {
            let digit = BASE64[(bits >> (18 - 6 * place) & 63) as usize];
            text.push(if place > chunk.len() { b'=' } else { digit });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_comes_back_and_other_spellings_are_none() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(to_base64(bytes.as_bytes()), text.as_bytes());
            assert_eq!(base64_of(text.as_bytes()).unwrap(), bytes.as_bytes());
        }
        for text in ["Zg", "Zg=", "Zh==", "Zm9=", "Z===", "====", "Zg==Zg==", "Zm9-", "Zm 9"] {
            assert_eq!(base64_of(text.as_bytes()), None, "{text}");
        }
    }
}
