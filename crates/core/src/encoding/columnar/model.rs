//! The model of a payload: slots, and the variants that the values of a slot have.
//!
//! A slot is a path with array indices dropped: the root, the value of a key in the objects of a
//! slot, or the elements of the arrays of a slot. A variant is one way in which a value there is
//! written: a constant that occurs again and again, a string, a number in some form, an object with
//! certain keys, an array. A payload that a dictionary knows brings no model of its own; what is
//! new in it is added behind what the dictionary has, in the order in which slots are reached.

use super::cursor::Cursor;
use super::form::Form;
use super::view::{View, write_text, write_tuple};
use super::{Corrupt, varint};
use crate::limits::{
    COLUMNAR_DEPTH_MAX, COLUMNAR_KEYS_MAX, COLUMNAR_SLOTS_MAX, COLUMNAR_VARIANTS_MAX,
};

/// More slots above each other than there may be.
pub(super) const TOO_DEEP: Corrupt = Corrupt("values nest too deep");

/// The place of a slot in the model.
pub(super) type SlotId = u32;

/// One way to write a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Variant {
    /// Always this text, quotes included.
    Constant(Box<[u8]>),
    /// Any text between two that are always the same; a string has a quote as each.
    Text(Affixes),
    /// An integer in a form between two texts.
    Number(Affixes, Form, i64),
    /// So many bytes as hexadecimal digits between two texts.
    Bytes(Affixes, Hex),
    /// An object with these children of the slot, in this order.
    Object(Box<[u32]>),
    /// An array whose elements share a slot.
    Array,
    /// An array of so many elements that each have a slot of their own: a pair of coordinates, or
    /// a record without keys.
    Tuple(u32),
}

impl Variant {
    /// The variant, if scalars have it.
    #[inline(always)]
    pub(super) fn view(&self) -> Option<View<'_>> {
        Some(match self {
            Variant::Constant(text) => View::Constant(text),
            Variant::Text(around) => View::Text(&around.prefix, &around.suffix),
            Variant::Number(around, form, base) => {
                View::Number(&around.prefix, &around.suffix, *form, *base)
            }
            Variant::Bytes(around, hex) => View::Bytes(&around.prefix, &around.suffix, *hex),
            Variant::Object(_) | Variant::Array | Variant::Tuple(_) => return None,
        })
    }
}

/// What stands before and after the part of a value that differs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Affixes {
    pub(super) prefix: Box<[u8]>,
    pub(super) suffix: Box<[u8]>,
}

impl Affixes {
    pub(super) fn new(prefix: &[u8], suffix: &[u8]) -> Affixes {
        Affixes { prefix: prefix.into(), suffix: suffix.into() }
    }

    /// A number: nothing around it.
    pub(super) fn bare() -> Affixes {
        Affixes::new(b"", b"")
    }

    /// A string: a quote on each side.
    pub(super) fn quotes() -> Affixes {
        Affixes::new(b"\"", b"\"")
    }

    /// What stands between them in a text.
    #[inline]
    pub(super) fn inner<'a>(&self, text: &'a [u8]) -> Option<&'a [u8]> {
        // Comparing nothing is not free: glibc's comparison of no bytes reads through the pointer,
        // which for an empty box leads nowhere, and processors recover from that slowly.
        let rest = match &*self.prefix {
            [] => text,
            [b'"'] => text.strip_prefix(b"\"")?,
            prefix => text.strip_prefix(prefix)?,
        };
        match &*self.suffix {
            [] => Some(rest),
            [b'"'] => rest.strip_suffix(b"\""),
            suffix => rest.strip_suffix(suffix),
        }
    }
}

/// Bytes as hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Hex {
    /// How many bytes, 1 to 255.
    pub(super) bytes: u8,
    /// `A` to `F` instead of `a` to `f`.
    pub(super) is_upper: bool,
    /// Hyphens as in a UUID, of 16 bytes.
    pub(super) is_uuid: bool,
}

