//! The text that a decoder writes: a buffer of the announced length and a little more, so that
//! short pieces are copied in one step of a fixed length and what is behind them is written over.
//!
//! Nothing here is told apart by where it fails: what does not fit is a text of another length.

use std::mem;

use super::form::{FORM_BYTES, Form};

/// Short pieces are copied in steps of so many bytes.
pub(super) const STEP: usize = 32;

/// What the buffer has behind the announced length: the longest piece that is written in one step.
pub(super) const SLACK: usize = 72;

/// A short text and the quotes around it, one that takes two steps, and a number in quotes.
const QUOTED: usize = STEP + 2;
const QUOTED_TWICE: usize = 2 * STEP + 2;
const QUOTED_FORM: usize = FORM_BYTES + 2;

const _: () = assert!(SLACK >= QUOTED_TWICE && SLACK >= QUOTED_FORM);

/// A text that is being written: what of its buffer is left. Only what takes long is a call, and
/// gets the buffer by value, so that it stays in registers.
pub(super) struct Output<'a> {
    rest: &'a mut [u8],
}

impl<'a> Output<'a> {
    pub(super) fn new(rest: &'a mut [u8]) -> Output<'a> {
        Output { rest }
    }

    /// How much of the buffer is not written.
    #[inline(always)]
    pub(super) fn left(&self) -> usize {
        self.rest.len()
    }

    #[inline(always)]
    fn room<const BYTES: usize>(&mut self) -> Option<&mut [u8; BYTES]> {
        self.rest.first_chunk_mut()
    }

    /// Goes on behind so many bytes, which are written.
    #[inline(always)]
    fn skip(&mut self, bytes: usize) -> Option<()> {
        self.rest = mem::take(&mut self.rest).get_mut(bytes..)?;
        Some(())
    }

    /// Writes a byte.
    #[inline(always)]
    pub(super) fn byte(&mut self, byte: u8) -> Option<()> {
        *self.room::<1>()? = [byte];
        self.skip(1)
    }

    /// Writes two bytes.
    #[inline(always)]
    pub(super) fn pair(&mut self, pair: [u8; 2]) -> Option<()> {
        *self.room::<2>()? = pair;
        self.skip(2)
    }

    /// Writes the first so many bytes, but another one for the first of them.
    #[inline(always)]
    pub(super) fn short_with<const BYTES: usize>(
        &mut self,
        first: u8,
        from: &[u8; BYTES],
        length: usize,
    ) -> Option<()> {
        let room = self.room::<BYTES>()?;
        *room = *from;
        room[0] = first;
        self.skip(length)
    }

    /// Writes the first so many bytes.
    #[inline(always)]
    pub(super) fn short<const BYTES: usize>(
        &mut self,
        from: &[u8; BYTES],
        length: usize,
    ) -> Option<()> {
        *self.room::<BYTES>()? = *from;
        self.skip(length)
    }

    /// Writes so many bytes from a place on.
    #[inline(always)]
    pub(super) fn copy(&mut self, from: &[u8], at: u32, length: u32) -> Option<()> {
        let (at, length) = (at as usize, length as usize);
        if length <= STEP
            && let Some(from) = step::<STEP>(from, at)
        {
            return self.short(from, length);
        }
        self.rest = copy_long(mem::take(&mut self.rest), from.get(at..at + length)?)?;
        Some(())
    }

    /// Writes so many bytes from a place on, in quotes.
    #[inline(always)]
    pub(super) fn quoted(&mut self, from: &[u8], at: u32, length: u32) -> Option<()> {
        let (at, length) = (at as usize, length as usize);
        if length <= STEP
            && let Some(from) = step::<STEP>(from, at)
        {
            let room = self.room::<QUOTED>()?;
            room[0] = b'"';
            room[1..=STEP].copy_from_slice(from);
            room[1 + length] = b'"';
            return self.skip(length + 2);
        }
        if length <= 2 * STEP
            && let Some(from) = step::<{ 2 * STEP }>(from, at)
        {
            let room = self.room::<QUOTED_TWICE>()?;
            room[0] = b'"';
            room[1..=2 * STEP].copy_from_slice(from);
            room[1 + length] = b'"';
            return self.skip(length + 2);
        }
        self.byte(b'"')?;
        self.rest = copy_long(mem::take(&mut self.rest), from.get(at..at + length)?)?;
        self.byte(b'"')
    }

    /// Writes bytes.
    pub(super) fn all(&mut self, from: &[u8]) -> Option<()> {
        self.rest = copy_long(mem::take(&mut self.rest), from)?;
        Some(())
    }

    /// Writes an integer in a form.
    #[inline(always)]
    pub(super) fn number(&mut self, form: Form, value: i64) -> Option<()> {
        let written = form.write(value, self.room::<FORM_BYTES>()?);
        self.skip(written)
    }

    /// Writes an integer in a form, in quotes.
    #[inline(always)]
    pub(super) fn quoted_number(&mut self, form: Form, value: i64) -> Option<()> {
        let room = self.room::<QUOTED_FORM>()?;
        room[0] = b'"';
        let written = form.write(value, room[1..].first_chunk_mut()?);
        *room.get_mut(1 + written)? = b'"';
        self.skip(2 + written)
    }

    /// Writes so many bytes, which `write` is given to write over.
    #[inline(always)]
    pub(super) fn with(&mut self, bytes: usize, write: impl FnOnce(&mut [u8])) -> Option<()> {
        write(self.rest.get_mut(..bytes)?);
        self.skip(bytes)
    }
}

/// Copies bytes to a buffer, and returns what of it is left.
#[inline(never)]
fn copy_long<'a>(to: &'a mut [u8], from: &[u8]) -> Option<&'a mut [u8]> {
    let (to, rest) = to.split_at_mut_checked(from.len())?;
    to.copy_from_slice(from);
    Some(rest)
}

/// As many bytes from a place on as are copied at once.
#[inline(always)]
fn step<const BYTES: usize>(from: &[u8], at: usize) -> Option<&[u8; BYTES]> {
    from.get(at..at + BYTES)?.first_chunk()
}
