//! How fast a walk goes: as fast as the server answers as quickly as it did when it was left alone.
//!
//! The median latency of our own calls is compared with a baseline that was measured at a low rate.
//! While it stays near the baseline the rate grows, first by doubling and then by addition; where
//! it does not, the rate is halved. The baseline is measured anew every few minutes, so that a
//! server whose day got busier is not taken for one that we hurt.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// The rate at which a baseline is measured, in records a second: nobody's server feels it.
const RATE_MEASURING: f64 = 50.0;

/// The lowest rate, in records a second: a walk that stood still would never see that the server
/// has recovered.
const RATE_MIN: f64 = 5.0;

/// The highest rate, in records a second, where nobody gave one; only memory answers so fast.
const RATE_MAX: f64 = 1e6;

/// By how much the rate grows with each window, in records a second.
const RATE_STEP: f64 = 20.0;

/// What a window needs: enough calls for a median, and enough time to see what the last rate did.
const WINDOW_CALLS_MIN: usize = 32;
const WINDOW_MIN: Duration = Duration::from_millis(100);

/// The most latencies that a window keeps; the median does not need more.
const WINDOW_CALLS_MAX: usize = 4_096;

/// The server is hurt where the median is above the baseline times the factor plus the slack: the
/// slack keeps the noise of answers within a millisecond from looking like load.
const HURT_FACTOR: u32 = 2;
const HURT_SLACK: Duration = Duration::from_millis(1);

/// How long a baseline holds.
const BASELINE_AGE_MAX: Duration = Duration::from_secs(300);

/// What a call does, since writes are slower than reads and have a baseline of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    /// It reads.
    Read,
    /// It writes.
    Write,
}

/// What the rate follows from; it has no clock of its own.
#[derive(Debug)]
struct Control {
    rate: f64,
    rate_max: f64,
    phase: Phase,
    baselines: [Option<Duration>; 2],
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    /// At a low rate, to see how fast the server answers; then on at this rate.
    Measuring { then: f64 },
    /// Doubling, until the server is hurt for the first time.
    Doubling,
    /// Adding.
    Adding,
}

impl Control {
    fn new(rate_max: Option<u32>) -> Control {
        let rate_max = rate_max.map_or(RATE_MAX, |rate| f64::from(rate.max(1)));
        let rate = RATE_MEASURING.min(rate_max);
        let phase = Phase::Measuring { then: rate };
        Control { rate, rate_max, phase, baselines: [None; 2] }
    }

    /// Takes the medians of a window, of reads and of writes, where there were enough.
    fn close_window(&mut self, medians: [Option<Duration>; 2]) {
        let is_measuring = matches!(self.phase, Phase::Measuring { .. });
        let is_new = |(baseline, median): (&Option<Duration>, &Option<Duration>)| {
            baseline.is_none() && median.is_some()
        };
        // The first writes may come when reads alone have driven the rate up.
        if !is_measuring && self.baselines.iter().zip(&medians).any(is_new) {
            self.measure_anew();
            return;
        }
        let mut is_hurt = false;
        for (baseline, median) in self.baselines.iter_mut().zip(medians) {
            let Some(median) = median else { continue };
            match baseline {
                Some(known) if !is_measuring => {
                    is_hurt |= median > *known * HURT_FACTOR + HURT_SLACK;
                    *known = median.min(*known);
                }
                _ => *baseline = Some(median),
            }
        }
        match self.phase {
            _ if is_hurt => self.slow_down(),
            Phase::Measuring { then } if then > RATE_MEASURING => {
                self.phase = Phase::Adding;
                self.rate = then;
            }
            Phase::Measuring { .. } => self.phase = Phase::Doubling,
            Phase::Doubling => self.rate *= 2.0,
            Phase::Adding => self.rate += RATE_STEP,
        }
        self.rate = self.rate.min(self.rate_max);
    }

    fn slow_down(&mut self) {
        self.phase = Phase::Adding;
        self.rate = (self.rate / 2.0).max(RATE_MIN).min(self.rate_max);
    }

    fn measure_anew(&mut self) {
        self.phase = Phase::Measuring { then: self.rate / 2.0 };
        self.rate = self.rate.min(RATE_MEASURING);
    }
}

/// The pace of a walk, shared by the tasks that it has in flight.
#[derive(Debug)]
pub(crate) struct Pace(Mutex<Paced>);

#[derive(Debug)]
struct Paced {
    control: Control,
    /// When the next record may begin.
    next: Instant,
    opened: Instant,
    measured: Instant,
    latencies: [Vec<Duration>; 2],
}

impl Pace {
    /// A pace with at most this many records a second.
    pub(crate) fn new(rate_max: Option<u32>) -> Pace {
        let now = Instant::now();
        let control = Control::new(rate_max);
        let latencies = [Vec::new(), Vec::new()];
        Pace(Mutex::new(Paced { control, next: now, opened: now, measured: now, latencies }))
    }

