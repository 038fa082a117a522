//! Bytes that are written one short piece after the other: pieces are copied in steps of a fixed
//! length, which may write beyond the end of the piece and so need no loop over it.

/// Bytes that grow at their end.
#[derive(Debug, Default)]
pub(super) struct Sink {
    bytes: Vec<u8>,
    /// How many of them are written.
    at: usize,
}

/// What is written beyond the end of a piece.
const SLACK: usize = 32;

impl Sink {
    pub(super) fn clear(&mut self) {
        self.at = 0;
    }

    pub(super) fn written(&self) -> &[u8] {
        &self.bytes[..self.at]
    }

    /// How much is written.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Takes back what was written from a place on.
    pub(super) fn back_to(&mut self, at: usize) {
        self.at = self.at.min(at);
    }

    /// Makes room for so many bytes.
    #[inline(always)]
    fn room(&mut self, bytes: usize) {
        if self.bytes.len() - self.at < bytes {
            self.grow(bytes);
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, bytes: usize) {
        let wanted = self.at + bytes;
        self.bytes.resize(wanted.max(2 * self.bytes.len()).max(1 << 10), 0);
    }

    /// Appends a part of a text, and a byte after it.
    #[inline(always)]
    pub(super) fn text(&mut self, text: &[u8], start: usize, end: usize, after: u8) {
        let length = end - start;
        self.room(length + 1 + SLACK);
        let (from, to) = (&text[start..], &mut self.bytes[self.at..]);
        if length <= 16
            && let Some(from) = from.first_chunk::<16>()
            && let Some(to) = to.first_chunk_mut::<16>()
        {
            *to = *from;
        } else if length <= 32
            && let Some(from) = from.first_chunk::<32>()
            && let Some(to) = to.first_chunk_mut::<32>()
        {
            *to = *from;
        } else {
            to[..length].copy_from_slice(&from[..length]);
        }
        to[length] = after;
        self.at += length + 1;
    }
}
