//! The columnar encoding: JSON text to columns and back, byte by byte the same, as in
//! spec/columnar.md.
//!
//! Payloads of one kind share keys, structure and values. What is shared becomes a model, which a
//! dictionary can hold; what is left is written column by column, where it compresses best.
//! What can't be restored exactly is refused, and stored as it is.

mod calendar;
mod choose;
mod column;
mod columns;
mod contents;
mod cursor;
mod decode;
mod digits;
mod encode;
mod form;
mod hex;
mod integers;
mod known;
mod learn;
mod model;
mod output;
mod parts;
mod plan;
mod scan;
mod sink;
mod style;
mod table;
mod tree;
mod varint;
mod view;
mod walk;
mod ways;

pub use contents::Content;
pub use learn::{LearnedModel, learn};
pub use model::Model;

use crate::dictionary::Dictionary;
use crate::encoding::{DecodeError, Refusal, TextDecoder, TextEncoder, TextEncoding};
use crate::limits::COLUMNAR_DEPTH_MAX;
use decode::Decoder;
use encode::Encoder;

/// Ends every text. No string of a JSON text holds it.
const TERMINATOR: u8 = 0;

/// A column of so many values begins with a byte that says how it is written.
const LONG_COLUMN: usize = 8;

/// The version of what the encoder chooses, which a dictionary was trained under. It rises when the
/// same text and model give other bytes; any version's bytes are decoded.
pub const ENCODER_VERSION: u32 = 1;

/// What breaks the rules of the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Corrupt(pub(crate) &'static str);

/// The bytes end too early.
const END: Corrupt = Corrupt("the end inside a column");

/// Why a payload is stored as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refused {
    /// It is no JSON text.
    NotJson,
    /// Its white space is in no usual style.
    Style,
    /// It nests too deep.
    Depth,
    /// It has too many different keys or variants.
    Keys,
}

impl From<Corrupt> for Refused {
    /// What can't be added to a model is what its limits forbid.
    fn from(corrupt: Corrupt) -> Refused {
        if corrupt == model::TOO_DEEP { Refused::Depth } else { Refused::Keys }
    }
}

impl From<Refused> for Refusal {
    fn from(refused: Refused) -> Refusal {
        match refused {
            Refused::NotJson => Refusal::NotJson,
            Refused::Style => Refusal::WhiteSpace,
            Refused::Depth => Refusal::TooDeep { limit: COLUMNAR_DEPTH_MAX },
            Refused::Keys => Refusal::TooManyKeys,
        }
    }
}

/// An encoder for a model that no dictionary holds yet: the codec's part of a dictionary is trained
/// on what such an encoder makes of the payloads. Texts are written in the order of the payload, or
/// slot by slot. Nothing where the bytes are no model.
pub fn encoder_for(model: &[u8], texts_in_order: bool) -> Option<Box<dyn TextEncoder>> {
    let model = Model::read(model).ok()?.with_texts_in_order(texts_in_order);
    Some(Box::new(Encoder::new(&model)))
}

/// The encoding's row in the registry.
pub(super) struct Columnar;

impl TextEncoding for Columnar {
    fn encoder(&self, dictionary: Option<&Dictionary>) -> Box<dyn TextEncoder> {
        Box::new(match dictionary.and_then(Dictionary::model) {
            Some(model) => Encoder::new(model),
            None => Encoder::new(&Model::new()),
        })
    }

    fn decoder(&self, dictionary: Option<&Dictionary>) -> Box<dyn TextDecoder> {
        Box::new(match dictionary.and_then(Dictionary::model) {
            Some(model) => Decoder::new(model),
            None => Decoder::new(&Model::new()),
        })
    }
}

impl TextEncoder for Encoder {
    fn encode(&mut self, text: &[u8], out: &mut Vec<u8>) -> Result<(), Refusal> {
        Encoder::encode(self, text, out).map_err(Refusal::from)
    }
}

impl TextDecoder for Decoder {
    fn decode(
        &mut self,
        bytes: &[u8],
        text_bytes: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), DecodeError> {
        let body = |Corrupt(what)| DecodeError::Body { encoding: "columnar", what };
        Decoder::decode(self, bytes, text_bytes, out).map_err(body)
    }

    fn memory_bytes(&self) -> usize {
        Decoder::memory_bytes(self)
    }
}

#[cfg(test)]
mod tests;
