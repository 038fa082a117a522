//! A cache in front of a persistent copy, as the cart service has it: MongoDB or Redis before SQL,
//! a version stamp on both, and the application's own computation behind them.
//!
//! A read asks for a payload that is at least of some stamp, which the application knows from
//! elsewhere (a session, a token, the database's own row). A cache that is older, missing, broken
//! or unreachable costs a read of the persistent copy and nothing else; a persistent copy that is
//! older, as that of a lagging replica, is computed anew by the application. What many ask for at
//! once is fetched once.
//!
//! Writes go to the persistent copy first. A cache that can't be written then is counted and is no
//! error: it holds an older stamp, which every reader that says what it needs recognises. The
//! window that remains is of readers that ask for nothing (`Stamp(0)`): they may get an older
//! payload from the cache until it expires there, is written again, or somebody asks for the newer
//! stamp. It opens when a cache write fails after the persistent one, or when a reader that was
//! slow between its persistent read and its cache write finds the newer entry evicted in between.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use cinch_rollout::Stamp;
use cinch_rollout::gate::Read;

use crate::client::{Client, ClientError};
use crate::stamp::stamp_of;
use crate::store::{Condition, Expiry, PutOutcome, Slots};

mod counts;
mod flights;
#[cfg(test)]
mod tests;

pub use counts::TieredCounts;

use counts::Counters;
use flights::{Flights, Joined};

/// How many keys are fetched at once unless somebody says otherwise; each holds a payload.
const FLIGHTS_MAX_DEFAULT: usize = 1_024;

/// How many callers wait for one key unless somebody says otherwise.
const WAITERS_MAX_DEFAULT: usize = 10_000;

/// How long a fetch may take with its computation unless somebody says otherwise, in milliseconds.
const FETCH_MS_MAX_DEFAULT: u64 = 10_000;

/// How long a failure answers for a key unless somebody says otherwise, in milliseconds.
const FAILURE_PAUSE_MS_DEFAULT: u64 = 100;

/// How often a caller joins a fetch that turns out to be for an older stamp than it needs.
const JOINS_MAX: u32 = 4;

/// How often a cache without a place for stamps is tried that others write at the same time.
const FILLS_MAX: u32 = 3;

/// What an application's computation may fail with.
pub type RecomputeError = Box<dyn Error + Send + Sync>;

/// A cache in front of a persistent copy. Clones are the same tiers.
#[derive(Clone)]
pub struct Tiered {
    shared: Arc<Shared>,
}

/// How the tiers work together.
#[derive(Debug, Clone, Copy)]
pub struct TieredOptions {
    /// How long a cached payload lives, in milliseconds; `None` keeps what the cache does by
    /// itself. It bounds the window that the module's text describes.
    pub cache_ms: Option<u64>,
    /// How many keys are fetched at once; more callers get [`TieredError::Busy`].
    pub flights_max: usize,
    /// How many callers wait for one key; more get [`TieredError::Busy`].
    pub waiters_max: usize,
    /// How long a fetch may take with its computation, in milliseconds.
    pub fetch_ms_max: u64,
    /// How long a failed fetch answers for its key before it is tried again, in milliseconds: what
    /// is down already must not be asked by everybody at once.
    pub failure_pause_ms: u64,
}

impl Default for TieredOptions {
    fn default() -> TieredOptions {
        TieredOptions {
            cache_ms: None,
            flights_max: FLIGHTS_MAX_DEFAULT,
            waiters_max: WAITERS_MAX_DEFAULT,
            fetch_ms_max: FETCH_MS_MAX_DEFAULT,
            failure_pause_ms: FAILURE_PAUSE_MS_DEFAULT,
        }
    }
}

/// A payload that the application computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fresh {
    /// The payload.
    pub payload: Bytes,
    /// Its version.
    pub stamp: Stamp,
}

/// A payload that was found or computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// The payload, shared by all who waited for it.
    pub payload: Bytes,
    /// Its version, where one is known.
    pub stamp: Option<Stamp>,
    /// Where it is from.
    pub origin: Origin,
}

