//! Which variants a column gets that no dictionary knows: found by looking at its values, cheaply,
//! and by what each would cost.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::form::{DIGITS_MAX, FRACTION_MAX, Form, Number};
use super::hex;
use super::model::{Affixes, Hex, Variant};

/// A column of fewer values gives no common beginning or end.
const AFFIX_VALUES: usize = 3;

/// A beginning or end of fewer bytes is not worth a variant.
const AFFIX_BYTES: usize = 3;

/// The most forms that are looked for in a column of strings.
const FORMS_MAX: usize = 4;

/// Up to so many different strings may become constants.
const STRING_CONSTANTS_MAX: usize = 200;

/// The variants of a column, and which of them each value has.
#[derive(Default)]
pub(super) struct Choice {
    pub(super) variants: Vec<Variant>,
    pub(super) of_values: Vec<u32>,
}

impl Choice {
    fn add(&mut self, variant: Variant) -> u32 {
        if let Some(known) = self.variants.iter().position(|known| *known == variant) {
            return known as u32;
        }
        self.variants.push(variant);
        (self.variants.len() - 1) as u32
    }
}

/// Chooses for scalar values of one slot, given as they stand in the text.
pub(super) fn choose(values: &[&[u8]]) -> Choice {
    let mut choice = Choice { variants: Vec::new(), of_values: vec![u32::MAX; values.len()] };
    let is_string = |at: &usize| values[*at].first() == Some(&b'"');
    let is_literal = |at: &usize| matches!(values[*at].first(), Some(b't' | b'f' | b'n'));
    let strings: Vec<usize> = (0..values.len()).filter(is_string).collect();
    let numbers: Vec<usize> =
        (0..values.len()).filter(|at| !is_string(at) && !is_literal(at)).collect();
    choose_strings(values, &strings, &mut choice);
    choose_numbers(values, &numbers, &mut choice);
    for at in (0..values.len()).filter(is_literal) {
        choice.of_values[at] = choice.add(Variant::Constant(values[at].into()));
    }
    choice
}

/// How often each value occurs, and where first.
fn occurrences<'a>(values: &[&'a [u8]], places: &[usize]) -> Vec<(&'a [u8], u32)> {
    let mut numbers: HashMap<&[u8], usize, RandomState> = HashMap::default();
    let mut found: Vec<(&[u8], u32)> = Vec::new();
    for &at in places {
        let number = *numbers.entry(values[at]).or_insert(found.len());
        if number == found.len() {
            found.push((values[at], 0));
        }
        found[number].1 += 1;
    }
    found
}

fn choose_strings(values: &[&[u8]], places: &[usize], choice: &mut Choice) {
    let mut rest: Vec<usize> = places.to_vec();
    if is_all_same(values, places) {
        let constant = choice.add(Variant::Constant(values[places[0]].into()));
        for at in rest {
            choice.of_values[at] = constant;
        }
        return;
    }
    take_forms(values, &mut rest, choice);
    take_constants(values, &mut rest, choice);
    take_forms(values, &mut rest, choice);
    if rest.is_empty() {
        return;
    }
    let texts: Vec<&[u8]> = rest.iter().map(|&at| values[at]).collect();
    let affixes = common_affixes(&texts).unwrap_or_else(Affixes::quotes);
    let variant = in_affixes(&affixes, &texts).unwrap_or(Variant::Text(affixes));
    let number = choice.add(variant);
    for at in rest {
        choice.of_values[at] = number;
    }
}

/// Whether there are several values, which are all the same.
fn is_all_same(values: &[&[u8]], places: &[usize]) -> bool {
    places.len() > 1 && places.iter().all(|&at| values[at] == values[places[0]])
}

