//! The store in memory, whose clock the tests move, and what the store that fails on purpose does.

use std::sync::Arc;

use cinch_rollout::Record;
use cinch_stores::conformance::{Subject, check};
use cinch_stores::faults::{Fault, FaultyStore};
use cinch_stores::{Condition, Expiry, MemoryStore, Slots, Store, StoreError};

use crate::{check_faults, put};

/// The clock of a store in memory stands still, and its records never expire by waiting. So the
/// suite waits by the world's clock, and the store is told how much that was.
struct Ticking(MemoryStore, std::time::Instant, std::sync::Mutex<u64>);

impl Ticking {
    fn store(&self) -> &MemoryStore {
        let mut told_ms = self.2.lock().expect("nobody panics with it");
        let now_ms = self.1.elapsed().as_millis() as u64;
        self.0.advance_ms(now_ms - *told_ms);
        *told_ms = now_ms;
        &self.0
    }
}

#[async_trait::async_trait]
impl Store for Ticking {
    fn shape(&self) -> cinch_stores::Shape {
        self.0.shape()
    }

    fn name(&self) -> &str {
        self.0.name()
    }

    async fn get(&self, key: &[u8]) -> Result<Option<cinch_stores::Found>, StoreError> {
        self.store().get(key).await
    }

    async fn put(
        &self,
        key: &[u8],
        record: &Record,
        condition: &Condition,
        expiry: Expiry,
    ) -> Result<cinch_stores::PutOutcome, StoreError> {
        self.store().put(key, record, condition, expiry).await
    }

    async fn delete(
        &self,
        key: &[u8],
        condition: &Condition,
    ) -> Result<cinch_stores::PutOutcome, StoreError> {
        self.store().delete(key, condition).await
    }

    async fn scan(
        &self,
        from: Option<&[u8]>,
        limit: usize,
    ) -> Result<cinch_stores::Page, StoreError> {
        self.store().scan(from, limit).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn conforms_with_one_slot_and_with_two() {
    for slots in [Slots::One, Slots::Two] {
        let store = Ticking(MemoryStore::new(slots), std::time::Instant::now(), 0.into());
        let store: Arc<dyn Store> = Arc::new(store);
        let subject = Subject::new(store.clone(), store);
        check(&subject).await;
        check_faults(&subject, true).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stalled_write_loses_to_what_was_written_meanwhile() {
    let inner: Arc<dyn Store> = Arc::new(MemoryStore::new(Slots::One));
    let faulty = Arc::new(FaultyStore::new(inner.clone()));
    let record = |text: &str| Record::single(text.as_bytes().to_vec());
    put(inner.as_ref(), b"cart", &record("old")).await;
    faulty.plan(1, Fault::Stall);
    let backfill = tokio::spawn({
        let faulty = faulty.clone();
        async move {
            let found = faulty.get(b"cart").await.unwrap().unwrap();
            let packed = Record::single(b"packed old".to_vec());
            let condition = Condition::Is(found.version);
            faulty.put(b"cart", &packed, &condition, Expiry::Keep).await
        }
    });
    faulty.stalled().await;
    put(inner.as_ref(), b"cart", &record("new")).await;
    faulty.release();
    let outcome = backfill.await.unwrap().unwrap();
    assert_eq!(outcome, cinch_stores::PutOutcome::ConditionFailed);
    assert_eq!(inner.get(b"cart").await.unwrap().unwrap().record, record("new"));
    assert_eq!(faulty.calls(), 2);
}
