//! Reads a stream of JSON values in any layout: one per line, pretty-printed, glued together, or
//! separated by RS (RFC 7464).
//!
//! A line that is one whole value is the fast path. Everything else is cut by the [`Scanner`] and
//! checked by the parser. After damage the stream is picked up at a line that starts a value, and
//! how much text may be looked at twice for that is bounded by a budget, so that no input, however
//! made, takes more than linear time.

use super::elements;
use super::scanner::{Scanner, Step, starts_value};
use super::sink::Sink;
use super::window::Window;

/// Longer lines are cut by the scanner, which needs no line in memory to begin.
const FAST_LINE_BYTES_MAX: usize = 1 << 20;

/// How much may be scanned again beyond the size of the source, in bytes.
const RESCAN_FREE_BYTES: u64 = 16 << 20;

/// RS of RFC 7464.
const RECORD_SEPARATOR: u8 = 0x1E;

/// What was found at the start of the window.
pub(super) enum Found {
    /// A value of this many bytes, which were not consumed.
    Whole(usize),
    /// A value above the limit, which was reported and consumed.
    Skipped,
    /// Damage at this offset of the data.
    Damaged { at: usize, what: &'static str },
    /// Damage behind a part that was reported as too long and consumed.
    DamagedBehind,
    /// The source ends inside the value.
    Cut,
}

/// A stream of values and what was learned about its layout.
pub(super) struct Values<'w, 'i, 's, 'o> {
    pub(super) window: &'w mut Window<'i>,
    pub(super) sink: &'s mut Sink<'o>,
    /// Values that were whole lines.
    whole_lines: u64,
    /// A value spanned lines.
    spans_lines: bool,
    /// RS was seen, which no JSON text can hold: a safe place to go on after damage.
    has_separators: bool,
    /// The fast path was tried up to this offset of the source.
    tried_offset: u64,
    rescanned_bytes: u64,
}

/// Takes every value of a source.
pub(super) fn read(window: &mut Window<'_>, sink: &mut Sink<'_>) {
    if window.first(&mut sink.meter).is_none() && window.is_complete() {
        return sink.problem(0, "empty".to_owned());
    }
    let mut values = Values {
        window,
        sink,
        whole_lines: 0,
        spans_lines: false,
        has_separators: false,
        tried_offset: 0,
        rescanned_bytes: 0,
    };
    while let Some(first) = values.next_byte() {
        if values.sink.options.split && first == b'[' {
            elements::read(&mut values);
        } else if !starts_value(first) {
            values.damaged(0, "expected a value");
        } else if !values.take_line() {
            values.take_value();
        }
    }
}

impl Values<'_, '_, '_, '_> {
    /// Passes over white space and separators; the first byte after them, or `None` at the end.
    fn next_byte(&mut self) -> Option<u8> {
        loop {
            let first = self.next_in_array()?;
            if first != RECORD_SEPARATOR {
                return Some(first);
            }
            self.has_separators = true;
            self.window.consume(1);
        }
    }

    /// Passes over white space; the first byte after it, or `None` at the end.
    pub(super) fn next_in_array(&mut self) -> Option<u8> {
        loop {
            let first = self.window.first(&mut self.sink.meter)?;
            if !is_space(first) {
                return Some(first);
            }
            let data = self.window.data();
            let spaces = data.iter().position(|&byte| !is_space(byte)).unwrap_or(data.len());
            self.window.consume(spaces);
        }
    }

    /// The fast path: takes the rest of the line if it is one whole value.
    fn take_line(&mut self) -> bool {
        if self.window.offset() < self.tried_offset {
            return false;
        }
        let within_bytes = FAST_LINE_BYTES_MAX.min(self.sink.limit_bytes());
        let line_end = self.window.line_end(within_bytes, &mut self.sink.meter);
        let data = self.window.data();
        self.tried_offset = self.window.offset() + line_end.unwrap_or(data.len()) as u64;
        let Some(end) = line_end else { return false };
        let text = data[..end].trim_ascii_end();
        if text.len() > self.sink.limit_bytes() || self.sink.check(text).is_err() {
            return false;
        }
        self.whole_lines += 1;
        self.sink.take_json(text, self.window.line());
        self.window.consume((end + 1).min(self.window.data().len()));
        true
    }

