//! The variants of a slot of a model, as values are matched with them: constants are found by their
//! bytes, so that a slot may have thousands, and others are tried one after the other.

use super::form::Form;
use super::hex;
use super::model::{Affixes, Variant};
use super::table::{Seed, Table, ends};
use super::walk::{Kind, Token};

/// A value is compared with so many variants that are no constants. A model that was learned has
/// fewer; one that somebody made must not make every value slow.
const OTHERS_MAX: usize = 64;

/// A constant, by what of it can be compared at once.
#[derive(Debug, Clone, Copy)]
struct Constant {
    ends: (u64, u64),
    bytes: u32,
    number: u32,
}

/// The variants of a slot of a dictionary, as values are matched with them.
#[derive(Default)]
pub(super) struct Known {
    constants: Vec<Constant>,
    table: Table,
    /// The others that a string may have, and that other scalars may have, those that ask most
    /// first.
    of_strings: Vec<u32>,
    of_others: Vec<u32>,
    /// Whether some number may stand there that is no constant.
    has_number: bool,
}

/// Whether a variant is any string, as it stands.
pub(super) fn is_plain(variant: &Variant) -> bool {
    let is_quote = |text: &[u8]| *text == *b"\"";
    matches!(variant, Variant::Text(around) if is_quote(&around.prefix) && is_quote(&around.suffix))
}

impl Known {
    pub(super) fn new(variants: &[Variant], seed: Seed) -> Known {
        let mut known = Known::default();
        let mut others: Vec<u32> = Vec::new();
        for (number, variant) in (0..).zip(variants) {
            match variant {
                Variant::Constant(text) => known.add_constant(text, number, variants, seed),
                Variant::Array | Variant::Object(_) | Variant::Tuple(_) => {}
                other => {
                    known.has_number |=
                        matches!(other, Variant::Number(affixes, ..) if affixes.prefix.is_empty());
                    others.push(number);
                }
            }
        }
        let demands = |affixes: &Affixes| affixes.prefix.len() + affixes.suffix.len();
        others.sort_by_key(|&number| {
            std::cmp::Reverse(match &variants[number as usize] {
                Variant::Bytes(affixes, _) => (2, demands(affixes)),
                Variant::Number(affixes, ..) => (1, demands(affixes)),
                Variant::Text(affixes) => (0, demands(affixes)),
                _ => (0, 0),
            })
        });
        for number in others {
            let (prefix, is_text) = match &variants[number as usize] {
                Variant::Bytes(affixes, _) => (&affixes.prefix, false),
                Variant::Number(affixes, ..) => (&affixes.prefix, false),
                Variant::Text(affixes) => (&affixes.prefix, true),
                _ => continue,
            };
            let (of_strings, of_others) = match prefix.first() {
                Some(b'"') => (true, false),
                Some(_) => (false, true),
                None => (!is_text, true),
            };
            if of_strings && known.of_strings.len() < OTHERS_MAX {
                known.of_strings.push(number);
            }
            if of_others && known.of_others.len() < OTHERS_MAX {
                known.of_others.push(number);
            }
        }
        known
    }

    fn add_constant(&mut self, text: &[u8], number: u32, variants: &[Variant], seed: Seed) {
        let hash = seed.of_bytes(0, text);
        if let Some(place) = self.find_constant(hash, text, variants) {
            // The last of those that are the same is the one that is used.
            self.constants[place as usize].number = number;
            return;
        }
        let place = self.constants.len() as u32;
        self.constants.push(Constant { ends: ends_of(text), bytes: text.len() as u32, number });
        let constants = &self.constants;
        let hash_of = |place: u32| {
            let number = constants[place as usize].number as usize;
            match &variants[number] {
                Variant::Constant(text) => seed.of_bytes(0, text),
                _ => 0,
            }
        };
        self.table.insert(hash, place, hash_of);
    }

    #[inline(always)]
    fn find_constant(&self, hash: u64, text: &[u8], variants: &[Variant]) -> Option<u32> {
        let ends = ends_of(text);
        self.table.find(hash, |place| {
            let Some(constant) = self.constants.get(place as usize) else { return false };
            constant.bytes as usize == text.len()
                && constant.ends == ends
                && (text.len() <= 16 || is_constant(variants.get(constant.number as usize), text))
        })
    }

    #[inline(always)]
    fn constant(&self, text: &[u8], variants: &[Variant], seed: Seed) -> Option<u32> {
        if self.constants.is_empty() {
            return None;
        }
        let place = self.find_constant(seed.of_bytes(0, text), text, variants)?;
        self.constants.get(place as usize).map(|constant| constant.number)
    }

    /// The variant of a value, and its integer where it is a number.
    #[inline]
    pub(super) fn find(
        &self,
        token: Token,
        text: &[u8],
        variants: &[Variant],
        is_long: bool,
        seed: Seed,
    ) -> Option<(u32, i64)> {
        let is_string = token.kind == Kind::String;
        // Many numbers are told best by one column, which finds out itself whether few differ.
        let is_column = is_long && !is_string && self.has_number;
        if !is_column && let Some(number) = self.constant(text, variants, seed) {
            return Some((number, 0));
        }
        let others = if is_string { &self.of_strings } else { &self.of_others };
        for &number in others {
            let Some(variant) = variants.get(number as usize) else { continue };
            let Some(integer) = fit(variant, token, text) else { continue };
            // A long column is looked at for what this payload alone repeats.
            if is_long && is_string && is_plain(variant) {
                return None;
            }
            return Some((number, integer));
        }
        // A literal among many numbers, or a number that none of the forms takes.
        if is_column { self.constant(text, variants, seed).map(|number| (number, 0)) } else { None }
    }
}

#[inline(always)]
fn ends_of(text: &[u8]) -> (u64, u64) {
    if text.len() <= 16 {
        ends(text)
    } else {
        (ends(&text[..16]).0, ends(&text[text.len() - 16..]).1)
    }
}

#[inline(never)]
fn is_constant(variant: Option<&Variant>, text: &[u8]) -> bool {
    matches!(variant, Some(Variant::Constant(constant)) if **constant == *text)
}

/// The integer of a value that a variant takes: 0 where it is no number.
#[inline(always)]
fn fit(variant: &Variant, token: Token, text: &[u8]) -> Option<i64> {
    match variant {
        Variant::Text(affixes) => affixes.inner(text).map(|_| 0),
        Variant::Number(affixes, form, _) => {
            if affixes.prefix.is_empty() && affixes.suffix.is_empty() {
                match form {
                    Form::Digits(_) => form.parse(text),
                    form => token.number()?.in_form(*form),
                }
            } else {
                form.parse(affixes.inner(text)?)
            }
        }
        Variant::Bytes(affixes, hex) => hex::is_hex(affixes.inner(text)?, *hex).then_some(0),
        _ => None,
    }
}
