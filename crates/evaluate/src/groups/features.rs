//! What two payloads are compared by: the scalars of a JSON payload under their key paths, and the
//! 8-byte windows of any other payload.
//!
//! Key paths leave array indexes out, so that an element that moves stays the same feature. Order
//! and repetition do not count: features are a set.

use cinch_core::document::{Document, Node};
use cinch_core::encoding::Parser;
use cinch_core::json;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::sketch::Builder;
use crate::corpus::Payload;

/// How long a window over the bytes of a payload that is not JSON is.
const WINDOW_BYTES: usize = 8;

/// A JSON payload of few scalars that is at least this long holds long texts, and is compared by
/// windows like any text.
const LONG_BYTES: usize = 512;

/// Adds the features of a payload. The document is only working memory.
pub(super) fn of(payload: &Payload, document: &mut Document, features: &mut Builder) {
    let is_parsed = payload.is_json && json::parse(Parser::Simd, &payload.bytes, document).is_ok();
    if is_parsed {
        of_json(document, features);
        if !features.is_few() || payload.bytes.len() < LONG_BYTES {
            return;
        }
        features.clear();
    }
    of_bytes(&payload.bytes, features);
}

/// An array or object that is being walked.
struct Open {
    end: usize,
    path: u64,
    is_object: bool,
}

fn of_json(document: &Document, features: &mut Builder) {
    let nodes = document.nodes();
    let mut open: Vec<Open> = Vec::new();
    let mut index = 0;
    while index < nodes.len() {
        while open.last().is_some_and(|inner| inner.end <= index) {
            open.pop();
        }
        let mut path = 0;
        if let Some(inner) = open.last() {
            path = inner.path;
            if inner.is_object
                && let Node::String(key) = nodes[index]
            {
                path = xxh3_64_with_seed(document.bytes(key), path);
                index += 1;
            }
        }
        let scalar = |kind: u64, bytes: &[u8]| xxh3_64_with_seed(bytes, path.wrapping_add(kind));
        let feature = match nodes[index] {
            Node::Object { length: 1.., end } | Node::Array { length: 1.., end } => {
                let is_object = matches!(nodes[index], Node::Object { .. });
                open.push(Open { end: end as usize, path, is_object });
                index += 1;
                continue;
            }
            Node::Object { .. } => scalar(1, b"{}"),
            Node::Array { .. } => scalar(1, b"[]"),
            Node::Null => scalar(1, b"null"),
            Node::Bool(value) => scalar(1, if value { b"true" } else { b"false" }),
            Node::Int(value) => scalar(2, &value.to_le_bytes()),
            Node::Uint(value) => scalar(3, &value.to_le_bytes()),
            Node::Float(value) => scalar(4, &value.to_le_bytes()),
            Node::Decimal(text) => scalar(5, document.bytes(text)),
            Node::String(text) => scalar(6, document.bytes(text)),
        };
        features.add(feature);
        index += 1;
    }
}

fn of_bytes(bytes: &[u8], features: &mut Builder) {
    for window in bytes.array_windows::<WINDOW_BYTES>() {
        features.add(scatter(u64::from_le_bytes(*window)));
    }
    if bytes.len() < WINDOW_BYTES {
        features.add(xxh3_64_with_seed(bytes, 0));
    }
}

/// A hash of a window. It is made at every byte of a corpus, so it is two multiplications.
#[inline]
fn scatter(window: u64) -> u64 {
    let product = u128::from(window ^ 0x9E37_79B9_7F4A_7C15) * 0xD6E8_FEB8_6659_FD93;
    let folded = (product as u64) ^ (product >> 64) as u64;
    folded.wrapping_mul(0xFF51_AFD7_ED55_8CCD).rotate_left(32)
}
