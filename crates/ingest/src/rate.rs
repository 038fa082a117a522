//! A limit of bytes in a second. It is kept in one number, the time at which what was taken would
//! have come at exactly the limit, so that readers share it without a lock and a limit that is
//! changed holds from the next read on.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How much may be taken ahead of the limit, in time: a second's worth, as the limit is named.
const AHEAD: Duration = Duration::from_secs(1);

/// What was taken under a limit.
#[derive(Debug)]
pub struct Rate {
    since: Instant,
    /// Nanoseconds after `since`.
    paid_until: AtomicU64,
}

impl Default for Rate {
    fn default() -> Rate {
        Rate { since: Instant::now(), paid_until: AtomicU64::new(0) }
    }
}

impl Rate {
    /// Whether more may be taken now. What is taken next may be longer than what is left, and is
    /// waited for afterwards.
    pub fn has_credit(&self) -> bool {
        self.paid_until.load(Ordering::Relaxed) <= self.now() + nanoseconds(AHEAD)
    }

    /// Whether nothing was taken ahead of the limit, so that a new one would say the same.
    pub fn is_even(&self) -> bool {
        self.paid_until.load(Ordering::Relaxed) <= self.now()
    }

    /// Counts what was taken under this limit.
    pub fn take(&self, limit: NonZeroU64, bytes: usize) {
        let now = self.now();
        let cost = bytes as u128 * nanoseconds(Duration::from_secs(1)) as u128;
        let cost = u64::try_from(cost / u128::from(limit.get())).unwrap_or(u64::MAX);
        let paid = |until: u64| Some(until.max(now).saturating_add(cost));
        // It never refuses.
        let _before = self.paid_until.fetch_update(Ordering::Relaxed, Ordering::Relaxed, paid);
    }

    fn now(&self) -> u64 {
        nanoseconds(self.since.elapsed())
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_a_second_ahead_of_the_limit_has_no_credit() {
        let (rate, limit) = (Rate::default(), NonZeroU64::new(1).unwrap());
        assert!(rate.has_credit());
        rate.take(limit, 1);
        assert!(rate.has_credit());
        rate.take(limit, 3_600);
        assert!(!rate.has_credit());
    }

    #[test]
    fn no_number_of_bytes_is_too_much_to_count() {
        let (rate, limit) = (Rate::default(), NonZeroU64::new(1).unwrap());
        (0..3).for_each(|_| rate.take(limit, usize::MAX));
        assert!(!rate.has_credit());
    }
}
