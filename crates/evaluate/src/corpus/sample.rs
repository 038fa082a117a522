//! Keeps a fair sample of a stream of unknown length, within a count and within a memory bound.
//!
//! Every payload gets a random priority from the seed and its number, and those of the smallest
//! priorities are kept. One heap serves both bounds, and what is kept depends on the seed and the
//! source alone, never on how the source was cut into reads. Once a priority was given up, no
//! larger one may enter again, or payloads at the end of the source would be favoured.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::{Origin, Payload};

/// What it costs to hold a payload beside its bytes: its place in the heap and the allocator's
/// share. Counted, because a source may be billions of payloads of one byte.
pub(super) const HELD_OVERHEAD_BYTES: u64 = size_of::<Kept>() as u64 + 16;

struct Kept {
    priority: u64,
    index: u64,
    payload: Payload,
}

impl Kept {
    fn rank(&self) -> (u64, u64) {
        (self.priority, self.index)
    }

    fn held_bytes(&self) -> u64 {
        self.payload.bytes.len() as u64 + HELD_OVERHEAD_BYTES
    }
}

impl PartialEq for Kept {
    fn eq(&self, other: &Kept) -> bool {
        self.rank() == other.rank()
    }
}

impl Eq for Kept {}

impl PartialOrd for Kept {
    fn partial_cmp(&self, other: &Kept) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Kept {
    fn cmp(&self, other: &Kept) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

/// The payloads kept so far.
pub(super) struct Sampler {
    seed: u64,
    count_max: usize,
    bytes_max: u64,
    heap: BinaryHeap<Kept>,
    held_bytes: u64,
    /// The smallest rank that was given up; nothing at or above it enters.
    given_up: (u64, u64),
    seen: u64,
    seen_bytes: u64,
}

impl Sampler {
    pub(super) fn new(seed: u64, count_max: Option<usize>, bytes_max: u64) -> Sampler {
        Sampler {
            seed,
            count_max: count_max.unwrap_or(usize::MAX).max(1),
            bytes_max,
            heap: BinaryHeap::new(),
            held_bytes: 0,
            given_up: (u64::MAX, u64::MAX),
            seen: 0,
            seen_bytes: 0,
        }
    }

    pub(super) fn seen(&self) -> u64 {
        self.seen
    }

    pub(super) fn seen_bytes(&self) -> u64 {
        self.seen_bytes
    }

    /// Counts the next payload of the source and keeps it if its priority says so.
    pub(super) fn offer(&mut self, bytes: &[u8], is_json: bool, origin: Origin) {
        let index = self.seen;
        self.seen += 1;
        self.seen_bytes += bytes.len() as u64;
        let priority = priority(self.seed, index);
        if (priority, index) >= self.given_up {
            return;
        }
        let payload = Payload { bytes: bytes.into(), is_json, origin };
        let kept = Kept { priority, index, payload };
        self.held_bytes += kept.held_bytes();
        self.heap.push(kept);
        while self.heap.len() > self.count_max || self.held_bytes > self.bytes_max {
            let Some(largest) = self.heap.pop() else { break };
            self.held_bytes -= largest.held_bytes();
            self.given_up = largest.rank();
        }
    }

    /// What was kept, in the order of the source.
    pub(super) fn into_payloads(self) -> Vec<Payload> {
        let mut kept = self.heap.into_vec();
        kept.sort_unstable_by_key(|kept| kept.index);
        kept.into_iter().map(|kept| kept.payload).collect()
    }
}

/// The `index`th number of the SplitMix64 sequence that starts at `seed`.
fn priority(seed: u64, index: u64) -> u64 {
    let mut bits = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(seed: u64, count_max: Option<usize>, bytes_max: u64, of: u64) -> Vec<u64> {
        let mut sampler = Sampler::new(seed, count_max, bytes_max);
        for number in 0..of {
            sampler.offer(&number.to_le_bytes(), false, Origin { file: 0, line: number });
        }
        assert_eq!((sampler.seen(), sampler.seen_bytes()), (of, of * 8));
        sampler.into_payloads().iter().map(|payload| payload.origin.line).collect()
    }

    #[test]
    fn keeps_everything_within_the_bounds() {
        assert_eq!(sample(1, None, 1 << 20, 100), (0..100).collect::<Vec<_>>());
        assert_eq!(sample(1, Some(100), 1 << 20, 100), (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn keeps_the_order_of_the_source_and_depends_on_the_seed_only() {
        let first = sample(7, Some(50), 1 << 20, 10_000);
        assert_eq!(first.len(), 50);
        assert!(first.is_sorted());
        assert_eq!(first, sample(7, Some(50), 1 << 20, 10_000));
        assert_ne!(first, sample(8, Some(50), 1 << 20, 10_000));
    }

    #[test]
    fn the_byte_bound_holds_and_keeps_the_same_payloads_as_a_count_would() {
        let bound = 50 * (8 + HELD_OVERHEAD_BYTES);
        assert_eq!(sample(7, None, bound, 10_000), sample(7, Some(50), 1 << 20, 10_000));
    }

    /// Each tenth of the source must be drawn alike. The bound is six standard deviations of a
    /// binomial of 20,000 draws at one tenth, so that no seed was picked to make it pass.
    #[test]
    fn every_part_of_the_source_is_drawn_alike() {
        for bytes_max in [1 << 20, 100 * (8 + HELD_OVERHEAD_BYTES)] {
            let mut tenths = [0u32; 10];
            for seed in 0..200 {
                for line in sample(seed * 1_000_003, Some(100), bytes_max, 1_000) {
                    tenths[(line / 100) as usize] += 1;
                }
            }
            for count in tenths {
                assert!(count.abs_diff(2_000) < 255, "{tenths:?}");
            }
        }
    }
}
