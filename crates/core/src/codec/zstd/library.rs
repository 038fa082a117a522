//! The calls into libzstd: the only file of these codecs with `unsafe` in it.
//!
//! Contexts are configured once; parameters and the referenced dictionary stay with them from call
//! to call, so that a call is nothing but the library's own one-shot function. Only a call with a
//! prefix changes them, and then puts them back.

use std::ops::RangeInclusive;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use zstd_safe::zstd_sys::{
    self as library, ZSTD_CCtx, ZSTD_CDict, ZSTD_DCtx, ZSTD_DDict, ZSTD_ErrorCode,
    ZSTD_ResetDirective, ZSTD_cParameter, ZSTD_dParameter, ZSTD_dictContentType_e,
    ZSTD_dictLoadMethod_e, ZSTD_strategy,
};

use super::Format;

/// ZSTD_c_format and ZSTD_d_format, which the library keeps among its experimental parameters, and
/// their value ZSTD_f_zstd1_magicless.
const COMPRESS_FORMAT: ZSTD_cParameter = ZSTD_cParameter::ZSTD_c_experimentalParam2;
const DECOMPRESS_FORMAT: ZSTD_dParameter = ZSTD_dParameter::ZSTD_d_experimentalParam1;
const MAGICLESS: i32 = 1;

/// ZSTD_c_deterministicRefPrefix, another of them.
const DETERMINISTIC_PREFIX: ZSTD_cParameter = ZSTD_cParameter::ZSTD_c_experimentalParam15;

/// The windows that the format has, as powers of two.
const WINDOW_LOGS: RangeInclusive<u32> = 10..=31;

/// Why a call failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failure {
    /// The result does not fit the output.
    NoRoom,
    /// The frame names another dictionary than the context has.
    Dictionary,
    /// The library could not allocate.
    Memory,
    /// Anything else, by the library's number.
    Other(u32),
}

impl Failure {
    fn of(result: usize) -> Failure {
        // SAFETY: a pure function of any number.
        match unsafe { library::ZSTD_getErrorCode(result) } {
            ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall => Failure::NoRoom,
            ZSTD_ErrorCode::ZSTD_error_dictionary_wrong => Failure::Dictionary,
            ZSTD_ErrorCode::ZSTD_error_memory_allocation => Failure::Memory,
            other => Failure::Other(other as u32),
        }
    }

    /// The library's number for it.
    pub(super) fn code(self) -> i64 {
        match self {
            Failure::NoRoom => ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall as i64,
            Failure::Dictionary => ZSTD_ErrorCode::ZSTD_error_dictionary_wrong as i64,
            Failure::Memory => ZSTD_ErrorCode::ZSTD_error_memory_allocation as i64,
            Failure::Other(code) => i64::from(code),
        }
    }
}

/// The library's answer: a length or an error, in one number.
fn length(result: usize) -> Result<usize, Failure> {
    // SAFETY: a pure function of any number.
    if unsafe { library::ZSTD_isError(result) } == 0 {
        Ok(result)
    } else {
        Err(Failure::of(result))
    }
}

/// The library and its version.
pub(super) fn version() -> String {
    format!("libzstd {}", zstd_safe::version_string())
}

/// The most bytes that a payload can become.
pub(super) fn compress_bound(length: usize) -> usize {
    zstd_safe::compress_bound(length)
}

/// A dictionary prepared for compression at one level, shared by all contexts that use it.
pub(super) struct CompressDictionary(NonNull<ZSTD_CDict>);

// SAFETY: the library documents a prepared dictionary as read-only and shareable between threads;
// it holds a copy of the bytes.
unsafe impl Send for CompressDictionary {}
// SAFETY: as above.
unsafe impl Sync for CompressDictionary {}

impl CompressDictionary {
    /// `None` when the bytes claim to be in zstd's format and are not.
    pub(super) fn new(bytes: &[u8], level: i32) -> Option<CompressDictionary> {
        // SAFETY: pointer and length are those of the slice, which the library copies.
        let dictionary =
            unsafe { library::ZSTD_createCDict(bytes.as_ptr().cast(), bytes.len(), level) };
        NonNull::new(dictionary).map(CompressDictionary)
    }

