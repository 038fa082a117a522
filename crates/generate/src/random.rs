//! The random numbers of a corpus, and the few ways in which documents draw from them.
//!
//! The sampling is written out here, and not taken from a distribution library, because those may
//! change what they return between versions, and a seed must name the same bytes for ever. Every
//! draw uses integers only, so that no platform's mathematical library has a say.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The stream that catalogues are built from; no document has this index.
const CATALOGUE_STREAM: u64 = u64::MAX;

/// Names a corpus: everything random in it follows from the key.
pub(crate) struct Key([u8; 32]);

impl Key {
    /// Makes the key of a corpus from its kind and the seed that the user gave.
    pub(crate) fn new(name: &str, seed: u64) -> Self {
        let mut state = name.bytes().fold(seed, |state, byte| mix(state ^ u64::from(byte)));
        let mut bytes = [0; 32];
        for chunk in bytes.chunks_exact_mut(8) {
            state = mix(state);
            chunk.copy_from_slice(&state.to_le_bytes());
        }
        Self(bytes)
    }
}

/// Scrambles a number, so that neighbouring numbers share nothing (the finaliser of SplitMix64).
pub(crate) fn mix(number: u64) -> u64 {
    let mut state = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

/// A stream of random numbers that belongs to one document.
pub(crate) struct Random {
    generator: ChaCha8Rng,
}

impl Random {
    /// Opens the stream of document `index`, which shares nothing with the other documents'.
    pub(crate) fn new(key: &Key, index: u64) -> Self {
        let mut generator = ChaCha8Rng::from_seed(key.0);
        generator.set_stream(index);
        Self { generator }
    }

    /// Opens the stream from which a kind builds the catalogue that its documents share.
    pub(crate) fn for_catalogue(key: &Key) -> Self {
        Self::new(key, CATALOGUE_STREAM)
    }

    /// Draws 32 random bits.
    pub(crate) fn bits(&mut self) -> u32 {
        self.generator.next_u32()
    }

    /// Draws 64 random bits.
    pub(crate) fn wide_bits(&mut self) -> u64 {
        self.generator.next_u64()
    }

    /// Draws a number below `bound`, all about equally likely: the bias of at most one part in
    /// 2^32 / `bound` is far below what a corpus can show.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        ((u64::from(self.bits()) * u64::from(bound)) >> 32) as u32
    }

    /// Draws a number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.below(high - low + 1)
    }

    /// Is true in `permille` of a thousand draws.
    pub(crate) fn chance(&mut self, permille: u32) -> bool {
        self.below(1000) < permille
    }

    /// Draws one of the values, all equally likely; a value listed twice is twice as likely.
    pub(crate) fn pick<Value: Copy>(&mut self, values: &[Value]) -> Value {
        values[self.below(values.len() as u32) as usize]
    }

    /// Draws an index below `bound`, low ones much more often: a tenth of the indexes gets about
    /// a third of the draws, like the popular entries of a catalogue.
    pub(crate) fn skewed(&mut self, bound: u32) -> u32 {
        let fraction = u64::from(self.bits());
        let squared = (fraction * fraction) >> 32;
        ((squared * u64::from(bound)) >> 32) as u32
    }

    /// Draws an index below `bound`, low ones even more often than `skewed`: the first of a
    /// hundred gets a fifth of the draws.
    pub(crate) fn steep(&mut self, bound: u32) -> u32 {
        let fraction = u64::from(self.bits());
        let cubed = (((fraction * fraction) >> 32) * fraction) >> 32;
        ((cubed * u64::from(bound)) >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::{Key, Random};

    #[test]
    fn a_seed_names_the_same_numbers_for_ever() {
        let mut random = Random::new(&Key::new("carts", 1), 0);
        let drawn: Vec<u32> = (0..4).map(|_| random.below(1_000_000)).collect();
        assert_eq!(drawn, EXPECTED);
    }

    #[test]
    fn draws_stay_below_their_bound() {
        let mut random = Random::new(&Key::new("menus", 2), 3);
        for bound in [1, 2, 7, 1000] {
            for _ in 0..500 {
                assert!(random.below(bound) < bound);
                assert!(random.skewed(bound) < bound);
                assert!(random.steep(bound) < bound);
            }
        }
    }

    #[test]
    fn documents_and_kinds_have_streams_of_their_own() {
        let first = |name: &str, seed, index| Random::new(&Key::new(name, seed), index).wide_bits();
        assert_ne!(first("carts", 1, 0), first("carts", 1, 1));
        assert_ne!(first("carts", 1, 0), first("carts", 2, 0));
        assert_ne!(first("carts", 1, 0), first("trips", 1, 0));
    }

    const EXPECTED: [u32; 4] = [944_959, 871_007, 582_288, 800_276];
}
