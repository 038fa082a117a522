//! Syslog: frames of RFC 6587 on a stream, and the messages of RFC 5424 and RFC 3164 in them. A
//! datagram is one message. Nothing is answered.
//!
//! Senders do not announce how they frame, and one relay may mix both, so every frame is looked at
//! anew, as rsyslog does: one that begins with a number and a space is counted, everything else
//! ends with a newline. [`Message`] reads what is in a frame, and takes anything.

mod message;
mod structured;
mod timestamp;

pub use message::{Facility, Format, Message, Priority, Severity};
pub use structured::{Element, Elements, Parameters, unescape};
pub use timestamp::Timestamp;

use crate::limits::SYSLOG_MESSAGE_BYTES_MAX;
use crate::lines::Overlong;
use crate::scan::{Scan, Span};

/// The most digits of an octet count: more can't be a length and are the start of a line.
const COUNT_DIGITS_MAX: usize = 10;

/// What ends a syslog connection.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SyslogError {
    /// An octet count is above the limit. What follows can't be trusted.
    #[error("a message announces {length_bytes} bytes, which is above the limit of {limit_bytes}")]
    MessageTooLong {
        /// What the count says.
        length_bytes: u64,
        /// What is allowed.
        limit_bytes: usize,
    },
    /// A message that ends with a newline is longer than the limit and is to be refused.
    #[error("a message is longer than the limit of {limit_bytes} bytes")]
    LineTooLong {
        /// What is allowed.
        limit_bytes: usize,
    },
    /// The connection ended inside a counted message. The messages before are whole.
    #[error("the connection ended {missing_bytes} bytes before the end of a message")]
    CutOff {
        /// How many bytes are known to be missing.
        missing_bytes: usize,
    },
}

/// What the bytes at the start of a frame are.
enum Start {
    /// Nothing yet: more bytes are needed to tell.
    Unknown,
    /// A message that ends with a newline.
    Line,
    /// A counted message: the bytes of the count with its space, and of the message.
    Counted { head_bytes: usize, length_bytes: u64 },
}

/// The state of one connection.
#[derive(Debug, Clone)]
pub struct Syslog {
    message_bytes_max: usize,
    overlong: Overlong,
    /// The next bytes continue a line of which pieces were taken, whatever they look like.
    is_inside_line: bool,
}

impl Default for Syslog {
    fn default() -> Syslog {
        Syslog::new(SYSLOG_MESSAGE_BYTES_MAX, Overlong::Split)
    }
}

impl Syslog {
    /// A connection whose messages may have `message_bytes_max` bytes, at least 1, and where lines
    /// above that are split or refused.
    pub fn new(message_bytes_max: usize, overlong: Overlong) -> Syslog {
        let message_bytes_max = message_bytes_max.max(1);
        Syslog { message_bytes_max, overlong, is_inside_line: false }
    }

    /// Appends where the messages that are complete in `input` lie, without counts and line ends.
    /// `input` begins where the last scan stopped. Empty lines and zero bytes between frames are
    /// passed over: senders put them behind counted messages.
    ///
    /// # Errors
    /// [`SyslogError::MessageTooLong`] and [`SyslogError::LineTooLong`]: close the connection. The
    /// messages before are in `messages` all the same.
    pub fn scan(&mut self, input: &[u8], messages: &mut Vec<Span>) -> Result<Scan, SyslogError> {
        let mut consumed = 0;
        loop {
            if !self.is_inside_line {
                consumed += between_frames(&input[consumed..]);
            }
            let rest = &input[consumed..];
            let wait = |needed| Ok(Scan { consumed, needed });
            match self.start_of(rest) {
                Start::Unknown => return wait(rest.len() + 1),
                Start::Counted { head_bytes, length_bytes } => {
                    let length = self.checked(length_bytes)?;
                    if rest.len() - head_bytes < length {
                        return wait(head_bytes + length);
                    }
                    let start = consumed + head_bytes;
                    consumed = start + length;
                    messages.push(Span::new(start, consumed));
                }
                Start::Line => match self.line(rest)? {
                    None => return wait(rest.len() + 1),
                    Some((length, taken)) => {
                        if length > 0 {
                            messages.push(Span::new(consumed, consumed + length));
                        }
                        consumed += taken;
                    }
                },
            }
        }
    }

