//! What is known of one candidate so far, from stage to stage.
//!
//! Sizes and times are kept per payload until the end, because percentiles, size classes, factors
//! and intervals are all made of them.

use std::ops::Range;

use crate::candidate::Candidate;
use crate::measure::runner::{Steps, TimedFrom};
use crate::model::{FirstCall, Nanoseconds, Regimes};
use crate::statistics::{mean, median, percentile};

/// How far a candidate came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Its sizes were taken on a sample.
    Sizes,
    /// It was timed in turns with the others.
    Times,
    /// It ran over the whole corpus.
    Whole,
}

impl Stage {
    /// The name in the report.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Sizes => "sizes",
            Stage::Times => "times",
            Stage::Whole => "whole",
        }
    }
}

/// Sizes of one payload.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// Index of the payload in the corpus.
    pub payload: usize,
    /// As the application sees it.
    pub bytes_in: usize,
    /// As the codec leaves it.
    pub bytes_out: usize,
    /// As cinch stores it.
    pub packed_bytes: usize,
}

/// The times of one payload: one entry for each round.
#[derive(Debug, Clone, Default)]
pub struct Times {
    /// Index of the payload in the corpus.
    pub payload: usize,
    /// The rounds.
    pub rounds: Vec<Steps>,
}

impl Times {
    /// The median over the rounds of a figure, in nanoseconds.
    pub fn median(&self, figure: impl Fn(&Steps) -> f32) -> f64 {
        self.median_of(0..self.rounds.len(), figure)
    }

    /// The median over some of the rounds of a figure, in nanoseconds.
    pub fn median_of(&self, range: Range<usize>, figure: impl Fn(&Steps) -> f32) -> f64 {
        let mut rounds: Vec<f32> = self.rounds[range].iter().map(figure).collect();
        rounds.sort_by(f32::total_cmp);
        f64::from(percentile(&rounds, 0.5))
    }
}

/// Raw calls of the timed rounds.
#[derive(Debug, Clone, Default)]
pub struct CallLog {
    /// Packing times of every call, in nanoseconds.
    pub pack_ns: Vec<f32>,
    /// Unpacking times of every call, in nanoseconds.
    pub unpack_ns: Vec<f32>,
    /// How many calls the system interrupted; they were made again.
    pub preempted: u64,
    /// Wall time of the loops around the calls, in nanoseconds.
    pub wall_ns: f64,
    /// CPU time of the same loops by the thread's clock, in nanoseconds.
    pub cpu_ns: f64,
}

/// One candidate and what was measured of it.
#[derive(Debug)]
pub struct Tracked {
    /// The candidate.
    pub candidate: Candidate,
    /// Whether the user asked for it; what only stands there for comparison can't win.
    pub is_asked: bool,
    /// How far it came.
    pub stage: Stage,
    /// Sizes, of the last stage that took any, by rising payload.
    pub sizes: Vec<Sizes>,
    /// Times of the single pass of stage 1.
    pub single: Vec<Times>,
    /// Times on the payloads that choose.
    pub chosen: Vec<Times>,
    /// Times on the payloads that report.
    pub reported: Vec<Times>,
    /// Raw calls on the payloads that report, or on those that choose where there are no others.
    pub calls: CallLog,
    /// Cache regimes and context life cycles.
    pub regimes: Option<Regimes>,
    /// First calls in fresh processes.
    pub first_call: Option<FirstCall>,
    /// A new context and its first call in this process, for what has no fresh ones.
    pub first_call_ns: f64,
    /// What compressor and decompressor hold.
    pub memory_bytes: (usize, usize),
    /// Payloads that the encoding can't carry.
    pub refused: u64,
    /// The first refusal.
    pub refusal: Option<String>,
    /// Payloads that did not come back.
    pub failures: u64,
    /// The first failure.
    pub failure: Option<String>,
    /// The rule that took it out.
    pub eliminated_by: Option<String>,
}

impl Tracked {
    /// A candidate that nothing is known of.
    pub fn new(candidate: Candidate) -> Tracked {
        Tracked {
            candidate,
            is_asked: true,
            stage: Stage::Sizes,
            sizes: Vec::new(),
            single: Vec::new(),
            chosen: Vec::new(),
            reported: Vec::new(),
            calls: CallLog::default(),
            regimes: None,
            first_call: None,
            first_call_ns: 0.0,
            memory_bytes: (0, 0),
            refused: 0,
            refusal: None,
            failures: 0,
            failure: None,
            eliminated_by: None,
        }
    }

