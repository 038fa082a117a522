//! Walking through every key of a store: what a backfill and a verification have in common.
//!
//! Keys come page by page from a cursor that outlives this process. A page is left behind only
//! when each of its records is done, so whoever goes on from a saved cursor misses none, and does
//! at most one page twice. The pace follows the server; calls that fail for a moment are repeated.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use cinch_rollout::live::{Live, Ready, Snapshot};
use cinch_rollout::settings::Slots as NamespaceSlots;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::error::StoreError;
use crate::store::{Found, Page, Slots, Store};

mod pace;

pub(crate) use pace::{Call, Pace};

/// How many records are in work at once unless somebody says otherwise.
pub const CONCURRENCY_DEFAULT: usize = 8;

/// The most records that may be in work at once: each holds a payload.
pub const CONCURRENCY_MAX: usize = 256;

/// How many keys a page has, about: what is done twice after a crash.
const PAGE_KEYS: usize = 256;

/// How often a call is tried that fails for a moment, and the waits between: about a minute in all.
const TRIES_MAX: u32 = 8;
const FIRST_WAIT: Duration = Duration::from_millis(200);
const WAIT_MAX: Duration = Duration::from_secs(20);

/// How a walk goes.
#[derive(Debug, Clone)]
pub struct WalkOptions {
    /// The one namespace whose keys are looked at; `None` is all that are configured.
    pub namespace: Option<String>,
    /// How many records are in work at once, at most [`CONCURRENCY_MAX`].
    pub concurrency: usize,
    /// The most records a second; `None` leaves it to the server's latency alone.
    pub rate_max: Option<u32>,
    /// Whether examples show a hash in place of a key.
    pub hides_keys: bool,
}

impl Default for WalkOptions {
    fn default() -> WalkOptions {
        let concurrency = CONCURRENCY_DEFAULT;
        WalkOptions { namespace: None, concurrency, rate_max: None, hides_keys: false }
    }
}

/// Why a walk ended before its end.
#[derive(Debug, thiserror::Error)]
pub enum WalkError {
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No such namespace, or none at all.
    #[error("there is no namespace {name:?} in the configuration; there are {known}")]
    NoNamespace {
        /// What was asked for.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// The namespace is configured for another kind of store.
    #[error(
        "namespace {namespace} is configured with two slots, and {store} has one: set slots = \
         \"one\", or name its columns in the address"
    )]
    Slots {
        /// The namespace.
        namespace: String,
        /// The store's name.
        store: String,
    },
    /// The policy does not write what is configured, so that records would be brought to something
    /// that nobody asked for.
    #[error(
        "namespace {namespace}: the policy is held back ({obstacle}), so records would not become \
         what is configured; see to that first, or go back with --to plain"
    )]
    HeldBack {
        /// The namespace.
        namespace: String,
        /// Why.
        obstacle: String,
    },
    /// The rollout does not stand where every process packs every key.
    #[error(
        "namespace {namespace}: its rollout does not stand where all processes write packed copies \
         of all keys, and a backfill does not run ahead of it: `cinch rollout advance` first, or \
         go back with --to plain"
    )]
    Ahead {
        /// The namespace.
        namespace: String,
    },
    /// The checkpoint can't be read or written.
    #[error("{path}: {message}")]
    Checkpoint {
        /// The file.
        path: String,
        /// Why.
        message: String,
    },
    /// The checkpoint is of a job with other options, another store or another configuration.
    #[error(
        "{path} is the checkpoint of another job ({what}): finish that one, or remove the file"
    )]
    OtherJob {
        /// The file.
        path: String,
        /// What that job does.
        what: String,
    },
}

/// A store with the pace that its calls keep.
pub(crate) struct Paced {
    pub store: Arc<dyn Store>,
    pub pace: Pace,
}

impl Paced {
    pub(crate) fn new(store: Arc<dyn Store>, options: &WalkOptions) -> Paced {
        Paced { store, pace: Pace::new(options.rate_max) }
    }

    /// Runs a call once, and notes how long it took.
    pub(crate) async fn timed<T>(
        &self,
        call: Call,
        work: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let started = Instant::now();
        let result = work.await;
        match &result {
            Err(error) if error.is_transient() => self.pace.note_failure(),
            _ => self.pace.note(call, started.elapsed()),
        }
        result
    }

    /// Reads a record, patiently.
    pub(crate) async fn get(&self, key: &[u8]) -> Result<Option<Found>, StoreError> {
        let mut patience = Patience::new();
        loop {
            match self.timed(Call::Read, self.store.get(key)).await {
                Err(error) if patience.has_more(&error) => patience.wait().await,
                result => return result,
            }
        }
    }

    async fn scan(&self, from: Option<&[u8]>) -> Result<Page, StoreError> {
        let mut patience = Patience::new();
        loop {
            match self.store.scan(from, PAGE_KEYS).await {
                Err(error) if patience.has_more(&error) => patience.wait().await,
                result => return result,
            }
        }
    }
}

