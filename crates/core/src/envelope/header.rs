//! The header of an envelope: reading it from hostile bytes and writing it.
//!
//! Reading goes in the order that the format promises: frozen bytes, check byte, version, and only
//! then what version 1 says, so that damage is never taken for novelty or the other way round.

use crate::codec::CodecId;
use crate::encoding::EncodingId;
use crate::envelope::{
    MAGIC, UnpackError, VERSION, looks_like_envelope, read_varint, write_varint,
};
use crate::limits::ENVELOPE_HEADER_BYTES_MAX;

const FLAG_DICTIONARY: u8 = 1;
const FLAG_CHECKSUM: u8 = 2;
const FLAG_FIELDS: u8 = 4;
const FLAG_ENCODING: u8 = 8;

/// Set in the type of a field that a reader must understand.
const CRITICAL: u8 = 0x80;

/// A field: the first bytes of the SHA-256 of the schema. Critical.
pub const FIELD_SCHEMA: u8 = CRITICAL | 1;
/// A field: the XXH64 (u64, little endian) of the payload that this one is a delta against.
/// Critical.
pub const FIELD_BASE: u8 = CRITICAL | 2;
/// A field: the application's version stamp, opaque bytes.
pub const FIELD_VERSION: u8 = 3;
/// A field: who wrote the envelope, UTF-8.
pub const FIELD_WRITER: u8 = 4;

/// The shortest header: magic, version, length, codec, a one-byte varint and the check byte.
const HEADER_BYTES_MIN: usize = 7;

/// The shortest header that any version can have: the frozen bytes and the check byte.
const FROZEN_BYTES: usize = 5;

/// An optional field of a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// The type, its top bit set if a reader must understand it.
    pub kind: u8,
    /// The value, at most 40 bytes or so: the header has 64 in all.
    pub value: Vec<u8>,
}

impl Field {
    /// The id in the value of a [`FIELD_BASE`].
    pub(crate) fn base(&self) -> Option<u64> {
        self.value.as_slice().try_into().ok().map(u64::from_le_bytes)
    }
}

/// The header of an envelope of version 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The decoder of the body.
    pub codec: CodecId,
    /// The encoding of what the body holds; absent for `verbatim`, or for what the dictionary says.
    pub encoding: Option<EncodingId>,
    /// The length of the payload as the application sees it, in bytes.
    pub payload_bytes: u32,
    /// The id of the dictionary.
    pub dictionary: Option<u32>,
    /// The low half of the XXH64 of the payload.
    pub checksum: Option<u32>,
    /// Further fields, in the order in which they stand.
    pub fields: Vec<Field>,
}

impl Header {
    /// Reads the header at the start of `bytes` and returns it with its length.
    ///
    /// # Errors
    /// [`UnpackError::NotAnEnvelope`], [`UnpackError::Damaged`],
    /// [`UnpackError::UnsupportedVersion`] or [`UnpackError::UnknownField`]; codec and encoding ids
    /// are not looked up here.
    pub fn read(bytes: &[u8]) -> Result<(Header, usize), UnpackError> {
        if !looks_like_envelope(bytes) {
            return Err(UnpackError::NotAnEnvelope);
        }
        let &[_, _, version_and_flags, length, ..] = bytes else {
            return Err(UnpackError::damaged("the end inside the header", bytes.len()));
        };
        let length = usize::from(length & 0x7F);
        if !(FROZEN_BYTES..=ENVELOPE_HEADER_BYTES_MAX).contains(&length) {
            return Err(UnpackError::damaged("an impossible header length", 3));
        }
        let header = bytes
            .get(..length)
            .ok_or(UnpackError::damaged("the end inside the header", bytes.len()))?;
        let Some((&check, checked)) = header.split_last() else {
            return Err(UnpackError::damaged("an impossible header length", 3));
        };
        if check != check_byte(checked) {
            return Err(UnpackError::damaged("a header check that does not hold", length - 1));
        }
        let version = version_and_flags >> 4 & 0x07;
        if version != VERSION {
            return Err(UnpackError::UnsupportedVersion { version });
        }
        if length < HEADER_BYTES_MIN {
            return Err(UnpackError::damaged("an impossible header length", 3));
        }
        let flags = version_and_flags & 0x0F;
        let mut cursor = Cursor { bytes: checked, at: 4 };
        let codec = CodecId(cursor.byte()?);
        let encoding =
            (flags & FLAG_ENCODING != 0).then(|| cursor.byte().map(EncodingId)).transpose()?;
        let payload_bytes = cursor.varint()?;
        let dictionary = (flags & FLAG_DICTIONARY != 0).then(|| cursor.number()).transpose()?;
        let checksum = (flags & FLAG_CHECKSUM != 0).then(|| cursor.number()).transpose()?;
        let fields = if flags & FLAG_FIELDS != 0 { cursor.fields()? } else { Vec::new() };
        if cursor.at != checked.len() {
            return Err(UnpackError::damaged("bytes left over in the header", cursor.at));
        }
        let bases = fields.iter().filter(|field| field.kind == FIELD_BASE).count();
        if (dictionary.is_some() || bases > 0) && checksum.is_none() {
            return Err(UnpackError::damaged("a dictionary or base without a checksum", 2));
        }
        if bases > 1 || (bases == 1 && (dictionary.is_some() || encoding.is_some())) {
            let what = "a delta with a dictionary, an encoding or a second base";
            return Err(UnpackError::damaged(what, 2));
        }
        Ok((Header { codec, encoding, payload_bytes, dictionary, checksum, fields }, length))
    }

