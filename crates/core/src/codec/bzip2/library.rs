//! The calls into libbz2-rs: the only file of this codec with `unsafe` in it.
//!
//! Every stream is started and ended within one call, from memory of the context's pool.

use std::ffi::c_int;

use libbz2_rs_sys::{self as library, bz_stream};

use crate::codec::pool::{self, Pool};

/// The library's default for when to switch to the sorting method without a bad worst case.
const WORK_FACTOR: c_int = 0;

/// The library's version, which it tells only with features that we do not use; a test compares it
/// with the lock file.
pub(in crate::codec) const VERSION: &str = "0.2.6";

/// The library takes at most this many bytes of input or output in one call.
const CALL_BYTES_MAX: usize = 1 << 30;

/// How a stream came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The end mark was written or read.
    Whole {
        /// How much of the input was read.
        read: usize,
        /// How much of the output was written.
        written: usize,
    },
    /// There is more to write than the output takes.
    OutputFull,
    /// The input ended before the end mark.
    InputEnded,
    /// The library's code.
    Failed(i64),
}

/// Whether the library's code says that the input is damaged.
pub(super) fn is_damage(code: i64) -> bool {
    code == i64::from(library::BZ_DATA_ERROR) || code == i64::from(library::BZ_DATA_ERROR_MAGIC)
}

/// The library and its version.
pub(super) fn version() -> String {
    format!("libbz2-rs {VERSION}")
}

/// What a context keeps.
pub(super) struct Coder {
    pool: Box<Pool>,
}

/// A pair of slices that a stream works through, in steps that the library can count.
struct Progress<'a> {
    input: &'a [u8],
    output: &'a mut [u8],
    read: usize,
    written: usize,
}

impl Progress<'_> {
    /// Runs `step` on the stream until `is_last` says so of its result, or nothing moves.
    fn run(
        &mut self,
        stream: &mut bz_stream,
        mut step: impl FnMut(&mut bz_stream, bool) -> c_int,
    ) -> Outcome {
        loop {
            let input = &self.input[self.read..];
            let output = &mut self.output[self.written..];
            let given = (input.len().min(CALL_BYTES_MAX), output.len().min(CALL_BYTES_MAX));
            stream.next_in = input.as_ptr().cast();
            stream.next_out = output.as_mut_ptr().cast();
            (stream.avail_in, stream.avail_out) = (given.0 as u32, given.1 as u32);
            let result = step(stream, given.0 == input.len());
            let moved = (given.0 - stream.avail_in as usize, given.1 - stream.avail_out as usize);
            self.read += moved.0;
            self.written += moved.1;
            if result == library::BZ_STREAM_END {
                return Outcome::Whole { read: self.read, written: self.written };
            }
            if result < 0 {
                return Outcome::Failed(i64::from(result));
            }
            if self.written == self.output.len() {
                return Outcome::OutputFull;
            }
            if moved == (0, 0) {
                return Outcome::InputEnded;
            }
        }
    }
}

impl Coder {
    pub(super) fn new() -> Coder {
        Coder { pool: Pool::new() }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.pool.held_bytes()
    }

    fn stream(&mut self) -> bz_stream {
        let mut stream = bz_stream::zeroed();
        stream.bzalloc = Some(pool::allocate_items);
        stream.bzfree = Some(pool::give_back);
        stream.opaque = self.pool.opaque();
        stream
    }

    /// Compresses into one stream with blocks of `block_size` times 100,000 bytes.
    pub(super) fn compress(
        &mut self,
        block_size: c_int,
        input: &[u8],
        output: &mut [u8],
    ) -> Outcome {
        let mut stream = self.stream();
        // SAFETY: the stream is zeroed but for its allocation functions, whose pool outlives it.
        let result =
            unsafe { library::BZ2_bzCompressInit(&mut stream, block_size, 0, WORK_FACTOR) };
        if result != library::BZ_OK {
            return Outcome::Failed(i64::from(result));
        }
        let mut progress = Progress { input, output, read: 0, written: 0 };
        let outcome = progress.run(&mut stream, |stream, is_last| {
            let action = if is_last { library::BZ_FINISH } else { library::BZ_RUN };
            // SAFETY: the stream was started; its pointers and lengths are those of slices that
            // `progress` has borrowed.
            unsafe { library::BZ2_bzCompress(stream, action) }
        });
        // SAFETY: the stream was started, and is not used again.
        unsafe { library::BZ2_bzCompressEnd(&mut stream) };
        outcome
    }

    /// Decompresses one stream.
    pub(super) fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Outcome {
        let mut stream = self.stream();
        // SAFETY: as for `compress`.
        let result = unsafe { library::BZ2_bzDecompressInit(&mut stream, 0, 0) };
        if result != library::BZ_OK {
            return Outcome::Failed(i64::from(result));
        }
        let mut step = |stream: &mut bz_stream, _| {
            // SAFETY: the stream was started; its pointers and lengths are those of slices that
            // `progress` has borrowed.
            unsafe { library::BZ2_bzDecompress(stream) }
        };
        let mut progress = Progress { input, output, read: 0, written: 0 };
        let mut outcome = progress.run(&mut stream, &mut step);
        if outcome == Outcome::OutputFull {
            // The end mark takes another call when the output is exactly full, and one byte more
            // than the output takes shows that there is more to come.
            let (read, written) = (progress.read, progress.written);
            let rest = &input[read..];
            let mut probe = Progress { input: rest, output: &mut [0], read: 0, written: 0 };
            outcome = match probe.run(&mut stream, &mut step) {
                Outcome::Whole { read: more, written: 0 } => {
                    Outcome::Whole { read: read + more, written }
                }
                Outcome::Whole { .. } => Outcome::OutputFull,
                other => other,
            };
        }
        // SAFETY: the stream was started, and is not used again.
        unsafe { library::BZ2_bzDecompressEnd(&mut stream) };
        outcome
    }
}
