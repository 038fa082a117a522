//! The ordinary parser: one byte after the other, one loop, no recursion. It is the reference that
//! the SIMD parser is compared with, so it stays simple.

use crate::document::{Document, Node};
use crate::json::JsonError;
use crate::json::scalar;

/// An array or object that is not closed yet.
struct Open {
    is_object: bool,
    length: u32,
}

pub(super) fn parse(text: &[u8], document: &mut Document) -> Result<(), JsonError> {
    let mut stack: Vec<Open> = Vec::new();
    let mut at = skip_space(text, 0);
    'value: loop {
        match text.get(at) {
            Some(b'"') => at = string(text, at, document)?,
            Some(b'-' | b'0'..=b'9') => {
                let (node, end) = scalar::number(text, at)?;
                document.push(node);
                at = end;
            }
            Some(&bracket @ (b'{' | b'[')) => {
                let is_object = bracket == b'{';
                document.open(is_object)?;
                at = skip_space(text, at + 1);
                if text.get(at) == Some(&if is_object { b'}' } else { b']' }) {
                    document.close(0);
                    at += 1;
                } else {
                    stack.push(Open { is_object, length: 1 });
                    if is_object {
                        at = key(text, at, document)?;
                    }
                    continue 'value;
                }
            }
            Some(_) => {
                let (node, end) = scalar::literal(text, at)?;
                document.push(node);
                at = end;
            }
            None => return Err(JsonError::syntax("the end inside a value", at)),
        }
        // A value is complete: what follows closes, continues or ends.
        loop {
            at = skip_space(text, at);
            let Some(open) = stack.last_mut() else {
                return if at == text.len() {
                    Ok(())
                } else {
                    Err(JsonError::syntax("something after the value", at))
                };
            };
            match (text.get(at), open.is_object) {
                (Some(b','), is_object) => {
                    open.length += 1;
                    at = skip_space(text, at + 1);
                    if is_object {
                        at = key(text, at, document)?;
                    }
                    continue 'value;
                }
                (Some(b'}'), true) | (Some(b']'), false) => {
                    document.close(open.length);
                    stack.pop();
                    at += 1;
                }
                (Some(_), true) => {
                    return Err(JsonError::syntax("no comma or } after a value", at));
                }
                (Some(_), false) => {
                    return Err(JsonError::syntax("no comma or ] after a value", at));
                }
                (None, _) => return Err(JsonError::syntax("the end inside a value", at)),
            }
        }
    }
}

/// Parses a key and its colon; returns the offset of the value.
fn key(text: &[u8], at: usize, document: &mut Document) -> Result<usize, JsonError> {
    if text.get(at) != Some(&b'"') {
        let what = if at < text.len() { "no key in quotes" } else { "the end inside a value" };
        return Err(JsonError::syntax(what, at));
    }
    let at = skip_space(text, string(text, at, document)?);
    match text.get(at) {
        Some(b':') => Ok(skip_space(text, at + 1)),
        Some(_) => Err(JsonError::syntax("no colon after a key", at)),
        None => Err(JsonError::syntax("the end inside a value", at)),
    }
}

/// Parses the string whose opening quote is at `quote`; returns the offset after the closing one.
fn string(text: &[u8], quote: usize, document: &mut Document) -> Result<usize, JsonError> {
    let start = quote + 1;
    let mut at = start;
    let mut escaped = false;
    loop {
        match text.get(at) {
            Some(b'"') => break,
            Some(b'\\') => {
                escaped = true;
                at += 2;
            }
            Some(0..=0x1F) => {
                return Err(JsonError::syntax("a control character inside a string", at));
            }
            Some(_) => at += 1,
            None => return Err(JsonError::syntax("the end inside a string", text.len())),
        }
    }
    if escaped {
        scalar::unescape(text, start, at, document)?;
    } else {
        document.push(Node::String(scalar::span(start, at)));
    }
    Ok(at + 1)
}

fn skip_space(text: &[u8], mut at: usize) -> usize {
    while matches!(text.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}
