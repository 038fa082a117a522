//! `bzip2`: one bzip2 stream. It wins on some large columnar data and loses nearly everywhere
//! else, and is here so that an evaluation can say so with figures.
//!
//! The library has no reset, so each call makes a state anew from the context's pool. The block
//! size is the smallest that takes the payload in one block, at most the level's: the bytes are
//! the same but for the digit in the header, and both sides need less memory.

use std::sync::Arc;

use crate::codec::named::{Named, check_compressor, check_decompressor};
use crate::codec::{
    Codec, CodecId, CodecInfo, CompressError, Compressor, DecompressError, Decompressor,
    DictionaryUse, Levels, SetupError,
};
use crate::dictionary::Dictionary;

mod library;

use library::{Coder, Outcome};

#[cfg(test)]
pub(super) use library::VERSION;

static INFO: CodecInfo = CodecInfo {
    id: CodecId(0x1A),
    name: "bzip2",
    summary: "bzip2: block sorting, good on large repetitive text, slow to decode",
    library: library::version,
    levels: Levels { min: 1, max: 9, default: 9, slow_from: 10 },
    dictionary_use: DictionaryUse::None,
    takes_prefix: false,
    since: "0.1.0",
    until: None,
};

/// A level's block size is this many bytes times the level.
const BLOCK_BYTES: usize = 100_000;

/// Runs of four bytes become five before sorting, and a block has 19 bytes less than its size.
const BLOCK_GAP: usize = 32;

/// The registry row.
pub(super) struct Bzip2;

struct Bzip2Compressor {
    coder: Coder,
    level: i32,
}

struct Bzip2Decompressor {
    coder: Coder,
}

impl Codec for Bzip2 {
    fn info(&self) -> &'static CodecInfo {
        &INFO
    }

    fn compress_bound(&self, length: usize) -> usize {
        // The library's documented bound.
        length + length / 100 + 600
    }

    fn compressor(
        &self,
        level: i32,
        dictionary: Option<&Arc<Dictionary>>,
    ) -> Result<Box<dyn Compressor>, SetupError> {
        check_compressor(&INFO, level, dictionary)?;
        Ok(Box::new(Bzip2Compressor { coder: Coder::new(), level }))
    }

    fn decompressor(
        &self,
        dictionary: Option<&Arc<Dictionary>>,
    ) -> Result<Box<dyn Decompressor>, SetupError> {
        check_decompressor(&INFO, dictionary)?;
        Ok(Box::new(Bzip2Decompressor { coder: Coder::new() }))
    }
}

/// The block size, in units of [`BLOCK_BYTES`], for a payload at a level.
fn block_size(length: usize, level: i32) -> i32 {
    let in_one_block = (length + length / 4 + BLOCK_GAP).div_ceil(BLOCK_BYTES);
    level.min(i32::try_from(in_one_block).unwrap_or(i32::MAX))
}

impl Compressor for Bzip2Compressor {
    fn compress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, CompressError> {
        if output.is_empty() {
            // The library calls this a wrong parameter.
            return Err(Named::of(&INFO).no_room(output));
        }
        match self.coder.compress(block_size(input.len(), self.level), input, output) {
            Outcome::Whole { written, .. } => Ok(written),
            Outcome::OutputFull | Outcome::InputEnded => Err(Named::of(&INFO).no_room(output)),
            Outcome::Failed(code) => Err(Named::of(&INFO).compress_failed(code)),
        }
    }

    fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.coder.memory_bytes()
    }
}

impl Decompressor for Bzip2Decompressor {
    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, DecompressError> {
        match self.coder.decompress(input, output) {
            Outcome::Whole { read, written } if read == input.len() => Ok(written),
            Outcome::Whole { read, .. } => Err(Named::of(&INFO).trailing(input.len() - read)),
            Outcome::OutputFull => Err(Named::of(&INFO).too_long(output.len())),
            Outcome::InputEnded => Err(Named::of(&INFO).corrupt()),
            Outcome::Failed(code) if library::is_damage(code) => Err(Named::of(&INFO).corrupt()),
            Outcome::Failed(code) => Err(Named::of(&INFO).decompress_failed(code)),
        }
    }

    fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.coder.memory_bytes()
    }

    fn name(&self) -> &'static str {
        INFO.name
    }
}
