//! The frames of the native protocol as bytes: what both ends share. The table of types and fields
//! is that of `spec/ingest-native.md`, in the same order.

use super::{NativeError, VERSION};
use crate::limits::NATIVE_CONTROL_BYTES_MAX;

/// Type, three reserved bytes and the body's length.
pub(super) const HEADER_BYTES: usize = 8;

/// What stands in front of a batch's records: checksum, sequence, record count, plain length,
/// codec and three reserved bytes.
pub(super) const BATCH_HEAD_BYTES: usize = 28;

/// What a checksum is not over: itself.
const CHECKSUM_BYTES: usize = 8;

pub(super) const HELLO: u8 = b'H';
pub(super) const BATCH: u8 = b'B';
pub(super) const END: u8 = b'E';
pub(super) const WELCOME: u8 = b'W';
pub(super) const ACKNOWLEDGED: u8 = b'A';
pub(super) const NOT_NOW: u8 = b'N';
pub(super) const DRAIN: u8 = b'D';
pub(super) const REFUSED: u8 = b'X';

/// What an acknowledgement stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Durability {
    /// The server has it in memory.
    Received,
    /// It is part of a closed batch on its way to the sink.
    Batched,
    /// The sink has it, as durable as the sink is configured to be.
    Written,
    /// The sink and its replicas have it.
    Replicated,
}

impl Durability {
    /// Every level with its number on the wire and its name in a configuration.
    pub const ALL: [(Durability, u8, &'static str); 4] = [
        (Durability::Received, 1, "received"),
        (Durability::Batched, 2, "batched"),
        (Durability::Written, 3, "written"),
        (Durability::Replicated, 4, "replicated"),
    ];

    fn number(self) -> u8 {
        self as u8 + 1
    }

    fn of(number: u8) -> Result<Durability, NativeError> {
        let found = Durability::ALL.iter().find(|(_, row, _)| *row == number);
        found.map(|(level, ..)| *level).ok_or(NativeError::Malformed("a durability is unknown"))
    }
}

/// How the records of a batch are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BatchCodec {
    /// Not at all.
    Stored,
    /// One zstd frame.
    Zstd,
    /// One LZ4 frame.
    Lz4,
    /// One gzip member.
    Gzip,
}

impl BatchCodec {
    pub(super) fn of(number: u8) -> Result<BatchCodec, NativeError> {
        Ok(match number {
            0 => BatchCodec::Stored,
            1 => BatchCodec::Zstd,
            2 => BatchCodec::Lz4,
            3 => BatchCodec::Gzip,
            _ => return Err(NativeError::Malformed("a codec is unknown")),
        })
    }
}

/// What a client says first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hello {
    /// Chosen by the client at random once, and kept as long as it keeps batches: sequence numbers
    /// are counted for each.
    pub client_id: [u8; 16],
    /// What it wants acknowledgements to stand for.
    pub durability: Durability,
    /// The first batch that it still holds or will send, from 1. Those before were acknowledged,
    /// or are lost.
    pub first_sequence: u64,
    /// The pool, 1 to 127 bytes of visible ASCII.
    pub pool: String,
    /// The host, 0 to 127 bytes of visible ASCII.
    pub host: String,
}

/// What a server answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Welcome {
    /// What acknowledgements will stand for, at least what was wanted.
    pub durability: Durability,
    /// The last batch of this client that has come to stay, or 0: those after are to be sent.
    pub acknowledged: u64,
    /// How many batches may be under way.
    pub window_batches: u32,
    /// How long a batch may be, compressed and not, in bytes.
    pub batch_bytes_max: u32,
}

/// Why a server closes, as the client is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// One line for a person.
    pub reason: String,
}

/// The type and length of the body of the frame at the front, once they are there.
pub(super) fn header(input: &[u8]) -> Option<(u8, u32)> {
    let &[kind, _, _, _, a, b, c, d] = input.first_chunk::<HEADER_BYTES>()?;
    Some((kind, u32::from_be_bytes([a, b, c, d])))
}

/// Refuses what no control frame may have.
pub(super) fn check_control_length(length_bytes: u32) -> Result<(), NativeError> {
    let limit_bytes = NATIVE_CONTROL_BYTES_MAX;
    if length_bytes as usize > limit_bytes {
        return Err(NativeError::FrameTooLong { length_bytes, limit_bytes });
    }
    Ok(())
}

