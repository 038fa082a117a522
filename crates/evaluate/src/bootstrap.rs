//! Intervals for figures of a corpus: a paired bootstrap that draws whole groups of payloads.
//!
//! Paired, because two trials are compared on the same drawn payloads, so that what makes a payload
//! hard for both cancels out. Whole groups, because near-duplicates say the same thing twice: drawn
//! one by one they would make an interval look narrower than the corpus can justify.

use std::collections::HashMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::statistics::{Chooser, percentile};

/// How many resamples an interval is made of unless the caller says otherwise: ten values lie
/// beyond each end of a 95 % interval.
pub const RESAMPLES: usize = 400;

/// The shares of the resampled figures that lie below the low and the high end.
const LOW_SHARE: f64 = 0.025;
const HIGH_SHARE: f64 = 0.975;

/// A normal distribution has 95 % within so many standard deviations.
const NORMAL_95: f64 = 1.96;

/// The most units that are drawn. A corpus of more groups deals them in turn into this many units:
/// the spread of a sum of independent groups stays the same, and the memory is bounded by 32 KiB
/// for each resample. It also keeps every count within 16 bits.
const UNITS_MAX: usize = 16 << 10;
const _: () = assert!(UNITS_MAX <= u16::MAX as usize);

/// A 95 % interval. An end that is not known is infinite, which is `null` in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The low end, in the unit of the figure.
    #[serde(serialize_with = "end", deserialize_with = "low_end")]
    pub low: f64,
    /// The high end, in the unit of the figure.
    #[serde(serialize_with = "end", deserialize_with = "high_end")]
    pub high: f64,
}

impl Interval {
    /// What is known of a figure that nothing was learned about: it may be anything.
    pub const UNKNOWN: Interval = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };

    /// The interval of a figure that has a second, independent error, given as its standard error:
    /// both distances from the figure are added as errors are, in squares.
    pub fn widened(&self, figure: f64, standard_error: f64) -> Interval {
        let further = NORMAL_95 * standard_error;
        let distance = |end: f64| (end - figure).abs().hypot(further);
        match self.low.is_finite() && self.high.is_finite() {
            true => Interval {
                low: figure - distance(self.low.min(figure)),
                high: figure + distance(self.high.max(figure)),
            },
            false => *self,
        }
    }

    /// The same for a ratio, whose second error is that of its logarithm.
    pub fn widened_by_factor(&self, ratio: f64, standard_error: f64) -> Interval {
        if self.low <= 0.0 || !self.high.is_finite() {
            return *self;
        }
        let logarithms = Interval { low: self.low.ln(), high: self.high.ln() };
        let widened = logarithms.widened(ratio.ln(), standard_error);
        Interval { low: widened.low.exp(), high: widened.high.exp() }
    }

    /// Whether a value lies in the interval, its ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

impl Default for Interval {
    /// [`Interval::UNKNOWN`], because an interval of nothing but 0 would be a claim.
    fn default() -> Interval {
        Interval::UNKNOWN
    }
}

/// The resamples of a corpus: how often each of its payloads counts in each of them.
#[derive(Debug, Clone)]
pub struct Resamples {
    unit_of: Vec<u32>,
    units: usize,
    /// `units` counts for each resample, one resample after the other.
    counts: Vec<u16>,
}

impl Resamples {
    /// Draws `count` resamples of the payloads whose groups are given. The numbers of the groups
    /// may have gaps. Each resample draws as many groups as there are, with replacement; the same
    /// groups, count and seed give the same resamples.
    pub fn new(group_of_each_payload: &[u32], count: usize, seed: u64) -> Resamples {
        let mut numbers = HashMap::new();
        let unit_of: Vec<u32> = group_of_each_payload
            .iter()
            .map(|&group| {
                let next = numbers.len();
                let number = *numbers.entry(group).or_insert(next);
                (number % UNITS_MAX) as u32
            })
            .collect();
        let units = numbers.len().min(UNITS_MAX);
        // Fewer than two groups have no spread to learn from, and nothing is drawn.
        let count = if units < 2 { 0 } else { count };
        let mut counts = vec![0u16; units * count];
        let mut chooser = Chooser::new(seed, "bootstrap");
        for drawn in counts.chunks_exact_mut(units.max(1)) {
            for _ in 0..units {
                drawn[chooser.below(units)] += 1;
            }
        }
        Resamples { unit_of, units, counts }
    }

