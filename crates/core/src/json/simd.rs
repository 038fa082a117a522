//! The SIMD parser: a first stage lists the offsets of everything that structures the text
//! ([`structure`](super::structure)), a second one walks that list. It makes the same document as
//! the ordinary parser, and the same verdict; only the offset of an error may differ.

use crate::document::{Document, Node};
use crate::json::structure::{self, Fault, HAS_ESCAPE};
use crate::json::{JsonError, scalar};

/// An array or object that is not closed yet.
struct Open {
    is_object: bool,
    length: u32,
}

pub(super) fn parse(text: &[u8], document: &mut Document) -> Result<(), JsonError> {
    let mut index = document.take_index();
    let result = match structure::find(text, &mut index) {
        Ok(()) => walk(text, &index, document),
        Err(Fault::OpenString) => Err(JsonError::syntax("the end inside a string", text.len())),
        Err(Fault::ControlCharacter { block }) => {
            Err(JsonError::syntax("a control character inside a string", block))
        }
    };
    document.give_index(index);
    result
}

/// Walks the offsets. `at` is a place in `index`, `text[index[at]]` the byte it stands for.
fn walk(text: &[u8], index: &[u32], document: &mut Document) -> Result<(), JsonError> {
    let mut stack: Vec<Open> = Vec::new();
    let mut at = 0;
    let byte_at = |at: usize| index.get(at).map(|&offset| text[(offset & !HAS_ESCAPE) as usize]);
    let offset_at = |at: usize| index.get(at).map_or(text.len(), |&o| (o & !HAS_ESCAPE) as usize);
    'value: loop {
        match byte_at(at) {
            Some(b'"') => at = string(text, index, at, document)?,
            Some(b'-' | b'0'..=b'9') => {
                let (node, end) = scalar::number(text, offset_at(at))?;
                ends(text, end)?;
                document.push(node);
                at += 1;
            }
            Some(bracket @ (b'{' | b'[')) => {
                let is_object = bracket == b'{';
                document.open(is_object)?;
                at += 1;
                if byte_at(at) == Some(if is_object { b'}' } else { b']' }) {
                    document.close(0);
                    at += 1;
                } else {
                    stack.push(Open { is_object, length: 1 });
                    if is_object {
                        at = key(text, index, at, document)?;
                    }
                    continue 'value;
                }
            }
            Some(_) => {
                let (node, end) = scalar::literal(text, offset_at(at))?;
                ends(text, end)?;
                document.push(node);
                at += 1;
            }
            None => return Err(JsonError::syntax("the end inside a value", text.len())),
        }
        // A value is complete: what follows closes, continues or ends.
        loop {
            let Some(open) = stack.last_mut() else {
                return if at == index.len() {
                    Ok(())
                } else {
                    Err(JsonError::syntax("something after the value", offset_at(at)))
                };
            };
            match (byte_at(at), open.is_object) {
                (Some(b','), is_object) => {
                    open.length += 1;
                    at += 1;
                    if is_object {
                        at = key(text, index, at, document)?;
                    }
                    continue 'value;
                }
                (Some(b'}'), true) | (Some(b']'), false) => {
                    document.close(open.length);
                    stack.pop();
                    at += 1;
                }
                (Some(_), true) => {
                    return Err(JsonError::syntax("no comma or } after a value", offset_at(at)));
                }
                (Some(_), false) => {
                    return Err(JsonError::syntax("no comma or ] after a value", offset_at(at)));
                }
                (None, _) => {
                    return Err(JsonError::syntax("the end inside a value", text.len()));
                }
            }
        }
    }
}

/// Checks that a number or literal is followed by space, structure or the end.
#[inline]
fn ends(text: &[u8], end: usize) -> Result<(), JsonError> {
    match text.get(end) {
        None | Some(b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r') => Ok(()),
        // Operators and quotes here are refused by the walk, in their own words.
        Some(b'{' | b'[' | b':' | b'"') => Ok(()),
        Some(_) => Err(JsonError::syntax("something that is no JSON value", end)),
    }
}

#[inline]
fn key(text: &[u8], index: &[u32], at: usize, document: &mut Document) -> Result<usize, JsonError> {
    let offset = index.get(at).map_or(text.len(), |&o| (o & !HAS_ESCAPE) as usize);
    if text.get(offset) != Some(&b'"') {
        let what = if offset < text.len() { "no key in quotes" } else { "the end inside a value" };
        return Err(JsonError::syntax(what, offset));
    }
    let at = string(text, index, at, document)?;
    let offset = index.get(at).map_or(text.len(), |&o| (o & !HAS_ESCAPE) as usize);
    match text.get(offset) {
        Some(b':') => Ok(at + 1),
        Some(_) => Err(JsonError::syntax("no colon after a key", offset)),
        None => Err(JsonError::syntax("the end inside a value", offset)),
    }
}

/// Takes the string whose opening quote is entry `at`; the closing one is always the next entry.
#[inline]
fn string(
    text: &[u8],
    index: &[u32],
    at: usize,
    document: &mut Document,
) -> Result<usize, JsonError> {
    let start = (index[at] & !HAS_ESCAPE) as usize + 1;
    let Some(&closing) = index.get(at + 1) else {
        return Err(JsonError::syntax("the end inside a string", text.len()));
    };
    let end = (closing & !HAS_ESCAPE) as usize;
    if closing & HAS_ESCAPE != 0 {
        scalar::unescape(text, start, end, document)?;
    } else {
        document.push(Node::String(scalar::span(start, end)));
    }
    Ok(at + 2)
}
