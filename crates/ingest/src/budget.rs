//! The memory budget, carved once at the start. Processing never makes more of what was read: a
//! chunk's bytes become text of a batch, and that becomes a smaller frame in a ring. So bounding
//! the three places where bytes rest bounds the whole.

use crate::config::{Config, Sink};

/// Sixteenths of the budget for chunks: what was read and not yet looked at.
const CHUNKS_SHARE: usize = 3;

/// Sixteenths for the rings: what is compressed and waits for a sink.
const RINGS_SHARE: usize = 9;

/// Sixteenths for the text of open batches. Buffers that grow by doubling may hold twice their
/// text, so half as much text is let in.
const OPEN_SHARE: usize = 2;

/// Sixteenths for records of which only a part has come, with the same factor of two.
const PARTS_SHARE: usize = 2;

/// The part of the rings' share that windows have which wait for a sink of metrics.
const OUTLETS_DIVISOR: usize = 16;

const _: () = assert!(CHUNKS_SHARE + RINGS_SHARE + OPEN_SHARE + PARTS_SHARE == 16);

/// How the budget is carved, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// All chunks together.
    pub chunks: usize,
    /// The ring of each sink that takes batches.
    pub ring: usize,
    /// The windows that wait for each sink that takes metrics.
    pub outlet: usize,
    /// The text of open batches of each worker.
    pub open: usize,
    /// Incomplete records of each worker.
    pub parts: usize,
}

impl Budget {
    /// Carves the budget of a configuration.
    pub fn of(config: &Config) -> Budget {
        let share = config.memory_bytes / 16;
        let sinks_of =
            |takes: fn(&Sink) -> bool| config.sinks.iter().filter(|sink| takes(sink)).count();
        let of_metrics = sinks_of(|sink| sink.kind.takes_metrics());
        let of_batches = sinks_of(|sink| sink.kind.takes_batches()).max(1);
        let rings = share * RINGS_SHARE;
        let outlets = if of_metrics > 0 { rings / OUTLETS_DIVISOR } else { 0 };
        Budget {
            chunks: share * CHUNKS_SHARE,
            ring: (rings - outlets) / of_batches,
            outlet: outlets / of_metrics.max(1),
            open: share * OPEN_SHARE / 2 / config.workers,
            parts: share * PARTS_SHARE / 2 / config.workers,
        }
    }
}
