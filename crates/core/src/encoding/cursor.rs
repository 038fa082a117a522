//! The one cursor over untrusted bytes: every binary decoder reads through it, so that a length
//! found in the input is compared with what is left in one place, before anything is sliced.
//!
//! What must not change: no method panics whatever the bytes are, none moves past the end, and
//! none allocates from a length that the input names. The document's text is the input itself, so
//! that a string is a span of it and is never copied. The children are what else the binary
//! encodings share: `text` and `number` for the way out, `testing` for their tests.

pub(super) mod number;
#[cfg(test)]
pub(super) mod testing;
pub(super) mod text;

use self::text::{find_nul, is_utf8};
use super::DecodeError;
use crate::document::{Document, Node, Span};

/// A position in bytes that nobody vouches for.
pub(super) struct Cursor<'a> {
    encoding: &'static str,
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Cursor<'a> {
    /// Clears the document, makes `bytes` its text and starts reading them.
    pub(super) fn start(
        encoding: &'static str,
        bytes: &'a [u8],
        document: &mut Document,
    ) -> Result<Cursor<'a>, DecodeError> {
        document.clear();
        document.push_text(bytes)?;
        Ok(Cursor { encoding, bytes, position: 0 })
    }

    /// Where the next byte stands.
    #[inline]
    pub(super) fn position(&self) -> usize {
        self.position
    }

    /// How many bytes are left.
    #[inline]
    pub(super) fn remaining(&self) -> usize {
        self.bytes.len() - self.position
    }

    /// The next byte, which stays the next one.
    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.position).copied()
    }

    /// The byte `ahead` of the next one.
    #[inline]
    pub(super) fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.position + ahead).copied()
    }

    /// A number in groups of 7 bits, lowest first, as Protobuf, Thrift and Avro write it: at most
    /// 10 bytes, of which bits above 64 must not be set.
    #[inline]
    pub(super) fn varint(&mut self) -> Result<u64, DecodeError> {
        let first = self.byte()?;
        if first < 0x80 {
            return Ok(u64::from(first));
        }
        let mut value = u64::from(first & 0x7F);
        for place in 1..10 {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7F) << (7 * place);
            if byte < 0x80 {
                if place == 9 && byte > 1 {
                    break;
                }
                return Ok(value);
            }
        }
        Err(self.corrupt("a number of more than 64 bits"))
    }

    /// The same with the sign in the lowest bit.
    #[inline]
    pub(super) fn zigzag(&mut self) -> Result<i64, DecodeError> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// The next byte.
    #[inline]
    pub(super) fn byte(&mut self) -> Result<u8, DecodeError> {
        match self.bytes.get(self.position) {
            Some(&byte) => {
                self.position += 1;
                Ok(byte)
            }
            None => Err(self.ends_early()),
        }
    }

    /// The next `N` bytes.
    #[inline]
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        match self.bytes[self.position..].first_chunk::<N>() {
            Some(chunk) => {
                self.position += N;
                Ok(*chunk)
            }
            None => Err(self.ends_early()),
        }
    }

    /// The next `length` bytes.
    #[inline]
    pub(super) fn take(&mut self, length: u64) -> Result<&'a [u8], DecodeError> {
        if length > self.remaining() as u64 {
            return Err(self.ends_early());
        }
        let start = self.position;
        self.position += length as usize;
        Ok(&self.bytes[start..self.position])
    }

    /// The bytes up to `terminator`, which is passed too; made for long strings.
    #[inline]
    pub(super) fn take_until(&mut self, terminator: u8) -> Result<&'a [u8], DecodeError> {
        let rest = &self.bytes[self.position..];
        self.take_terminated(rest, memchr::memchr(terminator, rest))
    }

    /// The bytes up to a NUL, which is passed too; made for short strings.
    #[inline]
    pub(super) fn take_until_nul(&mut self) -> Result<&'a [u8], DecodeError> {
        let rest = &self.bytes[self.position..];
        self.take_terminated(rest, find_nul(rest))
    }

    #[inline]
    fn take_terminated(
        &mut self,
        rest: &'a [u8],
        length: Option<usize>,
    ) -> Result<&'a [u8], DecodeError> {
        match length {
            Some(length) => {
                self.position += length + 1;
                Ok(&rest[..length])
            }
            None => Err(self.ends_early()),
        }
    }

    /// A string of `length` bytes, checked to be UTF-8.
    #[inline]
    pub(super) fn text(&mut self, length: u64) -> Result<Span, DecodeError> {
        let start = self.position;
        let bytes = self.take(length)?;
        if !is_utf8(bytes) {
            return Err(self.corrupt_at(start, "a string that is not UTF-8"));
        }
        Ok(self.span(start, bytes.len()))
    }

    /// The span of the document's text that is `length` bytes of the input from `start`.
    #[inline]
    pub(super) fn span(&self, start: usize, length: usize) -> Span {
        // The document took the input as its text, so that offsets are known to fit.
        Span { start: start as u32, length: length as u32 }
    }

    /// A declared number of values, each of which takes at least `bytes_each`; more of them than
    /// the rest of the input can hold are refused before anything relies on them.
    #[inline]
    pub(super) fn count(&self, declared: u64, bytes_each: u64) -> Result<u32, DecodeError> {
        if declared > self.remaining() as u64 / bytes_each {
            return Err(self.ends_early());
        }
        Ok(declared as u32)
    }

    /// The node of a float that began at `start`, if JSON can say it.
    #[inline]
    pub(super) fn float(&self, value: f64, start: usize) -> Result<Node, DecodeError> {
        if !value.is_finite() {
            return Err(self.not_json_at(start, "NaN or an infinity"));
        }
        Ok(Node::Float(value))
    }

    /// Refuses bytes after the value.
    pub(super) fn finish(&self) -> Result<(), DecodeError> {
        if self.remaining() > 0 {
            return Err(self.corrupt_at(self.position, "bytes after the value"));
        }
        Ok(())
    }

    /// The error for input that ends before the value does.
    #[cold]
    pub(super) fn ends_early(&self) -> DecodeError {
        self.corrupt_at(self.bytes.len(), "the end of the input within a value")
    }

    /// The error for the byte that was read last.
    #[cold]
    pub(super) fn corrupt(&self, what: &'static str) -> DecodeError {
        self.corrupt_at(self.position.saturating_sub(1), what)
    }

    /// The error for bytes that break the rules of the encoding.
    #[cold]
    pub(super) fn corrupt_at(&self, offset: usize, what: &'static str) -> DecodeError {
        DecodeError::Corrupt { encoding: self.encoding, what, offset }
    }

    /// The error for a well-formed value that JSON can't say, which began with the byte that was
    /// read last.
    #[cold]
    pub(super) fn not_json(&self, what: &'static str) -> DecodeError {
        self.not_json_at(self.position.saturating_sub(1), what)
    }

    /// The error for a well-formed value that JSON can't say.
    #[cold]
    pub(super) fn not_json_at(&self, offset: usize, what: &'static str) -> DecodeError {
        DecodeError::NotJson { encoding: self.encoding, what, offset }
    }
}
