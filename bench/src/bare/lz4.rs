//! liblz4, called directly, with the states that its fast resets serve. The levels must map to the
//! library's as they do in our row; the bytes are compared before anything is timed.

use std::ffi::{c_char, c_int, c_void};

// Links the static library that the declarations below name.
use lz4_sys as _;

use crate::side::{Call, Operation, Side};

/// The first level of the high-compression encoder.
const HIGH_LEVEL_MIN: i32 = 2;

/// How far back a block can refer.
const DICTIONARY_BYTES_MAX: usize = 64 << 10;

// SAFETY: these signatures are those of lz4.h and lz4hc.h of liblz4 1.10, whose stream types are
// only passed by pointer.
unsafe extern "C" {
    safe fn LZ4_createStream() -> *mut c_void;
    safe fn LZ4_createStreamHC() -> *mut c_void;
    fn LZ4_freeStream(stream: *mut c_void) -> c_int;
    fn LZ4_freeStreamHC(stream: *mut c_void) -> c_int;
    fn LZ4_compress_fast_extState_fastReset(
        state: *mut c_void,
        source: *const c_char,
        target: *mut c_char,
        source_size: c_int,
        target_capacity: c_int,
        acceleration: c_int,
    ) -> c_int;
    fn LZ4_compress_HC_extStateHC_fastReset(
        state: *mut c_void,
        source: *const c_char,
        target: *mut c_char,
        source_size: c_int,
        target_capacity: c_int,
        level: c_int,
    ) -> c_int;
    fn LZ4_resetStreamHC_fast(stream: *mut c_void, level: c_int);
    fn LZ4_loadDictHC(stream: *mut c_void, dictionary: *const c_char, size: c_int) -> c_int;
    fn LZ4_attach_HC_dictionary(working: *mut c_void, dictionary: *const c_void);
    fn LZ4_compress_HC_continue(
        stream: *mut c_void,
        source: *const c_char,
        target: *mut c_char,
        source_size: c_int,
        target_capacity: c_int,
    ) -> c_int;
    fn LZ4_decompress_safe(
        source: *const c_char,
        target: *mut c_char,
        compressed_size: c_int,
        target_capacity: c_int,
    ) -> c_int;
    fn LZ4_decompress_safe_usingDict(
        source: *const c_char,
        target: *mut c_char,
        compressed_size: c_int,
        target_capacity: c_int,
        dictionary: *const c_char,
        dictionary_size: c_int,
    ) -> c_int;
}

/// A side for the row `lz4`.
pub(super) fn side(operation: Operation, level: i32, dictionary: Option<&[u8]>) -> Box<dyn Side> {
    let content = |bytes: &[u8]| -> Box<[u8]> {
        bytes[bytes.len().saturating_sub(DICTIONARY_BYTES_MAX)..].into()
    };
    match (operation, dictionary) {
        (Operation::Compress, None) if level < HIGH_LEVEL_MIN => {
            Box::new(Fast { state: LZ4_createStream() })
        }
        (Operation::Compress, None) => Box::new(High { state: LZ4_createStreamHC(), level }),
        (Operation::Compress, Some(bytes)) => Box::new(HighWith::new(level, content(bytes))),
        (Operation::Decompress, None) => Box::new(Decompress),
        (Operation::Decompress, Some(bytes)) => Box::new(DecompressWith(content(bytes))),
    }
}

struct Fast {
    state: *mut c_void,
}

impl Call for Fast {
    #[inline]
    fn call(&mut self, input: &[u8], output: &mut [u8]) -> usize {
        // SAFETY: the state is live and ours alone; sizes are those of the slices, which the bench
        // keeps far below 2 GiB.
        let length = unsafe {
            LZ4_compress_fast_extState_fastReset(
                self.state,
                input.as_ptr().cast(),
                output.as_mut_ptr().cast(),
                input.len() as c_int,
                output.len() as c_int,
                1,
            )
        };
        length as usize
    }
}

impl Drop for Fast {
    fn drop(&mut self) {
        // SAFETY: it came from LZ4_createStream and is freed once, here.
        unsafe { LZ4_freeStream(self.state) };
    }
}

struct High {
    state: *mut c_void,
    level: i32,
}

impl Call for High {
    #[inline]
    fn call(&mut self, input: &[u8], output: &mut [u8]) -> usize {
        // SAFETY: as for `Fast`.
        let length = unsafe {
            LZ4_compress_HC_extStateHC_fastReset(
                self.state,
                input.as_ptr().cast(),
                output.as_mut_ptr().cast(),
                input.len() as c_int,
                output.len() as c_int,
                self.level,
            )
        };
        length as usize
    }
}

impl Drop for High {
    fn drop(&mut self) {
        // SAFETY: it came from LZ4_createStreamHC and is freed once, here.
        unsafe { LZ4_freeStreamHC(self.state) };
    }
}

struct HighWith {
    working: High,
    dictionary: High,
    /// What the dictionary's tables point into.
    _content: Box<[u8]>,
}

impl HighWith {
    fn new(level: i32, content: Box<[u8]>) -> HighWith {
        let state = || High { state: LZ4_createStreamHC(), level };
        let (working, dictionary) = (state(), state());
        // SAFETY: the state is new; the content is on the heap and lives as long as the state.
        unsafe {
            LZ4_resetStreamHC_fast(dictionary.state, level);
            LZ4_loadDictHC(dictionary.state, content.as_ptr().cast(), content.len() as c_int);
        }
        HighWith { working, dictionary, _content: content }
    }
}

impl Call for HighWith {
    #[inline]
    fn call(&mut self, input: &[u8], output: &mut [u8]) -> usize {
        // SAFETY: as for `Fast`; the dictionary's state outlives the call, which only reads it.
        let length = unsafe {
            LZ4_resetStreamHC_fast(self.working.state, self.working.level);
            LZ4_attach_HC_dictionary(self.working.state, self.dictionary.state);
            LZ4_compress_HC_continue(
                self.working.state,
                input.as_ptr().cast(),
                output.as_mut_ptr().cast(),
                input.len() as c_int,
                output.len() as c_int,
            )
        };
        length as usize
    }
}

struct Decompress;

impl Call for Decompress {
    #[inline]
    fn call(&mut self, input: &[u8], output: &mut [u8]) -> usize {
        // SAFETY: sizes are those of the slices, which the bench keeps far below 2 GiB.
        let length = unsafe {
            LZ4_decompress_safe(
                input.as_ptr().cast(),
                output.as_mut_ptr().cast(),
                input.len() as c_int,
                output.len() as c_int,
            )
        };
        length as usize
    }
}

struct DecompressWith(Box<[u8]>);

impl Call for DecompressWith {
    #[inline]
    fn call(&mut self, input: &[u8], output: &mut [u8]) -> usize {
        // SAFETY: as for `Decompress`; the dictionary's size is its own.
        let length = unsafe {
            LZ4_decompress_safe_usingDict(
                input.as_ptr().cast(),
                output.as_mut_ptr().cast(),
                input.len() as c_int,
                output.len() as c_int,
                self.0.as_ptr().cast(),
                self.0.len() as c_int,
            )
        };
        length as usize
    }
}
