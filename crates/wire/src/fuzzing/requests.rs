//! Bodies for requests that come whole, over HTTP: what is read is bounded and sound, and what is
//! refused leaves nothing behind.

use crate::bulk::{elastic, loki};
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

/// Any bytes are refused as a bulk request, or become items whose answer is JSON.
pub fn elastic_any(body: &[u8]) {
    let mut items = Vec::new();
    if elastic::read_bulk(body, &mut items).is_err() {
        assert!(items.is_empty());
        return;
    }
    let outcomes: Vec<elastic::Outcome> = items.iter().map(elastic::Outcome::of).collect();
    let mut answer = Vec::new();
    elastic::write_response(1, &items, &outcomes, "logs", &mut answer);
    let value = serde_json::from_slice::<serde_json::Value>(&answer);
    let Ok(value) = value else { panic!("the answer is no JSON") };
    assert_eq!(value["items"].as_array().map(Vec::len), Some(items.len()));
}

/// Any bytes are refused as a Loki push, or become lines of JSON. The first byte picks the form:
/// JSON, a snappy block, or what is then put into one.
pub fn loki_any(bytes: &[u8]) {
    let Some((&form, body)) = bytes.split_first() else { return };
    let mut lines = Vec::new();
    let result = match form % 3 {
        0 => loki::read_json(body, LINES_BYTES_MAX, &mut lines),
        1 => loki::read_protobuf(body, LINES_BYTES_MAX, &mut lines),
        _ => {
            let Ok(block) = snap::raw::Encoder::new().compress_vec(body) else { return };
            loki::read_protobuf(&block, LINES_BYTES_MAX, &mut lines)
        }
    };
    match result {
        Ok(count) => are_json(&lines, count),
        Err(_) => assert!(lines.is_empty()),
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
