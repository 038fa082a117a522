//! CBOR (RFC 8949) in preferred serialisation: the encoding for readers of other systems that has
//! a form for every JSON number.
//!
//! Integers, lengths and floats take the shortest form that keeps the value, lengths are definite.
//! What no double holds becomes a bignum (tags 2 and 3) or a decimal fraction (tag 4), which are
//! never expanded when read.

mod decode;
mod encode;
mod half;
#[cfg(test)]
mod tests;

use super::{DecodeError, DocumentEncoding, Refusal};
use crate::document::Document;

/// The `cbor` encoding.
pub(super) struct Cbor;

impl DocumentEncoding for Cbor {
    fn encode(&self, document: &Document, out: &mut Vec<u8>) -> Result<(), Refusal> {
        encode::encode(document, out)
    }

    fn decode(&self, bytes: &[u8], document: &mut Document) -> Result<(), DecodeError> {
        decode::decode(bytes, document)
    }
}

/// Major types, in the upper three bits of a head (RFC 8949, section 3.1).
mod major {
    pub(super) const UNSIGNED: u8 = 0 << 5;
    pub(super) const NEGATIVE: u8 = 1 << 5;
    pub(super) const BYTES: u8 = 2 << 5;
    pub(super) const TEXT: u8 = 3 << 5;
    pub(super) const ARRAY: u8 = 4 << 5;
    pub(super) const MAP: u8 = 5 << 5;
    pub(super) const TAG: u8 = 6 << 5;
    pub(super) const OTHER: u8 = 7 << 5;
}

/// Tags of numbers (RFC 8949, section 3.4).
mod tag {
    pub(super) const BIGNUM: u64 = 2;
    pub(super) const NEGATIVE_BIGNUM: u64 = 3;
    pub(super) const DECIMAL_FRACTION: u64 = 4;
}
