//! Where windows of metrics go when they are over: lines on standard output, or a sink of metrics
//! with a queue of its own, so that one that is gone keeps nobody else waiting.
//!
//! Queues are bounded by bytes, which come out of the memory budget. A window that finds no room is
//! dropped and counted: windows are at most once.

use std::cell::Cell;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::config::SinkKind;
use crate::ingress::{STOP_TIME, Shared, window_tick};
use crate::metric::Window;
use crate::sink::SinkError;

#[cfg(feature = "kafka")]
mod avro;
#[cfg(feature = "kafka")]
mod kafka;
#[cfg(feature = "prometheus")]
mod prometheus;

/// How long an outlet waits before it tries again what failed.
const RETRY: Duration = Duration::from_millis(500);

/// The most windows that are handed to an outlet at once: as many samples as Prometheus advises
/// for one request.
const WINDOWS_AT_ONCE: usize = 2_000;

/// What came of windows: how many of them, from the first on, were taken, how many behind those
/// will never be, and what went wrong.
struct Sent {
    taken: usize,
    refused: usize,
    error: Option<SinkError>,
}

/// Takes windows to where they go.
trait Outlet: Send {
    /// Hands windows over. It is called again with those that were neither taken nor refused.
    fn send(&mut self, windows: &[Window], is_over: &dyn Fn() -> bool) -> Sent;
}

/// The windows that wait for an outlet.
#[derive(Debug, Default)]
pub struct Outgoing {
    state: Mutex<State>,
    filled: Condvar,
    limit_bytes: usize,
}

#[derive(Debug, Default)]
struct State {
    windows: VecDeque<Window>,
    bytes: usize,
    is_closed: bool,
}

impl Outgoing {
    /// A queue of so many bytes.
    pub fn new(limit_bytes: usize) -> Outgoing {
        Outgoing { limit_bytes, ..Outgoing::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a window; `false` if there is no room.
    fn put(&self, window: Window) -> bool {
        let bytes = window.memory_bytes();
        let mut state = self.lock();
        if state.bytes + bytes > self.limit_bytes {
            return false;
        }
        state.bytes += bytes;
        state.windows.push_back(window);
        drop(state);
        self.filled.notify_one();
        true
    }

    /// The oldest windows, which stay until `done`; `None` when there are none and none will come.
    fn oldest(&self) -> Option<Vec<Window>> {
        let mut state = self.lock();
        while state.windows.is_empty() {
            if state.is_closed {
                return None;
            }
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        Some(state.windows.iter().take(WINDOWS_AT_ONCE).cloned().collect())
    }

    fn done(&self, count: usize) {
        let mut state = self.lock();
        for _ in 0..count {
            let gone = state.windows.pop_front().map_or(0, |window| window.memory_bytes());
            state.bytes -= gone.min(state.bytes);
        }
    }

    /// How many wait.
    pub fn waiting(&self) -> usize {
        self.lock().windows.len()
    }

    fn close(&self) {
        self.lock().is_closed = true;
        self.filled.notify_all();
    }
}

/// What runs in the thread of an outlet; `None` for sinks that take no metrics.
pub(crate) fn outlet(
    shared: &Arc<Shared>,
    number: usize,
) -> Result<Option<impl FnOnce() + Send + 'static>, SinkError> {
    let Some(mut outlet) = open(shared, number)? else { return Ok(None) };
    let shared = Arc::clone(shared);
    Ok(Some(move || send_all(&shared, number, outlet.as_mut())))
}

fn open(shared: &Arc<Shared>, number: usize) -> Result<Option<Box<dyn Outlet>>, SinkError> {
    match &shared.config.sinks[number].kind {
        #[cfg(feature = "kafka")]
        SinkKind::Kafka(settings) => {
            Ok(Some(Box::new(kafka::Topic::open(settings, shared, number)?)))
        }
        #[cfg(feature = "prometheus")]
        SinkKind::Prometheus(settings) => Ok(Some(Box::new(prometheus::Remote::open(settings)?))),
        #[cfg(not(feature = "prometheus"))]
        SinkKind::Prometheus(_) => Err(SinkError::NotBuilt { feature: "prometheus" }),
        _ => Ok(None),
    }
}

fn send_all(shared: &Shared, number: usize, outlet: &mut dyn Outlet) {
    let (outgoing, metrics) = (&shared.outgoing[number], &shared.metrics.sinks[number]);
    let name = &shared.config.sinks[number].name;
    let stopped: Cell<Option<Instant>> = Cell::new(None);
    let is_over = || {
        let is_stopping = shared.is_stopping();
        if is_stopping && stopped.get().is_none() {
            stopped.set(Some(Instant::now()));
        }
        is_stopping && stopped.get().is_some_and(|since| since.elapsed() >= STOP_TIME / 2)
    };
    while let Some(windows) = outgoing.oldest() {
        let Sent { taken, refused, error } = outlet.send(&windows, &is_over);
        outgoing.done(taken + refused);
        metrics.windows_sent.fetch_add(taken as u64, Ordering::Relaxed);
        metrics.windows_dropped.fetch_add(refused as u64, Ordering::Relaxed);
        let Some(error) = error else { continue };
        metrics.failures.fetch_add(1, Ordering::Relaxed);
        if is_over() {
            let left = outgoing.waiting();
            metrics.windows_dropped.fetch_add(left as u64, Ordering::Relaxed);
            shared.tell(format_args!("sink {name}: {error}; {left} windows dropped"));
            return;
        }
        match refused {
            0 => {
                shared.tell(format_args!("sink {name}: {error}; it is tried again"));
                thread::sleep(RETRY);
            }
            _ => shared.tell(format_args!("sink {name}: {error}; {refused} windows dropped")),
        }
    }
}

/// Takes the windows that are over to where they go, until the ingress is.
pub(crate) fn write_windows(shared: &Shared) {
    loop {
        let is_over = shared.metrics.is_over.load(Ordering::Acquire);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let windows = shared.windows.take(if is_over { u64::MAX } else { now.as_secs() });
        let mut lines = String::new();
        for window in windows {
            let sink = window.rule.sink.as_ref();
            let sinks = &shared.config.sinks;
            let number = sink.and_then(|name| sinks.iter().position(|sink| sink.name == *name));
            let Some(number) = number else {
                lines.push_str(&window.json().to_string());
                lines.push('\n');
                continue;
            };
            if !shared.outgoing[number].put(window) {
                let dropped = &shared.metrics.sinks[number].windows_dropped;
                dropped.fetch_add(1, Ordering::Relaxed);
                let name = &sinks[number].name;
                shared.tell(format_args!("sink {name}: no room for windows; they are dropped"));
            }
        }
        if !lines.is_empty() {
            let mut out = io::stdout().lock();
            if let Err(error) = out.write_all(lines.as_bytes()).and_then(|()| out.flush()) {
                shared.tell(format_args!("metrics: {error}"));
            }
        }
        if is_over {
            shared.outgoing.iter().for_each(Outgoing::close);
            return;
        }
        thread::sleep(window_tick());
    }
}

/// When a window ended, in Unix milliseconds.
#[cfg(any(feature = "kafka", feature = "prometheus"))]
fn end_ms(window: &Window) -> i64 {
    let end_s = window.start_s.saturating_add(window.rule.window_s);
    i64::try_from(end_s.saturating_mul(1_000)).unwrap_or(i64::MAX)
}