    /// How many payloads a statistic gets the counts of.
    pub fn payloads(&self) -> usize {
        self.unit_of.len()
    }

    /// The 95 % interval of a statistic by the percentile method. The statistic is called once for
    /// each resample with how often each payload counts. Results that are not finite are left out.
    /// With fewer than two groups, or without any finite result, it is [`Interval::UNKNOWN`], by
    /// which nothing can be told apart. Below about 20 groups an interval is narrower than it
    /// should be.
    pub fn interval(&self, mut statistic: impl FnMut(&[u16]) -> f64) -> Interval {
        let mut of_payloads = vec![0u16; self.unit_of.len()];
        self.of_resamples(|counts| {
            for (count, &unit) in of_payloads.iter_mut().zip(&self.unit_of) {
                *count = counts[unit as usize];
            }
            statistic(&of_payloads)
        })
    }

    /// The interval of a ratio of sums, `Σ numerators / Σ denominators`, with one value of each for
    /// each payload: the pooled ratio of a trial, or the ratio of two trials' times. It costs one
    /// multiplication a group and resample, where [`Resamples::interval`] visits every payload.
    ///
    /// # Panics
    /// Where there are not as many values as payloads.
    pub fn ratio_of_sums(&self, numerators: &[f64], denominators: &[f64]) -> Interval {
        let [numerators, denominators] =
            [numerators, denominators].map(|values| self.unit_sums(values));
        self.of_resamples(|counts| dot(counts, &numerators) / dot(counts, &denominators))
    }

    fn unit_sums(&self, values: &[f64]) -> Vec<f64> {
        assert_eq!(values.len(), self.unit_of.len(), "one value for each payload");
        let mut sums = vec![0.0; self.units];
        for (value, &unit) in values.iter().zip(&self.unit_of) {
            sums[unit as usize] += value;
        }
        sums
    }

    fn of_resamples(&self, mut figure: impl FnMut(&[u16]) -> f64) -> Interval {
        let mut figures: Vec<f64> = self
            .counts
            .chunks_exact(self.units.max(1))
            .map(&mut figure)
            .filter(|figure| figure.is_finite())
            .collect();
        if figures.is_empty() {
            return Interval::UNKNOWN;
        }
        figures.sort_by(f64::total_cmp);
        Interval { low: percentile(&figures, LOW_SHARE), high: percentile(&figures, HIGH_SHARE) }
    }
}

fn dot(counts: &[u16], sums: &[f64]) -> f64 {
    counts.iter().zip(sums).map(|(&count, sum)| f64::from(count) * sum).sum()
}

fn end<S: Serializer>(end: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    end.is_finite().then_some(*end).serialize(serializer)
}

fn low_end<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NEG_INFINITY))
}

