//! A pool: the clients of one service, with settings, a quota and counters of their own, so that
//! one noisy service can't cost another its records.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use arc_swap::ArcSwap;

use crate::config::{Config, PoolSettings, WhenSlow};
use crate::limits::{POOL_NAME_BYTES_MAX, POOLS_MAX};
use crate::rate::Rate;

/// The pool of connections that name one more than there may be.
const OVERFLOW_POOL: &str = "overflow";

/// Why a batch was not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropReason {
    /// The pool's batches that wait for its sink would pass its quota.
    Quota,
    /// The ring of the sink is full with batches of all pools.
    Ring,
    /// The spill folder is full or can't be written.
    Spill,
    /// The sink was told to stop and did not take it in time.
    Shutdown,
    /// The compressor failed, which a sound library with enough memory does not.
    Compressor,
    /// What was read of the pool and waits for a worker would pass its part of the first queue.
    Queue,
    /// The sink will never take it, such as a message that is longer than its broker allows.
    Refused,
    /// It came faster than the pool's limit of bytes in a second.
    Rate,
}

impl DropReason {
    /// Every reason, in the order of the counters.
    pub const ALL: [DropReason; 8] = [
        DropReason::Quota,
        DropReason::Ring,
        DropReason::Spill,
        DropReason::Shutdown,
        DropReason::Compressor,
        DropReason::Queue,
        DropReason::Refused,
        DropReason::Rate,
    ];

    /// Its name in metrics.
    pub fn name(self) -> &'static str {
        match self {
            DropReason::Quota => "quota",
            DropReason::Ring => "ring",
            DropReason::Spill => "spill",
            DropReason::Shutdown => "shutdown",
            DropReason::Compressor => "compressor",
            DropReason::Queue => "queue",
            DropReason::Refused => "refused",
            DropReason::Rate => "rate",
        }
    }
}

/// Records and the bytes of their text.
#[derive(Debug, Default)]
pub struct Amount {
    /// Records.
    pub records: AtomicU64,
    /// Bytes.
    pub bytes: AtomicU64,
}

