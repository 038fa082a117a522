//! The native protocol: batches with sequence numbers and cumulative acknowledgements, so that
//! what was acknowledged is kept and what was not is sent again. The format is in
//! `spec/ingest-native.md`.
//!
//! [`Server`] and [`Client`] are the two ends. Both only turn bytes into events and calls into
//! bytes: what a durability level means, when to reconnect and what to keep for it is the caller's.

mod client;
mod frame;
mod server;

pub use client::{Client, Event};
pub use frame::{BatchCodec, Durability, Hello, Refusal, Welcome};
pub use server::{Batch, Server, ServerLimits};

use crate::lines::{Framing, Lines, LinesError, Overlong};
use crate::scan::Span;

/// The version that this crate speaks.
pub const VERSION: u8 = 1;

/// What ends a native connection. Both ends use it; a server tells its client with
/// [`Server::refuse`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NativeError {
    /// A frame of this type is unknown, or not one that the other end may send now.
    #[error("a frame of type 0x{0:02x} is unknown or out of place")]
    FrameType(u8),
    /// A frame announces more than is allowed. What follows can't be trusted.
    #[error("a frame announces {length_bytes} bytes, which is above the limit of {limit_bytes}")]
    FrameTooLong {
        /// What the frame says.
        length_bytes: u32,
        /// What is allowed.
        limit_bytes: usize,
    },
    /// A frame is too short for its fields, or a field has no such value.
    #[error("a frame is malformed: {0}")]
    Malformed(&'static str),
    /// The other end speaks a version that this one does not.
    #[error("version {0} is not spoken here, only {VERSION}")]
    Version(u8),
    /// The checksum of a batch does not hold. Nothing of it is taken.
    #[error("the checksum of batch {sequence} does not hold")]
    Checksum {
        /// What the batch says it is.
        sequence: u64,
    },
    /// A batch skips others, which would be lost in silence.
    #[error("batch {sequence} came where {expected} was expected")]
    Gap {
        /// What came.
        sequence: u64,
        /// What should have come.
        expected: u64,
    },
    /// A client sent more batches without an acknowledgement than it was allowed to.
    #[error("batch {sequence} is beyond the window of {window_batches} batches")]
    Window {
        /// What came.
        sequence: u64,
        /// What is allowed.
        window_batches: u32,
    },
    /// The server acknowledged what was never sent.
    #[error("batch {sequence} was acknowledged but never sent")]
    NeverSent {
        /// What was acknowledged.
        sequence: u64,
    },
    /// The connection ended inside a frame.
    #[error("the connection ended inside a frame")]
    CutOff,
}

/// Whether a connection may end here, at either end: `rest` is what the last scan left over.
///
/// # Errors
/// [`NativeError::CutOff`] if it ended inside a frame.
pub fn finish(rest: &[u8]) -> Result<(), NativeError> {
    if rest.is_empty() { Ok(()) } else { Err(NativeError::CutOff) }
}

/// Appends where the records of a batch lie in its decompressed bytes.
///
/// # Errors
/// [`NativeError::Malformed`] if the bytes are not exactly `record_count` length-prefixed records.
pub fn split_records(
    plain: &[u8],
    record_count: u32,
    records: &mut Vec<Span>,
) -> Result<(), NativeError> {
    let before = records.len();
    let machine = Lines::new(Framing::LengthPrefixed, plain.len(), Overlong::Refuse);
    let scanned: Result<_, LinesError> = machine.scan(plain, records);
    let is_whole = scanned.is_ok_and(|scan| scan.consumed == plain.len());
    if !is_whole || records.len() - before != record_count as usize {
        records.truncate(before);
        return Err(NativeError::Malformed("a batch does not hold the records that it announces"));
    }
    Ok(())
}

/// Appends a record to the decompressed bytes of a batch.
///
/// # Panics
/// If `record` has 4 GiB or more, which no length can say.
pub fn push_record(record: &[u8], plain: &mut Vec<u8>) {
    let Ok(length) = u32::try_from(record.len()) else { panic!("a record of 4 GiB") };
    plain.extend_from_slice(&length.to_be_bytes());
    plain.extend_from_slice(record);
}

#[cfg(test)]
mod tests;
