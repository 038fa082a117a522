//! The variants of a slot of a model, as values are matched with them: constants are found by their
//! bytes, so that a slot may have thousands, and others are tried one after the other.

use super::form::Form;
use super::hex;
use super::model::{Affixes, Hex, Variant};
use super::scan::is_same;
use super::table::{Label, Seed};
use super::view::View;
use super::walk::{Kind, Token};

/// A value is compared with so many variants that are no constants. A model that was learned has
/// fewer; one that somebody made must not make every value slow.
const OTHERS_MAX: usize = 64;

/// A constant, by what of it can be compared at once; or nothing, with the number of none.
#[derive(Debug, Clone, Copy)]
struct Constant {
    label: Label,
    number: u32,
}

const NONE: u32 = u32::MAX;

/// What stands before and after the part of a value that differs, by what of it can be compared at
/// once.
#[derive(Debug, Clone)]
struct Around {
    prefix: Label,
    suffix: Label,
    affixes: Affixes,
}

impl Around {
    fn new(prefix: &[u8], suffix: &[u8]) -> Around {
        Around {
            prefix: Label::new(prefix, 0, prefix.len()),
            suffix: Label::new(suffix, 0, suffix.len()),
            affixes: Affixes::new(prefix, suffix),
        }
    }

    /// Where what stands between them begins and ends in a value.
    #[inline(always)]
    fn inner(&self, token: Token, text: &[u8]) -> Option<(usize, usize)> {
        let (start, end) = (token.start as usize, token.end as usize);
        let (prefix, suffix) = (self.prefix.bytes(), self.suffix.bytes());
        if end - start < prefix + suffix {
            return None;
        }
        if self.prefix.is_all() && self.suffix.is_all() {
            let fits = Label::new(text, start, prefix) == self.prefix
                && Label::new(text, end - suffix, suffix) == self.suffix;
            return fits.then_some((start + prefix, end - suffix));
        }
        self.affixes.inner(&text[start..end])?;
        Some((start + prefix, end - suffix))
    }

    fn lengths(&self) -> (u32, u32) {
        (self.prefix.bytes() as u32, self.suffix.bytes() as u32)
    }
}

/// A variant that is no constant.
#[derive(Debug, Clone)]
struct Other {
    number: u32,
    what: What,
}

#[derive(Debug, Clone)]
enum What {
    /// A text with nothing around it, or a quote on each side of a string.
    Plain,
    Text(Around),
    /// A number as it stands.
    Number(Form),
    NumberIn(Around, Form),
    Bytes(Around, Hex),
}

/// A variant that a value has, by its number, and what has to be written for the value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Found {
    /// Nothing.
    Constant(u32),
    /// The text without so many bytes at its beginning and its end.
    Text(u32, u32, u32),
    /// This integer.
    Number(u32, i64),
    /// The bytes of the text without so many bytes at its beginning and its end.
    Bytes(u32, Hex, u32, u32),
}

impl Found {
    /// The variant's number.
    #[inline(always)]
    pub(super) fn number(self) -> u32 {
        match self {
            Found::Constant(number)
            | Found::Text(number, ..)
            | Found::Number(number, _)
            | Found::Bytes(number, ..) => number,
        }
    }
}

/// The variants of a slot of a dictionary, as values are matched with them.
#[derive(Default)]
pub(super) struct Known {
    /// By their hashes; at most half of the places are taken.
    constants: Vec<Constant>,
    /// The others that a string may have, and that other scalars may have, those that ask most
    /// first.
    of_strings: Vec<Other>,
    of_others: Vec<Other>,
    /// Whether some number may stand there that is no constant.
    has_number: bool,
}