impl Amount {
    /// Counts.
    pub fn add(&self, records: u64, bytes: u64) {
        self.records.fetch_add(records, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// What came of the records of a pool. What was received is written, dropped or waits.
#[derive(Debug, Default)]
pub struct PoolCounters {
    /// Whole records that were cut from what connections sent.
    pub received: Amount,
    /// Records that the sink has taken.
    pub written: Amount,
    /// Records that were dropped, by reason.
    pub dropped: [Amount; DropReason::ALL.len()],
    /// Batches that were compressed.
    pub batches: AtomicU64,
    /// Those of them that are stored as columns.
    pub columnar_batches: AtomicU64,
    /// Bytes after compression.
    pub compressed_bytes: AtomicU64,
    /// Batches that went to disk to wait.
    pub spilled_batches: AtomicU64,
}

/// A pool.
#[derive(Debug)]
pub struct Pool {
    /// Its name, as the client gave it.
    pub name: String,
    /// The number that tells it from others in this process.
    pub number: usize,
    /// How its records are kept; this changes when the configuration does.
    pub settings: ArcSwap<PoolSettings>,
    /// The sink's place in the configuration.
    pub sink: usize,
    /// What came of its records.
    pub counters: PoolCounters,
    /// Bytes of its batches that wait in the ring.
    pub waiting_bytes: AtomicUsize,
    /// Batches of it that wait on disk.
    pub spilled_waiting: AtomicU64,
    /// Whether its connections are not read at present, for want of room before its sink.
    pub is_held: AtomicBool,
    /// Bytes of it that were read and wait for a worker.
    pub queued_bytes: AtomicUsize,
    /// Whether a reader found its part of the first queue used up and did not read on.
    pub is_queue_full: AtomicBool,
    /// What was taken of it, where that is limited.
    pub rate: Rate,
    /// Connections that are open.
    pub connections: AtomicU64,
}

impl Pool {
    /// Whether its connections are not to be read now. Bytes that are already in the first queue
    /// may be twice its part where what is above the part is dropped or spilled, which frees it
    /// quickly; a pool with backpressure is not read above its part.
    pub fn is_to_wait(&self) -> bool {
        if self.is_held.load(Ordering::Acquire) {
            return true;
        }
        let settings = self.settings.load();
        let part = settings.queue_quota_bytes;
        let most = match settings.when_slow {
            WhenSlow::Backpressure => part,
            WhenSlow::Drop | WhenSlow::Spill => part * 2,
        };
        let is_full = |pool: &Pool| pool.queued_bytes.load(Ordering::SeqCst) >= most;
        if !is_full(self) {
            return false;
        }
        // A worker that empties the queue looks at this note behind its count, so one of the two
        // sees the other.
        self.is_queue_full.store(true, Ordering::SeqCst);
        is_full(self)
    }

    /// Whether a connection of it is not to be read now because more came than the limit of bytes
    /// in a second allows. A pool that drops takes it and drops it, unless the client is answered:
    /// one that is told that its records were dropped would send them again at once.
    pub fn is_above_rate(&self, is_answered: bool) -> bool {
        let settings = self.settings.load();
        settings.rate_limit.is_some()
            && (is_answered || settings.when_slow != WhenSlow::Drop)
            && !self.rate.has_credit()
    }

    /// Counts bytes that were read. Why they are above what the pool may have, if they are.
    pub fn queued(&self, bytes: usize, is_answered: bool) -> Option<DropReason> {
        let before = self.queued_bytes.fetch_add(bytes, Ordering::SeqCst);
        let settings = self.settings.load();
        if settings.when_slow != WhenSlow::Backpressure && before >= settings.queue_quota_bytes {
            return Some(DropReason::Queue);
        }
        let limit = settings.rate_limit?;
        let may_drop = settings.when_slow == WhenSlow::Drop && !is_answered;
        if may_drop && !self.rate.has_credit() {
            return Some(DropReason::Rate);
        }
        self.rate.take(limit, bytes);
        None
    }

    /// Counts bytes that a worker has looked at. Whether readers are to be told that there is room.
    pub fn dequeued(&self, bytes: usize) -> bool {
        let left = self.queued_bytes.fetch_sub(bytes, Ordering::SeqCst) - bytes;
        left < self.settings.load().queue_quota_bytes / 4 * 3
            && self.is_queue_full.load(Ordering::SeqCst)
            && self.is_queue_full.swap(false, Ordering::SeqCst)
    }

    /// Counts a batch that was dropped.
    pub fn dropped(&self, reason: DropReason, records: u64, bytes: u64) {
        self.counters.dropped[reason as usize].add(records, bytes);
    }
}

/// All pools that were seen.
#[derive(Debug)]
pub struct Pools {
    config: ArcSwap<Config>,
    known: RwLock<Known>,
}

#[derive(Debug, Default)]
struct Known {
    by_name: HashMap<String, Arc<Pool>>,
    in_order: Vec<Arc<Pool>>,
}

impl Pools {
    /// No pools yet.
    pub fn new(config: Arc<Config>) -> Pools {
        Pools { config: ArcSwap::new(config), known: RwLock::new(Known::default()) }
    }

    /// The pool of this name, made if it is new. A name is the client's text: what is too long is
    /// cut, and what is one too many goes to a pool for all of these.
    pub fn named(&self, name: &str) -> Arc<Pool> {
        let name = &name[..name.floor_char_boundary(POOL_NAME_BYTES_MAX)];
        if let Some(pool) = self.read().by_name.get(name) {
            return Arc::clone(pool);
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let name = if known.in_order.len() < POOLS_MAX { name } else { OVERFLOW_POOL };
        if let Some(pool) = known.by_name.get(name) {
            return Arc::clone(pool);
        }
        let config = self.config.load();
        let settings = config.pool(name).clone();
        let sinks = &config.sinks;
        // The configuration was validated: a pool's sink is there.
        let sink = sinks.iter().position(|sink| sink.name == settings.sink).unwrap_or(0);
        let pool = Arc::new(Pool {
            name: name.to_owned(),
            number: known.in_order.len(),
            settings: ArcSwap::from_pointee(settings),
            sink,
            counters: PoolCounters::default(),
            waiting_bytes: AtomicUsize::new(0),
            spilled_waiting: AtomicU64::new(0),
            is_held: AtomicBool::new(false),
            queued_bytes: AtomicUsize::new(0),
            is_queue_full: AtomicBool::new(false),
            rate: Rate::default(),
            connections: AtomicU64::new(0),
        });
        known.by_name.insert(name.to_owned(), Arc::clone(&pool));
        known.in_order.push(Arc::clone(&pool));
        pool
    }

    /// Gives every pool the settings of another configuration, whose sinks are the same.
    pub fn reload(&self, config: Arc<Config>) {
        // A pool that is made meanwhile waits for this, and then has the new settings too.
        let known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        for pool in &known.in_order {
            pool.settings.store(Arc::new(config.pool(&pool.name).clone()));
        }
        self.config.store(config);
    }

    /// All pools, in the order in which they were first seen.
    pub fn all(&self) -> Vec<Arc<Pool>> {
        self.read().in_order.clone()
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }
}
