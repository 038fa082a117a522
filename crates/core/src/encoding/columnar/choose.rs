//! Which variants a column gets that no dictionary knows: found by looking at its values, cheaply,
//! and by what each would cost.
//!
//! What is chosen is told as ranges of the text that the values stand in, so that nothing is copied
//! and a payload without a dictionary costs no allocation for each of its columns.

use super::form::{DIGITS_MAX, FRACTION_MAX, Form, Number};
use super::hex;
use super::model::{Hex, Variant};
use super::table::{Seed, Table};
use super::view::View;
use super::walk::{Kind, Token};

/// A column of fewer values gives no common beginning or end.
const AFFIX_VALUES: usize = 3;

/// A beginning or end of fewer bytes is not worth a variant.
const AFFIX_BYTES: usize = 3;

/// The most forms that are looked for in a column of strings.
const FORMS_MAX: usize = 4;

/// Up to so many different strings may become constants.
const STRING_CONSTANTS_MAX: usize = 200;

/// No variant yet.
const UNKNOWN: u32 = u32::MAX;

/// A part of a text: where it begins and ends.
type Range = (u32, u32);

/// What stands before and after the part of a value that differs.
#[derive(Debug, Clone, Copy, Default)]
struct Around {
    prefix: Range,
    suffix: Range,
}

/// A variant of a payload, as ranges of its text.
#[derive(Debug, Clone, Copy)]
pub(super) struct New {
    around: Around,
    what: What,
}

#[derive(Debug, Clone, Copy)]
enum What {
    /// What would stand before is all there is.
    Constant,
    Text,
    Number(Form),
    Bytes(Hex),
}

impl New {
    fn constant(token: Token) -> New {
        let prefix = (token.start, token.end);
        New { around: Around { prefix, suffix: (0, 0) }, what: What::Constant }
    }

    /// The variant, beside its text.
    #[inline(always)]
    pub(super) fn view(self, text: &[u8]) -> View<'_> {
        let (prefix, suffix) = (part(text, self.around.prefix), part(text, self.around.suffix));
        match self.what {
            What::Constant => View::Constant(prefix),
            What::Text => View::Text(prefix, suffix),
            What::Number(form) => View::Number(prefix, suffix, form, 0),
            What::Bytes(hex) => View::Bytes(prefix, suffix, hex),
        }
    }
}

#[inline(always)]
fn part(text: &[u8], range: Range) -> &[u8] {
    &text[range.0 as usize..range.1 as usize]
}

/// The variants of a column and which of them each value has, with the memory that is reused.
pub(super) struct Chooser {
    pub(super) variants: Vec<New>,
    pub(super) of_values: Vec<u32>,
    /// The integers of values that are numbers of some variant.
    pub(super) integers: Vec<i64>,
    rest: Vec<u32>,
    parsed: Vec<Option<i64>>,
    /// The different strings of a column: the first of each, how often it occurs, and its variant.
    different: Vec<(u32, u32, u32)>,
    of_rest: Vec<u32>,
    table: Table,
    seed: Seed,
}

impl Chooser {
    pub(super) fn new(seed: Seed) -> Chooser {
        Chooser {
            variants: Vec::new(),
            of_values: Vec::new(),
            integers: Vec::new(),
            rest: Vec::new(),
            parsed: Vec::new(),
            different: Vec::new(),
            of_rest: Vec::new(),
            table: Table::default(),
            seed,
        }
    }

    /// Chooses for scalar values of one slot.
    pub(super) fn choose(&mut self, text: &[u8], values: &[Token]) {
        self.variants.clear();
        self.of_values.clear();
        self.integers.clear();
        self.of_values.resize(values.len(), UNKNOWN);
        self.integers.resize(values.len(), 0);
        if let [value] = values {
            let (variant, integer) = of_one(text, *value);
            self.variants.push(variant);
            self.of_values[0] = 0;
            self.integers[0] = integer;
            return;
        }
        self.take_rest(values, |kind| kind == Kind::String);
        if !self.rest.is_empty() {
            self.choose_strings(text, values);
        }
        self.take_rest(values, |kind| matches!(kind, Kind::Number(_) | Kind::OtherNumber));
        if !self.rest.is_empty() {
            self.choose_numbers(text, values);
        }
        for (at, value) in values.iter().enumerate() {
            if value.kind == Kind::Literal {
                self.of_values[at] = self.add(text, New::constant(*value));
            }
        }
    }

