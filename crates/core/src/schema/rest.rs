//! What a schema has no place for: why a value is outside it, and the JSON text in which such a
//! value travels where the schema has a field for the rest.

use crate::document::{Document, Node};
use crate::encoding::{Parser, Refusal};
use crate::json;
use crate::schema::path_of;

/// A value that can't be written as the schema says. The record around it may have a field for
/// such; if none has, the payload is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Outside {
    /// The node that the value starts with.
    pub(crate) node: usize,
    /// What is wrong with it.
    pub(crate) what: &'static str,
}

impl Outside {
    /// The refusal of a payload for this reason.
    pub(crate) fn refusal(self, document: &Document) -> Refusal {
        Refusal::OutsideSchema { path: path_of(document, self.node), what: self.what }
    }
}

/// JSON texts in the middle of a document of another encoding.
#[derive(Default)]
pub(crate) struct JsonText {
    document: Document,
}

impl JsonText {
    /// Reads a text as the next value of `into`.
    pub(crate) fn read(&mut self, text: &[u8], into: &mut Document) -> Result<(), &'static str> {
        json::parse(Parser::Ordinary, text, &mut self.document)
            .map_err(|_| "a text that is no JSON")?;
        into.append(&self.document).map_err(|_| "more values than a document takes")
    }

    /// Reads a text that must be that of a number.
    pub(crate) fn read_number(
        &mut self,
        text: &[u8],
        into: &mut Document,
    ) -> Result<(), &'static str> {
        json::parse(Parser::Ordinary, text, &mut self.document)
            .map_err(|_| "a text that is no number")?;
        match self.document.nodes() {
            [Node::Int(_) | Node::Uint(_) | Node::Float(_) | Node::Decimal(_)] => {
                into.append(&self.document).map_err(|_| "more values than a document takes")
            }
            _ => Err("a text that is no number"),
        }
    }
}
