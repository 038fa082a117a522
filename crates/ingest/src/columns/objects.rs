//! Lines of JSON objects as one array of them, which the columnar encoding of payloads takes apart.
//! The array's commas become newlines again by a count of brackets.

use cinch_core::encoding::{ENCODINGS, Engine, Refusal, TextEncoder, TextEncoding};

use super::{ColumnsError, END, OBJECTS, OBJECTS_SPACED};
use crate::varint;

/// An array of fewer objects has nothing to share.
const OBJECTS_MIN: usize = 2;

/// The encoding of the arrays.
const ENCODING: &str = "columnar";

/// What encodes and decodes the arrays; the registry has it.
fn encoding() -> Option<&'static dyn TextEncoding> {
    let row = ENCODINGS.iter().find(|row| row.name == ENCODING);
    match row?.engine {
        Engine::Text(encoding) => Some(encoding),
        _ => None,
    }
}

/// Writes lines of JSON.
#[derive(Default)]
pub(super) struct ObjectsWriter {
    encoder: Option<Box<dyn TextEncoder>>,
    array: Vec<u8>,
}

impl ObjectsWriter {
    /// Appends the form of lines that are objects; `None` where one is not. `out` may hold a part
    /// then.
    pub(super) fn write(&mut self, text: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let is_ended = text.ends_with(b"\n");
        let lines = || text[..text.len() - usize::from(is_ended)].split(|byte| *byte == b'\n');
        let is_object = |line: &[u8]| line.starts_with(b"{") && line.ends_with(b"}");
        let count = lines().count();
        if count < OBJECTS_MIN || !lines().all(is_object) {
            return None;
        }
        let encoder = match &mut self.encoder {
            Some(encoder) => encoder,
            empty => empty.insert(encoding()?.encoder(None)),
        };
        for form in [OBJECTS, OBJECTS_SPACED] {
            self.array.clear();
            for (number, line) in lines().enumerate() {
                self.array.extend_from_slice(if number == 0 { b"[" } else { between(form) });
                self.array.extend_from_slice(line);
            }
            self.array.push(b']');
            out.clear();
            out.extend_from_slice(&[form, u8::from(is_ended)]);
            varint::write(count as u64, out);
            match encoder.encode(&self.array, out) {
                Ok(()) => return Some(()),
                // The objects' own commas may have a space behind them.
                Err(Refusal::WhiteSpace) => {}
                Err(_) => return None,
            }
        }
        None
    }
}

fn between(form: u8) -> &'static [u8] {
    if form == OBJECTS_SPACED { b", " } else { b"," }
}

/// Reads lines of objects, which have that many bytes together.
pub(super) fn read(
    mut rest: &[u8],
    form: u8,
    text_bytes: usize,
    text: &mut Vec<u8>,
) -> Result<(), ColumnsError> {
    let (&is_ended, after) = rest.split_first().ok_or(END)?;
    rest = after;
    let count = varint::read(&mut rest).ok_or(END)?;
    let count = usize::try_from(count).ok().filter(|count| (1..=text_bytes).contains(count));
    let count = count.ok_or(ColumnsError::Damaged("more objects than the text has bytes"))?;
    // Two brackets, one of which stands for the newline at the end, and a space between objects.
    let spaces = (count - 1) * (between(form).len() - 1);
    let array_bytes = text_bytes + 2 - usize::from(is_ended != 0) + spaces;
    let encoding = encoding().ok_or(ColumnsError::Damaged("no decoder of objects"))?;
    encoding.decoder(None).decode(rest, array_bytes, text)?;
    if !(text.starts_with(b"[") && text.ends_with(b"]")) {
        return Err(ColumnsError::Damaged("no array"));
    }
    split(text, form, is_ended != 0);
    Ok(())
}

/// Turns an array into the lines of its elements, in place.
fn split(text: &mut Vec<u8>, form: u8, is_ended: bool) {
    let (mut depth, mut is_string, mut is_escaped) = (0usize, false, false);
    let (mut from, mut to) = (1, 0);
    let last = text.len() - 1;
    while from < last {
        let byte = text[from];
        let mut kept = byte;
        from += 1;
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_string,
            b'"' => is_string = !is_string,
            _ if is_string => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                kept = b'\n';
                from += between(form).len() - 1;
            }
            _ => {}
        }
        text[to] = kept;
        to += 1;
    }
    text.truncate(to);
    if is_ended {
        text.push(b'\n');
    }
}
