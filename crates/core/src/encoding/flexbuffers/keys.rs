//! The keys of one buffer: each text is written once, and again only where an object has its keys
//! in an order that the texts written so far can't say.
//!
//! The keys of an object must stand at rising places. So each is looked for behind the one before
//! it; objects with the same places share their list of keys and its sorting.

use std::collections::HashMap;

use foldhash::fast::RandomState;

/// Where the texts of one key stand, lowest first.
#[derive(Default)]
struct Places {
    first: Option<u32>,
    /// Beside the first: rarely any.
    more: Vec<u32>,
}

/// A list of keys that is written.
pub(super) struct KeyList {
    /// Where its first offset stands.
    pub(super) at: usize,
    /// The width of its offsets, as a power of two.
    pub(super) width: u8,
    /// For each key in sorted order, its index among the keys of the object.
    pub(super) order: Vec<u32>,
}

/// The keys and lists of keys that are written.
#[derive(Default)]
pub(super) struct Keys<'a> {
    places: HashMap<&'a [u8], Places, RandomState>,
    lists: Vec<KeyList>,
    list_of: HashMap<Vec<u32>, usize, RandomState>,
}

impl<'a> Keys<'a> {
    /// Where a key's text stands behind `after`, at the lowest such place.
    pub(super) fn find(&self, key: &[u8], after: Option<u32>) -> Option<u32> {
        let places = self.places.get(key)?;
        let first = places.first?;
        let Some(after) = after else { return Some(first) };
        if first > after {
            return Some(first);
        }
        let index = places.more.partition_point(|&place| place <= after);
        places.more.get(index).copied()
    }

    /// A key's text is written at a place behind all others.
    pub(super) fn add(&mut self, key: &'a [u8], place: u32) {
        let places = self.places.entry(key).or_default();
        match places.first {
            None => places.first = Some(place),
            Some(_) => places.more.push(place),
        }
    }

    /// The list with the keys that stand at these places, if it is written.
    pub(super) fn list(&self, places: &[u32]) -> Option<&KeyList> {
        self.list_of.get(places).map(|&index| &self.lists[index])
    }

    /// A list is written.
    pub(super) fn add_list(&mut self, places: &[u32], list: KeyList) {
        self.list_of.insert(places.to_vec(), self.lists.len());
        self.lists.push(list);
    }
}
