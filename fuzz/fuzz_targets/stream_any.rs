//! Property: any bytes decompress the same however they are cut, or are refused.
//! The body is in crates/wire/src/fuzzing/compressed.rs.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cinch_wire::fuzzing::stream_any(bytes));
