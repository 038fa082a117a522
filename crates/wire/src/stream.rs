//! Compressed connections: a client may send its whole stream as gzip, zstd or LZ4 frames, one
//! after the other. What was read is decompressed into the caller's buffer, as much as fits, and
//! the protocol's machine scans that.
//!
//! Nothing grows with what the stream claims: output goes into the caller's room, and a window
//! above the limit is refused before it is allocated. So a small input that stands for gigabytes
//! only costs the turns that the caller gives it.

mod lz4;

use flate2::{Decompress, FlushDecompress, Status};
use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer};

use crate::limits::STREAM_WINDOW_BYTES_MAX;

/// How a stream is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StreamCodec {
    /// gzip members (RFC 1952).
    Gzip,
    /// zstd frames (RFC 8878), skippable ones included.
    Zstd,
    /// LZ4 frames.
    Lz4,
}

/// What ends a compressed connection.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StreamError {
    /// The bytes are not what the codec writes, or a checksum does not hold.
    #[error("the stream is no valid {codec:?}: {detail}")]
    Corrupt {
        /// What it should have been.
        codec: StreamCodec,
        /// What the library says.
        detail: &'static str,
    },
    /// A frame wants more memory than is allowed.
    #[error("a frame wants a window above the limit of {limit_bytes} bytes")]
    WindowTooLarge {
        /// What is allowed.
        limit_bytes: usize,
    },
    /// The connection ended inside a frame. What was decompressed before is whole.
    #[error("the connection ended inside a compressed frame")]
    CutOff,
    /// The library could not get memory.
    #[error("there is no memory for a decompressor")]
    OutOfMemory,
}

/// How far one call came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Bytes of the input that are done with.
    pub consumed: usize,
    /// Bytes of the output that were written.
    pub written: usize,
}

/// The decompressor of one connection.
pub struct StreamDecompressor {
    engine: Engine,
    window_bytes_max: usize,
    is_inside_frame: bool,
}

enum Engine {
    Gzip(Decompress),
    Zstd(DCtx<'static>),
    Lz4(lz4::State),
}

/// What an inflating zlib holds, in bytes: its state and a window of 32 KiB.
const GZIP_MEMORY_BYTES: usize = 48 << 10;

/// The bits of gzip's window, which every encoder may use in full.
const GZIP_WINDOW_BITS: u8 = 15;

impl StreamDecompressor {
    /// A decompressor that has read nothing yet and refuses windows above `window_bytes_max`,
    /// which is rounded down to a power of two and is at least 1 KiB.
    ///
    /// # Errors
    /// [`StreamError::OutOfMemory`].
    pub fn new(
        codec: StreamCodec,
        window_bytes_max: usize,
    ) -> Result<StreamDecompressor, StreamError> {
        let engine = match codec {
            StreamCodec::Gzip => Engine::Gzip(Decompress::new_gzip(GZIP_WINDOW_BITS)),
            StreamCodec::Zstd => {
                let mut context = DCtx::try_create().ok_or(StreamError::OutOfMemory)?;
                // 10 and 31 are the least and most that the library takes.
                let log = window_bytes_max.max(1).ilog2().clamp(10, 31);
                let set = context.set_parameter(DParameter::WindowLogMax(log));
                set.map_err(|_| StreamError::OutOfMemory)?;
                Engine::Zstd(context)
            }
            StreamCodec::Lz4 => {
                Engine::Lz4(lz4::State::new(window_bytes_max).ok_or(StreamError::OutOfMemory)?)
            }
        };
        Ok(StreamDecompressor { engine, window_bytes_max, is_inside_frame: false })
    }

    /// The same with the default limit, [`STREAM_WINDOW_BYTES_MAX`].
    ///
    /// # Errors
    /// [`StreamError::OutOfMemory`].
    pub fn with_defaults(codec: StreamCodec) -> Result<StreamDecompressor, StreamError> {
        StreamDecompressor::new(codec, STREAM_WINDOW_BYTES_MAX)
    }

