//! Sinks: one writer thread each, which takes batches from its ring and can be as slow as it likes.
//! A write that fails is tried again until it succeeds; only a stop of the ingress ends that.
//!
//! A sink beyond a network takes many batches at once, because it answers only after a while. None
//! of them leaves the ring, or the spill, before the sink has said that it has it.

use std::cell::Cell;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use cinch_wire::native::Durability;

use crate::acknowledge::Receipt;
use crate::config::SinkKind;
use crate::ingress::{STOP_TIME, Shared};
use crate::limits::FLIGHT_BYTES;
use crate::pool::DropReason;
use crate::ring::{Batch, Group, Taken};

mod filer;
#[cfg(feature = "kafka")]
pub(crate) mod kafka;
#[cfg(feature = "s3")]
mod s3;
mod stdout;

pub(crate) use filer::PARTIAL;
pub use filer::folder_name;

use filer::Filer;
use stdout::Stdout;

/// How long a writer waits for a batch before it looks after its files.
const TICK: Duration = Duration::from_millis(100);

/// How long a writer waits before it tries a failed write again.
const RETRY: Duration = Duration::from_millis(200);

/// What a writer takes that has its answer at once.
const ONE: Group = Group { bytes: 0, batches: 1, linger: Duration::ZERO };

/// Why a sink can't be used.
#[derive(Debug, thiserror::Error)]
pub enum SinkError {
    /// A file or folder failed.
    #[error("{path}: {error}")]
    File {
        /// Which one.
        path: String,
        /// What the system said.
        error: io::Error,
    },
    /// A batch could not be unpacked again.
    #[error("a batch can't be unpacked: {0}")]
    Batch(String),
    /// What is beyond the network can't be reached, or failed.
    #[error("{place}: {message}")]
    Remote {
        /// Where.
        place: String,
        /// What is wrong.
        message: String,
    },
    /// The oldest batch will never be taken.
    #[error("{place} refuses a batch: {message}")]
    Refused {
        /// Where.
        place: String,
        /// What is wrong with it.
        message: String,
    },
    /// The writer was told to end while it waited.
    #[error("the ingress stopped before {place} answered")]
    Stopped {
        /// Where.
        place: String,
    },
    /// This program was built without the client of the sink.
    #[error("this program was built without it; build with --features {feature}")]
    NotBuilt {
        /// The feature that has it.
        feature: &'static str,
    },
}

/// What came of a group of batches: how many of them, from the first on, were written, and what
/// went wrong with the next one.
struct Written {
    batches: usize,
    error: Option<SinkError>,
}

/// What a writer writes to.
trait Target: Send {
    /// What it wants at once.
    fn group(&self) -> Group {
        ONE
    }

    /// Writes a batch, whole or not at all. It may be called again with the same one.
    fn write(&mut self, batch: &Batch, bytes: &[u8]) -> Result<(), SinkError>;

    /// Writes batches in their order. It may be called again with those that were not written. A
    /// target that waits for others asks now and then whether it is over.
    fn write_group(&mut self, group: &[Taken], _is_over: &dyn Fn() -> bool) -> Written {
        for (batches, taken) in group.iter().enumerate() {
            if let Err(error) = self.write(&taken.batch, &taken.bytes) {
                return Written { batches, error: Some(error) };
            }
        }
        Written { batches: group.len(), error: None }
    }

    /// Looks after what is open, while there is nothing to write.
    fn tend(&mut self) -> Result<(), SinkError> {
        Ok(())
    }

    /// Closes what is open.
    fn finish(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}

/// What runs in the writer thread of a sink. What its folder holds from an earlier run is put in
/// order before anything is received.
pub(crate) fn writer(
    shared: &Arc<Shared>,
    number: usize,
) -> Result<impl FnOnce() + Send + 'static, SinkError> {
    let mut target: Box<dyn Target> = match &shared.config.sinks[number].kind {
        SinkKind::Filer(settings) => {
            let filer = Filer::open(settings.clone(), shared.instance)?;
            for line in filer.recovered() {
                shared.tell(format_args!("{line}"));
            }
            Box::new(filer)
        }
        SinkKind::Stdout => Box::new(Stdout::new()),
        #[cfg(feature = "kafka")]
        SinkKind::Kafka(settings) => Box::new(kafka::Topic::open(settings, shared, number)?),
        #[cfg(not(feature = "kafka"))]
        SinkKind::Kafka(_) => return Err(SinkError::NotBuilt { feature: "kafka" }),
        #[cfg(feature = "s3")]
        SinkKind::S3(settings) => Box::new(s3::Bucket::open(settings, shared.budget.ring)?),
        #[cfg(not(feature = "s3"))]
        SinkKind::S3(_) => return Err(SinkError::NotBuilt { feature: "s3" }),
        SinkKind::Nowhere | SinkKind::Prometheus(_) => Box::new(Nowhere),
    };
    let shared = Arc::clone(shared);
    Ok(move || write_all(&shared, number, target.as_mut()))
}

/// The writer of one sink at work.
struct Writer<'a> {
    shared: &'a Shared,
    number: usize,
    name: &'a str,
    target: &'a mut dyn Target,
    stopped: Cell<Option<Instant>>,
}

