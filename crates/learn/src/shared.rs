//! What samples share: for every byte, how long a text from there on enough entities have.
//!
//! A suffix array sorts the samples' suffixes, so that those with the same beginning stand
//! together. A window over it that holds suffixes of k entities proves that they share as many
//! bytes as the least common prefix of neighbours within it. One pass with two ends finds, for each
//! suffix, the window around it with the longest such prefix. That is exact, for every length at
//! once, and takes time in proportion to the bytes.

use std::collections::{HashSet, VecDeque};

use libsais::SuffixArrayConstruction;

use crate::samples::Samples;

/// The sorted suffixes of samples.
pub(crate) struct Shared {
    /// Where the suffixes begin, in the order of their texts.
    suffixes: Vec<i32>,
    /// For every byte of the samples, how many bytes from there on enough entities have.
    pub(crate) lengths: Vec<u32>,
    /// The number of the sample at each byte.
    sample_of: Vec<u32>,
}

impl Shared {
    /// Finds what at least `entities_min` entities share; nothing where the library fails, which it
    /// does for want of memory.
    pub(crate) fn of(samples: &Samples, entities_min: u32) -> Option<Shared> {
        let symbols = samples.symbols();
        let sorted = SuffixArrayConstruction::for_text(symbols.as_slice())
            .in_owned_buffer32()
            .single_threaded()
            .generalized_suffix_array()
            .run()
            .ok()?;
        let with_prefixes = sorted.plcp_construction().single_threaded().run().ok()?;
        let (suffixes, prefixes, _) = with_prefixes.into_parts();
        let sample_of = samples.numbers();
        let rest = |at: usize| (samples.range(sample_of[at] as usize).end - at) as u32;
        let mut finder = Finder {
            samples,
            suffixes: &suffixes,
            common: vec![0; suffixes.len()],
            lengths: vec![0; suffixes.len()],
            windows: VecDeque::new(),
        };
        for (rank, pair) in suffixes.windows(2).enumerate() {
            let [before, here] = [pair[0] as usize, pair[1] as usize];
            // Nothing is shared beyond the end of a sample.
            finder.common[rank + 1] = (prefixes[here] as u32).min(rest(before)).min(rest(here));
        }
        finder.find(entities_min.max(1), &sample_of, rest);
        let lengths = finder.lengths;
        Some(Shared { suffixes, lengths, sample_of })
    }

    /// The text from a suffix to the end of its sample.
    fn suffix<'a>(&self, samples: &'a Samples, rank: usize) -> &'a [u8] {
        let at = self.suffixes[rank] as usize;
        &samples.flat[at..samples.range(self.sample_of[at] as usize).end]
    }

    /// The first suffix that does not stand before a text.
    fn place(&self, samples: &Samples, text: &[u8]) -> usize {
        let (mut low, mut high) = (0, self.suffixes.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.suffix(samples, middle) < text {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// How many entities have a text, counted up to `enough`.
    pub(crate) fn entities_of(&self, samples: &Samples, text: &[u8], enough: usize) -> usize {
        let mut found = HashSet::new();
        for rank in self.place(samples, text)..self.suffixes.len() {
            if found.len() >= enough || !self.suffix(samples, rank).starts_with(text) {
                break;
            }
            let number = self.sample_of[self.suffixes[rank] as usize];
            found.insert(samples.entities[number as usize]);
        }
        found.len()
    }

    /// How many bytes of the beginning of a text stand anywhere in the samples.
    pub(crate) fn longest_match(&self, samples: &Samples, text: &[u8]) -> usize {
        let place = self.place(samples, text);
        let common = |rank: usize| {
            self.suffix(samples, rank).iter().zip(text).take_while(|(a, b)| a == b).count()
        };
        let before = place.checked_sub(1).map_or(0, common);
        let here = if place < self.suffixes.len() { common(place) } else { 0 };
        before.max(here)
    }
}

struct Finder<'a> {
    samples: &'a Samples,
    suffixes: &'a [i32],
    /// How much each suffix shares with the one before it.
    common: Vec<u32>,
    lengths: Vec<u32>,
    /// Windows that may still be the best of a suffix: their last rank and what they share, which
    /// falls from front to back.
    windows: VecDeque<(usize, u32)>,
}

impl Finder<'_> {
    fn find(&mut self, entities_min: u32, sample_of: &[u32], rest: impl Fn(usize) -> u32) {
        let entity = |rank: usize| {
            let number = sample_of[self.suffixes[rank] as usize];
            self.samples.entities[number as usize] as usize
        };
        let mut counts = vec![0u32; self.samples.entities_count];
        let mut different = 0;
        // Ranks within the window whose common prefix is less than that of all after them.
        let mut least: VecDeque<usize> = VecDeque::new();
        let mut first = 0;
        for last in 0..self.suffixes.len() {
            let count = &mut counts[entity(last)];
            *count += 1;
            different += u32::from(*count == 1);
            while least.back().is_some_and(|&rank| self.common[rank] >= self.common[last]) {
                least.pop_back();
            }
            least.push_back(last);
            while different >= entities_min {
                // The common prefix of a rank is with the one before, which the first has none of.
                while least.front().is_some_and(|&rank| rank <= first) {
                    least.pop_front();
                }
                let shared = match least.front() {
                    Some(&rank) => self.common[rank],
                    None => rest(self.suffixes[first] as usize),
                };
                while self.windows.back().is_some_and(|&(_, known)| known <= shared) {
                    self.windows.pop_back();
                }
                self.windows.push_back((last, shared));
                let count = &mut counts[entity(first)];
                if different == entities_min && *count == 1 {
                    // Without it there are too few: later suffixes may still make a window with it.
                    break;
                }
                *count -= 1;
                different -= u32::from(*count == 0);
                settle(first, &mut self.windows, &mut self.lengths, self.suffixes);
                first += 1;
            }
        }
        while first < self.suffixes.len() {
            settle(first, &mut self.windows, &mut self.lengths, self.suffixes);
            first += 1;
        }
    }
}

/// Writes down what a suffix shares within the best window around it.
fn settle(
    rank: usize,
    windows: &mut VecDeque<(usize, u32)>,
    lengths: &mut [u32],
    suffixes: &[i32],
) {
    while windows.front().is_some_and(|&(last, _)| last < rank) {
        windows.pop_front();
    }
    lengths[suffixes[rank] as usize] = windows.front().map_or(0, |&(_, shared)| shared);
}

#[cfg(test)]
mod tests;
