//! A model as the decoder goes over it: one list of all variants, of all keys and of all texts, so
//! that a value is written after few steps from place to place.
//!
//! What a payload adds is put behind what the dictionary has, and taken away after it.

use super::Corrupt;
use super::cursor::Cursor;
use super::form::Form;
use super::model::{Affixes, Hex, Model, SlotId, TOO_DEEP, TUPLE_MAX, Variant, code};
use super::output::STEP;
use super::varint;
use crate::limits::{
    COLUMNAR_DEPTH_MAX, COLUMNAR_KEYS_MAX, COLUMNAR_SLOTS_MAX, COLUMNAR_VARIANTS_MAX,
};

/// Nothing.
const NONE: u32 = u32::MAX;

/// A part of a list: where it begins, and how long it is.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Span {
    pub(super) at: u32,
    pub(super) length: u32,
}

/// Constants of up to so many bytes stand in the variant itself.
pub(super) const SHORT: usize = 30;

/// One way to write a value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Flat {
    /// The first so many of these bytes.
    Short(u8, [u8; SHORT]),
    /// This text.
    Constant(Span),
    /// A text in quotes.
    String,
    /// A text between two.
    Text(Span, Span),
    /// An integer in a form, and the base.
    Number(Form, i64),
    /// The same in quotes.
    QuotedNumber(Form, i64),
    /// The same between two texts.
    NumberIn(Span, Span, Form, i64),
    /// Bytes as hexadecimal digits between two texts.
    Bytes(Span, Span, Hex),
    /// An object with these keys, and whether their numbers rise.
    Object(Span, bool),
    /// An array.
    Array,
    /// A tuple of so many elements.
    Tuple(u32),
}

/// A key of a slot.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    /// `,"key":`, or its first bytes.
    pub(super) start: [u8; STEP],
    /// How long that is in all, and where it stands if it is longer.
    pub(super) bytes: u32,
    pub(super) at: u32,
    /// The slot of its values.
    pub(super) slot: SlotId,
    /// Its number in the slot that it is a key of.
    number: u32,
}

/// A part of a list that a payload may add to: what the model has, and what the payload adds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Parts {
    base: Span,
    added: Span,
}

impl Parts {
    /// How many there are.
    #[inline(always)]
    pub(super) fn count(self) -> usize {
        (self.base.length + self.added.length) as usize
    }

    /// Both parts.
    pub(super) fn spans(self) -> [Span; 2] {
        [self.base, self.added]
    }

    /// Where one of them is.
    #[inline(always)]
    pub(super) fn place(self, number: u32) -> Option<u32> {
        if number < self.base.length {
            return Some(self.base.at + number);
        }
        let number = number - self.base.length;
        (number < self.added.length).then(|| self.added.at + number)
    }
}

/// A slot.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    pub(super) variants: Parts,
    pub(super) keys: Parts,
    /// The slots of the elements of its tuples.
    pub(super) positions: Span,
    /// The slot of the elements of its arrays.
    pub(super) element: SlotId,
    /// Whether the payload says what is new in it.
    pub(super) is_open: bool,
    /// The last variant that is an object.
    last_object: u32,
    depth: u32,
}

/// The lengths of all lists.
#[derive(Debug, Clone, Copy, Default)]
struct Lengths {
    slots: usize,
    variants: usize,
    members: usize,
    keys: usize,
    positions: usize,
    texts: usize,
    listed_keys: usize,
}

/// The model of a dictionary, and what a payload adds.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) slots: Vec<Slot>,
    pub(super) variants: Vec<Flat>,
    /// The key lists of all objects, as places of keys.
    pub(super) members: Vec<u32>,
    pub(super) keys: Vec<Key>,
    pub(super) positions: Vec<SlotId>,
    /// Constants, labels, prefixes and suffixes.
    pub(super) texts: Vec<u8>,
    listed_keys: usize,
    base: Lengths,
    /// The slots of the model that were added to, as they were.
    changed: Vec<(SlotId, Slot)>,
}

fn part(at: usize, end: usize) -> Span {
    Span { at: at as u32, length: (end - at) as u32 }
}

fn parts(at: usize, end: usize) -> Parts {
    Parts { base: part(at, end), added: Span::default() }
}