/// A slot.
#[derive(Debug, Clone, Default)]
pub(super) struct Slot {
    pub(super) variants: Vec<Variant>,
    /// The keys of its objects, as they stand between the quotes, and their slots.
    pub(super) children: Vec<Child>,
    /// The slot of the elements of its arrays, if it has any.
    pub(super) element: Option<SlotId>,
    /// The slots of the elements of its tuples, by their place.
    pub(super) positions: Vec<SlotId>,
    /// The lengths of its tuples and their variants, which are few where the variants are many.
    pub(super) tuples: Vec<(u32, u32)>,
    /// The variant of the arrays.
    array: Option<u32>,
    pub(super) depth: u32,
}

impl Slot {
    /// The variant of the arrays.
    pub(super) fn array(&self) -> Option<u32> {
        self.array
    }

    /// The slots of the keys of the last key list.
    pub(super) fn last_keys(&self) -> impl Iterator<Item = SlotId> + '_ {
        let last = self.variants.iter().rev().find_map(|variant| match variant {
            Variant::Object(keys) => Some(keys),
            _ => None,
        });
        last.into_iter().flatten().map(|key| self.children[*key as usize].slot)
    }

    /// The variant of the tuples of this length.
    pub(super) fn tuple(&self, length: u32) -> Option<u32> {
        let found = self.tuples.iter().find(|(known, _)| *known == length);
        found.map(|&(_, variant)| variant)
    }

    /// All slots right below, in the order of the format.
    pub(super) fn below(&self) -> impl Iterator<Item = SlotId> + '_ {
        let children = self.children.iter().map(|child| child.slot);
        children.chain(self.positions.iter().copied()).chain(self.element)
    }
}

/// A key of the objects of a slot.
#[derive(Debug, Clone)]
pub(super) struct Child {
    /// `"key":`
    pub(super) label: Box<[u8]>,
    pub(super) slot: SlotId,
}

impl Child {
    /// The key between the quotes.
    pub(super) fn key(&self) -> &[u8] {
        &self.label[1..self.label.len() - 2]
    }
}

/// Codes of variants in the format.
pub(super) mod code {
    pub(in super::super) const CONSTANT: u8 = 0;
    pub(in super::super) const STRING: u8 = 1;
    pub(in super::super) const BARE: u8 = 2;
    pub(in super::super) const AFFIXED_TEXT: u8 = 3;
    pub(in super::super) const OBJECT: u8 = 4;
    pub(in super::super) const ARRAY: u8 = 5;
    pub(in super::super) const NUMBER: u8 = 6;
    pub(in super::super) const AFFIXED_NUMBER: u8 = 7;
    pub(in super::super) const HEX: u8 = 8;
    pub(in super::super) const UUID: u8 = 9;
    pub(in super::super) const TRUE: u8 = 10;
    pub(in super::super) const FALSE: u8 = 11;
    pub(in super::super) const NULL: u8 = 12;
    pub(in super::super) const QUOTED_NUMBER: u8 = 13;
    pub(in super::super) const STRING_CONSTANT: u8 = 14;
    pub(in super::super) const TUPLE: u8 = 15;
}

/// The most elements of a tuple.
pub(super) const TUPLE_MAX: usize = 64;

/// Slots; the first is the root.
#[derive(Debug, Clone)]
pub struct Model {
    pub(super) slots: Vec<Slot>,
    /// Variants of all slots together.
    pub(super) variants: usize,
    /// Keys of the lists of all objects together.
    listed_keys: usize,
    /// How many slots, keys and variants there are without the additions of a payload.
    base: Vec<(usize, usize)>,
    base_variants: usize,
    base_listed_keys: usize,
    /// The slots of the base that were added to.
    touched: Vec<SlotId>,
    /// Whether an encoder writes texts in the order of the payload.
    texts_in_order: bool,
}

impl Model {
    /// The model of no dictionary: a root without variants.
    pub(super) fn new() -> Model {
        Model {
            slots: vec![Slot::default()],
            variants: 0,
            listed_keys: 0,
            base: vec![(0, 0)],
            base_variants: 0,
            base_listed_keys: 0,
            touched: Vec::new(),
            texts_in_order: false,
        }
    }

