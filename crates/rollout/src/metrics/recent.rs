//! The latest calls and minutes of a namespace, for the pictures that `cinch report` draws and for
//! the 99th percentiles that stop rules look at.
//!
//! A call adds itself where nobody else is adding at that moment, and goes on without where
//! somebody is: a sample may be missed, a call never waits.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::nanoseconds;

/// How many samples are kept, of reads and writes together.
const SAMPLES_MAX: usize = 4_096;

/// How many minutes are kept: a day.
const MINUTES_MAX: usize = 24 * 60;

/// Whether a call wrote or read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SampleKind {
    /// A payload was packed.
    Write,
    /// A payload was unpacked.
    Read,
}

/// One call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// Whether it wrote or read.
    pub kind: SampleKind,
    /// The payload's length in bytes.
    pub payload_bytes: u64,
    /// The packed form's length in bytes.
    pub packed_bytes: u64,
    /// How long packing or unpacking took, in nanoseconds.
    pub time_ns: u64,
}

/// What was written within one minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Minute {
    /// When it began, in minutes since 1970.
    pub minute: u64,
    /// Payloads written.
    pub writes: u64,
    /// Their length in bytes.
    pub payload_bytes: u64,
    /// The length of all copies stored for them, in bytes.
    pub stored_bytes: u64,
}

#[derive(Default)]
pub(super) struct Recent {
    inner: Mutex<Inner>,
}

struct Inner {
    samples: VecDeque<Sample>,
    minutes: VecDeque<Minute>,
    /// The clock of the system is asked once; from there on the monotonic one is enough.
    started: (Instant, u64),
}

impl Default for Inner {
    fn default() -> Inner {
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let started = (Instant::now(), seconds);
        Inner { samples: VecDeque::new(), minutes: VecDeque::new(), started }
    }
}

impl Recent {
    pub(super) fn add(
        &self,
        kind: SampleKind,
        payload_bytes: usize,
        packed_bytes: usize,
        time: Duration,
    ) {
        let Ok(mut inner) = self.inner.try_lock() else { return };
        if inner.samples.len() == SAMPLES_MAX {
            inner.samples.pop_front();
        }
        inner.samples.push_back(Sample {
            kind,
            payload_bytes: payload_bytes as u64,
            packed_bytes: packed_bytes as u64,
            time_ns: nanoseconds(time),
        });
    }

    pub(super) fn add_write(&self, payload_bytes: usize, stored_bytes: usize) {
        let Ok(mut inner) = self.inner.try_lock() else { return };
        let (started, seconds) = inner.started;
        let minute = (seconds + started.elapsed().as_secs()) / 60;
        if inner.minutes.back().is_none_or(|last| last.minute != minute) {
            if inner.minutes.len() == MINUTES_MAX {
                inner.minutes.pop_front();
            }
            inner.minutes.push_back(Minute {
                minute,
                writes: 0,
                payload_bytes: 0,
                stored_bytes: 0,
            });
        }
        if let Some(last) = inner.minutes.back_mut() {
            last.writes += 1;
            last.payload_bytes += payload_bytes as u64;
            last.stored_bytes += stored_bytes as u64;
        }
    }

    fn with<R>(&self, work: impl FnOnce(&Inner) -> R) -> R {
        // A panic while it was held leaves whole samples behind.
        work(&self.inner.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }

    pub(super) fn samples(&self) -> Vec<Sample> {
        self.with(|inner| inner.samples.iter().copied().collect())
    }

    pub(super) fn minutes(&self) -> Vec<Minute> {
        self.with(|inner| inner.minutes.iter().copied().collect())
    }

    /// The 99th percentile of the samples of a kind, in microseconds; 0 without samples.
    pub(super) fn p99_us(&self, kind: SampleKind) -> u64 {
        let mut times: Vec<u64> = self.with(|inner| {
            let of_kind = inner.samples.iter().filter(|sample| sample.kind == kind);
            of_kind.map(|sample| sample.time_ns).collect()
        });
        if times.is_empty() {
            return 0;
        }
        let at = (times.len() * 99).div_ceil(100) - 1;
        *times.select_nth_unstable(at).1 / 1_000
    }
}
