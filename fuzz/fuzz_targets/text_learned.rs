//! Property: with a model learned from the texts themselves each of them comes back.
//! The body is in crates/core/src/fuzzing/text.rs, where the ordinary tests replay it.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cinch_core::fuzzing::text_learned(bytes));