/// Takes out the strings that occur again and again, where that is most of them.
fn take_constants(values: &[&[u8]], rest: &mut Vec<usize>, choice: &mut Choice) {
    let all = occurrences(values, rest);
    let repeated = all.iter().filter(|(_, count)| *count > 1);
    let (different, together) = repeated.fold((0, 0), |(n, sum), (_, count)| (n + 1, sum + count));
    // A constant costs about a third of a reference of the codec, but every value of the column
    // then says which it is.
    if different > STRING_CONSTANTS_MAX || together as usize * 4 <= rest.len() {
        return;
    }
    let constants: HashMap<&[u8], u32, RandomState> = all
        .iter()
        .filter(|(_, count)| *count > 1)
        .map(|&(text, _)| (text, choice.add(Variant::Constant(text.into()))))
        .collect();
    rest.retain(|&at| match constants.get(values[at]) {
        Some(&variant) => {
            choice.of_values[at] = variant;
            false
        }
        None => true,
    });
}

/// Takes out the strings that have a form of their own, as long as enough of the rest has it.
fn take_forms(values: &[&[u8]], rest: &mut Vec<usize>, choice: &mut Choice) {
    for _ in 0..FORMS_MAX {
        let Some(&first) = rest.first() else { return };
        let Some(variant) = detect(values[first]) else { return };
        let fits = |at: &&usize| parses(&variant, values[**at]);
        if rest.iter().filter(fits).count() * 2 < rest.len() {
            return;
        }
        let number = choice.add(variant.clone());
        rest.retain(|&at| {
            let is_of_form = parses(&variant, values[at]);
            if is_of_form {
                choice.of_values[at] = number;
            }
            !is_of_form
        });
    }
}

/// What texts begin and end with, where that is long enough.
fn common_affixes(texts: &[&[u8]]) -> Option<Affixes> {
    let (first, others) = texts.split_first()?;
    if texts.len() < AFFIX_VALUES {
        return None;
    }
    let shortest = texts.iter().map(|text| text.len()).min()?;
    let same = |a: &u8, b: &u8| a == b;
    let prefix = others.iter().fold(shortest - 1, |bytes, text| {
        first[..bytes].iter().zip(*text).take_while(|(a, b)| same(a, b)).count()
    });
    let suffix = others.iter().fold(shortest - prefix, |bytes, text| {
        let pairs = first.iter().rev().zip(text.iter().rev());
        pairs.take(bytes).take_while(|(a, b)| same(a, b)).count()
    });
    // Digits belong to what differs.
    let digits = first[..prefix].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let prefix = prefix - digits;
    let is_long = prefix > AFFIX_BYTES || suffix > AFFIX_BYTES;
    (is_long && suffix > 0).then(|| Affixes::new(&first[..prefix], &first[first.len() - suffix..]))
}

/// A form for what stands between affixes, if all have it.
fn in_affixes(affixes: &Affixes, texts: &[&[u8]]) -> Option<Variant> {
    let inner = affixes.inner(texts.first()?)?;
    let found = detect_inner(inner)?;
    let variant = match found {
        Inner::Number(form) => Variant::Number(affixes.clone(), form, 0),
        Inner::Bytes(hex) => Variant::Bytes(affixes.clone(), hex),
    };
    texts.iter().all(|text| parses(&variant, text)).then_some(variant)
}

/// A form that is not plain text.
enum Inner {
    Number(Form),
    Bytes(Hex),
}

/// The variant that a quoted text has by itself.
fn detect(text: &[u8]) -> Option<Variant> {
    let [b'"', inner @ .., b'"'] = text else { return None };
    if let Some((form, bytes)) = detect_time(inner) {
        let affixes = Affixes::new(b"\"", &text[1 + bytes..]);
        return Some(Variant::Number(affixes, form, 0));
    }
    match detect_inner(inner)? {
        Inner::Number(form) => Some(Variant::Number(Affixes::quotes(), form, 0)),
        Inner::Bytes(hex) => Some(Variant::Bytes(Affixes::quotes(), hex)),
    }
}

