//! Lines: the plainest protocol. A record is a line, or a 32-bit big-endian length and as many
//! bytes. Nothing is answered.
//!
//! Borders are found by one vector pass over all that was read. A caller that only stores lines
//! asks for the last border ([`Lines::scan_block`]) and never sees one.

use crate::limits::LINE_BYTES_MAX;
use crate::scan::{Scan, Span};

/// The bytes of a length in front of a record.
pub const LENGTH_BYTES: usize = 4;

/// How a record ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// By LF, or CR LF; neither is part of the record. Empty lines are records.
    Newline,
    /// By the length in front of it, 32 bits, big endian. It may hold any bytes.
    LengthPrefixed,
}

/// What becomes of a line above the limit. A length-prefixed record above it is always an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overlong {
    /// It becomes several records, each but the last as long as the limit: no byte is lost, and a
    /// client that logs such a line again after a reconnect is not shut out.
    Split,
    /// It is an error, which closes the connection.
    Refuse,
}

/// What ends a connection that sends lines.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LinesError {
    /// A line is longer than the limit and is to be refused.
    #[error("a line is longer than the limit of {limit_bytes} bytes")]
    LineTooLong {
        /// What is allowed.
        limit_bytes: usize,
    },
    /// A length is above the limit. What follows can't be trusted.
    #[error("a record announces {length_bytes} bytes, which is above the limit of {limit_bytes}")]
    RecordTooLong {
        /// What the length says.
        length_bytes: u32,
        /// What is allowed.
        limit_bytes: usize,
    },
    /// The connection ended inside a length-prefixed record. The records before are whole.
    #[error("the connection ended {missing_bytes} bytes before the end of a record")]
    CutOff {
        /// How many bytes are known to be missing.
        missing_bytes: usize,
    },
}

/// How far a buffer was understood, for a caller that stores its records without looking at them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// How far: everything before is whole records with their line ends or lengths.
    pub scan: Scan,
    /// How many records these are.
    pub records: usize,
}

/// The machine. It has no state but its options: everything else is in the caller's buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lines {
    framing: Framing,
    line_bytes_max: usize,
    overlong: Overlong,
}

impl Default for Lines {
    fn default() -> Lines {
        Lines::new(Framing::Newline, LINE_BYTES_MAX, Overlong::Split)
    }
}

impl Lines {
    /// A machine for records of at most `line_bytes_max` bytes, which is at least 1. Line ends and
    /// lengths do not count.
    pub fn new(framing: Framing, line_bytes_max: usize, overlong: Overlong) -> Lines {
        Lines { framing, line_bytes_max: line_bytes_max.max(1), overlong }
    }

    /// Appends where the records that are complete in `input` lie, without line ends or lengths.
    /// `input` begins where the last scan stopped.
    ///
    /// # Errors
    /// [`LinesError::LineTooLong`] and [`LinesError::RecordTooLong`]: close the connection. The
    /// records before are in `records` all the same.
    pub fn scan(self, input: &[u8], records: &mut Vec<Span>) -> Result<Scan, LinesError> {
        match self.framing {
            Framing::Newline => self.scan_newlines(input, |span| records.push(span)),
            Framing::LengthPrefixed => self.scan_lengths(input, |span| records.push(span)),
        }
    }

    /// The same without listing the records: how far whole records go, and how many they are.
    ///
    /// # Errors
    /// As for [`scan`](Lines::scan), with nothing said of the records before.
    pub fn scan_block(self, input: &[u8]) -> Result<Block, LinesError> {
        // No line can be above the limit if all of them together are not.
        if self.framing == Framing::Newline && input.len() <= self.line_bytes_max {
            let consumed = memchr::memrchr(b'\n', input).map_or(0, |last| last + 1);
            let records = memchr::memchr_iter(b'\n', &input[..consumed]).count();
            let scan = Scan { consumed, needed: input.len() - consumed + 1 };
            return Ok(Block { scan, records });
        }
        let mut records = 0;
        let count = |_| records += 1;
        let scan = match self.framing {
            Framing::Newline => self.scan_newlines(input, count)?,
            Framing::LengthPrefixed => self.scan_lengths(input, count)?,
        };
        Ok(Block { scan, records })
    }

    /// The record that a closed connection leaves: a last line needs no line end. `rest` is what
    /// the last scan left over.
    ///
    /// # Errors
    /// [`LinesError::CutOff`] if the connection ended inside a length-prefixed record.
    pub fn finish(self, rest: &[u8]) -> Result<Option<Span>, LinesError> {
        if rest.is_empty() {
            return Ok(None);
        }
        let needed = match (self.framing, rest.first_chunk::<LENGTH_BYTES>()) {
            (Framing::Newline, _) => {
                return Ok(Some(Span::new(0, without_cr(rest, 0, rest.len()))));
            }
            (Framing::LengthPrefixed, None) => LENGTH_BYTES,
            (Framing::LengthPrefixed, Some(length)) => {
                LENGTH_BYTES + u32::from_be_bytes(*length) as usize
            }
        };
        Err(LinesError::CutOff { missing_bytes: needed.saturating_sub(rest.len()) })
    }

    fn scan_newlines(self, input: &[u8], mut found: impl FnMut(Span)) -> Result<Scan, LinesError> {
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', input) {
            start = self.split(input, start, end, &mut found)?;
            found(Span::new(start, without_cr(input, start, end)));
            start = end + 1;
        }
        // What is above the limit now is so wherever the line will end.
        start = self.split(input, start, input.len(), &mut found)?;
        Ok(Scan { consumed: start, needed: input.len() - start + 1 })
    }

    /// Cuts pieces off a line until the rest, up to `end`, is within the limit. Answers where the
    /// rest starts. A CR right behind the limit may be half of a line end, so it is no excess yet.
    fn split(
        self,
        input: &[u8],
        mut start: usize,
        end: usize,
        found: &mut impl FnMut(Span),
    ) -> Result<usize, LinesError> {
        let limit_bytes = self.line_bytes_max;
        while end - start > limit_bytes {
            if end - start == limit_bytes + 1 && input[end - 1] == b'\r' {
                break;
            }
            if self.overlong == Overlong::Refuse {
                return Err(LinesError::LineTooLong { limit_bytes });
            }
            found(Span::new(start, start + limit_bytes));
            start += limit_bytes;
        }
        Ok(start)
    }

    fn scan_lengths(self, input: &[u8], mut found: impl FnMut(Span)) -> Result<Scan, LinesError> {
        let mut consumed = 0;
        loop {
            let rest = &input[consumed..];
            let Some(length) = rest.first_chunk::<LENGTH_BYTES>() else {
                return Ok(Scan { consumed, needed: LENGTH_BYTES });
            };
            let length_bytes = u32::from_be_bytes(*length);
            let length = length_bytes as usize;
            if length > self.line_bytes_max {
                let limit_bytes = self.line_bytes_max;
                return Err(LinesError::RecordTooLong { length_bytes, limit_bytes });
            }
            if rest.len() - LENGTH_BYTES < length {
                return Ok(Scan { consumed, needed: LENGTH_BYTES + length });
            }
            let start = consumed + LENGTH_BYTES;
            consumed = start + length;
            found(Span::new(start, consumed));
        }
    }
}

/// Where the line from `start` to the LF at `end` ends without its CR.
fn without_cr(input: &[u8], start: usize, end: usize) -> usize {
    if end > start && input[end - 1] == b'\r' { end - 1 } else { end }
}

#[cfg(test)]
mod tests;
