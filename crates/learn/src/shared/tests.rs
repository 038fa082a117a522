//! What entities share, against counting it the slow way.
//! Few letters and short samples, so that all kinds of repetitions occur.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;
use crate::samples::Sample;

/// How many entities have a text, by looking at every place of every sample.
fn counted(samples: &[(Vec<u8>, u32)], text: &[u8]) -> usize {
    let has = |sample: &[u8]| sample.windows(text.len()).any(|window| window == text);
    let having = samples.iter().filter(|(sample, _)| has(sample));
    having.map(|&(_, entity)| entity).collect::<HashSet<_>>().len()
}

fn gathered(samples: &[(Vec<u8>, u32)]) -> Samples {
    let samples: Vec<Sample<'_>> =
        samples.iter().map(|(bytes, entity)| Sample { bytes, entity: *entity }).collect();
    Samples::gather(&samples)
}

proptest! {
    /// A text as long as is said is had by enough entities, and with one byte more it is not.
    #[test]
    fn lengths_are_those_that_enough_entities_have(
        samples in prop::collection::vec(
            (prop::collection::vec(b'a'..=b'c', 8..40), 0u32..6),
            2..12,
        ),
        entities_min in 1u32..5,
    ) {
        let flat = gathered(&samples);
        let shared = Shared::of(&flat, entities_min).unwrap();
        for number in 0..flat.count() {
            let end = flat.range(number).end;
            for at in flat.range(number) {
                let length = shared.lengths[at] as usize;
                prop_assert!(at + length <= end);
                let text = &flat.flat[at..at + length];
                prop_assert!(
                    length == 0 || counted(&samples, text) >= entities_min as usize
                );
                if length > 0 {
                    let all = shared.entities_of(&flat, text, usize::MAX);
                    prop_assert_eq!(all, counted(&samples, text));
                }
                if at + length < end {
                    let longer = &flat.flat[at..at + length + 1];
                    prop_assert!(counted(&samples, longer) < entities_min as usize);
                }
            }
        }
    }

    #[test]
    fn the_longest_match_is_found(
        samples in prop::collection::vec(
            (prop::collection::vec(b'a'..=b'c', 8..30), 0u32..4),
            1..8,
        ),
        text in prop::collection::vec(b'a'..=b'd', 1..20),
    ) {
        let flat = gathered(&samples);
        let shared = Shared::of(&flat, 1).unwrap();
        let found = shared.longest_match(&flat, &text);
        prop_assert!(found == 0 || counted(&samples, &text[..found]) > 0);
        prop_assert!(found == text.len() || counted(&samples, &text[..found + 1]) == 0);
    }
}
