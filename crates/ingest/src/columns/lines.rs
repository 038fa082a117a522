//! Writes lines as templates and columns. A column is what stands at one place of all templates
//! that are the same up to there: the time at the start of every line is one column, in the order
//! of the lines, whatever statements wrote them.

use std::collections::HashMap;

use super::column::{self, Choice};
use super::template::{self, DIGITS, Value, WORD};
use super::{COLUMNS_MAX, Parts, TEMPLATES_MAX};
use crate::varint;

/// Before the first mark of a template there is none.
const NO_COLUMN: u32 = u32::MAX;

/// Which column each mark of a template belongs to. Writer and reader both find it from the
/// templates alone, in their order.
#[derive(Debug, Default)]
pub(super) struct Columns {
    /// By the column of the mark before, and the text from there up to and with the mark.
    known: HashMap<(u32, Box<[u8]>), u32>,
}

impl Columns {
    pub(super) fn clear(&mut self) {
        self.known.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.known.len()
    }

    /// Adds the columns of the marks of a template; `None` where there are too many.
    pub(super) fn of(&mut self, template: &[u8], out: &mut Vec<u32>) -> Option<()> {
        let (mut before, mut rest) = (NO_COLUMN, template);
        while let Some(at) = memchr::memchr2(DIGITS, WORD, rest) {
            let (piece, after) = rest.split_at(at + 1);
            rest = after;
            let next = self.known.len() as u32;
            before = *self.known.entry((before, piece.into())).or_insert(next);
            out.push(before);
            if self.known.len() > COLUMNS_MAX {
                return None;
            }
        }
        Some(())
    }
}

/// Writes texts as templates and columns.
#[derive(Debug, Default)]
pub(super) struct LinesWriter {
    templates: HashMap<Vec<u8>, u32>,
    columns: Columns,
    /// The columns of every template, one after the other.
    columns_of: Vec<u32>,
    /// Where those of each template end.
    ends: Vec<usize>,
    values: Vec<Vec<Value>>,
    ids: Vec<u32>,
    template: Vec<u8>,
    line_values: Vec<Value>,
    choice: Choice,
}

impl LinesWriter {
    /// Writes a text; `None` where it has too many templates or columns.
    pub(super) fn write(&mut self, text: &[u8], parts: &mut Parts) -> Option<()> {
        self.clear();
        let is_ended = text.ends_with(b"\n");
        let mut start = 0;
        let mut templates = Vec::new();
        while start < text.len() {
            let end = memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |end| start + end);
            self.line(&text[start..end], start, &mut templates)?;
            start = end + 1;
        }
        varint::write(self.ids.len() as u64, &mut parts.structure);
        parts.structure.push(u8::from(is_ended));
        varint::write(self.ends.len() as u64, &mut parts.structure);
        parts.structure.extend_from_slice(&templates);
        for plane in 0..id_bytes(self.ends.len()) {
            parts.numbers.extend(self.ids.iter().map(|id| id.to_le_bytes()[plane]));
        }
        for values in &self.values[..self.columns.len()] {
            column::write(values, text, &mut self.choice, parts);
        }
        Some(())
    }

    fn clear(&mut self) {
        self.templates.clear();
        self.columns.clear();
        self.columns_of.clear();
        self.ends.clear();
        self.ids.clear();
        self.values.iter_mut().for_each(Vec::clear);
    }

    fn line(&mut self, line: &[u8], start: usize, templates: &mut Vec<u8>) -> Option<()> {
        template::cut(line, start, &mut self.template, &mut self.line_values);
        let id = match self.templates.get(&self.template) {
            Some(&id) => id,
            None => {
                let id = self.ends.len() as u32;
                self.templates.insert(self.template.clone(), id);
                templates.extend_from_slice(&self.template);
                templates.push(b'\n');
                self.columns.of(&self.template, &mut self.columns_of)?;
                self.ends.push(self.columns_of.len());
                if self.ends.len() > TEMPLATES_MAX {
                    return None;
                }
                self.values.resize_with(self.values.len().max(self.columns.len()), Vec::new);
                id
            }
        };
        self.ids.push(id);
        let first = (id as usize).checked_sub(1).map_or(0, |before| self.ends[before]);
        let columns = &self.columns_of[first..self.ends[id as usize]];
        for (&column, value) in columns.iter().zip(&self.line_values) {
            self.values[column as usize].push(*value);
        }
        Some(())
    }
}

/// The bytes that the number of a template takes.
pub(super) fn id_bytes(templates: usize) -> usize {
    if templates <= 1 << 8 { 1 } else { 2 }
}
