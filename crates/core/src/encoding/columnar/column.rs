//! The column of one slot while it is being encoded: its values, the variants that they have, and
//! what a payload adds to the slot.

use super::choose::New;
use super::model::{SlotId, Variant};
use super::parts::Parts;
use super::view::View;
use super::walk::Token;

/// The column that is being written, and the memory that it reuses.
#[derive(Default)]
pub(super) struct Column {
    pub(super) tokens: Vec<Token>,
    /// The variant of each value.
    pub(super) symbols: Vec<u32>,
    /// The integers of the values that are numbers of some variant.
    pub(super) integers: Vec<i64>,
    pub(super) lengths: Vec<u32>,
    pub(super) one: Vec<i64>,
    /// What the payload adds to the slot: structure, then scalars.
    pub(super) structure: Vec<Structure>,
    pub(super) scalars: Vec<New>,
    /// The values that no variant takes, and the numbers of the variants chosen for them.
    pub(super) unknown: Vec<Token>,
    pub(super) numbers: Vec<u32>,
    /// The tuples among these: their lengths and numbers.
    pub(super) tuples: Vec<(u32, u32)>,
    /// The slots of keys that the payload adds.
    pub(super) new_keys: Vec<SlotId>,
    /// A key list and the one before it.
    pub(super) key_lists: (Vec<SlotId>, Vec<SlotId>),
    /// The variants of numbers and bytes that values have.
    pub(super) used: Vec<u32>,
    pub(super) has_text: bool,
    pub(super) has_unknown: bool,
}

/// A variant of containers that a payload adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Structure {
    /// The state of an object's keys.
    Object(u32),
    Array,
    Tuple(u32),
}

impl Column {
    pub(super) fn clear(&mut self) {
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
    pub(super) fn use_variant(&mut self, number: u32, variant: Option<View<'_>>) {
        match variant {
            Some(View::Number(..) | View::Bytes(..)) => self.use_column(number),
            Some(View::Text(..)) => self.has_text = true,
            _ => {}
        }
    }

    /// Notes that a variant has a column of its own.
    #[inline(always)]
    pub(super) fn use_column(&mut self, number: u32) {
        if !self.used.contains(&number) {
            self.used.push(number);
        }
    }

    /// Writes the parts of the values that their variants do not say.
    pub(super) fn write_values(&mut self, known: &[Variant], text: &[u8], parts: &mut Parts) {
        let Column { tokens, symbols, integers, used, one, scalars, structure, .. } = self;
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
                    parts.write_numbers(one, form, base);
                }
                Some(View::Bytes(prefix, suffix, kind)) => {
                    for (token, _) in tokens.iter().zip(&*symbols).filter(|(_, s)| **s == number) {
                        let (prefix, suffix) = (prefix.len() as u32, suffix.len() as u32);
                        parts.write_bytes(prefix, suffix, kind, token.text(text));
                    }
                }
                _ => {}
            }
        }
        if self.has_text {
            for (token, &symbol) in tokens.iter().zip(&*symbols) {
                if let Some(View::Text(prefix, suffix)) = variant(symbol) {
                    parts.write_text(prefix.len() as u32, suffix.len() as u32, *token, text);
                }
            }
        }
    }
}
