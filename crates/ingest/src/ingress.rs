//! The ingress as a whole: what its threads share, how it starts, and how it stops so that
//! everything that was read is written.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use cinch_wire::native::Durability;

use crate::acknowledge::{KnownClients, Receipt};
use crate::budget::Budget;
use crate::chunk::Chunks;
use crate::config::{Address, Config, Protocol, WhenSlow};
use crate::connection::{Connection, Mailbox, Peer};
use crate::grpc::Grpc;
use crate::limits::raise_open_files;
use crate::metric::Windows;
use crate::metrics::Metrics;
use crate::outlet::{self, Outgoing};
use crate::pool::{DropReason, Pools};
use crate::reader::{self, Reader};
use crate::ring::{Batch, Put, Ring};
use crate::sink::{self, SinkError, folder_name};
use crate::spill::Spill;
use crate::status::Status;
use crate::worker::Worker;

/// Takes what the ingress has to tell an operator, one line each.
pub type Tell = Box<dyn Fn(&str) + Send + Sync>;

/// The least time between two lines to the operator; those between are counted.
const TELL_INTERVAL: Duration = Duration::from_millis(200);

/// How long a reader waits for a chunk before it looks again.
const CHUNK_WAIT: Duration = Duration::from_millis(2);

/// How long sockets are read after the ingress was told to stop.
const DRAIN_TIME: Duration = Duration::from_secs(2);

/// How long sinks may take to write what waits, after the ingress was told to stop.
pub(crate) const STOP_TIME: Duration = Duration::from_secs(10);

/// How often it is looked whether they have.
const STOP_TICK: Duration = Duration::from_millis(10);

/// How long a worker waits before it tries again to put on disk what was acknowledged.
const SPILL_RETRY: Duration = Duration::from_millis(50);

/// How often windows that are over are written.
const WINDOW_TICK: Duration = Duration::from_millis(250);

/// What all threads share.
pub struct Shared {
    pub(crate) config: Arc<Config>,
    pub(crate) budget: Budget,
    pub(crate) chunks: Chunks,
    pub(crate) pools: Pools,
    pub(crate) sinks: Vec<Arc<Ring>>,
    pub(crate) spills: Vec<Option<Spill>>,
    pub(crate) mailboxes: Vec<Arc<Mailbox>>,
    pub(crate) metrics: Metrics,
    pub(crate) windows: Arc<Windows>,
    /// What waits for each sink of metrics, by the sink's place in the configuration.
    pub(crate) outgoing: Vec<Outgoing>,
    pub(crate) known_clients: Arc<KnownClients>,
    pub(crate) instance: u64,
    pub(crate) drain_time: Duration,
    pub(crate) started: Instant,
    connections: AtomicU64,
    stopping: AtomicBool,
    chunk_given_back: (Mutex<()>, Condvar),
    teller: Teller,
}

struct Teller {
    tell: Tell,
    last: Mutex<(Option<Instant>, u64)>,
}

impl Shared {
    /// A new connection of a listener, which this reader reads.
    pub(crate) fn connection(&self, listener: usize, reader: usize, peer: Peer) -> Arc<Connection> {
        let id = self.connections.fetch_add(1, Ordering::Relaxed);
        let (pool, outbox, waits) = (OnceLock::new(), Mutex::new(Vec::new()), AtomicUsize::new(0));
        let is_answered = self.config.listeners[listener].protocol.answers();
        Arc::new(Connection { id, listener, reader, peer, is_answered, pool, outbox, waits })
    }

    /// Whether the ingress was told to stop.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// Waits until a chunk was given back, or a moment.
    pub(crate) fn wait_for_chunk(&self) {
        let (lock, given_back) = &self.chunk_given_back;
        let guard = lock.lock().unwrap_or_else(PoisonError::into_inner);
        drop(given_back.wait_timeout(guard, CHUNK_WAIT));
    }