/// Where a payload is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The cache.
    Cache,
    /// The persistent copy.
    Persistent,
    /// The application's computation.
    Recomputed,
}

/// What became of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// It is the persistent copy now.
    Written,
    /// The persistent copy is newer or has the same stamp with another payload; nothing was
    /// written.
    Superseded,
}

/// Why the tiers have no answer.
#[derive(Debug, Clone, thiserror::Error)]
pub enum TieredError {
    /// A tier has no place for stamps, without which an old copy can't be told.
    #[error("{store} has no place for a version stamp: give its table or collection one")]
    NoStamp {
        /// The store's name.
        store: String,
    },
    /// The persistent copy can't be read or written.
    #[error(transparent)]
    Persistent(#[from] ClientError),
    /// The cache can't be emptied of what was removed.
    #[error("the cache still holds what was removed; remove it again: {0}")]
    Cache(ClientError),
    /// The application's computation failed.
    #[error("the payload could not be computed: {0}")]
    Recompute(String),
    /// The application computed an older payload than was asked for.
    #[error("version {got} was computed, {wanted} was asked for", wanted = .wanted.0, got = .got.0)]
    TooOld {
        /// What was asked for.
        wanted: Stamp,
        /// What came.
        got: Stamp,
    },
    /// Too many fetches are going on.
    #[error("too many {0}; try again")]
    Busy(&'static str),
    /// The application's computation panicked.
    #[error("the computation of the payload panicked")]
    Panicked,
    /// The fetch took too long.
    #[error("the payload was not there within {limit_ms} ms")]
    TimedOut {
        /// The limit in milliseconds.
        limit_ms: u64,
    },
}

struct Shared {
    cache: Client,
    persistent: Client,
    options: TieredOptions,
    flights: Flights,
    counts: Counters,
}

impl Tiered {
    /// The tiers of two clients, each with the policy of its own namespaces.
    ///
    /// # Errors
    /// [`TieredError::NoStamp`] where the persistent copy has no place for stamps, or the cache has
    /// two slots and none. In a cache with one slot stamps travel in the value, where the policy
    /// writes packed; written plain it serves only readers that ask for `Stamp(0)`.
    pub fn new(
        cache: Client,
        persistent: Client,
        options: TieredOptions,
    ) -> Result<Tiered, TieredError> {
        let persistent_shape = persistent.store().shape();
        let cache_shape = cache.store().shape();
        let no_stamp =
            |client: &Client| TieredError::NoStamp { store: client.store().name().to_owned() };
        if !persistent_shape.has_stamp {
            return Err(no_stamp(&persistent));
        }
        if !cache_shape.has_stamp && cache_shape.slots == Slots::Two {
            return Err(no_stamp(&cache));
        }
        let flights = Flights::new(options.flights_max, options.waiters_max);
        let counts = Counters::default();
        Ok(Tiered { shared: Arc::new(Shared { cache, persistent, options, flights, counts }) })
    }

    /// The payload under a key that is at least of a stamp; `recompute` makes it where neither tier
    /// has it, and `None` says that there is none.
    ///
    /// # Errors
    /// [`TieredError`]; never because of the cache. A persistent copy that can't be read is an
    /// error and is not computed anew: it may be newer than what would replace it.
    pub async fn get<F, R>(
        &self,
        key: &[u8],
        at_least: Stamp,
        recompute: F,
    ) -> Result<Option<Fetched>, TieredError>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Future<Output = Result<Option<Fresh>, RecomputeError>> + Send + 'static,
    {
        let shared = &self.shared;
        if let Some(hit) = shared.cached(key, at_least).await {
            return Ok(Some(hit));
        }
        let mut recompute = Some(recompute);
        for _ in 0..JOINS_MAX {
            let waiter = match shared.flights.join(key)? {
                Joined::Waiter(waiter) => waiter,
                Joined::First(seat, waiter) => {
                    let Some(recompute) = recompute.take() else {
                        return Err(TieredError::Busy("fetches of this key"));
                    };
                    let owned = Arc::clone(shared);
                    let fetched = async move {
                        let key = seat.key().to_owned();
                        let work = Arc::clone(&owned);
                        let fetch = async move { work.fetch(&key, at_least, recompute).await };
                        let limit = Duration::from_millis(owned.options.fetch_ms_max);
                        let pause = Duration::from_millis(owned.options.failure_pause_ms);
                        seat.fly(fetch, limit, pause).await;
                    };
                    // On a task of its own: a caller that gives up takes no other down with it.
                    tokio::spawn(fetched);
                    waiter
                }
            };
            match waiter.outcome().await {
                Ok(Some(fetched)) if fetched.stamp.unwrap_or_default() < at_least => {}
                Err(TieredError::TooOld { wanted, .. }) if wanted > at_least => {}
                outcome => return outcome,
            }
        }
        Err(TieredError::Busy("fetches of this key"))
    }

    /// Stores a payload: the persistent copy first, then the cache, each only over what is older.
    ///
    /// # Errors
    /// [`TieredError::Persistent`]; after an unreachable store it may have been written or not, and
    /// writing the same again is safe.
    pub async fn put(
        &self,
        key: &[u8],
        payload: impl Into<Bytes>,
        stamp: Stamp,
    ) -> Result<Stored, TieredError> {
        let (shared, payload) = (&self.shared, payload.into());
        let condition = Condition::OlderThan(stamp);
        let persistent = &shared.persistent;
        let outcome =
            persistent.put(key, payload.clone(), Some(stamp), &condition, Expiry::Keep).await?;
        if outcome == PutOutcome::ConditionFailed && !shared.has(key, &payload, stamp).await? {
            return Ok(Stored::Superseded);
        }
        shared.fill(key, &payload, Some(stamp)).await;
        Ok(Stored::Written)
    }

    /// Removes what is stored under a key, from the persistent copy first.
    ///
    /// # Errors
    /// [`TieredError::Persistent`]; [`TieredError::Cache`] where the cache may still hold it, since
    /// there is no newer stamp that would give it away.
    pub async fn remove(&self, key: &[u8]) -> Result<(), TieredError> {
        self.shared.persistent.delete(key, &Condition::Always).await?;
        let removed = self.shared.cache.delete(key, &Condition::Always).await;
        removed.map(|_| ()).map_err(TieredError::Cache)
    }

    /// What happened so far.
    pub fn counts(&self) -> TieredCounts {
        let shared = &self.shared;
        let (flights, waiters) = shared.flights.in_the_air();
        shared.counts.now(flights, waiters)
    }
}

impl Shared {
    /// The cached payload, if it can be read and is new enough.
    async fn cached(&self, key: &[u8], at_least: Stamp) -> Option<Fetched> {
        match self.cache.get(key).await {
            Ok(got) => {
                let Some(found) = got.and_then(|got| fetched(got, Origin::Cache)) else {
                    self.counts.cache_misses();
                    return None;
                };
                if found.stamp.unwrap_or_default() < at_least {
                    self.counts.cache_stale();
                    return None;
                }
                self.counts.cache_hits();
                Some(found)
            }
            Err(ClientError::Undecodable { .. }) => {
                self.counts.cache_unreadable();
                None
            }
            Err(_) => {
                self.counts.cache_failures();
                None
            }
        }
    }

    /// What happens once for all who wait for a key.
    async fn fetch<F, R>(
        &self,
        key: &[u8],
        at_least: Stamp,
        recompute: F,
    ) -> Result<Option<Fetched>, TieredError>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Future<Output = Result<Option<Fresh>, RecomputeError>> + Send + 'static,
    {
        if let Some(found) = self.persisted(key).await? {
            if found.stamp.unwrap_or_default() >= at_least {
                self.counts.persistent_hits();
                self.fill(key, &found.payload, found.stamp).await;
                return Ok(Some(found));
            }
            self.counts.persistent_lagging();
        }
        self.counts.recomputed();
        let fresh = recompute().await.map_err(|error| TieredError::Recompute(error.to_string()))?;
        let Some(Fresh { payload, stamp }) = fresh else { return Ok(None) };
        if stamp < at_least {
            return Err(TieredError::TooOld { wanted: at_least, got: stamp });
        }
        let condition = Condition::OlderThan(stamp);
        let put =
            self.persistent.put(key, payload.clone(), Some(stamp), &condition, Expiry::Keep).await;
        match put {
            Ok(PutOutcome::Written) => self.fill(key, &payload, Some(stamp)).await,
            Ok(PutOutcome::ConditionFailed) => {
                // Somebody else wrote it, or something newer, which is then the better answer.
                let found = self.persisted(key).await?;
                if let Some(found) = found.filter(|found| found.stamp >= Some(stamp)) {
                    self.fill(key, &found.payload, found.stamp).await;
                    return Ok(Some(found));
                }
            }
            // Whoever waits has a payload that is right. It is not cached, so that the cache never
            // holds what the persistent copy does not.
            Err(_) => self.counts.persistent_failures(),
        }
        Ok(Some(Fetched { payload, stamp: Some(stamp), origin: Origin::Recomputed }))
    }

    async fn persisted(&self, key: &[u8]) -> Result<Option<Fetched>, TieredError> {
        match self.persistent.get(key).await {
            Ok(got) => Ok(got.and_then(|got| fetched(got, Origin::Persistent))),
            Err(error) => {
                self.counts.persistent_failures();
                Err(error.into())
            }
        }
    }

    /// Whether the persistent copy is exactly this: a write that is repeated finds its own.
    async fn has(&self, key: &[u8], payload: &[u8], stamp: Stamp) -> Result<bool, TieredError> {
        let found = self.persisted(key).await?;
        Ok(found.is_some_and(|found| found.stamp == Some(stamp) && found.payload == payload))
    }

    /// Puts a payload into the cache, unless what is there is as new. A failure is counted.
    async fn fill(&self, key: &[u8], payload: &Bytes, stamp: Option<Stamp>) {
        let result = match (stamp, self.cache.store().shape().has_stamp) {
            (Some(stamp), true) => {
                self.cache_put(key, payload, Some(stamp), &Condition::OlderThan(stamp)).await
            }
            (Some(stamp), false) => self.fill_unguarded(key, payload, stamp).await,
            // Nobody knows whether it is newer than what is there.
            (None, _) => self.cache_put(key, payload, None, &Condition::Absent).await,
        };
        if result.is_err() {
            self.counts.cache_failures();
        }
    }

    /// A cache that can't compare stamps itself: what is there is read and replaced exactly.
    async fn fill_unguarded(
        &self,
        key: &[u8],
        payload: &Bytes,
        stamp: Stamp,
    ) -> Result<PutOutcome, ClientError> {
        let store = self.cache.store();
        for _ in 0..FILLS_MAX {
            let condition = match store.get(key).await? {
                None => Condition::Absent,
                Some(found) if stamp_of(&found.record, &store.shape()) >= Some(stamp) => {
                    return Ok(PutOutcome::ConditionFailed);
                }
                Some(found) => Condition::Is(found.version),
            };
            let outcome = self.cache_put(key, payload, Some(stamp), &condition).await?;
            if outcome == PutOutcome::Written {
                return Ok(outcome);
            }
        }
        // Nobody knows what the others left there; a cache without an entry is never wrong.
        self.cache.delete(key, &Condition::Always).await
    }

    async fn cache_put(
        &self,
        key: &[u8],
        payload: &Bytes,
        stamp: Option<Stamp>,
        condition: &Condition,
    ) -> Result<PutOutcome, ClientError> {
        let has_expiry = self.cache.store().shape().has_expiry;
        let expiry = match self.options.cache_ms {
            Some(milliseconds) if has_expiry => Expiry::InMs(milliseconds),
            _ => Expiry::Keep,
        };
        self.cache.put(key, payload.clone(), stamp, condition, expiry).await
    }
}

fn fetched(read: Read, origin: Origin) -> Option<Fetched> {
    Some(Fetched { payload: read.payload?, stamp: read.stamp, origin })
}
