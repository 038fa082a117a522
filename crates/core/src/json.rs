//! JSON text to the in-memory value and back. This file is the front door: the two parsers, chosen
//! by name, and the writer.
//!
//! Why parsers of our own: number texts, duplicate keys, key order and lone surrogates must survive
//! (the usual parsers lose at least one of them), 100,000 levels of nesting must cost no stack, and
//! a document must be refilled without an allocation. Both parsers accept exactly the grammar of
//! RFC 8259 and make the same document or the same kind of error; tests and a fuzz target compare
//! them with each other and with serde_json.

mod ordinary;
mod scalar;
mod simd;
pub(crate) mod structure;
mod write;

pub(crate) use write::write_value;
pub use write::{write, write_at_most};

use crate::document::{Document, DocumentError};
use crate::encoding::Parser;
use crate::limits::PAYLOAD_BYTES_MAX;

/// Why text is not a JSON value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// The text breaks the grammar.
    #[error("{what} at byte {offset}")]
    Syntax {
        /// What was found or missing.
        what: &'static str,
        /// Where, in bytes from the start of the text.
        offset: usize,
    },
    /// The document would pass a limit.
    #[error(transparent)]
    Document(#[from] DocumentError),
}

impl JsonError {
    fn syntax(what: &'static str, offset: usize) -> JsonError {
        JsonError::Syntax { what, offset }
    }
}

/// Parses all of `text`, one JSON value with white space around it, into `document`, which is
/// cleared first.
///
/// # Errors
/// [`JsonError::Syntax`] for anything that is not one JSON value in UTF-8, and
/// [`JsonError::Document`] above [`PAYLOAD_BYTES_MAX`] or the nesting limit.
pub fn parse(parser: Parser, text: &[u8], document: &mut Document) -> Result<(), JsonError> {
    document.clear();
    if text.len() > PAYLOAD_BYTES_MAX {
        return Err(DocumentError::TextTooLarge { limit: PAYLOAD_BYTES_MAX }.into());
    }
    if let Err(error) = str::from_utf8(text) {
        return Err(JsonError::syntax("invalid UTF-8", error.valid_up_to()));
    }
    // The whole text is copied once, so that strings and numbers are ranges of it and only
    // strings with escapes are written again.
    document.push_text(text)?;
    match parser {
        Parser::Ordinary => ordinary::parse(text, document),
        Parser::Simd => simd::parse(text, document),
    }
}

#[cfg(test)]
mod tests;