    /// Takes the value at the start of the window, which may span lines or share its line.
    fn take_value(&mut self) {
        match self.find_value() {
            Found::Whole(length) => {
                let text = &self.window.data()[..length];
                let is_bracketed = matches!(text[0], b'{' | b'[');
                self.spans_lines |= memchr::memchr(b'\n', text).is_some();
                if let Err(error) = self.sink.check(text) {
                    if !is_bracketed {
                        // A wrong word says nothing of where the next value starts.
                        return self.damaged(length, "not a JSON value");
                    }
                    self.sink.problem(self.window.line(), error.to_string());
                } else if let Some(at) = self.junk_after(length) {
                    return self.damaged(at, "something that is no value follows");
                } else {
                    let text = &self.window.data()[..length];
                    self.sink.take_json(text, self.window.line());
                }
                self.window.consume(length);
            }
            Found::Skipped => {}
            Found::Damaged { at, what } => self.damaged(at, what),
            Found::DamagedBehind => {
                // The damage may be the start of the next value, where a bracket was left open.
                let first = self.window.data().first();
                if self.window.column() > 0 || !matches!(first, Some(b'{' | b'[')) {
                    self.recover(0, self.spans_lines);
                }
            }
            Found::Cut => self.cut(),
        }
    }

    /// Finds the end of the value at the start of the window.
    pub(super) fn find_value(&mut self) -> Found {
        let limit_bytes = self.sink.limit_bytes();
        let mut scanner = Scanner::new();
        let mut scanned = 0;
        let mut is_too_long = false;
        loop {
            let step = scanner.advance(&self.window.data()[scanned..]);
            let length = match step {
                Step::More => self.window.data().len(),
                Step::End(end) => scanned + end,
                Step::Damaged { at, .. } => scanned + at,
            };
            if length > limit_bytes && !is_too_long {
                is_too_long = true;
                let is_array = self.window.data()[0] == b'[' && !self.sink.options.split;
                let hint = if is_array { "; split takes its elements one by one" } else { "" };
                self.sink.too_long(self.window.line(), hint);
            }
            if is_too_long {
                self.window.consume(length);
                match step {
                    Step::End(_) => return Found::Skipped,
                    Step::Damaged { .. } => return Found::DamagedBehind,
                    Step::More => scanned = 0,
                }
            } else {
                match step {
                    Step::End(_) => return Found::Whole(length),
                    Step::Damaged { what, .. } => return Found::Damaged { at: length, what },
                    Step::More => scanned = length,
                }
            }
            if !self.window.fill(&mut self.sink.meter) {
                return match scanner.may_end() && self.window.is_complete() {
                    _ if is_too_long => Found::Skipped,
                    true => Found::Whole(length),
                    false => Found::Cut,
                };
            }
        }
    }

    /// The offset of something after a value, on its line, that is not another value. A value that
    /// such a thing is glued to is damaged: it may be the start of a line of prose.
    fn junk_after(&mut self, length: usize) -> Option<usize> {
        let mut at = length;
        loop {
            match self.window.data().get(at).copied() {
                Some(b' ' | b'\t' | b'\r') => at += 1,
                Some(byte) => {
                    let is_fine = matches!(byte, b'\n' | RECORD_SEPARATOR) || starts_value(byte);
                    return (!is_fine).then_some(at);
                }
                None if self.window.fill(&mut self.sink.meter) => {}
                None => return None,
            }
        }
    }

