//! MessagePack (https://github.com/msgpack/msgpack/blob/master/spec.md): the encoding that the
//! published platforms used, so its bytes must be readable by any MessagePack library.
//!
//! Integers, lengths and counts take their smallest form. Numbers with a fraction are always
//! float 64, because a reader that widens float 32 must not see another number.

mod decode;
mod encode;
#[cfg(test)]
mod tests;

use super::{DecodeError, DocumentEncoding, Refusal};
use crate::document::Document;

/// The `msgpack` encoding.
pub(super) struct MessagePack;

impl DocumentEncoding for MessagePack {
    fn encode(&self, document: &Document, out: &mut Vec<u8>) -> Result<(), Refusal> {
        encode::encode(document, out)
    }

    fn decode(&self, bytes: &[u8], document: &mut Document) -> Result<(), DecodeError> {
        decode::decode(bytes, document)
    }
}
