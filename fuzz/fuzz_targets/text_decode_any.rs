//! Property: any bytes decode to the JSON text of the announced length, or are refused.
//! The body is in crates/core/src/fuzzing/text.rs, where the ordinary tests replay it.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cinch_core::fuzzing::text_decode_any(bytes));
