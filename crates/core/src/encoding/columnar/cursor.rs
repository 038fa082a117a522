//! A place in encoded bytes. Every read is checked here, so that the decoder says what it wants and
//! never how far it may go.

use super::{Corrupt, END, scan};

/// A place in encoded bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor { bytes, at: 0 }
    }

    /// Bytes read so far.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// The next eight bytes, the first one lowest; zeros after the end.
    #[inline(always)]
    pub(super) fn word(&self) -> u64 {
        scan::load_8(self.bytes, self.at)
    }

    /// Goes on behind so many bytes, which are there.
    #[inline(always)]
    pub(super) fn skip(&mut self, count: usize) {
        self.at += count;
    }

    /// Bytes that are left.
    pub(super) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The next byte.
    #[inline]
    pub(super) fn byte(&mut self) -> Result<u8, Corrupt> {
        let byte = *self.bytes.get(self.at).ok_or(END)?;
        self.at += 1;
        Ok(byte)
    }

    /// The next so many bytes.
    #[inline]
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], Corrupt> {
        let end = self.at.checked_add(count).ok_or(END)?;
        let taken = self.bytes.get(self.at..end).ok_or(END)?;
        self.at = end;
        Ok(taken)
    }

    /// The bytes up to the next terminator, which is skipped.
    #[inline]
    pub(super) fn text(&mut self) -> Result<&'a [u8], Corrupt> {
        let rest = &self.bytes[self.at..];
        let end = scan::before(super::TERMINATOR, rest).ok_or(END)?;
        self.at += end + 1;
        Ok(&rest[..end])
    }
}
