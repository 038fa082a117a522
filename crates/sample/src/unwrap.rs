//! Undoes what client libraries do to payloads before they store them, so that what is measured is
//! the payload and not another codec's output.
//!
//! A format is undone where its start says so and its content decodes to the end. A serialised
//! object of a language is refused: it is no payload that others can read, and to decode some of
//! them would run their code. Every result is bounded, so a small value can't fill the memory.

use std::io::Read;

use cinch_core::codec::{DecompressError, codec_named, decompress_unknown_length};
use cinch_core::envelope::{UnpackError, looks_like_envelope};
use cinch_core::pack::Unpacker;

/// How often a value may be wrapped: an envelope in gzip in a framework's own zlib.
const LAYERS_MAX: usize = 3;

/// What a value may be wrapped in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrapping {
    /// RFC 1952.
    Gzip,
    /// RFC 1950.
    Zlib,
    /// RFC 8878.
    Zstd,
    /// The LZ4 frame format.
    Lz4Frame,
    /// An LZ4 block behind its content's length in four bytes, as Python's `lz4.block` and Redisson
    /// have it.
    Lz4Block,
    /// The Snappy framing format.
    SnappyFramed,
    /// An envelope of ours.
    Envelope,
}

impl Wrapping {
    /// The name for summaries.
    pub fn name(self) -> &'static str {
        match self {
            Wrapping::Gzip => "gzip",
            Wrapping::Zlib => "zlib",
            Wrapping::Zstd => "zstd",
            Wrapping::Lz4Frame => "lz4 frame",
            Wrapping::Lz4Block => "lz4 block",
            Wrapping::SnappyFramed => "snappy",
            Wrapping::Envelope => "cinch envelope",
        }
    }
}

/// Why a value is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There are no bytes.
    #[error("empty")]
    Empty,
    /// A Python object.
    #[error("pickle")]
    Pickle,
    /// A Java object.
    #[error("Java serialization")]
    JavaSerialization,
    /// A PHP value in igbinary's form.
    #[error("igbinary")]
    Igbinary,
    /// It is longer than what is taken, stored or unwrapped.
    #[error("too large")]
    TooLarge,
    /// It starts like a format and does not decode.
    #[error("damaged {}", .0.name())]
    Damaged(Wrapping),
    /// An envelope that names a dictionary, a schema or a base that is not here.
    #[error("cinch envelope that needs a dictionary")]
    MissingDictionary,
    /// It is wrapped more often than anybody does on purpose.
    #[error("wrapped too often")]
    TooDeep,
}

/// Undoes wrappings.
pub struct Unwrapper {
    limit_bytes: usize,
    unpacker: Unpacker,
    current: Vec<u8>,
    next: Vec<u8>,
}

impl Unwrapper {
    /// An unwrapper that takes values of at most this many bytes, stored and unwrapped.
    pub fn new(limit_bytes: usize) -> Unwrapper {
        Unwrapper {
            limit_bytes,
            unpacker: Unpacker::new([]).with_limit(limit_bytes),
            current: Vec::new(),
            next: Vec::new(),
        }
    }

    /// The payload of a stored value, and what it was wrapped in from the outside in.
    ///
    /// # Errors
    /// [`Refusal`] where the value is no payload.
    pub fn unwrap<'a>(&'a mut self, value: &'a [u8]) -> Result<(&'a [u8], Vec<Wrapping>), Refusal> {
        if value.is_empty() {
            return Err(Refusal::Empty);
        }
        if value.len() > self.limit_bytes {
            return Err(Refusal::TooLarge);
        }
        let mut wrappings = Vec::new();
        loop {
            let layer = if wrappings.is_empty() { value } else { &self.current };
            if let Some(refusal) = refused(layer) {
                return Err(refusal);
            }
            let mut next = std::mem::take(&mut self.next);
            let undone = undo(layer, &mut self.unpacker, self.limit_bytes, &mut next);
            self.next = next;
            let Some(wrapping) = undone? else { break };
            if wrappings.len() == LAYERS_MAX {
                return Err(Refusal::TooDeep);
            }
            wrappings.push(wrapping);
            std::mem::swap(&mut self.current, &mut self.next);
            if self.current.is_empty() {
                return Err(Refusal::Empty);
            }
        }
        let payload = if wrappings.is_empty() { value } else { &self.current };
        Ok((payload, wrappings))
    }
}

/// Serialised objects, by their starts.
fn refused(value: &[u8]) -> Option<Refusal> {
    match value {
        // A pickle of protocol 2 and above ends with the opcode that stops the reader.
        [0x80, 0x02..=0x05, .., b'.'] => Some(Refusal::Pickle),
        [0xAC, 0xED, 0x00, 0x05, ..] => Some(Refusal::JavaSerialization),
        [0x00, 0x00, 0x00, 0x01 | 0x02, ..] => Some(Refusal::Igbinary),
        _ => None,
    }
}