    /// Reports the value at the start of the window, which is wrong at offset `at`, and goes on
    /// behind it.
    fn damaged(&mut self, at: usize, what: &'static str) {
        let ends_later = memchr::memchr(b'\n', &self.window.data()[..at]).is_some();
        let spans_lines = self.spans_lines || (ends_later && self.whole_lines == 0);
        let reason = self.reason(at, what);
        self.sink.problem(self.window.line(), reason);
        // Lines between the start and the damage may be good ones that an open bracket took in.
        let from = if self.may_rescan(at) { 0 } else { at.saturating_sub(1) };
        self.recover(from, spans_lines);
    }

    /// Whether `count` bytes may be looked at once more, which keeps reading linear.
    pub(super) fn may_rescan(&mut self, count: usize) -> bool {
        let rescanned_bytes = self.rescanned_bytes + count as u64;
        let is_fine = rescanned_bytes <= RESCAN_FREE_BYTES + self.window.offset();
        if is_fine {
            self.rescanned_bytes = rescanned_bytes;
        }
        is_fine
    }

    /// The parser's words for what is wrong, where the text that it needs is in memory.
    fn reason(&mut self, at: usize, what: &'static str) -> String {
        let from = if self.is_one_per_line() { 0 } else { at };
        let reach = (from + FAST_LINE_BYTES_MAX).min(self.sink.limit_bytes());
        let is_end = |byte: &u8| matches!(*byte, b'\n' | RECORD_SEPARATOR);
        let mut searched = from;
        let end = loop {
            let data = self.window.data();
            let piece = data.get(searched..reach.min(data.len())).unwrap_or_default();
            if let Some(end) = piece.iter().position(is_end) {
                break Some(searched + end);
            }
            if data.len() >= reach {
                break None;
            }
            searched = data.len().max(from);
            if !self.window.fill(&mut self.sink.meter) {
                break self.window.is_complete().then_some(self.window.data().len());
            }
        };
        let data = self.window.data();
        if let Some(end) = end
            && let Err(error) = self.sink.check(data[..end].trim_ascii_end())
        {
            return error.to_string();
        }
        format!("{what} at byte {at}")
    }

    /// Reports a value that the source ends in.
    fn cut(&mut self) {
        if !self.window.is_complete() {
            // Why the source was cut is reported once, by whoever knows.
            return self.window.consume(self.window.data().len());
        }
        let length = self.window.data().len();
        if self.is_one_per_line() && memchr::memchr(b'\n', self.window.data()).is_some() {
            return self.damaged(length, "the value is not closed");
        }
        self.sink.problem(self.window.line(), "the source ends inside this value".to_owned());
        self.window.consume(length);
    }

    /// Whether all values so far were lines of their own.
    fn is_one_per_line(&self) -> bool {
        self.whole_lines > 0 && !self.spans_lines
    }

    /// Goes to the next line after offset `from` that a value can be expected at the start of:
    /// where values are lines, any line; where nothing is known yet, one that starts like a value;
    /// where values span lines, one that starts with a bracket.
    fn recover(&mut self, mut from: usize, spans_lines: bool) {
        loop {
            if self.has_separators && self.skip_to_separator(from) {
                return;
            }
            if !self.window.skip_line(from, &mut self.sink.meter) || self.is_one_per_line() {
                return;
            }
            from = 0;
            let Some(first) = self.window.first(&mut self.sink.meter) else { return };
            let is_bracket = matches!(first, b'{' | b'[');
            if is_bracket || (!spans_lines && starts_value(first)) {
                return;
            }
        }
    }

    /// Goes to the next RS if it stands on the line that is in memory.
    fn skip_to_separator(&mut self, from: usize) -> bool {
        let data = self.window.data();
        match memchr::memchr2(b'\n', RECORD_SEPARATOR, &data[from..]) {
            Some(found) if data[from + found] == RECORD_SEPARATOR => {
                self.window.consume(from + found);
                true
            }
            _ => false,
        }
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}
