//! The envelope, version 1: the self-describing bytes that are stored or sent. spec/envelope.md is
//! the format; this file is the front door, `envelope/header.rs` reads and writes headers.
//!
//! Bytes 0 to 3 and the place of the check byte are frozen for every version to come, so that a
//! reader can tell *damaged* from *newer than me*. Bytes that start like an envelope are never
//! handed out as a payload unless they were unpacked, and a payload that starts like one is
//! wrapped.

mod header;
mod varint;

pub use header::{FIELD_BASE, FIELD_SCHEMA, FIELD_VERSION, FIELD_WRITER, Field, Header};
pub use varint::{read_varint, write_varint};

use crate::codec::DecompressError;

/// The first two bytes of every envelope.
pub const MAGIC: [u8; 2] = [0xC1, 0x9E];

/// The version that this release writes, and the only one it reads.
pub const VERSION: u8 = 1;

/// Whether `bytes` start like an envelope of any version, whole, cut short or damaged: the magic,
/// and the top bit of the two bytes after it as far as they are there. No UTF-8 text, no JSON, no
/// MessagePack, CBOR or BSON starts so.
pub fn looks_like_envelope(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC) && bytes.iter().skip(2).take(2).all(|byte| byte & 0x80 != 0)
}

/// The low half of the XXH64 of a payload, which envelopes carry as their checksum.
pub fn checksum(payload: &[u8]) -> u32 {
    base_id(payload) as u32
}

/// The XXH64 of a payload, by which a delta names it as its base.
pub fn base_id(payload: &[u8]) -> u64 {
    xxhash_rust::xxh64::xxh64(payload, 0)
}

/// Why an envelope could not be unpacked. spec/errors.md lists the codes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnpackError {
    /// The bytes do not start like an envelope.
    #[error("not an envelope: the bytes do not start with C1 9E")]
    NotAnEnvelope,
    /// The bytes start like an envelope, but something in them is wrong or missing.
    #[error("damaged envelope: {what} at byte {offset}")]
    Damaged {
        /// What is wrong.
        what: &'static str,
        /// Where, in bytes from the start of the envelope.
        offset: usize,
    },
    /// A sound envelope of a version that this release does not read.
    #[error("envelope version {version} is newer than this release reads (1)")]
    UnsupportedVersion {
        /// The version found.
        version: u8,
    },
    /// A sound envelope whose codec this release does not know.
    #[error("unknown codec {id:#04x}")]
    UnknownCodec {
        /// The codec id found.
        id: u8,
    },
    /// A sound envelope whose encoding this release does not know.
    #[error("unknown encoding {id:#04x}")]
    UnknownEncoding {
        /// The encoding id found.
        id: u8,
    },
    /// A sound envelope with a field that must be understood and is not.
    #[error("unknown critical field {field:#04x}")]
    UnknownField {
        /// The field's type byte.
        field: u8,
    },
    /// The dictionary that the envelope names is not at hand.
    #[error("dictionary {id:#010x} is missing")]
    MissingDictionary {
        /// The dictionary's id.
        id: u32,
    },
    /// The schema that the envelope names is not at hand.
    #[error("the schema that the envelope names is missing")]
    MissingSchema,
    /// The payload that this one is a delta against is not at hand.
    #[error("the base {}of the delta is missing", .id.map_or(String::new(), |id| format!(
        "{id:#018x} ")))]
    MissingBase {
        /// The XXH64 of the base ([`base_id`]), by which it may be fetched; `None` where the
        /// envelope names no payload because its field is not 8 bytes long.
        id: Option<u64>,
    },
    /// The unpacked bytes are not those that were packed.
    #[error("checksum mismatch: {expected:#010x} in the envelope, {got:#010x} of the payload")]
    ChecksumMismatch {
        /// The checksum in the envelope.
        expected: u32,
        /// The checksum of what was unpacked.
        got: u32,
    },
    /// The payload is longer than the caller takes.
    #[error("the payload has {got} bytes, the limit is {limit}")]
    TooLarge {
        /// The caller's limit in bytes.
        limit: usize,
        /// The length in the envelope, in bytes.
        got: usize,
    },
}

impl UnpackError {
    /// The permanent code of the error, shared by every language (spec/errors.md).
    pub fn code(&self) -> &'static str {
        match self {
            UnpackError::NotAnEnvelope => "not-an-envelope",
            UnpackError::Damaged { .. } => "damaged",
            UnpackError::UnsupportedVersion { .. } => "unsupported-version",
            UnpackError::UnknownCodec { .. } => "unknown-codec",
            UnpackError::UnknownEncoding { .. } => "unknown-encoding",
            UnpackError::UnknownField { .. } => "unknown-field",
            UnpackError::MissingDictionary { .. } => "missing-dictionary",
            UnpackError::MissingSchema => "missing-schema",
            UnpackError::MissingBase { .. } => "missing-base",
            UnpackError::ChecksumMismatch { .. } => "checksum-mismatch",
            UnpackError::TooLarge { .. } => "too-large",
        }
    }

    pub(crate) fn damaged(what: &'static str, offset: usize) -> UnpackError {
        UnpackError::Damaged { what, offset }
    }

    /// What a body that does not decompress says of its envelope.
    pub(crate) fn of_body(error: &DecompressError, offset: usize) -> UnpackError {
        let what = match error {
            DecompressError::NeedsDictionary { id, .. } => {
                return UnpackError::MissingDictionary { id: *id };
            }
            DecompressError::OutputTooSmall { .. } => "a body longer than the header says",
            DecompressError::WrongLength { .. } => "a body shorter than the header says",
            DecompressError::TrailingBytes { .. } => "bytes after the end of the body",
            DecompressError::Corrupt { .. } | DecompressError::Library { .. } => {
                "a body that does not decompress"
            }
        };
        UnpackError::damaged(what, offset)
    }
}
