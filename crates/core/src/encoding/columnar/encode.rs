//! The encoder: columns are walked from the text, then written slot by slot.
//!
//! The body has four parts: what is new in the model; which variant each value has and how long
//! arrays are; integers and bytes; and texts. Slots come in the order in which a walk from the root
//! reaches them, so that nothing has to say where a column begins.

use super::choose::{Chooser, New};
use super::form::Form;
use super::known::Known;
use super::model::{Hex, Model, SlotId, Variant, code};
use super::sink::Sink;
use super::style::{HAS_ADDITIONS, Style};
use super::table::Seed;
use super::tree::{NONE, Tree};
use super::view::{View, write_text, write_tuple};
use super::walk::{Head, Kind, Token, Walk};
use super::{LONG_COLUMN, Refused, TERMINATOR, hex, integers, varint};
use crate::limits::{COLUMNAR_KEYS_MAX, COLUMNAR_SLOTS_MAX, COLUMNAR_VARIANTS_MAX};

/// An encoder with the memory that it reuses; one for each thread.
pub(super) struct Encoder {
    model: Model,
    tree: Tree,
    walk: Walk,
    known: Vec<Known>,
    seed: Seed,
    parts: Parts,
    stack: Vec<SlotId>,
    column: Column,
    chooser: Chooser,
    added: Added,
}

/// A column of so many values is looked at for what repeats in it, even where a dictionary has a
/// variant that takes all of them.
const LOOKED_AT: usize = 32;

/// A value that no variant takes yet.
const UNKNOWN: u32 = u32::MAX;

#[derive(Default)]
struct Parts {
    additions: Vec<u8>,
    changed: Vec<SlotId>,
    variants: Vec<u8>,
    numbers: Vec<u8>,
    texts: Sink,
    /// The last time of each unit: times of one payload lie near each other.
    last_times: [Option<i64>; 16],
}

/// The column that is being written, and the memory that it reuses.
#[derive(Default)]
struct Column {
    tokens: Vec<Token>,
    /// The variant of each value.
    symbols: Vec<u32>,
    /// The integers of the values that are numbers of some variant.
    integers: Vec<i64>,
    lengths: Vec<u32>,
    one: Vec<i64>,
    /// What the payload adds to the slot: structure, then scalars.
    structure: Vec<Structure>,
    scalars: Vec<New>,
    /// The values that no variant takes, and the numbers of the variants chosen for them.
    unknown: Vec<Token>,
    numbers: Vec<u32>,
    /// The tuples among these: their lengths and numbers.
    tuples: Vec<(u32, u32)>,
    /// The slots of keys that the payload adds.
    new_keys: Vec<SlotId>,
    /// The variants of numbers and bytes that values have.
    used: Vec<u32>,
    has_text: bool,
    has_unknown: bool,
}

/// A variant of containers that a payload adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Structure {
    /// The state of an object's keys.
    Object(u32),
    Array,
    Tuple(u32),
}

/// How much a payload adds to the model.
#[derive(Default)]
struct Added {
    slots: usize,
    variants: usize,
    listed_keys: usize,
}

impl Encoder {
    /// An encoder for the model of a dictionary.
    pub(super) fn new(model: &Model) -> Encoder {
        let seed = Seed::new();
        Encoder {
            known: model.slots.iter().map(|slot| Known::new(&slot.variants, seed)).collect(),
            tree: Tree::new(model),
            model: model.clone(),
            walk: Walk::default(),
            seed,
            parts: Parts::default(),
            stack: Vec::new(),
            column: Column::default(),
            chooser: Chooser::new(seed),
            added: Added::default(),
        }
    }

