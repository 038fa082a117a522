//! What an application calls in place of its store's client: the same get and put, with the policy
//! in between.
//!
//! A key that belongs to no namespace passes through untouched in both directions. A value that
//! can't be read is never handed out: the caller gets an error, or a miss where the value is
//! damaged and the namespace is a cache, in which case exactly that value is removed.

mod beside;

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use cinch_rollout::gate::{DecodeError, Read, ReadError, Source, WriteError};
use cinch_rollout::live::Live;
use cinch_rollout::metrics::NamespaceMetrics;
use cinch_rollout::policy::Plan;
use cinch_rollout::{Record, Stamp};

use crate::error::StoreError;
use crate::stamp::{fitted, stamp_of};
use crate::store::{Condition, Expiry, PutOutcome, Slots, Store, Version};

pub use beside::BESIDE_BYTES_DEFAULT;

use beside::{beside, packs, unpacked_bytes};

/// A store with the policy in front.
#[derive(Clone)]
pub struct Client {
    store: Arc<dyn Store>,
    live: Arc<Live>,
    beside_bytes: usize,
}

/// What was found under a key, with what is needed to replace exactly it.
#[derive(Debug, Clone, PartialEq)]
pub struct Got {
    /// The payload, which copy it is, and what was odd.
    pub read: Read,
    /// The state of the record, to replace exactly it.
    pub version: Version,
}

/// Why a call did not succeed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ClientError {
    /// The store did not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The payload can't be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// What is stored can't be read. Its bytes are not handed out.
    #[error("what {store} holds under {key:?} can't be read: {error}")]
    Undecodable {
        /// The store's name.
        store: String,
        /// The key, with replacement characters where it is no text.
        key: String,
        /// Why.
        error: DecodeError,
    },
    /// The namespace is configured for another kind of store.
    #[error("namespace {namespace} is configured with two slots, and {store} has one")]
    Slots {
        /// The namespace.
        namespace: String,
        /// The store's name.
        store: String,
    },
}

impl Client {
    /// A client of a store, which acts by `live` from call to call.
    pub fn new(store: Arc<dyn Store>, live: Arc<Live>) -> Client {
        Client { store, live, beside_bytes: BESIDE_BYTES_DEFAULT }
    }

    /// The same client, which packs and unpacks payloads of at least this many bytes on the
    /// runtime's threads for blocking work, [`BESIDE_BYTES_DEFAULT`] unless it is said. Less is for
    /// an application that serves all its calls from one thread and packs with a slow codec.
    pub fn with_beside_bytes(self, beside_bytes: usize) -> Client {
        Client { beside_bytes, ..self }
    }

    /// The store behind it.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// What it acts by.
    pub fn live(&self) -> &Arc<Live> {
        &self.live
    }

    /// Stores a payload under a key, in the copies that the policy says. A store that has no place
    /// for a stamp gets it inside the envelope, where the policy writes packed, and else not at
    /// all.
    ///
    /// # Errors
    /// [`ClientError`]; after [`StoreError::Unreachable`] it may have been written or not.
    pub async fn put(
        &self,
        key: &[u8],
        payload: impl Into<Bytes>,
        stamp: Option<Stamp>,
        condition: &Condition,
        expiry: Expiry,
    ) -> Result<PutOutcome, ClientError> {
        let record = self.record_of(key, payload.into(), stamp).await?;
        Ok(self.store.put(key, &record, condition, expiry).await?)
    }

