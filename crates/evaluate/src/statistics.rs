//! The few statistics that every figure is made of: percentiles, medians, means, and the seeded
//! choices that make two runs the same.
//!
//! A percentile here is always a value that was measured (nearest rank), never one between two.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::model::Nanoseconds;

/// The least number of values from which a p99 can be told from the maximum with 95 % confidence:
/// 0.99^299 is below 0.05.
pub const P99_COUNT_MIN: usize = 299;

/// The value at a share of sorted values, by nearest rank; 0 for none.
pub fn percentile<T: Copy + Default>(sorted: &[T], share: f64) -> T {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.clamp(1, sorted.len().max(1)) - 1).copied().unwrap_or_default()
}

/// The median of values in any order; 0 for none.
pub fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    percentile(values, 0.5)
}

/// The standard deviation of a sample; 0 for fewer than two values.
pub fn standard_deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    if values.len() < 2 { 0.0 } else { (squares / (values.len() - 1) as f64).sqrt() }
}

/// The mean; 0 for none.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

impl Nanoseconds {
    /// The summary of one time per payload. Below [`P99_COUNT_MIN`] payloads its p99 is the
    /// maximum.
    pub fn of(mut values: Vec<f64>) -> Nanoseconds {
        values.sort_by(f64::total_cmp);
        let share = if values.len() < P99_COUNT_MIN { 1.0 } else { 0.99 };
        Nanoseconds {
            mean: mean(&values),
            p50: percentile(&values, 0.5),
            p95: percentile(&values, 0.95),
            p99: percentile(&values, share),
        }
    }
}

/// Values in rising order that remember where they stood, for percentiles under weights.
pub struct Weighted(Vec<(f64, usize)>);

impl Weighted {
    /// Sorts the values.
    pub fn new(values: &[f64]) -> Weighted {
        let mut sorted: Vec<(f64, usize)> =
            values.iter().enumerate().map(|(index, &value)| (value, index)).collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        Weighted(sorted)
    }

    /// The value at a share of the weights, by nearest rank; 0 for none.
    pub fn percentile(&self, share: f64, weight: impl Fn(usize) -> u16) -> f64 {
        let total: u64 = self.0.iter().map(|&(_, index)| u64::from(weight(index))).sum();
        let rank = ((share * total as f64).ceil() as u64).clamp(1, total.max(1));
        let mut passed = 0;
        let at_rank = self.0.iter().find(|&&(_, index)| {
            passed += u64::from(weight(index));
            passed >= rank
        });
        at_rank.map_or(0.0, |&(value, _)| value)
    }
}

/// The source of every random choice: the same seed and purpose give the same choices.
pub struct Chooser(ChaCha8Rng);

impl Chooser {
    /// A chooser for one purpose, so that a change in one part of a run leaves the others alone.
    pub fn new(seed: u64, purpose: &str) -> Chooser {
        Chooser(ChaCha8Rng::seed_from_u64(seed ^ xxhash_rust::xxh3::xxh3_64(purpose.as_bytes())))
    }

    /// A number below `end`, which must not be 0.
    pub fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.0.next_u64()) * end as u128) >> 64) as usize
    }

    /// Puts values into a random order.
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.below(last + 1));
        }
    }
}

/// Chooses about `count` of the payloads with these sizes, spread over all sizes: the sorted
/// payloads are cut into equal parts and one of each is taken. Never more than `bytes_max` bytes
/// together, unless one payload alone is larger; the indices come in rising order.
pub fn stratified(sizes: &[usize], count: usize, bytes_max: usize, seed: u64) -> Vec<usize> {
    let mut by_size: Vec<usize> = (0..sizes.len()).collect();
    by_size.sort_by_key(|&index| sizes[index]);
    let mut count = count.min(by_size.len());
    loop {
        // A new chooser each time makes the choice depend on the final count alone.
        let mut chooser = Chooser::new(seed, "stratified");
        let mut chosen: Vec<usize> = (0..count)
            .map(|part| {
                let start = part * by_size.len() / count;
                let end = (part + 1) * by_size.len() / count;
                by_size[start + chooser.below(end - start)]
            })
            .collect();
        let bytes: usize = chosen.iter().map(|&index| sizes[index]).sum();
        if bytes <= bytes_max || count <= 1 {
            chosen.sort_unstable();
            return chosen;
        }
        // In proportion to the excess, and at least one less, so that this ends.
        count = (count * bytes_max / bytes).clamp(1, count - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_measured_values() {
        let values: Vec<u32> = (1..=100).collect();
        assert_eq!(percentile(&values, 0.5), 50);
        assert_eq!(percentile(&values, 0.99), 99);
        assert_eq!(percentile(&values, 1.0), 100);
        assert_eq!(percentile(&[7], 0.5), 7);
        assert_eq!(percentile::<u32>(&[], 0.5), 0);
    }

    #[test]
    fn a_weight_counts_as_that_many_values() {
        let values = [30.0, 10.0, 20.0];
        let weighted = Weighted::new(&values);
        assert_eq!(weighted.percentile(0.5, |_| 1), 20.0);
        // Ten of the value 10, and one each of the others.
        let weights = [1, 10, 1];
        assert_eq!(weighted.percentile(0.5, |index| weights[index]), 10.0);
        assert_eq!(weighted.percentile(1.0, |index| weights[index]), 30.0);
        assert_eq!(Weighted::new(&[]).percentile(0.5, |_| 1), 0.0);
    }

    #[test]
    fn below_299_values_the_p99_is_the_maximum() {
        let few = Nanoseconds::of((1..=298).map(f64::from).collect());
        assert_eq!(few.p99, 298.0);
        let enough = Nanoseconds::of((1..=299).map(f64::from).collect());
        assert_eq!(enough.p99, 297.0);
    }

    #[test]
    fn a_stratified_choice_spans_the_sizes_within_its_bounds() {
        let sizes: Vec<usize> = (0..10_000).map(|i| (i * 7919) % 10_000 + 1).collect();
        let chosen = stratified(&sizes, 128, usize::MAX, 1);
        assert_eq!(chosen.len(), 128);
        assert!(chosen.iter().any(|&i| sizes[i] <= 79) && chosen.iter().any(|&i| sizes[i] > 9_900));
        assert_eq!(chosen, stratified(&sizes, 128, usize::MAX, 1));
        assert_ne!(chosen, stratified(&sizes, 128, usize::MAX, 2));
        let bounded = stratified(&sizes, 128, 50_000, 1);
        assert!(bounded.iter().map(|&i| sizes[i]).sum::<usize>() <= 50_000);
        assert_eq!(stratified(&[5_000_000], 128, 1_000, 1), [0]);
        assert!(stratified(&[], 128, 1_000, 1).is_empty());
        assert_eq!(stratified(&[1, 2, 3], 128, 1_000, 1), [0, 1, 2]);
    }
}
