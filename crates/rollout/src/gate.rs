//! The gate between an application and its store: payload to record under a plan, and back.
//!
//! Which copy is right is decided without clocks. A raw copy whose checksum is not the one that was
//! noted when it was packed was written later by a client that knows nothing of packed copies: it
//! wins. Bytes that were not unpacked are never handed out as a payload. Everything that an
//! operator would want to know of a call is in what it returns, for [`crate::metrics`] to count.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use cinch_core::codec::SetupError;
use cinch_core::envelope::{UnpackError, looks_like_envelope};
use cinch_core::pack::{Outcome, PackError, looks_like_interop};

use crate::modes::{ReadMode, SingleWrite, WriteMode};
use crate::policy::{OneSlotPlan, Plan, TwoSlotPlan};
use crate::record::{Record, Stamp};
use crate::settings::Namespace;

mod foreign;
mod pool;
mod read;
mod same;
#[cfg(test)]
mod tests;
mod tools;

pub use foreign::ForeignError;
pub use same::is_same_value;

use pool::Pool;

/// Packs and unpacks for one namespace, from as many threads as like.
pub struct Gate {
    namespace: Arc<Namespace>,
    pool: Pool,
}

/// What a write puts into the store, and what an operator wants to know of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    /// What to store.
    pub record: Record,
    /// The mode that was used.
    pub mode: &'static str,
    /// The payload's length in bytes.
    pub payload_bytes: usize,
    /// The length of the packed form in bytes, where there is one: also in the shadow.
    pub packed_bytes: Option<usize>,
    /// What became of packing, where it was tried.
    pub outcome: Option<PackOutcome>,
    /// How long packing took, with its verification; nothing where it was not tried.
    pub pack_time: Option<Duration>,
}

/// What became of packing one payload.
#[derive(Debug, Clone, PartialEq)]
pub enum PackOutcome {
    /// What the packer says.
    Packer(Outcome),
    /// The payload is an envelope already, and the namespace passes these on.
    PassedOn,
    /// The shadow copy did not unpack to the payload, or could not be made. A bug, or broken
    /// memory: it must be looked at.
    ShadowMismatch,
}

/// Why a payload can't be written.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum WriteError {
    /// It is longer than the namespace takes.
    #[error("the payload has {got} bytes, the namespace takes {limit}")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
        /// Its length in bytes.
        got: usize,
    },
    /// The packer refused it.
    #[error(transparent)]
    Pack(#[from] PackError),
    /// A context could not be made: no memory.
    #[error(transparent)]
    Setup(#[from] SetupError),
}

/// What a read found.
#[derive(Debug, Clone, PartialEq)]
pub struct Read {
    /// The payload; `None` where an older client wrote null.
    pub payload: Option<Bytes>,
    /// Which copy it is.
    pub source: Source,
    /// The record's stamp.
    pub stamp: Option<Stamp>,
    /// The length of the packed copy in bytes, where there is one.
    pub packed_bytes: Option<usize>,
    /// How long unpacking took, where there was something to unpack.
    pub unpack_time: Option<Duration>,
    /// What was odd, each to be counted and some to be alerted on.
    pub findings: Vec<Finding>,
}

/// Which copy a payload came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// The raw field, or a plain value.
    Raw,
    /// The compressed field, or an envelope.
    Packed,
    /// A format of another tool that the namespace lists.
    Foreign,
}

/// What was odd about a record.
#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
    /// An older client wrote the raw copy after it was packed; the raw copy was used.
    Stale,
    /// The packed copy says nothing of the raw copy beside it, as those of other clients do; the
    /// raw copy was used.
    Unproven,
    /// There was no packed copy where one was to be read; the raw copy was used.
    NotPacked,
    /// The raw field is empty where it was to be read; the packed copy was used.
    RawMissing,
    /// The packed copy unpacks to something else than the raw copy, which was used. Critical.
    Mismatch,
    /// The sizes in the metadata are not those of the copies. Critical.
    SizeMismatch {
        /// What the metadata says: packed, then unpacked, in bytes.
        expected: (u64, u64),
        /// What was found.
        got: (u64, u64),
    },
    /// The packed copy could not be unpacked; the raw copy was used.
    Undecodable(DecodeError),
}

impl Finding {
    /// The name in metrics.
    pub fn name(&self) -> &'static str {
        match self {
            Finding::Stale => "stale",
            Finding::Unproven => "unproven",
            Finding::NotPacked => "not packed",
            Finding::RawMissing => "raw missing",
            Finding::Mismatch => "mismatch",
            Finding::SizeMismatch { .. } => "size mismatch",
            Finding::Undecodable(_) => "undecodable",
        }
    }

    /// Whether somebody must look at it.
    pub fn is_critical(&self) -> bool {
        matches!(self, Finding::Mismatch | Finding::SizeMismatch { .. })
    }
}

