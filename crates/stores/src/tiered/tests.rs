//! The tiers when everything works, when a tier is down, stale, unreadable or lagging, and when a
//! thousand callers come at once.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use cinch_rollout::Record;
use cinch_rollout::live::Live;
use cinch_rollout::settings::Sources;
use tokio::sync::Notify;

use super::*;
use crate::error::StoreError;
use crate::faults::{Fault, FaultyStore};
use crate::memory::MemoryStore;
use crate::store::{Found, Page, Shape, Store};

const PACKED: &str = "write = \"packed\"\n";
const LEAN: &str = "write_mode = \"COMPRESS_ONLY\"\nread_mode = \"COMPRESS_ONLY\"\n";

fn live(settings: &str) -> Arc<Live> {
    let text = format!("[namespaces.carts]\nkeys = [\"cart:*\"]\n{settings}");
    let sources = Sources { text, ..Sources::default() };
    Arc::new(Live::new(sources.configuration().unwrap()))
}

/// A store in memory that can be down, and that may have no place for stamps, as Redis has none.
struct Tier {
    inner: MemoryStore,
    has_stamp: bool,
    is_down: AtomicBool,
    /// What reads see instead, as those of a replica that lags.
    replica: Mutex<Option<Option<Found>>>,
}

impl Tier {
    fn new(slots: Slots, has_stamp: bool) -> Arc<Tier> {
        let (inner, is_down) = (MemoryStore::new(slots), AtomicBool::new(false));
        Arc::new(Tier { inner, has_stamp, is_down, replica: Mutex::new(None) })
    }

    fn set_down(&self, is_down: bool) {
        self.is_down.store(is_down, Ordering::SeqCst);
    }

    /// Lets reads see what is there now, from now on.
    async fn freeze(&self, key: &[u8]) {
        let now = self.inner.get(key).await.unwrap();
        *self.replica.lock().unwrap() = Some(now);
    }

    fn check(&self) -> Result<(), StoreError> {
        match self.is_down.load(Ordering::SeqCst) {
            false => Ok(()),
            true => {
                let (store, message) = (self.name().to_owned(), "down".to_owned());
                Err(StoreError::Unreachable { store, message })
            }
        }
    }
}

#[async_trait]
impl Store for Tier {
    fn shape(&self) -> Shape {
        Shape { has_stamp: self.has_stamp, ..self.inner.shape() }
    }

    fn name(&self) -> &str {
        "tier:"
    }

    async fn get(&self, key: &[u8]) -> Result<Option<Found>, StoreError> {
        self.check()?;
        let replica = self.replica.lock().unwrap().clone();
        match replica {
            Some(found) => Ok(found),
            None => self.inner.get(key).await,
        }
    }

    async fn put(
        &self,
        key: &[u8],
        record: &Record,
        condition: &Condition,
        expiry: Expiry,
    ) -> Result<PutOutcome, StoreError> {
        self.check()?;
        let is_stamped = record.stamp.is_some() || matches!(condition, Condition::OlderThan(_));
        if is_stamped && !self.has_stamp {
            let (store, what) = (self.name().to_owned(), "keep a stamp".to_owned());
            return Err(StoreError::Unsupported { store, what });
        }
        self.inner.put(key, record, condition, expiry).await
    }

    async fn delete(&self, key: &[u8], condition: &Condition) -> Result<PutOutcome, StoreError> {
        self.check()?;
        self.inner.delete(key, condition).await
    }

    async fn scan(&self, from: Option<&[u8]>, limit: usize) -> Result<Page, StoreError> {
        self.inner.scan(from, limit).await
    }
}

/// Tiers as they are met: a cache with or without a place for stamps before a table.
struct Fixture {
    cache: Arc<Tier>,
    persistent: Arc<Tier>,
    tiered: Tiered,
}

fn fixture(cache_has_stamp: bool) -> Fixture {
    let cache = Tier::new(if cache_has_stamp { Slots::Two } else { Slots::One }, cache_has_stamp);
    let persistent = Tier::new(Slots::Two, true);
    let settings = if cache_has_stamp { LEAN } else { PACKED };
    let client = |tier: &Arc<Tier>, settings| {
        Client::new(Arc::clone(tier) as Arc<dyn Store>, live(settings))
    };
    let (front, back) = (client(&cache, settings), client(&persistent, LEAN));
    let tiered = Tiered::new(front, back, TieredOptions::default()).unwrap();
    Fixture { cache, persistent, tiered }
}

const KEY: &[u8] = b"cart:1";

