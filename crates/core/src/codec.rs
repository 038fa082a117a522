//! Codecs: bytes to fewer bytes and back. This file is the front door: the traits, the registry
//! table `CODECS`, and nothing that knows one codec from another.
//!
//! A codec id names a *decoder*, exactly (framing and version), never a level or a library: rows
//! that share an id must read each other's bytes, which the tests of this module check. Ids are
//! permanent; spec/envelope.md lists them.

use std::sync::Arc;

use crate::dictionary::Dictionary;

/// The id of a decoder in an envelope, 0x10 to 0x7F.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CodecId(pub u8);

/// What a codec can do with a dictionary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DictionaryUse {
    /// The codec has no dictionaries.
    None,
    /// The codec takes raw content, on its high levels only (LZ4).
    HighLevels,
    /// The codec takes a dictionary on every level, in zstd's own format with its entropy tables.
    EveryLevel,
}

/// The levels of a codec: a closed range, a default, and where the slow ones begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Levels {
    /// The lowest level.
    pub min: i32,
    /// The highest level.
    pub max: i32,
    /// The level when none is named.
    pub default: i32,
    /// The first level that an evaluation leaves out unless asked; above `max` when none is slow.
    pub slow_from: i32,
}

impl Levels {
    /// The levels of a codec that has only one way to compress.
    pub const ONE: Levels = Levels { min: 0, max: 0, default: 0, slow_from: 1 };

    /// Whether `level` is one of these.
    pub fn contains(&self, level: i32) -> bool {
        (self.min..=self.max).contains(&level)
    }

    /// Whether there is a choice at all.
    pub fn is_single(&self) -> bool {
        self.min == self.max
    }
}

/// What the registry says of a codec.
#[derive(Debug)]
pub struct CodecInfo {
    /// The decoder's id.
    pub id: CodecId,
    /// The name used in profiles, arguments and reports.
    pub name: &'static str,
    /// One line for help texts and documentation.
    pub summary: &'static str,
    /// The library and its version, as reports print it.
    pub library: fn() -> String,
    /// The levels.
    pub levels: Levels,
    /// What it does with a dictionary.
    pub dictionary_use: DictionaryUse,
    /// Whether it can refer back to bytes that writer and reader share, on every level. Deltas do.
    pub takes_prefix: bool,
    /// The first release that had it.
    pub since: &'static str,
    /// The release that stopped writing it, if one did.
    pub until: Option<&'static str>,
}

/// Why a compressor or decompressor could not be made. Never caused by input data.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// The codec does not have this level.
    #[error("{codec} has levels {min} to {max}, not {level}")]
    Level {
        /// The codec's name.
        codec: &'static str,
        /// The lowest level it has.
        min: i32,
        /// The highest level it has.
        max: i32,
        /// The level asked for.
        level: i32,
    },
    /// The codec takes no dictionary, or not on this level.
    #[error("{codec} takes no dictionary{}", on_level(*.level))]
    NoDictionary {
        /// The codec's name.
        codec: &'static str,
        /// The level, where other levels do take one.
        level: Option<i32>,
    },
    /// The library did not accept the dictionary.
    #[error("{codec} does not accept dictionary {id:#010x}: it is damaged or of another kind")]
    BadDictionary {
        /// The codec's name.
        codec: &'static str,
        /// The dictionary's id.
        id: u32,
    },
    /// An encoding that needs a schema has none.
    #[error("{encoding} needs a schema: `cinch schema` infers one")]
    NoSchema {
        /// The encoding's name.
        encoding: &'static str,
    },
    /// The schema is not one that the encoding takes.
    #[error("{encoding} takes no schema in {language}")]
    OtherSchema {
        /// The encoding's name.
        encoding: &'static str,
        /// The language of the schema.
        language: &'static str,
    },
    /// The library could not allocate its context.
    #[error("{codec} could not allocate its working memory")]
    OutOfMemory {
        /// The codec's name.
        codec: &'static str,
    },
}

fn on_level(level: Option<i32>) -> String {
    level.map_or(String::new(), |level| format!(" on level {level}"))
}

