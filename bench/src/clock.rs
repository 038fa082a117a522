//! The clock of every bench: the processor time of this thread where the system tells it, because
//! then a process that takes the core in the middle of a batch costs nothing; else the wall clock.
//!
//! Nothing that is measured waits or starts threads, so on an idle machine both show the same.

#[cfg(not(unix))]
use std::time::Instant;

/// A clock that was started.
pub(crate) struct Clock {
    #[cfg(unix)]
    start_ns: f64,
    #[cfg(not(unix))]
    start: Instant,
}

#[cfg(unix)]
impl Clock {
    pub(crate) fn start() -> Clock {
        Clock { start_ns: thread_ns() }
    }

    pub(crate) fn elapsed_ns(&self) -> f64 {
        thread_ns() - self.start_ns
    }
}

/// The processor time of this thread so far. A double holds nanoseconds of a hundred days exactly.
#[cfg(unix)]
fn thread_ns() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the place for the result is ours and of the right type.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    assert_eq!(failed, 0, "the system has no clock of threads");
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

#[cfg(not(unix))]
impl Clock {
    pub(crate) fn start() -> Clock {
        Clock { start: Instant::now() }
    }

    pub(crate) fn elapsed_ns(&self) -> f64 {
        self.start.elapsed().as_secs_f64() * 1e9
    }
}
