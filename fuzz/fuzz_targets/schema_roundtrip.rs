//! Property: a JSON value comes back from an encoding with a schema, or is refused with its path.
//! The body is in crates/core/src/fuzzing/schema.rs, where the ordinary tests replay it.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cinch_core::fuzzing::schema_roundtrip(bytes));
