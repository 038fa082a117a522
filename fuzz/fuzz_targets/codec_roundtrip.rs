//! Property: what is compressed on any level decompresses to the same bytes.
//! The body is in crates/core/src/fuzzing.rs, where the ordinary tests replay it.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cinch_core::fuzzing::codec_roundtrip(bytes));
