//! Property: any bytes as a body and a base unpack to what is announced, or are refused.
//! The body is in crates/core/src/fuzzing/delta.rs, where the ordinary tests replay it.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cinch_core::fuzzing::delta_any(bytes));