fn detect_inner(inner: &[u8]) -> Option<Inner> {
    if let Some(number) = Number::parse(inner) {
        return Some(Inner::Number(match number.scale {
            0 => Form::Integer,
            scale => Form::Decimal(scale),
        }));
    }
    if (2..=usize::from(DIGITS_MAX)).contains(&inner.len()) && inner.iter().all(u8::is_ascii_digit)
    {
        return Some(Inner::Number(Form::Digits(inner.len() as u8)));
    }
    hex::detect(inner).map(Inner::Bytes)
}

/// The form of a date or time at the start of a text, and its bytes.
pub(super) fn detect_time(text: &[u8]) -> Option<(Form, usize)> {
    if text.len() < 10 || text[4] != b'-' || text[7] != b'-' {
        return None;
    }
    if text.len() == 10 {
        return Form::Date.parse(text).map(|_| (Form::Date, 10));
    }
    let &separator = text.get(10).filter(|byte| matches!(byte, b'T' | b' '))?;
    let digits = match text.get(19) {
        Some(b'.') => text[20..].iter().take_while(|byte| byte.is_ascii_digit()).count(),
        _ => 0,
    };
    let fraction = u8::try_from(digits).ok().filter(|&digits| digits <= FRACTION_MAX)?;
    let bytes = 19 + if digits > 0 { digits + 1 } else { 0 };
    let form = Form::Time { separator, fraction };
    form.parse(text.get(..bytes)?).map(|_| (form, bytes))
}

fn parses(variant: &Variant, text: &[u8]) -> bool {
    match variant {
        Variant::Number(affixes, form, _) => {
            affixes.inner(text).is_some_and(|inner| form.parse(inner).is_some())
        }
        Variant::Bytes(affixes, hex) => {
            affixes.inner(text).is_some_and(|inner| hex::is_hex(inner, *hex))
        }
        _ => false,
    }
}

fn choose_numbers(values: &[&[u8]], places: &[usize], choice: &mut Choice) {
    let parsed: Vec<(usize, Number)> =
        places.iter().filter_map(|&at| Some((at, Number::parse(values[at])?))).collect();
    if parsed.len() < places.len() {
        for &at in places.iter().filter(|&&at| Number::parse(values[at]).is_none()) {
            choice.of_values[at] = choice.add(Variant::Text(Affixes::bare()));
        }
    }
    let Some(form) = common_form(&parsed) else {
        for (at, number) in parsed {
            let form = match number.scale {
                0 => Form::Integer,
                scale => Form::Decimal(scale),
            };
            choice.of_values[at] = choice.add(Variant::Number(Affixes::bare(), form, 0));
        }
        return;
    };
    let places: Vec<usize> = parsed.iter().map(|&(at, _)| at).collect();
    let integers: Vec<i64> = places.iter().filter_map(|&at| form.parse(values[at])).collect();
    if places.len() > 1 && integers.iter().all(|integer| *integer == integers[0]) {
        let constant = choice.add(Variant::Constant(values[places[0]].into()));
        for at in places {
            choice.of_values[at] = constant;
        }
        return;
    }
    let number = choice.add(Variant::Number(Affixes::bare(), form, 0));
    for at in places {
        choice.of_values[at] = number;
    }
}

/// The one form that all of these have, if there is one.
pub(super) fn common_form(numbers: &[(usize, Number)]) -> Option<Form> {
    let scales = || numbers.iter().map(|(_, number)| number.scale);
    let (least, most) = (scales().min()?, scales().max()?);
    if most == 0 {
        return Some(Form::Integer);
    }
    if least == most {
        return Some(Form::Decimal(most));
    }
    let all = |fits: &dyn Fn(&Number) -> bool| numbers.iter().all(|(_, number)| fits(number));
    if all(&|number| number.trimmed(most).is_some()) {
        return Some(Form::Trimmed(most));
    }
    all(&|number| number.trimmed_point(most).is_some()).then_some(Form::TrimmedPoint(most))
}
