//! The two words that every machine answers with: where a record lies in the caller's buffer, and
//! how far the buffer was understood.

/// Where bytes lie in the buffer that was scanned. Half the size of a range and copied freely: a
/// read of short lines has thousands of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Span {
    /// The offset of the first byte.
    pub start: u32,
    /// The offset behind the last byte.
    pub end: u32,
}

impl Span {
    /// The bytes from `start` to before `end` of a buffer, which is shorter than 4 GiB.
    pub(crate) fn new(start: usize, end: usize) -> Span {
        debug_assert!(start <= end && end <= u32::MAX as usize);
        Span { start: start as u32, end: end as u32 }
    }

    /// How many bytes these are.
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether these are none.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The bytes themselves. `buffer` is the one that was scanned, before anything was removed.
    ///
    /// # Panics
    /// If the span is not inside `buffer`, which is then another one.
    pub fn of(self, buffer: &[u8]) -> &[u8] {
        &buffer[self.start as usize..self.end as usize]
    }
}

/// How far a buffer was understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scan {
    /// How many bytes from the front are done with. The caller removes them and keeps the rest.
    pub consumed: usize,
    /// How many bytes, counted from `consumed`, there must be before the machine can get further,
    /// as far as it knows: always more than are there, and never more than its limit and a frame
    /// around it. A caller whose buffer is smaller takes one of this size.
    pub needed: usize,
}
