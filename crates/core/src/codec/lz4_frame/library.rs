//! The calls into liblz4's frame functions: what of this codec is `unsafe`, but for its allocator.
//!
//! `lz4-sys` compiles them but declares the options of an older version and not the functions that
//! take an allocator, so those used here are declared here.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};
use std::ptr::{self, NonNull};

// Links the static library that the declarations below name.
use lz4_sys as _;

use super::memory::{Count, CustomMemory};

/// LZ4F_VERSION.
const VERSION: c_uint = 100;

/// LZ4F_max64KB.
const BLOCKS_OF_64_KIB: c_uint = 4;

/// LZ4F_ERROR_allocation_failed.
const ALLOCATION_FAILED: c_int = 9;

/// LZ4F_cctx and LZ4F_dctx, only ever used behind pointers.
#[repr(C)]
struct CompressContext {
    opaque: [u8; 0],
}

#[repr(C)]
struct DecompressContext {
    opaque: [u8; 0],
}

/// LZ4F_frameInfo_t, with numbers for the library's enumerations.
#[repr(C)]
#[derive(Default)]
struct FrameInfo {
    block_size_id: c_uint,
    block_mode: c_uint,
    content_checksum: c_uint,
    frame_type: c_uint,
    content_size: c_ulonglong,
    dictionary_id: c_uint,
    block_checksum: c_uint,
}

/// LZ4F_preferences_t.
#[repr(C)]
#[derive(Default)]
struct Preferences {
    frame: FrameInfo,
    level: c_int,
    auto_flush: c_uint,
    favor_decompression_speed: c_uint,
    reserved: [c_uint; 3],
}

/// LZ4F_decompressOptions_t.
#[repr(C)]
struct DecompressOptions {
    stable_target: c_uint,
    skip_checksums: c_uint,
    reserved: [c_uint; 2],
}

// SAFETY: these signatures are those of lz4frame.h of liblz4 1.10, whose contexts are only passed
// by pointer; the three pure ones take any number.
unsafe extern "C" {
    safe fn LZ4F_isError(code: usize) -> c_uint;
    safe fn LZ4F_getErrorCode(result: usize) -> c_int;
    fn LZ4F_createCompressionContext_advanced(
        memory: CustomMemory,
        version: c_uint,
    ) -> *mut CompressContext;
    fn LZ4F_freeCompressionContext(context: *mut CompressContext) -> usize;
    fn LZ4F_compressFrameBound(source_size: usize, preferences: *const Preferences) -> usize;
    fn LZ4F_compressFrame_usingCDict(
        context: *mut CompressContext,
        target: *mut c_void,
        target_capacity: usize,
        source: *const c_void,
        source_size: usize,
        dictionary: *const c_void,
        preferences: *const Preferences,
    ) -> usize;
    fn LZ4F_createDecompressionContext_advanced(
        memory: CustomMemory,
        version: c_uint,
    ) -> *mut DecompressContext;
    fn LZ4F_freeDecompressionContext(context: *mut DecompressContext) -> usize;
    fn LZ4F_resetDecompressionContext(context: *mut DecompressContext);
    fn LZ4F_getFrameInfo(
        context: *mut DecompressContext,
        frame: *mut FrameInfo,
        source: *const c_void,
        source_size: *mut usize,
    ) -> usize;
    fn LZ4F_decompress(
        context: *mut DecompressContext,
        target: *mut c_void,
        target_size: *mut usize,
        source: *const c_void,
        source_size: *mut usize,
        options: *const DecompressOptions,
    ) -> usize;
}

/// Why a call failed: the library's number for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Failure(pub(super) i64);

impl Failure {
    /// Whether the library could not allocate, which is not the input's fault.
    pub(super) fn is_of_memory(self) -> bool {
        self.0 == i64::from(ALLOCATION_FAILED)
    }
}

/// The library's answer: a length or an error, in one number.
fn length(result: usize) -> Result<usize, Failure> {
    if LZ4F_isError(result) == 0 {
        Ok(result)
    } else {
        Err(Failure(i64::from(LZ4F_getErrorCode(result))))
    }
}

/// What we write: blocks of 64 KiB that refer to each other, and the content's size.
fn preferences(level: c_int) -> Preferences {
    Preferences {
        frame: FrameInfo {
            block_size_id: BLOCKS_OF_64_KIB,
            // Anything but zero: the library puts the real size in its place.
            content_size: 1,
            ..FrameInfo::default()
        },
        level,
        ..Preferences::default()
    }
}

/// The most bytes that a payload can become.
pub(super) fn compress_bound(length: usize) -> usize {
    // SAFETY: the preferences live for the call, which only computes.
    unsafe { LZ4F_compressFrameBound(length, &preferences(0)) }
}

/// A compression context.
pub(super) struct CompressState {
    context: NonNull<CompressContext>,
    /// The context's allocations are counted here, so it is dropped after it.
    count: Count,
}

