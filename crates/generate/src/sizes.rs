//! Spreads the sizes of a corpus evenly over their distribution.
//!
//! Sizes differ a thousandfold within a kind, so that ten or a hundred independent draws miss the
//! median by far, and a comparison of codecs would hang on a few chance giants. The shares here
//! step by the golden ratio, which fills the distribution evenly from the first payload on, while
//! a payload's share still depends on nothing but its index.

use crate::random::Random;

/// 2^32 divided by the golden ratio.
const GOLDEN_STEP: u32 = 2_654_435_769;

/// The order in which the documents of a corpus take their sizes.
pub(crate) struct Sizes {
    first_share: u32,
}

impl Sizes {
    pub(crate) fn new(random: &mut Random) -> Self {
        Self { first_share: random.bits() }
    }

    /// The share of 2^32 of the documents that are smaller than document `index`.
    pub(crate) fn share(&self, index: u64) -> u32 {
        self.first_share.wrapping_add((index as u32).wrapping_mul(GOLDEN_STEP))
    }
}

#[cfg(test)]
mod tests {
    use super::Sizes;
    use crate::random::{Key, Random};

    #[test]
    fn every_tenth_of_the_sizes_is_met_by_any_run_of_documents() {
        let sizes = Sizes::new(&mut Random::for_catalogue(&Key::new("carts", 4)));
        for start in [0, 17, 5000] {
            let mut tenths = [0; 10];
            for index in start..start + 100 {
                tenths[((u64::from(sizes.share(index)) * 10) >> 32) as usize] += 1;
            }
            assert!(tenths.iter().all(|count| (8..13).contains(count)), "{tenths:?}");
        }
    }
}
