//! Sinks: one writer thread each, which takes batches from its ring and can be as slow as it likes.
//! A write that fails is tried again until it succeeds; only a stop of the ingress ends that.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::config::SinkKind;
use crate::format::Head;
use crate::ingress::{Shared, window_tick};
use crate::pool::DropReason;
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

/// How long failed writes are still tried after the ingress was told to stop.
const STOP_TIME: Duration = Duration::from_secs(10);

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

fn write_all(shared: &Shared, number: usize, target: &mut dyn Target) {
    let ring = &shared.sinks[number];
    let name = &shared.config.sinks[number].name;
    let mut bytes = Vec::new();
    let mut tended = Instant::now();
    while let Ok(batch) = ring.oldest(TICK, &mut bytes) {
        if let Some(batch) = &batch {
            write_one(shared, name, target, batch, &bytes);
            ring.done();
        }
        if tended.elapsed() >= TICK {
            tended = Instant::now();
            if let Err(error) = target.tend() {
                shared.tell(format_args!("sink {name}: {error}"));
            }
        }
    }
    if let Err(error) = target.finish() {
        shared.tell(format_args!("sink {name}: {error}"));
    }
}

fn write_one(shared: &Shared, name: &str, target: &mut dyn Target, batch: &Batch, bytes: &[u8]) {
    let Head { records, text_bytes, .. } = batch.head;
    let (records, text_bytes) = (u64::from(records), u64::from(text_bytes));
    let mut stopped = None;
    loop {
        let Err(error) = target.write(batch, bytes) else {
            batch.pool.counters.written.add(records, text_bytes);
            return;
        };
        shared.metrics.write_failures.fetch_add(1, Ordering::Relaxed);
        shared.tell(format_args!("sink {name}: {error}; it is tried again"));
        if shared.is_stopping() {
            let since = *stopped.get_or_insert_with(Instant::now);
            if since.elapsed() >= STOP_TIME {
                batch.pool.dropped(DropReason::Shutdown, records, text_bytes);
                return;
            }
        }
        thread::sleep(RETRY);
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
