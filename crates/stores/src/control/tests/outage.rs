//! A store that goes away: it refuses every call, or never answers one. Every call suspends once,
//! so that others come between.

use std::sync::atomic::{AtomicU8, Ordering};

use async_trait::async_trait;
use cinch_rollout::Record;

use crate::error::StoreError;
use crate::memory::MemoryStore;
use crate::store::{Condition, Expiry, Found, Page, PutOutcome, Shape, Store};

/// What it does with calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Serve,
    Refuse,
    Stall,
}

pub struct Outage {
    store: MemoryStore,
    way: AtomicU8,
}

impl Outage {
    pub fn new(store: MemoryStore) -> Outage {
        Outage { store, way: AtomicU8::new(Way::Serve as u8) }
    }

    pub fn go(&self, way: Way) {
        self.way.store(way as u8, Ordering::Relaxed);
    }

    async fn pass(&self) -> Result<(), StoreError> {
        // Calls of a real store suspend, so that others come between.
        tokio::task::yield_now().await;
        match self.way.load(Ordering::Relaxed) {
            way if way == Way::Refuse as u8 => Err(StoreError::Unreachable {
                store: "memory:".to_owned(),
                message: "it is gone".to_owned(),
            }),
            way if way == Way::Stall as u8 => std::future::pending().await,
            _ => Ok(()),
        }
    }
}

#[async_trait]
impl Store for Outage {
    fn shape(&self) -> Shape {
        self.store.shape()
    }

    fn name(&self) -> &str {
        self.store.name()
    }

    async fn get(&self, key: &[u8]) -> Result<Option<Found>, StoreError> {
        self.pass().await?;
        self.store.get(key).await
    }

    async fn put(
        &self,
        key: &[u8],
        record: &Record,
        condition: &Condition,
        expiry: Expiry,
    ) -> Result<PutOutcome, StoreError> {
        self.pass().await?;
        self.store.put(key, record, condition, expiry).await
    }

    async fn delete(&self, key: &[u8], condition: &Condition) -> Result<PutOutcome, StoreError> {
        self.pass().await?;
        self.store.delete(key, condition).await
    }

    async fn scan(&self, from: Option<&[u8]>, limit: usize) -> Result<Page, StoreError> {
        self.pass().await?;
        self.store.scan(from, limit).await
    }
}
