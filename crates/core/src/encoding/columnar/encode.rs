//! The encoder: columns are walked from the text, then written slot by slot.
//!
//! The body has four parts: what is new in the model; which variant each value has and how long
//! arrays are; integers and bytes; and texts. Slots come in the order in which a walk from the root
//! reaches them, so that nothing has to say where a column begins.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::choose::choose;
use super::form::Form;
use super::model::{Affixes, Hex, Model, SlotId, Variant};
use super::style::{HAS_ADDITIONS, Style};
use super::walk::{Columns, Token};
use super::{LONG_COLUMN, Refused, TERMINATOR, hex, integers, varint};

/// An encoder with the memory that it reuses; one for each thread.
pub(super) struct Encoder {
    model: Model,
    known: Vec<Known>,
    columns: Columns,
    parts: Parts,
    stack: Vec<SlotId>,
}

/// A column of so many values is looked at for what repeats in it, even where a dictionary has a
/// variant that takes all of them.
const LOOKED_AT: usize = 32;

/// The variants of a slot of a dictionary, as values are matched with them.
#[derive(Default)]
struct Known {
    constants: HashMap<Box<[u8]>, u32, RandomState>,
    /// The others that a scalar may have, those that ask most first.
    others: Vec<u32>,
    /// Whether some number may stand there that is no constant.
    has_number: bool,
}

/// Whether a variant is any string, as it stands.
fn is_plain(variant: &Variant) -> bool {
    let is_quote = |text: &[u8]| *text == *b"\"";
    matches!(variant, Variant::Text(around) if is_quote(&around.prefix) && is_quote(&around.suffix))
}

#[derive(Default)]
struct Parts {
    additions: Vec<u8>,
    changed: Vec<SlotId>,
    variants: Vec<u8>,
    numbers: Vec<u8>,
    texts: Vec<u8>,
    /// The last time of each unit: times of one payload lie near each other.
    last_times: [Option<i64>; 16],
    symbols: Vec<u32>,
    lengths: Vec<u32>,
    /// The integers of the values of a slot that are numbers of some variant.
    integers: Vec<i64>,
    column: Vec<i64>,
}

impl Known {
    fn new(variants: &[Variant]) -> Known {
        let mut known = Known::default();
        for (number, variant) in variants.iter().enumerate() {
            let number = number as u32;
            match variant {
                Variant::Constant(text) => {
                    known.constants.insert(text.clone(), number);
                }
                Variant::Array | Variant::Object(_) | Variant::Tuple(_) => {}
                other => {
                    known.has_number |=
                        matches!(other, Variant::Number(affixes, ..) if affixes.prefix.is_empty());
                    known.others.push(number);
                }
            }
        }
        let demands = |affixes: &Affixes| affixes.prefix.len() + affixes.suffix.len();
        known.others.sort_by_key(|&number| {
            std::cmp::Reverse(match &variants[number as usize] {
                Variant::Bytes(affixes, _) => (2, demands(affixes)),
                Variant::Number(affixes, ..) => (1, demands(affixes)),
                Variant::Text(affixes) => (0, demands(affixes)),
                _ => (0, 0),
            })
        });
        known
    }

    /// The variant of a value, and its integer where it is a number.
    #[inline]
    fn find(&self, text: &[u8], variants: &[Variant], is_long: bool) -> Option<(u32, i64)> {
        let is_string = text.first() == Some(&b'"');
        // Many numbers are told best by one column, which finds out itself whether few differ.
        let is_column = is_long && !is_string && self.has_number;
        if !is_column
            && !self.constants.is_empty()
            && let Some(&number) = self.constants.get(text)
        {
            return Some((number, 0));
        }
        let found = self.others.iter().find_map(|&number| match &variants[number as usize] {
            Variant::Text(affixes) => {
                let fits = affixes.prefix.is_empty() != is_string && affixes.inner(text).is_some();
                fits.then_some((number, 0))
            }
            Variant::Number(affixes, form, _) => {
                let integer = form.parse(affixes.inner(text)?)?;
                Some((number, integer))
            }
            Variant::Bytes(affixes, hex) => {
                hex::is_hex(affixes.inner(text)?, *hex).then_some((number, 0))
            }
            _ => None,
        });
        match found {
            // A literal among many numbers, or a number that none of the forms takes.
            None if is_column => self.constants.get(text).map(|&number| (number, 0)),
            // A long column is looked at for what this payload alone repeats.
            Some((number, _)) if is_long && is_string => {
                found.filter(|_| !is_plain(&variants[number as usize]))
            }
            found => found,
        }
    }
}

