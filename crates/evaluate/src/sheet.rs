//! Candidates side by side on the same payloads: what every comparison is made of.
//!
//! A figure that ranks one candidate above another is always a figure of this sheet, payload by
//! payload, so that an interval of the difference can be told and a tie be called one.

use std::collections::BTreeMap;

use crate::bootstrap::{Interval, Resamples};
use crate::corpus::Corpus;
use crate::goal::{Goal, Measured};
use crate::measure::{Quiet, TimedFrom, Times, Tracked};
use crate::model::Paired;
use crate::statistics::standard_deviation;

/// One candidate's figures, one of each for each payload of the sheet.
#[derive(Debug, Clone, Default)]
pub struct Row {
    /// Stored bytes.
    pub packed_bytes: Vec<f64>,
    /// Time to pack, in nanoseconds.
    pub pack_ns: Vec<f64>,
    /// Time to unpack, in nanoseconds.
    pub unpack_ns: Vec<f64>,
    /// The logarithm of its total time in each stretch of rounds with contexts of its own.
    pub lives: BTreeMap<usize, f64>,
}

impl Row {
    /// How far the ratio of two times moves with where contexts and buffers happen to lie in
    /// memory: the standard error of its logarithm.
    fn life_error(&self, other: &Row) -> f64 {
        let difference = |(life, total): (&usize, &f64)| Some(total - other.lives.get(life)?);
        let differences: Vec<f64> = self.lives.iter().filter_map(difference).collect();
        standard_deviation(&differences) / (differences.len() as f64).sqrt().max(1.0)
    }
}

/// What the rounds say of one candidate.
#[derive(Debug, Clone)]
pub struct Figures {
    /// Packing and unpacking time of each payload: the medians over its rounds.
    times_ns: BTreeMap<usize, (f64, f64)>,
    /// As in [`Row::lives`].
    lives: BTreeMap<usize, f64>,
}

/// Candidates on the same payloads.
#[derive(Debug, Clone, Default)]
pub struct Sheet {
    /// Indices of the payloads.
    pub payloads: Vec<usize>,
    /// Their bytes.
    pub bytes_in: Vec<f64>,
    /// The candidates that have a figure for each payload.
    pub rows: BTreeMap<usize, Row>,
}

impl Sheet {
    /// The sheet of these payloads and of those candidates that were sized and timed on all of
    /// them. `figures` says which of a candidate's times are meant.
    pub fn new(
        corpus: &Corpus,
        payloads: &[usize],
        all: &[Tracked],
        candidates: &[usize],
        mut figures: impl FnMut(usize) -> Option<Figures>,
    ) -> Sheet {
        let mut row = |&candidate: &usize| {
            let Figures { times_ns, lives } = figures(candidate)?;
            let mut row = Row { lives, ..Row::default() };
            for &payload in payloads {
                let sizes = all[candidate].sizes_of(payload)?;
                let &(pack_ns, unpack_ns) = times_ns.get(&payload)?;
                row.packed_bytes.push(sizes.packed_bytes as f64);
                row.pack_ns.push(pack_ns);
                row.unpack_ns.push(unpack_ns);
            }
            Some((candidate, row))
        };
        Sheet {
            payloads: payloads.to_vec(),
            bytes_in: payloads.iter().map(|&p| corpus.payloads[p].bytes.len() as f64).collect(),
            rows: candidates.iter().filter_map(&mut row).collect(),
        }
    }

    /// The same candidates on some of the payloads, chosen by their bytes.
    pub fn within(&self, keeps: impl Fn(usize) -> bool) -> Sheet {
        let places: Vec<usize> = (0..self.payloads.len())
            .filter(|&place| keeps(self.bytes_in[place] as usize))
            .collect();
        let pick = |values: &[f64]| places.iter().map(|&place| values[place]).collect();
        let row = |row: &Row| Row {
            packed_bytes: pick(&row.packed_bytes),
            pack_ns: pick(&row.pack_ns),
            unpack_ns: pick(&row.unpack_ns),
            lives: row.lives.clone(),
        };
        Sheet {
            payloads: places.iter().map(|&place| self.payloads[place]).collect(),
            bytes_in: pick(&self.bytes_in),
            rows: self.rows.iter().map(|(&candidate, figures)| (candidate, row(figures))).collect(),
        }
    }