    /// The payload under a key, from the copy that the policy believes.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn get(&self, key: &[u8]) -> Result<Option<Read>, ClientError> {
        let Some(record) = self.store.record(key).await? else { return Ok(None) };
        match self.read(key, &record).await? {
            Ok(read) => Ok(Some(read)),
            Err(error) if error.may_be_removed => {
                let found = self.store.get(key).await?;
                // Somebody may have replaced it meanwhile; then it stays, and the next read tells.
                if let Some(found) = found.filter(|found| found.record == record) {
                    self.store.delete(key, &Condition::Is(found.version)).await?;
                }
                Ok(None)
            }
            Err(error) => Err(self.undecodable(key, error)),
        }
    }

    /// The payload under a key with the state of its record, to replace exactly that. A damaged
    /// value is left in place and is an error here, also in a cache.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn versioned(&self, key: &[u8]) -> Result<Option<Got>, ClientError> {
        let Some(found) = self.store.get(key).await? else { return Ok(None) };
        let read = self.read(key, &found.record).await?;
        let read = read.map_err(|error| self.undecodable(key, error))?;
        Ok(Some(Got { read, version: found.version }))
    }

    /// Removes what is stored under a key.
    ///
    /// # Errors
    /// [`ClientError::Store`].
    pub async fn delete(
        &self,
        key: &[u8],
        condition: &Condition,
    ) -> Result<PutOutcome, ClientError> {
        Ok(self.store.delete(key, condition).await?)
    }

    /// The payload of a record, counted.
    async fn read(
        &self,
        key: &[u8],
        record: &Record,
    ) -> Result<Result<Read, ReadError>, StoreError> {
        let beside_bytes = self.beside_bytes;
        let large = {
            let snapshot = self.live.snapshot();
            let Some(ready) = snapshot.namespace_of(key) else {
                return Ok(Ok(self.with_stamp(untouched(record), record)));
            };
            let plan = ready.plan_for(key);
            if unpacked_bytes(ready.namespace(), record) < beside_bytes {
                let result = ready.gate.read(plan, record);
                count_read(&ready.metrics, &result);
                return Ok(result.map(|read| self.with_stamp(read, record)));
            }
            (Arc::clone(&ready.gate), plan.clone(), Arc::clone(&ready.metrics))
        };
        let ((gate, plan, metrics), shared) = (large, record.clone());
        let done = beside(move || {
            let result = gate.read(&plan, &shared);
            count_read(&metrics, &result);
            result
        });
        let result = done.await.ok_or_else(|| self.ended())?;
        Ok(result.map(|read| self.with_stamp(read, record)))
    }

    fn with_stamp(&self, read: Read, record: &Record) -> Read {
        Read { stamp: stamp_of(record, &self.store.shape()), ..read }
    }

    fn undecodable(&self, key: &[u8], error: ReadError) -> ClientError {
        ClientError::Undecodable {
            store: self.store.name().to_owned(),
            key: String::from_utf8_lossy(key).into_owned(),
            error: error.error,
        }
    }

    async fn record_of(
        &self,
        key: &[u8],
        payload: Bytes,
        stamp: Option<Stamp>,
    ) -> Result<Record, ClientError> {
        let shape = self.store.shape();
        let (gate, plan, metrics) = {
            let snapshot = self.live.snapshot();
            let Some(ready) = snapshot.namespace_of(key) else {
                let record = Record { raw: Some(payload), packed: None, stamp };
                return Ok(fitted(record, &shape, None));
            };
            let namespace = ready.namespace();
            if shape.slots == Slots::One && namespace.slots() == Slots::Two {
                return Err(ClientError::Slots {
                    namespace: namespace.name.clone(),
                    store: self.store.name().to_owned(),
                });
            }
            let plan = ready.plan_for(key);
            if payload.len() < self.beside_bytes || !packs(plan) {
                let written = ready.gate.write(plan, &payload, stamp, time_for(plan))?;
                ready.metrics.wrote(&written);
                return Ok(fitted(written.record, &shape, Some(plan)));
            }
            (Arc::clone(&ready.gate), plan.clone(), Arc::clone(&ready.metrics))
        };
        let done = beside(move || (gate.write(&plan, &payload, stamp, time_for(&plan)), plan));
        let (written, plan) = done.await.ok_or_else(|| self.ended())?;
        let written = written?;
        metrics.wrote(&written);
        Ok(fitted(written.record, &shape, Some(&plan)))
    }

    /// The runtime ended while a call was under way.
    fn ended(&self) -> StoreError {
        StoreError::Unreachable {
            store: self.store.name().to_owned(),
            message: "the program is ending".to_owned(),
        }
    }
}

fn count_read(metrics: &NamespaceMetrics, result: &Result<Read, ReadError>) {
    match result {
        Ok(read) => metrics.read(read),
        Err(error) => metrics.failed(&error.error),
    }
}

