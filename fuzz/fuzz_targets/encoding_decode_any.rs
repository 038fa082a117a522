//! Property: any bytes are refused, or decode to a value that its text says again.
//! The body is in crates/core/src/fuzzing.rs, where the ordinary tests replay it.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cinch_core::fuzzing::encoding_decode_any(bytes));
