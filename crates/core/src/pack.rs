//! Packing and unpacking: a payload to what is stored or sent, and back.
//!
//! The law: `unpack(pack(x)) = x` for every byte string `x`, whatever the profile, for encodings
//! of `bytes` fidelity; for the others it is the same value, and the envelope's length and checksum
//! are of the text that unpacking returns. A payload that is not worth an envelope stays plain; one
//! that starts like an envelope is wrapped, so that a reader never takes it for one.

mod detect;
mod interop;
mod packer;
mod unpacker;

pub use detect::{is_worth_packing, reason_to_leave};
pub use interop::{INTEROP_MAGIC, InteropError, InteropPacker, looks_like_interop, unpack_interop};
pub use packer::{DeltaOutcome, NotDelta, NotEncoded, Outcome, PackError, Packer, PlainReason};
pub use unpacker::{Found, Unpacker};

/// `WIRE`. The encoded form of a payload has at most this many bytes for each byte of the payload,
/// plus [`ENCODED_BYTES_EXTRA`]: the header says how long the payload is, not its encoded form, and
/// a decoder must know what it may allocate. BSON's arrays come closest, with 7.5.
pub const ENCODED_BYTES_PER_PAYLOAD_BYTE: usize = 8;

/// `WIRE`. See [`ENCODED_BYTES_PER_PAYLOAD_BYTE`].
pub const ENCODED_BYTES_EXTRA: usize = 64;

/// The most bytes that the encoded form of a payload of this length may have.
pub(crate) fn encoded_bytes_max(payload_bytes: usize) -> usize {
    payload_bytes * ENCODED_BYTES_PER_PAYLOAD_BYTE + ENCODED_BYTES_EXTRA
}

#[cfg(test)]
mod tests;
