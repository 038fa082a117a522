//! Property: any bytes are a MessagePack value with a JSON text, or are refused.
//! The body is in crates/wire/src/fuzzing/forward.rs.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cinch_wire::fuzzing::msgpack_any(bytes));
