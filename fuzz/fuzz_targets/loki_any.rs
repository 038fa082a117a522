//! Property: any bytes are refused as a Loki push, or become lines of JSON.
//! The body is in crates/wire/src/fuzzing/requests.rs.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cinch_wire::fuzzing::loki_any(bytes));
