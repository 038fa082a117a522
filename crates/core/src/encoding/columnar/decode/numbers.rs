//! The second step of decoding: the columns of integers and bytes, put in the order of the values
//! where a slot has several.

use super::super::cursor::Cursor;
use super::super::model::SlotId;
use super::super::plan::Flat;
use super::super::{Corrupt, END, integers};
use super::{Column, Decoder, Scratch};

impl Decoder {
    /// Reads the integers of all columns, and finds where the bytes of values begin.
    pub(super) fn read_numbers(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Corrupt> {
        let mut last_times: [Option<i64>; 16] = [None; 16];
        // Where the columns of a slot begin.
        let mut first = 0;
        for at in 0..self.columns.len() {
            let Column { slot, variant, count } = self.columns[at];
            let count = count as usize;
            match self.plan.variants[variant as usize] {
                Flat::Number(form, base)
                | Flat::QuotedNumber(form, base)
                | Flat::NumberIn(_, _, form, base) => match form.time_unit() {
                    None => integers::read(cursor, count, base, false, &mut self.numbers)?,
                    Some(unit) => {
                        let last = &mut last_times[usize::from(unit)];
                        let near = last.unwrap_or(base);
                        integers::read(cursor, count, near, true, &mut self.numbers)?;
                        *last = self.numbers.last().copied();
                    }
                },
                Flat::Bytes(_, _, kind) => {
                    let (first, each) = (cursor.at(), usize::from(kind.bytes));
                    cursor.take(count.checked_mul(each).ok_or(END)?)?;
                    self.numbers.extend((0..count).map(|at| (first + at * each) as i64));
                }
                _ => {}
            }
            let next = self.columns.get(at + 1);
            if next.is_none_or(|next| next.slot != slot) {
                if at > first {
                    self.mix(slot, first, at + 1);
                }
                first = at + 1;
            }
        }
        Ok(())
    }

    /// Puts the integers of several columns of a slot in the order of its values.
    fn mix(&mut self, slot: SlotId, first_column: usize, end: usize) {
        let values = self.places[slot as usize];
        let integers = self.numbers.get_mut(values.number as usize..).unwrap_or_default();
        let Scratch { counts, used, numbers } = &mut self.scratch;
        numbers.clear();
        numbers.extend_from_slice(integers);
        // Where each column is, by its variant among those of the model and the payload.
        let mut next = 0u32;
        for column in &self.columns[first_column..end] {
            let variant = column.variant as usize;
            if variant >= counts.len() {
                counts.resize(variant + 1, 0);
            }
            counts[variant] = next;
            used.push(column.variant);
            next += column.count;
        }
        let (start, count) = (values.symbol.at as usize, values.count as usize);
        let mut mixed = integers.iter_mut();
        for &variant in self.symbols[start..].iter().take(count) {
            let is_number = matches!(
                self.plan.variants[variant as usize],
                Flat::Number(..) | Flat::QuotedNumber(..) | Flat::NumberIn(..) | Flat::Bytes(..)
            );
            if is_number && let Some(place) = mixed.next() {
                let next = &mut counts[variant as usize];
                *place = numbers.get(*next as usize).copied().unwrap_or_default();
                *next += 1;
            }
        }
        for variant in used.drain(..) {
            counts[variant as usize] = 0;
        }
    }
}