    pub(super) fn memory_bytes(&self) -> usize {
        // SAFETY: the dictionary is live, and only read.
        unsafe { library::ZSTD_sizeof_CDict(self.0.as_ptr()) }
    }
}

impl Drop for CompressDictionary {
    fn drop(&mut self) {
        // SAFETY: the pointer came from the library and is freed once, here; every context that
        // refers to it holds an `Arc` of it.
        unsafe { library::ZSTD_freeCDict(self.0.as_ptr()) };
    }
}

/// A compression context, configured.
pub(super) struct CompressState {
    context: NonNull<ZSTD_CCtx>,
    level: i32,
    /// What the context refers to.
    dictionary: Option<Arc<CompressDictionary>>,
}

// SAFETY: a context has no ties to the thread that made it, and it is only used through
// `&mut self`; the dictionary it refers to may be shared.
unsafe impl Send for CompressState {}

impl CompressState {
    /// `None` when there is no memory for it.
    pub(super) fn new(
        format: Format,
        level: i32,
        dictionary: Option<Arc<CompressDictionary>>,
    ) -> Option<CompressState> {
        // SAFETY: takes nothing, returns a context or null.
        let context = NonNull::new(unsafe { library::ZSTD_createCCtx() })?;
        let mut state = CompressState { context, level, dictionary };
        state.set(ZSTD_cParameter::ZSTD_c_compressionLevel, level).ok()?;
        state.set(ZSTD_cParameter::ZSTD_c_checksumFlag, 0).ok()?;
        // A prefix that happens to lie before the payload in memory must change nothing.
        state.set(DETERMINISTIC_PREFIX, 1).ok()?;
        if format == Format::Bare {
            state.set(COMPRESS_FORMAT, MAGICLESS).ok()?;
            // The library still knows the size of a one-shot input and chooses by it.
            state.set(ZSTD_cParameter::ZSTD_c_contentSizeFlag, 0).ok()?;
            state.set(ZSTD_cParameter::ZSTD_c_dictIDFlag, 0).ok()?;
        }
        if state.dictionary.is_some() {
            state.refer_to_dictionary().ok()?;
        }
        Some(state)
    }

    fn set(&mut self, parameter: ZSTD_cParameter, value: i32) -> Result<usize, Failure> {
        // SAFETY: the context is live; the library checks parameter and value.
        length(unsafe { library::ZSTD_CCtx_setParameter(self.context.as_ptr(), parameter, value) })
    }

    /// Makes the context refer to its dictionary, or to nothing where it has none.
    fn refer_to_dictionary(&mut self) -> Result<usize, Failure> {
        let dictionary = self.dictionary.as_ref().map_or(ptr::null(), |found| found.0.as_ptr());
        // SAFETY: both are live or null; `self.dictionary` keeps the dictionary so for as long as
        // the context, and the reference stays until it is replaced, by a prefix.
        length(unsafe { library::ZSTD_CCtx_refCDict(self.context.as_ptr(), dictionary) })
    }

    /// Compresses into one frame.
    pub(super) fn compress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, Failure> {
        // SAFETY: the context is live and exclusively ours; pointers and lengths are those of the
        // slices.
        length(unsafe {
            library::ZSTD_compress2(
                self.context.as_ptr(),
                output.as_mut_ptr().cast(),
                output.len(),
                input.as_ptr().cast(),
                input.len(),
            )
        })
    }

    /// Compresses into one frame whose matches may lie in the prefix. The dictionary is not used.
    pub(super) fn compress_after(
        &mut self,
        prefix: &[u8],
        input: &[u8],
        output: &mut [u8],
    ) -> Result<usize, Failure> {
        let result =
            self.refer_to_prefix(prefix, input.len()).and_then(|_| self.compress(input, output));
        // A call that failed leaves its session open, in which nothing can be set. The prefix was
        // put away when the call began; what was not reached is put away with the dictionary.
        // SAFETY: the context is live.
        let back = length(unsafe {
            let session = ZSTD_ResetDirective::ZSTD_reset_session_only;
            library::ZSTD_CCtx_reset(self.context.as_ptr(), session)
        })
        .and_then(|_| self.refer_to_dictionary())
        .and_then(|_| self.set(ZSTD_cParameter::ZSTD_c_windowLog, 0))
        .and_then(|_| self.set(ZSTD_cParameter::ZSTD_c_enableLongDistanceMatching, 0));
        result.and_then(|written| back.map(|_| written))
    }

