//! Property: the same as codec_decode_any, with any bytes as a dictionary.
//! The body is in crates/core/src/fuzzing.rs, where the ordinary tests replay it.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cinch_core::fuzzing::codec_decode_dictionary(bytes));