// SAFETY: context and count have no ties to the thread that made them, and are only used through
// the state: the count is changed in calls that have it borrowed mutably, or while it is dropped.
unsafe impl Send for CompressState {}

impl CompressState {
    /// `None` when there is no memory for it.
    pub(super) fn new() -> Option<CompressState> {
        let count = Count::new();
        // SAFETY: the count outlives the context, which is freed when the state is dropped.
        let context = unsafe { LZ4F_createCompressionContext_advanced(count.memory(), VERSION) };
        Some(CompressState { context: NonNull::new(context)?, count })
    }

    /// Compresses into one frame; the output has at least the bound's room.
    pub(super) fn compress(
        &mut self,
        input: &[u8],
        output: &mut [u8],
        level: c_int,
    ) -> Result<usize, Failure> {
        // SAFETY: the context is live and exclusively ours, and a new frame starts it anew;
        // pointers and lengths are those of the slices; no dictionary is allowed.
        length(unsafe {
            LZ4F_compressFrame_usingCDict(
                self.context.as_ptr(),
                output.as_mut_ptr().cast(),
                output.len(),
                input.as_ptr().cast(),
                input.len(),
                ptr::null(),
                &preferences(level),
            )
        })
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.count.bytes()
    }
}

impl Drop for CompressState {
    fn drop(&mut self) {
        // SAFETY: the pointer came from the library and is freed once, here.
        unsafe { LZ4F_freeCompressionContext(self.context.as_ptr()) };
    }
}

/// How a frame came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The end mark was read, and a checksum if there is one.
    Whole {
        /// How much of the input was read.
        read: usize,
        /// How much of the output was written.
        written: usize,
    },
    /// The frame names this dictionary.
    NeedsDictionary(u32),
    /// There is more to write than the output takes.
    OutputFull,
    /// The input ended before the end mark.
    InputEnded,
    /// The library's reason.
    Failed(Failure),
}

/// A decompression context.
pub(super) struct DecompressState {
    context: NonNull<DecompressContext>,
    /// The context's allocations are counted here, so it is dropped after it.
    count: Count,
}

// SAFETY: as for `CompressState`.
unsafe impl Send for DecompressState {}

impl DecompressState {
    /// `None` when there is no memory for it.
    pub(super) fn new() -> Option<DecompressState> {
        let count = Count::new();
        // SAFETY: as for `CompressState`.
        let context = unsafe { LZ4F_createDecompressionContext_advanced(count.memory(), VERSION) };
        Some(DecompressState { context: NonNull::new(context)?, count })
    }

    /// Decompresses the frame that the input starts with. The library allocates for the largest
    /// block that the frame may have, 4 MiB at most, and for nothing else.
    pub(super) fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Outcome {
        let context = self.context.as_ptr();
        let mut frame = FrameInfo::default();
        let mut read = input.len();
        // SAFETY: the context is live and exclusively ours, and whatever an earlier frame left is
        // reset; the length is the slice's; the library writes plain numbers into `frame`.
        let result = unsafe {
            LZ4F_resetDecompressionContext(context);
            LZ4F_getFrameInfo(context, &mut frame, input.as_ptr().cast(), &mut read)
        };
        if let Err(failure) = length(result) {
            return Outcome::Failed(failure);
        }
        if frame.dictionary_id != 0 {
            return Outcome::NeedsDictionary(frame.dictionary_id);
        }
        // What was written stays where it is, so the library need not keep a copy of it.
        let options = DecompressOptions { stable_target: 1, skip_checksums: 0, reserved: [0; 2] };
        let mut written = 0;
        loop {
            let (source, target) = (&input[read..], &mut output[written..]);
            let (mut source_size, mut target_size) = (source.len(), target.len());
            // SAFETY: the context is live and exclusively ours; lengths are those of the slices,
            // and the output's earlier part, to which blocks refer, stays borrowed and unchanged.
            let result = unsafe {
                LZ4F_decompress(
                    context,
                    target.as_mut_ptr().cast(),
                    &mut target_size,
                    source.as_ptr().cast(),
                    &mut source_size,
                    &options,
                )
            };
            match length(result) {
                Err(failure) => return Outcome::Failed(failure),
                Ok(wanted) => {
                    read += source_size;
                    written += target_size;
                    if wanted == 0 {
                        return Outcome::Whole { read, written };
                    }
                }
            }
            // The library stops before a block when the output is full, although the block may be
            // empty: only a call that moves nothing shows that it can't go on.
            if (source_size, target_size) == (0, 0) {
                let is_cut = read == input.len();
                return if is_cut { Outcome::InputEnded } else { Outcome::OutputFull };
            }
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.count.bytes()
    }
}

impl Drop for DecompressState {
    fn drop(&mut self) {
        // SAFETY: the pointer came from the library and is freed once, here.
        unsafe { LZ4F_freeDecompressionContext(self.context.as_ptr()) };
    }
}
