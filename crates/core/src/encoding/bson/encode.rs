//! Document to BSON: one pass over the nodes with a stack of the documents whose lengths have to
//! be filled in.
//!
//! What is known late is written late, a type when its value is looked at and a length when its
//! document ends. The total must never pass `i32::MAX`, which is checked as the output grows.

use super::super::Refusal;
use super::super::cursor::{number, text};
use super::element;
use crate::document::{Document, Node, Span};

/// The largest length that BSON can say.
const LENGTH_MAX: usize = i32::MAX as usize;

/// A document or array that is being written.
struct Level {
    /// Where its length stands in the output.
    start: usize,
    /// Index of the first node after it.
    end: usize,
    /// The next key of an array; objects have their own.
    next: Option<u32>,
}

pub(super) fn encode(document: &Document, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let nodes = document.nodes();
    let Some(&Node::Object { end, .. }) = nodes.first() else {
        return Err(Refusal::TopIsNotAnObject);
    };
    out.reserve(document.text().len() + nodes.len() * 4);
    let first = out.len();
    let mut outer: Vec<Level> = Vec::new();
    let mut level = open(end, false, out);
    let mut index = 1;
    loop {
        while index == level.end {
            out.push(0);
            fill_in_length(level.start, out)?;
            let Some(parent) = outer.pop() else { return Ok(()) };
            level = parent;
        }
        if out.len() - first > LENGTH_MAX {
            return Err(too_long());
        }
        // The type stands before the key and is known after it.
        let kind_at = out.len();
        out.push(0);
        match &mut level.next {
            Some(next) => {
                out.extend_from_slice(itoa::Buffer::new().format(*next).as_bytes());
                *next += 1;
            }
            None => {
                let Node::String(span) = nodes[index] else { unreachable!("keys are strings") };
                key(document, span, out)?;
                index += 1;
            }
        }
        out.push(0);
        let node = nodes[index];
        index += 1;
        out[kind_at] = match node {
            Node::Null => element::NULL,
            Node::Bool(value) => {
                out.push(u8::from(value));
                element::BOOLEAN
            }
            Node::Int(value) => match i32::try_from(value) {
                Ok(value) => {
                    out.extend_from_slice(&value.to_le_bytes());
                    element::INT_32
                }
                Err(_) => {
                    out.extend_from_slice(&value.to_le_bytes());
                    element::INT_64
                }
            },
            Node::Uint(value) => {
                return Err(number::refuse(itoa::Buffer::new().format(value).as_bytes()));
            }
            Node::Float(value) => {
                out.extend_from_slice(&value.to_le_bytes());
                element::DOUBLE
            }
            Node::Decimal(span) => {
                let text = document.bytes(span);
                let value = number::exact_float(text).ok_or_else(|| number::refuse(text))?;
                out.extend_from_slice(&value.to_le_bytes());
                element::DOUBLE
            }
            Node::String(span) => {
                text::checked(document, span)?;
                let length = i32::try_from(span.length + 1).map_err(|_| too_long())?;
                out.extend_from_slice(&length.to_le_bytes());
                text::append(out, document, span);
                out.push(0);
                element::STRING
            }
            Node::Array { end, .. } => {
                outer.push(std::mem::replace(&mut level, open(end, true, out)));
                element::ARRAY
            }
            Node::Object { end, .. } => {
                outer.push(std::mem::replace(&mut level, open(end, false, out)));
                element::DOCUMENT
            }
        };
    }
}

/// Leaves room for the length of a document or array.
#[inline]
fn open(end: u32, is_array: bool, out: &mut Vec<u8>) -> Level {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    Level { start, end: end as usize, next: is_array.then_some(0) }
}

#[inline]
fn fill_in_length(start: usize, out: &mut [u8]) -> Result<(), Refusal> {
    let length = i32::try_from(out.len() - start).map_err(|_| too_long())?;
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
    Ok(())
}

/// The key of an element of an object, without its terminator.
#[inline]
fn key(document: &Document, span: Span, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let bytes = text::checked(document, span)?;
    if text::find_nul(bytes).is_some() {
        return Err(Refusal::NulInKey);
    }
    text::append(out, document, span);
    Ok(())
}

#[cold]
fn too_long() -> Refusal {
    Refusal::TooLong { what: "the document", limit: LENGTH_MAX as u64 }
}
