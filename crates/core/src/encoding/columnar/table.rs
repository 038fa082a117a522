//! Finding things by their bytes: a table of numbers, each of which names a thing that is kept
//! elsewhere, and the hashes by which it is found.
//!
//! The library's maps own their keys, so that each key of a payload would be copied to be looked
//! up. Hashes are seeded at random in each process, so that nobody can send keys that collide.

use std::hash::BuildHasher;

use super::scan::{load_8, load_16, mask};

/// What hashes are seeded with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seed(u64, u64);

impl Seed {
    pub(super) fn new() -> Seed {
        let state = foldhash::fast::RandomState::default();
        Seed(state.hash_one(1u64), state.hash_one(2u64))
    }

    /// The hash of two numbers.
    #[inline(always)]
    pub(super) fn of_pair(self, a: u32, b: u32) -> u64 {
        fold(self.0 ^ (u64::from(a) << 32 | u64::from(b)), self.1)
    }

    /// The label of so many bytes of a text from a place on, and their hash.
    #[inline(always)]
    pub(super) fn label(self, text: &[u8], at: usize, bytes: usize) -> (Label, u64) {
        let label = Label::new(text, at, bytes);
        let first = label.first;
        let hash = fold(self.0 ^ first as u64 ^ bytes as u64, self.1 ^ (first >> 64) as u64);
        if bytes <= 16 {
            return (label, hash);
        }
        let (mut hash, end) = (hash, at + bytes);
        let mut at = at + 16;
        while at + 16 < end {
            hash = fold(hash ^ load_8(text, at), self.1 ^ load_8(text, at + 8));
            at += 16;
        }
        // The last sixteen bytes, some of which were among those before.
        let last = load_16(text, end - 16);
        (label, fold(hash ^ last as u64, self.1 ^ (last >> 64) as u64))
    }

    /// The hash of so many bytes of a text from a place on, and of a number that says where they
    /// belong.
    #[inline(always)]
    pub(super) fn of_bytes(self, belongs_to: u32, text: &[u8], at: usize, bytes: usize) -> u64 {
        let (_, hash) = self.label(text, at, bytes);
        fold(hash ^ u64::from(belongs_to), self.1)
    }
}

/// What of a text is compared at once: its length and its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Label {
    first: u128,
    bytes: u32,
}

impl Label {
    /// The label of so many bytes of a text from a place on.
    #[inline(always)]
    pub(super) fn new(text: &[u8], at: usize, bytes: usize) -> Label {
        Label { first: load_16(text, at) & mask(bytes), bytes: bytes as u32 }
    }

    /// The label of no text: none is as long.
    pub(super) fn none() -> Label {
        Label { first: 0, bytes: u32::MAX }
    }

    /// How long the text is.
    #[inline(always)]
    pub(super) fn bytes(self) -> usize {
        self.bytes as usize
    }

    /// Whether that is all of it.
    #[inline(always)]
    pub(super) fn is_all(self) -> bool {
        self.bytes <= 16
    }
}

#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// A place of a table: nothing, or part of a hash and the number of what has it.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    hash: u32,
    /// The number and one, so that zero is nothing.
    number: u32,
}

/// Numbers by hashes. At most half of the places are taken.
#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    places: Vec<Place>,
    count: usize,
}

impl Table {
    /// Forgets all, and makes places for so many.
    pub(super) fn clear_for(&mut self, count: usize) {
        self.places.clear();
        self.places.resize((2 * count + 2).next_power_of_two(), Place::default());
        self.count = 0;
    }

    /// The number of what has this hash and is the thing.
    #[inline(always)]
    pub(super) fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let mask = self.places.len().wrapping_sub(1);
        let mut at = hash as usize;
        loop {
            let place = self.places.get(at & mask)?;
            if place.number == 0 {
                return None;
            }
            if place.hash == (hash >> 32) as u32 && is_it(place.number - 1) {
                return Some(place.number - 1);
            }
            at = (at & mask) + 1;
        }
    }

    /// Adds a number, which is not there yet.
    pub(super) fn insert(&mut self, hash: u64, number: u32, hash_of: impl Fn(u32) -> u64) {
        if (self.count + 1) * 2 > self.places.len() {
            let places = (self.places.len() * 2).max(8);
            let old = std::mem::replace(&mut self.places, vec![Place::default(); places]);
            for place in old.into_iter().filter(|place| place.number > 0) {
                self.put(hash_of(place.number - 1), place.number);
            }
        }
        self.count += 1;
        self.put(hash, number + 1);
    }

    fn put(&mut self, hash: u64, number: u32) {
        let mask = self.places.len() - 1;
        let mut at = hash as usize & mask;
        while self.places[at].number != 0 {
            at = (at + 1) & mask;
        }
        self.places[at] = Place { hash: (hash >> 32) as u32, number };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_is_found_and_nothing_else() {
        let (seed, mut table) = (Seed::new(), Table::default());
        let words: Vec<String> =
            (0..3_000).map(|at| "x".repeat(at % 40) + &at.to_string()).collect();
        let hash = |at: u32| {
            let word = words[at as usize].as_bytes();
            seed.of_bytes(7, word, 0, word.len())
        };
        for at in 0..2_000 {
            table.insert(hash(at), at, hash);
        }
        for at in 0..3_000 {
            let found = table.find(hash(at), |known| words[known as usize] == words[at as usize]);
            assert_eq!(found, Some(at).filter(|&at| at < 2_000));
        }
        assert_eq!(
            table.find(seed.of_bytes(8, b"0", 0, 1), |known| words[known as usize] == "0"),
            None
        );
    }

    #[test]
    fn labels_and_hashes_differ_where_bytes_or_lengths_do() {
        let seed = Seed::new();
        for length in 0..=60 {
            let bytes = vec![b'a'; length];
            for at in 0..length {
                let mut other = bytes.clone();
                other[at] = b'b';
                let (a, b) = (seed.label(&bytes, 0, length), seed.label(&other, 0, length));
                assert_ne!(a.1, b.1, "{at} of {length}");
                assert!(at >= 16 || a.0 != b.0, "{at} of {length}");
                // What stands around it makes no difference.
                let inside = [b"xy", &other[..], b"z"].concat();
                assert_eq!(seed.label(&inside, 2, length), b);
                assert_ne!(seed.label(&other, 0, length - 1), a);
            }
        }
    }
}