fn high_end<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::INFINITY))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number from 0 to 1.
    fn uniform(chooser: &mut Chooser) -> f64 {
        chooser.below(1 << 20) as f64 / f64::from(1 << 20)
    }

    #[test]
    fn the_interval_contains_the_truth_about_95_times_in_100() {
        let mut chooser = Chooser::new(1, "synthetic");
        let covered = (0..200)
            .filter(|&experiment| {
                let sizes: Vec<f64> = (0..100).map(|_| 100.0 + uniform(&mut chooser)).collect();
                // The truth is one half: the noise around it has a mean of 0 and is skewed.
                let packed: Vec<f64> = sizes
                    .iter()
                    .map(|size| size * (0.5 + uniform(&mut chooser).powi(2) - 1.0 / 3.0))
                    .collect();
                let groups: Vec<u32> = (0..100).collect();
                let resamples = Resamples::new(&groups, RESAMPLES, experiment);
                resamples.ratio_of_sums(&packed, &sizes).contains(0.5)
            })
            .count();
        assert!((180..=198).contains(&covered), "{covered} of 200");
    }

    #[test]
    fn copies_in_a_group_do_not_make_an_interval_narrower() {
        let mut chooser = Chooser::new(2, "synthetic");
        let of_group: Vec<f64> = (0..30).map(|_| uniform(&mut chooser)).collect();
        let groups: Vec<u32> = (0..600).map(|payload| payload / 20).collect();
        let values: Vec<f64> = groups.iter().map(|&group| of_group[group as usize]).collect();
        let ones = vec![1.0; values.len()];
        let width = |groups: &[u32]| {
            let interval = Resamples::new(groups, RESAMPLES, 1).ratio_of_sums(&values, &ones);
            interval.high - interval.low
        };
        let apart: Vec<u32> = (0..600).collect();
        // Twenty copies of each value: an interval that counts them is √20 times too narrow.
        assert!(width(&groups) > 3.0 * width(&apart));
    }

    #[test]
    fn the_ratio_of_sums_is_what_the_general_way_gives() {
        let groups: Vec<u32> = (0..500).map(|payload| payload * 7 % 90).collect();
        let above: Vec<f64> = (0..500).map(|payload| f64::from(payload % 17)).collect();
        let below: Vec<f64> = (0..500).map(|payload| f64::from(payload % 23 + 1)).collect();
        let resamples = Resamples::new(&groups, 50, 9);
        let sum = |counts: &[u16], values: &[f64]| dot(counts, values);
        let general = resamples.interval(|counts| {
            assert_eq!(counts.len(), resamples.payloads());
            sum(counts, &above) / sum(counts, &below)
        });
        assert_eq!(resamples.ratio_of_sums(&above, &below), general);
        assert_eq!(Resamples::new(&groups, 50, 9).ratio_of_sums(&above, &below), general);
        assert_ne!(Resamples::new(&groups, 50, 8).ratio_of_sums(&above, &below), general);
    }

    #[test]
    fn a_group_counts_as_a_whole_and_the_draws_are_as_many_as_the_groups() {
        let groups = [5, 9, 5, 5, 9, 7];
        let mut resamples = 0;
        Resamples::new(&groups, 40, 3).interval(|counts| {
            assert!(counts[0] == counts[2] && counts[0] == counts[3] && counts[1] == counts[4]);
            assert_eq!(counts[0] + counts[1] + counts[5], 3);
            resamples += 1;
            0.0
        });
        assert_eq!(resamples, 40);
    }

    #[test]
    fn where_nothing_can_be_learned_the_interval_is_unknown() {
        let one = Resamples::new(&[4, 4, 4], RESAMPLES, 1);
        assert_eq!(one.ratio_of_sums(&[1.0; 3], &[2.0; 3]), Interval::UNKNOWN);
        assert_eq!(Resamples::new(&[], RESAMPLES, 1).interval(|_| 1.0), Interval::UNKNOWN);
        let two = Resamples::new(&[1, 2], RESAMPLES, 1);
        assert_eq!(two.ratio_of_sums(&[1.0; 2], &[0.0; 2]), Interval::UNKNOWN);
        // What is not finite is left out: the other resamples still say something.
        let some = two.interval(|counts| if counts[0] == 1 { f64::NAN } else { 3.0 });
        assert_eq!(some, Interval { low: 3.0, high: 3.0 });
    }

    #[test]
    fn more_groups_than_units_keep_the_width() {
        let mut chooser = Chooser::new(4, "synthetic");
        let count = 3 * UNITS_MAX;
        let values: Vec<f64> = (0..count).map(|_| uniform(&mut chooser)).collect();
        let groups: Vec<u32> = (0..count as u32).collect();
        let resamples = Resamples::new(&groups, 200, 1);
        let interval = resamples.ratio_of_sums(&values, &vec![1.0; count]);
        // The mean of n uniform values has a deviation of √(1 / 12n), and 95 % are within 1.96.
        let expected = 2.0 * 1.96 * (1.0 / (12.0 * count as f64)).sqrt();
        let width = interval.high - interval.low;
        assert!((0.8..1.25).contains(&(width / expected)), "{width} {expected}");
    }

    #[test]
    fn an_unknown_end_survives_json() {
        let interval = Interval { low: 0.25, high: f64::INFINITY };
        let text = serde_json::to_string(&interval).unwrap();
        assert_eq!(text, r#"{"low":0.25,"high":null}"#);
        assert_eq!(serde_json::from_str::<Interval>(&text).unwrap(), interval);
    }
}
