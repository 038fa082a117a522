//! Measuring: one candidate on one payload, and the stages that decide which candidates are
//! measured on how many.
//!
//! A figure never depends on the order of the command line: every choice is seeded, every stage is
//! budgeted by counts, and in the timed stage the candidates take turns.

mod executor;
mod frames;
mod plan;
mod process;
mod regimes;
mod rounds;
mod runner;
mod sizing;
mod stored;
mod timing;
mod tracked;
mod worker;

pub use plan::Plan;
pub use process::Launch;
pub use regimes::{Evictor, first_calls, regimes};
pub use rounds::{BLOCK_BYTES, Quiet, Turns};
pub use runner::{Runner, Steps, TimedFrom, Verdict};
pub use sizing::{Job, Setting, size};
pub(crate) use stored::profile_of;
pub use timing::clock_overhead_ns;
pub use tracked::{CallLog, Sizes, Stage, Times, Tracked, total};
pub use worker::serve;

use std::sync::atomic::{AtomicBool, Ordering};

/// What a caller sees of a running evaluation.
pub trait Progress {
    /// A stage begins; it has about `total` units of work.
    fn begin(&mut self, stage: &str, total: u64);
    /// Some units are done.
    fn advance(&mut self, units: u64);
}

/// Progress and the wish to stop, as the stages take them.
pub struct Watch<'a> {
    /// Who is told.
    pub progress: &'a mut dyn Progress,
    /// Set when the user wants what was measured so far.
    pub stop: &'a AtomicBool,
}

impl Watch<'_> {
    /// Whether the user wants to stop.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