impl Encoder {
    /// An encoder for the model of a dictionary.
    pub(super) fn new(model: &Model) -> Encoder {
        Encoder {
            known: model.slots.iter().map(|slot| Known::new(&slot.variants)).collect(),
            columns: Columns::new(model),
            model: model.clone(),
            parts: Parts::default(),
            stack: Vec::new(),
        }
    }

    /// Appends the encoded form of a JSON text.
    ///
    /// # Errors
    /// Where it is no JSON, its white space is in no usual style, or it passes a limit: it is then
    /// stored as it is.
    pub(super) fn encode(&mut self, text: &[u8], out: &mut Vec<u8>) -> Result<(), Refused> {
        self.reset();
        let style = self.columns.walk(text, &mut self.model)?;
        self.write_columns(text)?;
        self.write_body(style, out);
        Ok(())
    }

    /// Forgets the last payload.
    fn reset(&mut self) {
        self.model.reset();
        self.columns.clear();
        let parts = &mut self.parts;
        for part in
            [&mut parts.additions, &mut parts.variants, &mut parts.numbers, &mut parts.texts]
        {
            part.clear();
        }
        parts.changed.clear();
        parts.last_times = [None; 16];
    }

    fn write_columns(&mut self, text: &[u8]) -> Result<(), Refused> {
        self.stack.clear();
        self.stack.push(0);
        while let Some(slot) = self.stack.pop() {
            let tokens = std::mem::take(&mut self.columns.tokens[slot as usize]);
            let result = self.write_column(slot, text, &tokens);
            self.columns.tokens[slot as usize] = tokens;
            result?;
            let content = &self.model.slots[slot as usize];
            let start = self.stack.len();
            let is_reached = |slot: &SlotId| {
                self.columns.tokens.get(*slot as usize).is_some_and(|tokens| !tokens.is_empty())
            };
            self.stack.extend(content.below().filter(is_reached));
            self.stack[start..].reverse();
        }
        Ok(())
    }

    fn write_column(&mut self, slot: SlotId, text: &[u8], tokens: &[Token]) -> Result<(), Refused> {
        let at = slot as usize;
        let (base_variants, base_children) = self.model.base_of(slot);
        let mut symbols = std::mem::take(&mut self.parts.symbols);
        symbols.clear();
        let array = self.model.slots[at].array().unwrap_or(u32::MAX);
        let mut unknown: Vec<&[u8]> = Vec::new();
        self.parts.lengths.clear();
        self.parts.integers.clear();
        self.parts.integers.resize(tokens.len(), 0);
        let is_long = tokens.len() >= LOOKED_AT;
        for (place, token) in tokens.iter().enumerate() {
            symbols.push(match *token {
                Token::Object(variant) | Token::Tuple(variant) => variant,
                Token::Array(length) => {
                    self.parts.lengths.push(length);
                    array
                }
                Token::Scalar(start, end) => {
                    let value = &text[start as usize..end as usize];
                    let variants = &self.model.slots[at].variants;
                    let found =
                        self.known.get(at).and_then(|known| known.find(value, variants, is_long));
                    match found {
                        Some((variant, integer)) => {
                            self.parts.integers[place] = integer;
                            variant
                        }
                        None => {
                            unknown.push(value);
                            u32::MAX
                        }
                    }
                }
            });
        }
        if !unknown.is_empty() {
            let choice = choose(&unknown);
            let mut numbers = Vec::with_capacity(choice.variants.len());
            for variant in choice.variants {
                let variants = &self.model.slots[at].variants;
                let known = variants.iter().position(|known| *known == variant);
                numbers.push(match known {
                    Some(known) => known as u32,
                    None => self.model.add_variant(slot, variant).map_err(Refused::from)?,
                });
            }
            let mut of_values = choice.of_values.into_iter().zip(&unknown);
            let variants = &self.model.slots[at].variants;
            for (place, symbol) in symbols.iter_mut().enumerate() {
                if *symbol != u32::MAX {
                    continue;
                }
                let (of_value, text) = of_values.next().ok_or(Refused::Keys)?;
                *symbol = numbers.get(of_value as usize).copied().ok_or(Refused::Keys)?;
                if let Variant::Number(affixes, form, _) = &variants[*symbol as usize] {
                    let integer = affixes.inner(text).and_then(|inner| form.parse(inner));
                    self.parts.integers[place] = integer.ok_or(Refused::Keys)?;
                }
            }
        }
        let variants = self.model.slots[at].variants.len();
        if variants > base_variants || at >= self.model.base_slots() {
            if at < self.model.base_slots() {
                self.parts.changed.push(slot);
            }
            let additions = &mut self.parts.additions;
            self.model.write_additions(slot, base_variants, base_children, additions);
        }
        self.parts.write_symbols(&symbols, variants);
        self.parts.write_lengths();
        self.write_values(slot, text, tokens, &symbols);
        self.parts.symbols = symbols;
        Ok(())
    }

