//! `lz4`: one bare LZ4 block, without the frame: what the published stores call LZ4_FAST and
//! LZ4_HIGH, which share one decoder and therefore one row.
//!
//! Levels up to 1 are the fast compressor (negative ones trade ratio for speed), 2 to 12 the
//! high-compression one. Only the latter takes a dictionary: the last 64 KiB of it, which is all
//! that a block can refer to. A block has no length and no end mark of its own; the envelope or
//! the store's metadata carries the length, and bytes after the end are reported as damage.

use std::sync::Arc;

use crate::codec::named::{Named, check_compressor, check_decompressor};
use crate::codec::{
    Codec, CodecId, CodecInfo, CompressError, Compressor, DecompressError, Decompressor,
    DictionaryMemory, DictionaryUse, Levels, SetupError,
};
use crate::dictionary::{Dictionary, Purpose};

mod library;
mod walk;

pub(super) use library::version;
use library::{FastState, HighDictionary, HighState};

/// The levels of blocks, and of the frames that are made of them.
pub(super) const LEVELS: Levels = Levels { min: -64, max: 12, default: 1, slow_from: 13 };

static INFO: CodecInfo = CodecInfo {
    id: CodecId(0x12),
    name: "lz4",
    summary: "LZ4 block: 1 and below fast, 2 to 12 high compression, decodes fastest of all",
    library: library::version,
    levels: LEVELS,
    dictionary_use: DictionaryUse::HighLevels,
    takes_prefix: false,
    since: "0.1.0",
    until: None,
};

/// The first level of the high-compression encoder.
const HIGH_LEVEL_MIN: i32 = 2;

/// How far back a block can refer, and so how much of a dictionary is of use.
const DICTIONARY_BYTES_MAX: usize = 64 << 10;

/// The registry row.
pub(super) struct Lz4;

struct FastCompressor {
    state: FastState,
    acceleration: i32,
}

struct HighCompressor {
    state: HighState,
    level: i32,
    dictionary: Option<Arc<HighDictionary>>,
}

struct Lz4Decompressor {
    dictionary: Option<Arc<Dictionary>>,
}

impl Codec for Lz4 {
    fn info(&self) -> &'static CodecInfo {
        &INFO
    }

    fn compress_bound(&self, length: usize) -> usize {
        // LZ4_COMPRESSBOUND, which the library only defines up to its own limit.
        length + length / 255 + 16
    }

    fn dictionary_memory(
        &self,
        level: i32,
        dictionary: &Arc<Dictionary>,
    ) -> Result<DictionaryMemory, SetupError> {
        check_compressor(&INFO, level, Some(dictionary))?;
        if level < HIGH_LEVEL_MIN {
            return Err(no_dictionary(level));
        }
        let compress_bytes = for_compression(level, dictionary)?.memory_bytes();
        Ok(DictionaryMemory { compress_bytes, decompress_bytes: 0 })
    }

    fn compressor(
        &self,
        level: i32,
        dictionary: Option<&Arc<Dictionary>>,
    ) -> Result<Box<dyn Compressor>, SetupError> {
        check_compressor(&INFO, level, dictionary)?;
        let named = Named::of(&INFO);
        if level < HIGH_LEVEL_MIN {
            if dictionary.is_some() {
                return Err(no_dictionary(level));
            }
            let state = FastState::new().ok_or_else(|| named.out_of_memory())?;
            // Levels 1, 0 and -1 are all the default acceleration of one.
            return Ok(Box::new(FastCompressor { state, acceleration: (-level).max(1) }));
        }
        let dictionary =
            dictionary.map(|dictionary| for_compression(level, dictionary)).transpose()?;
        let state = HighState::new().ok_or_else(|| named.out_of_memory())?;
        Ok(Box::new(HighCompressor { state, level, dictionary }))
    }

    fn decompressor(
        &self,
        dictionary: Option<&Arc<Dictionary>>,
    ) -> Result<Box<dyn Decompressor>, SetupError> {
        check_decompressor(&INFO, dictionary)?;
        Ok(Box::new(Lz4Decompressor { dictionary: dictionary.cloned() }))
    }
}

fn no_dictionary(level: i32) -> SetupError {
    SetupError::NoDictionary { codec: INFO.name, level: Some(level) }
}

fn for_compression(
    level: i32,
    dictionary: &Arc<Dictionary>,
) -> Result<Arc<HighDictionary>, SetupError> {
    dictionary.prepared(INFO.id, Purpose::Compress(level), |bytes| {
        HighDictionary::new(content(bytes), level).ok_or_else(|| Named::of(&INFO).out_of_memory())
    })
}

/// The part of a dictionary that a block can refer to.
fn content(bytes: &[u8]) -> &[u8] {
    &bytes[bytes.len().saturating_sub(DICTIONARY_BYTES_MAX)..]
}

/// The block of no bytes, one token without literals. The optimal parser (levels 10 to 12) must not
/// see it: it subtracts from the input's address, and an empty slice's may be as low as 1.
fn compress_nothing(output: &mut [u8]) -> Result<usize, CompressError> {
    match output.first_mut() {
        Some(token) => *token = 0,
        None => return Err(Named::of(&INFO).no_room(output)),
    }
    Ok(1)
}

/// What a call of the library means when it returns no length.
#[cold]
fn compress_failure(input: &[u8], output: &[u8]) -> CompressError {
    let named = Named::of(&INFO);
    if input.len() > library::INPUT_BYTES_MAX {
        return named.input_too_large(input, library::INPUT_BYTES_MAX);
    }
    named.no_room(output)
}

impl Compressor for FastCompressor {
    fn compress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, CompressError> {
        match self.state.compress(input, output, self.acceleration) {
            Some(length) => Ok(length),
            None => Err(compress_failure(input, output)),
        }
    }

    fn memory_bytes(&self) -> usize {
        size_of::<Self>() + library::fast_state_bytes()
    }
}

impl Compressor for HighCompressor {
    fn compress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, CompressError> {
        if input.is_empty() {
            return compress_nothing(output);
        }
        let length = match &self.dictionary {
            None => self.state.compress(input, output, self.level),
            Some(dictionary) => self.state.compress_with(dictionary, input, output, self.level),
        };
        length.ok_or_else(|| compress_failure(input, output))
    }

    fn memory_bytes(&self) -> usize {
        size_of::<Self>() + library::high_state_bytes()
    }
}

impl Decompressor for Lz4Decompressor {
    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, DecompressError> {
        let dictionary = match &self.dictionary {
            None => &[],
            Some(dictionary) => content(dictionary.codec_bytes()),
        };
        match library::decompress(input, output, dictionary) {
            Some(length) => Ok(length),
            // The library has one answer for a damaged block and one that is merely too long.
            None => Err(match walk::content_length(input, dictionary.len()) {
                Some(length) if length > output.len() as u64 => {
                    Named::of(&INFO).too_long(output.len())
                }
                _ => Named::of(&INFO).corrupt(),
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