    /// About how many bytes of a prefix the tables of the level hold the places of.
    fn indexed_bytes(&self, prefix_bytes: usize, input_bytes: usize) -> usize {
        // No input at all would be an unknown one.
        let input_bytes = input_bytes.max(1) as u64;
        // SAFETY: a pure function of any numbers.
        let tables = unsafe { library::ZSTD_getCParams(self.level, input_bytes, prefix_bytes) };
        match tables.strategy {
            // Of a prefix these two enter every third place.
            ZSTD_strategy::ZSTD_fast | ZSTD_strategy::ZSTD_dfast => 3 << tables.hashLog,
            _ => 1 << tables.hashLog.min(tables.chainLog),
        }
    }

    /// Lets the next frame refer to all of a prefix.
    fn refer_to_prefix(&mut self, prefix: &[u8], input_bytes: usize) -> Result<usize, Failure> {
        // A prefix can be reached only as long as no more than a window was written after it.
        let reach_bytes = prefix.len().saturating_add(input_bytes).next_power_of_two();
        let window_log = reach_bytes.ilog2().clamp(*WINDOW_LOGS.start(), *WINDOW_LOGS.end());
        self.set(ZSTD_cParameter::ZSTD_c_windowLog, window_log as i32)?;
        if prefix.len() > self.indexed_bytes(prefix.len(), input_bytes) {
            // Parts that moved far are found by the rolling hash of long matches.
            self.set(ZSTD_cParameter::ZSTD_c_enableLongDistanceMatching, 1)?;
        }
        // SAFETY: the context is live, and so is the prefix until the call after this one, which
        // is the only one that reads it.
        length(unsafe {
            let context = self.context.as_ptr();
            library::ZSTD_CCtx_refPrefix(context, prefix.as_ptr().cast(), prefix.len())
        })
    }

    pub(super) fn memory_bytes(&self) -> usize {
        // SAFETY: the context is live.
        unsafe { library::ZSTD_sizeof_CCtx(self.context.as_ptr()) }
    }
}

impl Drop for CompressState {
    fn drop(&mut self) {
        // SAFETY: the pointer came from the library and is freed once, here.
        unsafe { library::ZSTD_freeCCtx(self.context.as_ptr()) };
    }
}

/// A dictionary prepared for decompression, shared by all contexts that use it.
pub(super) struct DecompressDictionary(NonNull<ZSTD_DDict>);

// SAFETY: as for `CompressDictionary`.
unsafe impl Send for DecompressDictionary {}
// SAFETY: as above.
unsafe impl Sync for DecompressDictionary {}

impl DecompressDictionary {
    /// `None` when the bytes claim to be in zstd's format and are not.
    pub(super) fn new(bytes: &[u8]) -> Option<DecompressDictionary> {
        // SAFETY: pointer and length are those of the slice, which the library copies.
        let dictionary = unsafe { library::ZSTD_createDDict(bytes.as_ptr().cast(), bytes.len()) };
        NonNull::new(dictionary).map(DecompressDictionary)
    }

    pub(super) fn memory_bytes(&self) -> usize {
        // SAFETY: the dictionary is live, and only read.
        unsafe { library::ZSTD_sizeof_DDict(self.0.as_ptr()) }
    }
}

impl Drop for DecompressDictionary {
    fn drop(&mut self) {
        // SAFETY: as for `CompressDictionary`.
        unsafe { library::ZSTD_freeDDict(self.0.as_ptr()) };
    }
}

/// A decompression context, configured.
pub(super) struct DecompressState {
    context: NonNull<ZSTD_DCtx>,
    /// What the context refers to.
    _dictionary: Option<Arc<DecompressDictionary>>,
    /// Where the library describes a prefix, of which it keeps only the address; empty until one is
    /// used. Whole words, because the library wants it aligned.
    prefix_room: Vec<u64>,
}

