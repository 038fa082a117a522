//! The connection of one process, which can be cut or can stall. A cut ends calls that are under
//! way: whether they had their effect nobody can tell, as with a real one.

use async_trait::async_trait;
use cinch_rollout::Record;
use cinch_stores::{Condition, Expiry, Found, Page, PutOutcome, Shape, Store, StoreError};
use std::sync::Arc;
use tokio::sync::watch;

/// What becomes of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// They are answered.
    Up,
    /// They fail at once.
    Cut,
    /// They wait until the line is up, and are answered then.
    Stalled,
}

/// A store as one process reaches it.
pub struct Line {
    inner: Arc<dyn Store>,
    way: watch::Sender<Way>,
}

impl Line {
    pub fn new(inner: Arc<dyn Store>) -> Line {
        Line { inner, way: watch::Sender::new(Way::Up) }
    }

    pub fn go(&self, way: Way) {
        self.way.send_replace(way);
    }

    async fn call<T>(
        &self,
        effect: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let mut way = self.way.subscribe();
        // A stall delays the effect itself: a write may arrive long after its process was given up.
        let cut = || StoreError::Unreachable {
            store: self.inner.name().to_owned(),
            message: "the line was cut".to_owned(),
        };
        match way.wait_for(|way| *way != Way::Stalled).await.map(|way| *way) {
            Ok(Way::Up) => {}
            Ok(Way::Cut | Way::Stalled) | Err(_) => return Err(cut()),
        }
        tokio::select! {
            answer = effect => answer,
            _ = way.wait_for(|way| *way == Way::Cut) => Err(cut()),
        }
    }
}

#[async_trait]
impl Store for Line {
    fn shape(&self) -> Shape {
        self.inner.shape()
    }

    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn get(&self, key: &[u8]) -> Result<Option<Found>, StoreError> {
        self.call(self.inner.get(key)).await
    }

    async fn put(
        &self,
        key: &[u8],
        record: &Record,
        condition: &Condition,
        expiry: Expiry,
    ) -> Result<PutOutcome, StoreError> {
        self.call(self.inner.put(key, record, condition, expiry)).await
    }

    async fn delete(&self, key: &[u8], condition: &Condition) -> Result<PutOutcome, StoreError> {
        self.call(self.inner.delete(key, condition)).await
    }

    async fn scan(&self, from: Option<&[u8]>, limit: usize) -> Result<Page, StoreError> {
        self.call(self.inner.scan(from, limit)).await
    }
}
