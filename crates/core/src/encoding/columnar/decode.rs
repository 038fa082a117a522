//! The decoder: finds where each column begins, then writes the text directly.
//!
//! Hostile bytes can't make it work or allocate more than in proportion to the length that the
//! envelope declares: every value takes at least a byte of text, so the values of all slots
//! together are bounded by it, and nothing recurses.

use super::cursor::Cursor;
use super::model::{Model, SlotId};
use super::output::{Output, SLACK};
use super::plan::{Flat, Plan, Span};
use super::style::{HAS_ADDITIONS, Style, TEXTS_IN_ORDER};
use super::{Corrupt, LONG_COLUMN, TERMINATOR, integers, scan, varint};

mod write;

/// A decoder with the memory that it reuses; one for each thread.
pub(super) struct Decoder {
    plan: Plan,
    places: Vec<Place>,
    round: u32,
    stack: Vec<SlotId>,
    /// The variants of the values of each slot, or the one that all of them have.
    symbols: Vec<u32>,
    /// The lengths of arrays in the same way.
    lengths: Vec<u32>,
    /// Integers, and where the bytes of values begin, in the order of the values of each slot.
    numbers: Vec<i64>,
    /// Where texts begin, and where the one after the last would.
    texts: Vec<u32>,
    /// Whether texts stand in the order of the payload, and not slot by slot.
    is_in_order: bool,
    columns: Vec<Column>,
    /// The slots that have texts, and how many.
    text_columns: Vec<(SlotId, u32)>,
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
    /// The next variant, length, text and number in the list of each. Until the variants are
    /// found, the step to the next says whether the payload adds to this slot.
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
    fn take(&mut self, list: &[u32]) -> Result<u32, Corrupt> {
        let taken = *list.get(self.at as usize).ok_or(super::END)?;
        self.at += self.step;
        Ok(taken)
    }
}

/// A column of integers or bytes: its slot, its variant, and how many values it has.
#[derive(Debug, Clone, Copy)]
struct Column {
    slot: SlotId,
    variant: u32,
    count: u32,
}

/// The step of a slot that the payload adds to.
const CHANGED: u32 = u32::MAX;

