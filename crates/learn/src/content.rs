//! The choice of a dictionary's content: the texts that most samples hold.
//!
//! As in zstd's own trainer (COVER, Liao, Petri, Moffat and Wirth 2016), a text is worth the number
//! of samples that hold each of its parts, and parts that were taken count no more. Ours differs in
//! two ways. It may take only what enough entities have as a whole, so that nothing in it belongs
//! to few; these texts are known, so the best of all is taken each time, instead of the best of the
//! next stretch. A text whose parts were taken in between is weighed again before it is.

use std::collections::{BinaryHeap, HashSet};

use xxhash_rust::xxh3::xxh3_64;

use crate::samples::Samples;
use crate::shared::Shared;

/// The base-2 logarithm of the counts of parts; two parts with one count do no harm.
const TABLE_BITS: u32 = 21;

/// Longer texts are taken in pieces.
const PIECE_BYTES_MAX: usize = 2 << 10;

/// A part that fewer samples hold serves nobody.
const COUNT_MIN: u32 = 2;

/// What the choice depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameters {
    /// The bytes of the parts that are counted, 4 to 8.
    pub part_bytes: usize,
    /// What a text costs beside its bytes: with much, long texts are taken before short ones that
    /// more samples hold, because one long match costs less than several short ones.
    pub piece_cost_bytes: u64,
}

impl Parameters {
    /// What is tried where there is time to search.
    pub fn all() -> impl Iterator<Item = Parameters> {
        [6, 8].into_iter().flat_map(|part_bytes| {
            [16, 128, 1024]
                .into_iter()
                .map(move |piece_cost_bytes| Parameters { part_bytes, piece_cost_bytes })
        })
    }
}

impl Default for Parameters {
    /// What is good for most corpora.
    fn default() -> Parameters {
        Parameters { part_bytes: 6, piece_cost_bytes: 512 }
    }
}

/// Counts in how many samples each part stands.
pub(crate) struct Counts {
    counts: Vec<u32>,
    pub(crate) part_bytes: usize,
}

impl Counts {
    pub(crate) fn of(samples: &Samples, part_bytes: usize) -> Counts {
        let mut counts = vec![0u32; 1 << TABLE_BITS];
        let mut last = vec![0u32; 1 << TABLE_BITS];
        for number in 0..samples.count() {
            for part in samples.sample(number).windows(part_bytes) {
                let slot = slot_of(part);
                // The repetitions within a payload need no dictionary.
                if last[slot] != number as u32 + 1 {
                    last[slot] = number as u32 + 1;
                    counts[slot] += 1;
                }
            }
        }
        Counts { counts, part_bytes }
    }
}

fn slot_of(part: &[u8]) -> usize {
    let mut bytes = [0; 8];
    let length = part.len().min(bytes.len());
    bytes[..length].copy_from_slice(&part[..length]);
    let hash = u64::from_le_bytes(bytes).wrapping_mul(0xCF1B_BCDC_B7A5_6463);
    (hash >> (64 - TABLE_BITS)) as usize
}

/// A text that may be taken. Ordered by its worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Piece {
    /// How many samples hold its parts, for each 256 of its bytes and costs.
    worth: u64,
    /// Where it stands in the samples; of equals the first counts.
    start: std::cmp::Reverse<usize>,
    end: usize,
}

/// Texts of the samples, as ranges of their bytes, the best first, of at most `bytes_max` bytes
/// together.
pub(crate) fn choose(
    samples: &Samples,
    shared: &Shared,
    counts: &Counts,
    parameters: Parameters,
    bytes_max: usize,
) -> Vec<(usize, usize)> {
    let mut chooser = Chooser {
        flat: &samples.flat,
        counts: counts.counts.clone(),
        part_bytes: counts.part_bytes,
        piece_cost_bytes: parameters.piece_cost_bytes,
        pieces: BinaryHeap::new(),
    };
    chooser.offer_all(&shared.lengths);
    let (mut chosen, mut bytes) = (Vec::new(), 0);
    while let Some(piece) = chooser.pieces.pop() {
        let (start, end) = (piece.start.0, piece.end);
        if chooser.worth(start, end) < piece.worth {
            chooser.offer(start, end);
            continue;
        }
        // What does not fit is cut.
        let end = end.min(start + (bytes_max - bytes));
        if end - start < chooser.part_bytes {
            break;
        }
        chooser.take(start, end);
        bytes += end - start;
        chosen.push((start, end));
    }
    chosen
}

struct Chooser<'a> {
    flat: &'a [u8],
    counts: Vec<u32>,
    part_bytes: usize,
    piece_cost_bytes: u64,
    pieces: BinaryHeap<Piece>,
}

impl Chooser<'_> {
    /// Offers every text that enough entities have and that no longer one begins before, once.
    fn offer_all(&mut self, shared: &[u32]) {
        let mut seen: HashSet<u64> = HashSet::new();
        for start in 0..shared.len() {
            let length = shared[start] as usize;
            if length < self.part_bytes || start > 0 && shared[start - 1] > shared[start] {
                continue;
            }
            let end = start + length;
            let mut from = start;
            while from + self.part_bytes <= end {
                let to = end.min(from + PIECE_BYTES_MAX);
                if seen.insert(xxh3_64(&self.flat[from..to])) {
                    self.offer(from, to);
                }
                if to == end {
                    break;
                }
                // No part that lies across is lost.
                from = to + 1 - self.part_bytes;
            }
        }
    }

    /// Offers a text without the parts at its ends that count no more. Those within stay, because
    /// one long match costs less than several short ones.
    fn offer(&mut self, start: usize, end: usize) {
        let mut parts = (start..=end - self.part_bytes).filter(|&at| self.count(at) >= COUNT_MIN);
        let Some(first) = parts.next() else { return };
        let last = parts.next_back().unwrap_or(first) + self.part_bytes;
        let worth = self.worth(first, last);
        self.pieces.push(Piece { worth, start: std::cmp::Reverse(first), end: last });
    }

    fn worth(&self, start: usize, end: usize) -> u64 {
        let parts = start..=end - self.part_bytes;
        let counted: u64 = parts.map(|at| u64::from(self.count(at))).sum();
        (counted << 8) / ((end - start) as u64 + self.piece_cost_bytes)
    }

    /// The parts of a text count no more.
    fn take(&mut self, start: usize, end: usize) {
        for at in start..=end - self.part_bytes {
            let slot = self.slot(at);
            self.counts[slot] = 0;
        }
    }

    fn count(&self, at: usize) -> u32 {
        self.counts[self.slot(at)]
    }

    fn slot(&self, at: usize) -> usize {
        slot_of(&self.flat[at..at + self.part_bytes])
    }
}