    /// A chunk was given back.
    pub(crate) fn wake_if_starved(&self) {
        self.chunk_given_back.1.notify_all();
    }

    /// Puts a batch before its sink, or on disk; one that is dropped is counted.
    pub(crate) fn put(&self, batch: Batch, parts: &[&[u8]]) {
        let kept = batch.clone();
        let reason = match self.sinks[batch.pool.sink].put(batch, parts) {
            Put::Waits => None,
            Put::Spill { barrier } if self.spill_patiently(&kept, parts, barrier) => None,
            Put::Spill { .. } => Some(DropReason::Spill),
            Put::Dropped(reason) => Some(reason),
        };
        let Batch { pool, head, receipts, .. } = kept;
        let Some(reason) = reason else {
            receipts.iter().for_each(|receipt| receipt.reached(Durability::Batched));
            return;
        };
        receipts.iter().for_each(Receipt::refuse);
        pool.dropped(reason, head.records.into(), head.text_bytes.into());
        let (name, records, reason) = (&pool.name, head.records, reason.name());
        self.tell(format_args!("pool {name}: {records} records dropped: {reason}"));
    }

    /// Saves on disk, or counts as dropped, what waits for a sink that does not take it any more.
    pub(crate) fn abandon(&self, sink: usize) {
        for (batch, bytes) in self.sinks[sink].abandon() {
            let (pool, head) = (&batch.pool, batch.head);
            let spills = pool.settings.load().when_slow == WhenSlow::Spill;
            if !(spills && self.spill(&batch, &[&bytes], 0)) {
                pool.dropped(DropReason::Shutdown, head.records.into(), head.text_bytes.into());
            }
        }
    }

    /// Puts a batch on disk. What was acknowledged waits for room there: `false` is for the rest,
    /// and for the end of the ingress.
    fn spill_patiently(&self, batch: &Batch, parts: &[&[u8]], barrier: u64) -> bool {
        while !self.spill(batch, parts, barrier) {
            if !batch.is_promised || self.is_stopping() {
                return false;
            }
            thread::sleep(SPILL_RETRY);
        }
        true
    }

    /// Puts a batch on disk; `false` if that can't be.
    fn spill(&self, batch: &Batch, parts: &[&[u8]], barrier: u64) -> bool {
        let pool = &batch.pool;
        let Some(spill) = &self.spills[pool.sink] else { return false };
        // It is counted first, so that no later batch of the pool goes past it.
        pool.spilled_waiting.fetch_add(1, Ordering::AcqRel);
        let receipts = Arc::clone(&batch.receipts);
        let is_there = spill.put(&pool.name, parts, barrier, receipts).unwrap_or_else(|error| {
            self.tell(format_args!("spill: {error}"));
            false
        });
        if is_there {
            pool.counters.spilled_batches.fetch_add(1, Ordering::Relaxed);
        } else {
            pool.spilled_waiting.fetch_sub(1, Ordering::AcqRel);
        }
        is_there
    }

    /// Tells the operator something, unless much was told just now; then it is counted.
    pub(crate) fn tell(&self, line: fmt::Arguments) {
        let mut last = self.teller.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.0.is_some_and(|at| at.elapsed() < TELL_INTERVAL) {
            last.1 += 1;
            return;
        }
        let left_out = std::mem::take(&mut last.1);
        last.0 = Some(Instant::now());
        drop(last);
        match left_out {
            0 => (self.teller.tell)(&line.to_string()),
            count => (self.teller.tell)(&format!("{line} ({count} lines before it left out)")),
        }
    }
}

