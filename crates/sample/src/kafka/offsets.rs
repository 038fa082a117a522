//! Chooses records of several partitions with one and the same chance each.
//!
//! Places are counted over all partitions one after the other, so that no partition is favoured for
//! being short.

use std::collections::BTreeSet;

use crate::random::Random;

/// Chooses `wanted` different places in partitions of these lengths; of each partition the sorted
/// places, counted from its first record.
pub(super) fn choose(lengths: &[u64], wanted: usize, random: &mut Random) -> Vec<Vec<u64>> {
    let total: u64 = lengths.iter().sum();
    if total <= wanted as u64 {
        return lengths.iter().map(|&length| (0..length).collect()).collect();
    }
    // Floyd's algorithm: as many draws as places, whatever the share of the total.
    let mut chosen = BTreeSet::new();
    for last in total - wanted as u64..total {
        let place = random.below(last + 1);
        if !chosen.insert(place) {
            chosen.insert(last);
        }
    }
    let mut places = chosen.into_iter().peekable();
    let mut start = 0;
    let mut of_partition = |length: u64| {
        let end = start + length;
        let mut found = Vec::new();
        while let Some(place) = places.next_if(|place| *place < end) {
            found.push(place - start);
        }
        start = end;
        found
    };
    lengths.iter().map(|&length| of_partition(length)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_chosen_where_there_are_few() {
        let chosen = choose(&[2, 0, 3], 5, &mut Random::new(1));
        assert_eq!(chosen, [vec![0, 1], vec![], vec![0, 1, 2]]);
    }

    #[test]
    fn as_many_as_wanted_are_chosen_and_each_is_there_and_different() {
        let lengths = [1_000, 0, 1, 9_000, 500];
        for seed in 0..50 {
            let chosen = choose(&lengths, 700, &mut Random::new(seed));
            assert_eq!(chosen.iter().map(Vec::len).sum::<usize>(), 700);
            for (places, length) in chosen.iter().zip(lengths) {
                assert!(places.is_sorted_by(|a, b| a < b));
                assert!(places.last().is_none_or(|&last| last < length));
            }
        }
    }

    /// The bound is six standard deviations of a binomial of 200 * 100 draws at one tenth.
    #[test]
    fn every_part_is_drawn_alike() {
        let mut tenths = [0u32; 10];
        for seed in 0..200 {
            let chosen = choose(&[300, 700], 100, &mut Random::new(seed * 1_000_003));
            for place in &chosen[0] {
                tenths[(place / 100) as usize] += 1;
            }
            for place in &chosen[1] {
                tenths[((place + 300) / 100) as usize] += 1;
            }
        }
        assert!(tenths.iter().all(|count| count.abs_diff(2_000) < 255), "{tenths:?}");
    }
}