    /// The message that a closed connection leaves: a last line needs no line end. `rest` is what
    /// the last scan left over.
    ///
    /// # Errors
    /// [`SyslogError::CutOff`] if the connection ended inside a counted message.
    pub fn finish(&self, rest: &[u8]) -> Result<Option<Span>, SyslogError> {
        match self.start_of(rest) {
            Start::Counted { head_bytes, length_bytes } => {
                let needed = head_bytes.saturating_add(length_bytes as usize);
                Err(SyslogError::CutOff { missing_bytes: needed.saturating_sub(rest.len()) })
            }
            _ => {
                let length = without_cr(rest);
                Ok((length > 0).then(|| Span::new(0, length)))
            }
        }
    }

    fn start_of(&self, rest: &[u8]) -> Start {
        if self.is_inside_line {
            return if rest.is_empty() { Start::Unknown } else { Start::Line };
        }
        match rest.first() {
            None => return Start::Unknown,
            Some(b'1'..=b'9') => {}
            Some(_) => return Start::Line,
        }
        let head = &rest[..rest.len().min(COUNT_DIGITS_MAX + 1)];
        let Some(digits) = head.iter().position(|byte| !byte.is_ascii_digit()) else {
            return if head.len() > COUNT_DIGITS_MAX { Start::Line } else { Start::Unknown };
        };
        if rest[digits] != b' ' {
            return Start::Line;
        }
        let digit = |number: u64, byte: &u8| number * 10 + u64::from(byte - b'0');
        let length_bytes = rest[..digits].iter().fold(0, digit);
        let counted = Start::Counted { head_bytes: digits + 1, length_bytes };
        if length_bytes <= self.message_bytes_max as u64 {
            return counted;
        }
        // A line may begin with a number too, such as a date. Only a message has a priority.
        match rest.get(digits + 1) {
            None => Start::Unknown,
            Some(b'<') => counted,
            Some(_) => Start::Line,
        }
    }

    fn checked(&self, length_bytes: u64) -> Result<usize, SyslogError> {
        let limit_bytes = self.message_bytes_max;
        if length_bytes > limit_bytes as u64 {
            return Err(SyslogError::MessageTooLong { length_bytes, limit_bytes });
        }
        Ok(length_bytes as usize)
    }

    /// The length of the message at the front of `rest` and the bytes that it takes with its line
    /// end, or `None` if more are needed.
    fn line(&mut self, rest: &[u8]) -> Result<Option<(usize, usize)>, SyslogError> {
        let limit_bytes = self.message_bytes_max;
        // Two bytes more, for a CR LF right behind a message at the limit.
        let window = &rest[..rest.len().min(limit_bytes + 2)];
        let line_end = memchr::memchr(b'\n', window);
        let length = without_cr(&window[..line_end.unwrap_or(window.len())]);
        match line_end {
            Some(line_end) if length <= limit_bytes => {
                self.is_inside_line = false;
                Ok(Some((length, line_end + 1)))
            }
            None if length <= limit_bytes => Ok(None),
            _ if self.overlong == Overlong::Refuse => Err(SyslogError::LineTooLong { limit_bytes }),
            _ => {
                self.is_inside_line = true;
                Ok(Some((limit_bytes, limit_bytes)))
            }
        }
    }
}

/// How many bytes at the front stand between frames.
fn between_frames(rest: &[u8]) -> usize {
    let is_between = |byte: &u8| matches!(byte, b'\n' | b'\r' | 0);
    rest.iter().position(|byte| !is_between(byte)).unwrap_or(rest.len())
}

/// The length of a line without the CR at its end.
fn without_cr(line: &[u8]) -> usize {
    line.strip_suffix(b"\r").unwrap_or(line).len()
}

#[cfg(test)]
mod tests;
