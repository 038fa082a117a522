//! One column: values of one place of a template, written in the way that will compress best, as
//! far as a count of bytes can tell.

use std::collections::HashMap;

use super::template::Value;
use super::{ColumnsError, END, Parts};
use crate::varint;

/// The texts themselves, each with a newline behind it.
const TEXTS: u8 = 0;

/// The different texts, and for each value its place among them.
const TABLE: u8 = 1;

/// Integers, each as the difference to the one before.
const DIFFERENCES: u8 = 2;

/// Integers above the least, the lowest byte of all, then the next one of all.
const PLANES: u8 = 3;

/// The most texts of a table: a place is a byte.
const TABLE_MAX: usize = 256;

/// The most digits of an integer: any of so many fits 64 bits.
const DIGITS_MAX: usize = 19;

/// What a text that came before costs again, in bits: about what zstd writes for a match.
const REPEAT_BITS: u64 = 20;

/// What a byte value that occurs adds to the table of an entropy coder, in bits.
const SYMBOL_BITS: u64 = 5;

/// What it takes to choose. Its buffers are reused from column to column.
#[derive(Debug, Default)]
pub(super) struct Choice {
    places: Vec<u8>,
    table: Vec<Value>,
    distinct: Vec<u8>,
    integers: Vec<u64>,
    differences: Vec<u8>,
    planes: Vec<u8>,
}

/// How the integers of a column are written out: with zeros in front up to this width, or without.
struct Integers {
    width: u8,
    least: u64,
    plane_count: usize,
}

/// Writes the values of a column, which has some.
pub(super) fn write(values: &[Value], text: &[u8], choice: &mut Choice, parts: &mut Parts) {
    let repeats = choice.count(values, text);
    let has_table = choice.table.len() <= TABLE_MAX;
    let table_bits = match has_table {
        true => cost_bits(&choice.places) + cost_bits(&choice.distinct),
        false => u64::MAX,
    };
    let text_bits = cost_bits(&choice.distinct) + REPEAT_BITS * repeats;
    let integers = choice.integers(values, text);
    let (difference_bits, plane_bits) = match integers {
        Some(_) => (cost_bits(&choice.differences), choice.plane_bits(values.len())),
        None => (u64::MAX, u64::MAX),
    };
    let least = table_bits.min(text_bits).min(difference_bits).min(plane_bits);
    match integers {
        Some(integers) if difference_bits == least => {
            parts.structure.extend_from_slice(&[DIFFERENCES, integers.width]);
            parts.numbers.extend_from_slice(&choice.differences);
        }
        Some(integers) if plane_bits == least => {
            let count = integers.plane_count as u8;
            parts.structure.extend_from_slice(&[PLANES, integers.width, count]);
            varint::write(integers.least, &mut parts.structure);
            parts.numbers.extend_from_slice(&choice.planes);
        }
        _ if table_bits == least => {
            parts.structure.push(TABLE);
            varint::write(choice.table.len() as u64, &mut parts.structure);
            parts.texts.extend_from_slice(&choice.distinct);
            if choice.table.len() > 1 {
                parts.numbers.extend_from_slice(&choice.places);
            }
        }
        _ => {
            parts.structure.push(TEXTS);
            for value in values {
                parts.texts.extend_from_slice(value.of(text));
                parts.texts.push(b'\n');
            }
        }
    }
}

impl Choice {
    /// Finds the different values, and returns how many are there again. With more than a table
    /// holds, places mean nothing.
    fn count(&mut self, values: &[Value], text: &[u8]) -> u64 {
        self.places.clear();
        self.table.clear();
        self.distinct.clear();
        let mut known: HashMap<&[u8], usize> = HashMap::new();
        for value in values {
            let bytes = value.of(text);
            let place = *known.entry(bytes).or_insert_with(|| {
                self.distinct.extend_from_slice(bytes);
                self.distinct.push(b'\n');
                self.table.push(*value);
                self.table.len() - 1
            });
            self.places.push(place as u8);
        }
        (values.len() - self.table.len()) as u64
    }

    /// The values as integers, written in both ways, if all of them come back from integers.
    fn integers(&mut self, values: &[Value], text: &[u8]) -> Option<Integers> {
        let width = values.first()?.of(text).len();
        let is_wide = values.iter().all(|value| value.of(text).len() == width);
        self.integers.clear();
        for value in values {
            let digits = value.of(text);
            let is_number = digits.len() <= DIGITS_MAX
                && digits.iter().all(u8::is_ascii_digit)
                && (is_wide || digits.len() == 1 || digits[0] != b'0');
            if !is_number {
                return None;
            }
            let number = digits.iter().fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'));
            self.integers.push(number);
        }
        let (mut least, mut most) = (u64::MAX, 0);
        let mut before = 0u64;
        self.differences.clear();
        for &number in &self.integers {
            varint::write(folded(number.wrapping_sub(before)), &mut self.differences);
            (before, least, most) = (number, least.min(number), most.max(number));
        }
        self.planes.clear();
        let plane_count = (u64::BITS - (most - least).leading_zeros()).div_ceil(8) as usize;
        for plane in 0..plane_count {
            let bytes = self.integers.iter().map(|number| (number - least).to_le_bytes()[plane]);
            self.planes.extend(bytes);
        }
        Some(Integers { width: if is_wide { width as u8 } else { 0 }, least, plane_count })
    }

    fn plane_bits(&self, count: usize) -> u64 {
        self.planes.chunks(count.max(1)).map(cost_bits).sum()
    }
}

