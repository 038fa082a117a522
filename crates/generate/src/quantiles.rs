//! Measured distributions as tables of quantiles.
//!
//! A table of the real corpus keeps the shape that a formula would smooth away (the many baskets
//! of one line, the few of hundreds), and drawing from it takes one multiplication, no logarithm.

use crate::random::Random;

/// A distribution given by values at evenly spaced shares, the smallest first.
pub(crate) struct Quantiles(pub(crate) &'static [u32]);

impl Quantiles {
    /// Draws a value.
    pub(crate) fn draw(&self, random: &mut Random) -> u32 {
        self.at(random.bits())
    }

    /// The value at a share of 2^32, on a straight line between the two values beside it.
    pub(crate) fn at(&self, share: u32) -> u32 {
        let steps = (self.0.len() - 1) as u64;
        let position = u64::from(share) * steps;
        let step = (position >> 32) as usize;
        let fraction = position & 0xffff_ffff;
        let (low, high) = (self.0[step], self.0[step + 1]);
        low + ((u64::from(high - low) * fraction) >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::Quantiles;
    use crate::random::{Key, Random};

    #[test]
    fn half_of_the_draws_fall_below_the_middle_value() {
        let quantiles = Quantiles(&[0, 10, 100, 500, 4000]);
        let mut random = Random::new(&Key::new("trips", 5), 0);
        let drawn: Vec<u32> = (0..4000).map(|_| quantiles.draw(&mut random)).collect();
        let below = drawn.iter().filter(|value| **value < 100).count();
        assert!((1900..2100).contains(&below), "{below} of 4000");
        assert!(drawn.iter().all(|value| *value < 4000));
    }
}
