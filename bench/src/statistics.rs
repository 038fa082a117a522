//! Medians and their intervals. Times on a shared machine have a long tail to one side, so no mean
//! is ever taken of them.

use crate::random::Random;

/// How often a sample is drawn again for an interval.
const RESAMPLES: usize = 1000;

/// The middle value of a list that is not empty; of an even number, the mean of the two.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len().is_multiple_of(2) {
        (sorted[middle - 1] + sorted[middle]) / 2.0
    } else {
        sorted[middle]
    }
}

/// The 2.5 % and 97.5 % quantiles of the median, by drawing whole groups again. Values of one group
/// share their contexts' places in memory and so are not independent; groups are.
pub(crate) fn median_interval(groups: &[Vec<f64>], random: &mut Random) -> (f64, f64) {
    let mut medians: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let drawn = (0..groups.len()).flat_map(|_| &groups[random.below(groups.len())]);
            median(&drawn.copied().collect::<Vec<f64>>())
        })
        .collect();
    medians.sort_by(f64::total_cmp);
    (medians[RESAMPLES / 40], medians[RESAMPLES - 1 - RESAMPLES / 40])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 200.0]), 3.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 300.0]), 3.0);
        assert_eq!(median(&[-7.5]), -7.5);
    }

    #[test]
    fn the_interval_holds_the_median_and_ignores_the_tail() {
        let group = |offset: i32| (0..10).map(|value| f64::from(value + offset)).collect();
        let mut groups: Vec<Vec<f64>> = (0..20).map(|index| group(index % 3)).collect();
        groups[0][0] = 1e9;
        let (low, high) = median_interval(&groups, &mut Random::new(1));
        let middle = median(&groups.concat());
        assert!(low <= middle && middle <= high, "{low} {middle} {high}");
        assert!(low >= 4.0 && high <= 7.0, "{low} {high}");
    }
}