    /// The same model, under which an encoder writes texts in the order of the payload, or slot by
    /// slot.
    pub(crate) fn with_texts_in_order(self, texts_in_order: bool) -> Model {
        Model { texts_in_order, ..self }
    }

    /// Whether an encoder writes texts in the order of the payload.
    pub(super) fn has_texts_in_order(&self) -> bool {
        self.texts_in_order
    }

    /// Makes all there is the base of payloads to come.
    pub(super) fn settle(&mut self) {
        self.base = self.slots.iter().map(|s| (s.variants.len(), s.children.len())).collect();
        self.base_variants = self.variants;
        self.base_listed_keys = self.listed_keys;
        self.touched.clear();
    }

    /// Takes away what was added to the base.
    pub(super) fn reset(&mut self) {
        self.slots.truncate(self.base.len());
        let slots = self.slots.len();
        for slot in self.touched.drain(..) {
            let (variants, children) = self.base[slot as usize];
            let content = &mut self.slots[slot as usize];
            content.variants.truncate(variants);
            content.children.truncate(children);
            content.element = content.element.filter(|&element| (element as usize) < slots);
            content.positions.retain(|&position| (position as usize) < slots);
            let is_kept = |variant: &u32| (*variant as usize) < variants;
            content.tuples.retain(|(_, variant)| is_kept(variant));
            content.array = content.array.filter(is_kept);
        }
        self.variants = self.base_variants;
        self.listed_keys = self.base_listed_keys;
    }

    /// Keys of the lists of all objects together.
    pub(super) fn listed_keys(&self) -> usize {
        self.listed_keys
    }

    fn touch(&mut self, slot: SlotId) {
        if (slot as usize) < self.base.len() && self.touched.last() != Some(&slot) {
            self.touched.push(slot);
        }
    }

    /// Adds a slot below another.
    pub(super) fn add_slot(&mut self, above: SlotId) -> Result<SlotId, Corrupt> {
        let depth = self.slots[above as usize].depth + 1;
        if depth as usize > COLUMNAR_DEPTH_MAX {
            return Err(TOO_DEEP);
        }
        if self.slots.len() >= COLUMNAR_SLOTS_MAX {
            return Err(Corrupt("too many different paths"));
        }
        self.slots.push(Slot { depth, ..Slot::default() });
        Ok((self.slots.len() - 1) as SlotId)
    }

    /// Adds a key to the objects of a slot, and returns its number there.
    pub(super) fn add_child(&mut self, slot: SlotId, key: &[u8]) -> Result<u32, Corrupt> {
        self.touch(slot);
        let label = [b"\"", key, b"\":"].concat().into();
        let child = Child { label, slot: self.add_slot(slot)? };
        let children = &mut self.slots[slot as usize].children;
        children.push(child);
        Ok((children.len() - 1) as u32)
    }

    /// How many keys the lists have together with another of so many.
    fn listed_keys_with(&self, keys: usize) -> Result<usize, Corrupt> {
        let listed_keys = self.listed_keys.saturating_add(keys);
        if listed_keys > COLUMNAR_KEYS_MAX {
            return Err(Corrupt("too many keys in the lists of objects"));
        }
        Ok(listed_keys)
    }

    /// Adds a variant to a slot, and the slots of the elements of an array or tuple.
    pub(super) fn add_variant(&mut self, slot: SlotId, variant: Variant) -> Result<u32, Corrupt> {
        if self.variants >= COLUMNAR_VARIANTS_MAX {
            return Err(Corrupt("too many different variants"));
        }
        self.touch(slot);
        match &variant {
            Variant::Object(keys) => {
                self.listed_keys = self.listed_keys_with(keys.len())?;
            }
            Variant::Array => {
                // The lengths of the arrays of a slot are one column.
                if self.slots[slot as usize].element.is_some() {
                    return Err(Corrupt("a second variant of arrays"));
                }
                self.slots[slot as usize].element = Some(self.add_slot(slot)?);
            }
            &Variant::Tuple(length) => {
                while self.slots[slot as usize].positions.len() < length as usize {
                    let position = self.add_slot(slot)?;
                    self.slots[slot as usize].positions.push(position);
                }
                let content = &mut self.slots[slot as usize];
                if content.tuple(length).is_none() {
                    content.tuples.push((length, content.variants.len() as u32));
                }
            }
            _ => {}
        }
        self.variants += 1;
        let content = &mut self.slots[slot as usize];
        let number = content.variants.len() as u32;
        if variant == Variant::Array {
            content.array = Some(number);
        }
        content.variants.push(variant);
        Ok(number)
    }

