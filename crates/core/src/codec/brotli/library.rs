//! The calls into Google's brotli: the only file of this codec with `unsafe` in it.
//!
//! Every state is made, used and destroyed within one call, from memory of the context's pool.

use std::ptr::{self, NonNull};

use compu_brotli_sys as library;

use crate::codec::pool::{self, Pool};

/// Single blocks the decoder may always allocate: its code tables and context maps, whose sizes
/// the format bounds, fit well.
const DECODER_BLOCK_BYTES_MIN: usize = 2 << 20;

/// The decoder's window is at most twice the content, or 1 KiB, and a little more.
const DECODER_WINDOW_SLACK: usize = 8 << 10;

/// The library and its version.
pub(super) fn version() -> String {
    // SAFETY: a pure function.
    let number = unsafe { library::BrotliEncoderVersion() };
    format!("libbrotli {}.{}.{}", number >> 24, number >> 12 & 0xFFF, number & 0xFFF)
}

/// What a compression context keeps.
pub(super) struct Encoder {
    pool: Box<Pool>,
    quality: u32,
}

impl Encoder {
    pub(super) fn new(quality: u32) -> Encoder {
        Encoder { pool: Pool::new(), quality }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.pool.held_bytes()
    }

    /// Compresses into one stream; `None` when it does not fit.
    pub(super) fn compress(
        &mut self,
        window_log: u32,
        input: &[u8],
        output: &mut [u8],
    ) -> Option<usize> {
        let (mut available_in, mut next_in) = (input.len(), input.as_ptr());
        let (mut available_out, mut next_out) = (output.len(), output.as_mut_ptr());
        // A hint: inputs that do not fit it are not compressed by one call of ours.
        let size_hint = u32::try_from(input.len()).unwrap_or(u32::MAX);
        // SAFETY: the pool outlives the state, which is destroyed below; pointers and lengths are
        // those of the slices and the library keeps each pair in step.
        unsafe {
            let state = library::BrotliEncoderCreateInstance(
                Some(pool::allocate),
                Some(pool::give_back),
                self.pool.opaque(),
            );
            let state = NonNull::new(state)?.as_ptr();
            for (parameter, value) in [
                (library::BrotliEncoderParameter_BROTLI_PARAM_QUALITY, self.quality),
                (library::BrotliEncoderParameter_BROTLI_PARAM_LGWIN, window_log),
                (library::BrotliEncoderParameter_BROTLI_PARAM_SIZE_HINT, size_hint),
            ] {
                library::BrotliEncoderSetParameter(state, parameter, value);
            }
            library::BrotliEncoderCompressStream(
                state,
                library::BrotliEncoderOperation_BROTLI_OPERATION_FINISH,
                &mut available_in,
                &mut next_in,
                &mut available_out,
                &mut next_out,
                ptr::null_mut(),
            );
            let finished = library::BrotliEncoderIsFinished(state) != 0;
            library::BrotliEncoderDestroyInstance(state);
            finished.then_some(output.len() - available_out)
        }
    }
}

/// What a decoder made of its input.
pub(super) enum Decoded {
    /// A whole stream.
    Whole {
        /// How many bytes it had.
        read: usize,
        /// How many bytes it held.
        written: usize,
    },
    /// A stream that holds more than the output takes.
    TooLong,
    /// A damaged stream, or one that is cut short.
    Corrupt,
    /// There was no memory.
    Failed(i64),
}

/// What a decompression context keeps.
pub(super) struct Decoder {
    pool: Box<Pool>,
}

impl Decoder {
    pub(super) fn new() -> Decoder {
        Decoder { pool: Pool::new() }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.pool.held_bytes()
    }

    /// Decompresses one stream.
    pub(super) fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Decoded {
        let window_bytes_max = output.len().saturating_mul(2) + DECODER_WINDOW_SLACK;
        self.pool.set_block_bytes_max(window_bytes_max.max(DECODER_BLOCK_BYTES_MIN));
        let (mut available_in, mut next_in) = (input.len(), input.as_ptr());
        let (mut available_out, mut next_out) = (output.len(), output.as_mut_ptr());
        // SAFETY: the pool outlives the state, which is destroyed below; pointers and lengths are
        // those of the slices and the library keeps each pair in step.
        let (result, code) = unsafe {
            let state = library::BrotliDecoderCreateInstance(
                Some(pool::allocate),
                Some(pool::give_back),
                self.pool.opaque(),
            );
            if state.is_null() {
                return Decoded::Failed(0);
            }
            let result = library::BrotliDecoderDecompressStream(
                state,
                &mut available_in,
                &mut next_in,
                &mut available_out,
                &mut next_out,
                ptr::null_mut(),
            );
            let code = library::BrotliDecoderGetErrorCode(state);
            library::BrotliDecoderDestroyInstance(state);
            (result, code)
        };
        let (read, written) = (input.len() - available_in, output.len() - available_out);
        match result {
            library::BrotliDecoderResult_BROTLI_DECODER_RESULT_SUCCESS => {
                Decoded::Whole { read, written }
            }
            library::BrotliDecoderResult_BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT => {
                Decoded::TooLong
            }
            library::BrotliDecoderResult_BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT => Decoded::Corrupt,
            _ => failure(code),
        }
    }
}

/// What an error of the decoder means.
fn failure(code: library::BrotliDecoderErrorCode) -> Decoded {
    match code {
        // The window would be more than twice the output: so is the meta-block that asks for it.
        library::BrotliDecoderErrorCode_BROTLI_DECODER_ERROR_ALLOC_RING_BUFFER_1
        | library::BrotliDecoderErrorCode_BROTLI_DECODER_ERROR_ALLOC_RING_BUFFER_2 => {
            Decoded::TooLong
        }
        library::BrotliDecoderErrorCode_BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES
        | library::BrotliDecoderErrorCode_BROTLI_DECODER_ERROR_ALLOC_TREE_GROUPS
        | library::BrotliDecoderErrorCode_BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MAP
        | library::BrotliDecoderErrorCode_BROTLI_DECODER_ERROR_ALLOC_BLOCK_TYPE_TREES => {
            Decoded::Failed(i64::from(code))
        }
        _ => Decoded::Corrupt,
    }
}
