//! What a round trip kept: the three classes of fidelity, and the comparison that checks them.
//!
//! The comparison is strict where the class is: key order, duplicate keys and string code points
//! count in every class; only the spelling of numbers separates `value+text` from `value`.

use std::borrow::Cow;
use std::fmt;

use super::{Decimal, Document, Node};

/// What a round trip keeps, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fidelity {
    /// The same JSON value, numbers equal as decimals, key order and code points kept.
    Value,
    /// The same JSON value and the same number texts.
    ValueAndText,
    /// Identical bytes.
    Bytes,
}

impl Fidelity {
    /// The name in profiles, reports and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Fidelity::Value => "value",
            Fidelity::ValueAndText => "value+text",
            Fidelity::Bytes => "bytes",
        }
    }
}

impl fmt::Display for Fidelity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Where two documents first differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Difference {
    /// Index of the node.
    pub node: usize,
}

/// The first place where `other` is not what `document` is, in the sense of `fidelity` (of which
/// `Bytes` is compared as `ValueAndText`, since documents have no bytes), or `None`.
pub fn first_difference(
    document: &Document,
    other: &Document,
    fidelity: Fidelity,
) -> Option<Difference> {
    let (left, right) = (document.nodes(), other.nodes());
    let shorter = left.len().min(right.len());
    for node in 0..shorter {
        if !same(document, left[node], other, right[node], fidelity) {
            return Some(Difference { node });
        }
    }
    (left.len() != right.len()).then_some(Difference { node: shorter })
}

fn same(a_doc: &Document, a: Node, b_doc: &Document, b: Node, fidelity: Fidelity) -> bool {
    match (a, b) {
        (Node::Null, Node::Null) => true,
        (Node::Bool(a), Node::Bool(b)) => a == b,
        (Node::Int(a), Node::Int(b)) => a == b,
        (Node::Uint(a), Node::Uint(b)) => a == b,
        (Node::String(a), Node::String(b)) => a_doc.bytes(a) == b_doc.bytes(b),
        (Node::Array { length: a, .. }, Node::Array { length: b, .. })
        | (Node::Object { length: a, .. }, Node::Object { length: b, .. }) => a == b,
        _ => match (number_text(a_doc, a), number_text(b_doc, b)) {
            (Some(a), Some(b)) if a == b => true,
            (Some(a), Some(b)) if fidelity == Fidelity::Value => {
                match (Decimal::parse(&a), Decimal::parse(&b)) {
                    (Some(a), Some(b)) => a.equals(&b),
                    _ => false,
                }
            }
            _ => false,
        },
    }
}

/// The JSON text of a number, or `None` for any other node.
pub fn number_text(document: &Document, node: Node) -> Option<Cow<'_, [u8]>> {
    Some(match node {
        Node::Int(value) => Cow::Owned(itoa::Buffer::new().format(value).as_bytes().to_vec()),
        Node::Uint(value) => Cow::Owned(itoa::Buffer::new().format(value).as_bytes().to_vec()),
        Node::Float(value) => {
            Cow::Owned(zmij::Buffer::new().format_finite(value).as_bytes().to_vec())
        }
        Node::Decimal(span) => Cow::Borrowed(document.bytes(span)),
        _ => return None,
    })
}