// SAFETY: as for `CompressState`.
unsafe impl Send for DecompressState {}

impl DecompressState {
    /// `None` when there is no memory for it.
    pub(super) fn new(
        format: Format,
        dictionary: Option<Arc<DecompressDictionary>>,
    ) -> Option<DecompressState> {
        // SAFETY: takes nothing, returns a context or null.
        let context = NonNull::new(unsafe { library::ZSTD_createDCtx() })?;
        let reference = dictionary.as_ref().map(|dictionary| dictionary.0);
        let state = DecompressState { context, _dictionary: dictionary, prefix_room: Vec::new() };
        if format == Format::Bare {
            // SAFETY: the context is live; the library checks parameter and value.
            length(unsafe {
                library::ZSTD_DCtx_setParameter(context.as_ptr(), DECOMPRESS_FORMAT, MAGICLESS)
            })
            .ok()?;
        }
        if let Some(reference) = reference {
            // SAFETY: both are live; `_dictionary` keeps the dictionary so for as long as the
            // context, and the reference stays until it is replaced, which we never do.
            length(unsafe { library::ZSTD_DCtx_refDDict(context.as_ptr(), reference.as_ptr()) })
                .ok()?;
        }
        Some(state)
    }

    /// Decompresses every frame of the input, straight into the output.
    pub(super) fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, Failure> {
        // SAFETY: the context is live and exclusively ours; pointers and lengths are those of the
        // slices.
        length(unsafe {
            library::ZSTD_decompressDCtx(
                self.context.as_ptr(),
                output.as_mut_ptr().cast(),
                output.len(),
                input.as_ptr().cast(),
                input.len(),
            )
        })
    }

    /// Decompresses every frame of the input, which may refer to the prefix. The dictionary is not
    /// used.
    pub(super) fn decompress_after(
        &mut self,
        prefix: &[u8],
        input: &[u8],
        output: &mut [u8],
    ) -> Result<usize, Failure> {
        let by_address = ZSTD_dictLoadMethod_e::ZSTD_dlm_byRef;
        if self.prefix_room.is_empty() {
            // SAFETY: a pure function of its arguments.
            let room_bytes = unsafe { library::ZSTD_estimateDDictSize(0, by_address) };
            self.prefix_room.resize(room_bytes.div_ceil(size_of::<u64>()), 0);
        }
        let room = &mut self.prefix_room[..];
        // SAFETY: the room is live, exclusively ours and as long as said, and so is the prefix. The
        // library allocates nothing for it, so there is nothing to free.
        let described = unsafe {
            library::ZSTD_initStaticDDict(
                room.as_mut_ptr().cast(),
                size_of_val(room),
                prefix.as_ptr().cast(),
                prefix.len(),
                by_address,
                // Whatever it starts with: a payload may look like a dictionary of zstd's.
                ZSTD_dictContentType_e::ZSTD_dct_rawContent,
            )
        };
        if described.is_null() {
            return Err(Failure::Memory);
        }
        // The library has two decoders, of which it picks one by whether it thinks that the prefix
        // is the one of the call before: they may find different faults in one damaged frame. This
        // makes it forget that call.
        // SAFETY: the context is live and exclusively ours.
        length(unsafe { library::ZSTD_decompressBegin(self.context.as_ptr()) })?;
        // SAFETY: the context is live and exclusively ours; pointers and lengths are those of the
        // slices; what describes the prefix is in our room, and neither is read after this call.
        length(unsafe {
            library::ZSTD_decompress_usingDDict(
                self.context.as_ptr(),
                output.as_mut_ptr().cast(),
                output.len(),
                input.as_ptr().cast(),
                input.len(),
                described,
            )
        })
    }

    pub(super) fn memory_bytes(&self) -> usize {
        // SAFETY: the context is live.
        let context_bytes = unsafe { library::ZSTD_sizeof_DCtx(self.context.as_ptr()) };
        context_bytes + size_of_val(&self.prefix_room[..])
    }
}

impl Drop for DecompressState {
    fn drop(&mut self) {
        // SAFETY: the pointer came from the library and is freed once, here.
        unsafe { library::ZSTD_freeDCtx(self.context.as_ptr()) };
    }
}