    fn take_rest(&mut self, values: &[Token], is_kind: impl Fn(Kind) -> bool) {
        self.rest.clear();
        for (at, value) in (0..).zip(values) {
            if is_kind(value.kind) {
                self.rest.push(at);
            }
        }
    }

    fn add(&mut self, text: &[u8], new: New) -> u32 {
        let view = new.view(text);
        let known = self.variants.iter().position(|known| known.view(text) == view);
        let number = known.unwrap_or(self.variants.len());
        if number == self.variants.len() {
            self.variants.push(new);
        }
        number as u32
    }

    /// Gives all that is left the same variant.
    fn give_rest(&mut self, number: u32) {
        for &at in &self.rest {
            self.of_values[at as usize] = number;
        }
        self.rest.clear();
    }

    fn choose_strings(&mut self, text: &[u8], values: &[Token]) {
        let first = values[self.rest[0] as usize];
        let is_first = |at: &u32| values[*at as usize].text(text) == first.text(text);
        if self.rest.len() > 1 && self.rest[1..].iter().all(is_first) {
            let constant = self.add(text, New::constant(first));
            self.give_rest(constant);
            return;
        }
        self.take_forms(text, values);
        self.take_constants(text, values);
        self.take_forms(text, values);
        let Some(&first) = self.rest.first() else { return };
        let first = values[first as usize];
        let around = self.common_affixes(text, values).unwrap_or_else(|| quotes(first));
        let inner = inner(text, first, around).and_then(detect_inner);
        if let Some(what) = inner
            && self.parse_rest(text, values, around, what) == self.rest.len()
        {
            let number = self.add(text, New { around, what });
            self.give_parsed(number);
            return;
        }
        let number = self.add(text, New { around, what: What::Text });
        self.give_rest(number);
    }

    /// Parses all that is left, and returns how many are of the form.
    fn parse_rest(&mut self, text: &[u8], values: &[Token], around: Around, what: What) -> usize {
        self.parsed.clear();
        let parse = |at: &u32| {
            let inner = inner(text, values[*at as usize], around)?;
            match what {
                What::Number(form) => form.parse(inner),
                What::Bytes(hex) => hex::is_hex(inner, hex).then_some(0),
                What::Text | What::Constant => None,
            }
        };
        self.parsed.extend(self.rest.iter().map(parse));
        self.parsed.iter().flatten().count()
    }

    /// Gives what was parsed a variant, and leaves the others.
    fn give_parsed(&mut self, number: u32) {
        let mut parsed = self.parsed.iter();
        let (of_values, integers) = (&mut self.of_values, &mut self.integers);
        self.rest.retain(|&at| match parsed.next() {
            Some(&Some(integer)) => {
                of_values[at as usize] = number;
                integers[at as usize] = integer;
                false
            }
            _ => true,
        });
    }

    /// Takes out the strings that have a form of their own, as long as enough of the rest has it.
    fn take_forms(&mut self, text: &[u8], values: &[Token]) {
        for _ in 0..FORMS_MAX {
            let Some(&first) = self.rest.first() else { return };
            let Some((new, _)) = detect(text, values[first as usize]) else { return };
            if self.parse_rest(text, values, new.around, new.what) * 2 < self.rest.len() {
                return;
            }
            let number = self.add(text, new);
            self.give_parsed(number);
        }
    }

    /// Takes out the strings that occur again and again, where that is most of them.
    fn take_constants(&mut self, text: &[u8], values: &[Token]) {
        self.count(text, values);
        let repeated = self.different.iter().filter(|(_, count, _)| *count > 1);
        let (different, together) =
            repeated.fold((0, 0), |(n, sum), (_, count, _)| (n + 1, sum + *count as usize));
        // A constant costs about a third of a reference of the codec, but every value of the column
        // then says which it is.
        if different > STRING_CONSTANTS_MAX || together * 4 <= self.rest.len() {
            return;
        }
        for (first, count, number) in &mut self.different {
            if *count > 1 {
                *number = self.variants.len() as u32;
                self.variants.push(New::constant(values[*first as usize]));
            }
        }
        let mut of_rest = self.of_rest.iter();
        let (of_values, different) = (&mut self.of_values, &self.different);
        self.rest.retain(|&at| {
            let number = of_rest.next().map_or(UNKNOWN, |which| different[*which as usize].2);
            of_values[at as usize] = number;
            number == UNKNOWN
        });
    }