/// Undoes the outermost wrapping into `out`; `None` where there is none.
fn undo(
    value: &[u8],
    unpacker: &mut Unpacker,
    limit_bytes: usize,
    out: &mut Vec<u8>,
) -> Result<Option<Wrapping>, Refusal> {
    let (codec, wrapping) = match value {
        [0x1F, 0x8B, 0x08, ..] => ("gzip", Wrapping::Gzip),
        [0x28, 0xB5, 0x2F, 0xFD, ..] => ("zstd", Wrapping::Zstd),
        [0x04, 0x22, 0x4D, 0x18, ..] => ("lz4-frame", Wrapping::Lz4Frame),
        [0xFF, 0x06, 0x00, 0x00, b's', b'N', b'a', b'P', b'p', b'Y', ..] => {
            return undo_snappy(value, limit_bytes, out);
        }
        [0x78, second, ..] if (0x7800 | u32::from(*second)).is_multiple_of(31) => {
            // Text may start like this too, so what does not decode is not zlib.
            let result = decompress("zlib", value, limit_bytes, out);
            return match result {
                Ok(()) => Ok(Some(Wrapping::Zlib)),
                Err(Failure::TooLarge) => Err(Refusal::TooLarge),
                Err(Failure::Damaged) => Ok(None),
            };
        }
        _ if looks_like_envelope(value) => {
            return match unpacker.unpack(value, out) {
                Ok(_) => Ok(Some(Wrapping::Envelope)),
                Err(UnpackError::TooLarge { .. }) => Err(Refusal::TooLarge),
                Err(
                    UnpackError::MissingDictionary { .. }
                    | UnpackError::MissingSchema
                    | UnpackError::MissingBase { .. },
                ) => Err(Refusal::MissingDictionary),
                Err(_) => Err(Refusal::Damaged(Wrapping::Envelope)),
            };
        }
        _ => return Ok(undo_lz4_block(value, limit_bytes, out)),
    };
    match decompress(codec, value, limit_bytes, out) {
        Ok(()) => Ok(Some(wrapping)),
        Err(Failure::TooLarge) => Err(Refusal::TooLarge),
        Err(Failure::Damaged) => Err(Refusal::Damaged(wrapping)),
    }
}

/// Why a codec does not give the content.
enum Failure {
    TooLarge,
    Damaged,
}

/// Decompresses a value whose content's length is not known.
fn decompress(
    codec: &str,
    value: &[u8],
    limit_bytes: usize,
    out: &mut Vec<u8>,
) -> Result<(), Failure> {
    let codec = codec_named(codec).ok_or(Failure::Damaged)?;
    let mut decompressor = codec.decompressor(None).map_err(|_| Failure::Damaged)?;
    decompress_unknown_length(&mut *decompressor, value, limit_bytes, out).map_err(|error| {
        match error {
            DecompressError::OutputTooSmall { .. } => Failure::TooLarge,
            _ => Failure::Damaged,
        }
    })
}

fn undo_snappy(
    value: &[u8],
    limit_bytes: usize,
    out: &mut Vec<u8>,
) -> Result<Option<Wrapping>, Refusal> {
    out.clear();
    let mut reader = snap::read::FrameDecoder::new(value).take(limit_bytes as u64 + 1);
    match reader.read_to_end(out) {
        Ok(length) if length > limit_bytes => Err(Refusal::TooLarge),
        Ok(_) => Ok(Some(Wrapping::SnappyFramed)),
        Err(_) => Err(Refusal::Damaged(Wrapping::SnappyFramed)),
    }
}

/// A block has no magic, so it is taken for one only where the value is no text, has exactly the
/// length that it announces, and holds text.
fn undo_lz4_block(value: &[u8], limit_bytes: usize, out: &mut Vec<u8>) -> Option<Wrapping> {
    /// No block expands by more than this.
    const EXPANSION_MAX: usize = 255;
    let (length, block) = value.split_first_chunk::<4>()?;
    if str::from_utf8(value).is_ok() {
        return None;
    }
    let mut decompressor = codec_named("lz4")?.decompressor(None).ok()?;
    for length in [u32::from_le_bytes(*length), u32::from_be_bytes(*length)] {
        let length = length as usize;
        if length == 0 || length > limit_bytes || length / EXPANSION_MAX > block.len() {
            continue;
        }
        out.resize(length, 0);
        let is_whole = decompressor.decompress_exact(block, out).is_ok();
        if is_whole && str::from_utf8(out).is_ok() {
            return Some(Wrapping::Lz4Block);
        }
    }
    None
}

#[cfg(test)]
mod tests;