fn write_all(shared: &Shared, number: usize, target: &mut dyn Target) {
    let name = &shared.config.sinks[number].name;
    let mut writer = Writer { shared, number, name, target, stopped: Cell::new(None) };
    if let Some(spill) = shared.spills[number].as_ref().filter(|spill| spill.waiting() > 0) {
        let (batches, bytes) = (spill.waiting(), spill.waiting_bytes());
        shared.tell(format_args!(
            "sink {name}: {batches} batches ({bytes} bytes) waited on disk since an earlier run; \
             the first of them may have been written before, which cinch logs notices"
        ));
    }
    let ring = &shared.sinks[number];
    let mut tended = Instant::now();
    let mut group = Vec::new();
    loop {
        let has_spilled = writer.replay();
        let wait = if has_spilled { Duration::ZERO } else { TICK };
        group.clear();
        match ring.group(wait, &writer.target.group(), &mut group) {
            Err(_) if !has_spilled || writer.is_out_of_time() => break,
            Ok(()) if !writer.write(&group, |_| ring.done()) => break,
            _ => {}
        }
        if tended.elapsed() >= TICK {
            tended = Instant::now();
            writer.tell(|target| target.tend());
        }
    }
    shared.abandon(number);
    writer.tell(|target| target.finish());
}

impl Writer<'_> {
    fn tell(&mut self, look_after: fn(&mut dyn Target) -> Result<(), SinkError>) {
        if let Err(error) = look_after(self.target) {
            self.shared.tell(format_args!("sink {}: {error}", self.name));
        }
    }

    /// Whether the ingress was told to stop so long ago that nothing is waited for any more.
    fn is_out_of_time(&self) -> bool {
        is_out_of_time(self.shared, &self.stopped)
    }

    /// Writes the oldest batches of those on disk, if it is their turn; whether there were any.
    fn replay(&mut self) -> bool {
        let Some(spill) = &self.shared.spills[self.number] else { return false };
        if spill.waiting() == 0 {
            return false;
        }
        let done = self.shared.sinks[self.number].done_count();
        let bytes_max = self.target.group().bytes.min(FLIGHT_BYTES);
        let spilled = match spill.oldest(bytes_max) {
            Ok(spilled) => spilled,
            Err(error) => {
                self.shared.tell(format_args!("sink {}: spill: {error}", self.name));
                thread::sleep(RETRY);
                return false;
            }
        };
        let due = spilled.into_iter().take_while(|spilled| spilled.barrier <= done);
        let group: Vec<Taken> = due
            .take(self.target.group().batches)
            .map(|spilled| {
                let pool = self.shared.pools.named(&spilled.pool);
                let batch = Batch { pool, head: spilled.head, receipts: spilled.receipts };
                Taken { batch, bytes: spilled.bytes }
            })
            .collect();
        let (shared, name) = (self.shared, self.name);
        self.write(&group, |batch| {
            if let Err(error) = spill.done() {
                shared.tell(format_args!("sink {name}: spill: {error}"));
            }
            // Batches of an earlier run were not counted in this one.
            if batch.head.instance == shared.instance {
                batch.pool.spilled_waiting.fetch_sub(1, Ordering::AcqRel);
            }
        });
        !group.is_empty()
    }

    /// Writes batches, of which each one is `done` as soon as it is written; `false` if that was
    /// given up, which only a stop of the ingress does.
    fn write(&mut self, group: &[Taken], mut done: impl FnMut(&Batch)) -> bool {
        let mut rest = group;
        let (shared, name) = (self.shared, self.name);
        while !rest.is_empty() {
            let stopped = &self.stopped;
            let written = self.target.write_group(rest, &|| is_out_of_time(shared, stopped));
            let (finished, after) = rest.split_at(written.batches.min(rest.len()));
            rest = after;
            for Taken { batch, .. } in finished {
                let (records, bytes) = (batch.head.records, batch.head.text_bytes);
                batch.pool.counters.written.add(records.into(), bytes.into());
                batch.receipts.iter().for_each(|receipt| receipt.reached(Durability::Written));
                done(batch);
            }
            let Some(error) = written.error else { continue };
            shared.metrics.sinks[self.number].failures.fetch_add(1, Ordering::Relaxed);
            if matches!(error, SinkError::Refused { .. })
                && let Some((Taken { batch, .. }, after)) = rest.split_first()
            {
                let (records, bytes) = (batch.head.records, batch.head.text_bytes);
                shared.tell(format_args!("sink {name}: {error}; {records} records dropped"));
                batch.pool.dropped(DropReason::Refused, records.into(), bytes.into());
                batch.receipts.iter().for_each(Receipt::refuse);
                done(batch);
                rest = after;
                continue;
            }
            shared.tell(format_args!("sink {name}: {error}; it is tried again"));
            if self.is_out_of_time() {
                return false;
            }
            thread::sleep(RETRY);
        }
        true
    }
}

fn is_out_of_time(shared: &Shared, stopped: &Cell<Option<Instant>>) -> bool {
    if !shared.is_stopping() {
        return false;
    }
    let since = stopped.get().unwrap_or_else(Instant::now);
    stopped.set(Some(since));
    since.elapsed() >= STOP_TIME / 2
}

/// What a sink with that ring takes at once: at most a quarter of the ring, so that pools are not
/// held for what waits for company.
#[cfg(any(feature = "kafka", feature = "s3"))]
fn group_of(bytes: usize, ring_bytes: usize, linger: Duration) -> Group {
    let batches = crate::limits::GROUP_BATCHES_MAX;
    Group { bytes: bytes.min(ring_bytes / 4), batches, linger }
}

/// Takes everything and keeps nothing.
struct Nowhere;

impl Target for Nowhere {
    fn write(&mut self, _: &Batch, _: &[u8]) -> Result<(), SinkError> {
        Ok(())
    }
}
