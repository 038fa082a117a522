//! Property: any bytes unpack to what their header announces, or are refused.
//! The body is in crates/core/src/fuzzing.rs, where the ordinary tests replay it.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cinch_core::fuzzing::unpack_any(bytes));
