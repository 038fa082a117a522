//! Property: any bytes are the same syslog messages however they are cut.
//! The body is in crates/wire/src/fuzzing/streams.rs.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cinch_wire::fuzzing::syslog_any(bytes));
