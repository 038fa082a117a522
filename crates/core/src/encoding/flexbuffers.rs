//! FlexBuffers (https://flatbuffers.dev/internals): the schema-less sibling of FlatBuffers, whose
//! values are read in place, by offsets that point backwards from the root at the end.
//!
//! Maps are sorted by key, as readers that search in them need. The order of the payload's keys is
//! kept all the same: it is the order in which the keys' texts stand in the buffer, which is also
//! what the official writers leave behind. What is read is counted, because offsets may lead to the
//! same bytes many times.

mod decode;
mod encode;
mod keys;
#[cfg(test)]
mod tests;

use super::{DecodeError, DocumentEncoding, Refusal};
use crate::document::Document;

/// The `flexbuffers` encoding.
pub(super) struct FlexBuffers;

impl DocumentEncoding for FlexBuffers {
    fn encode(&self, document: &Document, out: &mut Vec<u8>) -> Result<(), Refusal> {
        encode::encode(document, out)
    }

    fn decode(&self, bytes: &[u8], document: &mut Document) -> Result<(), DecodeError> {
        decode::decode(bytes, document)
    }
}

/// Types of values; in the buffer each stands above two bits for the width of what it points to.
mod kind {
    pub(super) const NULL: u8 = 0;
    pub(super) const INT: u8 = 1;
    pub(super) const UINT: u8 = 2;
    pub(super) const FLOAT: u8 = 3;
    pub(super) const KEY: u8 = 4;
    pub(super) const STRING: u8 = 5;
    pub(super) const INDIRECT_INT: u8 = 6;
    pub(super) const INDIRECT_FLOAT: u8 = 8;
    pub(super) const MAP: u8 = 9;
    pub(super) const VECTOR: u8 = 10;
    pub(super) const VECTOR_INT: u8 = 11;
    pub(super) const VECTOR_KEY: u8 = 14;
    pub(super) const VECTOR_STRING_DEPRECATED: u8 = 15;
    /// The first of the vectors of two, three and four integers or floats.
    pub(super) const VECTOR_INT_2: u8 = 16;
    pub(super) const VECTOR_FLOAT_4: u8 = 24;
    pub(super) const BLOB: u8 = 25;
    pub(super) const BOOL: u8 = 26;
    pub(super) const VECTOR_BOOL: u8 = 36;
}
