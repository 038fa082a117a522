//! The clock: wall time of one call, less what reading the clock costs.
//!
//! A call on a payload of some hundred bytes takes as long as a few readings of the clock, so the
//! cost of one reading is measured once and taken off.

use std::hint::black_box;
use std::sync::OnceLock;
use std::time::Instant;

/// What two readings of the clock around nothing take, in nanoseconds.
pub fn clock_overhead_ns() -> f64 {
    static OVERHEAD: OnceLock<f64> = OnceLock::new();
    *OVERHEAD.get_or_init(|| {
        let mut least = u128::MAX;
        for _ in 0..2_000 {
            let start = Instant::now();
            least = least.min(black_box(start).elapsed().as_nanos());
        }
        least as f64
    })
}

/// Runs `call` and returns its result and its time in nanoseconds.
#[inline]
pub(super) fn timed<T>(call: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let result = call();
    let elapsed = start.elapsed().as_nanos() as f64;
    (result, (elapsed - clock_overhead_ns()).max(0.0))
}
