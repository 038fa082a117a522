//! Property: whatever both sides say to a session of the sidecar, cuts change nothing.
//! The body is in crates/proxy/src/fuzzing.rs.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cinch_proxy::fuzzing::session_any(bytes));
