//! The first step of decoding: which variant each value has and how long arrays are, and so how
//! many values each slot has and where its columns begin.
//!
//! Slots are reached depth first from the root. Where all values of a slot are objects of one kind,
//! as they mostly are, each of its keys has as many, and nothing is counted.

use super::super::cursor::Cursor;
use super::super::model::SlotId;
use super::super::plan::{Flat, Span};
use super::super::{Corrupt, LONG_COLUMN, varint};
use super::{Column, Decoder, Next, Place, Scratch, TOO_LONG, place, span};

/// Slots that are reached one after the other, all of them right below one slot.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Below {
    /// The next among the members of all objects, or among the slots that were listed, and where
    /// these end.
    next: u32,
    end: u32,
    /// How many values each of the members has; nothing for slots that were listed, each of which
    /// has its own count.
    count: u32,
}

/// What was found so far.
struct Found {
    values: usize,
    values_max: usize,
    texts: u32,
    numbers: u32,
}

impl Found {
    /// So many values more, so many times.
    #[inline(always)]
    fn add(&mut self, each: u32, times: u32) -> Result<(), Corrupt> {
        let new = (each as usize).checked_mul(times as usize).ok_or(TOO_LONG)?;
        let values = self.values.checked_add(new).ok_or(TOO_LONG)?;
        if values > self.values_max {
            return Err(TOO_LONG);
        }
        self.values = values;
        Ok(())
    }
}

const UNKNOWN_VARIANT: Corrupt = Corrupt("an unknown variant");

impl Decoder {
    /// Reads what is new in the model and which variants values have, and so finds how many values
    /// each slot has. Returns how many of them are texts.
    pub(super) fn find_columns(
        &mut self,
        cursor: &mut Cursor<'_>,
        additions: &mut Cursor<'_>,
        payload_bytes: usize,
    ) -> Result<u32, Corrupt> {
        let mut found = Found { values: 1, values_max: payload_bytes, texts: 0, numbers: 0 };
        let mut below = Below::default();
        let (mut slot, mut count): (SlotId, u32) = (0, 1);
        loop {
            let at = slot as usize;
            if self.plan.slots[at].is_open {
                self.plan.read_additions(slot, additions)?;
                self.make_places();
            }
            let content = &self.plan.slots[at];
            let variants = content.variants;
            let mut place = Place {
                round: self.round,
                count,
                symbol: Next::default(),
                length: Next::default(),
                text: found.texts,
                number: found.numbers,
            };
            if variants.count() < 2 || count == 1 {
                let number = match variants.count() {
                    0 => return Err(Corrupt("a slot without variants")),
                    1 => 0,
                    _ => small_number(cursor)?,
                };
                let variant = variants.place(number).ok_or(UNKNOWN_VARIANT)?;
                place.symbol.at = variant;
                match self.plan.variants[variant as usize] {
                    Flat::Short(..) | Flat::Constant(_) => {}
                    Flat::String | Flat::Text(..) => found.texts += count,
                    Flat::Number(..)
                    | Flat::QuotedNumber(..)
                    | Flat::NumberIn(..)
                    | Flat::Bytes(..) => {
                        self.columns.push(Column { slot, variant, count });
                        found.numbers += count;
                    }
                    Flat::Object(members, true) => {
                        found.add(members.length, count)?;
                        self.stack.push(below);
                        let (next, end) = (members.at, members.at + members.length);
                        below = Below { next, end, count };
                    }
                    Flat::Array => {
                        let element = content.element;
                        let elements;
                        (place.length, elements) = self.read_lengths(cursor, count, &mut found)?;
                        if elements > 0 {
                            self.places[at] = place;
                            (slot, count) = (element, elements);
                            continue;
                        }
                    }
                    Flat::Object(_, false) | Flat::Tuple(_) => self.count_variant(number, count),
                }
                self.places[at] = place;
            } else {
                let is_same = is_same(cursor, count)?;
                if is_same {
                    let number = small_number(cursor)?;
                    place.symbol.at = variants.place(number).ok_or(UNKNOWN_VARIANT)?;
                    self.count_variant(number, count);
                } else {
                    place.symbol = Next { at: self.symbols.len() as u32, step: 1 };
                    for _ in 0..count {
                        let number = small_number(cursor)?;
                        self.symbols.push(variants.place(number).ok_or(UNKNOWN_VARIANT)?);
                        self.count_variant(number, 1);
                    }
                }
                self.places[at] = place;
            }
            if !self.scratch.used.is_empty() {
                self.stack.push(below);
                below = self.find_below(slot, cursor, &mut found)?;
            }
            while below.next == below.end {
                let Some(above) = self.stack.pop() else { return Ok(found.texts) };
                below = above;
            }
            let next = below.next as usize;
            below.next += 1;
            if below.count > 0 {
                let member = self.plan.members[next] as usize;
                (slot, count) = (self.plan.keys[member].slot, below.count);
            } else {
                slot = self.listed[next];
                count = self.places[slot as usize].count;
            }
        }
    }

