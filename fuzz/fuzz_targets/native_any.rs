//! Property: either end of the native protocol takes any bytes the same however they are cut.
//! The body is in crates/wire/src/fuzzing/native.rs.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cinch_wire::fuzzing::native_any(bytes));