    /// Appends the encoded form of a JSON text.
    ///
    /// # Errors
    /// Where it is no JSON, its white space is in no usual style, or it passes a limit: it is then
    /// stored as it is.
    pub(super) fn encode(&mut self, text: &[u8], out: &mut Vec<u8>) -> Result<(), Refused> {
        if u32::try_from(text.len()).is_err() {
            return Err(Refused::Keys);
        }
        if self.tree.is_overfull() || self.walk.round == u32::MAX {
            self.tree = Tree::new(&self.model);
            self.walk = Walk::default();
        }
        self.reset();
        let style = self.walk.walk(text, &self.model, &mut self.tree)?;
        self.write_columns(text)?;
        self.parts.write_body(style, out);
        Ok(())
    }

    /// Forgets the last payload.
    fn reset(&mut self) {
        let parts = &mut self.parts;
        for part in [&mut parts.additions, &mut parts.variants, &mut parts.numbers] {
            part.clear();
        }
        parts.texts.clear();
        parts.changed.clear();
        parts.last_times = [None; 16];
        self.added = Added {
            slots: self.model.slots.len(),
            variants: self.model.variants,
            listed_keys: self.model.listed_keys(),
        };
    }

    fn write_columns(&mut self, text: &[u8]) -> Result<(), Refused> {
        self.stack.clear();
        self.stack.push(0);
        while let Some(slot) = self.stack.pop() {
            let Some(head) = self.walk.head(slot) else { continue };
            if head.count == 1 && self.write_one(slot, head, text) {
                continue;
            }
            let mut column = std::mem::take(&mut self.column);
            let result = self.write_column(slot, head, text, &mut column);
            self.column = column;
            result?;
        }
        Ok(())
    }

    /// Writes the only value of a slot, if the model knows it.
    #[inline]
    fn write_one(&mut self, slot: SlotId, head: Head, text: &[u8]) -> bool {
        let at = slot as usize;
        let (Some(content), Some(known)) = (self.model.slots.get(at), self.known.get(at)) else {
            return false;
        };
        let Some(&token) = self.walk.tokens.get(head.first as usize) else { return false };
        let parts = &mut self.parts;
        let is_told = content.variants.len() > 1;
        match token.kind {
            Kind::Object => {
                let number = self.tree.states[token.start as usize].number;
                if number == NONE {
                    return false;
                }
                if is_told {
                    varint::write(number.into(), &mut parts.variants);
                }
                self.push_below(slot, &[]);
            }
            Kind::Array => {
                let Some(number) = content.array() else { return false };
                if is_told {
                    varint::write(number.into(), &mut parts.variants);
                }
                varint::write(token.start.into(), &mut parts.variants);
                self.stack.extend(content.element.filter(|&below| self.walk.head(below).is_some()));
            }
            Kind::Tuple => return false,
            _ => {
                let value = token.text(text);
                let variants = &content.variants;
                let Some((number, integer)) = known.find(token, value, variants, false, self.seed)
                else {
                    return false;
                };
                if is_told {
                    varint::write(number.into(), &mut parts.variants);
                }
                match variants[number as usize].view() {
                    Some(View::Number(_, _, form, base)) => {
                        parts.write_numbers(&[integer], form, base);
                    }
                    Some(View::Text(prefix, suffix)) => {
                        parts.write_text(prefix, suffix, token, text);
                    }
                    Some(View::Bytes(prefix, suffix, kind)) => {
                        parts.write_bytes(prefix, suffix, kind, value);
                    }
                    _ => {}
                }
            }
        }
        true
    }

    /// Puts the slots that are right below a slot and have values on the stack, in reverse order.
    fn push_below(&mut self, slot: SlotId, new_keys: &[SlotId]) {
        let start = self.stack.len();
        let is_reached = |slot: &SlotId| self.walk.head(*slot).is_some();
        if let Some(content) = self.model.slots.get(slot as usize) {
            self.stack.extend(content.children.iter().map(|child| child.slot).filter(is_reached));
        }
        self.stack.extend_from_slice(new_keys);
        let node = &self.tree.nodes[slot as usize];
        self.stack.extend(node.positions.iter().copied().filter(is_reached));
        self.stack.extend([node.element].iter().filter(|slot| is_reached(slot)));
        self.stack[start..].reverse();
    }