impl Plan {
    /// The plan of a model.
    pub(super) fn new(model: &Model) -> Plan {
        let mut plan = Plan {
            slots: Vec::with_capacity(model.slots.len()),
            variants: Vec::new(),
            members: Vec::new(),
            keys: Vec::new(),
            positions: Vec::new(),
            texts: Vec::new(),
            listed_keys: model.listed_keys(),
            base: Lengths::default(),
            changed: Vec::new(),
        };
        for slot in &model.slots {
            let first_key = plan.keys.len();
            for (number, child) in (0..).zip(&slot.children) {
                let key = plan.key(child.key(), child.slot, number);
                plan.keys.push(key);
            }
            let (first, mut last_object) = (plan.variants.len(), NONE);
            for variant in &slot.variants {
                let flat = plan.flat(variant, first_key);
                if let Flat::Object(..) = flat {
                    last_object = plan.variants.len() as u32;
                }
                plan.variants.push(flat);
            }
            let first_position = plan.positions.len();
            plan.positions.extend_from_slice(&slot.positions);
            plan.slots.push(Slot {
                variants: parts(first, plan.variants.len()),
                keys: parts(first_key, plan.keys.len()),
                positions: part(first_position, plan.positions.len()),
                element: slot.element.unwrap_or(NONE),
                is_open: false,
                last_object,
                depth: slot.depth,
            });
        }
        plan.base = Lengths {
            slots: plan.slots.len(),
            variants: plan.variants.len(),
            members: plan.members.len(),
            keys: plan.keys.len(),
            positions: plan.positions.len(),
            texts: plan.texts.len(),
            listed_keys: plan.listed_keys,
        };
        plan
    }

    fn flat(&mut self, variant: &Variant, first_key: usize) -> Flat {
        let mut around =
            |affixes: &Affixes| (self.text(&affixes.prefix), self.text(&affixes.suffix));
        match variant {
            Variant::Text(affixes) if *affixes == Affixes::quotes() => Flat::String,
            Variant::Text(affixes) => {
                let (prefix, suffix) = around(affixes);
                Flat::Text(prefix, suffix)
            }
            Variant::Number(affixes, form, base) if *affixes == Affixes::bare() => {
                Flat::Number(*form, *base)
            }
            Variant::Number(affixes, form, base) if *affixes == Affixes::quotes() => {
                Flat::QuotedNumber(*form, *base)
            }
            Variant::Number(affixes, form, base) => {
                let (prefix, suffix) = around(affixes);
                Flat::NumberIn(prefix, suffix, *form, *base)
            }
            Variant::Bytes(affixes, hex) => {
                let (prefix, suffix) = around(affixes);
                Flat::Bytes(prefix, suffix, *hex)
            }
            Variant::Constant(text) => self.constant(text),
            Variant::Object(keys) => {
                let at = self.members.len();
                self.members.extend(keys.iter().map(|key| first_key as u32 + key));
                self.object(at)
            }
            Variant::Array => Flat::Array,
            Variant::Tuple(length) => Flat::Tuple(*length),
        }
    }

    /// The object whose keys are the members from a place on.
    fn object(&self, at: usize) -> Flat {
        let members = &self.members[at..];
        let number = |member: u32| self.keys[member as usize].number;
        let is_rising = members.windows(2).all(|pair| number(pair[0]) < number(pair[1]));
        Flat::Object(Span { at: at as u32, length: members.len() as u32 }, is_rising)
    }

    fn text(&mut self, text: &[u8]) -> Span {
        let at = self.texts.len();
        self.texts.extend_from_slice(text);
        Span { at: at as u32, length: text.len() as u32 }
    }

    /// The variant of a constant.
    fn constant(&mut self, text: &[u8]) -> Flat {
        if text.len() > SHORT {
            return Flat::Constant(self.text(text));
        }
        let mut short = [0; SHORT];
        short[..text.len()].copy_from_slice(text);
        Flat::Short(text.len() as u8, short)
    }

    /// A key of this text.
    #[inline(always)]
    fn key(&mut self, text: &[u8], slot: SlotId, number: u32) -> Key {
        let bytes = text.len() + 4;
        let mut start = [0; STEP];
        let mut at = 0;
        if bytes <= STEP {
            start[2..2 + text.len()].copy_from_slice(text);
            start[bytes - 2..bytes].copy_from_slice(b"\":");
        } else {
            at = self.texts.len() as u32;
            self.text_between(b",\"", text, b"\":");
        }
        start[..2].copy_from_slice(b",\"");
        Key { start, bytes: bytes as u32, at, slot, number }
    }