impl Known {
    pub(super) fn new(variants: &[Variant], seed: Seed) -> Known {
        let mut known = Known::default();
        let mut others: Vec<(u32, View<'_>)> = Vec::new();
        let is_constant = |variant: &&Variant| matches!(variant, Variant::Constant(_));
        let constants = variants.iter().filter(is_constant).count();
        if constants > 0 {
            // No text is as long as what stands in a place where nothing is.
            let none = Constant { label: Label::none(), number: NONE };
            known.constants = vec![none; (2 * constants).next_power_of_two()];
        }
        for (number, variant) in (0..).zip(variants) {
            match variant.view() {
                Some(View::Constant(text)) => known.add_constant(text, number, seed, variants),
                Some(view) => {
                    known.has_number |=
                        matches!(view, View::Number(prefix, ..) if prefix.is_empty());
                    others.push((number, view));
                }
                None => {}
            }
        }
        others.sort_by_key(|(_, view)| {
            std::cmp::Reverse(match view {
                View::Bytes(prefix, suffix, _) => (2, prefix.len() + suffix.len()),
                View::Number(prefix, suffix, ..) => (1, prefix.len() + suffix.len()),
                View::Text(prefix, suffix) => (0, prefix.len() + suffix.len()),
                View::Constant(_) => (0, 0),
            })
        });
        for (number, view) in others {
            let (prefix, suffix, is_text) = match view {
                View::Bytes(prefix, suffix, _) | View::Number(prefix, suffix, ..) => {
                    (prefix, suffix, false)
                }
                View::Text(prefix, suffix) => (prefix, suffix, true),
                View::Constant(_) => continue,
            };
            let is_bare = prefix.is_empty() && suffix.is_empty();
            let affixes = Around::new(prefix, suffix);
            let what = match view {
                View::Text(b"\"", b"\"") => What::Plain,
                View::Number(_, _, form, _) if is_bare => What::Number(form),
                View::Number(_, _, form, _) => What::NumberIn(affixes, form),
                View::Bytes(_, _, hex) => What::Bytes(affixes, hex),
                _ if is_bare => What::Plain,
                _ => What::Text(affixes),
            };
            let (of_strings, of_others) = match prefix.first() {
                Some(b'"') => (true, false),
                Some(_) => (false, true),
                None => (!is_text, true),
            };
            if of_strings && known.of_strings.len() < OTHERS_MAX {
                known.of_strings.push(Other { number, what: what.clone() });
            }
            if of_others && known.of_others.len() < OTHERS_MAX {
                known.of_others.push(Other { number, what });
            }
        }
        known
    }

    /// Adds a constant. The last of those that are the same is the one that is used.
    fn add_constant(&mut self, text: &[u8], number: u32, seed: Seed, variants: &[Variant]) {
        let (label, hash) = seed.label(text, 0, text.len());
        let mut at = hash as usize & (self.constants.len() - 1);
        loop {
            let place = &mut self.constants[at];
            let is_it = place.number == NONE
                || place.label == label && is_constant(variants, place.number, text, 0);
            if is_it {
                *place = Constant { label, number };
                return;
            }
            at = (at + 1) & (self.constants.len() - 1);
        }
    }

    #[inline(always)]
    fn constant(
        &self,
        token: Token,
        text: &[u8],
        variants: &[Variant],
        seed: Seed,
    ) -> Option<Found> {
        if self.constants.is_empty() {
            return None;
        }
        let (start, end) = (token.start as usize, token.end as usize);
        let (label, hash) = seed.label(text, start, end - start);
        let mask = self.constants.len() - 1;
        let mut at = hash as usize;
        loop {
            let place = self.constants.get(at & mask)?;
            if place.label == label
                && (label.is_all() || is_constant(variants, place.number, text, start))
            {
                return Some(Found::Constant(place.number));
            }
            if place.number == NONE {
                return None;
            }
            at += 1;
        }
    }

    /// The variant of a value of a text, and what has to be written for it.
    #[inline(always)]
    pub(super) fn find(
        &self,
        token: Token,
        text: &[u8],
        variants: &[Variant],
        is_long: bool,
        seed: Seed,
    ) -> Option<Found> {
        let is_string = token.kind == Kind::String;
        // Many numbers are told best by one column, which finds out itself whether few differ.
        let is_column = is_long && !is_string && self.has_number;
        if !is_column && let Some(found) = self.constant(token, text, variants, seed) {
            return Some(found);
        }
        let others = if is_string { &self.of_strings } else { &self.of_others };
        let quotes = u32::from(is_string);
        for Other { number, what } in others {
            match what {
                // A long column is looked at for what this payload alone repeats.
                What::Plain if is_long && is_string => return None,
                What::Plain => return Some(Found::Text(*number, quotes, quotes)),
                What::Number(form) => {
                    if let Some(integer) = bare_number(token, text, *form) {
                        return Some(Found::Number(*number, integer));
                    }
                }
                what => {
                    let found = in_affixes(*number, what, token, text);
                    if found.is_some() {
                        return found;
                    }
                }
            }
        }
        // A literal among many numbers, or a number that none of the forms takes.
        if is_column { self.constant(token, text, variants, seed) } else { None }
    }
}

/// Whether a text goes on as a constant that begins in the same way and is as long.
#[inline(always)]
fn is_constant(variants: &[Variant], number: u32, text: &[u8], at: usize) -> bool {
    match variants.get(number as usize) {
        Some(Variant::Constant(constant)) if constant.len() > 16 => {
            is_same(constant, 0, text, at, constant.len())
        }
        Some(Variant::Constant(_)) => true,
        _ => false,
    }
}

#[inline(always)]
fn bare_number(token: Token, text: &[u8], form: Form) -> Option<i64> {
    match form {
        Form::Digits(_) => form.parse(token.text(text)),
        form => token.number()?.in_form(form),
    }
}

#[inline(always)]
fn in_affixes(number: u32, what: &What, token: Token, text: &[u8]) -> Option<Found> {
    match what {
        What::Text(around) => {
            let (prefix, suffix) = around.lengths();
            around.inner(token, text).map(|_| Found::Text(number, prefix, suffix))
        }
        What::NumberIn(around, form) => {
            let (start, end) = around.inner(token, text)?;
            form.parse(&text[start..end]).map(|integer| Found::Number(number, integer))
        }
        What::Bytes(around, hex) => {
            let (start, end) = around.inner(token, text)?;
            let (prefix, suffix) = around.lengths();
            let is_hex = hex::is_hex(&text[start..end], *hex);
            is_hex.then_some(Found::Bytes(number, *hex, prefix, suffix))
        }
        What::Plain | What::Number(_) => None,
    }
}