    fn write_column(
        &mut self,
        slot: SlotId,
        head: Head,
        text: &[u8],
        column: &mut Column,
    ) -> Result<(), Refused> {
        column.clear();
        let mut next = head.first;
        while let Some(token) = self.walk.tokens.get(next as usize) {
            column.tokens.push(*token);
            next = token.next;
        }
        let is_container = self.find_variants(slot, text, column);
        if column.has_unknown {
            self.choose_variants(slot, text, column)?;
        }
        let content = self.model.slots.get(slot as usize);
        if content.is_none() || !column.structure.is_empty() || !column.scalars.is_empty() {
            self.write_additions(slot, text, column)?;
        }
        let known: &[Variant] = match self.model.slots.get(slot as usize) {
            Some(content) => &content.variants,
            None => &[],
        };
        let parts = &mut self.parts;
        if known.len() + column.structure.len() + column.scalars.len() > 1 {
            write_small(&column.symbols, &mut parts.variants);
        }
        if !column.lengths.is_empty() {
            write_small(&column.lengths, &mut parts.variants);
        }
        parts.write_values(known, text, column);
        if is_container {
            self.push_below(slot, &column.new_keys);
        }
        Ok(())
    }

    /// Finds the variants that the model has for the values of a column, and those of containers
    /// that it has not. Returns whether there are containers.
    fn find_variants(&mut self, slot: SlotId, text: &[u8], column: &mut Column) -> bool {
        let content = self.model.slots.get(slot as usize);
        let variants: &[Variant] = content.map_or(&[], |content| &content.variants);
        let known = self.known.get(slot as usize);
        let is_long = column.tokens.len() >= LOOKED_AT;
        let mut array = content.and_then(|content| content.array());
        let mut is_container = false;
        column.integers.resize(column.tokens.len(), 0);
        for place in 0..column.tokens.len() {
            let token = column.tokens[place];
            let new_number = (variants.len() + column.structure.len()) as u32;
            let symbol = match token.kind {
                Kind::Object => {
                    is_container = true;
                    let state = &mut self.tree.states[token.start as usize];
                    if state.number != NONE {
                        state.number
                    } else if state.round == self.walk.round {
                        state.new_number
                    } else {
                        (state.round, state.new_number) = (self.walk.round, new_number);
                        column.structure.push(Structure::Object(token.start));
                        new_number
                    }
                }
                Kind::Array => {
                    is_container = true;
                    column.lengths.push(token.start);
                    *array.get_or_insert_with(|| {
                        column.structure.push(Structure::Array);
                        new_number
                    })
                }
                Kind::Tuple => {
                    is_container = true;
                    let length = token.start;
                    let of_model = content.and_then(|content| content.tuple(length));
                    let added = || column.tuples.iter().find(|(known, _)| *known == length);
                    match of_model.or_else(|| added().map(|&(_, number)| number)) {
                        Some(number) => number,
                        None => {
                            column.structure.push(Structure::Tuple(length));
                            column.tuples.push((length, new_number));
                            new_number
                        }
                    }
                }
                _ => {
                    let value = token.text(text);
                    let found =
                        known.and_then(|k| k.find(token, value, variants, is_long, self.seed));
                    match found {
                        Some((number, integer)) => {
                            column.integers[place] = integer;
                            column.use_variant(number, variants[number as usize].view());
                            number
                        }
                        None => {
                            column.has_unknown = true;
                            UNKNOWN
                        }
                    }
                }
            };
            column.symbols.push(symbol);
        }
        is_container
    }

