//! The trait that every store implements, and what its calls take and answer.
//!
//! Writes carry a [`Condition`], because all that cinch does beside an application's own traffic
//! (backfill, repair, rollout state) may only replace exactly what it has read. Time to live is
//! kept unless a write says otherwise: a rewrite neither drops nor revives one.

use async_trait::async_trait;
use bytes::Bytes;
/// How many copies of a payload a record has room for: what a namespace asks of its store.
pub use cinch_rollout::settings::Slots;
use cinch_rollout::{Record, Stamp};

use crate::error::StoreError;

/// What a caller must know of a store before using it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// The kind's name in messages and metrics: `redis`, `mongodb`, `postgres`, …
    pub kind: &'static str,
    /// Whether raw and packed copies have a place each.
    pub slots: Slots,
    /// Whether records can expire.
    pub has_expiry: bool,
    /// Whether records have a place for a version stamp outside the payload.
    pub has_stamp: bool,
}

/// The exact state of a record when it was read. Opaque: a store compares it, and two versions of
/// one store that are equal mean that nothing changed in between, as far as that store can tell.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Version(pub Bytes);

/// A record that was found, with what is needed to replace exactly it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The record.
    pub record: Record,
    /// Its state.
    pub version: Version,
    /// The time it has left in milliseconds; `None` where it does not expire or was not asked for.
    pub expires_in_ms: Option<u64>,
}

/// When a write may happen. It is checked by the store itself, in one step with the write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// Always.
    Always,
    /// Only where nothing is stored under the key.
    Absent,
    /// Only over exactly this state.
    Is(Version),
    /// Only where nothing is stored, or something whose stamp is smaller or missing.
    OlderThan(Stamp),
}

/// What becomes of a record's time to live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    /// It stays as it is; a new record does not expire.
    Keep,
    /// The record does not expire any more.
    Never,
    /// It expires after this many milliseconds, at least 1.
    InMs(u64),
}

/// What became of a conditional write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutOutcome {
    /// It was written.
    Written,
    /// The condition did not hold, and nothing was changed.
    ConditionFailed,
}

/// Some keys of a store.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    /// The keys, each at least once over a whole scan if it was there from its start to its end.
    /// A page may be empty before the last one.
    pub keys: Vec<Vec<u8>>,
    /// Where to go on, durable across restarts of the caller; `None` after the last page.
    pub next: Option<Vec<u8>>,
}

/// A store of records under keys. Every method may be called from many tasks at once.
#[async_trait]
pub trait Store: Send + Sync {
    /// What kind of store it is.
    fn shape(&self) -> Shape;

    /// Its name in messages: an address without secrets.
    fn name(&self) -> &str;

    /// Whether a scan shows every key, and not only those that the address restricts it to.
    fn scans_all(&self) -> bool {
        true
    }

    /// The record under a key, all its copies read in one step.
    ///
    /// # Errors
    /// [`StoreError`]; nothing stored is `None` and no error.
    async fn get(&self, key: &[u8]) -> Result<Option<Found>, StoreError>;

    /// The record under a key alone, without its state and its time to live, which some stores
    /// would have to build or to ask for: what a service calls at every request.
    ///
    /// # Errors
    /// [`StoreError`]; nothing stored is `None` and no error.
    async fn record(&self, key: &[u8]) -> Result<Option<Record>, StoreError> {
        Ok(self.get(key).await?.map(|found| found.record))
    }

    /// Writes a record as a whole, in one step: a `packed` of `None` removes the compressed field,
    /// a `raw` of `None` writes null into the raw one. Fields of a document that are not ours stay.
    ///
    /// # Errors
    /// [`StoreError::Unsupported`], and nothing is written, for what the store's [`Shape`] has no
    /// place for: a packed copy or no value at all in one slot, a stamp, a time to live. After
    /// [`StoreError::Unreachable`] it may have been written or not.
    async fn put(
        &self,
        key: &[u8],
        record: &Record,
        condition: &Condition,
        expiry: Expiry,
    ) -> Result<PutOutcome, StoreError>;

    /// Removes the record under a key; whether it was there does not matter.
    ///
    /// # Errors
    /// [`StoreError`].
    async fn delete(&self, key: &[u8], condition: &Condition) -> Result<PutOutcome, StoreError>;

    /// The keys, about `limit` at a time, from where the last page ended.
    ///
    /// # Errors
    /// [`StoreError`]; [`StoreError::Address`] for a cursor that is none of this store's.
    async fn scan(&self, from: Option<&[u8]>, limit: usize) -> Result<Page, StoreError>;
}
