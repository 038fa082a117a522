//! The writer: a document as minified JSON text, the canonical text of the `value` encodings.
//!
//! Strings carry the fewest escapes that RFC 8259 allows; control characters take their short
//! forms; a lone surrogate, which has no UTF-8 form, is written as its `\u` escape.

use std::ops::Range;

use crate::document::{Document, Node};

/// An array or object that is being written.
struct Open {
    end: u32,
    is_object: bool,
    /// The separator before the next node: nothing, a comma or a colon.
    next: Next,
}

#[derive(Clone, Copy, PartialEq)]
enum Next {
    First,
    Comma,
    Colon,
}

/// Appends the text of `document` to `out`. An empty document writes nothing.
pub fn write(document: &Document, out: &mut Vec<u8>) {
    write_at_most(document, usize::MAX, out);
}

/// Appends the text of `document` to `out` and returns whether it has at most `limit_bytes` bytes.
/// Where it has more, `out` holds a part of it, not much longer than the limit: many strings of a
/// decoded document may be the same few bytes, and only their text takes memory.
pub fn write_at_most(document: &Document, limit_bytes: usize, out: &mut Vec<u8>) -> bool {
    write_nodes(document, 0..document.nodes().len(), limit_bytes, out)
}

/// Appends the text of the one value that starts with this node of `document`.
pub(crate) fn write_value(document: &Document, node: usize, out: &mut Vec<u8>) {
    write_nodes(document, node..document.end_of(node), usize::MAX, out);
}

fn write_nodes(
    document: &Document,
    range: Range<usize>,
    limit_bytes: usize,
    out: &mut Vec<u8>,
) -> bool {
    let start = out.len();
    let mut stack: Vec<Open> = Vec::new();
    let nodes = &document.nodes()[range.clone()];
    out.reserve(nodes.len().saturating_mul(8).min(limit_bytes));
    for (index, &node) in range.clone().zip(nodes) {
        let next_bytes = match node {
            Node::String(span) | Node::Decimal(span) => span.length as usize,
            _ => 0,
        };
        if out.len() - start + next_bytes > limit_bytes {
            return false;
        }
        close_ended(&mut stack, index, out);
        if let Some(open) = stack.last_mut() {
            match open.next {
                Next::First => {}
                Next::Comma => out.push(b','),
                Next::Colon => out.push(b':'),
            }
            let was_key = open.is_object && open.next != Next::Colon;
            open.next = if was_key { Next::Colon } else { Next::Comma };
        }
        match node {
            Node::Null => out.extend_from_slice(b"null"),
            Node::Bool(true) => out.extend_from_slice(b"true"),
            Node::Bool(false) => out.extend_from_slice(b"false"),
            Node::Int(value) => {
                out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
            }
            Node::Uint(value) => {
                out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
            }
            Node::Float(value) => {
                out.extend_from_slice(zmij::Buffer::new().format_finite(value).as_bytes());
            }
            Node::Decimal(span) => out.extend_from_slice(document.bytes(span)),
            Node::String(span) => write_string(document.bytes(span), out),
            Node::Array { end, .. } => {
                out.push(b'[');
                stack.push(Open { end, is_object: false, next: Next::First });
            }
            Node::Object { end, .. } => {
                out.push(b'{');
                stack.push(Open { end, is_object: true, next: Next::First });
            }
        }
    }
    close_ended(&mut stack, range.end, out);
    out.len() - start <= limit_bytes
}

fn close_ended(stack: &mut Vec<Open>, index: usize, out: &mut Vec<u8>) {
    while let Some(open) = stack.last()
        && open.end as usize == index
    {
        out.push(if open.is_object { b'}' } else { b']' });
        stack.pop();
    }
}

/// What a byte of a string needs: 0 nothing, 1 a look at the bytes behind it, else the letter of
/// its short escape or `u`.
static ESCAPES: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = b'u';
        byte += 1;
    }
    table[0x08] = b'b';
    table[0x09] = b't';
    table[0x0A] = b'n';
    table[0x0C] = b'f';
    table[0x0D] = b'r';
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    // The first byte of U+D000 to U+DFFF, of which the surrogates must be escaped.
    table[0xED] = 1;
    table
};

fn write_string(bytes: &[u8], out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.reserve(bytes.len() + 2);
    out.push(b'"');
    let mut start = 0;
    let mut at = 0;
    while at < bytes.len() {
        // Eight bytes at a time while none of them needs anything.
        if let Some(eight) = bytes.get(at..at + 8)
            && eight.iter().fold(0, |any, &byte| any | ESCAPES[byte as usize]) == 0
        {
            at += 8;
            continue;
        }
        let byte = bytes[at];
        let escape = ESCAPES[byte as usize];
        let surrogate = escape == 1 && bytes.get(at + 1).is_some_and(|&next| next >= 0xA0);
        if escape == 0 || (escape == 1 && !surrogate) {
            at += 1;
            continue;
        }
        out.extend_from_slice(&bytes[start..at]);
        if surrogate {
            // Three bytes of WTF-8: 1110 1101, 10 then six bits, 10 then six bits.
            let unit =
                0xD000 | u16::from(bytes[at + 1] & 0x3F) << 6 | u16::from(bytes[at + 2] & 0x3F);
            out.extend_from_slice(b"\\u");
            out.extend((0..4).rev().map(|i| HEX[usize::from(unit >> (4 * i) & 15)]));
            at += 3;
        } else {
            out.extend_from_slice(&[b'\\', escape]);
            if escape == b'u' {
                let (high, low) = (HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]);
                out.extend_from_slice(&[b'0', b'0', high, low]);
            }
            at += 1;
        }
        start = at;
    }
    out.extend_from_slice(&bytes[start..]);
    out.push(b'"');
}
