//! Payloads to test with, and the names that the registries promise. Both are spelled out here, so
//! that a name that vanishes or changes breaks a test.
//!
//! Realistic payloads come from the binary itself (`cinch generate`), noise from a fixed sequence.

use crate::cinch;

/// Every codec, with its id in envelopes where nothing shorter stands in for it.
pub const CODECS: [&str; 15] = [
    "stored",
    "snappy",
    "lz4",
    "lz4-frame",
    "gzip-libdeflate",
    "gzip",
    "zlib-libdeflate",
    "zlib",
    "deflate-libdeflate",
    "deflate",
    "zstd",
    "zstd-bare",
    "brotli",
    "lzma2",
    "bzip2",
];

/// Every encoding that needs no schema.
pub const ENCODINGS: [&str; 10] = [
    "verbatim",
    "json-simd",
    "json",
    "msgpack",
    "cbor",
    "bson",
    "smile",
    "columnar",
    "flexbuffers",
    "ion",
];

/// Generated payloads, one a line.
pub fn generated(kind: &str, count: usize) -> Vec<u8> {
    cinch(["generate", kind, "--count", &count.to_string()]).run().quiet().out
}

/// Generated shopping carts, one a line.
pub fn carts(count: usize) -> Vec<u8> {
    generated("carts", count)
}

/// Generated shopping carts of about half a KB, one a line: the size for which dictionaries are.
/// Another seed gives other carts of the same shop.
pub fn small_carts(count: usize, seed: u32) -> Vec<u8> {
    let (count, seed) = (count.to_string(), seed.to_string());
    let run = cinch(["generate", "carts", "--median-bytes", "500"]);
    run.and(["--count", &count, "--seed", &seed]).run().quiet().out
}

/// Bytes that nothing compresses: the sequence of SplitMix64.
pub fn noise(length: usize) -> Vec<u8> {
    let mut state: u64 = 7;
    let mut next = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (bits ^ bits >> 31).to_le_bytes()
    };
    let mut bytes: Vec<u8> = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        bytes.extend_from_slice(&next());
    }
    bytes.truncate(length);
    bytes
}

/// Checks that two byte strings are the same, without printing megabytes where they are not.
#[track_caller]
pub fn assert_same_bytes(got: &[u8], expected: &[u8], what: &str) {
    let at = got.iter().zip(expected).position(|(left, right)| left != right);
    let (lengths, is_same) = ((got.len(), expected.len()), got == expected);
    assert!(is_same, "{what}: (got, expected) have {lengths:?} bytes and differ at {at:?}");
}