    /// Decompresses from the front of `input` into `output` until one of them is used up. If the
    /// output is full there may be more to come, even without further input.
    ///
    /// # Errors
    /// [`StreamError::Corrupt`], [`StreamError::WindowTooLarge`] and [`StreamError::OutOfMemory`]:
    /// close the connection.
    pub fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<Progress, StreamError> {
        let mut all = Progress::default();
        while all.written < output.len() {
            // Between frames there is nothing to come without input, and an empty call would look
            // as if a frame had begun.
            if all.consumed == input.len() && !self.is_inside_frame {
                break;
            }
            let step = self.step(&input[all.consumed..], &mut output[all.written..])?;
            all.consumed += step.consumed;
            all.written += step.written;
            if step == Progress::default() {
                break;
            }
        }
        Ok(all)
    }

    /// Whether a connection may end here.
    ///
    /// # Errors
    /// [`StreamError::CutOff`] if it ended inside a frame.
    pub fn finish(&self) -> Result<(), StreamError> {
        if self.is_inside_frame { Err(StreamError::CutOff) } else { Ok(()) }
    }

    /// What the decompressor holds now, in bytes, for a budget.
    pub fn memory_bytes(&self) -> usize {
        let engine_bytes = match &self.engine {
            Engine::Gzip(_) => GZIP_MEMORY_BYTES,
            Engine::Zstd(context) => context.sizeof(),
            Engine::Lz4(state) => state.memory_bytes(),
        };
        size_of::<Self>() + engine_bytes
    }

    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Progress, StreamError> {
        let limit_bytes = self.window_bytes_max;
        match &mut self.engine {
            Engine::Gzip(state) => {
                let (before_in, before_out) = (state.total_in(), state.total_out());
                let status = state.decompress(input, output, FlushDecompress::None);
                let status = status.map_err(|_| corrupt(StreamCodec::Gzip, "inflate failed"))?;
                let progress = Progress {
                    consumed: (state.total_in() - before_in) as usize,
                    written: (state.total_out() - before_out) as usize,
                };
                self.is_inside_frame = status != Status::StreamEnd;
                if status == Status::StreamEnd {
                    *state = Decompress::new_gzip(GZIP_WINDOW_BITS);
                }
                Ok(progress)
            }
            Engine::Zstd(context) => {
                let mut source = InBuffer::around(input);
                let mut target = OutBuffer::around(output);
                let result = context.decompress_stream(&mut target, &mut source);
                let hint = result.map_err(|code| zstd_error(code, limit_bytes))?;
                self.is_inside_frame = hint != 0;
                Ok(Progress { consumed: source.pos(), written: target.pos() })
            }
            Engine::Lz4(state) => {
                let (progress, is_inside_frame) = state.step(input, output)?;
                self.is_inside_frame = is_inside_frame;
                Ok(progress)
            }
        }
    }
}

impl std::fmt::Debug for StreamDecompressor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StreamDecompressor")
            .field("window_bytes_max", &self.window_bytes_max)
            .field("is_inside_frame", &self.is_inside_frame)
            .finish_non_exhaustive()
    }
}

fn corrupt(codec: StreamCodec, detail: &'static str) -> StreamError {
    StreamError::Corrupt { codec, detail }
}

/// The number that libzstd gives `frameParameter_windowTooLarge`; errors are negated numbers.
const ZSTD_WINDOW_TOO_LARGE: usize = 16;

/// The same for `memory_allocation`.
const ZSTD_NO_MEMORY: usize = 64;

fn zstd_error(code: usize, limit_bytes: usize) -> StreamError {
    match code.wrapping_neg() {
        ZSTD_WINDOW_TOO_LARGE => StreamError::WindowTooLarge { limit_bytes },
        ZSTD_NO_MEMORY => StreamError::OutOfMemory,
        _ => corrupt(StreamCodec::Zstd, zstd_safe::get_error_name(code)),
    }
}

#[cfg(test)]
mod tests;
