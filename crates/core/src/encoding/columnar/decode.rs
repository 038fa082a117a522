//! The decoder: finds where each column begins, then writes the text directly.
//!
//! Hostile bytes can't make it work or allocate more than in proportion to the length that the
//! envelope declares: every value takes at least a byte of text, so the values of all slots
//! together are bounded by it, and nothing recurses.

use super::cursor::Cursor;
use super::model::{Model, SlotId};
use super::output::SLACK;
use super::plan::{Plan, Span};
use super::style::{HAS_ADDITIONS, Style, TEXTS_IN_ORDER};
use super::{Corrupt, TERMINATOR, scan, varint};
use structure::Below;

mod numbers;
mod structure;
mod write;

/// A decoder with the memory that it reuses; one for each thread.
pub(super) struct Decoder {
    plan: Plan,
    places: Vec<Place>,
    round: u32,
    /// What is reached after the slots that are reached now.
    stack: Vec<Below>,
    /// Slots whose values were counted one by one.
    listed: Vec<SlotId>,
    /// The variants of the values of each slot, where not all have the same.
    symbols: Vec<u32>,
    /// The lengths of the arrays of each slot, or the one that all of them have.
    lengths: Vec<u32>,
    /// Integers, and where the bytes of values begin, in the order of the values of each slot.
    numbers: Vec<i64>,
    /// Where texts begin, and where the one after the last would.
    texts: Vec<u32>,
    /// Whether texts stand in the order of the payload, and not slot by slot.
    is_in_order: bool,
    columns: Vec<Column>,
    frames: Vec<Frame>,
    scratch: Scratch,
}

/// What is used for one slot at a time.
#[derive(Default)]
struct Scratch {
    /// How many values have each variant of the slot; nothing between slots.
    counts: Vec<u32>,
    /// The variants that have columns of their own or values below them.
    used: Vec<u32>,
    numbers: Vec<i64>,
}

/// Where the values of a slot stand.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    /// The payload for which this holds.
    round: u32,
    count: u32,
    /// The next length, text and number in the list of each; and so the next variant, or without
    /// a step the one that all values have.
    symbol: Next,
    length: Next,
    text: u32,
    number: u32,
}

/// The next of a list, and how far it is to the one after it: nothing where all are the same.
#[derive(Debug, Clone, Copy, Default)]
struct Next {
    at: u32,
    step: u32,
}

impl Next {
    #[inline(always)]
    fn take(&mut self, list: &[u32]) -> Option<u32> {
        let taken = *list.get(self.at as usize)?;
        self.at += self.step;
        Some(taken)
    }
}

/// A column of integers or bytes: its slot, its variant, and how many values it has.
#[derive(Debug, Clone, Copy)]
struct Column {
    slot: SlotId,
    variant: u32,
    count: u32,
}

/// An array or object whose text is being written.
#[derive(Debug, Clone, Copy)]
struct Frame {
    kind: Kind,
    /// The next member of an object or element of a tuple, and where they end; how many elements
    /// of an array are written, and how many there are.
    next: u32,
    end: u32,
    /// The slot of the elements of an array.
    slot: SlotId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
enum Kind {
    Object,
    Array,
    Tuple,
}

const TOO_LONG: Corrupt = Corrupt("more values than the payload has bytes");

impl Decoder {
    /// A decoder for the model of a dictionary.
    pub(super) fn new(model: &Model) -> Decoder {
        Decoder {
            plan: Plan::new(model),
            places: Vec::new(),
            round: 0,
            stack: Vec::new(),
            listed: Vec::new(),
            symbols: Vec::new(),
            lengths: Vec::new(),
            numbers: Vec::new(),
            texts: Vec::new(),
            is_in_order: false,
            columns: Vec::new(),
            frames: Vec::new(),
            scratch: Scratch::default(),
        }
    }