    /// Writes the parts of the values that their variants do not say.
    fn write_values(&mut self, slot: SlotId, text: &[u8], tokens: &[Token], symbols: &[u32]) {
        let content = &self.model.slots[slot as usize];
        let variants = &content.variants;
        let parts = &mut self.parts;
        let values = |number: u32| {
            tokens.iter().zip(symbols).filter(move |&(_, &symbol)| symbol == number).filter_map(
                |(token, _)| match *token {
                    Token::Scalar(start, end) => Some(&text[start as usize..end as usize]),
                    _ => None,
                },
            )
        };
        for &number in &content.active {
            match &variants[number as usize] {
                Variant::Number(_, form, base) => {
                    let mut column = std::mem::take(&mut parts.column);
                    column.clear();
                    let pairs = symbols.iter().zip(&parts.integers);
                    let of_variant = pairs.filter(|(symbol, _)| **symbol == number);
                    column.extend(of_variant.map(|(_, integer)| integer));
                    parts.write_numbers(&column, *form, *base);
                    parts.column = column;
                }
                Variant::Bytes(affixes, kind) => {
                    for value in values(number) {
                        write_bytes(affixes, *kind, value, &mut parts.numbers);
                    }
                }
                _ => {}
            }
        }
        if !content.has_text() {
            return;
        }
        for (token, &symbol) in tokens.iter().zip(symbols) {
            if let Variant::Text(affixes) = &variants[symbol as usize]
                && let Token::Scalar(start, end) = *token
            {
                let inner = affixes.prefix.len()..(end - start) as usize - affixes.suffix.len();
                parts.texts.extend_from_slice(&text[start as usize..end as usize][inner]);
                parts.texts.push(TERMINATOR);
            }
        }
    }

    fn write_body(&mut self, style: Style, out: &mut Vec<u8>) {
        let parts = &mut self.parts;
        if parts.additions.is_empty() {
            out.push(style.code());
        } else {
            out.push(style.code() | HAS_ADDITIONS);
            parts.changed.sort_unstable();
            let mut list = Vec::new();
            varint::write(parts.changed.len() as u64, &mut list);
            let mut last = 0;
            for &slot in &parts.changed {
                varint::write(u64::from(slot - last), &mut list);
                last = slot;
            }
            varint::write((list.len() + parts.additions.len()) as u64, out);
            out.extend_from_slice(&list);
            out.extend_from_slice(&parts.additions);
        }
        out.extend_from_slice(&parts.variants);
        out.extend_from_slice(&parts.numbers);
        out.extend_from_slice(&parts.texts);
    }
}

fn write_bytes(affixes: &Affixes, kind: Hex, value: &[u8], out: &mut Vec<u8>) {
    if let Some(inner) = affixes.inner(value) {
        hex::read(inner, kind, out);
    }
}

impl Parts {
    /// Which variant each value has, unless there is only one.
    fn write_symbols(&mut self, symbols: &[u32], variants: usize) {
        if variants > 1 {
            write_small(symbols, &mut self.variants);
        }
    }

    fn write_lengths(&mut self) {
        if !self.lengths.is_empty() {
            write_small(&self.lengths, &mut self.variants);
        }
    }

    fn write_numbers(&mut self, column: &[i64], form: Form, base: i64) {
        if column.is_empty() {
            return;
        }
        let unit = form.time_unit();
        let near = unit.and_then(|unit| self.last_times[usize::from(unit)]).unwrap_or(base);
        integers::write(column, near, unit.is_some(), &mut self.numbers);
        if let Some(unit) = unit {
            self.last_times[usize::from(unit)] = column.last().copied();
        }
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
