//! Property: a JSON value is refused by name, or comes back from its encoded form.
//! The body is in crates/core/src/fuzzing.rs, where the ordinary tests replay it.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cinch_core::fuzzing::encoding_roundtrip(bytes));