    /// The id of the payload that this one is a delta against ([`base_id`](super::base_id)); `None`
    /// where it is no delta, or its field is not 8 bytes long and so names none.
    pub fn base(&self) -> Option<u64> {
        self.fields.iter().find(|field| field.kind == FIELD_BASE)?.base()
    }

    /// Appends the header to `out` and returns its length, or `None`, with `out` as it was, where
    /// the fields make it longer than 64 bytes.
    pub fn write(&self, out: &mut Vec<u8>) -> Option<usize> {
        let start = out.len();
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        let flags = flag(self.dictionary.is_some(), FLAG_DICTIONARY)
            | flag(self.checksum.is_some(), FLAG_CHECKSUM)
            | flag(!self.fields.is_empty(), FLAG_FIELDS)
            | flag(self.encoding.is_some(), FLAG_ENCODING);
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&[0x80 | VERSION << 4 | flags, 0, self.codec.0]);
        out.extend(self.encoding.map(|encoding| encoding.0));
        write_varint(self.payload_bytes, out);
        for number in [self.dictionary, self.checksum].into_iter().flatten() {
            out.extend_from_slice(&number.to_le_bytes());
        }
        if !self.fields.is_empty() {
            let total: usize = self.fields.iter().map(|field| 2 + field.value.len()).sum();
            if total > ENVELOPE_HEADER_BYTES_MAX {
                out.truncate(start);
                return None;
            }
            write_varint(total as u32, out);
            for field in &self.fields {
                out.extend_from_slice(&[field.kind, field.value.len() as u8]);
                out.extend_from_slice(&field.value);
            }
        }
        let length = out.len() - start + 1;
        if length > ENVELOPE_HEADER_BYTES_MAX {
            out.truncate(start);
            return None;
        }
        out[start + 3] = 0x80 | length as u8;
        let check = check_byte(&out[start..]);
        out.push(check);
        Some(length)
    }
}

/// The lowest byte of the XXH64 of the header bytes before it.
fn check_byte(header: &[u8]) -> u8 {
    xxhash_rust::xxh64::xxh64(header, 0) as u8
}

/// Reads a header whose check byte holds. Running off its end is damage all the same: a writer
/// may have been wrong.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], UnpackError> {
        let taken = self.bytes.get(self.at..).and_then(|rest| rest.get(..count));
        let taken =
            taken.ok_or(UnpackError::damaged("a header too short for its flags", self.at))?;
        self.at += count;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, UnpackError> {
        self.take(1).map(|bytes| bytes.iter().sum())
    }

    fn number(&mut self) -> Result<u32, UnpackError> {
        self.take(4).map(|bytes| bytes.iter().rfold(0, |n, &byte| n << 8 | u32::from(byte)))
    }

    fn varint(&mut self) -> Result<u32, UnpackError> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let (value, length) =
            read_varint(rest).ok_or(UnpackError::damaged("a number in the header", self.at))?;
        self.at += length;
        Ok(value)
    }

    fn fields(&mut self) -> Result<Vec<Field>, UnpackError> {
        let total = self.varint()? as usize;
        let end = self.at + total.min(ENVELOPE_HEADER_BYTES_MAX);
        let mut fields = Vec::new();
        if total == 0 {
            return Err(UnpackError::damaged("an empty list of fields", self.at));
        }
        while self.at < end {
            let kind = self.byte()?;
            let length = usize::from(self.byte()?);
            let value = self.take(length)?.to_vec();
            if kind & CRITICAL != 0 && kind != FIELD_SCHEMA && kind != FIELD_BASE {
                return Err(UnpackError::UnknownField { field: kind });
            }
            fields.push(Field { kind, value });
        }
        if self.at != end || total > ENVELOPE_HEADER_BYTES_MAX {
            return Err(UnpackError::damaged("fields longer than their list", self.at));
        }
        Ok(fields)
    }
}
