//! How long to wait before the next try: twice as long each time, less a random part, so that the
//! clients of a server that was restarted do not all come back in the same moment.

use std::time::Duration;

/// The waits between tries.
#[derive(Debug)]
pub(crate) struct Backoff {
    least: Duration,
    most: Duration,
    next: Duration,
}

impl Backoff {
    pub(crate) fn new(least: Duration, most: Duration) -> Backoff {
        Backoff { least, most, next: least }
    }

    /// It worked: the next failure is the first again.
    pub(crate) fn reset(&mut self) {
        self.next = self.least;
    }

    /// How long to wait now.
    pub(crate) fn wait(&mut self) -> Duration {
        let whole = self.next.min(self.most);
        self.next = whole.saturating_mul(2);
        // Where the system has no random numbers, all clients wait equally long.
        let random = getrandom::u32().unwrap_or(0);
        whole - whole.mul_f64(f64::from(random) / f64::from(u32::MAX) / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_most_and_lose_at_most_a_half() {
        let (least, most) = (Duration::from_millis(10), Duration::from_millis(100));
        let mut backoff = Backoff::new(least, most);
        for whole in [10, 20, 40, 80, 100, 100].map(Duration::from_millis) {
            let wait = backoff.wait();
            assert!(wait >= whole / 2 && wait <= whole, "{wait:?} of {whole:?}");
        }
        backoff.reset();
        assert!(backoff.wait() <= least);
    }
}
