//! Chooses the reader of a source: by the format that was asked for, by the extension, or by the
//! first 64 KiB.
//!
//! The guess looks at content only where the name says nothing, so that one damaged first line
//! does not change how a file is read. Text in UTF-16 is refused by name, because it would pass for
//! a binary payload.

use super::find::Input;
use super::scanner::{Scanner, Step, starts_value};
use super::sink::Sink;
use super::window::Window;
use super::{Format, lines, values};

/// How much of a source the guess looks at, in bytes.
const LOOK_BYTES: usize = 64 << 10;

const UTF8_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Reads a source with the reader that fits it.
pub(super) fn read(window: &mut Window<'_>, input: &Input, sink: &mut Sink<'_>) {
    if input.format == Format::Binary {
        return lines::read_binary(window, sink);
    }
    while window.data().len() < LOOK_BYTES && window.fill(&mut sink.meter) {}
    if matches!(window.data(), [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..]) {
        let reason = "UTF-16 text, which is not read; convert it to UTF-8 first \
                      (or ask for the format binary)";
        return sink.problem(1, reason.to_owned());
    }
    if window.data().starts_with(UTF8_MARK) {
        window.consume(UTF8_MARK.len());
    }
    match input.format {
        Format::Auto => match guess(window, input.extension().as_deref(), sink) {
            Format::Json => values::read(window, sink),
            Format::Lines => lines::read_lines(window, sink),
            _ => lines::read_binary(window, sink),
        },
        Format::Lines => lines::read_lines(window, sink),
        _ => values::read(window, sink),
    }
}

fn guess(window: &Window<'_>, extension: Option<&str>, sink: &mut Sink<'_>) -> Format {
    match extension {
        Some("json" | "ndjson" | "jsonl" | "jsonlines") => return Format::Json,
        Some("log" | "txt") => return Format::Lines,
        _ => {}
    }
    let data = window.data();
    if is_json(data, sink) {
        Format::Json
    } else if is_text(data) {
        Format::Lines
    } else {
        Format::Binary
    }
}

/// Whether the first value or the first line is JSON. A value that is longer than what is looked
/// at is taken for JSON if nothing is wrong so far.
fn is_json(data: &[u8], sink: &mut Sink<'_>) -> bool {
    let is_between = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0x1E);
    let Some(start) = data.iter().position(|byte| !is_between(byte)) else {
        return data.is_empty();
    };
    let data = &data[start..];
    if !starts_value(data[0]) {
        return false;
    }
    let line = memchr::memchr(b'\n', data).map_or(data, |end| &data[..end]);
    if sink.check(line).is_ok() {
        return true;
    }
    match Scanner::new().advance(data) {
        // A word or number at the start of a line of prose is a JSON value too, hence brackets.
        Step::End(end) => matches!(data[0], b'{' | b'[') && sink.check(&data[..end]).is_ok(),
        Step::More => matches!(data[0], b'{' | b'['),
        Step::Damaged { .. } => false,
    }
}

/// Whether the data is UTF-8 without NUL; it may end inside a character.
fn is_text(data: &[u8]) -> bool {
    let is_utf8 = match str::from_utf8(data) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none() && data.len() >= LOOK_BYTES,
    };
    is_utf8 && memchr::memchr(0, data).is_none()
}