    /// Reads the lengths of so many arrays of a slot. Returns where they are, and how many elements
    /// these are together.
    fn read_lengths(
        &mut self,
        cursor: &mut Cursor<'_>,
        times: u32,
        found: &mut Found,
    ) -> Result<(Next, u32), Corrupt> {
        let at = self.lengths.len() as u32;
        let before = found.values;
        let is_same = is_same(cursor, times)?;
        let (lengths, each) = if is_same { (1, times) } else { (times, 1) };
        for _ in 0..lengths {
            let length = small_number(cursor)?;
            found.add(length, each)?;
            self.lengths.push(length);
        }
        Ok((Next { at, step: u32::from(!is_same) }, (found.values - before) as u32))
    }

    /// Counts values of a variant.
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

    /// Counts what is in and below the values of a slot whose variants were counted, and notes its
    /// columns. Returns the slots below it.
    fn find_below(
        &mut self,
        slot: SlotId,
        cursor: &mut Cursor<'_>,
        found: &mut Found,
    ) -> Result<Below, Corrupt> {
        let content = self.plan.slots[slot as usize];
        let Scratch { counts, used, .. } = &mut self.scratch;
        used.retain(|&number| {
            let variant = content.variants.place(number);
            let flat = variant.and_then(|variant| self.plan.variants.get(variant as usize));
            let is_text = matches!(flat, Some(Flat::String | Flat::Text(..)));
            let is_plain = is_text || matches!(flat, Some(Flat::Short(..) | Flat::Constant(_)));
            if is_plain {
                let times = std::mem::take(&mut counts[number as usize]);
                found.texts += if is_text { times } else { 0 };
            }
            !is_plain
        });
        used.sort_unstable();
        let is_one = used.len() == 1;
        let mut has_below = false;
        for at in 0..self.scratch.used.len() {
            let number = self.scratch.used[at];
            let times = std::mem::take(&mut self.scratch.counts[number as usize]);
            let variant = content.variants.place(number).ok_or(UNKNOWN_VARIANT)?;
            match self.plan.variants[variant as usize] {
                Flat::Number(..)
                | Flat::QuotedNumber(..)
                | Flat::NumberIn(..)
                | Flat::Bytes(..) => {
                    self.columns.push(Column { slot, variant, count: times });
                    found.numbers += times;
                }
                Flat::Object(members, is_rising) => {
                    found.add(members.length, times)?;
                    if is_one && is_rising {
                        self.scratch.used.clear();
                        let (next, end) = (members.at, members.at + members.length);
                        return Ok(Below { next, end, count: times });
                    }
                    has_below = true;
                    for member in span(&self.plan.members, members) {
                        let below = self.plan.keys[*member as usize].slot;
                        place(&mut self.places, self.round, below).count += times;
                    }
                }
                Flat::Array => {
                    let (length, elements) = self.read_lengths(cursor, times, found)?;
                    self.places[slot as usize].length = length;
                    if elements > 0 {
                        has_below = true;
                        place(&mut self.places, self.round, content.element).count += elements;
                    }
                }
                Flat::Tuple(length) => {
                    has_below = true;
                    found.add(length, times)?;
                    let positions = Span { length, ..content.positions };
                    for &below in span(&self.plan.positions, positions) {
                        place(&mut self.places, self.round, below).count += times;
                    }
                }
                Flat::Short(..) | Flat::Constant(_) | Flat::String | Flat::Text(..) => {}
            }
        }
        self.scratch.used.clear();
        Ok(if has_below { self.list_below(slot) } else { Below::default() })
    }

    /// Lists the slots below a slot that have values.
    fn list_below(&mut self, slot: SlotId) -> Below {
        let content = self.plan.slots[slot as usize];
        let (places, round) = (&self.places, self.round);
        let is_reached = |slot: &SlotId| {
            let place = places.get(*slot as usize);
            place.is_some_and(|place| place.round == round && place.count > 0)
        };
        let next = self.listed.len() as u32;
        for part in content.keys.spans() {
            let slots = span(&self.plan.keys, part).iter().map(|key| key.slot);
            self.listed.extend(slots.filter(is_reached));
        }
        let positions = span(&self.plan.positions, content.positions).iter().copied();
        self.listed.extend(positions.filter(is_reached));
        self.listed.extend([content.element].iter().filter(|slot| is_reached(slot)));
        Below { next, end: self.listed.len() as u32, count: 0 }
    }
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
