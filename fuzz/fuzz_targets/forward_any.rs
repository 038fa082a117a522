//! Property: any bytes are the same forward messages however they are cut.
//! The body is in crates/wire/src/fuzzing/forward.rs.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cinch_wire::fuzzing::forward_any(bytes));
