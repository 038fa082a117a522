//! RESP2 and RESP3, the protocol of Redis and Valkey, in both directions: what clients ask and what
//! servers reply. A scan says what is in the buffer as events, one for each scalar and for the head
//! of each aggregate, and where a whole request or reply ends.
//!
//! Bulks up to a limit are handed out whole. Longer ones come in parts as they are read, so a value
//! of 512 MiB passes through a buffer of 64 KiB. Which of both happens depends on the length alone,
//! never on how the bytes were cut.

mod inline;
mod write;

pub use inline::{UnbalancedQuotes, inline_arguments};
pub use write::{write_array, write_bulk, write_error, write_null};

use crate::limits::{
    RESP_BULK_BYTES_MAX, RESP_DEPTH_MAX, RESP_ELEMENTS_MAX, RESP_LINE_BYTES_MAX,
    RESP_WHOLE_BYTES_MAX,
};
use crate::scan::{Scan, Span};

/// What a connection may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RespLimits {
    /// The longest line that is no bulk, in bytes.
    pub line_bytes_max: usize,
    /// The longest bulk, in bytes.
    pub bulk_bytes_max: u64,
    /// The longest bulk that is handed out whole, in bytes. With its head and line end it must fit
    /// into the caller's buffer.
    pub whole_bytes_max: u64,
    /// The most elements of an array or set, or pairs of a map.
    pub elements_max: u64,
    /// How deep values may nest.
    pub depth_max: usize,
}

impl Default for RespLimits {
    fn default() -> RespLimits {
        RespLimits {
            line_bytes_max: RESP_LINE_BYTES_MAX,
            bulk_bytes_max: RESP_BULK_BYTES_MAX,
            whole_bytes_max: RESP_WHOLE_BYTES_MAX,
            elements_max: RESP_ELEMENTS_MAX,
            depth_max: RESP_DEPTH_MAX,
        }
    }
}

/// What ends a RESP connection.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RespError {
    /// A value begins with a byte that stands for no kind, or not for one that may stand here.
    #[error("a value begins with the byte 0x{0:02x}")]
    Kind(u8),
    /// A length is no number, or negative where that means nothing.
    #[error("a length is no number")]
    Length,
    /// A line or bulk does not end in CR LF.
    #[error("a line or bulk does not end in CR LF")]
    LineEnd,
    /// A line is longer than the limit.
    #[error("a line is longer than the limit of {limit_bytes} bytes")]
    LineTooLong {
        /// What is allowed.
        limit_bytes: usize,
    },
    /// A bulk announces more than the limit.
    #[error("a bulk announces {length_bytes} bytes, which is above the limit of {limit_bytes}")]
    BulkTooLong {
        /// What it announces.
        length_bytes: u64,
        /// What is allowed.
        limit_bytes: u64,
    },
    /// An aggregate announces more than the limit.
    #[error("an aggregate announces {elements} elements, which is above the limit of {limit}")]
    TooManyElements {
        /// What it announces.
        elements: u64,
        /// What is allowed.
        limit: u64,
    },
    /// Values nest deeper than the limit.
    #[error("values nest deeper than {limit}")]
    TooDeep {
        /// What is allowed.
        limit: usize,
    },
    /// The connection ended inside a value.
    #[error("the connection ended inside a value")]
    CutOff,
}

/// A scalar on a line of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LineKind {
    /// `+`.
    Simple,
    /// `-`.
    Error,
    /// `:`.
    Integer,
    /// `_`.
    Null,
    /// `#`.
    Boolean,
    /// `,`.
    Double,
    /// `(`.
    BigNumber,
}

/// A scalar with a length in front.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BulkKind {
    /// `$`.
    String,
    /// `!`.
    Error,
    /// `=`: three bytes of kind and a colon, then the text.
    Verbatim,
}

/// What has elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AggregateKind {
    /// `*`.
    Array,
    /// `%`: pairs.
    Map,
    /// `~`.
    Set,
    /// `>`: out of band, it answers no request.
    Push,
    /// `|`: pairs that say something of the value behind them, and are none.
    Attribute,
}

/// What was found, in order. Spans are of the buffer that was scanned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// An inline command; [`inline_arguments`] splits it. Only from clients.
    Inline(Span),
    /// A scalar on a line.
    Line(LineKind, Span),
    /// A bulk, whole; `None` for RESP2's null.
    Bulk(BulkKind, Option<Span>),
    /// The head of a bulk that comes in parts, with its length if that is known.
    BulkBegins(BulkKind, Option<u64>),
    /// A part of it, at least one byte.
    BulkPart(Span),
    /// The end of it.
    BulkEnds,
    /// The head of an aggregate, with the number of its elements or pairs. `None` for RESP2's null.
    Aggregate(AggregateKind, Option<u64>),
    /// The head of an aggregate whose length is not known.
    StreamBegins(AggregateKind),
    /// The end of it.
    StreamEnds,
    /// A request, reply or push is complete.
    Complete,
}