/// Why the ingress could not start, or ended.
#[derive(Debug, thiserror::Error)]
pub enum IngressError {
    /// A listener's address can't be listened on.
    #[error("listener {name} can't listen on {address}: {error}")]
    Listen {
        /// The listener.
        name: String,
        /// Where.
        address: Address,
        /// What the system said.
        error: io::Error,
    },
    /// `/metrics` can't be served.
    #[error("status can't listen on {address}: {error}")]
    Status {
        /// Where.
        address: SocketAddr,
        /// What the system said.
        error: String,
    },
    /// A sink can't be used.
    #[error("sink {name}: {error}")]
    Sink {
        /// The sink.
        name: String,
        /// Why.
        error: SinkError,
    },
    /// The spill's folder can't be used.
    #[error("spill {path}: {error}")]
    Spill {
        /// Which folder.
        path: String,
        /// What the system said.
        error: io::Error,
    },
    /// A thread can't be started.
    #[error("a thread can't be started: {0}")]
    Thread(io::Error),
    /// The system's event queue failed.
    #[error("a reader's event queue failed: {0}")]
    Reader(io::Error),
}

/// An ingress that runs.
pub struct Ingress {
    shared: Arc<Shared>,
    addresses: Vec<Address>,
    grpcs: Vec<Grpc>,
    status: Option<Status>,
    readers: Vec<JoinHandle<io::Result<()>>>,
    workers: Vec<JoinHandle<()>>,
    writers: Vec<JoinHandle<()>>,
    outlets: Vec<JoinHandle<()>>,
    windows: JoinHandle<()>,
    /// The configuration that holds now.
    loaded: Mutex<Arc<Config>>,
}

impl Ingress {
    /// Starts to listen, read and write.
    ///
    /// # Errors
    /// Any [`IngressError`] but the last; what was started by then ends with the process.
    pub fn start(config: Config, tell: Tell) -> Result<Ingress, IngressError> {
        raise_open_files();
        let config = Arc::new(config);
        let budget = Budget::of(&config);
        let mut bound = Vec::new();
        let refused = |(listener, error): (usize, io::Error)| {
            let listener = &config.listeners[listener];
            let (name, address) = (listener.name.clone(), listener.address.clone());
            IngressError::Listen { name, address, error }
        };
        for number in 0..config.readers {
            bound.push(reader::bind(&config, number).map_err(refused)?);
        }
        let mut addresses = bound.first().map(reader::Bound::addresses).unwrap_or_default();
        let mailboxes: Vec<Arc<Mailbox>> =
            bound.iter().map(|bound| Arc::clone(&bound.mailbox)).collect();
        let rings = config.sinks.iter().map(|sink| {
            let bytes = if sink.kind.takes_batches() { budget.ring } else { 0 };
            Ring::new(bytes, mailboxes.clone())
        });
        let chunks = Chunks::new(budget.chunks, config.readers * config.workers * 2);
        let shared = Arc::new(Shared {
            budget,
            pools: Pools::new(Arc::clone(&config)),
            sinks: rings.map(Arc::new).collect(),
            spills: spills(&config)?,
            mailboxes,
            metrics: Metrics::new(&config),
            windows: Arc::new(Windows::new(config.metrics.clone().into())),
            outgoing: config.sinks.iter().map(|_| Outgoing::new(budget.outlet)).collect(),
            known_clients: Arc::new(KnownClients::default()),
            instance: instance(),
            drain_time: DRAIN_TIME,
            started: Instant::now(),
            connections: AtomicU64::new(0),
            stopping: AtomicBool::new(false),
            chunk_given_back: (Mutex::new(()), Condvar::new()),
            teller: Teller { tell, last: Mutex::new((None, 0)) },
            config: Arc::clone(&config),
            chunks,
        });
        let mut writers = Vec::new();
        for (number, sink) in config.sinks.iter().enumerate() {
            let failed = |error| IngressError::Sink { name: sink.name.clone(), error };
            let writer = sink::writer(&shared, number).map_err(failed)?;
            writers.push(spawn(format!("sink {}", sink.name), writer)?);
        }
        let mut outlets = Vec::new();
        for (number, sink) in config.sinks.iter().enumerate() {
            let failed = |error| IngressError::Sink { name: sink.name.clone(), error };
            if let Some(outlet) = outlet::outlet(&shared, number).map_err(failed)? {
                outlets.push(spawn(format!("metrics {}", sink.name), outlet)?);
            }
        }
        let status = match config.status {
            None => None,
            Some(address) => Some(Status::start(address, Arc::clone(&shared))?),
        };
        let (mut senders, mut workers) = (Vec::new(), Vec::new());
        for number in 0..config.workers {
            // There is room for every chunk, so that no reader waits for a worker.
            let (sender, chunks) = crossbeam_channel::bounded(shared.chunks.free());
            senders.push(sender);
            let worker = Worker::new(Arc::clone(&shared), number, chunks);
            workers.push(spawn(format!("worker {number}"), move || worker.run())?);
        }
        let mut readers = Vec::new();
        for (number, bound) in bound.into_iter().enumerate() {
            let reader = Reader::new(Arc::clone(&shared), number, bound, senders.clone());
            readers.push(spawn(format!("reader {number}"), move || reader.run())?);
        }
        let mut grpcs = Vec::new();
        for (number, listener) in shared.config.listeners.iter().enumerate() {
            if listener.protocol == Protocol::OtlpGrpc {
                let grpc =
                    Grpc::start(&shared, number).map_err(|error| refused((number, error)))?;
                addresses.push((number, Address::Tcp(grpc.address)));
                grpcs.push(grpc);
            }
        }
        addresses.sort_by_key(|(number, _)| *number);
        let addresses = addresses.into_iter().map(|(_, address)| address).collect();
        let for_windows = Arc::clone(&shared);
        let windows = spawn("windows".to_owned(), move || outlet::write_windows(&for_windows))?;
        let loaded = Mutex::new(config);
        Ok(Ingress {
            shared,
            loaded,
            addresses,
            grpcs,
            status,
            readers,
            workers,
            writers,
            outlets,
            windows,
        })
    }