/// Why bytes could not be compressed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompressError {
    /// The output buffer is smaller than the compressed bytes. A buffer of
    /// [`Codec::compress_bound`] bytes never causes this.
    #[error("{codec}: the output buffer of {capacity} bytes is too small")]
    OutputTooSmall {
        /// The codec's name.
        codec: &'static str,
        /// The size of the buffer in bytes.
        capacity: usize,
    },
    /// The input is longer than the codec's format allows.
    #[error("{codec} takes at most {limit} bytes, not {got}")]
    InputTooLarge {
        /// The codec's name.
        codec: &'static str,
        /// The most it takes, in bytes.
        limit: usize,
        /// What it was given, in bytes.
        got: usize,
    },
    /// The library failed for a reason of its own.
    #[error("{codec}: the library failed with code {code}")]
    Library {
        /// The codec's name.
        codec: &'static str,
        /// The library's own error code.
        code: i64,
    },
}

/// Why bytes could not be decompressed. All but `Library` are caused by the bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecompressError {
    /// The bytes are not what this codec writes, or the end is missing.
    #[error("{codec}: the compressed bytes are damaged or cut short")]
    Corrupt {
        /// The codec's name.
        codec: &'static str,
    },
    /// The bytes hold more than the output buffer takes.
    #[error("{codec}: the content is longer than the {capacity} bytes allowed")]
    OutputTooSmall {
        /// The codec's name.
        codec: &'static str,
        /// The size of the buffer in bytes.
        capacity: usize,
    },
    /// The content is shorter than the length that was announced.
    #[error("{codec}: the content has {got} bytes, {expected} were announced")]
    WrongLength {
        /// The codec's name.
        codec: &'static str,
        /// The announced length in bytes.
        expected: usize,
        /// The length found, in bytes.
        got: usize,
    },
    /// Bytes follow the end of the compressed content.
    #[error("{codec}: {count} bytes follow the end of the content")]
    TrailingBytes {
        /// The codec's name.
        codec: &'static str,
        /// How many.
        count: usize,
    },
    /// The frame names a dictionary that was not given.
    #[error("{codec}: the frame needs dictionary {id:#010x}")]
    NeedsDictionary {
        /// The codec's name.
        codec: &'static str,
        /// The id in the frame.
        id: u32,
    },
    /// The library failed for a reason of its own (memory).
    #[error("{codec}: the library failed with code {code}")]
    Library {
        /// The codec's name.
        codec: &'static str,
        /// The library's own error code.
        code: i64,
    },
}

/// What a codec prepares of a dictionary, beside the dictionary's own bytes. It is held once in a
/// process, for all contexts of the codec.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DictionaryMemory {
    /// What compression at one level needs, in bytes.
    pub compress_bytes: usize,
    /// What decompression needs, in bytes; 0 where the dictionary is used as it is.
    pub decompress_bytes: usize,
}

/// One way to compress. Contexts are made once and reused for many payloads.
pub trait Codec: Sync {
    /// What the registry says of it.
    fn info(&self) -> &'static CodecInfo;

    /// The most bytes that `length` bytes of input can become.
    fn compress_bound(&self, length: usize) -> usize;

    /// A reusable compressor. A dictionary is prepared once for its codec and level and shared by
    /// all contexts that use it.
    fn compressor(
        &self,
        level: i32,
        dictionary: Option<&Arc<Dictionary>>,
    ) -> Result<Box<dyn Compressor>, SetupError>;

    /// A reusable decompressor.
    fn decompressor(
        &self,
        dictionary: Option<&Arc<Dictionary>>,
    ) -> Result<Box<dyn Decompressor>, SetupError>;

    /// What the prepared forms of a dictionary hold, for this level and for decompression. They are
    /// made if no context has asked for them yet.
    ///
    /// # Errors
    /// As [`Codec::compressor`]: where the codec takes no dictionary, not on this level, or not
    /// this one.
    fn dictionary_memory(
        &self,
        level: i32,
        dictionary: &Arc<Dictionary>,
    ) -> Result<DictionaryMemory, SetupError> {
        let _ = (level, dictionary);
        Err(SetupError::NoDictionary { codec: self.info().name, level: None })
    }

    /// The codec that envelopes use in place of this one: the same bytes without what an envelope
    /// says already (magic, sizes, checksums).
    fn bare_form(&self) -> Option<&'static dyn Codec> {
        None
    }
}

/// A reusable compression context.
pub trait Compressor: Send {
    /// Compresses all of `input` into `output` and returns how many bytes were written. Each call
    /// stands alone: nothing of an earlier payload is referred to.
    fn compress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, CompressError>;

    /// The memory the context holds between calls, in bytes, dictionaries left out.
    fn memory_bytes(&self) -> usize;

