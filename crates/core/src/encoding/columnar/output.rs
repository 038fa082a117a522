//! The text that a decoder writes: a buffer of the announced length and a little more, so that
//! short pieces are copied in one step of a fixed length and what is behind them is written over.

use super::Corrupt;
use super::form::{FORM_BYTES, Form};
use super::plan::STEP;

/// What the buffer has behind the announced length: the longest piece that is written in one step.
pub(super) const SLACK: usize = 64;

const _: () = assert!(SLACK >= STEP && SLACK >= FORM_BYTES);

const TOO_LONG: Corrupt = Corrupt("a text of another length");

/// A text that is being written.
pub(super) struct Output<'a> {
    bytes: &'a mut [u8],
    at: usize,
}

impl<'a> Output<'a> {
    pub(super) fn new(bytes: &'a mut [u8]) -> Output<'a> {
        Output { bytes, at: 0 }
    }

    /// How much is written.
    pub(super) fn written(&self) -> usize {
        self.at
    }

    /// How much may still be written.
    pub(super) fn left(&self) -> usize {
        self.bytes.len().saturating_sub(self.at + SLACK)
    }

    #[inline(always)]
    fn room<const BYTES: usize>(&mut self) -> Result<&mut [u8; BYTES], Corrupt> {
        let rest = self.bytes.get_mut(self.at..).ok_or(TOO_LONG)?;
        rest.first_chunk_mut().ok_or(TOO_LONG)
    }

    /// Writes a byte.
    #[inline(always)]
    pub(super) fn byte(&mut self, byte: u8) -> Result<(), Corrupt> {
        *self.room::<1>()? = [byte];
        self.at += 1;
        Ok(())
    }

    /// Writes so many bytes from a place on.
    #[inline(always)]
    pub(super) fn copy(&mut self, from: &[u8], at: usize, length: usize) -> Result<(), Corrupt> {
        let rest = from.get(at..).ok_or(super::END)?;
        if length <= STEP
            && let Some(from) = rest.first_chunk::<STEP>()
        {
            *self.room::<STEP>()? = *from;
            self.at += length;
            return Ok(());
        }
        self.copy_long(rest.get(..length).ok_or(super::END)?)
    }

    #[inline(never)]
    fn copy_long(&mut self, from: &[u8]) -> Result<(), Corrupt> {
        let end = self.at + from.len();
        self.bytes.get_mut(self.at..end).ok_or(TOO_LONG)?.copy_from_slice(from);
        self.at = end;
        Ok(())
    }

    /// Writes bytes.
    pub(super) fn all(&mut self, from: &[u8]) -> Result<(), Corrupt> {
        self.copy_long(from)
    }

    /// Writes an integer in a form.
    #[inline(always)]
    pub(super) fn number(&mut self, form: Form, value: i64) -> Result<(), Corrupt> {
        let written = form.write(value, self.room::<FORM_BYTES>()?);
        self.at += written;
        Ok(())
    }

    /// Writes so many bytes, which `write` is given to write over.
    #[inline(always)]
    pub(super) fn with(
        &mut self,
        bytes: usize,
        write: impl FnOnce(&mut [u8]),
    ) -> Result<(), Corrupt> {
        let end = self.at + bytes;
        write(self.bytes.get_mut(self.at..end).ok_or(TOO_LONG)?);
        self.at = end;
        Ok(())
    }
}