/// An array or object whose text is being written.
#[derive(Debug, Clone, Copy)]
struct Frame {
    kind: Kind,
    /// The next member of an object or element of a tuple, and where they end; how many elements
    /// of an array are written, and how many there are.
    next: u32,
    end: u32,
    /// The slot of the elements of an array, or that of a tuple.
    slot: SlotId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
            symbols: Vec::new(),
            lengths: Vec::new(),
            numbers: Vec::new(),
            texts: Vec::new(),
            is_in_order: false,
            columns: Vec::new(),
            text_columns: Vec::new(),
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
        self.find_columns(&mut cursor, &mut additions, payload_bytes)?;
        if additions.left() > 0 {
            return Err(Corrupt("something after the additions"));
        }
        self.plan.close();
        self.read_numbers(&mut cursor)?;
        self.find_texts(bytes, cursor.at())?;
        let start = out.len();
        out.resize(start + payload_bytes + SLACK, 0);
        let mut output = Output::new(&mut out[start..]);
        let written = match style.is_compact() {
            true => self.write::<true>(bytes, style, &mut output),
            false => self.write::<false>(bytes, style, &mut output),
        };
        let length = output.written();
        out.truncate(start + payload_bytes.min(length));
        written?;
        if length == payload_bytes { Ok(()) } else { Err(Corrupt("a text of another length")) }
    }

    /// What it holds, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        let Scratch { counts, used, numbers } = &self.scratch;
        let words = [&self.stack, &self.symbols, &self.lengths, &self.texts, counts, used];
        self.plan.memory_bytes()
            + self.places.capacity() * size_of::<Place>()
            + words.iter().map(|list| list.capacity() * size_of::<u32>()).sum::<usize>()
            + (self.numbers.capacity() + numbers.capacity()) * size_of::<i64>()
            + self.columns.capacity() * size_of::<Column>()
            + self.text_columns.capacity() * size_of::<(SlotId, u32)>()
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
        self.text_columns.clear();
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
            place(&mut self.places, self.round, slot as SlotId).symbol.step = CHANGED;
        }
        Ok(())
    }

    /// Reads what is new in the model and which variants values have, and so finds how many values
    /// each slot has.
    fn find_columns(
        &mut self,
        cursor: &mut Cursor<'_>,
        additions: &mut Cursor<'_>,
        payload_bytes: usize,
    ) -> Result<(), Corrupt> {
        let mut values = 1usize;
        place(&mut self.places, self.round, 0).count = 1;
        self.stack.clear();
        self.stack.push(0);
        while let Some(slot) = self.stack.pop() {
            let at = slot as usize;
            let found = place(&mut self.places, self.round, slot);
            let count = found.count;
            if at >= self.plan.base_slots() || found.symbol.step == CHANGED {
                self.plan.read_additions(slot, additions)?;
                self.make_places();
            }
            let variants = self.plan.slots[at].variants;
            let first_symbol = self.symbols.len() as u32;
            let mut step = 0;
            let mut texts = 0;
            if variants.count() < 2 || count == 1 {
                let number = match variants.count() {
                    0 => return Err(Corrupt("a slot without variants")),
                    1 => 0,
                    _ => small_number(cursor)?,
                };
                let variant = variants.place(number).ok_or(UNKNOWN_VARIANT)?;
                self.symbols.push(variant);
                match self.plan.variants[variant as usize] {
                    Flat::Constant(_) => {}
                    Flat::String | Flat::Text(..) => texts = count,
                    Flat::Number(..) | Flat::Bytes(..) => {
                        self.columns.push(Column { slot, variant, count });
                    }
                    Flat::Object(members, true) => {
                        let new = (members.length as usize).checked_mul(count as usize);
                        let all = new.and_then(|new| values.checked_add(new));
                        values = all.filter(|&all| all <= payload_bytes).ok_or(TOO_LONG)?;
                        self.find_members(members, count);
                    }
                    _ => self.count_variant(number, count),
                }
            } else {
                let is_same = is_same(cursor, count)?;
                step = u32::from(!is_same);
                let times = if is_same { count } else { 1 };
                for _ in 0..if is_same { 1 } else { count } {
                    let number = small_number(cursor)?;
                    let variant = variants.place(number).ok_or(UNKNOWN_VARIANT)?;
                    self.symbols.push(variant);
                    match self.plan.variants[variant as usize] {
                        Flat::Constant(_) => {}
                        Flat::String | Flat::Text(..) => texts += times,
                        _ => self.count_variant(number, times),
                    }
                }
                self.scratch.used.sort_unstable();
            }
            let found = place(&mut self.places, self.round, slot);
            found.symbol = Next { at: first_symbol, step };
            if texts > 0 {
                self.text_columns.push((slot, texts));
            }
            if !self.scratch.used.is_empty() {
                values += self.find_below(slot, cursor, payload_bytes.saturating_sub(values))?;
            }
        }
        Ok(())
    }

    /// Counts the values of the keys of so many objects that all have the same, in rising order.
    #[inline(always)]
    fn find_members(&mut self, members: Span, count: u32) {
        let start = self.stack.len();
        for member in span(&self.plan.members, members) {
            let below = self.plan.keys[*member as usize].slot;
            place(&mut self.places, self.round, below).count += count;
            self.stack.push(below);
        }
        self.stack[start..].reverse();
    }

    /// Counts values of a variant that has a column of its own, or values below it.
    #[inline(always)]
    fn count_variant(&mut self, number: u32, times: u32) {
        let Scratch { counts, used, .. } = &mut self.scratch;
        if number as usize >= counts.len() {
            counts.resize(number as usize + 1, 0);
        }
        let counter = &mut counts[number as usize];
        if *counter == 0 {
            used.push(number);
        }
        *counter += times;
    }

    /// Counts the values below those of a slot, and notes its columns of integers and bytes.
    /// Returns how many values these are, at most `values_max`.
    fn find_below(
        &mut self,
        slot: SlotId,
        cursor: &mut Cursor<'_>,
        values_max: usize,
    ) -> Result<usize, Corrupt> {
        let content = self.plan.slots[slot as usize];
        let mut values = 0usize;
        let mut add = |each: usize, times: u32| -> Result<(), Corrupt> {
            let new = each.checked_mul(times as usize).ok_or(TOO_LONG)?;
            values = values.checked_add(new).filter(|&all| all <= values_max).ok_or(TOO_LONG)?;
            Ok(())
        };
        let start = self.stack.len();
        // Where one list of rising keys is all there is, the slots below need not be looked for.
        let mut is_in_order = self.scratch.used.len() == 1;
        let mut has_below = false;
        for at in 0..self.scratch.used.len() {
            let number = self.scratch.used[at];
            let times = std::mem::take(&mut self.scratch.counts[number as usize]);
            let variant = content.variants.place(number).ok_or(UNKNOWN_VARIANT)?;
            match self.plan.variants[variant as usize] {
                Flat::Number(..) | Flat::Bytes(..) => {
                    self.columns.push(Column { slot, variant, count: times });
                }
                Flat::Object(members, is_rising) => {
                    has_below = true;
                    is_in_order &= is_rising;
                    add(members.length as usize, times)?;
                    for member in span(&self.plan.members, members) {
                        let below = self.plan.keys[*member as usize].slot;
                        place(&mut self.places, self.round, below).count += times;
                        if is_in_order {
                            self.stack.push(below);
                        }
                    }
                }
                Flat::Array => {
                    (has_below, is_in_order) = (true, false);
                    let first = self.lengths.len() as u32;
                    let is_same = is_same(cursor, times)?;
                    let each = if is_same { times } else { 1 };
                    let mut elements = 0usize;
                    for _ in 0..if is_same { 1 } else { times } {
                        let length = small_number(cursor)?;
                        add(length as usize, each)?;
                        elements += length as usize * each as usize;
                        self.lengths.push(length);
                    }
                    let found = place(&mut self.places, self.round, slot);
                    found.length = Next { at: first, step: u32::from(!is_same) };
                    if elements > 0 {
                        place(&mut self.places, self.round, content.element).count +=
                            elements as u32;
                    }
                }
                Flat::Tuple(length) => {
                    (has_below, is_in_order) = (true, false);
                    add(length as usize, times)?;
                    for number in 0..length {
                        let below = self.plan.position(slot, number).ok_or(super::END)?;
                        place(&mut self.places, self.round, below).count += times;
                    }
                }
                Flat::Constant(_) | Flat::String | Flat::Text(..) => {}
            }
        }
        self.scratch.used.clear();
        if has_below && !is_in_order {
            self.stack.truncate(start);
            self.push_below(slot);
        }
        self.stack[start..].reverse();
        Ok(values)
    }

    /// Puts the slots below a slot that have values on the stack.
    fn push_below(&mut self, slot: SlotId) {
        let content = self.plan.slots[slot as usize];
        let (places, round) = (&self.places, self.round);
        let is_reached = |slot: &SlotId| {
            let place = places.get(*slot as usize);
            place.is_some_and(|place| place.round == round && place.count > 0)
        };
        for part in content.keys.spans() {
            let slots = span(&self.plan.keys, part).iter().map(|key| key.slot);
            self.stack.extend(slots.filter(is_reached));
        }
        for part in content.positions.spans() {
            let slots = span(&self.plan.positions, part).iter().copied();
            self.stack.extend(slots.filter(is_reached));
        }
        self.stack.extend([content.element].iter().filter(|slot| is_reached(slot)));
    }

    fn read_numbers(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Corrupt> {
        let mut last_times: [Option<i64>; 16] = [None; 16];
        let mut at = 0;
        while let Some(&Column { slot, .. }) = self.columns.get(at) {
            let first = self.numbers.len();
            place(&mut self.places, self.round, slot).number = first as u32;
            let is_next = |column: &&Column| column.slot == slot;
            let columns = 1 + self.columns[at + 1..].iter().take_while(is_next).count();
            for column in &self.columns[at..at + columns] {
                let count = column.count as usize;
                match self.plan.variants[column.variant as usize] {
                    Flat::Number(_, _, form, base) => {
                        let unit = form.time_unit();
                        let near = unit.and_then(|unit| last_times[usize::from(unit)]);
                        let near = near.unwrap_or(base);
                        integers::read(cursor, count, near, unit.is_some(), &mut self.numbers)?;
                        if let Some(unit) = unit {
                            last_times[usize::from(unit)] = self.numbers.last().copied();
                        }
                    }
                    Flat::Bytes(_, _, kind) => {
                        let (first, each) = (cursor.at(), usize::from(kind.bytes));
                        cursor.take(count.checked_mul(each).ok_or(super::END)?)?;
                        self.numbers.extend((0..count).map(|at| (first + at * each) as i64));
                    }
                    _ => {}
                }
            }
            if columns > 1 {
                self.mix(slot, at, columns, first);
            }
            at += columns;
        }
        Ok(())
    }

    /// Puts the integers of several columns of a slot in the order of its values.
    fn mix(&mut self, slot: SlotId, first_column: usize, columns: usize, first: usize) {
        let Scratch { counts, used, numbers } = &mut self.scratch;
        numbers.clear();
        numbers.extend_from_slice(&self.numbers[first..]);
        // Where each column is, by its variant among those of the model and the payload.
        let mut next = 0u32;
        for column in &self.columns[first_column..first_column + columns] {
            let variant = column.variant as usize;
            if variant >= counts.len() {
                counts.resize(variant + 1, 0);
            }
            counts[variant] = next;
            used.push(column.variant);
            next += column.count;
        }
        let values = place(&mut self.places, self.round, slot);
        let (start, count) = (values.symbol.at as usize, values.count as usize);
        let mut mixed = self.numbers[first..].iter_mut();
        for &variant in self.symbols[start..].iter().take(count) {
            let is_number =
                matches!(self.plan.variants[variant as usize], Flat::Number(..) | Flat::Bytes(..));
            if is_number && let Some(place) = mixed.next() {
                let next = &mut counts[variant as usize];
                *place = numbers.get(*next as usize).copied().unwrap_or_default();
                *next += 1;
            }
        }
        for variant in used.drain(..) {
            counts[variant as usize] = 0;
        }
    }

    /// Finds where each text begins: they are all that is left.
    fn find_texts(&mut self, bytes: &[u8], start: usize) -> Result<(), Corrupt> {
        let mut count = 0usize;
        for &(slot, texts) in &self.text_columns {
            place(&mut self.places, self.round, slot).text = count as u32;
            count += texts as usize;
        }
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

const UNKNOWN_VARIANT: Corrupt = Corrupt("an unknown variant");

/// The place of a slot, as nothing was there before this payload.
#[inline(always)]
fn place(places: &mut [Place], round: u32, slot: SlotId) -> &mut Place {
    let place = &mut places[slot as usize];
    if place.round != round {
        *place = Place { round, ..Place::default() };
    }
    place
}

/// A number of 32 bits.
#[inline(always)]
fn small_number(cursor: &mut Cursor<'_>) -> Result<u32, Corrupt> {
    let number = varint::read_at_most(cursor, u32::MAX as usize, "a number above 32 bits")?;
    Ok(number as u32)
}

/// Whether all of a column of so many small numbers are the same.
#[inline(always)]
fn is_same(cursor: &mut Cursor<'_>, count: u32) -> Result<bool, Corrupt> {
    if (count as usize) < LONG_COLUMN {
        return Ok(false);
    }
    match cursor.byte()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Corrupt("an unknown way of a column")),
    }
}

/// A part of a list.
#[inline(always)]
fn span<T>(list: &[T], span: Span) -> &[T] {
    list.get(span.at as usize..(span.at + span.length) as usize).unwrap_or_default()
}