    /// The same context for one that takes a prefix, where [`CodecInfo::takes_prefix`] says so.
    fn with_prefix(&mut self) -> Option<&mut dyn PrefixCompressor> {
        None
    }
}

/// A compression context that can refer back to bytes before the payload.
pub trait PrefixCompressor {
    /// Compresses as [`Compressor::compress`] does, with matches that may lie anywhere in `prefix`,
    /// which decompression then needs. A dictionary of the context is not used for this payload,
    /// and the next call without a prefix is as if this one had not been.
    fn compress_after(
        &mut self,
        prefix: &[u8],
        input: &[u8],
        output: &mut [u8],
    ) -> Result<usize, CompressError>;
}

/// A reusable decompression context.
pub trait Decompressor: Send {
    /// Decompresses all of `input` into `output` and returns how many bytes were written, which
    /// may be fewer than `output` holds. Never writes more than `output` holds, never allocates
    /// in proportion to a length found in `input`, and refuses bytes after the content's end.
    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, DecompressError>;

    /// The memory the context holds between calls, in bytes, dictionaries left out.
    fn memory_bytes(&self) -> usize;

    /// The codec's name, for errors.
    fn name(&self) -> &'static str;

    /// Decompresses all of `input` into exactly `output`: anything shorter is an error too.
    fn decompress_exact(&mut self, input: &[u8], output: &mut [u8]) -> Result<(), DecompressError> {
        let got = self.decompress(input, output)?;
        is_exactly(self.name(), output.len(), got)
    }

    /// The same context for one that takes a prefix, where [`CodecInfo::takes_prefix`] says so.
    fn with_prefix(&mut self) -> Option<&mut dyn PrefixDecompressor> {
        None
    }
}

/// A decompression context for what a [`PrefixCompressor`] wrote.
pub trait PrefixDecompressor {
    /// Decompresses as [`Decompressor::decompress`] does, with the prefix of the compressor: any
    /// other gives other bytes or an error. A dictionary of the context is not used.
    fn decompress_after(
        &mut self,
        prefix: &[u8],
        input: &[u8],
        output: &mut [u8],
    ) -> Result<usize, DecompressError>;

    /// The codec's name, for errors.
    fn name(&self) -> &'static str;

    /// Decompresses all of `input` into exactly `output`: anything shorter is an error too.
    fn decompress_exact_after(
        &mut self,
        prefix: &[u8],
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), DecompressError> {
        let got = self.decompress_after(prefix, input, output)?;
        is_exactly(self.name(), output.len(), got)
    }
}

fn is_exactly(codec: &'static str, expected: usize, got: usize) -> Result<(), DecompressError> {
    if got == expected {
        return Ok(());
    }
    Err(DecompressError::WrongLength { codec, expected, got })
}

mod brotli;
mod bzip2;
mod choice;
mod deflate;
mod lz4;
mod lz4_frame;
mod lzma2;
mod named;
mod pool;
mod snappy;
mod stored;
mod unknown_length;
mod zstd;

#[cfg(test)]
mod tests;

pub use choice::{ALIASES, ChoiceError, CodecChoice, codec_names};
pub use unknown_length::decompress_unknown_length;

/// The decoder of `stored` bodies, which wrap what must not be compressed.
pub const STORED: CodecId = CodecId(0x10);

/// Every codec. Where rows share an id, the first is the one that decodes it in envelopes.
pub static CODECS: &[&dyn Codec] = &[
    &stored::Stored,
    &snappy::Snappy,
    &lz4::Lz4,
    &lz4_frame::Lz4Frame,
    &deflate::GZIP_LIBDEFLATE,
    &deflate::GZIP,
    &deflate::ZLIB_LIBDEFLATE,
    &deflate::ZLIB,
    &deflate::RAW_LIBDEFLATE,
    &deflate::RAW,
    &zstd::ZSTD,
    &zstd::ZSTD_BARE,
    &brotli::Brotli,
    &lzma2::Lzma2,
    &bzip2::Bzip2,
];

/// The codec of this registry name, case-sensitive.
pub fn codec_named(name: &str) -> Option<&'static dyn Codec> {
    CODECS.iter().copied().find(|codec| codec.info().name == name)
}

/// The codec that decodes this id: the first row that has it.
pub fn decoder_of(id: CodecId) -> Option<&'static dyn Codec> {
    CODECS.iter().copied().find(|codec| codec.info().id == id)
}