    /// How often each string occurs, and where first.
    fn count(&mut self, text: &[u8], values: &[Token]) {
        self.different.clear();
        self.of_rest.clear();
        self.table.clear_for(self.rest.len());
        for &at in &self.rest {
            let token = values[at as usize];
            let (start, value) = (token.start as usize, token.text(text));
            let (_, hash) = self.seed.label(text, start, value.len());
            let different = &self.different;
            let is_it = |known: u32| {
                let first = different[known as usize].0;
                values[first as usize].text(text) == value
            };
            let which = match self.table.find(hash, is_it) {
                Some(known) => known,
                None => {
                    let new = self.different.len() as u32;
                    self.table.insert(hash, new, |_| 0);
                    self.different.push((at, 0, UNKNOWN));
                    new
                }
            };
            self.different[which as usize].1 += 1;
            self.of_rest.push(which);
        }
    }

    /// What texts begin and end with, where that is long enough.
    fn common_affixes(&self, text: &[u8], values: &[Token]) -> Option<Around> {
        let (&first, others) = self.rest.split_first()?;
        if self.rest.len() < AFFIX_VALUES {
            return None;
        }
        let token = values[first as usize];
        let first = token.text(text);
        let of = |at: &u32| values[*at as usize].text(text);
        let shortest = self.rest.iter().map(|at| of(at).len()).min()?;
        let prefix = others.iter().fold(shortest - 1, |bytes, at| {
            first[..bytes].iter().zip(of(at)).take_while(|(a, b)| a == b).count()
        });
        let suffix = others.iter().fold(shortest - prefix, |bytes, at| {
            let pairs = first.iter().rev().zip(of(at).iter().rev());
            pairs.take(bytes).take_while(|(a, b)| a == b).count()
        });
        // Digits belong to what differs.
        let digits = first[..prefix].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let prefix = prefix - digits;
        let is_long = prefix > AFFIX_BYTES || suffix > AFFIX_BYTES;
        (is_long && suffix > 0).then(|| Around {
            prefix: (token.start, token.start + prefix as u32),
            suffix: (token.end - suffix as u32, token.end),
        })
    }

    fn choose_numbers(&mut self, text: &[u8], values: &[Token]) {
        let bare = Around::default();
        for at in 0..self.rest.len() {
            let place = self.rest[at] as usize;
            if values[place].number().is_none() {
                self.of_values[place] = self.add(text, New { around: bare, what: What::Text });
            }
        }
        self.rest.retain(|&at| values[at as usize].number().is_some());
        let numbers = self.rest.iter().filter_map(|&at| values[at as usize].number());
        let Some(form) = form_of(numbers) else {
            for at in 0..self.rest.len() {
                let place = self.rest[at] as usize;
                let (new, integer) = of_one(text, values[place]);
                self.of_values[place] = self.add(text, new);
                self.integers[place] = integer;
            }
            return;
        };
        let integers = &mut self.integers;
        for &at in &self.rest {
            let number = values[at as usize].number();
            integers[at as usize] = number.and_then(|number| number.in_form(form)).unwrap_or(0);
        }
        let Some(&first) = self.rest.first() else { return };
        let is_same = |at: &u32| integers[*at as usize] == integers[first as usize];
        let new = match self.rest.len() > 1 && self.rest.iter().all(is_same) {
            true => New::constant(values[first as usize]),
            false => New { around: bare, what: What::Number(form) },
        };
        let number = self.add(text, new);
        self.give_rest(number);
    }
}

/// The variant of a value that is alone in its column, and its integer.
#[inline(always)]
pub(super) fn of_one(text: &[u8], value: Token) -> (New, i64) {
    let bare = Around::default();
    match value.kind {
        Kind::String => detect(text, value)
            .unwrap_or_else(|| (New { around: quotes(value), what: What::Text }, 0)),
        Kind::Number(0) => {
            (New { around: bare, what: What::Number(Form::Integer) }, value.mantissa)
        }
        Kind::Number(scale) => {
            (New { around: bare, what: What::Number(Form::Decimal(scale)) }, value.mantissa)
        }
        Kind::OtherNumber => (New { around: bare, what: What::Text }, 0),
        _ => (New::constant(value), 0),
    }
}

/// A quote on each side.
fn quotes(value: Token) -> Around {
    Around { prefix: (value.start, value.start + 1), suffix: (value.end - 1, value.end) }
}

