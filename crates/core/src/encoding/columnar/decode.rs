//! The decoder: finds where each column begins, then writes the text directly.
//!
//! Hostile bytes can't make it work or allocate more than in proportion to the length that the
//! envelope declares: every value takes at least a byte of text, so the values of all slots
//! together are bounded by it, and nothing recurses.

use super::cursor::Cursor;
use super::model::{Affixes, Model, SlotId, Variant};
use super::style::{HAS_ADDITIONS, Style};
use super::{Corrupt, LONG_COLUMN, hex, integers, varint};

/// A decoder with the memory that it reuses; one for each thread.
pub(super) struct Decoder {
    model: Model,
    places: Vec<Place>,
    round: u32,
    /// The slots that have values, in order.
    order: Vec<SlotId>,
    stack: Vec<SlotId>,
    counts: Vec<u32>,
    /// Columns of integers and bytes: their slot, variant, count, and where they begin.
    numbers: Vec<i64>,
    columns: Vec<Column>,
    frames: Vec<Frame>,
}

/// Where the columns of a slot stand.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    /// The payload for which this holds.
    round: u32,
    count: u32,
    /// Whether the payload adds to this slot.
    is_changed: bool,
    symbols: Small,
    lengths: Small,
    /// Where the texts continue, and how many there are.
    texts: usize,
    text_count: u32,
    /// Where its number columns begin and end in the list of all.
    columns: (u32, u32),
}

/// Where a column of small numbers continues.
#[derive(Debug, Clone, Copy, Default)]
struct Small {
    at: usize,
    is_same: bool,
}

#[derive(Debug, Clone, Copy)]
struct Column {
    slot: SlotId,
    variant: u32,
    count: u32,
    /// In the list of integers, or in the body.
    at: usize,
}

