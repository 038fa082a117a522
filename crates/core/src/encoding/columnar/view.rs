//! Variants of scalars, wherever their texts stand: in a model, or in the payload that brings them.
//! How they are written is said here once for both.

use super::form::Form;
use super::model::{Affixes, Hex, Variant, code};
use super::{TERMINATOR, varint};

/// A variant that scalars have, wherever its texts stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum View<'a> {
    Constant(&'a [u8]),
    /// The prefix and the suffix; and so for those below.
    Text(&'a [u8], &'a [u8]),
    Number(&'a [u8], &'a [u8], Form, i64),
    Bytes(&'a [u8], &'a [u8], Hex),
}

impl View<'_> {
    /// Appends the variant.
    pub(super) fn write(self, out: &mut Vec<u8>) {
        let mut around = |prefix: &[u8], suffix: &[u8], codes: [u8; 3]| {
            let [bare, quotes, other] = codes;
            match (prefix, suffix) {
                (b"", b"") => out.push(bare),
                (b"\"", b"\"") => out.push(quotes),
                _ => {
                    out.push(other);
                    write_text(prefix, out);
                    write_text(suffix, out);
                }
            }
        };
        match self {
            View::Constant(b"true") => out.push(code::TRUE),
            View::Constant(b"false") => out.push(code::FALSE),
            View::Constant(b"null") => out.push(code::NULL),
            View::Constant([b'"', inner @ .., b'"']) => {
                out.push(code::STRING_CONSTANT);
                write_text(inner, out);
            }
            View::Constant(constant) => {
                out.push(code::CONSTANT);
                write_text(constant, out);
            }
            View::Text(prefix, suffix) => {
                around(prefix, suffix, [code::BARE, code::STRING, code::AFFIXED_TEXT]);
            }
            View::Number(prefix, suffix, form, base) => {
                let codes = [code::NUMBER, code::QUOTED_NUMBER, code::AFFIXED_NUMBER];
                around(prefix, suffix, codes);
                out.push(form.code());
                varint::write(varint::zigzag(base), out);
            }
            View::Bytes(prefix, suffix, hex) => {
                if hex.is_uuid {
                    out.push(code::UUID);
                } else {
                    out.extend([code::HEX, hex.bytes]);
                }
                out.push(u8::from(hex.is_upper));
                write_text(prefix, out);
                write_text(suffix, out);
            }
        }
    }

    /// The variant, with texts of its own.
    pub(super) fn to_variant(self) -> Variant {
        match self {
            View::Constant(text) => Variant::Constant(text.into()),
            View::Text(prefix, suffix) => Variant::Text(Affixes::new(prefix, suffix)),
            View::Number(prefix, suffix, form, base) => {
                Variant::Number(Affixes::new(prefix, suffix), form, base)
            }
            View::Bytes(prefix, suffix, hex) => Variant::Bytes(Affixes::new(prefix, suffix), hex),
        }
    }
}

/// Appends a text.
pub(super) fn write_text(text: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(text);
    out.push(TERMINATOR);
}

/// Appends the variant of tuples of so many elements.
pub(super) fn write_tuple(length: u32, out: &mut Vec<u8>) {
    out.push(code::TUPLE);
    varint::write(u64::from(length), out);
}