/// What stands between in a value.
#[inline(always)]
fn inner(text: &[u8], value: Token, around: Around) -> Option<&[u8]> {
    let rest = match part(text, around.prefix) {
        [b'"'] => value.text(text).strip_prefix(b"\"")?,
        prefix => value.text(text).strip_prefix(prefix)?,
    };
    match part(text, around.suffix) {
        [b'"'] => rest.strip_suffix(b"\""),
        suffix => rest.strip_suffix(suffix),
    }
}

/// The variant that a string has by itself, and its integer, where it is not plain text.
#[inline(always)]
fn detect(text: &[u8], value: Token) -> Option<(New, i64)> {
    let around = quotes(value);
    let inner = &text[value.start as usize + 1..value.end as usize - 1];
    if let Some((form, integer, bytes)) = detect_time(inner) {
        let around = Around { suffix: (value.start + 1 + bytes as u32, value.end), ..around };
        return Some((New { around, what: What::Number(form) }, integer));
    }
    let what = detect_inner(inner)?;
    let integer = match what {
        What::Number(form) => form.parse(inner)?,
        _ => 0,
    };
    Some((New { around, what }, integer))
}

#[inline(always)]
fn detect_inner(inner: &[u8]) -> Option<What> {
    // All of these begin with a digit in some base, or a sign.
    if !inner.first().is_some_and(|byte| byte.is_ascii_hexdigit() || *byte == b'-') {
        return None;
    }
    if let Some(number) = Number::parse(inner) {
        return Some(What::Number(match number.scale {
            0 => Form::Integer,
            scale => Form::Decimal(scale),
        }));
    }
    if (2..=usize::from(DIGITS_MAX)).contains(&inner.len()) && inner.iter().all(u8::is_ascii_digit)
    {
        return Some(What::Number(Form::Digits(inner.len() as u8)));
    }
    hex::detect(inner).map(What::Bytes)
}

/// The form of a date or time at the start of a text, its integer, and its bytes.
#[inline(always)]
fn detect_time(text: &[u8]) -> Option<(Form, i64, usize)> {
    if text.len() < 10 || text[4] != b'-' || text[7] != b'-' {
        return None;
    }
    if text.len() == 10 {
        return Form::Date.parse(text).map(|integer| (Form::Date, integer, 10));
    }
    let &separator = text.get(10).filter(|byte| matches!(byte, b'T' | b' '))?;
    let digits = match text.get(19) {
        Some(b'.') => text[20..].iter().take_while(|byte| byte.is_ascii_digit()).count(),
        _ => 0,
    };
    let fraction = u8::try_from(digits).ok().filter(|&digits| digits <= FRACTION_MAX)?;
    let bytes = 19 + if digits > 0 { digits + 1 } else { 0 };
    let form = Form::Time { separator, fraction };
    form.parse(text.get(..bytes)?).map(|integer| (form, integer, bytes))
}

/// The one form that all of these have, if there is one.
pub(super) fn common_form(numbers: &[(usize, Number)]) -> Option<Form> {
    form_of(numbers.iter().map(|(_, number)| *number))
}

fn form_of(numbers: impl Iterator<Item = Number> + Clone) -> Option<Form> {
    let scales = numbers.clone().map(|number| number.scale);
    let (least, most) = scales.fold((u8::MAX, 0), |(least, most), s| (least.min(s), most.max(s)));
    if least > most {
        return None;
    }
    if most == 0 {
        return Some(Form::Integer);
    }
    if least == most {
        return Some(Form::Decimal(most));
    }
    if numbers.clone().all(|number| number.trimmed(most).is_some()) {
        return Some(Form::Trimmed(most));
    }
    let mut numbers = numbers;
    numbers.all(|number| number.trimmed_point(most).is_some()).then_some(Form::TrimmedPoint(most))
}

/// The variants of strings, and which of them each has.
pub(super) struct Choice {
    pub(super) variants: Vec<Variant>,
    pub(super) of_values: Vec<u32>,
}

/// Chooses for strings that do not stand in one text.
pub(super) fn choose(values: &[&[u8]]) -> Choice {
    let (mut text, mut tokens) = (Vec::new(), Vec::new());
    for value in values {
        let start = text.len() as u32;
        text.extend_from_slice(value);
        tokens.push(Token::string(start, text.len() as u32));
    }
    let mut chooser = Chooser::new(Seed::new());
    if !tokens.is_empty() {
        chooser.choose(&text, &tokens);
    }
    let variants = chooser.variants.iter().map(|new| new.view(&text).to_variant()).collect();
    Choice { variants, of_values: chooser.of_values }
}
