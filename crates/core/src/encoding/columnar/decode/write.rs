//! The last step of decoding: all columns are found, and the text is written from the first byte to
//! the last, each value from where its slot has come to.

use super::super::hex;
use super::super::output::{Output, STEP};
use super::super::plan::{Flat, Key};
use super::super::style::{Indent, Style};
use super::{Decoder, Frame, Kind};

impl Decoder {
    /// Writes the text of the root and of all that is below it to a buffer, and returns how much
    /// of it is left; nothing where it is too short.
    pub(super) fn write<const COMPACT: bool>(
        &mut self,
        bytes: &[u8],
        style: Style,
        buffer: &mut [u8],
    ) -> Option<usize> {
        let mut output = Output::new(buffer);
        let is_in_order = self.is_in_order;
        let mut next_text = 0;
        let Decoder { plan, places, symbols, lengths, numbers, texts, frames, .. } = self;
        let (places, symbols, texts) = (&mut places[..], &symbols[..], &texts[..]);
        let (variants, members, keys) = (&plan.variants[..], &plan.members[..], &plan.keys[..]);
        let known = &plan.texts[..];
        // What the root is in, which has nothing more.
        let mut frame = Frame { kind: Kind::Array, next: 0, end: 0, slot: 0 };
        let mut slot = 0;
        loop {
            let place = places.get_mut(slot as usize)?;
            // A variant that all values of a slot have stands where its place would.
            let variant = match place.symbol.step {
                0 => place.symbol.at,
                _ => place.symbol.take(symbols)?,
            };
            // The byte before what comes next: a comma, or the bracket that is opened.
            let mut before = b',';
            let opened = match variants.get(variant as usize)? {
                Flat::Short(length, text) => {
                    output.short(text, usize::from(*length))?;
                    None
                }
                Flat::Constant(text) => {
                    output.copy(known, text.at, text.length)?;
                    None
                }
                Flat::String => {
                    let next = if is_in_order { &mut next_text } else { &mut place.text };
                    let (start, length) = text(texts, next)?;
                    output.quoted(bytes, start, length)?;
                    None
                }
                Flat::Text(prefix, suffix) => {
                    let next = if is_in_order { &mut next_text } else { &mut place.text };
                    let (start, length) = text(texts, next)?;
                    output.copy(known, prefix.at, prefix.length)?;
                    output.copy(bytes, start, length)?;
                    output.copy(known, suffix.at, suffix.length)?;
                    None
                }
                Flat::Number(form, _) => {
                    let value = *numbers.get(place.number as usize)?;
                    place.number += 1;
                    output.number(*form, value)?;
                    None
                }
                Flat::QuotedNumber(form, _) => {
                    let value = *numbers.get(place.number as usize)?;
                    place.number += 1;
                    output.quoted_number(*form, value)?;
                    None
                }
                Flat::NumberIn(prefix, suffix, form, _) => {
                    let value = *numbers.get(place.number as usize)?;
                    place.number += 1;
                    output.copy(known, prefix.at, prefix.length)?;
                    output.number(*form, value)?;
                    output.copy(known, suffix.at, suffix.length)?;
                    None
                }
                Flat::Bytes(prefix, suffix, kind) => {
                    let start = *numbers.get(place.number as usize)? as usize;
                    place.number += 1;
                    let value = bytes.get(start..start + usize::from(kind.bytes))?;
                    output.copy(known, prefix.at, prefix.length)?;
                    output.with(hex::text_bytes(*kind), |to| hex::write(value, *kind, to))?;
                    output.copy(known, suffix.at, suffix.length)?;
                    None
                }
                Flat::Object(members, _) => {
                    let end = members.at + members.length;
                    Some(Frame { kind: Kind::Object, next: members.at, end, slot })
                }
                Flat::Array => {
                    let end = place.length.take(lengths)?;
                    let slot = plan.slots.get(slot as usize)?.element;
                    Some(Frame { kind: Kind::Array, next: 0, end, slot })
                }
                &Flat::Tuple(length) => {
                    let positions = plan.slots.get(slot as usize)?.positions;
                    let end = positions.at + length;
                    Some(Frame { kind: Kind::Tuple, next: positions.at, end, slot })
                }
            };
            if let Some(opened) = opened {
                let open = opened.kind.open();
                if opened.next == opened.end {
                    output.pair([open, opened.kind.close()])?;
                } else {
                    before = open;
                    frames.push(frame);
                    frame = opened;
                }
            }
            // What comes next: another member or element, or the end of some.
            while frame.next == frame.end {
                let Some(above) = frames.pop() else {
                    if style.final_newline {
                        output.byte(b'\n')?;
                    }
                    return Some(output.left());
                };
                if !COMPACT {
                    write_line(style, frames.len(), &mut output)?;
                }
                output.byte(frame.kind.close())?;
                frame = above;
            }
            if !COMPACT {
                output.byte(before)?;
                if before == b',' && style.comma_space && style.indent == Indent::OneLine {
                    output.byte(b' ')?;
                }
                write_line(style, frames.len(), &mut output)?;
            }
            slot = match frame.kind {
                Kind::Object => {
                    let member = *members.get(frame.next as usize)?;
                    let key = keys.get(member as usize)?;
                    write_label::<COMPACT>(key, before, known, &mut output)?;
                    if !COMPACT && style.colon_space {
                        output.byte(b' ')?;
                    }
                    key.slot
                }
                kind => {
                    if COMPACT {
                        output.byte(before)?;
                    }
                    match kind {
                        Kind::Array => frame.slot,
                        _ => *plan.positions.get(frame.next as usize)?,
                    }
                }
            };
            frame.next += 1;
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

/// Writes a key and its colon, with a byte before it where there is no white space between.
#[inline(always)]
fn write_label<const COMPACT: bool>(
    key: &Key,
    before: u8,
    known: &[u8],
    output: &mut Output<'_>,
) -> Option<()> {
    let bytes = key.bytes as usize;
    if bytes > STEP {
        if COMPACT {
            output.byte(before)?;
        }
        // Without the comma that it begins with.
        output.all(known.get(key.at as usize + 1..key.at as usize + bytes)?)
    } else if COMPACT {
        output.short_with(before, &key.start, bytes)
    } else {
        let label: &[u8; STEP - 1] = key.start.last_chunk()?;
        output.short(label, bytes - 1)
    }
}

/// Where the next text of a slot begins, and how long it is.
#[inline(always)]
fn text(texts: &[u32], next: &mut u32) -> Option<(u32, u32)> {
    let at = *next as usize;
    *next += 1;
    let &[start, after] = texts.get(at..at + 2)? else { return None };
    Some((start, after - 1 - start))
}

/// Writes what stands before a member, an element or a closing bracket.
#[inline(always)]
fn write_line(style: Style, depth: usize, output: &mut Output<'_>) -> Option<()> {
    if style.indent == Indent::OneLine {
        return Some(());
    }
    output.byte(b'\n')?;
    for _ in 0..depth {
        output.all(style.indent.unit())?;
    }
    Some(())
}
