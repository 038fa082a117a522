//! The `json` encoding: the value as minified JSON text.
//!
//! Number texts are written as they were read, strings with the fewest escapes, and nothing is
//! reordered, so the text differs from the payload only in white space and in how strings are
//! escaped.

use crate::document::Document;
use crate::encoding::{DecodeError, DocumentEncoding, Parser, Refusal};
use crate::json;

/// JSON text, read back by one of the two parsers.
pub(super) struct Json {
    /// The parser that decodes.
    pub(super) parser: Parser,
}

impl DocumentEncoding for Json {
    fn encode(&self, document: &Document, out: &mut Vec<u8>) -> Result<(), Refusal> {
        json::write(document, out);
        Ok(())
    }

    fn decode(&self, bytes: &[u8], document: &mut Document) -> Result<(), DecodeError> {
        json::parse(self.parser, bytes, document).map_err(|error| match error {
            json::JsonError::Document(error) => DecodeError::Document(error),
            json::JsonError::Syntax { what, offset } => {
                DecodeError::Corrupt { encoding: "json", what, offset }
            }
        })
    }
}