    fn lock(&self) -> MutexGuard<'_, Paced> {
        // A panic while it was held leaves numbers that the next window puts right.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the next record may begin.
    pub(crate) async fn wait(&self) {
        let at = {
            let mut paced = self.lock();
            let at = paced.next.max(Instant::now());
            paced.next = at + Duration::from_secs_f64(1.0 / paced.control.rate);
            at
        };
        sleep_until(at).await;
    }

    /// Notes how long a call took.
    pub(crate) fn note(&self, call: Call, took: Duration) {
        let mut paced = self.lock();
        let latencies = &mut paced.latencies[usize::from(call == Call::Write)];
        if latencies.len() < WINDOW_CALLS_MAX {
            latencies.push(took);
        }
        paced.close_if_due(Instant::now());
    }

    /// Notes that the server did not answer.
    pub(crate) fn note_failure(&self) {
        self.lock().control.slow_down();
    }

    /// The rate, in records a second.
    pub(crate) fn rate(&self) -> f64 {
        self.lock().control.rate
    }
}

impl Paced {
    fn close_if_due(&mut self, now: Instant) {
        let calls: usize = self.latencies.iter().map(Vec::len).sum();
        if calls < WINDOW_CALLS_MIN || now - self.opened < WINDOW_MIN {
            return;
        }
        // A median of a few calls is none; they wait for the next window.
        let medians = self.latencies.each_mut().map(|latencies| {
            (latencies.len() >= WINDOW_CALLS_MIN / 2).then(|| median(&std::mem::take(latencies)))
        });
        let medians = medians.map(Option::flatten);
        self.control.close_window(medians);
        self.opened = now;
        if now - self.measured >= BASELINE_AGE_MAX {
            self.measured = now;
            self.control.measure_anew();
        }
    }
}

fn median(latencies: &[Duration]) -> Option<Duration> {
    let mut sorted = latencies.to_vec();
    let middle = sorted.len() / 2;
    (!sorted.is_empty()).then(|| *sorted.select_nth_unstable(middle).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that answers more slowly the nearer it is to its capacity.
    fn latency(rate: f64, capacity: f64) -> Duration {
        let load = (rate / capacity).min(0.99);
        Duration::from_secs_f64(0.002 / (1.0 - load))
    }

    fn run(control: &mut Control, capacity: f64, windows: usize) -> Vec<f64> {
        let mut rates = Vec::new();
        for _ in 0..windows {
            let median = latency(control.rate, capacity);
            control.close_window([Some(median), None]);
            rates.push(control.rate);
        }
        rates
    }

    fn mean(rates: &[f64]) -> f64 {
        rates.iter().sum::<f64>() / rates.len() as f64
    }

    #[test]
    fn the_rate_finds_the_server_and_follows_it_down() {
        let mut control = Control::new(None);
        let rates = run(&mut control, 4_000.0, 400);
        let settled = mean(&rates[200..]);
        assert!((1_000.0..3_000.0).contains(&settled), "{settled} of 4000");
        // Somebody else takes nine tenths of it.
        let rates = run(&mut control, 400.0, 400);
        let settled = mean(&rates[200..]);
        assert!((40.0..300.0).contains(&settled), "{settled} of 400");
    }

    #[test]
    fn writes_that_come_late_are_measured_at_a_low_rate() {
        let mut control = Control::new(None);
        run(&mut control, 1e9, 30);
        assert!(control.rate > 10_000.0);
        let fast = Some(Duration::from_millis(2));
        control.close_window([fast, Some(Duration::from_secs(1))]);
        assert_eq!(control.rate, RATE_MEASURING);
        control.close_window([fast, Some(Duration::from_millis(4))]);
        assert_eq!(control.baselines[1], Some(Duration::from_millis(4)));
    }

    #[test]
    fn a_limit_holds_and_a_failure_halves() {
        let mut control = Control::new(Some(700));
        assert!(run(&mut control, 1e9, 200).iter().all(|rate| *rate <= 700.0));
        assert_eq!(control.rate, 700.0);
        control.slow_down();
        assert_eq!(control.rate, 350.0);
        (0..50).for_each(|_| control.slow_down());
        assert_eq!(control.rate, RATE_MIN);
    }

    #[test]
    fn a_server_that_got_slower_by_itself_is_measured_anew() {
        let slow = Duration::from_millis(50);
        let mut control = Control::new(None);
        run(&mut control, 1e9, 100);
        (0..100).for_each(|_| control.close_window([Some(slow), None]));
        assert_eq!(control.rate, RATE_MIN, "it looks as if we hurt it");
        control.measure_anew();
        (0..100).for_each(|_| control.close_window([Some(slow), None]));
        assert!(control.rate > 100.0, "{}", control.rate);
    }

    #[tokio::test(start_paused = true)]
    async fn records_begin_at_the_rate() {
        let pace = Pace::new(Some(10));
        let start = Instant::now();
        for _ in 0..21 {
            pace.wait().await;
        }
        let took = start.elapsed().as_secs_f64();
        assert!((1.9..2.2).contains(&took), "{took}");
    }
}
