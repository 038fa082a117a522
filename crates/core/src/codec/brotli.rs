//! `brotli`: one stream of RFC 7932, as browsers read it. Large windows, which they do not read,
//! stay off.
//!
//! The library has no reset: a state is made and destroyed for each payload. Its memory comes from
//! a pool that the context keeps, so that no call allocates once the context is warm. The window
//! is chosen from the payload's size, which is known, and keeps decoders' memory small.

use std::sync::Arc;

use crate::codec::named::{Named, check_compressor, check_decompressor};
use crate::codec::{
    Codec, CodecId, CodecInfo, CompressError, Compressor, DecompressError, Decompressor,
    DictionaryUse, Levels, SetupError,
};
use crate::dictionary::Dictionary;

mod library;
mod uncompressed;

use library::{Decoded, Encoder};

static INFO: CodecInfo = CodecInfo {
    id: CodecId(0x18),
    name: "brotli",
    summary: "Brotli: better ratio than gzip, understood by every browser",
    library: library::version,
    levels: Levels { min: 0, max: 11, default: 5, slow_from: 10 },
    dictionary_use: DictionaryUse::None,
    takes_prefix: false,
    since: "0.1.0",
    until: None,
};

/// The windows of RFC 7932, as powers of two.
const WINDOW_LOG_MIN: u32 = 10;
const WINDOW_LOG_MAX: u32 = 24;

/// A window holds this much less than its power of two.
const WINDOW_GAP: usize = 16;

/// The registry row.
pub(super) struct Brotli;

struct BrotliCompressor {
    encoder: Encoder,
}

struct BrotliDecompressor {
    decoder: library::Decoder,
}

impl Codec for Brotli {
    fn info(&self) -> &'static CodecInfo {
        &INFO
    }

    fn compress_bound(&self, length: usize) -> usize {
        uncompressed::stream_bytes(length)
    }

    fn compressor(
        &self,
        level: i32,
        dictionary: Option<&Arc<Dictionary>>,
    ) -> Result<Box<dyn Compressor>, SetupError> {
        check_compressor(&INFO, level, dictionary)?;
        Ok(Box::new(BrotliCompressor { encoder: Encoder::new(level.unsigned_abs()) }))
    }

    fn decompressor(
        &self,
        dictionary: Option<&Arc<Dictionary>>,
    ) -> Result<Box<dyn Decompressor>, SetupError> {
        check_decompressor(&INFO, dictionary)?;
        Ok(Box::new(BrotliDecompressor { decoder: library::Decoder::new() }))
    }
}

/// The smallest window that holds the payload.
fn window_log(length: usize) -> u32 {
    let needed = (length + WINDOW_GAP).next_power_of_two().trailing_zeros();
    needed.clamp(WINDOW_LOG_MIN, WINDOW_LOG_MAX)
}

impl Compressor for BrotliCompressor {
    fn compress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, CompressError> {
        let bound = uncompressed::stream_bytes(input.len());
        let room = output.len().min(bound);
        if let Some(length) =
            self.encoder.compress(window_log(input.len()), input, &mut output[..room])
        {
            return Ok(length);
        }
        // What does not shrink is written uncompressed, which is what makes the bound hold.
        if output.len() < bound {
            return Err(Named::of(&INFO).no_room(output));
        }
        Ok(uncompressed::write(input, output))
    }

    fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.encoder.memory_bytes()
    }
}

impl Decompressor for BrotliDecompressor {
    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, DecompressError> {
        match self.decoder.decompress(input, output) {
            Decoded::Whole { read, written } if read == input.len() => Ok(written),
            Decoded::Whole { read, .. } => Err(Named::of(&INFO).trailing(input.len() - read)),
            Decoded::TooLong => Err(Named::of(&INFO).too_long(output.len())),
            Decoded::Corrupt => Err(Named::of(&INFO).corrupt()),
            Decoded::Failed(code) => Err(Named::of(&INFO).decompress_failed(code)),
        }
    }

    fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.decoder.memory_bytes()
    }

    fn name(&self) -> &'static str {
        INFO.name
    }
}