/// An array or object whose text is being written.
struct Frame {
    slot: SlotId,
    /// The variant of an object.
    variant: u32,
    /// Members or elements so far, and in all.
    done: u32,
    count: u32,
    kind: Kind,
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
            model: model.clone(),
            places: Vec::new(),
            round: 0,
            order: Vec::new(),
            stack: Vec::new(),
            counts: Vec::new(),
            numbers: Vec::new(),
            columns: Vec::new(),
            frames: Vec::new(),
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
        let start = out.len();
        let mut cursor = Cursor::new(bytes);
        let first = cursor.byte()?;
        let style = Style::of_code(first & !HAS_ADDITIONS)?;
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
        self.read_numbers(&mut cursor)?;
        self.find_texts(&mut cursor)?;
        if cursor.left() > 0 {
            return Err(Corrupt("something after the texts"));
        }
        out.reserve(payload_bytes);
        let limit = start + payload_bytes;
        if style.is_compact() {
            self.write::<true>(bytes, style, limit, out)?;
        } else {
            self.write::<false>(bytes, style, limit, out)?;
        }
        if style.final_newline {
            out.push(b'\n');
        }
        if out.len() == limit { Ok(()) } else { Err(Corrupt("a text of another length")) }
    }

    /// What it holds, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.model.memory_bytes()
            + self.places.capacity() * size_of::<Place>()
            + (self.order.capacity() + self.stack.capacity()) * size_of::<SlotId>()
            + self.counts.capacity() * size_of::<u32>()
            + self.numbers.capacity() * size_of::<i64>()
            + self.columns.capacity() * size_of::<Column>()
            + self.frames.capacity() * size_of::<Frame>()
    }

    /// Forgets the last payload.
    fn reset(&mut self) {
        self.model.reset();
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.places.clear();
            self.round = 1;
        }
        self.order.clear();
        self.numbers.clear();
        self.columns.clear();
        self.frames.clear();
    }

    fn place(&mut self, slot: SlotId) -> &mut Place {
        let at = slot as usize;
        if at >= self.places.len() {
            self.places.resize(self.model.slots.len().max(at + 1), Place::default());
        }
        let place = &mut self.places[at];
        if place.round != self.round {
            *place = Place { round: self.round, ..Place::default() };
        }
        place
    }

    fn read_changed(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Corrupt> {
        let count =
            varint::read_at_most(cursor, self.model.base_slots(), "too many changed slots")?;
        let mut slot = 0;
        for _ in 0..count {
            slot += varint::read_at_most(cursor, self.model.base_slots(), "an unknown slot")?;
            if slot >= self.model.base_slots() {
                return Err(Corrupt("an unknown slot"));
            }
            self.place(slot as SlotId).is_changed = true;
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
        self.place(0).count = 1;
        self.stack.clear();
        self.stack.push(0);
        while let Some(slot) = self.stack.pop() {
            let at = slot as usize;
            self.order.push(slot);
            if at >= self.model.base_slots() || self.place(slot).is_changed {
                self.model.read_additions(slot, additions)?;
            }
            let count = self.place(slot).count;
            let variants = self.model.slots[at].variants.len();
            self.counts.clear();
            self.counts.resize(variants, 0);
            match variants {
                0 => return Err(Corrupt("a slot without variants")),
                1 => self.counts[0] = count,
                _ => {
                    let counts = &mut self.counts;
                    let content = &self.model.slots[at];
                    let has_text = content.has_text();
                    let mut texts = 0;
                    let symbols = small(cursor, count, |symbol, times| {
                        let counter = counts.get_mut(symbol as usize);
                        *counter.ok_or(Corrupt("an unknown variant"))? += times;
                        if has_text && matches!(content.variants[symbol as usize], Variant::Text(_))
                        {
                            texts += times;
                        }
                        Ok(())
                    })?;
                    let place = self.place(slot);
                    place.symbols = symbols;
                    place.text_count = texts;
                }
            }
            if variants == 1 && matches!(self.model.slots[at].variants[0], Variant::Text(_)) {
                self.place(slot).text_count = count;
            }
            let first_column = self.columns.len() as u32;
            for active in 0..self.model.slots[at].active.len() {
                let variant = self.model.slots[at].active[active] as usize;
                let times = self.counts[variant];
                if times == 0 {
                    continue;
                }
                match &self.model.slots[at].variants[variant] {
                    Variant::Number(..) | Variant::Bytes(..) => self.columns.push(Column {
                        slot,
                        variant: variant as u32,
                        count: times,
                        at: 0,
                    }),
                    Variant::Object(keys) => {
                        let new = keys.len().checked_mul(times as usize).ok_or(TOO_LONG)?;
                        values = values.checked_add(new).ok_or(TOO_LONG)?;
                        if values > payload_bytes {
                            return Err(TOO_LONG);
                        }
                        for key in 0..keys.len() {
                            let Variant::Object(keys) = &self.model.slots[at].variants[variant]
                            else {
                                continue;
                            };
                            let below = self.model.slots[at].children[keys[key] as usize].slot;
                            self.place(below).count += times;
                        }
                    }
                    Variant::Array => {
                        let mut elements = 0usize;
                        let lengths = small(cursor, times, |length, times| {
                            let new = (length as usize).checked_mul(times as usize);
                            elements =
                                new.and_then(|new| elements.checked_add(new)).ok_or(TOO_LONG)?;
                            Ok(())
                        })?;
                        values = values.checked_add(elements).ok_or(TOO_LONG)?;
                        if values > payload_bytes {
                            return Err(TOO_LONG);
                        }
                        self.place(slot).lengths = lengths;
                        let element = self.model.slots[at].element;
                        if let Some(element) = element {
                            self.place(element).count += elements as u32;
                        }
                    }
                    Variant::Tuple(length) => {
                        let length = *length as usize;
                        let new = length.checked_mul(times as usize).ok_or(TOO_LONG)?;
                        values = values.checked_add(new).ok_or(TOO_LONG)?;
                        if values > payload_bytes {
                            return Err(TOO_LONG);
                        }
                        for position in 0..length {
                            let below = self.model.slots[at].positions[position];
                            self.place(below).count += times;
                        }
                    }
                    _ => {}
                }
            }
            self.place(slot).columns = (first_column, self.columns.len() as u32);
            let start = self.stack.len();
            let content = &self.model.slots[at];
            let places = &self.places;
            let is_reached = |slot: &SlotId| {
                let place = places.get(*slot as usize);
                place.is_some_and(|place| place.round == self.round && place.count > 0)
            };
            self.stack.extend(content.below().filter(is_reached));
            self.stack[start..].reverse();
        }
        Ok(())
    }

    fn read_numbers(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Corrupt> {
        let mut last_times: [Option<i64>; 16] = [None; 16];
        for column in &mut self.columns {
            let variant = &self.model.slots[column.slot as usize].variants[column.variant as usize];
            match variant {
                Variant::Number(_, form, base) => {
                    let unit = form.time_unit();
                    let near = unit.and_then(|unit| last_times[usize::from(unit)]).unwrap_or(*base);
                    column.at = self.numbers.len();
                    let count = column.count as usize;
                    integers::read(cursor, count, near, unit.is_some(), &mut self.numbers)?;
                    if let Some(unit) = unit {
                        last_times[usize::from(unit)] = self.numbers.last().copied();
                    }
                }
                Variant::Bytes(_, kind) => {
                    column.at = cursor.at();
                    let bytes = (column.count as usize).checked_mul(kind.bytes.into());
                    cursor.take(bytes.ok_or(super::END)?)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Finds where the texts of each slot begin.
    fn find_texts(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Corrupt> {
        for at in 0..self.order.len() {
            let slot = self.order[at];
            let place = self.place(slot);
            place.texts = cursor.at();
            for _ in 0..place.text_count {
                cursor.text()?;
            }
        }
        Ok(())
    }

    fn write<const COMPACT: bool>(
        &mut self,
        bytes: &[u8],
        style: Style,
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), Corrupt> {
        let mut slot = 0;
        loop {
            self.write_value::<COMPACT>(slot, bytes, style, out)?;
            if out.len() > limit {
                return Err(Corrupt("a text of another length"));
            }
            // What comes next: another member or element, or the end of some.
            loop {
                let depth = self.frames.len();
                let Some(frame) = self.frames.last_mut() else { return Ok(()) };
                if frame.done == frame.count {
                    let close = if frame.kind == Kind::Object { b'}' } else { b']' };
                    if !COMPACT && frame.count > 0 {
                        style.write_line(depth - 1, out);
                    }
                    out.push(close);
                    self.frames.pop();
                    continue;
                }
                if frame.done > 0 {
                    out.push(b',');
                    if !COMPACT && style.comma_space && style.line_bytes(0) == 0 {
                        out.push(b' ');
                    }
                }
                if !COMPACT {
                    if style.line_bytes(depth) > limit.saturating_sub(out.len()) {
                        return Err(Corrupt("a text of another length"));
                    }
                    style.write_line(depth, out);
                }
                let content = &self.model.slots[frame.slot as usize];
                slot = match (frame.kind, &content.variants[frame.variant as usize]) {
                    (Kind::Object, Variant::Object(keys)) => {
                        let child = &content.children[keys[frame.done as usize] as usize];
                        out.extend_from_slice(&child.label);
                        if !COMPACT && style.colon_space {
                            out.push(b' ');
                        }
                        child.slot
                    }
                    (Kind::Tuple, _) => content.positions[frame.done as usize],
                    _ => content.element.ok_or(super::END)?,
                };
                frame.done += 1;
                break;
            }
        }
    }

    /// Writes a scalar, or the opening bracket of an object or array.
    #[inline]
    fn write_value<const COMPACT: bool>(
        &mut self,
        slot: SlotId,
        bytes: &[u8],
        _style: Style,
        out: &mut Vec<u8>,
    ) -> Result<(), Corrupt> {
        let content = &self.model.slots[slot as usize];
        let place = &mut self.places[slot as usize];
        let symbol = match content.variants.len() {
            1 => 0,
            _ => place.symbols.next(bytes)?,
        };
        match &content.variants[symbol as usize] {
            Variant::Constant(text) => out.extend_from_slice(text),
            Variant::Text(affixes) => {
                let mut cursor = Cursor::at_offset(bytes, place.texts);
                let text = cursor.text()?;
                place.texts = cursor.at();
                in_affixes(affixes, out, |out| out.extend_from_slice(text));
            }
            Variant::Number(affixes, form, _) => {
                let column = column(&mut self.columns, place.columns, symbol)?;
                let value = *self.numbers.get(column.at).ok_or(super::END)?;
                column.at += 1;
                in_affixes(affixes, out, |out| form.write(value, out));
            }
            Variant::Bytes(affixes, kind) => {
                let column = column(&mut self.columns, place.columns, symbol)?;
                let mut cursor = Cursor::at_offset(bytes, column.at);
                let value = cursor.take(kind.bytes.into())?;
                column.at = cursor.at();
                in_affixes(affixes, out, |out| hex::write(value, *kind, out));
            }
            Variant::Object(keys) => {
                out.push(b'{');
                let count = keys.len() as u32;
                let kind = Kind::Object;
                self.frames.push(Frame { slot, variant: symbol, done: 0, count, kind });
            }
            Variant::Array => {
                let count = place.lengths.next(bytes)?;
                out.push(b'[');
                let kind = Kind::Array;
                self.frames.push(Frame { slot, variant: symbol, done: 0, count, kind });
            }
            &Variant::Tuple(count) => {
                out.push(b'[');
                let kind = Kind::Tuple;
                self.frames.push(Frame { slot, variant: symbol, done: 0, count, kind });
            }
        }
        Ok(())
    }
}

#[inline]
fn in_affixes(affixes: &Affixes, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    out.extend_from_slice(&affixes.prefix);
    write(out);
    out.extend_from_slice(&affixes.suffix);
}

/// The column of a variant among those of its slot, which stand in the order of their variants:
/// there may be thousands, and each value looks for its own.
#[inline]
fn column(
    columns: &mut [Column],
    (first, end): (u32, u32),
    variant: u32,
) -> Result<&mut Column, Corrupt> {
    let of_slot = columns.get_mut(first as usize..end as usize).ok_or(super::END)?;
    let found = of_slot.binary_search_by_key(&variant, |column| column.variant);
    found.map(|at| &mut of_slot[at]).map_err(|_| super::END)
}

impl Small {
    /// The next number. Where all are the same it is read again and again.
    #[inline]
    fn next(&mut self, bytes: &[u8]) -> Result<u32, Corrupt> {
        let mut cursor = Cursor::at_offset(bytes, self.at);
        let value = varint::read(&mut cursor)?;
        if !self.is_same {
            self.at = cursor.at();
        }
        Ok(value as u32)
    }
}

/// Goes over a column of small numbers, and returns where it begins. `take` is told each number and
/// how often it stands there.
fn small(
    cursor: &mut Cursor<'_>,
    count: u32,
    mut take: impl FnMut(u32, u32) -> Result<(), Corrupt>,
) -> Result<Small, Corrupt> {
    let is_same = match count as usize {
        0..LONG_COLUMN => false,
        _ => match cursor.byte()? {
            0 => false,
            1 => true,
            _ => return Err(Corrupt("an unknown way of a column")),
        },
    };
    let at = cursor.at();
    let each = if is_same { count } else { 1 };
    for _ in 0..if is_same { 1 } else { count } {
        let value = varint::read_at_most(cursor, u32::MAX as usize, "a number above 32 bits")?;
        take(value as u32, each)?;
    }
    Ok(Small { at, is_same })
}
