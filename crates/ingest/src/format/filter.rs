//! The filter of a batch: which three bytes in a row its text has, as bits under their hashes. A
//! text that is looked for can't be there if three of its bytes are not, so `cinch logs --grep`
//! passes over most batches without unpacking them. A filter may say that something is there which
//! is not, and never the other way round.
//!
//! Three bytes and not words, because what is looked for is a part of a word as often as not.

use xxhash_rust::xxh64::xxh64;

/// The bytes whose presence is noted together.
pub const GRAM_BYTES: usize = 3;

/// The largest filter, in bytes.
const BYTES_MAX: usize = 8 << 10;

/// The smallest.
const BYTES_MIN: usize = 64;

/// The bytes behind the bits: XXH64 of them, since a bit that the disk has lost would hide a batch.
const CHECK_BYTES: usize = 8;

/// A filter is halved as long as less than this share of its bits would be set, in sixteenths.
const FULL_SIXTEENTHS: usize = 4;

/// Collects the filter of one batch after the other.
#[derive(Debug)]
pub struct FilterWriter {
    words: Box<[u64; BYTES_MAX / 8]>,
}

impl Default for FilterWriter {
    fn default() -> FilterWriter {
        FilterWriter { words: Box::new([0; BYTES_MAX / 8]) }
    }
}

/// The place of three bytes among the bits of the largest filter. In one that was halved it is the
/// rest of this by the number of bits there.
fn place(gram: u32) -> usize {
    (gram.wrapping_mul(0x9E37_79B1) >> 16) as usize % (BYTES_MAX * 8)
}

impl FilterWriter {
    /// Appends the filter of a text, and returns the logarithm of the bytes of its bits.
    pub fn write(&mut self, text: &[u8], out: &mut Vec<u8>) -> u32 {
        self.words.fill(0);
        // Each from its own bytes, so that none waits for the one before it.
        for gram in text.windows(GRAM_BYTES) {
            let place = place(u32::from_be_bytes([0, gram[0], gram[1], gram[2]]));
            self.words[place / 64] |= 1 << (place % 64);
        }
        let mut length = self.words.len();
        while length * 8 > BYTES_MIN {
            let half = length / 2;
            let (low, high) = self.words[..length].split_at_mut(half);
            let both = low.iter().zip(high.iter()).map(|(low, high)| low | high);
            let set: usize = both.map(|word| word.count_ones() as usize).sum();
            if set * 16 >= half * 64 * FULL_SIXTEENTHS {
                break;
            }
            low.iter_mut().zip(high.iter()).for_each(|(low, high)| *low |= high);
            length = half;
        }
        let start = out.len();
        self.words[..length].iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
        let check = xxh64(&out[start..], 0);
        out.extend_from_slice(&check.to_le_bytes());
        (length * 8).ilog2()
    }
}

/// The bytes that a filter takes of which the bits have this logarithm; `None` for one that nobody
/// writes.
pub fn filter_bytes(log: u32) -> Option<usize> {
    let bytes = 1usize.checked_shl(log)?;
    (BYTES_MIN..=BYTES_MAX).contains(&bytes).then_some(bytes + CHECK_BYTES)
}

/// A filter that was read back.
#[derive(Debug, Clone, Copy)]
pub struct Filter<'a> {
    bits: &'a [u8],
}

impl<'a> Filter<'a> {
    /// The filter of these bytes; `None` if they are damaged.
    pub fn read(bytes: &'a [u8]) -> Option<Filter<'a>> {
        let (bits, check) = bytes.split_last_chunk()?;
        let is_sound = bits.len().is_power_of_two() && xxh64(bits, 0) == u64::from_le_bytes(*check);
        is_sound.then_some(Filter { bits })
    }

    /// Whether the text may hold this.
    pub fn may_hold(&self, wanted: &[u8]) -> bool {
        wanted.windows(GRAM_BYTES).all(|gram| {
            let gram = gram.iter().fold(0, |gram, &byte| gram << 8 | u32::from(byte));
            let place = place(gram) % (self.bits.len() * 8);
            self.bits[place / 8] & (1 << (place % 8)) != 0
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn filter(text: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let log = FilterWriter::default().write(text, &mut bytes);
        assert_eq!(filter_bytes(log), Some(bytes.len()));
        bytes
    }

    proptest! {
        #[test]
        fn whatever_a_text_holds_may_be_there(
            text in prop::collection::vec(any::<u8>(), 0..20_000),
            start in 0..20_000usize,
            length in 0..40usize,
        ) {
            let bytes = filter(&text);
            let start = start.min(text.len());
            let part = &text[start..(start + length).min(text.len())];
            prop_assert!(Filter::read(&bytes).unwrap().may_hold(part));
        }
    }

    #[test]
    fn most_of_what_a_log_does_not_hold_is_not_there() {
        let line =
            |n: u32| format!("2026-11-22 01:55:{:02} INFO request {n} took {} ms\n", n % 60, n * 7);
        let text: String = (0..3_000).map(line).collect();
        let bytes = filter(text.as_bytes());
        assert!(bytes.len() < text.len() / 64, "{} for {}", bytes.len(), text.len());
        let filter = Filter::read(&bytes).unwrap();
        let absent = ["ERROR", "checkout", "10.0.0.", "NullPointer", "timeout"];
        assert!(absent.iter().all(|word| !filter.may_hold(word.as_bytes())));
    }

    #[test]
    fn a_damaged_filter_is_none() {
        let bytes = filter(b"one two three");
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(Filter::read(&changed).is_none());
        }
    }
}
