//! `lzma2`: the raw LZMA2 stream of xz, without the .xz container, which costs about 60 bytes and
//! a checksum that the envelope has already.
//!
//! One byte of ours goes first: the dictionary size, coded as in an .xz filter header. The encoder
//! picks the smallest that holds the payload. The decoder never takes it at its word: it needs no
//! more dictionary than its output is long, and allocates no more.

use std::sync::Arc;

use crate::codec::named::{Named, check_compressor, check_decompressor};
use crate::codec::{
    Codec, CodecId, CodecInfo, CompressError, Compressor, DecompressError, Decompressor,
    DictionaryUse, Levels, SetupError,
};
use crate::dictionary::Dictionary;

mod library;

use library::{Coder, Options, Outcome};

static INFO: CodecInfo = CodecInfo {
    id: CodecId(0x19),
    name: "lzma2",
    summary: "raw LZMA2 (the codec inside .xz): best ratio for large payloads, slow",
    library: library::version,
    levels: Levels { min: 0, max: 9, default: 6, slow_from: 7 },
    dictionary_use: DictionaryUse::None,
    takes_prefix: false,
    since: "0.1.0",
    until: None,
};

/// The largest dictionary code of the format.
const CODE_MAX: u8 = 40;

/// The smallest dictionary of the format, code 0.
const DICTIONARY_BYTES_MIN: u32 = 4096;

/// The largest dictionary that we allocate for decoding: liblzma's own limit for LZMA2.
const DICTIONARY_BYTES_MAX: u32 = (1 << 30) + (1 << 29);

/// The registry row.
pub(super) struct Lzma2;

struct Lzma2Compressor {
    coder: Coder,
    options: Options,
    /// The code of the level's own dictionary size.
    code_max: u8,
}

struct Lzma2Decompressor {
    coder: Coder,
    options: Options,
}

/// The dictionary size of a code: 2 or 3 times a power of two, as in an .xz filter header.
fn dictionary_bytes(code: u8) -> u32 {
    if code >= CODE_MAX { u32::MAX } else { (2 | u32::from(code & 1)) << (code / 2 + 11) }
}

/// The code of the smallest dictionary that holds `length` bytes, at most `max`.
fn code_for(length: usize, max: u8) -> u8 {
    let mut code = 0;
    while code < max && (dictionary_bytes(code) as usize) < length {
        code += 1;
    }
    code
}

impl Codec for Lzma2 {
    fn info(&self) -> &'static CodecInfo {
        &INFO
    }

    fn compress_bound(&self, length: usize) -> usize {
        // Our byte, the end mark, and per chunk (of at least 32 KiB when it does not shrink) a
        // header of at most six bytes.
        length + 6 * (length / (32 << 10) + 1) + 2
    }

    fn compressor(
        &self,
        level: i32,
        dictionary: Option<&Arc<Dictionary>>,
    ) -> Result<Box<dyn Compressor>, SetupError> {
        check_compressor(&INFO, level, dictionary)?;
        let options = Options::of_level(level.unsigned_abs());
        let code_max = code_for(options.dictionary_bytes() as usize, CODE_MAX);
        Ok(Box::new(Lzma2Compressor { coder: Coder::new(), options, code_max }))
    }

    fn decompressor(
        &self,
        dictionary: Option<&Arc<Dictionary>>,
    ) -> Result<Box<dyn Decompressor>, SetupError> {
        check_decompressor(&INFO, dictionary)?;
        let mut options = Options::of_level(0);
        options.set_dictionary_bytes(DICTIONARY_BYTES_MIN);
        Ok(Box::new(Lzma2Decompressor { coder: Coder::new(), options }))
    }
}

impl Compressor for Lzma2Compressor {
    fn compress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, CompressError> {
        let Some((first, stream)) = output.split_first_mut() else {
            return Err(Named::of(&INFO).no_room(output));
        };
        *first = code_for(input.len(), self.code_max);
        self.options.set_dictionary_bytes(dictionary_bytes(*first));
        match self.coder.encode(&self.options, input, stream) {
            Outcome::Whole { written, .. } => Ok(1 + written),
            Outcome::OutputFull | Outcome::InputEnded => Err(Named::of(&INFO).no_room(output)),
            Outcome::Failed(code) => Err(Named::of(&INFO).compress_failed(code)),
        }
    }

    fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.coder.encoder_memory_bytes(&self.options)
    }
}

impl Decompressor for Lzma2Decompressor {
    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, DecompressError> {
        let named = Named::of(&INFO);
        let Some((&code, stream)) = input.split_first() else {
            return Err(named.corrupt());
        };
        if code > CODE_MAX {
            return Err(named.corrupt());
        }
        // Content that fits the output cannot refer back further than the output is long. A
        // dictionary that is larger than needed does no harm, so it never shrinks: changing its
        // size makes the library allocate.
        let output_bytes = u32::try_from(output.len().next_multiple_of(4096)).unwrap_or(u32::MAX);
        let needed = output_bytes.clamp(DICTIONARY_BYTES_MIN, DICTIONARY_BYTES_MAX);
        self.options.set_dictionary_bytes(needed.max(self.options.dictionary_bytes()));
        match self.coder.decode(&self.options, stream, output) {
            Outcome::Whole { read, written } if read == stream.len() => Ok(written),
            Outcome::Whole { read, .. } => Err(named.trailing(stream.len() - read)),
            Outcome::OutputFull => Err(named.too_long(output.len())),
            Outcome::InputEnded => Err(named.corrupt()),
            Outcome::Failed(code) if library::is_damage(code) => Err(named.corrupt()),
            Outcome::Failed(code) => Err(named.decompress_failed(code)),
        }
    }

    fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.coder.decoder_memory_bytes(&self.options)
    }

    fn name(&self) -> &'static str {
        INFO.name
    }
}
