//! A store in memory: the embedded default of examples, and what the conformance suite was written
//! against. Its clock is the caller's, so that tests expire records without waiting.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use cinch_rollout::Record;

use crate::error::StoreError;
use crate::store::{Condition, Expiry, Found, Page, PutOutcome, Shape, Slots, Store, Version};

/// What cursors begin with, so that one of another store is told from one of ours.
const CURSOR_MARK: &[u8] = b"memory-key:";

/// One record with what the store knows of it.
struct Entry {
    record: Record,
    version: u64,
    expires_at_ms: Option<u64>,
}

/// Records in memory, gone with the process.
pub struct MemoryStore {
    slots: Slots,
    entries: Mutex<Entries>,
    /// Milliseconds that have passed, for expiry; [`MemoryStore::advance_ms`] moves it.
    now_ms: AtomicU64,
}

#[derive(Default)]
struct Entries {
    by_key: BTreeMap<Vec<u8>, Entry>,
    last_version: u64,
}

impl MemoryStore {
    /// An empty store.
    pub fn new(slots: Slots) -> MemoryStore {
        MemoryStore { slots, entries: Mutex::default(), now_ms: AtomicU64::new(0) }
    }

    /// Lets time pass: records that expire within it are gone.
    pub fn advance_ms(&self, milliseconds: u64) {
        self.now_ms.fetch_add(milliseconds, Ordering::Relaxed);
    }

    fn with<R>(&self, work: impl FnOnce(&mut Entries, u64) -> R) -> R {
        let now_ms = self.now_ms.load(Ordering::Relaxed);
        // A panic while the lock was held leaves whole entries: nothing is written in steps.
        let mut entries = self.entries.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        entries.by_key.retain(|_, entry| entry.expires_at_ms.is_none_or(|at| at > now_ms));
        work(&mut entries, now_ms)
    }
}

impl Entries {
    fn allows(&self, key: &[u8], condition: &Condition) -> bool {
        let entry = self.by_key.get(key);
        match condition {
            Condition::Always => true,
            Condition::Absent => entry.is_none(),
            Condition::Is(version) => {
                entry.is_some_and(|entry| entry.version.to_le_bytes()[..] == version.0)
            }
            Condition::OlderThan(stamp) => {
                entry.is_none_or(|entry| entry.record.stamp.is_none_or(|had| had < *stamp))
            }
        }
    }
}

#[async_trait]
impl Store for MemoryStore {
    fn shape(&self) -> Shape {
        Shape { kind: "memory", slots: self.slots, has_expiry: true, has_stamp: true }
    }

    fn name(&self) -> &str {
        "memory:"
    }

    async fn get(&self, key: &[u8]) -> Result<Option<Found>, StoreError> {
        Ok(self.with(|entries, now_ms| {
            entries.by_key.get(key).map(|entry| Found {
                record: entry.record.clone(),
                version: Version(Bytes::copy_from_slice(&entry.version.to_le_bytes())),
                expires_in_ms: entry.expires_at_ms.map(|at| at - now_ms),
            })
        }))
    }

    async fn record(&self, key: &[u8]) -> Result<Option<Record>, StoreError> {
        Ok(self.with(|entries, _| entries.by_key.get(key).map(|entry| entry.record.clone())))
    }

    async fn put(
        &self,
        key: &[u8],
        record: &Record,
        condition: &Condition,
        expiry: Expiry,
    ) -> Result<PutOutcome, StoreError> {
        if self.slots == Slots::One && record.packed.is_some() {
            let what = "keep a packed copy beside the raw one";
            return Err(StoreError::unsupported(self.name(), what));
        }
        if self.slots == Slots::One && record.raw.is_none() {
            let what = "keep a record without a value in its one slot";
            return Err(StoreError::unsupported(self.name(), what));
        }
        Ok(self.with(|entries, now_ms| {
            if !entries.allows(key, condition) {
                return PutOutcome::ConditionFailed;
            }
            let kept = entries.by_key.get(key).and_then(|entry| entry.expires_at_ms);
            let expires_at_ms = match expiry {
                Expiry::Keep => kept,
                Expiry::Never => None,
                Expiry::InMs(milliseconds) => Some(now_ms.saturating_add(milliseconds)),
            };
            entries.last_version += 1;
            let entry =
                Entry { record: record.clone(), version: entries.last_version, expires_at_ms };
            entries.by_key.insert(key.to_vec(), entry);
            PutOutcome::Written
        }))
    }

    async fn delete(&self, key: &[u8], condition: &Condition) -> Result<PutOutcome, StoreError> {
        Ok(self.with(|entries, _| {
            if !entries.allows(key, condition) {
                return PutOutcome::ConditionFailed;
            }
            entries.by_key.remove(key);
            PutOutcome::Written
        }))
    }

    async fn scan(&self, from: Option<&[u8]>, limit: usize) -> Result<Page, StoreError> {
        let foreign = || StoreError::Address("memory: this cursor is of another store".to_owned());
        let from = from.map(|cursor| cursor.strip_prefix(CURSOR_MARK).ok_or_else(foreign));
        let from = from.transpose()?;
        Ok(self.with(|entries, _| {
            let start = from.map_or(Bound::Unbounded, Bound::Excluded);
            let keys: Vec<Vec<u8>> = entries
                .by_key
                .range::<[u8], _>((start, Bound::Unbounded))
                .take(limit.max(1))
                .map(|(key, _)| key.clone())
                .collect();
            let last = keys.last().filter(|_| keys.len() == limit.max(1));
            let next = last.map(|key| [CURSOR_MARK, key].concat());
            Page { keys, next }
        }))
    }
}