    /// The addresses of the listeners, in the order of the configuration: where one said port 0,
    /// the port that the system chose.
    pub fn addresses(&self) -> &[Address] {
        &self.addresses
    }

    /// Where `/metrics` is served, if it is.
    pub fn status_address(&self) -> Option<SocketAddr> {
        self.status.as_ref().map(|status| status.address)
    }

    /// Takes another configuration: settings of pools and rules of metrics hold from here on.
    /// Returns its generation. A configuration that is the same changes nothing.
    ///
    /// # Errors
    /// The line that says what can't change while the ingress runs; nothing has changed then.
    pub fn reload(&self, config: Config) -> Result<u64, String> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let metrics = &self.shared.metrics;
        let generation = metrics.generation.load(Ordering::Relaxed);
        if **loaded == config {
            return Ok(generation);
        }
        if let Some(obstacle) = loaded.obstacle(&config) {
            return Err(obstacle);
        }
        let config = Arc::new(config.with_rules_of(&loaded));
        self.shared.pools.reload(Arc::clone(&config));
        self.shared.windows.reload(config.metrics.clone().into());
        *loaded = config;
        metrics.generation.store(generation + 1, Ordering::Relaxed);
        Ok(generation + 1)
    }

    /// Which configuration holds: 1 is that of the start.
    pub fn generation(&self) -> u64 {
        self.shared.metrics.generation.load(Ordering::Relaxed)
    }

    /// Counts a configuration that was read and could not be used.
    pub fn refused_reload(&self) {
        self.shared.metrics.reloads_refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether a reader has ended although nobody asked for it.
    pub fn has_failed(&self) -> bool {
        self.readers.iter().any(JoinHandle::is_finished)
    }

    /// Stops: what had arrived is read, cut, compressed and written, and files are closed.
    ///
    /// # Errors
    /// [`IngressError::Reader`] if it had failed before.
    pub fn stop(self) -> Result<Totals, IngressError> {
        self.grpcs.into_iter().for_each(Grpc::stop);
        self.shared.stopping.store(true, Ordering::Release);
        self.shared.mailboxes.iter().for_each(|mailbox| mailbox.wake());
        // A worker that waits for room before a sink that has stopped is let go after a while, and
        // with it the readers: what it holds is dropped and counted, or waits on disk.
        let deadline = Instant::now() + self.shared.drain_time + STOP_TIME;
        let is_done = || {
            self.readers.iter().all(JoinHandle::is_finished)
                && self.workers.iter().all(JoinHandle::is_finished)
        };
        while !is_done() && Instant::now() < deadline {
            thread::sleep(STOP_TICK);
        }
        if !is_done() {
            self.shared.sinks.iter().for_each(|ring| ring.close());
        }
        let mut result = Ok(());
        for reader in self.readers {
            // A reader that panicked has told why; what the others read is written all the same.
            if let Ok(Err(error)) = reader.join() {
                result = Err(IngressError::Reader(error));
            }
        }
        self.workers.into_iter().for_each(|worker| drop(worker.join()));
        self.shared.sinks.iter().for_each(|ring| ring.close());
        let deadline = Instant::now() + STOP_TIME;
        for (number, writer) in self.writers.into_iter().enumerate() {
            while !writer.is_finished() && Instant::now() < deadline {
                thread::sleep(STOP_TICK);
            }
            if writer.is_finished() {
                drop(writer.join());
            } else {
                // It hangs in the system, as in a mount whose server is gone, and can't be waited
                // for. What it did not take waits on disk, or is dropped and counted.
                self.shared.abandon(number);
            }
        }
        self.shared.metrics.is_over.store(true, Ordering::Release);
        drop(self.windows.join());
        let deadline = Instant::now() + STOP_TIME;
        for outlet in self.outlets {
            while !outlet.is_finished() && Instant::now() < deadline {
                thread::sleep(STOP_TICK);
            }
        }
        drop(self.status);
        result.map(|()| Totals::of(&self.shared))
    }
}