fn cart(version: u64) -> Vec<u8> {
    let item = r#"{"sku":"SKU-1","title":"A thing","price":12.50},"#;
    format!(r#"{{"version":{version},"items":[{}{{}}]}}"#, item.repeat(9)).into_bytes()
}

/// A computation that must not be needed.
async fn never() -> Result<Option<Fresh>, RecomputeError> {
    panic!("nothing had to be computed")
}

fn computed(version: u64) -> Result<Option<Fresh>, RecomputeError> {
    Ok(Some(Fresh { payload: cart(version).into(), stamp: Stamp(version) }))
}

#[track_caller]
fn assert_is(fetched: Option<Fetched>, version: u64, origin: Origin) {
    let fetched = fetched.expect("a payload");
    assert_eq!((&fetched.payload[..], fetched.origin), (&cart(version)[..], origin));
    assert_eq!(fetched.stamp, Some(Stamp(version)));
}

#[tokio::test]
async fn a_read_goes_as_far_as_it_must_and_fills_what_it_passed() {
    for has_stamp in [true, false] {
        let Fixture { cache, tiered, .. } = fixture(has_stamp);
        let none = tiered.get(KEY, Stamp(0), async || Ok(None)).await.unwrap();
        assert_eq!(none, None);
        let got = tiered.get(KEY, Stamp(3), async || computed(3)).await.unwrap();
        assert_is(got, 3, Origin::Recomputed);
        assert_is(tiered.get(KEY, Stamp(3), never).await.unwrap(), 3, Origin::Cache);
        cache.inner.delete(KEY, &Condition::Always).await.unwrap();
        assert_is(tiered.get(KEY, Stamp(3), never).await.unwrap(), 3, Origin::Persistent);
        assert_is(tiered.get(KEY, Stamp(3), never).await.unwrap(), 3, Origin::Cache);
        assert_eq!(tiered.put(KEY, cart(5), Stamp(5)).await.unwrap(), Stored::Written);
        assert_is(tiered.get(KEY, Stamp(5), never).await.unwrap(), 5, Origin::Cache);
        tiered.remove(KEY).await.unwrap();
        assert_eq!(tiered.get(KEY, Stamp(0), async || Ok(None)).await.unwrap(), None);
    }
}

#[tokio::test]
async fn an_older_write_never_replaces_a_newer_one_in_either_tier() {
    for has_stamp in [true, false] {
        let Fixture { cache, tiered, .. } = fixture(has_stamp);
        tiered.put(KEY, cart(7), Stamp(7)).await.unwrap();
        assert_eq!(tiered.put(KEY, cart(6), Stamp(6)).await.unwrap(), Stored::Superseded);
        assert_is(tiered.get(KEY, Stamp(0), never).await.unwrap(), 7, Origin::Cache);
        // The same write again, after an answer that was lost.
        assert_eq!(tiered.put(KEY, cart(7), Stamp(7)).await.unwrap(), Stored::Written);
        assert_eq!(tiered.put(KEY, cart(8), Stamp(7)).await.unwrap(), Stored::Superseded);
        // A cache that is ahead of what a slow reader brings.
        cache.freeze(KEY).await;
        *cache.replica.lock().unwrap() = None;
        tiered.shared.fill(KEY, &cart(2).into(), Some(Stamp(2))).await;
        assert_is(tiered.get(KEY, Stamp(0), never).await.unwrap(), 7, Origin::Cache);
    }
}

#[tokio::test]
async fn a_cache_that_is_down_costs_a_read_of_the_persistent_copy() {
    for has_stamp in [true, false] {
        let Fixture { cache, tiered, .. } = fixture(has_stamp);
        tiered.put(KEY, cart(1), Stamp(1)).await.unwrap();
        cache.set_down(true);
        assert_eq!(tiered.put(KEY, cart(2), Stamp(2)).await.unwrap(), Stored::Written);
        assert_is(tiered.get(KEY, Stamp(0), never).await.unwrap(), 2, Origin::Persistent);
        assert!(tiered.counts().cache_failures >= 2);
        cache.set_down(false);
        // The window: who asks for nothing gets what the cache missed; who asks does not.
        assert_is(tiered.get(KEY, Stamp(0), never).await.unwrap(), 1, Origin::Cache);
        assert_is(tiered.get(KEY, Stamp(2), never).await.unwrap(), 2, Origin::Persistent);
        assert_is(tiered.get(KEY, Stamp(0), never).await.unwrap(), 2, Origin::Cache);
    }
}

/// Every call of the cache is lost once, on the way there and on the way back.
#[tokio::test]
async fn no_lost_call_of_a_cache_fails_a_caller_or_brings_back_what_is_old() {
    let (mut lost, mut calls) = (0, 1);
    while lost < calls {
        for fault in [Fault::Before, Fault::After] {
            let cache = Tier::new(Slots::One, false) as Arc<dyn Store>;
            let faulty = Arc::new(FaultyStore::new(cache));
            faulty.plan(lost, fault);
            let persistent = Tier::new(Slots::Two, true);
            let front = Client::new(Arc::clone(&faulty) as Arc<dyn Store>, live(PACKED));
            let back = Client::new(persistent as Arc<dyn Store>, live(LEAN));
            let tiered = Tiered::new(front, back, TieredOptions::default()).unwrap();
            for version in 1..4 {
                tiered.put(KEY, cart(version), Stamp(version)).await.unwrap();
                let got = tiered.get(KEY, Stamp(version), never).await.unwrap().unwrap();
                assert_eq!(
                    (&got.payload[..], got.stamp),
                    (&cart(version)[..], Some(Stamp(version)))
                );
            }
            calls = faulty.calls();
        }
        lost += 1;
    }
    assert!(lost >= 9, "{lost}");
}

#[tokio::test]
async fn a_persistent_copy_that_is_down_is_an_error_and_is_not_computed_anew() {
    let Fixture { cache, persistent, tiered } = fixture(true);
    tiered.put(KEY, cart(1), Stamp(1)).await.unwrap();
    persistent.set_down(true);
    assert_is(tiered.get(KEY, Stamp(1), never).await.unwrap(), 1, Origin::Cache);
    let refused = tiered.get(KEY, Stamp(2), never).await;
    assert!(matches!(refused, Err(TieredError::Persistent(_))), "{refused:?}");
    let refused = tiered.put(KEY, cart(2), Stamp(2)).await;
    assert!(matches!(refused, Err(TieredError::Persistent(_))));
    let cached = cache.inner.get(KEY).await.unwrap().unwrap().record.stamp;
    assert_eq!(cached, Some(Stamp(1)), "the cache never has what the persistent copy has not");
}

#[tokio::test]
async fn a_replica_that_lags_is_recognised_and_overwrites_nothing() {
    let Fixture { cache, persistent, tiered } = fixture(true);
    tiered.put(KEY, cart(1), Stamp(1)).await.unwrap();
    persistent.freeze(KEY).await;
    tiered.put(KEY, cart(4), Stamp(4)).await.unwrap();
    cache.inner.delete(KEY, &Condition::Always).await.unwrap();
    let got = tiered.get(KEY, Stamp(4), async || computed(4)).await.unwrap();
    assert_is(got, 4, Origin::Recomputed);
    let counts = tiered.counts();
    assert_eq!((counts.persistent_lagging, counts.recomputed), (1, 1));
    let old = tiered.get(KEY, Stamp(6), async || computed(5)).await;
    assert!(matches!(old, Err(TieredError::TooOld { .. })));
    let primary = persistent.inner.get(KEY).await.unwrap().unwrap().record.stamp;
    assert_eq!(primary, Some(Stamp(4)));
}

#[tokio::test]
async fn what_can_not_be_read_is_fetched_from_behind_and_never_overwritten_there() {
    let Fixture { cache, persistent, tiered } = fixture(false);
    tiered.put(KEY, cart(1), Stamp(1)).await.unwrap();
    let mut record = cache.inner.get(KEY).await.unwrap().unwrap().record;
    let mut value = record.raw.unwrap().to_vec();
    *value.last_mut().unwrap() ^= 1;
    record.raw = Some(value.into());
    cache.inner.put(KEY, &record, &Condition::Always, Expiry::Keep).await.unwrap();
    assert_is(tiered.get(KEY, Stamp(1), never).await.unwrap(), 1, Origin::Persistent);
    assert_eq!(tiered.counts().cache_unreadable, 1);
    let mut broken = persistent.inner.get(KEY).await.unwrap().unwrap().record;
    broken.packed.as_mut().unwrap().metadata.codec = "NEXT".to_owned();
    persistent.inner.put(KEY, &broken, &Condition::Always, Expiry::Keep).await.unwrap();
    let refused = tiered.get(KEY, Stamp(2), never).await;
    assert!(matches!(refused, Err(TieredError::Persistent(_))));
    let left = persistent.inner.get(KEY).await.unwrap().unwrap().record;
    assert_eq!(left, broken);
}

/// Starts callers of one key whose computation waits until all of them are there.
async fn stampede(
    tiered: &Tiered,
    callers: usize,
    calls: &Arc<AtomicUsize>,
    result: fn() -> Result<Option<Fresh>, RecomputeError>,
) -> Vec<Result<Option<Fetched>, TieredError>> {
    let gate = Arc::new(Notify::new());
    let tasks: Vec<_> = (0..callers)
        .map(|_| {
            let (tiered, calls) = (tiered.clone(), Arc::clone(calls));
            let gate = Arc::clone(&gate);
            tokio::spawn(async move {
                let recompute = async move || {
                    calls.fetch_add(1, Ordering::SeqCst);
                    gate.notified().await;
                    result()
                };
                tiered.get(KEY, Stamp(1), recompute).await
            })
        })
        .collect();
    while tiered.counts().waiters < callers {
        tokio::task::yield_now().await;
    }
    assert_eq!(tiered.counts().flights, 1);
    gate.notify_waiters();
    let mut outcomes = Vec::new();
    for task in tasks {
        outcomes.push(task.await.unwrap());
    }
    outcomes
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_thousand_callers_of_a_cold_key_compute_it_once() {
    let Fixture { tiered, .. } = fixture(false);
    let calls = Arc::default();
    for outcome in stampede(&tiered, 1_000, &calls, || computed(1)).await {
        assert_is(outcome.unwrap(), 1, Origin::Recomputed);
    }
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    assert_eq!((tiered.counts().waiters, tiered.counts().flights), (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_failure_frees_all_who_wait_and_holds_for_a_moment() {
    for result in [
        (|| Err("the rules are down".into())) as fn() -> Result<Option<Fresh>, RecomputeError>,
        || panic!("a bug in the rules"),
    ] {
        let mut fixture = fixture(true);
        let options = TieredOptions { failure_pause_ms: 60_000, ..TieredOptions::default() };
        let shared = Arc::into_inner(fixture.tiered.shared).unwrap();
        fixture.tiered = Tiered::new(shared.cache, shared.persistent, options).unwrap();
        let calls = Arc::default();
        for outcome in stampede(&fixture.tiered, 1_000, &calls, result).await {
            let error = outcome.unwrap_err();
            assert!(
                matches!(&error, TieredError::Recompute(said) if said.contains("rules"))
                    || matches!(error, TieredError::Panicked),
                "{error}"
            );
        }
        assert_eq!(calls.load(Ordering::SeqCst), 1);
        let late = fixture.tiered.get(KEY, Stamp(1), never).await;
        assert!(late.is_err(), "what is down is not asked again at once");
        // Another way to the payload is open all the same.
        fixture.tiered.put(KEY, cart(1), Stamp(1)).await.unwrap();
        assert_is(fixture.tiered.get(KEY, Stamp(1), never).await.unwrap(), 1, Origin::Cache);
    }
}

#[tokio::test(start_paused = true)]
async fn the_pause_ends_and_a_fetch_has_only_so_long() {
    let Fixture { tiered, .. } = fixture(true);
    let slow = async || std::future::pending().await;
    let late = tiered.get(KEY, Stamp(1), slow).await;
    assert!(matches!(late, Err(TieredError::TimedOut { limit_ms: 10_000 })));
    assert!(matches!(tiered.get(KEY, Stamp(1), never).await, Err(TieredError::TimedOut { .. })));
    tokio::time::sleep(Duration::from_millis(FAILURE_PAUSE_MS_DEFAULT + 1)).await;
    let got = tiered.get(KEY, Stamp(1), async || computed(1)).await.unwrap();
    assert_is(got, 1, Origin::Recomputed);
}

#[tokio::test]
async fn fetches_and_callers_are_bounded() {
    let Fixture { tiered, .. } = fixture(true);
    let shared = Arc::into_inner(tiered.shared).unwrap();
    let options = TieredOptions { flights_max: 1, waiters_max: 2, ..TieredOptions::default() };
    let tiered = Tiered::new(shared.cache, shared.persistent, options).unwrap();
    let open = Arc::new(Notify::new());
    let callers: Vec<_> = (0..2)
        .map(|_| {
            let (tiered, open) = (tiered.clone(), Arc::clone(&open));
            tokio::spawn(async move {
                let recompute = async move || {
                    open.notified().await;
                    computed(1)
                };
                tiered.get(KEY, Stamp(1), recompute).await
            })
        })
        .collect();
    while tiered.counts().waiters < 2 {
        tokio::task::yield_now().await;
    }
    for key in [KEY, b"cart:2"] {
        let refused = tiered.get(key, Stamp(1), never).await;
        assert!(matches!(refused, Err(TieredError::Busy(_))), "{refused:?}");
    }
    open.notify_one();
    for caller in callers {
        assert_is(caller.await.unwrap().unwrap(), 1, Origin::Recomputed);
    }
}

#[tokio::test]
async fn tiers_without_a_place_for_stamps_are_refused() {
    let client = |slots, has_stamp, settings| {
        Client::new(Tier::new(slots, has_stamp) as Arc<dyn Store>, live(settings))
    };
    let stamped = || client(Slots::Two, true, LEAN);
    for (cache, persistent) in
        [(stamped(), client(Slots::Two, false, LEAN)), (client(Slots::Two, false, LEAN), stamped())]
    {
        let refused = Tiered::new(cache, persistent, TieredOptions::default());
        assert!(matches!(refused.err(), Some(TieredError::NoStamp { .. })));
    }
}
