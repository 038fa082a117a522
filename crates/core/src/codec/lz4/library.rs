//! The calls into liblz4: the only file of this codec with `unsafe` in it.
//!
//! `lz4-sys` compiles the whole library but declares only part of it, so the functions used here
//! are declared here. The states are initialised once; every call uses the variant that resets
//! quickly, and yields the same bytes as a new state would (the registry's tests check that).

use std::ffi::{c_char, c_int, c_void};
use std::ptr::NonNull;

// Links the static library that the declarations below name.
use lz4_sys as _;

/// LZ4_MAX_INPUT_SIZE.
pub(super) const INPUT_BYTES_MAX: usize = 0x7E00_0000;

/// The library's `LZ4_stream_t` and `LZ4_streamHC_t`, only ever used behind pointers.
#[repr(C)]
struct Stream {
    opaque: [u8; 0],
}

// SAFETY: these signatures are those of lz4.h and lz4hc.h of liblz4 1.10, whose fixed-size stream
// types are only passed by pointer.
unsafe extern "C" {
    safe fn LZ4_versionNumber() -> c_int;
    safe fn LZ4_sizeofState() -> c_int;
    safe fn LZ4_sizeofStateHC() -> c_int;
    safe fn LZ4_createStream() -> *mut Stream;
    safe fn LZ4_createStreamHC() -> *mut Stream;
    fn LZ4_freeStream(stream: *mut Stream) -> c_int;
    fn LZ4_freeStreamHC(stream: *mut Stream) -> c_int;
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
    fn LZ4_resetStreamHC_fast(stream: *mut Stream, level: c_int);
    fn LZ4_loadDictHC(stream: *mut Stream, dictionary: *const c_char, size: c_int) -> c_int;
    fn LZ4_attach_HC_dictionary(working: *mut Stream, dictionary: *const Stream);
    fn LZ4_compress_HC_continue(
        stream: *mut Stream,
        source: *const c_char,
        target: *mut c_char,
        source_size: c_int,
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

/// The library and its version.
pub(in crate::codec) fn version() -> String {
    let number = LZ4_versionNumber();
    format!("liblz4 {}.{}.{}", number / 10_000, number / 100 % 100, number % 100)
}

/// The memory of a fast compressor's state.
pub(super) fn fast_state_bytes() -> usize {
    LZ4_sizeofState() as usize
}

/// The memory of a high compressor's state.
pub(super) fn high_state_bytes() -> usize {
    LZ4_sizeofStateHC() as usize
}

/// A length as the library takes it, if the library can take it as an input.
fn source_size(input: &[u8]) -> Option<c_int> {
    (input.len() <= INPUT_BYTES_MAX).then_some(input.len() as c_int)
}

/// A capacity as the library takes it: what is beyond its reach is not used.
fn capacity(output: &[u8]) -> c_int {
    c_int::try_from(output.len()).unwrap_or(c_int::MAX)
}

/// The library's answer: a length, or nothing when it is not positive.
fn written(result: c_int) -> Option<usize> {
    (result > 0).then_some(result as usize)
}

/// The state of the fast compressor.
pub(super) struct FastState(NonNull<Stream>);

// SAFETY: the state is one allocation without ties to the thread that made it, and it is only
// used through `&mut self`.
unsafe impl Send for FastState {}

impl FastState {
    /// A state, initialised; `None` when there is no memory for it.
    pub(super) fn new() -> Option<FastState> {
        NonNull::new(LZ4_createStream()).map(FastState)
    }

    /// Compresses into a block; `None` when it does not fit or the input is too large.
    pub(super) fn compress(
        &mut self,
        input: &[u8],
        output: &mut [u8],
        acceleration: c_int,
    ) -> Option<usize> {
        let source_size = source_size(input)?;
        // SAFETY: the state was initialised by `new` and only used by this call since, which
        // leaves it fit for the next; sizes are those of the slices or less.
        written(unsafe {
            LZ4_compress_fast_extState_fastReset(
                self.0.as_ptr().cast(),
                input.as_ptr().cast(),
                output.as_mut_ptr().cast(),
                source_size,
                capacity(output),
                acceleration,
            )
        })
    }
}

impl Drop for FastState {
    fn drop(&mut self) {
        // SAFETY: the pointer came from LZ4_createStream and is freed once, here.
        unsafe { LZ4_freeStream(self.0.as_ptr()) };
    }
}

/// The state of the high-compression compressor.
pub(super) struct HighState(NonNull<Stream>);

// SAFETY: as for `FastState`; a dictionary that was attached is kept alive by the caller of
// `compress_with` for that call only, and the next call's reset detaches it unread.
unsafe impl Send for HighState {}

impl HighState {
    /// A state, initialised; `None` when there is no memory for it.
    pub(super) fn new() -> Option<HighState> {
        NonNull::new(LZ4_createStreamHC()).map(HighState)
    }

    /// Compresses what is not empty into a block; `None` when it does not fit or the input is too
    /// large.
    pub(super) fn compress(
        &mut self,
        input: &[u8],
        output: &mut [u8],
        level: c_int,
    ) -> Option<usize> {
        debug_assert!(!input.is_empty());
        let source_size = source_size(input)?;
        // SAFETY: the state was initialised by `new`, and a state that a failed call left dirty
        // is marked so and initialised anew by the library; sizes are those of the slices or less.
        written(unsafe {
            LZ4_compress_HC_extStateHC_fastReset(
                self.0.as_ptr().cast(),
                input.as_ptr().cast(),
                output.as_mut_ptr().cast(),
                source_size,
                capacity(output),
                level,
            )
        })
    }

    /// Compresses what is not empty into a block that refers to a dictionary made for this level.
    pub(super) fn compress_with(
        &mut self,
        dictionary: &HighDictionary,
        input: &[u8],
        output: &mut [u8],
        level: c_int,
    ) -> Option<usize> {
        debug_assert!(!input.is_empty());
        let source_size = source_size(input)?;
        let stream = self.0.as_ptr();
        // SAFETY: the state was initialised by `new` and is reset here; the dictionary's stream
        // was filled by LZ4_loadDictHC and is only read; both borrows last for the whole call;
        // sizes are those of the slices or less.
        written(unsafe {
            LZ4_resetStreamHC_fast(stream, level);
            LZ4_attach_HC_dictionary(stream, dictionary.stream.0.as_ptr());
            LZ4_compress_HC_continue(
                stream,
                input.as_ptr().cast(),
                output.as_mut_ptr().cast(),
                source_size,
                capacity(output),
            )
        })
    }
}

impl Drop for HighState {
    fn drop(&mut self) {
        // SAFETY: the pointer came from LZ4_createStreamHC and is freed once, here.
        unsafe { LZ4_freeStreamHC(self.0.as_ptr()) };
    }
}

/// A dictionary with its hash tables for one level, shared by all contexts that use it.
pub(super) struct HighDictionary {
    stream: HighState,
    /// What the stream's tables point into: it must live as long as the stream, unmoved.
    content: Box<[u8]>,
}

// SAFETY: after `new` the stream is only read (LZ4_attach_HC_dictionary takes it as const and the
// compressors copy from it), so threads may share it.
unsafe impl Sync for HighDictionary {}

impl HighDictionary {
    /// Loads at most 64 KiB; `None` when there is no memory for it.
    pub(super) fn new(content: &[u8], level: c_int) -> Option<HighDictionary> {
        let stream = HighState::new()?;
        let content: Box<[u8]> = content.into();
        // SAFETY: the stream is new; the content is on the heap, where it stays until this
        // dictionary is dropped, and its size is its own.
        unsafe {
            LZ4_resetStreamHC_fast(stream.0.as_ptr(), level);
            LZ4_loadDictHC(stream.0.as_ptr(), content.as_ptr().cast(), capacity(&content));
        }
        Some(HighDictionary { stream, content })
    }

    pub(super) fn memory_bytes(&self) -> usize {
        size_of::<Self>() + high_state_bytes() + self.content.len()
    }
}

/// Decompresses a block; `None` when it is damaged or longer than the output.
pub(super) fn decompress(input: &[u8], output: &mut [u8], dictionary: &[u8]) -> Option<usize> {
    // A block longer than the library takes is longer than it ever writes.
    let compressed_size = c_int::try_from(input.len()).ok()?;
    // SAFETY: sizes are those of the slices or less; the library checks every read and write
    // against them, and reads a dictionary only within its bounds.
    let result = unsafe {
        LZ4_decompress_safe_usingDict(
            input.as_ptr().cast(),
            output.as_mut_ptr().cast(),
            compressed_size,
            capacity(output),
            dictionary.as_ptr().cast(),
            dictionary.len() as c_int,
        )
    };
    usize::try_from(result).ok()
}
