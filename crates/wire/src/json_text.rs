//! JSON text, written piece by piece: records that come as MessagePack or protobuf are stored as
//! lines of it. Bytes that are no UTF-8 become replacement characters, since JSON has no other
//! place for them.

use std::io::Write;

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