    /// Appends the JSON text of an encoded form, which has exactly `payload_bytes`.
    ///
    /// # Errors
    /// Where the bytes break the rules of the format, or their text has another length.
    pub(super) fn decode(
        &mut self,
        bytes: &[u8],
        payload_bytes: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), Corrupt> {
        self.reset();
        let mut cursor = Cursor::new(bytes);
        let first = cursor.byte()?;
        let style = Style::of_code(first & !(HAS_ADDITIONS | TEXTS_IN_ORDER))?;
        self.is_in_order = first & TEXTS_IN_ORDER != 0;
        let mut additions = Cursor::new(&[]);
        if first & HAS_ADDITIONS != 0 {
            let length = varint::read_at_most(&mut cursor, bytes.len(), "additions too long")?;
            additions = Cursor::new(cursor.take(length)?);
            self.read_changed(&mut additions)?;
        }
        let texts = self.find_columns(&mut cursor, &mut additions, payload_bytes)?;
        if additions.left() > 0 {
            return Err(Corrupt("something after the additions"));
        }
        self.plan.close();
        self.read_numbers(&mut cursor)?;
        self.find_texts(bytes, cursor.at(), texts as usize)?;
        let start = out.len();
        out.resize(start + payload_bytes + SLACK, 0);
        let left = match style.is_compact() {
            true => self.write::<true>(bytes, style, &mut out[start..]),
            false => self.write::<false>(bytes, style, &mut out[start..]),
        };
        if left != Some(SLACK) {
            out.truncate(start);
            return Err(Corrupt("a text of another length"));
        }
        out.truncate(start + payload_bytes);
        Ok(())
    }

    /// What it holds, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        let Scratch { counts, used, numbers } = &self.scratch;
        let words = [&self.listed, &self.symbols, &self.lengths, &self.texts, counts, used];
        self.plan.memory_bytes()
            + self.places.capacity() * size_of::<Place>()
            + words.iter().map(|list| list.capacity() * size_of::<u32>()).sum::<usize>()
            + (self.numbers.capacity() + numbers.capacity()) * size_of::<i64>()
            + self.columns.capacity() * size_of::<Column>()
            + self.stack.capacity() * size_of::<Below>()
            + self.frames.capacity() * size_of::<Frame>()
    }

    /// Forgets the last payload.
    fn reset(&mut self) {
        self.plan.reset();
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.places.clear();
            self.round = 1;
        }
        self.make_places();
        self.symbols.clear();
        self.lengths.clear();
        self.numbers.clear();
        self.texts.clear();
        self.columns.clear();
        self.stack.clear();
        self.listed.clear();
        self.frames.clear();
        for used in self.scratch.used.drain(..) {
            self.scratch.counts[used as usize] = 0;
        }
    }

    /// Makes a place for each slot there is.
    fn make_places(&mut self) {
        if self.places.len() < self.plan.slots.len() {
            self.places.resize(self.plan.slots.len(), Place::default());
        }
    }

    fn read_changed(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Corrupt> {
        let slots = self.plan.base_slots();
        let count = varint::read_at_most(cursor, slots, "too many changed slots")?;
        let mut slot = 0;
        for _ in 0..count {
            slot += varint::read_at_most(cursor, slots, "an unknown slot")?;
            if slot >= slots {
                return Err(Corrupt("an unknown slot"));
            }
            self.plan.open(slot as SlotId);
        }
        Ok(())
    }

    /// Finds where each text begins: they are all that is left.
    fn find_texts(&mut self, bytes: &[u8], start: usize, count: usize) -> Result<(), Corrupt> {
        let length = u32::try_from(bytes.len()).map_err(|_| TOO_LONG)?;
        self.texts.push(start as u32);
        scan::after_each(TERMINATOR, bytes, start, &mut self.texts);
        if self.texts.len() <= count {
            return Err(super::END);
        }
        if self.texts.len() > count + 1 || self.texts[count] != length {
            return Err(Corrupt("something after the texts"));
        }
        Ok(())
    }
}

/// The place of a slot, as nothing was there before this payload.
#[inline(always)]
fn place(places: &mut [Place], round: u32, slot: SlotId) -> &mut Place {
    let place = &mut places[slot as usize];
    if place.round != round {
        *place = Place { round, ..Place::default() };
    }
    place
}

/// A part of a list.
#[inline(always)]
fn span<T>(list: &[T], span: Span) -> &[T] {
    list.get(span.at as usize..(span.at + span.length) as usize).unwrap_or_default()
}
