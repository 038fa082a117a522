//! Property: what was packed against an earlier version comes back with it, and not without.
//! The body is in crates/core/src/fuzzing/delta.rs, where the ordinary tests replay it.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cinch_core::fuzzing::delta_roundtrip(bytes));
