//! Property: any bytes are a dictionary with which all goes well, or are refused.
//! The body is in crates/core/src/fuzzing/text.rs, where the ordinary tests replay it.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cinch_core::fuzzing::dictionary_any(bytes));
