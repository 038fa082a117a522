//! Property: whatever is put off and wherever a connection breaks, every batch arrives in order.
//! The body is in crates/wire/src/fuzzing/native.rs.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cinch_wire::fuzzing::native_roundtrip(bytes));
