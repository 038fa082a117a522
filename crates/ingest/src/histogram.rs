//! A histogram of durations that many threads add to without waiting: fixed buckets, four to each
//! power of two, so that a quantile is off by at most a quarter of itself.
//!
//! `hdrhistogram` keeps more digits, but needs a lock or a merge for each thread that adds.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Buckets to each power of two.
const STEPS: usize = 4;

/// Microseconds up to 2^40, which is twelve days.
const BUCKETS: usize = 40 * STEPS;

/// Durations in microseconds.
#[derive(Debug)]
pub struct Histogram {
    buckets: Box<[AtomicU64]>,
    max: AtomicU64,
    /// The longest since somebody last took it.
    recent_max: AtomicU64,
    sum: AtomicU64,
}

impl Default for Histogram {
    fn default() -> Histogram {
        let buckets = (0..BUCKETS).map(|_| AtomicU64::new(0)).collect();
        let [max, recent_max, sum] = [0; 3].map(AtomicU64::new);
        Histogram { buckets, max, recent_max, sum }
    }
}

fn bucket(micros: u64) -> usize {
    if micros < STEPS as u64 {
        return micros as usize;
    }
    let power = micros.ilog2() as usize;
    let step = (micros >> (power - 2)) as usize & (STEPS - 1);
    ((power - 1) * STEPS + step).min(BUCKETS - 1)
}

/// The least value that falls into the bucket after this one.
fn upper(bucket: usize) -> u64 {
    let next = bucket + 1;
    if next < 2 * STEPS {
        return next as u64;
    }
    ((STEPS + next % STEPS) as u64) << (next / STEPS - 1)
}

impl Histogram {
    /// Adds a duration.
    pub fn add(&self, duration: Duration) {
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        self.buckets[bucket(micros)].fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add(micros, Ordering::Relaxed);
        // A maximum rises seldom, and to look at it costs less than to write it.
        for max in [&self.max, &self.recent_max] {
            if max.load(Ordering::Relaxed) < micros {
                max.fetch_max(micros, Ordering::Relaxed);
            }
        }
    }

    /// How many were added.
    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed)).sum()
    }

    /// The sum of all, in seconds.
    pub fn sum_s(&self) -> f64 {
        self.sum.load(Ordering::Relaxed) as f64 / 1e6
    }

    /// The longest, in seconds.
    pub fn max_s(&self) -> f64 {
        self.max.load(Ordering::Relaxed) as f64 / 1e6
    }

    /// The longest since this was last asked, in seconds; 0 if there was none.
    pub fn take_recent_max_s(&self) -> f64 {
        self.recent_max.swap(0, Ordering::Relaxed) as f64 / 1e6
    }

    /// A bound, in seconds, that at least this share of all does not exceed; at most a quarter too
    /// high, and 0 while there are none.
    pub fn quantile_s(&self, share: f64) -> f64 {
        let wanted = (self.count() as f64 * share).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (index, count) in self.buckets.iter().enumerate() {
            seen += count.load(Ordering::Relaxed);
            if seen >= wanted {
                return (upper(index) as f64 / 1e6).min(self.max_s());
            }
        }
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_duration_lies_below_the_upper_end_of_its_bucket_and_by_at_most_a_quarter() {
        for micros in (0..10_000).chain([123_456, 9_999_999, 1 << 33]) {
            let upper = upper(bucket(micros));
            assert!(micros < upper, "{micros} is not below {upper}");
            assert!(upper <= micros + micros / 4 + 1, "{upper} is far above {micros}");
        }
    }

    #[test]
    fn quantiles_are_those_of_what_was_added() {
        let histogram = Histogram::default();
        assert_eq!(histogram.quantile_s(0.99), 0.0);
        for millis in 1..=100 {
            histogram.add(Duration::from_millis(millis));
        }
        let p50 = histogram.quantile_s(0.5);
        assert!((0.050..=0.063).contains(&p50), "{p50}");
        assert_eq!(histogram.quantile_s(1.0), 0.1);
        assert_eq!(histogram.count(), 100);
        assert_eq!(histogram.take_recent_max_s(), 0.1);
        histogram.add(Duration::from_millis(3));
        assert_eq!((histogram.take_recent_max_s(), histogram.max_s()), (0.003, 0.1));
    }
}
