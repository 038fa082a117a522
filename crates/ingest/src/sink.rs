//! Sinks: one writer thread each, which takes batches from its ring and can be as slow as it likes.
//! A write that fails is tried again until it succeeds; only a stop of the ingress ends that.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use cinch_wire::native::Durability;

use crate::config::SinkKind;
use crate::format::Head;
use crate::ingress::{STOP_TIME, Shared, window_tick};
use crate::ring::Batch;

mod filer;
mod stdout;

pub(crate) use filer::PARTIAL;
pub use filer::folder_name;

use filer::Filer;
use stdout::Stdout;

/// How long a writer waits for a batch before it looks after its files.
const TICK: Duration = Duration::from_millis(100);

/// How long a writer waits before it tries a failed write again.
const RETRY: Duration = Duration::from_millis(200);

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
}

/// What a writer writes to.
trait Target: Send {
    /// Writes a batch, whole or not at all. It may be called again with the same one.
    fn write(&mut self, batch: &Batch, bytes: &[u8]) -> Result<(), SinkError>;
    /// Looks after what is open, while there is nothing to write.
    fn tend(&mut self) -> Result<(), SinkError>;
    /// Closes what is open.
    fn finish(&mut self) -> Result<(), SinkError>;
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
        SinkKind::Nowhere => Box::new(Nowhere),
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
    bytes: Vec<u8>,
    stopped: Option<Instant>,
}

fn write_all(shared: &Shared, number: usize, target: &mut dyn Target) {
    let name = &shared.config.sinks[number].name;
    let mut writer = Writer { shared, number, name, target, bytes: Vec::new(), stopped: None };
    if let Some(spill) = shared.spills[number].as_ref().filter(|spill| spill.waiting() > 0) {
        let (batches, bytes) = (spill.waiting(), spill.waiting_bytes());
        shared.tell(format_args!(
            "sink {name}: {batches} batches ({bytes} bytes) waited on disk since an earlier run; \
             the first of them may have been written before, which cinch logs notices"
        ));
    }
    let mut tended = Instant::now();
    loop {
        let has_spilled = writer.replay();
        let wait = if has_spilled { Duration::ZERO } else { TICK };
        match shared.sinks[number].oldest(wait, &mut writer.bytes) {
            Err(_) if !has_spilled || writer.is_out_of_time() => break,
            Ok(Some(batch)) => {
                if !writer.write(&batch) {
                    break;
                }
                shared.sinks[number].done();
            }
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
    fn is_out_of_time(&mut self) -> bool {
        let is_stopping = self.shared.is_stopping();
        is_stopping && self.stopped.get_or_insert_with(Instant::now).elapsed() >= STOP_TIME / 2
    }

    /// Writes the oldest batch of those on disk, if it is its turn; whether there was one.
    fn replay(&mut self) -> bool {
        let Some(spill) = &self.shared.spills[self.number] else { return false };
        if spill.waiting() == 0 {
            return false;
        }
        let done = self.shared.sinks[self.number].done_count();
        let spilled = match spill.oldest(&mut self.bytes) {
            Ok(Some(spilled)) if spilled.barrier <= done => spilled,
            Ok(_) => return false,
            Err(error) => {
                self.shared.tell(format_args!("sink {}: spill: {error}", self.name));
                thread::sleep(RETRY);
                return false;
            }
        };
        let pool = self.shared.pools.named(&spilled.pool);
        let (head, receipts) = (spilled.head, spilled.receipts);
        let batch = Batch { pool, head, receipts, is_promised: false, is_hurried: false };
        if !self.write(&batch) {
            return true;
        }
        if let Err(error) = spill.done() {
            self.shared.tell(format_args!("sink {}: spill: {error}", self.name));
        }
        // Batches of an earlier run were not counted in this one.
        if batch.head.instance == self.shared.instance {
            batch.pool.spilled_waiting.fetch_sub(1, Ordering::AcqRel);
        }
        true
    }

    /// Writes the batch whose bytes were read; `false` if that was given up, which only a stop of
    /// the ingress does.
    fn write(&mut self, batch: &Batch) -> bool {
        let Head { records, text_bytes, .. } = batch.head;
        loop {
            let Err(error) = self.target.write(batch, &self.bytes) else {
                batch.pool.counters.written.add(records.into(), text_bytes.into());
                batch.receipts.iter().for_each(|receipt| receipt.reached(Durability::Written));
                return true;
            };
            self.shared.metrics.write_failures.fetch_add(1, Ordering::Relaxed);
            self.shared.tell(format_args!("sink {}: {error}; it is tried again", self.name));
            if self.is_out_of_time() {
                return false;
            }
            thread::sleep(RETRY);
        }
    }
}

/// Takes everything and keeps nothing.
struct Nowhere;

impl Target for Nowhere {
    fn write(&mut self, _: &Batch, _: &[u8]) -> Result<(), SinkError> {
        Ok(())
    }

    fn tend(&mut self) -> Result<(), SinkError> {
        Ok(())
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}

/// Writes the windows of metrics that are over to standard output, until the ingress is.
pub(crate) fn write_windows(shared: &Shared) {
    loop {
        let is_over = shared.metrics.is_over.load(Ordering::Acquire);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let windows = shared.windows.take(if is_over { u64::MAX } else { now.as_secs() });
        if !windows.is_empty() {
            let mut lines = String::new();
            for window in windows {
                lines.push_str(&window.json(shared.windows.rules()));
                lines.push('\n');
            }
            let mut out = io::stdout().lock();
            if let Err(error) = out.write_all(lines.as_bytes()).and_then(|()| out.flush()) {
                shared.tell(format_args!("metrics: {error}"));
            }
        }
        if is_over {
            return;
        }
        thread::sleep(window_tick());
    }
}
