//! Property: a JSON text comes back byte by byte, or is refused and leaves nothing behind.
//! The body is in crates/core/src/fuzzing/text.rs, where the ordinary tests replay it.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cinch_core::fuzzing::text_roundtrip(bytes));
