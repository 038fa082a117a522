//! JSON text, written piece by piece: records that come as MessagePack or protobuf are stored as
//! lines of it. Bytes that are no UTF-8 become replacement characters, since JSON has no other
//! place for them.

use std::io::Write;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// Appends a string with its quotes.
pub(crate) fn push_string(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for chunk in bytes.utf8_chunks() {
        push_escaped(chunk.valid(), out);
        if !chunk.invalid().is_empty() {
            out.extend_from_slice("\u{FFFD}".as_bytes());
        }
    }
    out.push(b'"');
}

fn push_escaped(text: &str, out: &mut Vec<u8>) {
    let mut rest = text.as_bytes();
    while let Some(at) = rest.iter().position(|byte| *byte < 0x20 || matches!(byte, b'"' | b'\\')) {
        out.extend_from_slice(&rest[..at]);
        match rest[at] {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            byte => push_display(format_args!("\\u{byte:04x}"), out),
        }
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

/// Appends a number or anything else that needs no quotes.
pub(crate) fn push_display(value: impl std::fmt::Display, out: &mut Vec<u8>) {
    // Writing to a vector can't fail.
    let _ = write!(out, "{value}");
}

/// Appends a float in its shortest text; what is no number is null.
pub(crate) fn push_float(value: f64, out: &mut Vec<u8>) {
    if value.is_finite() {
        push_display(format_args!("{value:?}"), out);
    } else {
        out.extend_from_slice(b"null");
    }
}

/// Appends bytes as a string of hexadecimal digits.
pub(crate) fn push_hex(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for byte in bytes {
        push_display(format_args!("{byte:02x}"), out);
    }
    out.push(b'"');
}

/// Appends bytes as a base64 string.
pub(crate) fn push_base64(bytes: &[u8], out: &mut Vec<u8>) {
    push_string(BASE64_STANDARD.encode(bytes).as_bytes(), out);
}

/// An object that is being written.
pub(crate) struct Object<'a> {
    out: &'a mut Vec<u8>,
    is_empty: bool,
}

impl<'a> Object<'a> {
    pub(crate) fn begin(out: &'a mut Vec<u8>) -> Object<'a> {
        out.push(b'{');
        Object { out, is_empty: true }
    }

    /// Appends the key; the caller appends the value.
    pub(crate) fn key(&mut self, key: &[u8]) -> &mut Vec<u8> {
        if !std::mem::take(&mut self.is_empty) {
            self.out.push(b',');
        }
        push_string(key, self.out);
        self.out.push(b':');
        self.out
    }

    /// A number, unless it is zero, which protobuf can't tell from one that is not there.
    pub(crate) fn number(&mut self, key: &str, value: u64) {
        if value != 0 {
            push_display(value, self.key(key.as_bytes()));
        }
    }

    /// A text, unless it is empty, for the same reason.
    pub(crate) fn text(&mut self, key: &str, value: &[u8]) {
        if !value.is_empty() {
            push_string(value, self.key(key.as_bytes()));
        }
    }

    pub(crate) fn end(self) {
        self.out.push(b'}');
    }
}

/// What is wrong with a request in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonFault {
    /// It breaks the grammar, or nests deeper than 128.
    Syntax,
    /// It ends too early.
    CutOff,
    /// A value is of another type than the request has there, or is missing.
    Data,
}

impl JsonFault {
    pub(crate) fn of(error: &serde_json::Error) -> JsonFault {
        match error.classify() {
            serde_json::error::Category::Data => JsonFault::Data,
            serde_json::error::Category::Eof => JsonFault::CutOff,
            _ => JsonFault::Syntax,
        }
    }
}

/// The lines of a request would be longer than its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the records of the request are longer than {limit_bytes} bytes")]
pub struct TooLong {
    /// What is allowed.
    pub limit_bytes: usize,
}

/// The lines that a request becomes, one for each record.
pub(crate) struct Lines<'a> {
    /// Where the next line is appended, without its end.
    pub(crate) out: &'a mut Vec<u8>,
    count: usize,
    before: usize,
    limit_bytes: usize,
}

impl Lines<'_> {
    /// Lets `read` write lines behind `out`, and answers how many it wrote. After an error `out` is
    /// as it was.
    pub(crate) fn write<E>(
        out: &mut Vec<u8>,
        limit_bytes: usize,
        read: impl FnOnce(&mut Lines<'_>) -> Result<(), E>,
    ) -> Result<usize, E> {
        let before = out.len();
        let mut lines = Lines { out, count: 0, before, limit_bytes };
        match read(&mut lines) {
            Ok(()) => Ok(lines.count),
            Err(error) => {
                out.truncate(before);
                Err(error)
            }
        }
    }

    /// Ends the line that was appended.
    pub(crate) fn end(&mut self) -> Result<(), TooLong> {
        self.out.push(b'\n');
        self.count += 1;
        if self.out.len() - self.before > self.limit_bytes {
            return Err(TooLong { limit_bytes: self.limit_bytes });
        }
        Ok(())
    }
}
