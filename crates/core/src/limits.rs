//! Every limit of the core, in one place, so that a reader can see what hostile input may cost.
//!
//! Each limit is tagged `WIRE` (part of a format: changing it needs a new version) or `LOCAL`
//! (this implementation's choice: it may be raised or lowered at any time).

/// `WIRE`. The longest payload an envelope can describe, in bytes: its length field is a 32-bit
/// number (spec/envelope.md).
pub const ENVELOPE_PAYLOAD_BYTES_MAX: u64 = u32::MAX as u64;

/// `WIRE`. The longest envelope header in bytes, from the magic to the check byte.
pub const ENVELOPE_HEADER_BYTES_MAX: usize = 64;

/// `LOCAL`. The longest payload that is packed, unpacked or parsed unless the caller says
/// otherwise, in bytes. Nothing larger is allocated for one payload.
pub const PAYLOAD_BYTES_MAX: usize = 256 << 20;

/// `LOCAL`. How deep arrays and objects of one payload may nest when it is turned into a
/// [`Document`](crate::document::Document). Nothing in the core recurses, so this bounds memory,
/// not the stack.
pub const NESTING_DEPTH_MAX: usize = 128 << 10;

/// `LOCAL`. The most significant digits of a number that an encoding may expand a decimal to:
/// a ten-byte CBOR decimal fraction must not become a gigabyte of zeros.
pub const NUMBER_DIGITS_MAX: usize = 8 << 10;

/// `LOCAL`. The largest dictionary that is accepted, in bytes.
pub const DICTIONARY_BYTES_MAX: usize = 16 << 20;

/// `LOCAL`. The longest payload that is taken as the base of a delta, in bytes, which is that of a
/// dictionary and for the same reasons: whoever reads a delta holds all of its base beside the
/// payload and hashes it for each, and whoever writes one fills tables with it for each.
pub const BASE_BYTES_MAX: usize = 16 << 20;

/// `LOCAL`. The shortest payload that is taken as the base of a delta, in bytes: zstd ignores a
/// prefix that is shorter.
pub const BASE_BYTES_MIN: usize = 8;

/// `WIRE`. How deep the values of a columnar payload may nest.
pub const COLUMNAR_DEPTH_MAX: usize = 256;

/// `WIRE`. The most slots, which are paths with array indices dropped, of a columnar payload and
/// its dictionary together.
pub const COLUMNAR_SLOTS_MAX: usize = 16 << 10;

/// `WIRE`. The most variants of all slots of a columnar payload and its dictionary together.
pub const COLUMNAR_VARIANTS_MAX: usize = 64 << 10;

/// `WIRE`. The most keys in the lists of all objects of a columnar payload and its dictionary
/// together. A list copies from the one before it, so a few bytes could ask for any number.
pub const COLUMNAR_KEYS_MAX: usize = 1 << 20;

/// `WIRE`. How deep the records of a payload that is written with a schema may nest. It is what
/// the usual readers of Protobuf take, and what the encoders and decoders recurse to.
pub const SCHEMA_DEPTH_MAX: usize = 100;

/// `LOCAL`. The largest schema file that is accepted, in bytes.
pub const SCHEMA_BYTES_MAX: usize = 16 << 20;

/// `LOCAL`. The most records of one schema.
pub const SCHEMA_RECORDS_MAX: usize = 64 << 10;

const _: () = assert!(PAYLOAD_BYTES_MAX as u64 <= ENVELOPE_PAYLOAD_BYTES_MAX);
// A document's text holds a copy of the input and every unescaped string, under 32-bit offsets.
const _: () = assert!((PAYLOAD_BYTES_MAX as u64) * 2 <= u32::MAX as u64);
