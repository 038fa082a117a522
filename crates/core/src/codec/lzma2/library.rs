//! The calls into liblzma: the only file of this codec with `unsafe` in it.
//!
//! One stream per context. Starting a coder anew on the same stream reuses its memory where the
//! sizes are the same, so a warm context allocates nothing.

use std::ffi::CStr;
use std::mem::{MaybeUninit, zeroed};

use liblzma_sys as library;

/// The level's parameters, with a dictionary size of our choice.
pub(super) struct Options(library::lzma_options_lzma);

// SAFETY: plain numbers; the pointer to a preset dictionary is always null.
unsafe impl Send for Options {}

/// How a coder came to its end.
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
    [library::LZMA_DATA_ERROR, library::LZMA_FORMAT_ERROR, library::LZMA_OPTIONS_ERROR]
        .iter()
        .any(|&damage| i64::from(damage) == code)
}

/// The library and its version.
pub(super) fn version() -> String {
    // SAFETY: the library returns a constant string.
    let version = unsafe { CStr::from_ptr(library::lzma_version_string()) };
    format!("liblzma {}", version.to_string_lossy())
}

impl Options {
    /// The parameters of a level from 0 to 9.
    pub(super) fn of_level(level: u32) -> Options {
        let mut options = MaybeUninit::zeroed();
        // SAFETY: the structure is plain numbers and pointers, for which zero is valid; the
        // library fills it, and leaves it alone for a level that it does not have.
        unsafe {
            library::lzma_lzma_preset(options.as_mut_ptr(), level);
            Options(options.assume_init())
        }
    }

    pub(super) fn dictionary_bytes(&self) -> u32 {
        self.0.dict_size
    }

    pub(super) fn set_dictionary_bytes(&mut self, bytes: u32) {
        self.0.dict_size = bytes;
    }

    /// The chain of one filter that the library takes; it is valid while `self` is borrowed.
    fn filters(&self) -> [library::lzma_filter; 2] {
        let options = (&raw const self.0).cast_mut().cast();
        [
            library::lzma_filter { id: library::LZMA_FILTER_LZMA2, options },
            library::lzma_filter { id: library::LZMA_VLI_UNKNOWN, options: std::ptr::null_mut() },
        ]
    }
}

/// A stream of the library with the memory of its last coder.
pub(super) struct Coder(library::lzma_stream);

// SAFETY: the stream owns its memory, which has no ties to the thread that made it; its pointers
// into payloads are set anew by each call, which has the stream exclusively.
unsafe impl Send for Coder {}

impl Coder {
    pub(super) fn new() -> Coder {
        // SAFETY: LZMA_STREAM_INIT, the documented initial value, is all zeros.
        Coder(unsafe { zeroed() })
    }

    /// Compresses into one stream with an end mark.
    pub(super) fn encode(&mut self, options: &Options, input: &[u8], output: &mut [u8]) -> Outcome {
        // SAFETY: the stream is initialised; the chain and the options it points to live through
        // the call, which copies them.
        let result = unsafe { library::lzma_raw_encoder(&mut self.0, options.filters().as_ptr()) };
        if result != library::LZMA_OK {
            return Outcome::Failed(i64::from(result));
        }
        self.run(input, output)
    }

    /// Decompresses one stream.
    pub(super) fn decode(&mut self, options: &Options, input: &[u8], output: &mut [u8]) -> Outcome {
        // SAFETY: as for `encode`.
        let result = unsafe { library::lzma_raw_decoder(&mut self.0, options.filters().as_ptr()) };
        if result != library::LZMA_OK {
            return Outcome::Failed(i64::from(result));
        }
        match self.run(input, output) {
            // The end mark takes another call when the output is exactly full, and one byte more
            // than the output takes shows that there is more to come.
            Outcome::OutputFull => {
                let read = input.len() - self.0.avail_in;
                match self.run(&input[read..], &mut [0]) {
                    Outcome::Whole { read: more, written: 0 } => {
                        Outcome::Whole { read: read + more, written: output.len() }
                    }
                    Outcome::Whole { .. } => Outcome::OutputFull,
                    other => other,
                }
            }
            other => other,
        }
    }

    fn run(&mut self, input: &[u8], output: &mut [u8]) -> Outcome {
        self.0.next_in = input.as_ptr();
        self.0.avail_in = input.len();
        self.0.next_out = output.as_mut_ptr();
        self.0.avail_out = output.len();
        loop {
            // SAFETY: a coder was started on the stream, and pointers and lengths are those of
            // the slices; the library keeps each pair in step.
            let result = unsafe { library::lzma_code(&mut self.0, library::LZMA_FINISH) };
            let read = input.len() - self.0.avail_in;
            let written = output.len() - self.0.avail_out;
            match result {
                library::LZMA_STREAM_END => return Outcome::Whole { read, written },
                library::LZMA_OK | library::LZMA_BUF_ERROR if self.0.avail_out == 0 => {
                    return Outcome::OutputFull;
                }
                library::LZMA_OK => {}
                library::LZMA_BUF_ERROR => return Outcome::InputEnded,
                other => return Outcome::Failed(i64::from(other)),
            }
        }
    }

    /// The memory of an encoder with these options, once one was started.
    pub(super) fn encoder_memory_bytes(&self, options: &Options) -> usize {
        // SAFETY: a pure function of the chain, which lives through the call.
        self.started(|| unsafe { library::lzma_raw_encoder_memusage(options.filters().as_ptr()) })
    }

    /// The memory of a decoder with these options, once one was started.
    pub(super) fn decoder_memory_bytes(&self, options: &Options) -> usize {
        // SAFETY: a pure function of the chain, which lives through the call.
        self.started(|| unsafe { library::lzma_raw_decoder_memusage(options.filters().as_ptr()) })
    }

    fn started(&self, memory_bytes: impl FnOnce() -> u64) -> usize {
        if self.0.internal.is_null() { 0 } else { memory_bytes() as usize }
    }
}

impl Drop for Coder {
    fn drop(&mut self) {
        // SAFETY: the stream is initialised, and is not used again.
        unsafe { library::lzma_end(&mut self.0) };
    }
}
