//! The iterator over the payloads of a corpus.
//! It makes one document at a time, so that a corpus of millions needs the memory of one.

use crate::options::Options;
use crate::random::{Key, Random};
use crate::recipe::{OpenRecipe, Recipe};
use std::fmt;

/// Yields the documents of a corpus, each one compact JSON text without a line end.
pub struct Payloads {
    recipe: Box<dyn Recipe>,
    key: Key,
    next: usize,
    count: usize,
    /// Grown by the longest document so far, so that later ones need not grow their own.
    buffer: String,
}

impl Payloads {
    pub(crate) fn new(name: &str, open: OpenRecipe, options: Options) -> Self {
        let key = Key::new(name, options.seed);
        Self {
            recipe: open(&key, &options),
            key,
            next: 0,
            count: options.count,
            buffer: String::new(),
        }
    }
}

impl Iterator for Payloads {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        if self.next == self.count {
            return None;
        }
        let index = self.next as u64;
        self.next += 1;
        let mut random = Random::new(&self.key, index);
        self.buffer.clear();
        self.recipe.write(index, &mut random, &mut self.buffer);
        // The copy has no spare capacity, which matters to callers that keep a whole corpus.
        Some(self.buffer.as_str().to_owned())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.count - self.next;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Payloads {}

impl fmt::Debug for Payloads {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Payloads")
            .field("next", &self.next)
            .field("count", &self.count)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use crate::{KINDS, Kind, Options};

    fn options(count: usize, seed: u64, median_bytes: Option<u32>) -> Options {
        Options { count, seed, median_bytes }
    }

    fn texts(kind: &Kind, options: Options) -> Vec<String> {
        kind.payloads(options).collect()
    }

    #[test]
    fn a_small_corpus_is_the_beginning_of_a_large_one() {
        for kind in KINDS {
            for median_bytes in [None, Some(3000)] {
                let large = texts(kind, options(60, 9, median_bytes));
                let small = texts(kind, options(20, 9, median_bytes));
                assert_eq!(large.len(), 60);
                assert_eq!(small, large[..20], "{}", kind.name);
            }
        }
    }

    #[test]
    fn another_seed_gives_other_payloads() {
        for kind in KINDS {
            let first = texts(kind, options(20, 1, None));
            let second = texts(kind, options(20, 2, None));
            assert!(first.iter().all(|text| !second.contains(text)), "{}", kind.name);
        }
    }

    #[test]
    fn payloads_are_compact_json_on_one_line() {
        for kind in KINDS {
            for text in kind.payloads(options(200, 5, None)) {
                assert!(text.starts_with('{') && text.ends_with('}'), "{}", kind.name);
                assert!(!text.contains('\n'), "{}", kind.name);
                serde_json::from_str::<serde_json::Value>(&text).expect("payload is JSON");
            }
        }
    }

    #[test]
    fn the_length_is_known_ahead_and_may_be_zero() {
        for kind in KINDS {
            let mut payloads = kind.payloads(options(2, 1, None));
            assert_eq!(payloads.len(), 2);
            payloads.next();
            assert_eq!(payloads.len(), 1);
            assert_eq!(kind.payloads(options(0, 1, None)).next(), None);
        }
    }

    #[test]
    fn seed_one_names_these_bytes_on_every_platform() {
        let digest = |kind: &Kind| {
            texts(kind, options(40, 1, None)).concat().bytes().fold(0_u64, |state, byte| {
                (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3).rotate_left(5)
            })
        };
        let digests: Vec<u64> = KINDS.iter().map(digest).collect();
        assert_eq!(digests, DIGESTS, "a change of the bytes breaks every published corpus");
    }

    const DIGESTS: [u64; 5] = [
        0x16aa_407e_2a0e_da52,
        0x69df_d170_9abf_d8e1,
        0xa9e2_7332_e3f8_577a,
        0xef9a_9196_6130_14a2,
        0xa08e_d1bc_9724_104a,
    ];
}