/// What came of everything, for the last line to the operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Records that were received.
    pub received: u64,
    /// Records that were written.
    pub written: u64,
    /// Records that were dropped.
    pub dropped: u64,
    /// Bytes of text that were received.
    pub received_bytes: u64,
}

impl Totals {
    fn of(shared: &Shared) -> Totals {
        let mut totals = Totals::default();
        for pool in shared.pools.all() {
            let counters = &pool.counters;
            totals.received += counters.received.records.load(Ordering::Relaxed);
            totals.received_bytes += counters.received.bytes.load(Ordering::Relaxed);
            totals.written += counters.written.records.load(Ordering::Relaxed);
            let dropped = counters.dropped.iter().map(|amount| &amount.records);
            totals.dropped += dropped.map(|records| records.load(Ordering::Relaxed)).sum::<u64>();
        }
        totals
    }
}

/// The spill of each sink, where there is a folder for it.
fn spills(config: &Config) -> Result<Vec<Option<Spill>>, IngressError> {
    let Some(settings) = &config.spill else {
        return Ok(config.sinks.iter().map(|_| None).collect());
    };
    let open = |name: &str| {
        let folder = settings.directory.join(folder_name(name));
        let path = folder.display().to_string();
        let spill = Spill::open(folder, settings.limit_bytes);
        spill.map(Some).map_err(|error| IngressError::Spill { path, error })
    };
    config.sinks.iter().map(|sink| open(&sink.name)).collect()
}

/// How long the thread of windows waits between two looks.
pub(crate) fn window_tick() -> Duration {
    WINDOW_TICK
}

fn spawn<T: Send + 'static>(
    name: String,
    run: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, IngressError> {
    thread::Builder::new().name(name).spawn(run).map_err(IngressError::Thread)
}

/// A number that no other run has: the time, and what the system's randomness adds to it.
fn instance() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u128(since.as_nanos());
    hasher.finish()
}
