//! The payloads that a dictionary is made of, one after the other, each with its entity.
//!
//! There is a bound on their bytes, because finding what they share takes memory and time for each
//! of them; from a larger corpus evenly spread payloads are taken.

use std::collections::HashMap;
use std::ops::Range;

/// The most bytes of samples that a dictionary is made of. Ten times as much makes a better
/// dictionary only where the corpus is one of many kinds, and takes ten times as long.
pub const TRAIN_BYTES_MAX: usize = 10_000_000;

/// A longer sample is cut, as zstd's command line does: what comes after is beyond the reach of a
/// dictionary, and one huge sample would crowd the others out.
pub const SAMPLE_BYTES_MAX: usize = 128 << 10;

/// Shorter samples have nothing to refer back to a dictionary for.
const SAMPLE_BYTES_MIN: usize = 8;

/// A payload as the codec will see it, and who or what it is about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample<'a> {
    /// The payload, encoded.
    pub(crate) bytes: &'a [u8],
    /// The number of its entity.
    pub(crate) entity: u32,
}

/// Samples that stand one after the other, each with a byte after it that belongs to none.
pub(crate) struct Samples {
    pub(crate) flat: Vec<u8>,
    /// Where each begins, and where one more would.
    starts: Vec<u32>,
    /// The entity of each, numbered from 0 without gaps.
    pub(crate) entities: Vec<u32>,
    pub(crate) entities_count: usize,
}

impl Samples {
    /// All of the samples, or evenly spread ones that keep within [`TRAIN_BYTES_MAX`].
    pub(crate) fn gather(samples: &[Sample<'_>]) -> Samples {
        let total = usable_bytes(samples.iter().map(|sample| sample.bytes));
        let mut numbers: HashMap<u32, u32> = HashMap::new();
        let mut gathered = Samples {
            flat: Vec::with_capacity(total.min(TRAIN_BYTES_MAX)),
            starts: vec![0],
            entities: Vec::new(),
            entities_count: 0,
        };
        let mut seen = 0usize;
        for sample in samples {
            let Some(bytes) = usable(sample.bytes) else { continue };
            // What was taken keeps up with the same share of what was seen, up to the end.
            let due = (seen as u128 * TRAIN_BYTES_MAX as u128 / total as u128) as usize;
            seen += bytes.len();
            let taken = gathered.flat.len();
            if total <= TRAIN_BYTES_MAX || (taken <= due && taken + bytes.len() <= TRAIN_BYTES_MAX)
            {
                let next = numbers.len() as u32;
                gathered.entities.push(*numbers.entry(sample.entity).or_insert(next));
                gathered.flat.extend_from_slice(bytes);
                gathered.flat.push(0);
                gathered.starts.push(gathered.flat.len() as u32);
            }
        }
        gathered.entities_count = numbers.len();
        gathered
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.entities.len()
    }

    /// Where a sample begins and ends.
    pub(crate) fn range(&self, number: usize) -> Range<usize> {
        self.starts[number] as usize..self.starts[number + 1] as usize - 1
    }

    /// The sample with this number.
    pub(crate) fn sample(&self, number: usize) -> &[u8] {
        &self.flat[self.range(number)]
    }

    /// The bytes of all of them.
    pub(crate) fn bytes(&self) -> usize {
        self.flat.len() - self.count()
    }

    /// The number of the sample at each byte.
    pub(crate) fn numbers(&self) -> Vec<u32> {
        let mut numbers = Vec::with_capacity(self.flat.len());
        for number in 0..self.count() {
            numbers.resize(self.starts[number + 1] as usize, number as u32);
        }
        numbers
    }

    /// The samples as symbols, with a 0 after each that is none of a sample.
    pub(crate) fn symbols(&self) -> Vec<u16> {
        let mut symbols: Vec<u16> = self.flat.iter().map(|&byte| u16::from(byte) + 1).collect();
        for number in 0..self.count() {
            symbols[self.range(number).end] = 0;
        }
        symbols
    }
}

/// The bytes of samples that are learned from: none of those that are too short, and of long ones
/// the beginning.
fn usable_bytes<'a>(samples: impl IntoIterator<Item = &'a [u8]>) -> usize {
    samples.into_iter().filter_map(usable).map(<[u8]>::len).sum()
}

fn usable(sample: &[u8]) -> Option<&[u8]> {
    (sample.len() >= SAMPLE_BYTES_MIN).then(|| &sample[..sample.len().min(SAMPLE_BYTES_MAX)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_above_the_bound_are_cut_and_evenly_spread() {
        let long = vec![b'x'; 300_000];
        let short = vec![b'y'; 50_000];
        let samples: Vec<Sample<'_>> = (0..400)
            .map(|entity| Sample { bytes: if entity % 2 == 0 { &long } else { &short }, entity })
            .collect();
        let gathered = Samples::gather(&samples);
        let bytes = gathered.bytes();
        assert!(bytes <= TRAIN_BYTES_MAX && bytes > TRAIN_BYTES_MAX * 9 / 10);
        let lengths: Vec<usize> =
            (0..gathered.count()).map(|number| gathered.sample(number).len()).collect();
        assert_eq!(lengths.iter().max(), Some(&SAMPLE_BYTES_MAX));
        assert!(lengths.contains(&50_000));
        let (first, second) = lengths.split_at(lengths.len() / 2);
        let [first, second] = [first, second].map(|half| half.iter().sum::<usize>());
        assert!(first.abs_diff(second) <= TRAIN_BYTES_MAX / 20);
    }
}
