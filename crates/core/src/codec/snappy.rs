//! `snappy`: the raw block format, as HBase, Kafka and the published two-slot stores write it.
//!
//! The block starts with its content's length, so a decoder knows what it needs before it writes
//! a byte. The framing format is another thing and must not be read or written here.

use std::sync::Arc;

use crate::codec::named::{Named, check_compressor, check_decompressor};
use crate::codec::{
    Codec, CodecId, CodecInfo, CompressError, Compressor, DecompressError, Decompressor,
    DictionaryUse, Levels, SetupError,
};
use crate::dictionary::Dictionary;

mod walk;

static INFO: CodecInfo = CodecInfo {
    id: CodecId(0x11),
    name: "snappy",
    summary: "Snappy raw block: very fast, modest ratio",
    library: || format!("snap {VERSION}"),
    levels: Levels::ONE,
    dictionary_use: DictionaryUse::None,
    takes_prefix: false,
    since: "0.1.0",
    until: None,
};

/// The library's version, which it does not tell; a test compares it with the lock file.
pub(super) const VERSION: &str = "1.1.2";

/// The format's length field holds 32 bits.
const INPUT_BYTES_MAX: usize = u32::MAX as usize;

/// What `snap` allocates the first time an input is longer than its built-in table serves:
/// 2^14 entries of two bytes.
const LARGE_TABLE_BYTES: usize = (1 << 14) * 2;

/// The longest input that the built-in table of 1,024 entries serves.
const SMALL_INPUT_BYTES_MAX: usize = 1024;

/// The registry row.
pub(super) struct Snappy;

struct SnappyCompressor {
    encoder: snap::raw::Encoder,
    has_large_table: bool,
}

struct SnappyDecompressor {
    decoder: snap::raw::Decoder,
}

impl Codec for Snappy {
    fn info(&self) -> &'static CodecInfo {
        &INFO
    }

    fn compress_bound(&self, length: usize) -> usize {
        // The format's own bound: a header, and a literal that does not pay for itself.
        32 + length + length / 6
    }

    fn compressor(
        &self,
        level: i32,
        dictionary: Option<&Arc<Dictionary>>,
    ) -> Result<Box<dyn Compressor>, SetupError> {
        check_compressor(&INFO, level, dictionary)?;
        let encoder = snap::raw::Encoder::new();
        Ok(Box::new(SnappyCompressor { encoder, has_large_table: false }))
    }

    fn decompressor(
        &self,
        dictionary: Option<&Arc<Dictionary>>,
    ) -> Result<Box<dyn Decompressor>, SetupError> {
        check_decompressor(&INFO, dictionary)?;
        Ok(Box::new(SnappyDecompressor { decoder: snap::raw::Decoder::new() }))
    }
}

impl Compressor for SnappyCompressor {
    fn compress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, CompressError> {
        self.has_large_table |= input.len() > SMALL_INPUT_BYTES_MAX;
        match self.encoder.compress(input, output) {
            Ok(length) => Ok(length),
            Err(snap::Error::TooBig { .. }) => {
                Err(Named::of(&INFO).input_too_large(input, INPUT_BYTES_MAX))
            }
            // The library asks for its bound and says so before it writes anything.
            Err(_) => Err(Named::of(&INFO).no_room(output)),
        }
    }

    fn memory_bytes(&self) -> usize {
        let large_table = if self.has_large_table { LARGE_TABLE_BYTES } else { 0 };
        size_of::<Self>() + large_table
    }
}

impl Decompressor for SnappyDecompressor {
    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, DecompressError> {
        match self.decoder.decompress(input, output) {
            Ok(length) => Ok(length),
            Err(snap::Error::BufferTooSmall { .. }) => Err(Named::of(&INFO).too_long(output.len())),
            Err(_) => Err(match walk::bytes_after_content(input) {
                Some(count) => Named::of(&INFO).trailing(count),
                None => Named::of(&INFO).corrupt(),
            }),
        }
    }

    fn memory_bytes(&self) -> usize {
        size_of::<Self>()
    }

    fn name(&self) -> &'static str {
        INFO.name
    }
}
