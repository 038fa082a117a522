//! Property: any bytes under an encoding with a schema are refused, or decode to what comes back.
//! The body is in crates/core/src/fuzzing/schema.rs, where the ordinary tests replay it.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cinch_core::fuzzing::schema_decode_any(bytes));