    /// Appends the whole model, as [`Model::read`] reads it.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        self.in_order().for_each(|slot| self.write_additions(slot, 0, 0, out));
    }

    /// All slots, in the order of the format.
    pub(super) fn in_order(&self) -> impl Iterator<Item = SlotId> + '_ {
        let mut stack = vec![0];
        std::iter::from_fn(move || {
            let slot = stack.pop()?;
            self.push_below(slot, &mut stack);
            Some(slot)
        })
    }

    /// Reads a whole model, which becomes the base.
    pub(crate) fn read(bytes: &[u8]) -> Result<Model, Corrupt> {
        let mut model = Model::new();
        let mut cursor = Cursor::new(bytes);
        let mut stack = vec![0];
        while let Some(slot) = stack.pop() {
            model.read_additions(slot, &mut cursor)?;
            if model.slots[slot as usize].variants.is_empty() {
                return Err(Corrupt("a slot without variants"));
            }
            model.push_below(slot, &mut stack);
        }
        if cursor.left() > 0 {
            return Err(Corrupt("something after the model"));
        }
        model.settle();
        Ok(model)
    }

    fn push_below(&self, slot: SlotId, stack: &mut Vec<SlotId>) {
        let start = stack.len();
        let content = &self.slots[slot as usize];
        stack.extend(content.below());
        stack[start..].reverse();
    }

    /// Appends the variants of a slot from one on, with the keys that they add. `children` is how
    /// many keys the slot had before.
    pub(super) fn write_additions(
        &self,
        slot: SlotId,
        from: usize,
        mut children: usize,
        out: &mut Vec<u8>,
    ) {
        let slot = &self.slots[slot as usize];
        varint::write((slot.variants.len() - from) as u64, out);
        let mut before: &[u32] = &[];
        for variant in &slot.variants[..from] {
            if let Variant::Object(keys) = variant {
                before = keys;
            }
        }
        for variant in &slot.variants[from..] {
            write_variant(variant, slot, &mut children, before, out);
            if let Variant::Object(keys) = variant {
                before = keys;
            }
        }
    }

    /// Reads what [`Model::write_additions`] wrote.
    pub(super) fn read_additions(
        &mut self,
        slot: SlotId,
        cursor: &mut Cursor<'_>,
    ) -> Result<(), Corrupt> {
        let count = varint::read_at_most(cursor, COLUMNAR_VARIANTS_MAX, "too many variants")?;
        let is_object = |variant: &&Variant| matches!(variant, Variant::Object(_));
        let last = self.slots[slot as usize].variants.iter().rfind(is_object);
        let mut before: Box<[u32]> = match last {
            Some(Variant::Object(keys)) => keys.clone(),
            _ => Box::default(),
        };
        for _ in 0..count {
            let variant = self.read_variant(slot, &before, cursor)?;
            if let Variant::Object(keys) = &variant {
                before = keys.clone();
            }
            self.add_variant(slot, variant)?;
        }
        Ok(())
    }

    fn read_variant(
        &mut self,
        slot: SlotId,
        before: &[u32],
        cursor: &mut Cursor<'_>,
    ) -> Result<Variant, Corrupt> {
        let affixes = |cursor: &mut Cursor<'_>| -> Result<Affixes, Corrupt> {
            Ok(Affixes::new(cursor.text()?, cursor.text()?))
        };
        let number = |affixes: Affixes, cursor: &mut Cursor<'_>| -> Result<Variant, Corrupt> {
            let form = Form::of_code(cursor.byte()?).ok_or(Corrupt("an unknown form"))?;
            let base = varint::unzigzag(varint::read(cursor)?);
            Ok(Variant::Number(affixes, form, base))
        };
        Ok(match cursor.byte()? {
            code::CONSTANT => Variant::Constant(cursor.text()?.into()),
            code::STRING_CONSTANT => {
                Variant::Constant([b"\"", cursor.text()?, b"\""].concat().into())
            }
            code::TRUE => Variant::Constant((*b"true").into()),
            code::FALSE => Variant::Constant((*b"false").into()),
            code::NULL => Variant::Constant((*b"null").into()),
            code::STRING => Variant::Text(Affixes::quotes()),
            code::BARE => Variant::Text(Affixes::bare()),
            code::AFFIXED_TEXT => Variant::Text(affixes(cursor)?),
            code::NUMBER => number(Affixes::bare(), cursor)?,
            code::QUOTED_NUMBER => number(Affixes::quotes(), cursor)?,
            code::AFFIXED_NUMBER => {
                let affixes = affixes(cursor)?;
                number(affixes, cursor)?
            }
            code::HEX => {
                let bytes = cursor.byte()?;
                let is_upper = cursor.byte()? != 0;
                Variant::Bytes(affixes(cursor)?, Hex { bytes, is_upper, is_uuid: false })
            }
            code::UUID => {
                let is_upper = cursor.byte()? != 0;
                Variant::Bytes(affixes(cursor)?, Hex { bytes: 16, is_upper, is_uuid: true })
            }
            code::ARRAY => Variant::Array,
            code::TUPLE => {
                let length = varint::read_at_most(cursor, TUPLE_MAX, "a tuple that is too long")?;
                Variant::Tuple(length as u32)
            }
            code::OBJECT => self.read_object(slot, before, cursor)?,
            _ => return Err(Corrupt("an unknown variant")),
        })
    }

    fn read_object(
        &mut self,
        slot: SlotId,
        before: &[u32],
        cursor: &mut Cursor<'_>,
    ) -> Result<Variant, Corrupt> {
        let same = varint::read_at_most(cursor, before.len(), "a key list that is too short")?;
        let count = varint::read_at_most(cursor, cursor.left(), "more keys than bytes")?;
        // A list of many keys can be copied with few bytes.
        self.listed_keys_with(same + count)?;
        let mut keys = before[..same].to_vec();
        for _ in 0..count {
            let known = self.slots[slot as usize].children.len();
            match varint::read_at_most(cursor, known, "an unknown key")? {
                0 => {
                    let key = cursor.text()?;
                    keys.push(self.add_child(slot, key)?);
                }
                number => keys.push((number - 1) as u32),
            }
        }
        Ok(Variant::Object(keys.into()))
    }
}

fn write_variant(
    variant: &Variant,
    slot: &Slot,
    children: &mut usize,
    before: &[u32],
    out: &mut Vec<u8>,
) {
    let Variant::Object(keys) = variant else { return write_without_keys(variant, out) };
    out.push(code::OBJECT);
    let same = keys.iter().zip(before).take_while(|(a, b)| a == b).count();
    varint::write(same as u64, out);
    varint::write((keys.len() - same) as u64, out);
    for &key in &keys[same..] {
        // Keys are new in the order of their numbers.
        if key as usize == *children {
            *children += 1;
            varint::write(0, out);
            write_text(slot.children[key as usize].key(), out);
        } else {
            varint::write(u64::from(key) + 1, out);
        }
    }
}

/// Appends a variant that is no object.
fn write_without_keys(variant: &Variant, out: &mut Vec<u8>) {
    match (variant, variant.view()) {
        (_, Some(view)) => view.write(out),
        (Variant::Tuple(length), _) => write_tuple(*length, out),
        _ => out.push(code::ARRAY),
    }
}