    /// Chooses variants for the values that no variant of the model takes.
    fn choose_variants(
        &mut self,
        slot: SlotId,
        text: &[u8],
        column: &mut Column,
    ) -> Result<(), Refused> {
        let known: &[Variant] = match self.model.slots.get(slot as usize) {
            Some(content) => &content.variants,
            None => &[],
        };
        column.unknown.clear();
        column.numbers.clear();
        for (token, symbol) in column.tokens.iter().zip(&column.symbols) {
            if *symbol == UNKNOWN {
                column.unknown.push(*token);
            }
        }
        self.chooser.choose(text, &column.unknown);
        let first = known.len() + column.structure.len();
        for new in &self.chooser.variants {
            let view = Some(new.view(text));
            let number = match known.iter().position(|known| known.view() == view) {
                Some(number) => number,
                None => {
                    column.scalars.push(*new);
                    first + column.scalars.len() - 1
                }
            };
            column.numbers.push(number as u32);
            column.use_variant(number as u32, view);
        }
        let mut chosen = self.chooser.of_values.iter().zip(&self.chooser.integers);
        for (symbol, integer) in column.symbols.iter_mut().zip(&mut column.integers) {
            if *symbol == UNKNOWN {
                let (of_value, parsed) = chosen.next().ok_or(Refused::Keys)?;
                *symbol = column.numbers.get(*of_value as usize).copied().ok_or(Refused::Keys)?;
                *integer = *parsed;
            }
        }
        Ok(())
    }

    /// Writes what the payload adds to a slot.
    fn write_additions(
        &mut self,
        slot: SlotId,
        text: &[u8],
        column: &mut Column,
    ) -> Result<(), Refused> {
        let content = self.model.slots.get(slot as usize);
        let parts = &mut self.parts;
        if content.is_some() {
            parts.changed.push(slot);
        }
        let out = &mut parts.additions;
        let count = column.structure.len() + column.scalars.len();
        self.added.variants += count;
        varint::write(count as u64, out);
        let (mut before, mut keys): (Vec<SlotId>, Vec<SlotId>) = (Vec::new(), Vec::new());
        let mut has_before = false;
        let mut positions = content.map_or(0, |content| content.positions.len());
        let known_keys = content.map_or(0, |content| content.children.len());
        for structure in &column.structure {
            match *structure {
                Structure::Array => {
                    out.push(code::ARRAY);
                    self.added.slots += 1;
                }
                Structure::Tuple(length) => {
                    write_tuple(length, out);
                    self.added.slots += (length as usize).saturating_sub(positions);
                    positions = positions.max(length as usize);
                }
                Structure::Object(state) => {
                    if !has_before && let Some(content) = content {
                        before.extend(content.last_keys());
                    }
                    has_before = true;
                    keys.clear();
                    self.tree.slots_of(state, &mut keys);
                    self.added.listed_keys += keys.len();
                    out.push(code::OBJECT);
                    let same = keys.iter().zip(&before).take_while(|(a, b)| a == b).count();
                    varint::write(same as u64, out);
                    varint::write((keys.len() - same) as u64, out);
                    for &key in &keys[same..] {
                        let node = &mut self.tree.nodes[key as usize];
                        let number = if node.number != NONE {
                            node.number
                        } else if node.round == self.walk.round {
                            node.new_number
                        } else {
                            node.round = self.walk.round;
                            node.new_number = (known_keys + column.new_keys.len()) as u32;
                            column.new_keys.push(key);
                            varint::write(0, out);
                            write_text(self.tree.key(key), out);
                            continue;
                        };
                        varint::write(u64::from(number) + 1, out);
                    }
                    std::mem::swap(&mut before, &mut keys);
                }
            }
        }
        for new in &column.scalars {
            new.view(text).write(out);
        }
        self.added.slots += column.new_keys.len();
        let is_too_much = self.added.slots > COLUMNAR_SLOTS_MAX
            || self.added.variants > COLUMNAR_VARIANTS_MAX
            || self.added.listed_keys > COLUMNAR_KEYS_MAX;
        if is_too_much { Err(Refused::Keys) } else { Ok(()) }
    }
}

impl Column {
    fn clear(&mut self) {
        self.tokens.clear();
        self.symbols.clear();
        self.integers.clear();
        self.lengths.clear();
        self.structure.clear();
        self.tuples.clear();
        self.scalars.clear();
        self.new_keys.clear();
        self.used.clear();
        self.has_text = false;
        self.has_unknown = false;
    }