/// A record of no namespace, as it is.
fn untouched(record: &Record) -> Read {
    Read {
        payload: record.raw.clone(),
        source: Source::Raw,
        stamp: record.stamp,
        packed_bytes: None,
        unpack_time: None,
        findings: Vec::new(),
    }
}

/// The time for the metadata, in milliseconds since 1970; people read it, no decision does. One
/// slot has no metadata, and the clock is not asked.
fn time_for(plan: &Plan) -> i64 {
    if let Plan::One(_) = plan {
        return 0;
    }
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use cinch_rollout::settings::Sources;

    use super::*;
    use crate::memory::MemoryStore;

    fn client(store: &Arc<MemoryStore>, settings: &str) -> Client {
        let text = format!("[namespaces.carts]\nkeys = [\"cart:*\"]\n{settings}");
        let sources = Sources { text, ..Sources::default() };
        let live = Live::new(sources.configuration().unwrap());
        Client::new(Arc::clone(store) as Arc<dyn Store>, Arc::new(live))
    }

    fn cart() -> Vec<u8> {
        br#"{"sku":"SKU-1","price":12.50},"#.repeat(20)
    }

    #[tokio::test]
    async fn old_and_new_clients_read_each_other_in_every_allowed_mode() {
        let store = Arc::new(MemoryStore::new(Slots::Two));
        let old = client(&store, "");
        let new = client(&store, "write_mode = \"DUAL\"\nread_mode = \"COMPRESS_ONLY\"\n");
        for (writer, reader) in [(&old, &new), (&new, &old)] {
            let condition = Condition::Always;
            writer.put(b"cart:1", cart(), None, &condition, Expiry::Keep).await.unwrap();
            let got = reader.get(b"cart:1").await.unwrap().unwrap();
            assert_eq!(got.payload.as_deref(), Some(&cart()[..]));
        }
    }

    #[tokio::test]
    async fn what_belongs_to_no_namespace_is_not_touched() {
        let store = Arc::new(MemoryStore::new(Slots::One));
        let client = client(&store, "write = \"packed\"\n");
        client.put(b"menu:1", cart(), None, &Condition::Always, Expiry::Keep).await.unwrap();
        let stored = store.get(b"menu:1").await.unwrap().unwrap().record;
        assert_eq!(stored.raw, Some(cart().into()));
        client.put(b"cart:1", cart(), None, &Condition::Always, Expiry::Keep).await.unwrap();
        let stored = store.get(b"cart:1").await.unwrap().unwrap().record;
        assert!(stored.raw.unwrap().len() < cart().len() / 2);
        assert_eq!(
            client.get(b"cart:1").await.unwrap().unwrap().payload.as_deref(),
            Some(&cart()[..])
        );
    }

    #[tokio::test]
    async fn a_damaged_value_is_a_miss_in_a_cache_and_an_error_elsewhere() {
        for (settings, is_cache) in [("cache = true\n", true), ("", false)] {
            let store = Arc::new(MemoryStore::new(Slots::One));
            let client = client(&store, &format!("write = \"packed\"\n{settings}"));
            client.put(b"cart:1", cart(), None, &Condition::Always, Expiry::Keep).await.unwrap();
            let mut record = store.get(b"cart:1").await.unwrap().unwrap().record;
            let mut value = record.raw.unwrap().to_vec();
            value[20] ^= 1;
            record.raw = Some(value.into());
            store.put(b"cart:1", &record, &Condition::Always, Expiry::Keep).await.unwrap();
            let got = client.get(b"cart:1").await;
            let is_left = store.get(b"cart:1").await.unwrap().is_some();
            match is_cache {
                true => assert!(got.unwrap().is_none() && !is_left),
                false => assert!(got.is_err() && is_left),
            }
        }
    }

    #[tokio::test]
    async fn two_slots_are_not_squeezed_into_one() {
        let store = Arc::new(MemoryStore::new(Slots::One));
        let client = client(&store, "write_mode = \"DUAL\"\n");
        let put = client.put(b"cart:1", cart(), None, &Condition::Always, Expiry::Keep).await;
        assert!(matches!(put, Err(ClientError::Slots { .. })));
    }
}