    /// The variant of a string that is always the same.
    fn string_constant(&mut self, text: &[u8]) -> Flat {
        let length = text.len() + 2;
        if length > SHORT {
            let span = self.text_between(b"\"", text, b"\"");
            return Flat::Constant(span);
        }
        let mut short = [0; SHORT];
        short[0] = b'"';
        short[1..=text.len()].copy_from_slice(text);
        short[length - 1] = b'"';
        Flat::Short(length as u8, short)
    }

    fn text_between(&mut self, before: &[u8], text: &[u8], after: &[u8]) -> Span {
        let at = self.texts.len();
        for piece in [before, text, after] {
            self.texts.extend_from_slice(piece);
        }
        Span { at: at as u32, length: (self.texts.len() - at) as u32 }
    }

    /// The slots of the model.
    pub(super) fn base_slots(&self) -> usize {
        self.base.slots
    }

    /// What it holds, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>()
            + self.variants.capacity() * size_of::<Flat>()
            + self.members.capacity() * size_of::<u32>()
            + self.keys.capacity() * size_of::<Key>()
            + self.positions.capacity() * size_of::<SlotId>()
            + self.texts.capacity()
            + self.changed.capacity() * size_of::<(SlotId, Slot)>()
    }

    /// Takes away what a payload added.
    pub(super) fn reset(&mut self) {
        self.slots.truncate(self.base.slots);
        self.variants.truncate(self.base.variants);
        self.members.truncate(self.base.members);
        self.keys.truncate(self.base.keys);
        self.positions.truncate(self.base.positions);
        self.texts.truncate(self.base.texts);
        self.listed_keys = self.base.listed_keys;
        // A slot may be named twice, and was then first as it has to be again.
        for (slot, before) in self.changed.drain(..).rev() {
            self.slots[slot as usize] = before;
        }
    }

    /// Puts behind the texts what is read with the last of them.
    pub(super) fn close(&mut self) {
        self.texts.extend_from_slice(&[0; STEP]);
    }

    /// Notes that the payload says what is new in a slot of the model.
    pub(super) fn open(&mut self, slot: SlotId) {
        self.changed.push((slot, self.slots[slot as usize]));
        self.slots[slot as usize].is_open = true;
    }

    /// Reads the variants that a payload adds to a slot, with what is below them.
    pub(super) fn read_additions(
        &mut self,
        slot: SlotId,
        cursor: &mut Cursor<'_>,
    ) -> Result<(), Corrupt> {
        let at = slot as usize;
        let content = &mut self.slots[at];
        content.variants.added.at = self.variants.len() as u32;
        content.keys.added.at = self.keys.len() as u32;
        let count = varint::read_at_most(cursor, COLUMNAR_VARIANTS_MAX, "too many variants")?;
        for _ in 0..count {
            let flat = self.read_variant(slot, cursor)?;
            if self.variants.len() >= COLUMNAR_VARIANTS_MAX {
                return Err(Corrupt("too many different variants"));
            }
            if let Flat::Object(..) = flat {
                self.slots[at].last_object = self.variants.len() as u32;
            }
            self.variants.push(flat);
            self.slots[at].variants.added.length += 1;
        }
        Ok(())
    }

    fn add_slot(&mut self, above: SlotId) -> Result<SlotId, Corrupt> {
        let depth = self.slots[above as usize].depth + 1;
        if depth as usize > COLUMNAR_DEPTH_MAX {
            return Err(TOO_DEEP);
        }
        if self.slots.len() >= COLUMNAR_SLOTS_MAX {
            return Err(Corrupt("too many different paths"));
        }
        self.slots.push(Slot {
            variants: Parts::default(),
            keys: Parts::default(),
            positions: Span::default(),
            element: NONE,
            is_open: true,
            last_object: NONE,
            depth,
        });
        Ok((self.slots.len() - 1) as SlotId)
    }

    #[inline(always)]
    fn read_variant(&mut self, slot: SlotId, cursor: &mut Cursor<'_>) -> Result<Flat, Corrupt> {
        Ok(match cursor.byte()? {
            code::STRING => Flat::String,
            code::NUMBER => {
                let (form, base) = read_form(cursor)?;
                Flat::Number(form, base)
            }
            code::NULL => self.constant(b"null"),
            code::TRUE => self.constant(b"true"),
            code::FALSE => self.constant(b"false"),
            code => self.read_other(slot, code, cursor)?,
        })
    }

    #[inline(never)]
    fn read_other(
        &mut self,
        slot: SlotId,
        code: u8,
        cursor: &mut Cursor<'_>,
    ) -> Result<Flat, Corrupt> {
        Ok(match code {
            code::CONSTANT => self.constant(cursor.text()?),
            code::STRING_CONSTANT => self.string_constant(cursor.text()?),
            code::BARE => Flat::Text(Span::default(), Span::default()),
            code::AFFIXED_TEXT => {
                let (prefix, suffix) = (self.text(cursor.text()?), self.text(cursor.text()?));
                Flat::Text(prefix, suffix)
            }
            code::QUOTED_NUMBER => {
                let (form, base) = read_form(cursor)?;
                Flat::QuotedNumber(form, base)
            }
            code::AFFIXED_NUMBER => {
                let (prefix, suffix) = (self.text(cursor.text()?), self.text(cursor.text()?));
                let (form, base) = read_form(cursor)?;
                Flat::NumberIn(prefix, suffix, form, base)
            }
            code::HEX | code::UUID => {
                let is_uuid = code == code::UUID;
                let bytes = if is_uuid { 16 } else { cursor.byte()? };
                let is_upper = cursor.byte()? != 0;
                let (prefix, suffix) = (self.text(cursor.text()?), self.text(cursor.text()?));
                Flat::Bytes(prefix, suffix, Hex { bytes, is_upper, is_uuid })
            }
            code::ARRAY => {
                // The lengths of the arrays of a slot are one column.
                if self.slots[slot as usize].element != NONE {
                    return Err(Corrupt("a second variant of arrays"));
                }
                self.slots[slot as usize].element = self.add_slot(slot)?;
                Flat::Array
            }
            code::TUPLE => {
                let length = varint::read_at_most(cursor, TUPLE_MAX, "a tuple that is too long")?;
                self.add_positions(slot, length as u32)?;
                Flat::Tuple(length as u32)
            }
            code::OBJECT => self.read_object(slot, cursor)?,
            _ => return Err(Corrupt("an unknown variant")),
        })
    }

    /// Makes the slots of the elements of a tuple that the slot does not have yet.
    fn add_positions(&mut self, slot: SlotId, length: u32) -> Result<(), Corrupt> {
        let Span { at, length: known } = self.slots[slot as usize].positions;
        if known >= length {
            return Ok(());
        }
        // All of a slot stand behind each other.
        let end = at + known;
        if known == 0 || end as usize != self.positions.len() {
            self.slots[slot as usize].positions.at = self.positions.len() as u32;
            self.positions.extend_from_within(at as usize..end as usize);
        }
        for _ in known..length {
            let position = self.add_slot(slot)?;
            self.positions.push(position);
            self.slots[slot as usize].positions.length += 1;
        }
        Ok(())
    }

    fn read_object(&mut self, slot: SlotId, cursor: &mut Cursor<'_>) -> Result<Flat, Corrupt> {
        let last = self.variants.get(self.slots[slot as usize].last_object as usize);
        let before = match last {
            Some(Flat::Object(members, _)) => *members,
            _ => Span::default(),
        };
        let known = before.length as usize;
        let same = varint::read_at_most(cursor, known, "a key list that is too short")?;
        let count = varint::read_at_most(cursor, cursor.left(), "more keys than bytes")?;
        // A list of many keys can be copied with few bytes.
        self.listed_keys = self.listed_keys.saturating_add(same + count);
        if self.listed_keys > COLUMNAR_KEYS_MAX {
            return Err(Corrupt("too many keys in the lists of objects"));
        }
        let at = self.members.len();
        self.members.extend_from_within(before.at as usize..before.at as usize + same);
        self.members.reserve(count);
        for _ in 0..count {
            let keys = self.slots[slot as usize].keys;
            let member = match varint::read_at_most(cursor, keys.count(), "an unknown key")? {
                0 => {
                    let key = cursor.text()?;
                    let (below, number) = (self.add_slot(slot)?, keys.count() as u32);
                    let key = self.key(key, below, number);
                    self.keys.push(key);
                    self.slots[slot as usize].keys.added.length += 1;
                    (self.keys.len() - 1) as u32
                }
                number => keys.place(number as u32 - 1).ok_or(Corrupt("an unknown key"))?,
            };
            self.members.push(member);
        }
        Ok(self.object(at))
    }
}

/// The form and the base of a variant of numbers.
fn read_form(cursor: &mut Cursor<'_>) -> Result<(Form, i64), Corrupt> {
    let form = Form::of_code(cursor.byte()?).ok_or(Corrupt("an unknown form"))?;
    Ok((form, varint::unzigzag(varint::read(cursor)?)))
}
