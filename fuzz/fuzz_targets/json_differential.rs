//! Property: both JSON parsers give the same verdict on any bytes, and the same document.
//! The body is in crates/core/src/fuzzing.rs, where the ordinary tests replay it.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cinch_core::fuzzing::json_differential(bytes));
