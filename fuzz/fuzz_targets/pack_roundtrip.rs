//! Property: what is packed with any codec and encoding unpacks to the same bytes or value.
//! The body is in crates/core/src/fuzzing.rs, where the ordinary tests replay it.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cinch_core::fuzzing::pack_roundtrip(bytes));
