//! The keys of a record: which field a payload's key is.
//!
//! Payloads hold their keys mostly in the order of the schema, so the fields that are likely to be
//! next are looked at first, as one block and without a call; whatever else a payload holds is
//! found by a hash of the key.

use foldhash::{HashMap, HashMapExt};

use crate::document::Span;

/// So many fields are looked at before the key is hashed: optional ones may be missing in between.
const LIKELY: usize = 4;

/// The longest key that is compared without a call, in bytes.
const BLOCK: usize = 16;

/// The keys of one record's fields.
#[derive(Debug)]
pub(crate) struct Keys {
    in_order: Vec<Key>,
    by_key: HashMap<Box<[u8]>, usize>,
}

/// A key in the form in which it is compared.
#[derive(Debug)]
struct Key {
    length: u32,
    block: u128,
    /// Which bits of the block are the key's.
    mask: u128,
    text: Box<[u8]>,
}

impl Keys {
    /// The keys of fields by their place; nothing where two are the same.
    pub(crate) fn new<'a>(keys: impl Iterator<Item = &'a str>) -> Option<Keys> {
        let mut found = Keys { in_order: Vec::new(), by_key: HashMap::new() };
        for (place, key) in keys.enumerate() {
            if found.by_key.insert(key.as_bytes().into(), place).is_some() {
                return None;
            }
            found.in_order.push(Key::new(key.as_bytes()));
        }
        Some(found)
    }

    /// The field of the key that stands in a document's text, `likely` being a guess.
    #[inline]
    pub(crate) fn find(&self, text: &[u8], key: Span, likely: usize) -> Option<usize> {
        match self.in_order.get(likely) {
            Some(guess) if guess.is(text, key) => Some(likely),
            _ => self.find_further(text, key, likely),
        }
    }

    /// Looks at the fields behind the guess, then for the key.
    fn find_further(&self, text: &[u8], key: Span, likely: usize) -> Option<usize> {
        for place in likely + 1..self.in_order.len().min(likely + LIKELY) {
            if self.in_order[place].is(text, key) {
                return Some(place);
            }
        }
        let start = key.start as usize;
        self.by_key.get(&text[start..start + key.length as usize]).copied()
    }
}

impl Key {
    fn new(text: &[u8]) -> Key {
        let (mut block, mut mask) = ([0; BLOCK], [0; BLOCK]);
        let length = text.len().min(BLOCK);
        block[..length].copy_from_slice(&text[..length]);
        mask[..length].fill(0xFF);
        let [block, mask] = [block, mask].map(u128::from_ne_bytes);
        Key { length: text.len() as u32, block, mask, text: text.into() }
    }

    #[inline]
    fn is(&self, text: &[u8], key: Span) -> bool {
        if key.length != self.length {
            return false;
        }
        let rest = &text[key.start as usize..];
        match rest.first_chunk::<BLOCK>() {
            Some(block) if self.length as usize <= BLOCK => {
                u128::from_ne_bytes(*block) & self.mask == self.block
            }
            _ => rest[..key.length as usize] == *self.text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_wherever_it_stands_and_whatever_the_guess() {
        let longest = "k".repeat(40);
        let names: Vec<&str> = (0..=longest.len()).map(|length| &longest[..length]).collect();
        let keys = Keys::new(names.iter().copied()).unwrap();
        for before in [0, 3] {
            for behind in [0, 1, 7, 8, 30] {
                for (place, name) in names.iter().enumerate() {
                    let text = [&vec![b'k'; before], name.as_bytes(), &vec![b'k'; behind]].concat();
                    let key = Span { start: before as u32, length: name.len() as u32 };
                    for likely in 0..names.len() + 2 {
                        assert_eq!(keys.find(&text, key, likely), Some(place));
                    }
                }
            }
        }
    }

    #[test]
    fn a_key_that_differs_in_one_byte_is_another() {
        for length in 1..40 {
            let name = "k".repeat(length);
            let keys = Keys::new([&*name].into_iter()).unwrap();
            for place in 0..length {
                let mut text = vec![b'k'; length + 20];
                text[place] = b'K';
                let key = Span { start: 0, length: length as u32 };
                assert_eq!(keys.find(&text, key, 0), None);
                assert_eq!(keys.find(&text[..length], key, 0), None);
            }
        }
    }

    #[test]
    fn two_keys_are_not_the_same() {
        assert!(Keys::new(["a", "b", "a"].into_iter()).is_none());
        assert!(Keys::new(std::iter::empty()).is_some());
    }
}
