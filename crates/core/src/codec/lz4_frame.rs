//! `lz4-frame`: one LZ4 frame, with its magic and content size: what `lz4 -dc` reads. The interop
//! form is made of it; in an envelope the bare block of `lz4` says the same in fewer bytes.
//!
//! We write linked blocks of 64 KiB without checksums, because the header before the frame has a
//! checksum. Larger blocks would find nothing more (a match reaches back 64 KiB at most) and would
//! cost every reader larger buffers. We read what any encoder writes: checksums that are there must
//! hold. Frames end where they say, so that what follows is counted and refused.

use std::sync::Arc;

use crate::codec::lz4;
use crate::codec::named::{Named, check_compressor, check_decompressor};
use crate::codec::{
    Codec, CodecId, CodecInfo, CompressError, Compressor, DecompressError, Decompressor,
    DictionaryUse, SetupError,
};
use crate::dictionary::Dictionary;

mod library;
mod memory;

use library::{CompressState, DecompressState, Failure, Outcome};

static INFO: CodecInfo = CodecInfo {
    id: CodecId(0x1C),
    name: "lz4-frame",
    summary: "LZ4 frame: what `lz4 -dc` reads",
    library: lz4::version,
    levels: lz4::LEVELS,
    dictionary_use: DictionaryUse::None,
    takes_prefix: false,
    since: "0.1.0",
    until: None,
};

/// What a frame starts with. Legacy and skippable frames start otherwise, and are none of ours.
const MAGIC: [u8; 4] = [0x04, 0x22, 0x4D, 0x18];

/// The registry row.
pub(super) struct Lz4Frame;

struct FrameCompressor {
    state: CompressState,
    level: i32,
}

struct FrameDecompressor {
    state: DecompressState,
}

impl Codec for Lz4Frame {
    fn info(&self) -> &'static CodecInfo {
        &INFO
    }

    fn compress_bound(&self, length: usize) -> usize {
        library::compress_bound(length)
    }

    fn bare_form(&self) -> Option<&'static dyn Codec> {
        Some(&lz4::Lz4)
    }

    fn compressor(
        &self,
        level: i32,
        dictionary: Option<&Arc<Dictionary>>,
    ) -> Result<Box<dyn Compressor>, SetupError> {
        check_compressor(&INFO, level, dictionary)?;
        let state = CompressState::new().ok_or_else(|| Named::of(&INFO).out_of_memory())?;
        // The frame's functions count accelerations from 0 and the block's from 1, so that this
        // makes a level here do what it does in the `lz4` row.
        let level = if level < 0 { level + 1 } else { level };
        Ok(Box::new(FrameCompressor { state, level }))
    }

    fn decompressor(
        &self,
        dictionary: Option<&Arc<Dictionary>>,
    ) -> Result<Box<dyn Decompressor>, SetupError> {
        check_decompressor(&INFO, dictionary)?;
        let state = DecompressState::new().ok_or_else(|| Named::of(&INFO).out_of_memory())?;
        Ok(Box::new(FrameDecompressor { state }))
    }
}

impl FrameCompressor {
    fn compress_with_room(
        &mut self,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<usize, CompressError> {
        self.state
            .compress(input, output, self.level)
            .map_err(|Failure(code)| Named::of(&INFO).compress_failed(code))
    }

    /// The library wants room for the worst case and refuses less, even where the frame would fit.
    #[cold]
    fn compress_elsewhere(
        &mut self,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<usize, CompressError> {
        let mut frame = vec![0; library::compress_bound(input.len())];
        let length = self.compress_with_room(input, &mut frame)?;
        match output.get_mut(..length) {
            Some(place) => place.copy_from_slice(&frame[..length]),
            None => return Err(Named::of(&INFO).no_room(output)),
        }
        Ok(length)
    }
}

impl Compressor for FrameCompressor {
    fn compress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, CompressError> {
        if output.len() < library::compress_bound(input.len()) {
            return self.compress_elsewhere(input, output);
        }
        self.compress_with_room(input, output)
    }

    fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.state.memory_bytes()
    }
}

impl Decompressor for FrameDecompressor {
    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, DecompressError> {
        let named = Named::of(&INFO);
        // The library would skip a skippable frame and call it whole.
        if !input.starts_with(&MAGIC) {
            return Err(named.corrupt());
        }
        match self.state.decompress(input, output) {
            Outcome::Whole { read, written } if read == input.len() => Ok(written),
            Outcome::Whole { read, .. } => Err(named.trailing(input.len() - read)),
            Outcome::NeedsDictionary(id) => Err(named.needs_dictionary(id)),
            Outcome::OutputFull => Err(named.too_long(output.len())),
            Outcome::InputEnded => Err(named.corrupt()),
            Outcome::Failed(failure) if failure.is_of_memory() => {
                Err(named.decompress_failed(failure.0))
            }
            Outcome::Failed(_) => Err(named.corrupt()),
        }
    }

    fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.state.memory_bytes()
    }

    fn name(&self) -> &'static str {
        INFO.name
    }
}
