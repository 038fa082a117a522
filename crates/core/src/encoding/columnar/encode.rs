//! The encoder: columns are walked from the text, then written slot by slot.
//!
//! The body has four parts: what is new in the model; which variant each value has and how long
//! arrays are; integers and bytes; and texts. Slots come in the order in which a walk from the root
//! reaches them, so that nothing has to say where a column begins.

use super::choose::{Chooser, of_one};
use super::column::{Column, Structure};
use super::known::{Found, Known};
use super::model::{Model, SlotId, Variant, code};
use super::parts::{Parts, write_small};
use super::table::Seed;
use super::tree::{NONE, Tree};
use super::view::{View, write_text, write_tuple};
use super::walk::{Kind, Token, Walk};
use super::{Refused, varint};
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
            parts: Parts { is_in_order: model.has_texts_in_order(), ..Parts::default() },
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
        let mut column = std::mem::take(&mut self.column);
        let written = self.write_columns(text, &mut column);
        self.column = column;
        written?;
        self.parts.write_body(style, text, out);
        Ok(())
    }

    /// Forgets the last payload.
    fn reset(&mut self) {
        let parts = &mut self.parts;
        for part in [&mut parts.additions, &mut parts.variants, &mut parts.numbers] {
            part.clear();
        }
        parts.texts.clear();
        parts.ranges.clear();
        parts.changed.clear();
        parts.last_times = [None; 16];
        self.added = Added {
            slots: self.model.slots.len(),
            variants: self.model.variants,
            listed_keys: self.model.listed_keys(),
        };
    }

    fn write_columns(&mut self, text: &[u8], column: &mut Column) -> Result<(), Refused> {
        self.stack.clear();
        self.stack.push(0);
        while let Some(slot) = self.stack.pop() {
            let is_written = match self.walk.values(slot) {
                [] => true,
                &[token] => {
                    self.write_one(slot, token, text)
                        || self.write_new(slot, token, text)
                        || self.write_new_object(slot, token, column)
                }
                _ => self.write_known(slot, text, column),
            };
            if !is_written {
                self.write_column(slot, text, column)?;
            }
        }
        Ok(())
    }

    /// Writes the only value of a slot, if the model knows it.
    #[inline]
    fn write_one(&mut self, slot: SlotId, token: Token, text: &[u8]) -> bool {
        let at = slot as usize;
        let (Some(content), Some(known)) = (self.model.slots.get(at), self.known.get(at)) else {
            return false;
        };
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
                self.stack.extend(content.element.filter(|&below| self.walk.is_reached(below)));
            }
            Kind::Tuple => return false,
            _ => {
                let variants = &content.variants;
                let Some(found) = known.find(token, text, variants, false, self.seed) else {
                    return false;
                };
                if is_told {
                    varint::write(found.number().into(), &mut parts.variants);
                }
                match found {
                    Found::Constant(_) => {}
                    Found::Text(_, prefix, suffix) => {
                        parts.write_text(prefix, suffix, token, text);
                    }
                    Found::Number(number, integer) => {
                        if let Variant::Number(_, form, base) = &variants[number as usize] {
                            parts.write_numbers(&[integer], *form, *base);
                        }
                    }
                    Found::Bytes(_, kind, prefix, suffix) => {
                        parts.write_bytes(prefix, suffix, kind, token.text(text));
                    }
                }
            }
        }
        true
    }

    /// Writes the only value of a slot that the model has not, if it is a scalar.
    #[inline]
    fn write_new(&mut self, slot: SlotId, token: Token, text: &[u8]) -> bool {
        let is_container = matches!(token.kind, Kind::Object | Kind::Array | Kind::Tuple);
        let is_full = self.added.variants >= COLUMNAR_VARIANTS_MAX;
        if is_container || is_full || (slot as usize) < self.model.slots.len() {
            return false;
        }
        self.added.variants += 1;
        let parts = &mut self.parts;
        let (new, integer) = of_one(text, token);
        let view = new.view(text);
        // One new variant, so that nothing has to say which the value has.
        parts.additions.push(1);
        view.write(&mut parts.additions);
        match view {
            View::Constant(_) => {}
            View::Text(prefix, suffix) => {
                parts.write_text(prefix.len() as u32, suffix.len() as u32, token, text);
            }
            View::Number(_, _, form, base) => parts.write_numbers(&[integer], form, base),
            View::Bytes(prefix, suffix, kind) => {
                let (prefix, suffix) = (prefix.len() as u32, suffix.len() as u32);
                parts.write_bytes(prefix, suffix, kind, token.text(text));
            }
        }
        true
    }

    /// Writes the only value of a slot that the model has not, if it is an object.
    fn write_new_object(&mut self, slot: SlotId, token: Token, column: &mut Column) -> bool {
        if token.kind != Kind::Object || (slot as usize) < self.model.slots.len() {
            return false;
        }
        let (_, keys) = &mut column.key_lists;
        keys.clear();
        self.tree.slots_of(token.start, keys);
        let (added, count) = (&mut self.added, keys.len());
        let is_too_much = added.slots + count > COLUMNAR_SLOTS_MAX
            || added.variants >= COLUMNAR_VARIANTS_MAX
            || added.listed_keys + count > COLUMNAR_KEYS_MAX;
        if is_too_much {
            return false;
        }
        added.variants += 1;
        added.listed_keys += count;
        let out = &mut self.parts.additions;
        // One new variant, whose key list takes nothing from one before it.
        out.extend([1, code::OBJECT, 0]);
        varint::write(count as u64, out);
        let start = self.stack.len();
        for &key in &*keys {
            let node = &mut self.tree.nodes[key as usize];
            if node.round == self.walk.round {
                varint::write(u64::from(node.new_number) + 1, out);
                continue;
            }
            node.round = self.walk.round;
            node.new_number = (self.stack.len() - start) as u32;
            self.stack.push(key);
            varint::write(0, out);
            write_text(self.tree.key(key), out);
        }
        added.slots += self.stack.len() - start;
        self.stack[start..].reverse();
        true
    }

    /// Writes the values of a slot, if the model knows all of them.
    fn write_known(&mut self, slot: SlotId, text: &[u8], column: &mut Column) -> bool {
        let at = slot as usize;
        let (Some(content), Some(known)) = (self.model.slots.get(at), self.known.get(at)) else {
            return false;
        };
        column.clear();
        let parts = &mut self.parts;
        let texts_before = parts.texts_so_far();
        let values = self.walk.values(slot);
        let is_long = values.len() >= LOOKED_AT;
        let mut is_container = false;
        for &token in values {
            let number = match token.kind {
                Kind::Object => {
                    is_container = true;
                    Some(self.tree.states[token.start as usize].number).filter(|n| *n != NONE)
                }
                Kind::Array => {
                    is_container = true;
                    column.lengths.push(token.start);
                    content.array()
                }
                Kind::Tuple => {
                    is_container = true;
                    content.tuple(token.start)
                }
                _ => {
                    let found = known.find(token, text, &content.variants, is_long, self.seed);
                    match found {
                        None | Some(Found::Constant(_)) => {}
                        Some(Found::Text(_, prefix, suffix)) => {
                            parts.write_text(prefix, suffix, token, text);
                        }
                        Some(Found::Number(number, integer)) => {
                            column.integers.push(integer);
                            column.use_column(number);
                        }
                        Some(Found::Bytes(number, ..)) => {
                            // The place of the value, among integers of other variants.
                            column.integers.push(column.tokens.len() as i64);
                            column.tokens.push(token);
                            column.use_column(number);
                        }
                    }
                    found.map(Found::number)
                }
            };
            let Some(number) = number else {
                parts.back_to(texts_before);
                return false;
            };
            column.symbols.push(number);
        }
        let variants = &content.variants;
        if variants.len() > 1 {
            write_small(&column.symbols, &mut parts.variants);
        }
        if !column.lengths.is_empty() {
            write_small(&column.lengths, &mut parts.variants);
        }
        column.used.sort_unstable();
        let Column { symbols, integers, used, one, tokens, .. } = column;
        for &number in used.iter() {
            let mut of_variant: &[i64] = integers;
            if used.len() > 1 {
                // Constants and texts have no integer.
                let is_used = |symbol: &&u32| used.contains(symbol);
                let pairs = symbols.iter().filter(is_used).zip(integers.iter());
                one.clear();
                one.extend(pairs.filter(|(symbol, _)| **symbol == number).map(|(_, i)| i));
                of_variant = one;
            }
            match variants.get(number as usize) {
                Some(Variant::Number(_, form, base)) => {
                    parts.write_numbers(of_variant, *form, *base);
                }
                Some(Variant::Bytes(around, kind)) => {
                    let (prefix, suffix) = (around.prefix.len(), around.suffix.len());
                    for &place in of_variant {
                        let value = tokens[place as usize].text(text);
                        parts.write_bytes(prefix as u32, suffix as u32, *kind, value);
                    }
                }
                _ => {}
            }
        }
        if is_container {
            self.push_below(slot, &[]);
        }
        true
    }

    /// Puts the slots that are right below a slot and have values on the stack, in reverse order.
    fn push_below(&mut self, slot: SlotId, new_keys: &[SlotId]) {
        let start = self.stack.len();
        let is_reached = |slot: &SlotId| self.walk.is_reached(*slot);
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
        text: &[u8],
        column: &mut Column,
    ) -> Result<(), Refused> {
        column.clear();
        column.tokens.extend_from_slice(self.walk.values(slot));
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
        column.write_values(known, text, parts);
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
                    let found =
                        known.and_then(|k| k.find(token, text, variants, is_long, self.seed));
                    match found {
                        Some(found) => {
                            let number = found.number();
                            if let Found::Number(_, integer) = found {
                                column.integers[place] = integer;
                            }
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
        let (mut before, mut keys) = std::mem::take(&mut column.key_lists);
        before.clear();
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
        column.key_lists = (before, keys);
        self.added.slots += column.new_keys.len();
        let is_too_much = self.added.slots > COLUMNAR_SLOTS_MAX
            || self.added.variants > COLUMNAR_VARIANTS_MAX
            || self.added.listed_keys > COLUMNAR_KEYS_MAX;
        if is_too_much { Err(Refused::Keys) } else { Ok(()) }
    }
}
