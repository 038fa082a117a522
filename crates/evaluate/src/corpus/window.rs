//! The part of a source that is in memory: the value that is being read, and one read more.
//!
//! Readers look at [`Window::data`], ask for more with [`Window::fill`] and pass what they are done
//! with to [`Window::consume`]. A value must be at the start of the window when more is asked for:
//! then each value is moved at most once, and reading is linear. Lines are counted here only.

use std::io::{ErrorKind, Read};

use super::meter::Meter;
use super::unpack::Packing;

/// How much is read at once, in bytes.
pub(super) const CHUNK_BYTES: usize = 256 << 10;

/// Why there is no more.
#[derive(Debug, PartialEq, Eq)]
enum End {
    /// All of the source was read.
    Complete,
    /// The caller said stop.
    Stopped,
    /// The source could not be read further.
    Failed(String),
}

/// A source, seen through a buffer.
pub(super) struct Window<'a> {
    input: Box<dyn Read + 'a>,
    packing: Packing,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    buffer_bytes_max: usize,
    line: u64,
    column: u64,
    offset: u64,
    ended: Option<End>,
}

impl<'a> Window<'a> {
    /// A window that values of up to `limit_bytes` fit in.
    pub(super) fn new(
        input: Box<dyn Read + 'a>,
        packing: Packing,
        limit_bytes: usize,
    ) -> Window<'a> {
        Window {
            input,
            packing,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            buffer_bytes_max: limit_bytes.saturating_add(CHUNK_BYTES),
            line: 1,
            column: 0,
            offset: 0,
            ended: None,
        }
    }

    /// What is in memory and not consumed.
    #[inline]
    pub(super) fn data(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// The line of the first byte of the data, from 1.
    #[inline]
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// How many bytes of its line stand before the first byte of the data.
    pub(super) fn column(&self) -> u64 {
        self.column
    }

    /// How many bytes were consumed.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Whether the source was read to its end; false also where it was cut or stopped, and what
    /// stands last may be a part only.
    pub(super) fn is_complete(&self) -> bool {
        self.ended == Some(End::Complete)
    }

    /// Why the source could not be read to its end, unless that was the caller's wish.
    pub(super) fn failure(&self) -> Option<&str> {
        match &self.ended {
            Some(End::Failed(reason)) => Some(reason),
            _ => None,
        }
    }

    /// How large the buffer is, in bytes.
    #[cfg(test)]
    pub(super) fn buffer_bytes(&self) -> usize {
        self.buffer.capacity()
    }

    /// The first byte, after reading if need be; `None` at the end.
    #[inline]
    pub(super) fn first(&mut self, meter: &mut Meter<'_>) -> Option<u8> {
        while self.start == self.end {
            if !self.fill(meter) {
                return None;
            }
        }
        Some(self.buffer[self.start])
    }

    /// Reads more behind the data; false at the end.
    pub(super) fn fill(&mut self, meter: &mut Meter<'_>) -> bool {
        if self.ended.is_some() {
            return false;
        }
        if self.start > 0 && self.buffer.len() - self.end < CHUNK_BYTES {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.buffer.len() {
            let doubled = (self.buffer.len() * 2).min(self.buffer_bytes_max);
            let length = doubled.max(self.end + CHUNK_BYTES);
            self.buffer.reserve_exact(length - self.end);
            self.buffer.resize(length, 0);
        }
        let room_end = self.buffer.len().min(self.end + CHUNK_BYTES);
        let result = loop {
            match self.input.read(&mut self.buffer[self.end..room_end]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        match result {
            Ok(0) => self.ended = Some(End::Complete),
            Ok(count) => {
                self.end += count;
                if !meter.add_bytes(count) {
                    self.ended = Some(End::Stopped);
                }
                return true;
            }
            Err(error) => self.ended = Some(End::Failed(self.packing.explain(&error))),
        }
        false
    }

    /// Passes over the first `count` bytes of the data.
    pub(super) fn consume(&mut self, count: usize) {
        let consumed = &self.buffer[self.start..self.start + count];
        match memchr::memrchr(b'\n', consumed) {
            None => self.column += count as u64,
            Some(last) => {
                self.column = (count - last - 1) as u64;
                self.line += memchr::memchr_iter(b'\n', &consumed[..=last]).count() as u64;
            }
        }
        self.offset += count as u64;
        self.start += count;
    }

    /// The offset of the next line break in the data, or of the end of the source, reading up to
    /// `within_bytes`; `None` if the line is longer or was cut.
    pub(super) fn line_end(&mut self, within_bytes: usize, meter: &mut Meter<'_>) -> Option<usize> {
        let mut searched = 0;
        loop {
            if let Some(found) = memchr::memchr(b'\n', &self.data()[searched..]) {
                return Some(searched + found);
            }
            searched = self.data().len();
            if searched > within_bytes {
                return None;
            }
            if !self.fill(meter) {
                return self.is_complete().then_some(searched);
            }
        }
    }

    /// Passes over everything up to and with the next line break at or after `from`, holding no
    /// more than a read of it; false at the end of the source.
    pub(super) fn skip_line(&mut self, from: usize, meter: &mut Meter<'_>) -> bool {
        self.consume(from.min(self.data().len()));
        loop {
            if let Some(found) = memchr::memchr(b'\n', self.data()) {
                self.consume(found + 1);
                return true;
            }
            self.consume(self.data().len());
            if !self.fill(meter) {
                return false;
            }
        }
    }
}
