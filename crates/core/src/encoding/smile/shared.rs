//! What an encoder has written before and may refer back to: a table of up to 1,024 strings, one
//! for keys and one for values.
//!
//! The numbering is Jackson's and must stay so: every shareable string that is written out takes
//! the next index, the table is emptied when string 1,025 comes, and an index whose lowest byte is
//! FE or FF is never referred to. Finding is this module's own business, and bounded: strings
//! chosen to collide are written again, they do not cost time.

use crate::document::{Document, Span};

/// How many strings can be referred to.
pub(super) const SHARED_MAX: usize = 1024;

/// Slots looked at for one string. At most half of the slots are used, so that ordinary strings
/// are found within a few.
const PROBES_MAX: usize = 48;

/// Room for the keys of a small payload without an allocation.
const SLOTS_AT_FIRST: usize = 64;

/// A place for one string; free where `number` is zero.
#[derive(Clone, Copy)]
struct Slot {
    hash: u32,
    /// Index plus one.
    number: u32,
    span: Span,
}

const FREE: Slot = Slot { hash: 0, number: 0, span: Span { start: 0, length: 0 } };

/// The strings written so far.
pub(super) struct Shared {
    first_slots: [Slot; SLOTS_AT_FIRST],
    /// In place of `first_slots` when those are half full.
    more_slots: Vec<Slot>,
    count: u32,
}

impl Shared {
    pub(super) fn new() -> Shared {
        Shared { first_slots: [FREE; SLOTS_AT_FIRST], more_slots: Vec::new(), count: 0 }
    }

    #[inline]
    fn slots(&mut self) -> &mut [Slot] {
        if self.more_slots.is_empty() { &mut self.first_slots } else { &mut self.more_slots }
    }

    /// The index of a string that was written before; otherwise the string, which is now written,
    /// gets the next index.
    #[inline]
    pub(super) fn find_or_add(
        &mut self,
        document: &Document,
        span: Span,
        bytes: &[u8],
    ) -> Option<u32> {
        let hash = hash(bytes);
        let slots = self.slots();
        let mask = slots.len() - 1;
        let mut place = hash as usize & mask;
        for _ in 0..PROBES_MAX {
            let slot = slots[place];
            if slot.number == 0 {
                break;
            }
            if slot.hash == hash && document.bytes(slot.span) == bytes {
                return Some(slot.number - 1);
            }
            place = (place + 1) & mask;
        }
        self.add(span, hash);
        None
    }

    #[inline]
    fn add(&mut self, span: Span, hash: u32) {
        if self.count as usize == SHARED_MAX {
            self.count = 0;
            self.slots().fill(FREE);
        } else if self.count as usize * 2 >= self.slots().len() {
            self.grow();
        }
        self.count += 1;
        let slot = Slot { hash, number: self.count, span };
        // A reference to such an index would hold the byte FE or FF.
        if (slot.number - 1) & 0xFF < 0xFE {
            insert(self.slots(), slot);
        }
    }

    #[cold]
    fn grow(&mut self) {
        let mut more = vec![FREE; (self.slots().len() * 4).min(SHARED_MAX * 2)];
        for &slot in self.slots().iter().filter(|slot| slot.number != 0) {
            insert(&mut more, slot);
        }
        self.more_slots = more;
    }
}

#[inline]
fn insert(slots: &mut [Slot], slot: Slot) {
    let mask = slots.len() - 1;
    let mut place = slot.hash as usize & mask;
    for _ in 0..PROBES_MAX {
        if slots[place].number == 0 {
            slots[place] = slot;
            return;
        }
        place = (place + 1) & mask;
    }
}

/// A hash of a short string: words multiplied and folded.
#[inline]
fn hash(bytes: &[u8]) -> u32 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mix = |state: u64, word: u64| {
        let product = u128::from(state ^ word) * u128::from(FACTOR);
        product as u64 ^ (product >> 64) as u64
    };
    let mut state = (bytes.len() as u64).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    if let Some(last) = bytes.last_chunk::<8>() {
        for word in bytes.as_chunks::<8>().0 {
            state = mix(state, u64::from_le_bytes(*word));
        }
        state = mix(state, u64::from_le_bytes(*last));
    } else if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
        state = mix(state, u64::from(first) << 32 | u64::from(last));
    } else {
        let word = bytes.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
        state = mix(state, word);
    }
    // Strings that count upwards would stand in long rows of slots without this last round.
    mix(state, FACTOR) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn documents_of(strings: &[String]) -> (Document, Vec<Span>) {
        let mut document = Document::new();
        let spans = strings.iter().map(|s| document.push_text(s.as_bytes()).unwrap()).collect();
        (document, spans)
    }

    #[test]
    fn indices_are_given_in_order_and_the_table_is_emptied_when_it_is_full() {
        let strings: Vec<String> = (0..=SHARED_MAX).map(|index| format!("s{index}")).collect();
        let (document, spans) = documents_of(&strings);
        let mut shared = Shared::new();
        let mut find =
            |index: usize| shared.find_or_add(&document, spans[index], strings[index].as_bytes());
        for index in 0..SHARED_MAX {
            assert_eq!(find(index), None);
            assert_eq!(find(0), Some(0));
        }
        assert_eq!(find(1000), Some(1000));
        assert_eq!(find(SHARED_MAX), None);
        assert_eq!(find(SHARED_MAX), Some(0));
        assert_eq!(find(0), None);
        assert_eq!(find(0), Some(1));
    }

    #[test]
    fn indices_that_end_in_fe_or_ff_are_never_found() {
        let strings: Vec<String> = (0..300).map(|index| format!("s{index}")).collect();
        let (document, spans) = documents_of(&strings);
        let mut shared = Shared::new();
        for (span, string) in spans.iter().zip(&strings) {
            assert_eq!(shared.find_or_add(&document, *span, string.as_bytes()), None);
        }
        let mut find =
            |index: usize| shared.find_or_add(&document, spans[index], strings[index].as_bytes());
        assert_eq!(find(253), Some(253));
        assert_eq!(find(254), None);
        assert_eq!(find(254), Some(300));
        assert_eq!(find(255), None);
        assert_eq!(find(256), Some(256));
    }

    #[test]
    fn ordinary_strings_are_nearly_always_found() {
        let strings: Vec<String> = (0..1000).map(|index| format!("key_{index}_name")).collect();
        let (document, spans) = documents_of(&strings);
        let mut shared = Shared::new();
        let mut found = 0;
        for _ in 0..2 {
            for (span, string) in spans.iter().zip(&strings) {
                let index = shared.find_or_add(&document, *span, string.as_bytes());
                found += usize::from(index.is_some());
            }
        }
        // Six of the first thousand indices end in FE or FF.
        assert_eq!(found, 994);
    }
}