/// Who sends what is scanned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sender {
    Client,
    Server,
}

/// An aggregate that is open.
#[derive(Debug, Clone, Copy)]
struct Open {
    /// Values that are still to come; `None` until the end is said.
    left: Option<u64>,
    is_attribute: bool,
}

/// A bulk that comes in parts.
#[derive(Debug, Clone, Copy)]
enum Parts {
    /// This many bytes of it, or of a chunk of it, are still to come, then CR LF.
    Bytes { left: u64, is_chunk: bool },
    /// The head of a chunk is next.
    Chunk,
}

/// The state of one direction of a connection.
#[derive(Debug, Clone)]
pub struct Resp {
    limits: RespLimits,
    sender: Sender,
    open: Vec<Open>,
    parts: Option<Parts>,
}

/// The longest line that holds a length, in bytes: a kind and a 64-bit number.
const HEAD_BYTES_MAX: usize = 21;

/// One step: how many bytes it took, or how many it needs.
enum Step {
    Took(usize),
    Needs(usize),
}

impl Resp {
    /// What a client sends: inline commands and arrays of bulks.
    pub fn requests(limits: RespLimits) -> Resp {
        Resp { limits, sender: Sender::Client, open: Vec::new(), parts: None }
    }

    /// What a server sends: any value of RESP2 and RESP3.
    pub fn replies(limits: RespLimits) -> Resp {
        Resp { sender: Sender::Server, ..Resp::requests(limits) }
    }

    /// Whether a request or reply has begun and is not complete.
    pub fn is_inside_value(&self) -> bool {
        self.parts.is_some() || !self.open.is_empty()
    }

    /// Appends what is in `input`, which begins where the last scan stopped. Empty requests are
    /// passed over, as Redis does.
    ///
    /// # Errors
    /// Any [`RespError`]: close the connection. The events before are in `events` all the same.
    pub fn scan(&mut self, input: &[u8], events: &mut Vec<Event>) -> Result<Scan, RespError> {
        self.scan_up_to(usize::MAX, input, events)
    }

    /// Does the same, and stops behind the first value that is complete, so that the caller knows
    /// where it ends. It is complete if the last event is [`Event::Complete`].
    ///
    /// # Errors
    /// As [`Resp::scan`].
    pub fn scan_one(&mut self, input: &[u8], events: &mut Vec<Event>) -> Result<Scan, RespError> {
        self.scan_up_to(1, input, events)
    }

    fn scan_up_to(
        &mut self,
        values_max: usize,
        input: &[u8],
        events: &mut Vec<Event>,
    ) -> Result<Scan, RespError> {
        let (mut consumed, mut values, mut seen) = (0, 0, events.len());
        loop {
            if events.len() > seen {
                seen = events.len();
                values += usize::from(events.last() == Some(&Event::Complete));
                if values == values_max {
                    return Ok(Scan { consumed, needed: 1 });
                }
            }
            let rest = &input[consumed..];
            let step = match self.parts {
                Some(parts) => self.part(parts, rest, consumed, events)?,
                None => self.value(rest, consumed, events)?,
            };
            match step {
                Step::Took(bytes) => consumed += bytes,
                Step::Needs(needed) => return Ok(Scan { consumed, needed }),
            }
        }
    }

    /// Whether a connection may end here: `rest` is what the last scan left over.
    ///
    /// # Errors
    /// [`RespError::CutOff`] if it ended inside a value.
    pub fn finish(&self, rest: &[u8]) -> Result<(), RespError> {
        if rest.is_empty() && !self.is_inside_value() { Ok(()) } else { Err(RespError::CutOff) }
    }

    fn value(
        &mut self,
        rest: &[u8],
        at: usize,
        events: &mut Vec<Event>,
    ) -> Result<Step, RespError> {
        let Some(&kind) = rest.first() else { return Ok(Step::Needs(1)) };
        match (self.sender, self.open.is_empty(), kind) {
            (Sender::Server, ..) => {}
            (Sender::Client, true, b'*') | (Sender::Client, false, b'$') => {}
            (Sender::Client, true, _) => return self.inline(rest, at, events),
            (Sender::Client, false, _) => return Err(RespError::Kind(kind)),
        }
        let line_kind = match kind {
            b'+' => LineKind::Simple,
            b'-' => LineKind::Error,
            b':' => LineKind::Integer,
            b'_' => LineKind::Null,
            b'#' => LineKind::Boolean,
            b',' => LineKind::Double,
            b'(' => LineKind::BigNumber,
            _ => return self.with_length(kind, rest, at, events),
        };
        let Some(end) = line(rest, self.limits.line_bytes_max)? else {
            return Ok(Step::Needs(rest.len() + 1));
        };
        events.push(Event::Line(line_kind, Span::new(at + 1, at + end)));
        self.value_is_complete(events);
        Ok(Step::Took(end + 2))
    }

