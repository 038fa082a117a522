//! Groups of near-duplicates: payloads so alike that one of them gives the others away.
//!
//! They must not straddle the split of a corpus, because a dictionary that was trained on one copy
//! would be praised for the other, and an interval that counts copies claims too much. Cost is
//! linear in the bytes and memory is bounded, so features are hashed into small sketches (one
//! permutation MinHash), sketches are looked up by bands, and what is found is compared. A payload
//! joins the first payload of a group or none: joining any member would chain payloads that have
//! little in common into one giant group.

mod features;
mod sketch;

use std::collections::HashMap;

use cinch_core::document::Document;
use xxhash_rust::xxh3::xxh3_64;

use crate::corpus::{Corpus, Payload};
use sketch::{Builder, Sketch};

/// Payloads whose sets of features have at least this in common (intersection by union) are
/// near-duplicates.
pub const SIMILARITY_MIN: f64 = 0.8;

/// The most groups whose sketches are kept, which bounds their memory to about 130 MB. In a larger
/// corpus, later payloads still join these groups and their own exact copies, and no others.
const LEADERS_MAX: usize = 1 << 18;

/// The groups of a corpus. Every payload is in exactly one, most of them alone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Groups {
    /// The group of each payload, numbered from 0 in the order of their first members.
    pub of: Vec<u32>,
    /// How many groups there are.
    pub count: usize,
    /// How many payloads the largest group has.
    pub largest: usize,
}

/// Finds the near-duplicates of a corpus. The same payloads in the same order give the same groups.
pub fn near_duplicates(corpus: &Corpus) -> Groups {
    let mut finder = Finder::default();
    let mut of = Vec::with_capacity(corpus.payloads.len());
    let mut sizes: Vec<usize> = Vec::new();
    for payload in &corpus.payloads {
        let next = sizes.len() as u32;
        let group = finder.place(payload, next);
        if group == next {
            sizes.push(0);
        }
        sizes[group as usize] += 1;
        of.push(group);
    }
    Groups { of, count: sizes.len(), largest: sizes.into_iter().max().unwrap_or(0) }
}

/// What is known of the groups so far.
#[derive(Default)]
struct Finder {
    /// The groups of exact copies, by a hash of the whole payload, and of payloads with the same
    /// few features, by a hash of those. Two payloads of one hash would share a group, which does
    /// no harm.
    exact: HashMap<u64, u32>,
    /// The groups whose first members have a sketch, with that sketch.
    leaders: Vec<(u32, Sketch)>,
    /// Indices into `leaders`, by the hash of a band of the sketch.
    bands: HashMap<u32, u32>,
    document: Document,
    builder: Builder,
}

impl Finder {
    /// The group of the next payload; `next` where it is the first of a new one.
    fn place(&mut self, payload: &Payload, next: u32) -> u32 {
        let whole = xxh3_64(&payload.bytes);
        if let Some(&group) = self.exact.get(&whole) {
            return group;
        }
        self.builder.clear();
        features::of(payload, &mut self.document, &mut self.builder);
        let group = match self.builder.few() {
            Some(few) => *self.exact.entry(few).or_insert(next),
            None => self.place_by_sketch(self.builder.sketch(), next),
        };
        self.exact.insert(whole, group);
        group
    }

    /// The group whose first member is most alike, if it is alike enough.
    fn place_by_sketch(&mut self, sketch: Sketch, next: u32) -> u32 {
        let bands = sketch.bands();
        let mut best: Option<(f64, u32)> = None;
        let mut compared = None;
        for leader in bands.iter().filter_map(|band| self.bands.get(band)) {
            if compared == Some(leader) {
                continue;
            }
            compared = Some(leader);
            let (group, of_leader) = &self.leaders[*leader as usize];
            let similarity = sketch.similarity(of_leader);
            if similarity >= SIMILARITY_MIN && best.is_none_or(|(best, _)| similarity > best) {
                best = Some((similarity, *group));
            }
        }
        if let Some((_, group)) = best {
            return group;
        }
        if self.leaders.len() < LEADERS_MAX {
            for band in bands {
                // The first keeps its place, so that one group does not hide behind a later one.
                self.bands.entry(band).or_insert(self.leaders.len() as u32);
            }
            self.leaders.push((next, sketch));
        }
        next
    }
}

#[cfg(test)]
mod tests;
