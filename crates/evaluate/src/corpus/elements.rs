//! Takes the elements of a top-level array one by one, so that an array file of any size is read
//! as a stream.
//!
//! A damaged element must not cost the ones after it: the end of its brackets on its own line, or
//! else the next line that is indented like it, is where the array is picked up again. Missing and
//! surplus commas are problems too.

use super::scanner::{balanced_end, starts_value};
use super::values::{Found, Values};

/// Lines longer than this are not searched for the end of a damaged element.
const SEARCH_BYTES_MAX: usize = 1 << 20;

/// What may come next inside the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    ElementOrEnd,
    Element,
    CommaOrEnd,
    /// After damage: whatever makes sense.
    Anything,
}

/// Takes the elements of the array that starts at the window's first byte.
pub(super) fn read(values: &mut Values<'_, '_, '_, '_>) {
    let opening_line = values.window.line();
    values.window.consume(1);
    let mut expected = Expected::ElementOrEnd;
    while let Some(first) = values.next_in_array() {
        let line = values.window.line();
        let is_value = starts_value(first);
        let is_fine = match expected {
            Expected::ElementOrEnd => is_value || first == b']',
            Expected::Element => is_value,
            Expected::CommaOrEnd => matches!(first, b',' | b']'),
            Expected::Anything => is_value || matches!(first, b',' | b']'),
        };
        if !is_fine {
            let what = match expected {
                Expected::CommaOrEnd => "expected a comma or a closing bracket",
                _ => "expected a value",
            };
            values.sink.problem(line, format!("{what} in the array of line {opening_line}"));
        }
        match first {
            // The wrong bracket was meant to close the array; it can mean nothing else here.
            b']' | b'}' => return values.window.consume(1),
            b',' => {
                values.window.consume(1);
                expected = Expected::Element;
            }
            _ if is_value => match take_element(values) {
                Some(next) => expected = next,
                None => return,
            },
            _ => expected = recover(values),
        }
    }
    if values.window.is_complete() {
        let reason = "the source ends inside this array".to_owned();
        values.sink.problem(opening_line, reason);
    }
}

/// Takes the element at the start of the window; `None` if the source ends in it.
fn take_element(values: &mut Values<'_, '_, '_, '_>) -> Option<Expected> {
    let line = values.window.line();
    match values.find_value() {
        Found::Whole(length) => {
            let text = &values.window.data()[..length];
            match values.sink.check(text) {
                Ok(()) => values.sink.take_json(text, line),
                Err(error) => values.sink.problem(line, error.to_string()),
            }
            values.window.consume(length);
            Some(Expected::CommaOrEnd)
        }
        Found::Skipped => Some(Expected::CommaOrEnd),
        Found::Damaged { at, what } => {
            values.sink.problem(line, format!("{what} at byte {at} of an element"));
            if !values.may_rescan(at) {
                values.window.consume(at);
            }
            Some(recover(values))
        }
        Found::DamagedBehind => Some(recover(values)),
        Found::Cut => {
            if values.window.is_complete() {
                values.sink.problem(line, "the source ends inside this value".to_owned());
            }
            values.window.consume(values.window.data().len());
            None
        }
    }
}

/// Passes over a damaged element.
fn recover(values: &mut Values<'_, '_, '_, '_>) -> Expected {
    let indentation = values.window.column();
    let meter = &mut values.sink.meter;
    if let Some(end) = values.window.line_end(SEARCH_BYTES_MAX, meter) {
        let line = &values.window.data()[..end];
        let end = match line.first() {
            Some(b'{' | b'[') => balanced_end(line),
            _ => memchr::memchr2(b',', b']', line),
        };
        if let Some(end) = end {
            values.window.consume(end);
            return Expected::Anything;
        }
    }
    while values.window.skip_line(0, &mut values.sink.meter) {
        while values.window.first(&mut values.sink.meter).is_some_and(|b| b == b' ' || b == b'\t') {
            values.window.consume(1);
        }
        let first = values.window.first(&mut values.sink.meter);
        let is_start = matches!(first, Some(b'{' | b'[' | b']'));
        if is_start && values.window.column() <= indentation {
            break;
        }
    }
    Expected::Anything
}
