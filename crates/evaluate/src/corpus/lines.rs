//! Reads sources whose payloads are lines, and sources that are one payload each.
//!
//! Lines may hold any bytes: a log is not always UTF-8, and a damaged line is still a line. Of a
//! line that is longer than the limit no more than the limit and one read is held.

use super::sink::Sink;
use super::window::Window;

/// Takes every line that is not empty.
pub(super) fn read_lines(window: &mut Window<'_>, sink: &mut Sink<'_>) {
    let limit_bytes = sink.limit_bytes();
    loop {
        let line = window.line();
        // One byte more: a carriage return before the line break is not of the payload.
        let Some(end) = window.line_end(limit_bytes + 1, &mut sink.meter) else {
            if window.data().len() <= limit_bytes + 1 {
                // The source was cut or stopped inside this line, which is a part only.
                return;
            }
            sink.too_long(line, "");
            if !window.skip_line(0, &mut sink.meter) {
                return;
            }
            continue;
        };
        let text = &window.data()[..end];
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        if text.len() > limit_bytes {
            sink.too_long(line, "");
        } else if !text.is_empty() {
            take_line(text, line, sink);
        }
        let rest = window.data().len() - end;
        window.consume(end + rest.min(1));
        if rest == 0 {
            return;
        }
    }
}

fn take_line(text: &[u8], line: u64, sink: &mut Sink<'_>) {
    let is_bracket = matches!(text.trim_ascii_start().first(), Some(b'{' | b'['));
    let is_json = is_bracket && sink.check(text).is_ok();
    if sink.options.field.is_none() {
        sink.take(text, is_json, line);
    } else if is_json {
        sink.take_json(text, line);
    } else {
        sink.problem(line, "the line is not JSON, so it has no members".to_owned());
    }
}

/// Takes all of the source as one payload.
pub(super) fn read_binary(window: &mut Window<'_>, sink: &mut Sink<'_>) {
    while window.data().len() <= sink.limit_bytes() && window.fill(&mut sink.meter) {}
    if window.data().len() > sink.limit_bytes() {
        sink.too_long(0, "");
    } else if window.is_complete() {
        match (window.data(), sink.options.field.is_some()) {
            ([], _) => sink.problem(0, "empty".to_owned()),
            (_, true) => sink.problem(0, "binary, so it has no members".to_owned()),
            (bytes, false) => sink.take(bytes, false, 0),
        }
    }
}
