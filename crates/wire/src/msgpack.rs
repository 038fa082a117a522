//! MessagePack as the forward protocol needs it: where a value ends, however it was cut; its
//! tokens one by one; and its JSON text. Nothing recurses and nothing is allocated for what a
//! header claims, so a few bytes that promise four billion elements cost nothing.

mod text;

pub use text::write_json;

use crate::limits::MSGPACK_DEPTH_MAX;

/// Why bytes are not taken as MessagePack.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MsgpackError {
    /// The byte 0xc1, which stands for nothing.
    #[error("the byte 0xc1 is no MessagePack")]
    Reserved,
    /// Values nest deeper than [`MSGPACK_DEPTH_MAX`].
    #[error("values nest deeper than {MSGPACK_DEPTH_MAX}")]
    TooDeep,
    /// A value is longer than the limit, or announces so many elements that it must be.
    #[error("a value is longer than the limit of {limit_bytes} bytes")]
    TooLong {
        /// What is allowed.
        limit_bytes: usize,
    },
    /// The bytes end inside a value.
    #[error("the bytes end inside a value")]
    CutOff,
    /// A value is of another kind than the protocol says, or a map's key is no scalar.
    #[error("{0}")]
    Unexpected(&'static str),
}

/// One token: a whole scalar, or the head of an array or map whose elements follow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Token<'a> {
    /// `nil`.
    Nil,
    /// `true` or `false`.
    Bool(bool),
    /// An integer that is not negative.
    Unsigned(u64),
    /// An integer that was written with a sign.
    Signed(i64),
    /// A float of either length.
    Float(f64),
    /// A text; the bytes need not be UTF-8.
    Text(&'a [u8]),
    /// Bytes.
    Binary(&'a [u8]),
    /// An extension with its type.
    Extension(i8, &'a [u8]),
    /// An array of this many elements.
    Array(u32),
    /// A map of this many pairs.
    Map(u32),
}

/// What the first bytes of a value say about it.
struct Head {
    /// The bytes in front of the payload.
    head_bytes: usize,
    /// The bytes of the payload.
    payload_bytes: usize,
    /// The values that follow and belong to it.
    children: u64,
}

/// The head at the front of `input`; `Err` with the bytes that are needed to tell.
fn head(input: &[u8]) -> Result<Result<Head, usize>, MsgpackError> {
    let Some(&kind) = input.first() else { return Ok(Err(1)) };
    // How long the length behind the kind is, and whether an extension's type follows it.
    let length_bytes = match kind {
        0xC4 | 0xC7 | 0xD9 => 1,
        0xC5 | 0xC8 | 0xDA | 0xDC | 0xDE => 2,
        0xC6 | 0xC9 | 0xDB | 0xDD | 0xDF => 4,
        _ => 0,
    };
    let Some(length) = input.get(1..1 + length_bytes) else { return Ok(Err(1 + length_bytes)) };
    let length = length.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    let (payload_bytes, children) = match kind {
        0x80..=0x8F => (0, 2 * u64::from(kind & 0x0F)),
        0x90..=0x9F => (0, u64::from(kind & 0x0F)),
        0xA0..=0xBF => (usize::from(kind & 0x1F), 0),
        0xC1 => return Err(MsgpackError::Reserved),
        0xC4..=0xC6 | 0xD9..=0xDB => (length as usize, 0),
        // The type of an extension counts as payload here.
        0xC7..=0xC9 => (length as usize + 1, 0),
        0xCA | 0xCE | 0xD2 => (4, 0),
        0xCB | 0xCF | 0xD3 => (8, 0),
        0xCC | 0xD0 => (1, 0),
        0xCD | 0xD1 => (2, 0),
        0xD4..=0xD8 => ((1 << (kind - 0xD4)) + 1, 0),
        0xDC | 0xDD => (0, length),
        0xDE | 0xDF => (0, 2 * length),
        _ => (0, 0),
    };
    Ok(Ok(Head { head_bytes: 1 + length_bytes, payload_bytes, children }))
}

/// How far a value was walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Walk {
    /// It ends before this offset.
    Complete(usize),
    /// There must be at least this many bytes before it goes on.
    Needs(usize),
}

/// Finds the end of one value. It goes on where it stopped, so a value that comes in a thousand
/// reads is walked once.
#[derive(Debug, Clone, Default)]
pub struct Walker {
    offset: usize,
    /// How many values are still to come in each array or map that is open.
    open: Vec<u64>,
}

impl Walker {
    /// Walks on. `input` begins with the value and is at least what it was before; the value may
    /// have `limit_bytes`.
    ///
    /// # Errors
    /// [`MsgpackError::Reserved`], [`MsgpackError::TooDeep`] and [`MsgpackError::TooLong`].
    pub fn walk(&mut self, input: &[u8], limit_bytes: usize) -> Result<Walk, MsgpackError> {
        loop {
            let found = head(input.get(self.offset..).unwrap_or_default())?;
            let Head { head_bytes, payload_bytes, children } = match found {
                Ok(head) => head,
                Err(needed) => return Ok(Walk::Needs(self.offset + needed)),
            };
            let end = self.offset.saturating_add(head_bytes).saturating_add(payload_bytes);
            // Every child takes a byte at least.
            if end as u64 + children > limit_bytes as u64 {
                return Err(MsgpackError::TooLong { limit_bytes });
            }
            if end > input.len() {
                return Ok(Walk::Needs(end));
            }
            self.offset = end;
            if children > 0 {
                if self.open.len() == MSGPACK_DEPTH_MAX {
                    return Err(MsgpackError::TooDeep);
                }
                self.open.push(children);
                continue;
            }
            while let Some(children) = self.open.last_mut() {
                *children -= 1;
                if *children > 0 {
                    break;
                }
                self.open.pop();
            }
            if self.open.is_empty() {
                return Ok(Walk::Complete(self.offset));
            }
        }
    }
}

/// Reads values from the front of bytes that are all there.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// A reader of these bytes.
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { rest: bytes }
    }

    /// The bytes that are not read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next token.
    ///
    /// # Errors
    /// [`MsgpackError::CutOff`] and [`MsgpackError::Reserved`].
    pub fn token(&mut self) -> Result<Token<'a>, MsgpackError> {
        let Ok(Head { head_bytes, payload_bytes, children }) = head(self.rest)? else {
            return Err(MsgpackError::CutOff);
        };
        let kind = self.rest[0];
        let end = head_bytes.saturating_add(payload_bytes);
        let payload = self.rest.get(head_bytes..end).ok_or(MsgpackError::CutOff)?;
        self.rest = &self.rest[end..];
        let number = || payload.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        Ok(match kind {
            0x00..=0x7F => Token::Unsigned(u64::from(kind)),
            0x80..=0x8F | 0xDE | 0xDF => Token::Map((children / 2) as u32),
            0x90..=0x9F | 0xDC | 0xDD => Token::Array(children as u32),
            0xA0..=0xBF | 0xD9..=0xDB => Token::Text(payload),
            0xC2 | 0xC3 => Token::Bool(kind == 0xC3),
            0xC4..=0xC6 => Token::Binary(payload),
            0xC7..=0xC9 | 0xD4..=0xD8 => Token::Extension(payload[0] as i8, &payload[1..]),
            0xCA => Token::Float(f32::from_bits(number() as u32).into()),
            0xCB => Token::Float(f64::from_bits(number())),
            0xCC..=0xCF => Token::Unsigned(number()),
            0xD0 => Token::Signed(i64::from(number() as i8)),
            0xD1 => Token::Signed(i64::from(number() as i16)),
            0xD2 => Token::Signed(i64::from(number() as i32)),
            0xD3 => Token::Signed(number() as i64),
            0xE0..=0xFF => Token::Signed(i64::from(kind as i8)),
            _ => Token::Nil,
        })
    }

    /// The bytes of the next value, whatever it is.
    ///
    /// # Errors
    /// [`MsgpackError::CutOff`], [`MsgpackError::Reserved`] and [`MsgpackError::TooDeep`].
    pub fn value(&mut self) -> Result<&'a [u8], MsgpackError> {
        match Walker::default().walk(self.rest, usize::MAX)? {
            Walk::Complete(length) => {
                let (value, rest) = self.rest.split_at(length);
                self.rest = rest;
                Ok(value)
            }
            Walk::Needs(_) => Err(MsgpackError::CutOff),
        }
    }
}

/// Appends a text, as the answers of the forward protocol have them.
pub(crate) fn push_text(text: &[u8], out: &mut Vec<u8>) {
    match text.len() {
        length @ ..32 => out.push(0xA0 | length as u8),
        length @ ..256 => out.extend_from_slice(&[0xD9, length as u8]),
        length => {
            out.push(0xDB);
            out.extend_from_slice(&(length as u32).to_be_bytes());
        }
    }
    out.extend_from_slice(text);
}

/// Appends bytes, at most 255.
pub(crate) fn push_binary(bytes: &[u8], out: &mut Vec<u8>) {
    debug_assert!(bytes.len() < 256);
    out.extend_from_slice(&[0xC4, bytes.len() as u8]);
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests;
