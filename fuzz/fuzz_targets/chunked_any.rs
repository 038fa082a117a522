//! Property: any bytes are the same chunked body, or refused, however they are cut.
//! The body is in crates/wire/src/fuzzing/chunked.rs.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cinch_wire::fuzzing::chunked_any(bytes));
