//! Bodies for requests that come whole, over HTTP: what is read is bounded and sound, and what is
//! refused leaves nothing behind.

use crate::otlp::{self, Encoding};

/// The most that a request may become, in bytes.
const LINES_BYTES_MAX: usize = 64 << 10;

/// Any bytes are refused as OTLP logs, or become lines of JSON. The first byte picks the form.
pub fn otlp_any(bytes: &[u8]) {
    let Some((&form, body)) = bytes.split_first() else { return };
    let encoding = if form & 1 == 0 { Encoding::Protobuf } else { Encoding::Json };
    let mut lines = b"before\n".to_vec();
    match otlp::read_logs(encoding, body, LINES_BYTES_MAX, &mut lines) {
        Ok(count) => are_json(&lines[7..], count),
        Err(_) => assert_eq!(lines, b"before\n"),
    }
}

/// There are as many lines, each one JSON value.
fn are_json(lines: &[u8], count: usize) {
    assert!(lines.len() <= LINES_BYTES_MAX);
    let mut found = 0;
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        let value = serde_json::from_slice::<serde::de::IgnoredAny>(line);
        assert!(value.is_ok(), "{:?}", String::from_utf8_lossy(line));
        found += 1;
    }
    assert_eq!(found, count);
}