    fn inline(
        &mut self,
        rest: &[u8],
        at: usize,
        events: &mut Vec<Event>,
    ) -> Result<Step, RespError> {
        let limit_bytes = self.limits.line_bytes_max;
        let window = &rest[..rest.len().min(limit_bytes + 2)];
        let Some(end) = memchr::memchr(b'\n', window) else {
            let is_too_long = window.len() == limit_bytes + 2;
            return if is_too_long {
                Err(RespError::LineTooLong { limit_bytes })
            } else {
                Ok(Step::Needs(rest.len() + 1))
            };
        };
        let text = rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end]);
        if !text.trim_ascii().is_empty() {
            events.extend([Event::Inline(Span::new(at, at + text.len())), Event::Complete]);
        }
        Ok(Step::Took(end + 1))
    }

    /// A bulk, an aggregate, or the end of one: all that has a number behind its kind.
    fn with_length(
        &mut self,
        kind: u8,
        rest: &[u8],
        at: usize,
        events: &mut Vec<Event>,
    ) -> Result<Step, RespError> {
        let bulk = match kind {
            b'$' => Some(BulkKind::String),
            b'!' => Some(BulkKind::Error),
            b'=' => Some(BulkKind::Verbatim),
            _ => None,
        };
        let aggregate = match kind {
            b'*' => Some(AggregateKind::Array),
            b'%' => Some(AggregateKind::Map),
            b'~' => Some(AggregateKind::Set),
            b'>' => Some(AggregateKind::Push),
            b'|' => Some(AggregateKind::Attribute),
            _ => None,
        };
        let is_end = kind == b'.' && self.open.last().is_some_and(|open| open.left.is_none());
        if bulk.is_none() && aggregate.is_none() && !is_end {
            return Err(RespError::Kind(kind));
        }
        let Some(end) = line(rest, HEAD_BYTES_MAX)? else {
            return Ok(Step::Needs(rest.len() + 1));
        };
        let (text, took) = (&rest[1..end], end + 2);
        match (bulk, aggregate) {
            (Some(kind), _) => self.bulk(kind, text, rest, at, took, events),
            (None, Some(kind)) => {
                self.aggregate(kind, text, events)?;
                Ok(Step::Took(took))
            }
            (None, None) if text.is_empty() => {
                self.open.pop();
                events.push(Event::StreamEnds);
                self.value_is_complete(events);
                Ok(Step::Took(took))
            }
            (None, None) => Err(RespError::Length),
        }
    }

    fn bulk(
        &mut self,
        kind: BulkKind,
        text: &[u8],
        rest: &[u8],
        at: usize,
        head_bytes: usize,
        events: &mut Vec<Event>,
    ) -> Result<Step, RespError> {
        if text == b"?" && self.sender == Sender::Server {
            events.push(Event::BulkBegins(kind, None));
            self.parts = Some(Parts::Chunk);
            return Ok(Step::Took(head_bytes));
        }
        let Some(length) = self.length(text)? else {
            events.push(Event::Bulk(kind, None));
            self.value_is_complete(events);
            return Ok(Step::Took(head_bytes));
        };
        self.check_bulk(length)?;
        if length > self.limits.whole_bytes_max {
            events.push(Event::BulkBegins(kind, Some(length)));
            self.parts = Some(Parts::Bytes { left: length, is_chunk: false });
            return Ok(Step::Took(head_bytes));
        }
        let body_end = head_bytes + length as usize;
        let Some(behind) = rest.get(body_end..body_end + 2) else {
            return Ok(Step::Needs(body_end + 2));
        };
        if behind != b"\r\n" {
            return Err(RespError::LineEnd);
        }
        events.push(Event::Bulk(kind, Some(Span::new(at + head_bytes, at + body_end))));
        self.value_is_complete(events);
        Ok(Step::Took(body_end + 2))
    }

    fn aggregate(
        &mut self,
        kind: AggregateKind,
        text: &[u8],
        events: &mut Vec<Event>,
    ) -> Result<(), RespError> {
        let is_attribute = kind == AggregateKind::Attribute;
        if text == b"?" && self.sender == Sender::Server && !is_attribute {
            events.push(Event::StreamBegins(kind));
            return self.push_open(Open { left: None, is_attribute });
        }
        let count = self.length(text)?;
        let elements = count.unwrap_or(0);
        let limit = self.limits.elements_max;
        if elements > limit {
            return Err(RespError::TooManyElements { elements, limit });
        }
        if self.sender == Sender::Client && elements == 0 {
            return Ok(());
        }
        events.push(Event::Aggregate(kind, count));
        let is_pairs = matches!(kind, AggregateKind::Map | AggregateKind::Attribute);
        match elements * if is_pairs { 2 } else { 1 } {
            0 if is_attribute => {}
            0 => self.value_is_complete(events),
            left => self.push_open(Open { left: Some(left), is_attribute })?,
        }
        Ok(())
    }

    fn push_open(&mut self, open: Open) -> Result<(), RespError> {
        let limit = self.limits.depth_max;
        if self.open.len() == limit {
            return Err(RespError::TooDeep { limit });
        }
        self.open.push(open);
        Ok(())
    }

    /// The next bytes of a bulk that comes in parts.
    fn part(
        &mut self,
        parts: Parts,
        rest: &[u8],
        at: usize,
        events: &mut Vec<Event>,
    ) -> Result<Step, RespError> {
        match parts {
            Parts::Chunk => {
                match rest.first() {
                    None => return Ok(Step::Needs(1)),
                    Some(b';') => {}
                    Some(&kind) => return Err(RespError::Kind(kind)),
                }
                let Some(end) = line(rest, HEAD_BYTES_MAX)? else {
                    return Ok(Step::Needs(rest.len() + 1));
                };
                let left = self.length(&rest[1..end])?.ok_or(RespError::Length)?;
                self.check_bulk(left)?;
                if left == 0 {
                    self.end_parts(events);
                } else {
                    self.parts = Some(Parts::Bytes { left, is_chunk: true });
                }
                Ok(Step::Took(end + 2))
            }
            Parts::Bytes { left: 0, is_chunk } => {
                let found = &rest[..rest.len().min(2)];
                if !b"\r\n".starts_with(found) {
                    return Err(RespError::LineEnd);
                }
                if found.len() < 2 {
                    return Ok(Step::Needs(2));
                }
                if is_chunk {
                    self.parts = Some(Parts::Chunk);
                } else {
                    self.end_parts(events);
                }
                Ok(Step::Took(2))
            }
            Parts::Bytes { left, is_chunk } => {
                let took = rest.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                if took == 0 {
                    return Ok(Step::Needs(1));
                }
                events.push(Event::BulkPart(Span::new(at, at + took)));
                self.parts = Some(Parts::Bytes { left: left - took as u64, is_chunk });
                Ok(Step::Took(took))
            }
        }
    }

    fn end_parts(&mut self, events: &mut Vec<Event>) {
        self.parts = None;
        events.push(Event::BulkEnds);
        self.value_is_complete(events);
    }

    fn check_bulk(&self, length_bytes: u64) -> Result<(), RespError> {
        let limit_bytes = self.limits.bulk_bytes_max;
        if length_bytes > limit_bytes {
            return Err(RespError::BulkTooLong { length_bytes, limit_bytes });
        }
        Ok(())
    }

    /// The number of a head; `None` for −1, which a server may say and a client may say for arrays.
    fn length(&self, text: &[u8]) -> Result<Option<u64>, RespError> {
        let is_client_bulk = self.sender == Sender::Client && !self.open.is_empty();
        if text == b"-1" && !is_client_bulk {
            return Ok(None);
        }
        let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
        let number = str::from_utf8(text).ok().filter(|_| is_number);
        let number: Option<u64> = number.and_then(|number| number.parse().ok());
        number.map(Some).ok_or(RespError::Length)
    }

    /// Counts a value that is complete, and those that it is the last of.
    fn value_is_complete(&mut self, events: &mut Vec<Event>) {
        while let Some(innermost) = self.open.last_mut() {
            let Some(left) = &mut innermost.left else { return };
            *left -= 1;
            if *left > 0 {
                return;
            }
            let is_attribute = innermost.is_attribute;
            self.open.pop();
            if is_attribute {
                // The value that it belongs to is still to come.
                return;
            }
        }
        events.push(Event::Complete);
    }
}

/// Where the line at the front ends, before its CR LF; `None` if more bytes are needed.
fn line(rest: &[u8], limit_bytes: usize) -> Result<Option<usize>, RespError> {
    let window = &rest[..rest.len().min(limit_bytes + 2)];
    match memchr::memchr(b'\n', window) {
        Some(end) if end > 1 && window[end - 1] == b'\r' => Ok(Some(end - 1)),
        Some(_) => Err(RespError::LineEnd),
        None if window.len() == limit_bytes + 2 => Err(RespError::LineTooLong { limit_bytes }),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests;