/// Appends a frame whose body `write` appends.
pub(super) fn push(kind: u8, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    out.extend_from_slice(&[kind, 0, 0, 0, 0, 0, 0, 0]);
    let start = out.len();
    write(out);
    let length = (out.len() - start) as u32;
    out[start - 4..start].copy_from_slice(&length.to_be_bytes());
}

/// Reads the fields of a body from the front. Bytes behind the last field are of later versions.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Fields<'a> {
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], NativeError> {
        let (field, rest) = self.0.split_first_chunk().ok_or(TOO_SHORT)?;
        self.0 = rest;
        Ok(*field)
    }

    pub(super) fn u8(&mut self) -> Result<u8, NativeError> {
        self.array().map(|[byte]| byte)
    }

    pub(super) fn u32(&mut self) -> Result<u32, NativeError> {
        self.array().map(u32::from_be_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, NativeError> {
        self.array().map(u64::from_be_bytes)
    }

    /// A text behind its length of one byte.
    fn text(&mut self) -> Result<&'a [u8], NativeError> {
        let length = usize::from(self.u8()?);
        let (text, rest) = self.0.split_at_checked(length).ok_or(TOO_SHORT)?;
        self.0 = rest;
        Ok(text)
    }

    fn name(&mut self) -> Result<String, NativeError> {
        let text = self.text()?;
        let is_name = text.len() <= NAME_BYTES_MAX && text.iter().all(u8::is_ascii_graphic);
        match str::from_utf8(text) {
            Ok(name) if is_name => Ok(name.to_owned()),
            _ => Err(NativeError::Malformed("a pool or host is too long or not visible ASCII")),
        }
    }
}

const TOO_SHORT: NativeError = NativeError::Malformed("a frame is shorter than its fields");

/// The longest pool or host, in bytes; part of the format.
const NAME_BYTES_MAX: usize = 127;

impl Hello {
    pub(super) fn read(body: &[u8]) -> Result<Hello, NativeError> {
        let mut fields = Fields(body);
        let version = fields.u8()?;
        if version != VERSION {
            return Err(NativeError::Version(version));
        }
        let hello = Hello {
            durability: Durability::of(fields.u8()?)?,
            client_id: fields.array()?,
            first_sequence: fields.u64()?,
            pool: fields.name()?,
            host: fields.name()?,
        };
        if hello.pool.is_empty() {
            return Err(NativeError::Malformed("the pool has no name"));
        }
        if hello.first_sequence == 0 {
            return Err(NativeError::Malformed("sequence numbers begin at 1"));
        }
        Ok(hello)
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        push(HELLO, out, |out| {
            out.extend_from_slice(&[VERSION, self.durability.number()]);
            out.extend_from_slice(&self.client_id);
            out.extend_from_slice(&self.first_sequence.to_be_bytes());
            for name in [&self.pool, &self.host] {
                push_text(name, out);
            }
        });
    }
}

impl Welcome {
    pub(super) fn read(body: &[u8]) -> Result<Welcome, NativeError> {
        let mut fields = Fields(body);
        let version = fields.u8()?;
        if version != VERSION {
            return Err(NativeError::Version(version));
        }
        Ok(Welcome {
            durability: Durability::of(fields.u8()?)?,
            acknowledged: fields.u64()?,
            window_batches: fields.u32()?,
            batch_bytes_max: fields.u32()?,
        })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        push(WELCOME, out, |out| {
            out.extend_from_slice(&[VERSION, self.durability.number()]);
            out.extend_from_slice(&self.acknowledged.to_be_bytes());
            out.extend_from_slice(&self.window_batches.to_be_bytes());
            out.extend_from_slice(&self.batch_bytes_max.to_be_bytes());
        });
    }
}

impl Refusal {
    pub(super) fn read(body: &[u8]) -> Result<Refusal, NativeError> {
        let reason = String::from_utf8_lossy(Fields(body).text()?).into_owned();
        Ok(Refusal { reason })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        push(REFUSED, out, |out| push_text(&self.reason, out));
    }
}

/// A text behind its length of one byte; what does not fit is left out, at a character.
fn push_text(text: &str, out: &mut Vec<u8>) {
    let length = text.floor_char_boundary(usize::from(u8::MAX));
    out.push(length as u8);
    out.extend_from_slice(&text.as_bytes()[..length]);
}

/// The checksum of a batch's body, over everything behind the checksum.
pub(super) fn checksum(body: &[u8]) -> u64 {
    xxhash_rust::xxh64::xxh64(&body[CHECKSUM_BYTES..], 0)
}
