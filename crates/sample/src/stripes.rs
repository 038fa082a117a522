//! Random rows of a table with an integer key, for stores that can't sample by themselves.
//!
//! The range of keys is cut into stripes of the same width, and whole stripes are read in random
//! order. Every row lies in exactly one stripe, so each is as likely to be read as any other
//! however many gaps the keys have, which "the next row after a random key" does not give.

use std::collections::HashSet;

use crate::random::Random;

/// How many rows a stripe has on average: few, because rows that were written together are alike.
const ROWS_PER_STRIPE: u64 = 8;

/// How many stripes are tried for each that should be needed, before the keys are taken to be too
/// uneven for stripes.
const TRIES_PER_STRIPE: u64 = 16;

/// The stripes of a table that are still to be read.
#[derive(Debug)]
pub(crate) struct Stripes {
    first: i128,
    last: i128,
    width: u128,
    count: u128,
    tries_left: u64,
    drawn: HashSet<u128>,
}

impl Stripes {
    /// The stripes of the keys from `first` to `last`, of about `rows` rows of which `wanted` are
    /// to be read.
    pub(crate) fn new(first: i128, last: i128, rows: u64, wanted: u64) -> Stripes {
        let keys = last.saturating_sub(first).max(0).unsigned_abs() + 1;
        let width = (keys * u128::from(ROWS_PER_STRIPE) / u128::from(rows.max(1))).max(1);
        let tries_left = (wanted / ROWS_PER_STRIPE + 1).saturating_mul(TRIES_PER_STRIPE);
        Stripes {
            first,
            last,
            width,
            count: keys.div_ceil(width),
            tries_left,
            drawn: HashSet::new(),
        }
    }

    /// All keys as one stripe.
    #[cfg(feature = "mysql")]
    pub(crate) fn whole(first: i128, last: i128) -> Stripes {
        let width = last.saturating_sub(first).max(0).unsigned_abs() + 1;
        Stripes { first, last, width, count: 1, tries_left: 1, drawn: HashSet::new() }
    }

    /// The first and last key of a stripe that was not drawn yet; `None` when there is none left,
    /// or when so many were empty that this is no way to find rows.
    pub(crate) fn draw(&mut self, random: &mut Random) -> Option<(i128, i128)> {
        if self.tries_left == 0 || self.drawn.len() as u128 == self.count {
            return None;
        }
        self.tries_left -= 1;
        let mut index = u128::from(random.bits()) % self.count;
        // The next one that is free: with as few tries as there are, few are taken.
        while !self.drawn.insert(index) {
            index = (index + 1) % self.count;
        }
        let first = self.first + (index * self.width) as i128;
        Some((first, (first + self.width as i128 - 1).min(self.last)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_in_exactly_one_stripe() {
        for (first, last, rows) in [(1, 1000, 1000), (-5, 5, 3), (7, 7, 1), (0, 99, 1_000_000)] {
            let (mut stripes, mut random) =
                (Stripes::new(first, last, rows, 1 << 20), Random::new(1));
            let mut keys: Vec<i128> = Vec::new();
            while let Some((first, last)) = stripes.draw(&mut random) {
                keys.extend(first..=last);
            }
            keys.sort_unstable();
            assert!(keys.iter().copied().eq(first..=last), "{first} to {last}: {keys:?}");
        }
    }

    #[test]
    fn the_widest_range_of_keys_has_stripes() {
        let (first, last) = (i128::from(i64::MIN), i128::from(u64::MAX));
        let (mut stripes, mut random) = (Stripes::new(first, last, 10, 10), Random::new(1));
        let mut drawn = 0;
        while let Some((from, to)) = stripes.draw(&mut random) {
            assert!(first <= from && from <= to && to <= last);
            drawn += 1;
        }
        assert!(drawn > 0);
    }

    #[test]
    fn stripes_are_drawn_from_the_whole_range() {
        let (mut stripes, mut random) = (Stripes::new(1, 80_000, 80_000, 800), Random::new(1));
        let firsts: Vec<i128> = (0..100).map(|_| stripes.draw(&mut random).unwrap().0).collect();
        let low = firsts.iter().filter(|&&first| first <= 40_000).count();
        assert!((30..=70).contains(&low), "{low} of 100 stripes are of the lower half");
    }
}
