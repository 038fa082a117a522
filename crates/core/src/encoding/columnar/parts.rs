//! The parts of an encoded form while it is being made, and how each kind of thing is put into
//! them: they follow each other only when all of them are complete.

use super::form::Form;
use super::model::{Hex, SlotId};
use super::sink::Sink;
use super::style::{HAS_ADDITIONS, Style, TEXTS_IN_ORDER};
use super::walk::Token;
use super::{LONG_COLUMN, TERMINATOR, hex, integers, varint};

/// What a payload adds to the model, and the columns of all slots.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) additions: Vec<u8>,
    pub(super) changed: Vec<SlotId>,
    pub(super) variants: Vec<u8>,
    pub(super) numbers: Vec<u8>,
    pub(super) texts: Sink,
    /// Whether texts are written in the order of the payload, and where these stand in it.
    pub(super) is_in_order: bool,
    pub(super) ranges: Vec<(u32, u32)>,
    /// The last time of each unit: times of one payload lie near each other.
    pub(super) last_times: [Option<i64>; 16],
}

impl Parts {
    #[inline(always)]
    pub(super) fn write_text(&mut self, prefix: u32, suffix: u32, token: Token, text: &[u8]) {
        let (start, end) = (token.start + prefix, token.end - suffix);
        if self.is_in_order {
            self.ranges.push((start, end));
        } else {
            self.texts.text(text, start as usize, end as usize, TERMINATOR);
        }
    }

    /// How many texts there are so far, for [`Parts::back_to`].
    pub(super) fn texts_so_far(&self) -> (usize, usize) {
        (self.texts.at(), self.ranges.len())
    }

    /// Takes back the texts that came since.
    pub(super) fn back_to(&mut self, (at, ranges): (usize, usize)) {
        self.texts.back_to(at);
        self.ranges.truncate(ranges);
    }

    #[inline(always)]
    pub(super) fn write_bytes(&mut self, prefix: u32, suffix: u32, kind: Hex, value: &[u8]) {
        let inner = &value[prefix as usize..value.len() - suffix as usize];
        hex::read(inner, kind, &mut self.numbers);
    }

    #[inline(always)]
    pub(super) fn write_numbers(&mut self, column: &[i64], form: Form, base: i64) {
        let unit = form.time_unit();
        let near = unit.and_then(|unit| self.last_times[usize::from(unit)]).unwrap_or(base);
        integers::write(column, near, unit.is_some(), &mut self.numbers);
        if let Some(unit) = unit {
            self.last_times[usize::from(unit)] = column.last().copied();
        }
    }

    pub(super) fn write_body(&mut self, style: Style, text: &[u8], out: &mut Vec<u8>) {
        let mut first = style.code();
        if !self.ranges.is_empty() {
            first |= TEXTS_IN_ORDER;
            self.ranges.sort_unstable();
            for &(start, end) in &self.ranges {
                self.texts.text(text, start as usize, end as usize, TERMINATOR);
            }
        }
        if self.additions.is_empty() {
            out.push(first);
        } else {
            out.push(first | HAS_ADDITIONS);
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
pub(super) fn write_small(values: &[u32], out: &mut Vec<u8>) {
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