    /// What a goal ranks a candidate by.
    pub fn measured(&self, candidate: usize) -> Option<Measured> {
        let row = self.rows.get(&candidate)?;
        (!self.payloads.is_empty()).then(|| self.weighted(row, |_| 1.0))
    }

    /// The score of a candidate under a goal; less is better.
    pub fn score(&self, candidate: usize, goal: &Goal) -> Option<f64> {
        self.measured(candidate).map(|measured| (goal.score)(&measured))
    }

    fn weighted(&self, row: &Row, weight: impl Fn(usize) -> f64) -> Measured {
        let [mut count, mut bytes_in, mut packed, mut pack, mut unpack] = [0.0; 5];
        for place in 0..self.payloads.len() {
            let weight = weight(place);
            count += weight;
            bytes_in += weight * self.bytes_in[place];
            packed += weight * row.packed_bytes[place];
            pack += weight * row.pack_ns[place];
            unpack += weight * row.unpack_ns[place];
        }
        Measured {
            size_share: packed / f64::max(bytes_in, 1.0),
            packed_bytes: packed / f64::max(count, 1.0),
            pack_ns: pack / f64::max(count, 1.0),
            unpack_ns: unpack / f64::max(count, 1.0),
        }
    }

    /// One candidate against another, with intervals over resamples of the groups.
    pub fn paired(
        &self,
        candidate: usize,
        best: usize,
        goal: &Goal,
        resamples: &Resamples,
    ) -> Option<Paired> {
        let (mine, other) = (self.rows.get(&candidate)?, self.rows.get(&best)?);
        let time = |row: &Row| -> Vec<f64> {
            row.pack_ns.iter().zip(&row.unpack_ns).map(|(pack, unpack)| pack + unpack).collect()
        };
        let (my_time, other_time) = (time(mine), time(other));
        let sum = |values: &[f64]| values.iter().sum::<f64>().max(1e-9);
        let difference = |weight: &dyn Fn(usize) -> f64| {
            (goal.score)(&self.weighted(mine, weight)) - (goal.score)(&self.weighted(other, weight))
        };
        let score_difference = difference(&|_| 1.0);
        let mut score_interval =
            resamples.interval(|counts| difference(&|place| f64::from(counts[place])));
        let time_ratio = sum(&my_time) / sum(&other_time);
        let mut time_interval = resamples.ratio_of_sums(&my_time, &other_time);
        let error = mine.life_error(other);
        if error > 0.0 {
            let measured = self.weighted(mine, |_| 1.0);
            let Measured { pack_ns, unpack_ns, .. } = measured;
            let slower = Measured {
                pack_ns: pack_ns * error.exp(),
                unpack_ns: unpack_ns * error.exp(),
                ..measured
            };
            let of_score = (goal.score)(&slower) - (goal.score)(&measured);
            score_interval = score_interval.widened(score_difference, of_score);
            time_interval = time_interval.widened_by_factor(time_ratio, error);
        }
        Some(Paired {
            size_ratio: sum(&mine.packed_bytes) / sum(&other.packed_bytes),
            size_interval: resamples.ratio_of_sums(&mine.packed_bytes, &other.packed_bytes),
            time_ratio,
            time_interval,
            score_difference,
            score_interval,
            is_tie: is_tie(score_difference, &score_interval, goal.tie),
        })
    }
}

/// Whether a difference of scores is too small, or too uncertain, to call one of the two better.
/// Where nothing is known of its spread, the difference itself decides.
pub fn is_tie(difference: f64, interval: &Interval, bound: f64) -> bool {
    match interval.low.is_finite() {
        true => interval.low < bound,
        false => difference < bound,
    }
}

/// What the quiet rounds of a candidate say.
pub fn figures(tracked: &Tracked, quiet: Quiet, from: TimedFrom) -> Option<Figures> {
    if quiet.times.iter().any(|times| times.rounds.is_empty()) {
        return None;
    }
    let candidate = &tracked.candidate;
    let of = |times: &Times| {
        let pack = times.median(|steps| steps.totals(candidate, from).0);
        let unpack = times.median(|steps| steps.totals(candidate, from).1);
        (times.payload, (pack, unpack))
    };
    Some(Figures { times_ns: quiet.times.iter().map(of).collect(), lives: quiet.lives })
}
