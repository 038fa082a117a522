//! A store that fails on purpose: its Nth call, before or after the effect, or not at all until it
//! is told to go on. What calls stores is run once for every N, and nothing may be half-written.

use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use cinch_rollout::Record;
use tokio::sync::Notify;

use crate::error::StoreError;
use crate::store::{Condition, Expiry, Found, Page, PutOutcome, Shape, Store};

/// What happens to the call that was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It fails, and had no effect: the connection broke on the way there.
    Before,
    /// It fails, and had its effect: the connection broke on the way back.
    After,
    /// It waits until [`FaultyStore::release`].
    Stall,
}

/// A store around another one.
pub struct FaultyStore {
    inner: Arc<dyn Store>,
    calls: AtomicUsize,
    plan: Mutex<Option<(usize, Fault)>>,
    stalled: Notify,
    released: Notify,
}

impl FaultyStore {
    /// A store that fails nothing yet.
    pub fn new(inner: Arc<dyn Store>) -> FaultyStore {
        FaultyStore {
            inner,
            calls: AtomicUsize::new(0),
            plan: Mutex::new(None),
            stalled: Notify::new(),
            released: Notify::new(),
        }
    }

    /// Counts anew, and lets the call of this number, from 0, have this fault.
    pub fn plan(&self, call: usize, fault: Fault) {
        self.calls.store(0, Ordering::SeqCst);
        *self.plan.lock().unwrap_or_else(PoisonError::into_inner) = Some((call, fault));
    }

    /// Fails nothing any more.
    pub fn heal(&self) {
        *self.plan.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// How many calls there were since the plan was made.
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    /// Waits until a call stalls.
    pub async fn stalled(&self) {
        self.stalled.notified().await;
    }

    /// Lets the call that stalls go on, or the next one that will.
    pub fn release(&self) {
        self.released.notify_one();
    }

    fn broken(&self) -> StoreError {
        StoreError::Unreachable {
            store: self.inner.name().to_owned(),
            message: "the connection broke, as planned".to_owned(),
        }
    }

    async fn call<T: Send>(
        &self,
        effect: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> Result<T, StoreError> {
        let number = self.calls.fetch_add(1, Ordering::SeqCst);
        let plan = *self.plan.lock().unwrap_or_else(PoisonError::into_inner);
        let fault = plan.filter(|(call, _)| *call == number).map(|(_, fault)| fault);
        match fault {
            None => effect.await,
            Some(Fault::Before) => Err(self.broken()),
            Some(Fault::After) => {
                effect.await?;
                Err(self.broken())
            }
            Some(Fault::Stall) => {
                self.stalled.notify_one();
                self.released.notified().await;
                effect.await
            }
        }
    }
}

#[async_trait]
impl Store for FaultyStore {
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

/// Runs a scenario without a fault to count its calls, and then once for every call and each of
/// both breaks. `prepare` makes the state that it starts from, and `examine` looks at what is left.
///
/// Returns how many runs there were.
pub async fn countdown<P, S, E>(inner: Arc<dyn Store>, prepare: P, scenario: S, examine: E) -> usize
where
    P: AsyncFn(&dyn Store),
    S: AsyncFn(&dyn Store) -> Result<(), StoreError>,
    E: AsyncFn(&dyn Store, Result<(), StoreError>),
{
    let store = FaultyStore::new(inner.clone());
    prepare(inner.as_ref()).await;
    store.plan(usize::MAX, Fault::Before);
    let outcome = scenario(&store).await;
    assert!(outcome.is_ok(), "the scenario fails without a fault: {outcome:?}");
    let calls = store.calls();
    examine(inner.as_ref(), outcome).await;
    for call in 0..calls {
        for fault in [Fault::Before, Fault::After] {
            prepare(inner.as_ref()).await;
            store.plan(call, fault);
            let outcome = scenario(&store).await;
            examine(inner.as_ref(), outcome).await;
        }
    }
    calls * 2 + 1
}
