//! Amazon Ion 1.0 in its binary form (https://amazon-ion.github.io/ion-docs/docs/binary.html): a
//! superset of JSON whose keys are numbers that a table in front explains.
//!
//! Numbers take the type that Ion's own text gives them: an integer of any size, a decimal where
//! there is a fraction and a float where there is an exponent. What Ion has beside JSON is refused
//! by name; only symbols are read, as strings, and nulls with a type, as nulls.

mod decode;
mod encode;
mod heads;
mod number;
#[cfg(test)]
mod tests;

use super::{DecodeError, DocumentEncoding, Refusal};
use crate::document::Document;

/// The `ion` encoding.
pub(super) struct Ion;

impl DocumentEncoding for Ion {
    fn encode(&self, document: &Document, out: &mut Vec<u8>) -> Result<(), Refusal> {
        encode::encode(document, out)
    }

    fn decode(&self, bytes: &[u8], document: &mut Document) -> Result<(), DecodeError> {
        decode::decode(bytes, document)
    }
}

/// What stands in front: the format and its version 1.0.
const VERSION_MARKER: [u8; 4] = [0xE0, 0x01, 0x00, 0xEA];

/// The symbols that every table starts with, from number 1.
const SYSTEM_SYMBOLS: [&str; 9] = [
    "$ion",
    "$ion_1_0",
    "$ion_symbol_table",
    "name",
    "version",
    "imports",
    "symbols",
    "max_id",
    "$ion_shared_symbol_table",
];

/// Symbols with a meaning of their own.
mod symbol {
    pub(super) const SYMBOL_TABLE: u64 = 3;
    pub(super) const IMPORTS: u64 = 6;
    pub(super) const SYMBOLS: u64 = 7;
}

/// Types, in the upper half of a head; the lower half is a length.
mod kind {
    pub(super) const NULL: u8 = 0x0;
    pub(super) const BOOL: u8 = 0x1;
    pub(super) const POSITIVE: u8 = 0x2;
    pub(super) const NEGATIVE: u8 = 0x3;
    pub(super) const FLOAT: u8 = 0x4;
    pub(super) const DECIMAL: u8 = 0x5;
    pub(super) const TIMESTAMP: u8 = 0x6;
    pub(super) const SYMBOL: u8 = 0x7;
    pub(super) const STRING: u8 = 0x8;
    pub(super) const CLOB: u8 = 0x9;
    pub(super) const BLOB: u8 = 0xA;
    pub(super) const LIST: u8 = 0xB;
    pub(super) const S_EXPRESSION: u8 = 0xC;
    pub(super) const STRUCT: u8 = 0xD;
    pub(super) const ANNOTATION: u8 = 0xE;
}

/// The length in a head that says that a number with the length follows.
const LONG: u8 = 14;

/// The length in a head that says that the value is null.
const NULL_OF_KIND: u8 = 15;
