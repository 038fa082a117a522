//! `zstd` and `zstd-bare`: one frame of RFC 8878, with its magic and content size, or with every
//! part left out that the envelope carries anyway.
//!
//! Both take dictionaries on every level. A standard frame made with a dictionary in zstd's own
//! format names it; a bare frame, and any frame made with a raw-content dictionary, does not, and
//! then only the envelope's checksum can tell the wrong dictionary; the same holds for a prefix.
//! Decoding goes straight into the output in one pass: a frame's window size never causes an
//! allocation.

use std::sync::Arc;

use crate::codec::named::{Named, check_compressor, check_decompressor};
use crate::codec::{
    Codec, CodecId, CodecInfo, CompressError, Compressor, DecompressError, Decompressor,
    DictionaryMemory, DictionaryUse, Levels, PrefixCompressor, PrefixDecompressor, SetupError,
};
use crate::dictionary::{Dictionary, Purpose};

mod frame;
mod library;

use frame::Frame;
use library::{CompressDictionary, CompressState, DecompressDictionary, DecompressState, Failure};

/// The two framings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    /// Magic, content size, and the id of a dictionary that has one.
    Standard,
    /// None of them.
    Bare,
}

/// A registry row.
pub(super) struct Zstd {
    info: &'static CodecInfo,
    format: Format,
}

/// Levels below -50 trade nothing more that a payload would notice.
const LEVELS: Levels = Levels { min: -50, max: 22, default: 3, slow_from: 17 };

pub(super) static ZSTD: Zstd = Zstd {
    info: &CodecInfo {
        id: CodecId(0x16),
        name: "zstd",
        summary: "Zstandard frame: the best trade for most payloads, with or without dictionary",
        library: library::version,
        levels: LEVELS,
        dictionary_use: DictionaryUse::EveryLevel,
        takes_prefix: true,
        since: "0.1.0",
        until: None,
    },
    format: Format::Standard,
};

pub(super) static ZSTD_BARE: Zstd = Zstd {
    info: &CodecInfo {
        id: CodecId(0x17),
        name: "zstd-bare",
        summary: "Zstandard without what an envelope repeats: up to 12 bytes less per payload",
        library: library::version,
        levels: LEVELS,
        dictionary_use: DictionaryUse::EveryLevel,
        takes_prefix: true,
        since: "0.1.0",
        until: None,
    },
    format: Format::Bare,
};

struct ZstdCompressor {
    named: Named,
    state: CompressState,
}

struct ZstdDecompressor {
    named: Named,
    format: Format,
    state: DecompressState,
}

impl Zstd {
    fn for_compression(
        &self,
        level: i32,
        dictionary: &Arc<Dictionary>,
    ) -> Result<Arc<CompressDictionary>, SetupError> {
        dictionary.prepared(self.info.id, Purpose::Compress(level), |bytes| {
            CompressDictionary::new(bytes, level)
                .ok_or_else(|| Named::of(self.info).bad_dictionary(dictionary))
        })
    }

    fn for_decompression(
        &self,
        dictionary: &Arc<Dictionary>,
    ) -> Result<Arc<DecompressDictionary>, SetupError> {
        dictionary.prepared(self.info.id, Purpose::Decompress, |bytes| {
            DecompressDictionary::new(bytes)
                .ok_or_else(|| Named::of(self.info).bad_dictionary(dictionary))
        })
    }
}

