//! A MessagePack value as JSON text: what of a forwarded record is stored. It is not the encoding
//! of the core, which refuses what can't come back: a log must take what its senders write.

use super::{MsgpackError, Reader, Token};
use crate::json_text::{push_display, push_float, push_hex, push_string};
use crate::limits::MSGPACK_DEPTH_MAX;

/// An array or map that is open.
struct Open {
    /// Values that are still to come; twice as many as pairs for a map.
    left: u64,
    is_map: bool,
}

/// Appends the JSON text of the one value in `bytes`. Bytes become strings; where they are no
/// UTF-8, replacement characters stand. Extensions become strings of hexadecimal digits, floats
/// that are no number become null, and keys that are no text become texts.
///
/// # Errors
/// Any [`MsgpackError`]; `out` is then as it was.
pub fn write_json(bytes: &[u8], out: &mut Vec<u8>) -> Result<(), MsgpackError> {
    let before = out.len();
    let result = write(bytes, out);
    if result.is_err() {
        out.truncate(before);
    }
    result
}

fn write(bytes: &[u8], out: &mut Vec<u8>) -> Result<(), MsgpackError> {
    let mut reader = Reader::new(bytes);
    let mut open: Vec<Open> = Vec::new();
    loop {
        let is_key = open.last().is_some_and(|open| open.is_map && open.left.is_multiple_of(2));
        let token = reader.token()?;
        let begun = match token {
            Token::Array(count) => Some((u64::from(count), false)),
            Token::Map(count) => Some((2 * u64::from(count), true)),
            _ => None,
        };
        match begun {
            Some(_) if is_key => {
                return Err(MsgpackError::Unexpected("a key of a map is an array or map"));
            }
            Some((left, is_map)) if left > 0 => {
                if open.len() == MSGPACK_DEPTH_MAX {
                    return Err(MsgpackError::TooDeep);
                }
                out.push(if is_map { b'{' } else { b'[' });
                open.push(Open { left, is_map });
                continue;
            }
            Some((_, is_map)) => out.extend_from_slice(if is_map { b"{}" } else { b"[]" }),
            None if is_key => push_key(token, out),
            None => push_scalar(token, out),
        }
        // The value is complete; so may be those that it is the last of.
        loop {
            let Some(innermost) = open.last_mut() else {
                let is_whole = reader.rest().is_empty();
                return is_whole
                    .then_some(())
                    .ok_or(MsgpackError::Unexpected("bytes follow the value"));
            };
            innermost.left -= 1;
            match (innermost.left, innermost.is_map) {
                (0, is_map) => out.push(if is_map { b'}' } else { b']' }),
                (left, true) if !left.is_multiple_of(2) => {
                    out.push(b':');
                    break;
                }
                _ => {
                    out.push(b',');
                    break;
                }
            }
            open.pop();
        }
    }
}

fn push_scalar(token: Token<'_>, out: &mut Vec<u8>) {
    match token {
        Token::Bool(value) => push_display(value, out),
        Token::Unsigned(value) => push_display(value, out),
        Token::Signed(value) => push_display(value, out),
        Token::Float(value) => push_float(value, out),
        Token::Text(bytes) | Token::Binary(bytes) => push_string(bytes, out),
        Token::Extension(_, bytes) => push_hex(bytes, out),
        Token::Nil | Token::Array(_) | Token::Map(_) => out.extend_from_slice(b"null"),
    }
}

/// A key: texts as they are, everything else as a text.
fn push_key(token: Token<'_>, out: &mut Vec<u8>) {
    if matches!(token, Token::Text(_) | Token::Binary(_) | Token::Extension(..)) {
        return push_scalar(token, out);
    }
    out.push(b'"');
    push_scalar(token, out);
    out.push(b'"');
}
