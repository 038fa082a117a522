//! What a store holds under one key, whatever the store: a raw copy, a packed one, or both.
//!
//! Stores with two slots (a document or a row) keep the shape that the cart service published:
//! the raw field beside `compressedData`, whose metadata names the codec and both sizes. Stores
//! with one slot (a Redis key, one BLOB column, a Kafka record) have only `raw`, which then holds a
//! plain payload or an envelope, and an envelope says of itself that it is one.

use bytes::Bytes;
use xxhash_rust::xxh64::xxh64;

/// The version of a payload that the application stamps on every copy: larger is newer. It tells a
/// stale cache or a lagging replica without a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Stamp(pub u64);

/// What is stored under one key.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Record {
    /// The raw field: the payload as the application wrote it; `None` where the field is null or
    /// missing. In a store with one slot, the whole value.
    pub raw: Option<Bytes>,
    /// The compressed field with its metadata; always `None` in a store with one slot.
    pub packed: Option<PackedField>,
    /// The version stamp, where the store has a place for it and it was set.
    pub stamp: Option<Stamp>,
}

/// The published `compressedData`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedField {
    /// The published `compressedCart`: a bare block of a published codec, or an envelope.
    pub bytes: Bytes,
    /// The published `compressionMetadata`.
    pub metadata: Metadata,
}

/// The published `compressionMetadata`, and what we add to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metadata {
    /// A published codec name, whose bytes are bare, or [`Metadata::ENVELOPE`].
    pub codec: String,
    /// The length of the packed bytes when they were written.
    pub compressed_size: u64,
    /// The length of the payload.
    pub uncompressed_size: u64,
    /// When it was packed, in milliseconds since 1970: for people. No decision reads it.
    pub last_updated_ms: i64,
    /// Our addition: [`raw_checksum`] of the raw copy at the time of packing. A raw copy with
    /// another one was written later, by a client that knows nothing of the packed copy.
    pub raw_checksum: Option<u64>,
    /// Our addition: whether we emptied the raw field. An older client may have written a null of
    /// its own, which is newer than the packed copy.
    pub raw_nulled: Option<bool>,
}

impl Metadata {
    /// The codec name of our own form: the envelope says everything itself.
    pub const ENVELOPE: &'static str = "CINCH";
}

/// The checksum of a raw copy that [`Metadata::raw_checksum`] holds: XXH64 with seed 0.
pub fn raw_checksum(raw: &[u8]) -> u64 {
    xxh64(raw, 0)
}

impl Record {
    /// A record of a store with one slot.
    pub fn single(value: impl Into<Bytes>) -> Record {
        Record { raw: Some(value.into()), packed: None, stamp: None }
    }

    /// The bytes of both copies, for size metrics.
    pub fn stored_bytes(&self) -> usize {
        self.raw.as_ref().map_or(0, Bytes::len)
            + self.packed.as_ref().map_or(0, |packed| packed.bytes.len())
    }
}