impl Codec for Zstd {
    fn info(&self) -> &'static CodecInfo {
        self.info
    }

    fn compress_bound(&self, length: usize) -> usize {
        library::compress_bound(length)
    }

    fn bare_form(&self) -> Option<&'static dyn Codec> {
        (self.format == Format::Standard).then_some(&ZSTD_BARE as &dyn Codec)
    }

    fn dictionary_memory(
        &self,
        level: i32,
        dictionary: &Arc<Dictionary>,
    ) -> Result<DictionaryMemory, SetupError> {
        check_compressor(self.info, level, Some(dictionary))?;
        Ok(DictionaryMemory {
            compress_bytes: self.for_compression(level, dictionary)?.memory_bytes(),
            decompress_bytes: self.for_decompression(dictionary)?.memory_bytes(),
        })
    }

    fn compressor(
        &self,
        level: i32,
        dictionary: Option<&Arc<Dictionary>>,
    ) -> Result<Box<dyn Compressor>, SetupError> {
        check_compressor(self.info, level, dictionary)?;
        let named = Named::of(self.info);
        let prepared =
            dictionary.map(|dictionary| self.for_compression(level, dictionary)).transpose()?;
        let state = CompressState::new(self.format, level, prepared)
            .ok_or_else(|| named.out_of_memory())?;
        Ok(Box::new(ZstdCompressor { named, state }))
    }

    fn decompressor(
        &self,
        dictionary: Option<&Arc<Dictionary>>,
    ) -> Result<Box<dyn Decompressor>, SetupError> {
        check_decompressor(self.info, dictionary)?;
        let named = Named::of(self.info);
        let prepared =
            dictionary.map(|dictionary| self.for_decompression(dictionary)).transpose()?;
        let state =
            DecompressState::new(self.format, prepared).ok_or_else(|| named.out_of_memory())?;
        Ok(Box::new(ZstdDecompressor { named, format: self.format, state }))
    }
}

impl Compressor for ZstdCompressor {
    fn compress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, CompressError> {
        let compressed = self.state.compress(input, output);
        compressed.map_err(|failure| self.error(failure, output))
    }

    fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.state.memory_bytes()
    }

    fn with_prefix(&mut self) -> Option<&mut dyn PrefixCompressor> {
        Some(self)
    }
}

impl PrefixCompressor for ZstdCompressor {
    fn compress_after(
        &mut self,
        prefix: &[u8],
        input: &[u8],
        output: &mut [u8],
    ) -> Result<usize, CompressError> {
        let compressed = self.state.compress_after(prefix, input, output);
        compressed.map_err(|failure| self.error(failure, output))
    }
}

impl ZstdCompressor {
    fn error(&self, failure: Failure, output: &[u8]) -> CompressError {
        match failure {
            Failure::NoRoom => self.named.no_room(output),
            other => self.named.compress_failed(other.code()),
        }
    }
}

impl Decompressor for ZstdDecompressor {
    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, DecompressError> {
        let frame = self.only_frame(input)?;
        let decompressed = self.state.decompress(input, output);
        decompressed.map_err(|failure| self.error(failure, frame, output))
    }

    fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.state.memory_bytes()
    }

    fn name(&self) -> &'static str {
        self.named.0
    }

    fn with_prefix(&mut self) -> Option<&mut dyn PrefixDecompressor> {
        Some(self)
    }
}

impl PrefixDecompressor for ZstdDecompressor {
    fn decompress_after(
        &mut self,
        prefix: &[u8],
        input: &[u8],
        output: &mut [u8],
    ) -> Result<usize, DecompressError> {
        let frame = self.only_frame(input)?;
        let decompressed = self.state.decompress_after(prefix, input, output);
        decompressed.map_err(|failure| self.error(failure, frame, output))
    }

    fn name(&self) -> &'static str {
        self.named.0
    }
}

impl ZstdDecompressor {
    /// The one frame that the input must be: the library would go on with a second one.
    fn only_frame(&self, input: &[u8]) -> Result<Frame, DecompressError> {
        match frame::first(input, self.format) {
            None => Err(self.named.corrupt()),
            Some(frame) if frame.length < input.len() => {
                Err(self.named.trailing(input.len() - frame.length))
            }
            Some(frame) => Ok(frame),
        }
    }

    fn error(&self, failure: Failure, frame: Frame, output: &[u8]) -> DecompressError {
        match failure {
            Failure::NoRoom => self.named.too_long(output.len()),
            Failure::Memory => self.named.decompress_failed(Failure::Memory.code()),
            Failure::Dictionary if frame.dictionary_id != 0 => {
                self.named.needs_dictionary(frame.dictionary_id)
            }
            Failure::Dictionary | Failure::Other(_) => self.named.corrupt(),
        }
    }
}
