//! RESP written: what a sidecar sends of its own, to either side. The rest of what it sends are the
//! bytes that it was sent.

use crate::json_text::push_display;

/// Appends a bulk string.
pub fn write_bulk(bytes: &[u8], out: &mut Vec<u8>) {
    push_display(format_args!("${}\r\n", bytes.len()), out);
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

/// Appends the head of an array of this many elements.
pub fn write_array(elements: u64, out: &mut Vec<u8>) {
    push_display(format_args!("*{elements}\r\n"), out);
}

/// Appends the null of RESP2, which clients of RESP3 take too.
pub fn write_null(out: &mut Vec<u8>) {
    out.extend_from_slice(b"$-1\r\n");
}

/// Appends an error. Its first word is its code, such as `ERR`; line ends become spaces.
pub fn write_error(text: &str, out: &mut Vec<u8>) {
    out.push(b'-');
    out.extend(text.bytes().map(|byte| if matches!(byte, b'\r' | b'\n') { b' ' } else { byte }));
    out.extend_from_slice(b"\r\n");
}
