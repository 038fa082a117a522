//! Turns templates and columns into lines again. What a batch announces is counted before anything
//! is made of it: every line and every value takes at least one byte of the announced text.

use super::column::{Column, Streams};
use super::lines::{Columns, id_bytes};
use super::template::{DIGITS, WORD};
use super::{ColumnsError, END, TEMPLATES_MAX};
use crate::varint;

/// More is announced than the text has bytes.
const TOO_MUCH: ColumnsError = ColumnsError::Damaged("more than the text has bytes");

/// A template, and where its columns stand among those of all templates.
struct Template<'a> {
    text: &'a [u8],
    first: usize,
    end: usize,
    lines: usize,
}

/// Reads lines, which have that many bytes together.
pub(super) fn lines(
    mut from: Streams,
    text_bytes: usize,
    out: &mut Vec<u8>,
) -> Result<(), ColumnsError> {
    let count = varint::read(&mut from.structure).ok_or(END)?;
    let count = usize::try_from(count).ok().filter(|count| *count <= text_bytes).ok_or(TOO_MUCH)?;
    let (&is_ended, rest) = from.structure.split_first().ok_or(END)?;
    from.structure = rest;
    let (mut templates, columns_of, column_count) = templates(&mut from.structure)?;
    let length = count * id_bytes(templates.len());
    let ids = varint::take(&mut from.numbers, length as u64).ok_or(END)?;
    let (low, high) = ids.split_at(count);
    let id = |line: usize| usize::from(low[line]) | usize::from(*high.get(line).unwrap_or(&0)) << 8;
    for line in 0..count {
        let template = templates.get_mut(id(line));
        template.ok_or(ColumnsError::Damaged("a template that is not there"))?.lines += 1;
    }
    let mut values = vec![0usize; column_count];
    let mut all = 0usize;
    for template in &templates {
        let own = template.lines.checked_mul(template.end - template.first).ok_or(TOO_MUCH)?;
        all = all.checked_add(own).filter(|all| *all <= text_bytes).ok_or(TOO_MUCH)?;
        for &column in &columns_of[template.first..template.end] {
            values[column as usize] += template.lines;
        }
    }
    if values.contains(&0) {
        return Err(ColumnsError::Damaged("a column without values"));
    }
    let columns: Result<Vec<Column>, ColumnsError> =
        values.iter().map(|&count| Column::read(&mut from, count)).collect();
    let mut columns = columns?;
    if !(from.structure.is_empty() && from.numbers.is_empty() && from.texts.is_empty()) {
        return Err(ColumnsError::Damaged("bytes behind the last column"));
    }
    out.reserve_exact(text_bytes);
    for line in 0..count {
        let template = &templates[id(line)];
        let mut rest = template.text;
        for &column in &columns_of[template.first..template.end] {
            // There are as many marks as columns: these were found by the marks.
            let mark = memchr::memchr2(DIGITS, WORD, rest).unwrap_or(0);
            out.extend_from_slice(&rest[..mark]);
            rest = &rest[mark + 1..];
            columns[column as usize].next(out)?;
            if out.len() > text_bytes {
                return Err(TOO_MUCH);
            }
        }
        out.extend_from_slice(rest);
        if line + 1 < count || is_ended != 0 {
            out.push(b'\n');
        }
        if out.len() > text_bytes {
            return Err(TOO_MUCH);
        }
    }
    Ok(())
}

/// The templates, the columns of their marks one after the other, and how many columns there are.
fn templates<'a>(
    structure: &mut &'a [u8],
) -> Result<(Vec<Template<'a>>, Vec<u32>, usize), ColumnsError> {
    let count = varint::read(structure).ok_or(END)?;
    if count > TEMPLATES_MAX as u64 {
        return Err(ColumnsError::Damaged("too many templates"));
    }
    let mut columns = Columns::default();
    let (mut templates, mut columns_of) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let length = memchr::memchr(b'\n', structure).ok_or(END)?;
        let (text, rest) = structure.split_at(length);
        *structure = &rest[1..];
        let first = columns_of.len();
        let has_room = columns.of(text, &mut columns_of);
        has_room.ok_or(ColumnsError::Damaged("too many columns"))?;
        templates.push(Template { text, first, end: columns_of.len(), lines: 0 });
    }
    Ok((templates, columns_of, columns.len()))
}