/// What bytes cost in an entropy coder, in bits.
fn cost_bits(bytes: &[u8]) -> u64 {
    let mut counts = [0u32; 256];
    for byte in bytes {
        counts[usize::from(*byte)] += 1;
    }
    let all = bytes.len() as f64;
    let used = counts.iter().filter(|count| **count > 0);
    let bits: f64 = used
        .map(|&count| f64::from(count) * (all / f64::from(count)).log2() + SYMBOL_BITS as f64)
        .sum();
    bits as u64
}

/// Small differences of either sign as small numbers.
fn folded(difference: u64) -> u64 {
    let signed = difference as i64;
    ((signed << 1) ^ (signed >> 63)) as u64
}

fn unfolded(number: u64) -> u64 {
    (number >> 1) ^ (number & 1).wrapping_neg()
}

/// What columns are read from.
pub(super) struct Streams<'a> {
    pub(super) structure: &'a [u8],
    pub(super) numbers: &'a [u8],
    pub(super) texts: &'a [u8],
}

/// A column that is read from value to value. It holds nothing for each value, however many a
/// hostile batch announces.
pub(super) enum Column<'a> {
    Texts { texts: &'a [u8] },
    Table { table: Vec<&'a [u8]>, places: &'a [u8] },
    Differences { width: u8, before: u64, numbers: &'a [u8] },
    Planes { width: u8, least: u64, planes: &'a [u8], count: usize, at: usize },
}

impl<'a> Column<'a> {
    /// The next column, which has that many values; there is at least one.
    pub(super) fn read(from: &mut Streams<'a>, count: usize) -> Result<Column<'a>, ColumnsError> {
        let way = byte(&mut from.structure)?;
        match way {
            TEXTS => {
                let texts = from.texts;
                for _ in 0..count {
                    text(&mut from.texts)?;
                }
                Ok(Column::Texts { texts })
            }
            TABLE => {
                let length = varint::read(&mut from.structure).ok_or(END)?;
                let is_table = (1..=TABLE_MAX as u64).contains(&length);
                if !is_table {
                    return Err(ColumnsError::Damaged("a table of no or too many texts"));
                }
                let table: Result<Vec<&[u8]>, ColumnsError> =
                    (0..length).map(|_| text(&mut from.texts)).collect();
                let places = if length > 1 { count } else { 0 };
                let places = varint::take(&mut from.numbers, places as u64).ok_or(END)?;
                Ok(Column::Table { table: table?, places })
            }
            DIFFERENCES => {
                let width = width(&mut from.structure)?;
                let numbers = from.numbers;
                for _ in 0..count {
                    varint::read(&mut from.numbers).ok_or(END)?;
                }
                Ok(Column::Differences { width, before: 0, numbers })
            }
            PLANES => {
                let width = width(&mut from.structure)?;
                let planes = usize::from(byte(&mut from.structure)?);
                let least = varint::read(&mut from.structure).ok_or(END)?;
                if planes > size_of::<u64>() {
                    return Err(ColumnsError::Damaged("integers of more than 64 bits"));
                }
                let length = count.checked_mul(planes).ok_or(END)?;
                let planes = varint::take(&mut from.numbers, length as u64).ok_or(END)?;
                Ok(Column::Planes { width, least, planes, count, at: 0 })
            }
            _ => Err(ColumnsError::Damaged("a way of a column that is not known")),
        }
    }

    /// Appends the next value. There are as many as `read` was told.
    pub(super) fn next(&mut self, out: &mut Vec<u8>) -> Result<(), ColumnsError> {
        match self {
            Column::Texts { texts } => out.extend_from_slice(text(texts)?),
            Column::Table { table, places } => {
                let place = if table.len() > 1 { usize::from(byte(places)?) } else { 0 };
                let value = table.get(place);
                let value = value.ok_or(ColumnsError::Damaged("a place beyond its table"))?;
                out.extend_from_slice(value);
            }
            Column::Differences { width, before, numbers } => {
                let difference = varint::read(numbers).ok_or(END)?;
                *before = before.wrapping_add(unfolded(difference));
                digits(*before, *width, out);
            }
            Column::Planes { width, least, planes, count, at } => {
                let bytes = planes.iter().skip(*at).step_by((*count).max(1));
                let number = bytes.rev().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte));
                *at += 1;
                digits(least.wrapping_add(number), *width, out);
            }
        }
        Ok(())
    }
}

fn byte(input: &mut &[u8]) -> Result<u8, ColumnsError> {
    let (&byte, rest) = input.split_first().ok_or(END)?;
    *input = rest;
    Ok(byte)
}

/// A text without the newline behind it. There is no empty one: then as many values as a batch has
/// take at least so many bytes.
fn text<'a>(input: &mut &'a [u8]) -> Result<&'a [u8], ColumnsError> {
    let length = memchr::memchr(b'\n', input).ok_or(END)?;
    let (text, rest) = input.split_at(length);
    *input = &rest[1..];
    if text.is_empty() { Err(ColumnsError::Damaged("an empty text")) } else { Ok(text) }
}

fn width(input: &mut &[u8]) -> Result<u8, ColumnsError> {
    let width = byte(input)?;
    match usize::from(width) <= DIGITS_MAX {
        true => Ok(width),
        false => Err(ColumnsError::Damaged("integers of too many digits")),
    }
}

/// Appends a number with zeros in front up to this width.
fn digits(mut number: u64, width: u8, out: &mut Vec<u8>) {
    let mut text = [b'0'; 20];
    let mut start = text.len();
    while number > 0 || start == text.len() {
        start -= 1;
        text[start] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    out.extend_from_slice(&text[start.min(text.len() - usize::from(width))..]);
}
