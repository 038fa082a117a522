//! The labels of a stream as protobuf has them: one text, `{app="carts", env="prod"}`, with values
//! quoted as Go quotes strings.

use crate::json_text::{Object, push_string};

/// Appends the labels as an object, or as the text that they are if it is written differently.
pub(super) fn push_selector(text: &[u8], out: &mut Vec<u8>) {
    let before = out.len();
    if push_pairs(text, out).is_none() {
        out.truncate(before);
        push_string(text, out);
    }
}

fn push_pairs(text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let mut rest = text.trim_ascii().strip_prefix(b"{")?.strip_suffix(b"}")?.trim_ascii();
    let mut object = Object::begin(out);
    while !rest.is_empty() {
        let equals = memchr::memchr(b'=', rest)?;
        let name = rest[..equals].trim_ascii();
        let quoted = rest[equals + 1..].trim_ascii_start().strip_prefix(b"\"")?;
        let (value, behind) = unquote(quoted)?;
        push_string(&value, object.key(name));
        let behind = behind.trim_ascii_start();
        rest = match behind.strip_prefix(b",") {
            Some(behind) => behind.trim_ascii_start(),
            None if behind.is_empty() => behind,
            None => return None,
        };
    }
    object.end();
    Some(())
}

/// The string up to its closing quote, and what follows. Of escapes, those that are common in
/// labels are read; any other makes the whole text stay as it is.
fn unquote(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut value = Vec::new();
    let mut rest = text;
    loop {
        let at = memchr::memchr2(b'"', b'\\', rest)?;
        value.extend_from_slice(&rest[..at]);
        if rest[at] == b'"' {
            return Some((value, &rest[at + 1..]));
        }
        value.push(match rest.get(at + 1)? {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            byte @ (b'"' | b'\\') => *byte,
            _ => return None,
        });
        rest = &rest[at + 2..];
    }
}