    /// The best times there are: of the payloads that report, else of those that choose, else of
    /// the single pass.
    pub fn times(&self) -> &[Times] {
        [&self.reported, &self.chosen]
            .into_iter()
            .find(|times| times.iter().any(|times| !times.rounds.is_empty()))
            .unwrap_or(&self.single)
    }

    /// The sizes of one payload, if it was sized.
    pub fn sizes_of(&self, payload: usize) -> Option<&Sizes> {
        let place = self.sizes.binary_search_by_key(&payload, |sizes| sizes.payload);
        place.ok().map(|place| &self.sizes[place])
    }

    /// Bytes of the sized payloads: in, out and packed.
    pub fn bytes(&self) -> (u64, u64, u64) {
        total(self.sizes.iter())
    }

    /// Stored bytes over payload bytes, in the sized payloads.
    pub fn size_share(&self) -> f64 {
        let (bytes_in, _, packed) = self.bytes();
        packed as f64 / (bytes_in as f64).max(1.0)
    }

    /// The median over payloads of each one's own ratio.
    pub fn median_ratio(&self) -> f64 {
        let ratio = |sizes: &Sizes| sizes.bytes_in as f64 / (sizes.bytes_out as f64).max(1.0);
        median(&mut self.sizes.iter().map(ratio).collect::<Vec<_>>())
    }

    /// The mean over payloads of each one's own compressed share.
    pub fn mean_share(&self) -> f64 {
        let share = |sizes: &Sizes| sizes.bytes_out as f64 / (sizes.bytes_in as f64).max(1.0);
        mean(&self.sizes.iter().map(share).collect::<Vec<_>>())
    }

    /// The median over the rounds of each payload's figure.
    pub fn per_payload(&self, figure: impl Fn(&Steps) -> f32) -> Vec<f64> {
        let timed = self.times().iter().filter(|times| !times.rounds.is_empty());
        timed.map(|times| times.median(&figure)).collect()
    }

    /// The summary of a figure.
    pub fn summary(&self, figure: impl Fn(&Steps) -> f32) -> Nanoseconds {
        Nanoseconds::of(self.per_payload(figure))
    }

    /// The summaries of packing and of unpacking.
    pub fn totals(&self, from: TimedFrom) -> (Nanoseconds, Nanoseconds) {
        (
            self.summary(|steps| steps.totals(&self.candidate, from).0),
            self.summary(|steps| steps.totals(&self.candidate, from).1),
        )
    }

    /// How often each payload was timed.
    pub fn rounds(&self) -> usize {
        self.times().iter().map(|times| times.rounds.len()).max().unwrap_or(0)
    }

    /// The sum of all times of each complete round, in nanoseconds, in rising order.
    fn round_sums(&self) -> Vec<f64> {
        let times = self.times();
        let complete = times.iter().map(|times| times.rounds.len()).min().unwrap_or(0);
        let sum = |round: usize| -> f64 {
            let steps = times.iter().filter_map(|times| times.rounds.get(round));
            steps.map(Steps::sum).map(f64::from).sum()
        };
        let mut sums: Vec<f64> = (0..complete).map(sum).collect();
        sums.sort_by(f64::total_cmp);
        sums
    }

    /// The median of what a round took, in nanoseconds.
    pub fn round_ns(&self) -> f64 {
        percentile(&self.round_sums(), 0.5)
    }

    /// How far the rounds lie apart: the longest less the shortest, over their median.
    pub fn round_spread(&self) -> f64 {
        let sums = self.round_sums();
        let middle = percentile(&sums, 0.5);
        match (sums.first(), sums.last()) {
            (Some(least), Some(most)) if middle > 0.0 => (most - least) / middle,
            _ => 0.0,
        }
    }
}

/// Bytes of some payloads: in, out and packed.
pub fn total<'a>(sizes: impl Iterator<Item = &'a Sizes>) -> (u64, u64, u64) {
    sizes.fold((0, 0, 0), |(bytes_in, out, packed), sizes| {
        (
            bytes_in + sizes.bytes_in as u64,
            out + sizes.bytes_out as u64,
            packed + sizes.packed_bytes as u64,
        )
    })
}
