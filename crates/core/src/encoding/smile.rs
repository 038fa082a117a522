//! Smile (https://github.com/FasterXML/smile-format-specification), Jackson's binary JSON: the
//! encoding whose bytes are smallest without a codec, because keys and short strings that were
//! seen before are one or two bytes.
//!
//! The header always says that keys and string values are shared, and the tables of what was seen
//! must fill, number and empty themselves exactly as Jackson's do: a difference of one entry reads
//! as another string, not as an error.

mod decode;
mod encode;
mod seven_bit;
mod shared;
#[cfg(test)]
mod tests;

use super::{DecodeError, DocumentEncoding, Refusal};
use crate::document::Document;

/// The `smile` encoding.
pub(super) struct Smile;

impl DocumentEncoding for Smile {
    fn encode(&self, document: &Document, out: &mut Vec<u8>) -> Result<(), Refusal> {
        encode::encode(document, out)
    }

    fn decode(&self, bytes: &[u8], document: &mut Document) -> Result<(), DecodeError> {
        decode::decode(bytes, document)
    }
}

/// The first three bytes of every document: a smiley and a line feed.
const MAGIC: [u8; 3] = *b":)\n";

/// Flags of the fourth byte, whose upper four bits are the version, zero.
mod flag {
    pub(super) const SHARED_KEYS: u8 = 0x01;
    pub(super) const SHARED_STRINGS: u8 = 0x02;
    pub(super) const VERSION_MASK: u8 = 0xF0;
}

/// The longest string value that is written with its length and may be referred back to, in bytes.
const SHORT_STRING_LENGTH_MAX: u32 = 64;

/// Bytes with a fixed meaning.
mod token {
    pub(super) const EMPTY_STRING: u8 = 0x20;
    pub(super) const NULL: u8 = 0x21;
    pub(super) const FALSE: u8 = 0x22;
    pub(super) const TRUE: u8 = 0x23;
    pub(super) const INT_32: u8 = 0x24;
    pub(super) const INT_64: u8 = 0x25;
    pub(super) const BIG_INTEGER: u8 = 0x26;
    pub(super) const FLOAT_32: u8 = 0x28;
    pub(super) const FLOAT_64: u8 = 0x29;
    pub(super) const BIG_DECIMAL: u8 = 0x2A;
    /// In place of a value: the string with this index plus one.
    pub(super) const STRING_REFERENCE: u8 = 0x00;
    pub(super) const SHORT_ASCII: u8 = 0x40;
    pub(super) const SHORT_UNICODE: u8 = 0x80;
    pub(super) const SMALL_INTEGER: u8 = 0xC0;
    pub(super) const LONG_ASCII: u8 = 0xE0;
    pub(super) const LONG_UNICODE: u8 = 0xE4;
    pub(super) const SEVEN_BIT_BINARY: u8 = 0xE8;
    /// In place of a value: the string with the index in these two bits and the next byte.
    pub(super) const LONG_STRING_REFERENCE: u8 = 0xEC;
    pub(super) const ARRAY_START: u8 = 0xF8;
    pub(super) const ARRAY_END: u8 = 0xF9;
    pub(super) const OBJECT_START: u8 = 0xFA;
    pub(super) const OBJECT_END: u8 = 0xFB;
    pub(super) const STRING_END: u8 = 0xFC;
    pub(super) const RAW_BINARY: u8 = 0xFD;
    pub(super) const END_OF_CONTENT: u8 = 0xFF;
    /// In place of a key: the key with the index in these two bits and the next byte.
    pub(super) const LONG_KEY_REFERENCE: u8 = 0x30;
    pub(super) const LONG_KEY: u8 = 0x34;
    pub(super) const KEY_REFERENCE: u8 = 0x40;
    pub(super) const SHORT_ASCII_KEY: u8 = 0x80;
    pub(super) const SHORT_UNICODE_KEY: u8 = 0xC0;
}

/// Indices below these have a reference of one byte, and must not use the longer one.
const SHORT_KEY_REFERENCES: u32 = 64;
const SHORT_STRING_REFERENCES: u32 = 31;
