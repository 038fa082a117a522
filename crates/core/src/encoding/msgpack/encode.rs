//! Document to MessagePack: one pass over the nodes, which stand in the order of the output.
//!
//! Arrays and maps carry their length in front, as nodes do, so that no stack is needed. Every
//! form must stay the shortest one that holds the value.

use super::super::Refusal;
use super::super::cursor::{number, text};
use crate::document::{Document, Node, Span};

pub(super) fn encode(document: &Document, out: &mut Vec<u8>) -> Result<(), Refusal> {
    out.reserve(document.text().len() + document.nodes().len());
    for &node in document.nodes() {
        match node {
            Node::Null => out.push(0xC0),
            Node::Bool(false) => out.push(0xC2),
            Node::Bool(true) => out.push(0xC3),
            Node::Int(value) => integer(value, out),
            Node::Uint(value) => unsigned(value, out),
            Node::Float(value) => float(value, out),
            Node::Decimal(span) => {
                let text = document.bytes(span);
                let value = number::exact_float(text).ok_or_else(|| number::refuse(text))?;
                float(value, out);
            }
            Node::String(span) => string(document, span, out)?,
            Node::Array { length, .. } => count(length, [0x90, 0xDC, 0xDD], out),
            Node::Object { length, .. } => count(length, [0x80, 0xDE, 0xDF], out),
        }
    }
    Ok(())
}

#[inline]
fn integer(value: i64, out: &mut Vec<u8>) {
    if value >= 0 {
        unsigned(value as u64, out);
    } else if value >= -32 {
        out.push(value as u8);
    } else if let Ok(value) = i8::try_from(value) {
        out.extend_from_slice(&[0xD0, value as u8]);
    } else if let Ok(value) = i16::try_from(value) {
        put(0xD1, value.to_be_bytes(), out);
    } else if let Ok(value) = i32::try_from(value) {
        put(0xD2, value.to_be_bytes(), out);
    } else {
        put(0xD3, value.to_be_bytes(), out);
    }
}

#[inline]
fn unsigned(value: u64, out: &mut Vec<u8>) {
    if value < 0x80 {
        out.push(value as u8);
    } else if let Ok(value) = u8::try_from(value) {
        out.extend_from_slice(&[0xCC, value]);
    } else if let Ok(value) = u16::try_from(value) {
        put(0xCD, value.to_be_bytes(), out);
    } else if let Ok(value) = u32::try_from(value) {
        put(0xCE, value.to_be_bytes(), out);
    } else {
        put(0xCF, value.to_be_bytes(), out);
    }
}

#[inline]
fn float(value: f64, out: &mut Vec<u8>) {
    put(0xCB, value.to_be_bytes(), out);
}

#[inline]
fn string(document: &Document, span: Span, out: &mut Vec<u8>) -> Result<(), Refusal> {
    text::checked(document, span)?;
    if span.length < 32 {
        out.push(0xA0 | span.length as u8);
    } else if let Ok(length) = u8::try_from(span.length) {
        out.extend_from_slice(&[0xD9, length]);
    } else if let Ok(length) = u16::try_from(span.length) {
        put(0xDA, length.to_be_bytes(), out);
    } else {
        put(0xDB, span.length.to_be_bytes(), out);
    }
    text::append(out, document, span);
    Ok(())
}

/// The head of an array or map; `heads` are its forms with 4, 16 and 32 bits.
#[inline]
fn count(length: u32, heads: [u8; 3], out: &mut Vec<u8>) {
    if length < 16 {
        out.push(heads[0] | length as u8);
    } else if let Ok(length) = u16::try_from(length) {
        put(heads[1], length.to_be_bytes(), out);
    } else {
        put(heads[2], length.to_be_bytes(), out);
    }
}

/// Appends a head byte and what follows it.
#[inline]
fn put<const N: usize>(head: u8, bytes: [u8; N], out: &mut Vec<u8>) {
    out.push(head);
    out.extend_from_slice(&bytes);
}
