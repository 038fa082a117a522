//! Property: any bytes are the same RESP however they are cut, in both directions.
//! The body is in crates/wire/src/fuzzing/resp.rs.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cinch_wire::fuzzing::resp_any(bytes));