    /// Notes that a value has this variant.
    #[inline(always)]
    fn use_variant(&mut self, number: u32, variant: Option<View<'_>>) {
        match variant {
            Some(View::Number(..) | View::Bytes(..)) if !self.used.contains(&number) => {
                self.used.push(number);
            }
            Some(View::Text(..)) => self.has_text = true,
            _ => {}
        }
    }
}

impl Parts {
    /// Writes the parts of the values that their variants do not say.
    fn write_values(&mut self, known: &[Variant], text: &[u8], column: &mut Column) {
        let Column { tokens, symbols, integers, used, one, scalars, structure, .. } = column;
        let first = known.len() + structure.len();
        let variant = |number: u32| match known.get(number as usize) {
            Some(variant) => variant.view(),
            None => Some(scalars.get((number as usize).wrapping_sub(first))?.view(text)),
        };
        used.sort_unstable();
        for &number in used.iter() {
            match variant(number) {
                Some(View::Number(_, _, form, base)) => {
                    one.clear();
                    let pairs = symbols.iter().zip(integers.iter());
                    one.extend(pairs.filter(|(symbol, _)| **symbol == number).map(|(_, i)| i));
                    self.write_numbers(one, form, base);
                }
                Some(View::Bytes(prefix, suffix, kind)) => {
                    for (token, _) in tokens.iter().zip(&*symbols).filter(|(_, s)| **s == number) {
                        self.write_bytes(prefix, suffix, kind, token.text(text));
                    }
                }
                _ => {}
            }
        }
        if column.has_text {
            for (token, &symbol) in tokens.iter().zip(&*symbols) {
                if let Some(View::Text(prefix, suffix)) = variant(symbol) {
                    self.write_text(prefix, suffix, *token, text);
                }
            }
        }
    }

    #[inline(always)]
    fn write_text(&mut self, prefix: &[u8], suffix: &[u8], token: Token, text: &[u8]) {
        let start = token.start as usize + prefix.len();
        let end = token.end as usize - suffix.len();
        self.texts.text(text, start, end, TERMINATOR);
    }

    #[inline(always)]
    fn write_bytes(&mut self, prefix: &[u8], suffix: &[u8], kind: Hex, value: &[u8]) {
        hex::read(&value[prefix.len()..value.len() - suffix.len()], kind, &mut self.numbers);
    }

    #[inline(always)]
    fn write_numbers(&mut self, column: &[i64], form: Form, base: i64) {
        let unit = form.time_unit();
        let near = unit.and_then(|unit| self.last_times[usize::from(unit)]).unwrap_or(base);
        integers::write(column, near, unit.is_some(), &mut self.numbers);
        if let Some(unit) = unit {
            self.last_times[usize::from(unit)] = column.last().copied();
        }
    }

    fn write_body(&mut self, style: Style, out: &mut Vec<u8>) {
        if self.additions.is_empty() {
            out.push(style.code());
        } else {
            out.push(style.code() | HAS_ADDITIONS);
            self.changed.sort_unstable();
            let mut list = Vec::new();
            varint::write(self.changed.len() as u64, &mut list);
            let mut last = 0;
            for &slot in &self.changed {
                varint::write(u64::from(slot - last), &mut list);
                last = slot;
            }
            varint::write((list.len() + self.additions.len()) as u64, out);
            out.extend_from_slice(&list);
            out.extend_from_slice(&self.additions);
        }
        out.extend_from_slice(&self.variants);
        out.extend_from_slice(&self.numbers);
        out.extend_from_slice(self.texts.written());
    }
}

/// Small numbers: a byte each mostly; a longer column that is the same throughout says so.
fn write_small(values: &[u32], out: &mut Vec<u8>) {
    let mut rest = values;
    if values.len() >= LONG_COLUMN {
        let is_same = values.iter().all(|value| *value == values[0]);
        out.push(u8::from(is_same));
        if is_same {
            rest = &values[..1];
        }
    }
    for &value in rest {
        varint::write(u64::from(value), out);
    }
}
