//! One fetch for all who ask for a key at once, with a bound on keys and on callers.
//!
//! A fetch runs on a task of its own and its outcome goes to everybody who waits, whatever it is:
//! a payload, an error, a panic or the end of the time it had. A failure stays for a moment, so
//! that those who come right after it do not all try again.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::{Fetched, TieredError};

type Outcome = Result<Option<Fetched>, TieredError>;

/// The fetches that are going on.
pub(super) struct Flights {
    by_key: Arc<Mutex<ByKey>>,
    waiters: Arc<AtomicUsize>,
    flights_max: usize,
    waiters_max: usize,
}

type ByKey = HashMap<Vec<u8>, Flight>;

struct Flight {
    outcome: watch::Receiver<Option<Outcome>>,
    waiters: Arc<AtomicUsize>,
}

/// What a caller is for a key.
pub(super) enum Joined {
    /// The one that fetches, and waits like the others.
    First(Seat, Waiter),
    /// One that waits.
    Waiter(Waiter),
}

/// The right to fetch a key; when it is dropped the next caller may.
pub(super) struct Seat {
    key: Vec<u8>,
    by_key: Arc<Mutex<ByKey>>,
    outcome: watch::Sender<Option<Outcome>>,
    has_left: bool,
}

/// A caller that waits.
pub(super) struct Waiter {
    outcome: watch::Receiver<Option<Outcome>>,
    /// Those of the key, and all.
    counted: [Arc<AtomicUsize>; 2],
}

impl Flights {
    pub(super) fn new(flights_max: usize, waiters_max: usize) -> Flights {
        let (by_key, waiters) = (Arc::default(), Arc::default());
        Flights { by_key, waiters, flights_max, waiters_max }
    }

    /// Joins the fetch of a key, or begins it.
    pub(super) fn join(&self, key: &[u8]) -> Result<Joined, TieredError> {
        let mut by_key = lock(&self.by_key);
        let is_full = by_key.len() >= self.flights_max;
        match by_key.entry(key.to_vec()) {
            Entry::Occupied(entry) => {
                let flight = entry.get();
                if flight.waiters.load(Ordering::Relaxed) >= self.waiters_max {
                    return Err(TieredError::Busy("callers wait for this key"));
                }
                let waiter = Waiter::new(flight.outcome.clone(), &flight.waiters, &self.waiters);
                Ok(Joined::Waiter(waiter))
            }
            Entry::Vacant(_) if is_full => Err(TieredError::Busy("keys are being fetched")),
            Entry::Vacant(entry) => {
                let (sender, outcome) = watch::channel(None);
                let waiters = Arc::default();
                let waiter = Waiter::new(outcome.clone(), &waiters, &self.waiters);
                entry.insert(Flight { outcome, waiters });
                let by_key = Arc::clone(&self.by_key);
                let seat = Seat { key: key.to_vec(), by_key, outcome: sender, has_left: false };
                Ok(Joined::First(seat, waiter))
            }
        }
    }

    /// How many keys are being fetched, and how many callers wait.
    pub(super) fn in_the_air(&self) -> (usize, usize) {
        (lock(&self.by_key).len(), self.waiters.load(Ordering::Relaxed))
    }
}

fn lock(by_key: &Mutex<ByKey>) -> MutexGuard<'_, ByKey> {
    // A panic while it was held leaves whole entries: one insert or remove is all that happens.
    by_key.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Seat {
    pub(super) fn key(&self) -> &[u8] {
        &self.key
    }

    /// Fetches within a limit and tells everybody what came of it. A failure answers for the key
    /// until the pause is over.
    pub(super) async fn fly(
        mut self,
        fetch: impl Future<Output = Outcome> + Send + 'static,
        limit: Duration,
        pause: Duration,
    ) {
        // A set, because it ends its task when it is dropped.
        let mut task = JoinSet::new();
        task.spawn(fetch);
        let outcome = match timeout(limit, task.join_next()).await {
            Err(_) => Err(TieredError::TimedOut { limit_ms: limit.as_millis() as u64 }),
            Ok(Some(Ok(outcome))) => outcome,
            Ok(Some(Err(_)) | None) => Err(TieredError::Panicked),
        };
        drop(task);
        let has_failed = outcome.is_err();
        if !has_failed {
            // Before anybody knows what came of it: who is told and asks again, for a later stamp,
            // must not meet the flight that it has just left.
            self.leave();
        }
        self.outcome.send_replace(Some(outcome));
        if has_failed {
            sleep(pause).await;
        }
    }
}

impl Seat {
    /// Frees the key, once: another flight may have taken it since.
    fn leave(&mut self) {
        if !self.has_left {
            self.has_left = true;
            lock(&self.by_key).remove(&self.key);
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.leave();
    }
}

impl Waiter {
    fn new(
        outcome: watch::Receiver<Option<Outcome>>,
        of_key: &Arc<AtomicUsize>,
        of_all: &Arc<AtomicUsize>,
    ) -> Waiter {
        let counted = [Arc::clone(of_key), Arc::clone(of_all)];
        counted.iter().for_each(|count| {
            count.fetch_add(1, Ordering::Relaxed);
        });
        Waiter { outcome, counted }
    }

    /// What came of the fetch.
    pub(super) async fn outcome(mut self) -> Outcome {
        match self.outcome.wait_for(Option::is_some).await {
            Ok(outcome) => outcome.clone().unwrap_or(Err(TieredError::Panicked)),
            Err(_) => Err(TieredError::Panicked),
        }
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        self.counted.iter().for_each(|count| {
            count.fetch_sub(1, Ordering::Relaxed);
        });
    }
}