/// Repeats what fails for a moment, and waits longer each time.
struct Patience {
    tries: u32,
    wait: Duration,
}

impl Patience {
    fn new() -> Patience {
        Patience { tries: 1, wait: FIRST_WAIT }
    }

    fn has_more(&self, error: &StoreError) -> bool {
        error.is_transient() && self.tries < TRIES_MAX
    }

    async fn wait(&mut self) {
        sleep(self.wait).await;
        self.tries += 1;
        self.wait = (self.wait * 2).min(WAIT_MAX);
    }
}

/// What is done with each key.
#[async_trait]
pub(crate) trait Visit: Send + Sync + 'static {
    /// Whether this key is looked at; one that is not costs nothing of the pace.
    fn wants(&self, key: &[u8]) -> bool;

    /// Does what is to be done.
    async fn visit(&self, key: &[u8]) -> Result<(), WalkError>;
}

/// What is done after each page, with where the walk goes on; an error ends it.
pub(crate) type AfterPage<'a> = dyn FnMut(Option<&[u8]>) -> Result<(), WalkError> + Send + 'a;

/// What somebody who waits is told.
pub(crate) struct Steps<'a> {
    /// After a page whose records are all done: where to go on, `None` at the end.
    pub after_page: &'a mut AfterPage<'a>,
    /// After each record.
    pub after_record: &'a mut (dyn FnMut() + Send),
}

/// Walks from a cursor to the end; `false` where `stop` ended it before.
pub(crate) async fn walk<V: Visit>(
    paced: &Paced,
    visit: &Arc<V>,
    concurrency: usize,
    from: Option<Vec<u8>>,
    stop: &AtomicBool,
    steps: Steps<'_>,
) -> Result<bool, WalkError> {
    let concurrency = concurrency.clamp(1, CONCURRENCY_MAX);
    let mut cursor = from;
    loop {
        if stop.load(Ordering::Relaxed) {
            return Ok(false);
        }
        let page = paced.scan(cursor.as_deref()).await?;
        let mut in_work = JoinSet::new();
        for key in page.keys.into_iter().filter(|key| visit.wants(key)) {
            while in_work.len() >= concurrency {
                finish_one(&mut in_work, steps.after_record).await?;
            }
            paced.pace.wait().await;
            if stop.load(Ordering::Relaxed) {
                break;
            }
            let visit = Arc::clone(visit);
            in_work.spawn(async move { visit.visit(&key).await });
        }
        while !in_work.is_empty() {
            finish_one(&mut in_work, steps.after_record).await?;
        }
        if stop.load(Ordering::Relaxed) {
            return Ok(false);
        }
        cursor = page.next;
        (steps.after_page)(cursor.as_deref())?;
        if cursor.is_none() {
            return Ok(true);
        }
    }
}

async fn finish_one(
    in_work: &mut JoinSet<Result<(), WalkError>>,
    after_record: &mut (dyn FnMut() + Send),
) -> Result<(), WalkError> {
    match in_work.join_next().await {
        None => Ok(()),
        Some(Ok(result)) => {
            after_record();
            result
        }
        // A bug in a visit is not hidden by the task that it happened in.
        Some(Err(error)) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Some(Err(_)) => Ok(()),
    }
}

/// The namespace of a key, if the walk looks at it.
pub(crate) fn ready_of<'s>(
    snapshot: &'s Snapshot,
    key: &[u8],
    only: Option<&str>,
) -> Option<&'s Ready> {
    let ready = snapshot.namespace_of(key)?;
    only.is_none_or(|name| ready.namespace().name == name).then_some(ready)
}

/// Checks that the namespaces of a walk exist and fit the store.
pub(crate) fn check(store: &dyn Store, live: &Live, only: Option<&str>) -> Result<(), WalkError> {
    let snapshot = live.snapshot();
    let names = || snapshot.namespaces().iter().map(|ready| ready.namespace().name.clone());
    let is_there = match only {
        Some(name) => names().any(|known| known == name),
        None => names().next().is_some(),
    };
    if !is_there {
        let known = names().collect::<Vec<_>>().join(", ");
        let known = if known.is_empty() { "none".to_owned() } else { known };
        return Err(WalkError::NoNamespace { name: only.unwrap_or("*").to_owned(), known });
    }
    let in_question = |ready: &&Ready| only.is_none_or(|name| ready.namespace().name == name);
    for ready in snapshot.namespaces().iter().filter(in_question) {
        let namespace = ready.namespace();
        if store.shape().slots == Slots::One && namespace.slots() == NamespaceSlots::Two {
            return Err(WalkError::Slots {
                namespace: namespace.name.clone(),
                store: store.name().to_owned(),
            });
        }
    }
    Ok(())
}