/// Why a packed copy can't be unpacked.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DecodeError {
    /// An envelope that this process can't read, or a damaged one.
    #[error(transparent)]
    Envelope(#[from] UnpackError),
    /// A bare block that does not decompress to the length in its metadata.
    #[error("{codec}: the block does not decompress to {expected} bytes")]
    Block {
        /// The published codec.
        codec: String,
        /// The length in the metadata.
        expected: u64,
    },
    /// The metadata names a codec that this release does not know.
    #[error("the metadata names the codec {0:?}, which this release does not know")]
    UnknownCodec(String),
    /// A value in a listed foreign format that does not decode.
    #[error(transparent)]
    Foreign(#[from] ForeignError),
    /// A context could not be made: no memory.
    #[error("{0}")]
    Setup(SetupError),
}

impl DecodeError {
    /// The kind in metrics: the permanent code of spec/errors.md where there is one.
    pub fn kind(&self) -> &'static str {
        match self {
            DecodeError::Envelope(error) => error.code(),
            DecodeError::Foreign(ForeignError::Object { .. }) => "unknown-encoding",
            DecodeError::Block { .. } | DecodeError::Foreign(_) => "damaged",
            DecodeError::UnknownCodec(_) => "unknown-codec",
            DecodeError::Setup(_) => "no-memory",
        }
    }

    /// Whether the bytes themselves are broken. A reader that is merely behind (an unknown codec, a
    /// missing dictionary, a lower limit) must never remove a value.
    pub fn is_damage(&self) -> bool {
        match self {
            DecodeError::Envelope(error) => {
                matches!(error, UnpackError::Damaged { .. } | UnpackError::ChecksumMismatch { .. })
            }
            DecodeError::Block { .. } => true,
            // Most of these formats have no mark of their own, so that a plain value may be taken
            // for one.
            DecodeError::Foreign(_) | DecodeError::UnknownCodec(_) | DecodeError::Setup(_) => false,
        }
    }
}

/// A record without a copy that can be read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{error}")]
pub struct ReadError {
    /// Why.
    pub error: DecodeError,
    /// Whether the value may be removed, by compare-and-delete on its exact bytes: it is damaged
    /// and its owner declared the namespace a cache.
    pub may_be_removed: bool,
}

impl Gate {
    /// A gate for a namespace. Contexts are made when they are needed.
    pub fn new(namespace: Arc<Namespace>) -> Gate {
        Gate { pool: Pool::new(Arc::clone(&namespace)), namespace }
    }

    /// The namespace.
    pub fn namespace(&self) -> &Arc<Namespace> {
        &self.namespace
    }

    /// What to store for a payload under a plan. `now_ms` is for the metadata only, which people
    /// read; no decision does.
    ///
    /// # Errors
    /// [`WriteError`]. A codec that fails is none: the payload is then written raw and counted.
    pub fn write(
        &self,
        plan: &Plan,
        payload: &Bytes,
        stamp: Option<Stamp>,
        now_ms: i64,
    ) -> Result<Written, WriteError> {
        let limit = self.namespace.payload_bytes_max;
        if payload.len() > limit {
            return Err(WriteError::TooLarge { limit, got: payload.len() });
        }
        match plan {
            Plan::Two(TwoSlotPlan { write, .. }) => self.write_two(*write, payload, stamp, now_ms),
            Plan::One(OneSlotPlan { write, .. }) => self.write_one(*write, payload, stamp),
        }
    }

    /// The payload of a record under a plan.
    ///
    /// # Errors
    /// [`ReadError`], where no copy can be read. The caller asks another copy of the payload, or
    /// its owner; it never gets the bytes themselves.
    pub fn read(&self, plan: &Plan, record: &Record) -> Result<Read, ReadError> {
        match plan {
            Plan::Two(TwoSlotPlan { read, .. }) => self.read_two(*read, record),
            Plan::One(_) => self.read_one(record),
        }
    }

    fn write_two(
        &self,
        mode: WriteMode,
        payload: &Bytes,
        stamp: Option<Stamp>,
        now_ms: i64,
    ) -> Result<Written, WriteError> {
        if !mode.writes_packed() {
            let record = Record { raw: Some(payload.clone()), packed: None, stamp };
            return Ok(Written::untouched(record, mode.name(), payload));
        }
        let mut tools = self.pool.take();
        let started = Instant::now();
        let (packed, outcome) = tools.pack_field(payload, now_ms)?;
        let pack_time = Some(started.elapsed());
        let packed_bytes = packed.as_ref().map(|packed| packed.bytes.len());
        // What is not worth packing has its raw copy in every mode, which every read mode takes.
        let keeps_raw = mode.writes_raw() || packed.is_none();
        let packed = packed.map(|mut packed| {
            packed.metadata.raw_nulled = Some(!keeps_raw);
            packed
        });
        let raw = keeps_raw.then(|| payload.clone());
        let record = Record { raw, packed, stamp };
        let payload_bytes = payload.len();
        let outcome = Some(outcome);
        Ok(Written { record, mode: mode.name(), payload_bytes, packed_bytes, outcome, pack_time })
    }

    fn write_one(
        &self,
        mode: SingleWrite,
        payload: &Bytes,
        stamp: Option<Stamp>,
    ) -> Result<Written, WriteError> {
        if mode == SingleWrite::Plain && !looks_packed(payload) {
            // Where compression is off a write takes nothing and copies nothing.
            let record = Record { raw: Some(payload.clone()), packed: None, stamp };
            return Ok(Written::untouched(record, mode.name(), payload));
        }
        let mut tools = self.pool.take();
        let started = Instant::now();
        let made = tools.pack_value(mode, payload)?;
        let pack_time = made.was_tried.then(|| started.elapsed());
        Ok(Written {
            record: Record { raw: Some(made.value), packed: None, stamp },
            mode: mode.name(),
            payload_bytes: payload.len(),
            packed_bytes: made.packed_bytes,
            outcome: made.outcome,
            pack_time,
        })
    }

    fn read_two(&self, mode: ReadMode, record: &Record) -> Result<Read, ReadError> {
        read::two(&self.namespace, &self.pool, mode, record)
    }

    fn read_one(&self, record: &Record) -> Result<Read, ReadError> {
        read::one(&self.namespace, &self.pool, record)
    }
}

/// Whether a reader would take a payload for something that was packed.
fn looks_packed(payload: &[u8]) -> bool {
    looks_like_envelope(payload) || looks_like_interop(payload)
}

impl Written {
    fn untouched(record: Record, mode: &'static str, payload: &[u8]) -> Written {
        let payload_bytes = payload.len();
        Written { record, mode, payload_bytes, packed_bytes: None, outcome: None, pack_time: None }
    }
}
