//! The zlib family by zlib itself: what `gzip -6` writes on every machine, to the byte, and so the
//! baseline that published figures were measured with.
//!
//! Faster libraries write other bytes at the same level (zlib-ng's is up to 9 % smaller on flight
//! lists), which would make a baseline of ours nobody else's. For speed there is libdeflate.

use super::Wrapper;
use crate::codec::named::Named;
use crate::codec::{
    CodecInfo, CompressError, Compressor, DecompressError, Decompressor, SetupError,
};

mod library;

use library::{DeflateState, InflateState, Status};

/// The most bytes that a payload can become in any of the wrappers.
pub(super) fn compress_bound(length: usize) -> usize {
    library::compress_bound(length)
}

/// The library's version, as it tells it.
pub(super) fn version() -> String {
    library::version()
}

pub(super) struct ZlibCompressor {
    named: Named,
    state: DeflateState,
}

pub(super) struct ZlibDecompressor {
    named: Named,
    state: InflateState,
}

impl ZlibCompressor {
    pub(super) fn new(
        info: &'static CodecInfo,
        wrapper: Wrapper,
        level: i32,
    ) -> Result<Self, SetupError> {
        let named = Named::of(info);
        let state = DeflateState::new(wrapper, level).ok_or_else(|| named.out_of_memory())?;
        Ok(ZlibCompressor { named, state })
    }
}

impl Compressor for ZlibCompressor {
    fn compress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, CompressError> {
        match self.state.compress(input, output) {
            (Status::End, _, written) => Ok(written),
            (Status::NoProgress, ..) => Err(self.named.no_room(output)),
            (Status::Damage, ..) => Err(self.named.compress_failed(library::DAMAGE)),
            (Status::NeedsDictionary(_), ..) => Err(self.named.compress_failed(library::STREAM)),
            (Status::Failed(code), ..) => Err(self.named.compress_failed(code)),
        }
    }

    fn memory_bytes(&self) -> usize {
        size_of::<Self>() + library::DEFLATE_BYTES
    }
}

impl ZlibDecompressor {
    pub(super) fn new(info: &'static CodecInfo, wrapper: Wrapper) -> Result<Self, SetupError> {
        let named = Named::of(info);
        let state = InflateState::new(wrapper).ok_or_else(|| named.out_of_memory())?;
        Ok(ZlibDecompressor { named, state })
    }

    /// The output is full and the end was not seen: is there more content, or is the end cut off?
    #[cold]
    fn full(&mut self, rest: &[u8], capacity: usize) -> DecompressError {
        match self.state.go_on(rest, &mut [0]) {
            (_, _, written) if written > 0 => self.named.too_long(capacity),
            (Status::NeedsDictionary(id), ..) => self.named.needs_dictionary(id),
            _ => self.named.corrupt(),
        }
    }
}

impl Decompressor for ZlibDecompressor {
    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, DecompressError> {
        match self.state.decompress(input, output) {
            (Status::End, read, written) if read == input.len() => Ok(written),
            (Status::End, read, _) => Err(self.named.trailing(input.len() - read)),
            (Status::NoProgress, read, written) if written == output.len() => {
                Err(self.full(&input[read..], written))
            }
            (Status::NoProgress | Status::Damage, ..) => Err(self.named.corrupt()),
            (Status::NeedsDictionary(id), ..) => Err(self.named.needs_dictionary(id)),
            (Status::Failed(code), ..) => Err(self.named.decompress_failed(code)),
        }
    }

    fn memory_bytes(&self) -> usize {
        size_of::<Self>() + library::INFLATE_BYTES
    }

    fn name(&self) -> &'static str {
        self.named.0
    }
}
