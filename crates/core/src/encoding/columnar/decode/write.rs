//! The last step of decoding: all columns are found, and the text is written from the first byte to
//! the last, each value from where its slot has come to.

use super::super::model::SlotId;
use super::super::output::Output;
use super::super::plan::Flat;
use super::super::style::{Indent, Style};
use super::super::{Corrupt, END, hex};
use super::{Decoder, Frame, Kind};

impl Decoder {
    /// Writes the text of the root and of all that is below it.
    pub(super) fn write<const COMPACT: bool>(
        &mut self,
        bytes: &[u8],
        style: Style,
        output: &mut Output<'_>,
    ) -> Result<(), Corrupt> {
        let is_in_order = self.is_in_order;
        let mut next_text = 0;
        let Decoder { plan, places, symbols, lengths, numbers, texts, frames, .. } = self;
        // What the root is in, which has nothing more.
        let mut frame = Frame { kind: Kind::Array, next: 0, end: 0, slot: 0 };
        let mut slot: SlotId = 0;
        let mut is_first = true;
        loop {
            let place = places.get_mut(slot as usize).ok_or(END)?;
            let variant = place.symbol.take(symbols)?;
            let opened = match plan.variants.get(variant as usize).ok_or(END)? {
                Flat::Constant(text) => {
                    output.copy(&plan.texts, text.at as usize, text.length as usize)?;
                    None
                }
                Flat::String => {
                    let next = if is_in_order { &mut next_text } else { &mut place.text };
                    let (start, end) = text(texts, next)?;
                    output.byte(b'"')?;
                    output.copy(bytes, start, end - start)?;
                    output.byte(b'"')?;
                    None
                }
                Flat::Text(prefix, suffix) => {
                    let next = if is_in_order { &mut next_text } else { &mut place.text };
                    let (start, end) = text(texts, next)?;
                    output.copy(&plan.texts, prefix.at as usize, prefix.length as usize)?;
                    output.copy(bytes, start, end - start)?;
                    output.copy(&plan.texts, suffix.at as usize, suffix.length as usize)?;
                    None
                }
                Flat::Number(prefix, suffix, form, _) => {
                    let value = *numbers.get(place.number as usize).ok_or(END)?;
                    place.number += 1;
                    if prefix.length > 0 {
                        output.copy(&plan.texts, prefix.at as usize, prefix.length as usize)?;
                    }
                    output.number(*form, value)?;
                    if suffix.length > 0 {
                        output.copy(&plan.texts, suffix.at as usize, suffix.length as usize)?;
                    }
                    None
                }
                Flat::Bytes(prefix, suffix, kind) => {
                    let start = *numbers.get(place.number as usize).ok_or(END)? as usize;
                    place.number += 1;
                    let value = bytes.get(start..start + usize::from(kind.bytes));
                    let value = value.ok_or(END)?;
                    output.copy(&plan.texts, prefix.at as usize, prefix.length as usize)?;
                    output.with(hex::text_bytes(*kind), |to| hex::write(value, *kind, to))?;
                    output.copy(&plan.texts, suffix.at as usize, suffix.length as usize)?;
                    None
                }
                Flat::Object(members, _) => {
                    let end = members.at + members.length;
                    Some(Frame { kind: Kind::Object, next: members.at, end, slot })
                }
                Flat::Array => {
                    let end = place.length.take(lengths)?;
                    let slot = plan.slots.get(slot as usize).ok_or(END)?.element;
                    Some(Frame { kind: Kind::Array, next: 0, end, slot })
                }
                &Flat::Tuple(end) => Some(Frame { kind: Kind::Tuple, next: 0, end, slot }),
            };
            if let Some(opened) = opened {
                output.byte(opened.kind.open())?;
                if opened.next == opened.end {
                    output.byte(opened.kind.close())?;
                } else {
                    frames.push(frame);
                    frame = opened;
                    is_first = true;
                }
            }
            // What comes next: another member or element, or the end of some.
            while frame.next == frame.end {
                let Some(above) = frames.pop() else {
                    return if style.final_newline { output.byte(b'\n') } else { Ok(()) };
                };
                if !COMPACT {
                    write_line(style, frames.len(), output)?;
                }
                output.byte(frame.kind.close())?;
                frame = above;
                is_first = false;
            }
            if !COMPACT {
                if !is_first {
                    output.byte(b',')?;
                    if style.comma_space && style.indent == Indent::OneLine {
                        output.byte(b' ')?;
                    }
                }
                write_line(style, frames.len(), output)?;
            } else if !is_first && frame.kind != Kind::Object {
                output.byte(b',')?;
            }
            slot = match frame.kind {
                Kind::Array => frame.slot,
                Kind::Tuple => plan.position(frame.slot, frame.next).ok_or(END)?,
                Kind::Object => {
                    let member = *plan.members.get(frame.next as usize).ok_or(END)?;
                    let key = plan.keys.get(member as usize).ok_or(END)?;
                    // The comma that a label begins with.
                    let skipped = usize::from(is_first || !COMPACT);
                    let (at, length) = (key.label.at as usize, key.label.length as usize);
                    output.copy(&plan.texts, at + skipped, length - skipped)?;
                    if !COMPACT && style.colon_space {
                        output.byte(b' ')?;
                    }
                    key.slot
                }
            };
            frame.next += 1;
            is_first = false;
        }
    }
}

impl Kind {
    #[inline(always)]
    fn open(self) -> u8 {
        if self == Kind::Object { b'{' } else { b'[' }
    }

    #[inline(always)]
    fn close(self) -> u8 {
        if self == Kind::Object { b'}' } else { b']' }
    }
}

/// Where the next text of a slot begins and ends.
#[inline(always)]
fn text(texts: &[u32], next: &mut u32) -> Result<(usize, usize), Corrupt> {
    let at = *next as usize;
    *next += 1;
    match texts.get(at..at + 2) {
        Some(&[start, after]) => Ok((start as usize, after as usize - 1)),
        _ => Err(END),
    }
}

/// Writes what stands before a member, an element or a closing bracket.
fn write_line(style: Style, depth: usize, output: &mut Output<'_>) -> Result<(), Corrupt> {
    if style.indent == Indent::OneLine {
        return Ok(());
    }
    if style.line_bytes(depth) > output.left() {
        return Err(Corrupt("a text of another length"));
    }
    output.byte(b'\n')?;
    for _ in 0..depth {
        output.all(style.indent.unit())?;
    }
    Ok(())
}
