//! Property: any stored value is read as it is or as an envelope, never as something between.
//! The body is in crates/core/src/fuzzing.rs, where the ordinary tests replay it.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cinch_core::fuzzing::read_any(bytes));
