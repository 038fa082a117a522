//! Property: any bytes are refused as a bulk request, or become items whose answer is JSON.
//! The body is in crates/wire/src/fuzzing/requests.rs.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cinch_wire::fuzzing::elastic_any(bytes));
