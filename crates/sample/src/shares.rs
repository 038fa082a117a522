//! How many values each table, column or collection gives to a sample.
//!
//! The shares follow from how much each has, so that what is offered has the proportions of what is
//! stored.

use crate::options::SampleOptions;

/// So many values are offered for each that is kept: a rare size class is then met often enough to
/// be in the sample, and the store reads little.
const OFFERED_PER_KEPT: u64 = 4;

/// How many values are offered in all.
pub(crate) fn offered_max(options: &SampleOptions) -> u64 {
    (options.count as u64).saturating_mul(OFFERED_PER_KEPT).min(options.scan_limit).max(1)
}

/// How many values each column gives, where `rows` says how many it has: all of them if they are
/// few enough, else each its share, and at least one of each that has any.
pub(crate) fn shares(offered_max: u64, rows: &[u64]) -> Vec<u64> {
    let total: u128 = rows.iter().map(|&rows| u128::from(rows)).sum();
    if total <= u128::from(offered_max) {
        return rows.to_vec();
    }
    let share = |&rows: &u64| (u128::from(rows) * u128::from(offered_max)).div_ceil(total) as u64;
    rows.iter().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_follow_the_rows() {
        assert_eq!(shares(100, &[10, 0, 20]), [10, 0, 20]);
        assert_eq!(shares(100, &[900, 0, 90, 1]), [91, 0, 10, 1]);
        assert_eq!(shares(1, &[u64::MAX, u64::MAX]), [1, 1]);
    }
}
