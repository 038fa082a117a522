//! BSON 1.1 (https://bsonspec.org/spec.html): what document stores keep, so that a payload can be
//! a document of theirs.
//!
//! The top must be an object; arrays are documents with the keys "0", "1", …; numbers are int32,
//! int64 or double. What those can't hold is refused and never rounded. Lengths stand in front and
//! are filled in when the end is known.

mod decode;
mod encode;
#[cfg(test)]
mod tests;

use super::{DecodeError, DocumentEncoding, Refusal};
use crate::document::Document;

/// The `bson` encoding.
pub(super) struct Bson;

impl DocumentEncoding for Bson {
    fn encode(&self, document: &Document, out: &mut Vec<u8>) -> Result<(), Refusal> {
        encode::encode(document, out)
    }

    fn decode(&self, bytes: &[u8], document: &mut Document) -> Result<(), DecodeError> {
        decode::decode(bytes, document)
    }
}

/// Types of elements.
mod element {
    pub(super) const DOUBLE: u8 = 0x01;
    pub(super) const STRING: u8 = 0x02;
    pub(super) const DOCUMENT: u8 = 0x03;
    pub(super) const ARRAY: u8 = 0x04;
    pub(super) const BOOLEAN: u8 = 0x08;
    pub(super) const NULL: u8 = 0x0A;
    pub(super) const INT_32: u8 = 0x10;
    pub(super) const INT_64: u8 = 0x12;
}
