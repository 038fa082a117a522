//! The zlib family by libdeflate, which compresses and decompresses whole buffers only and is the
//! fastest at it. The only file of the family with `unsafe` in it.
//!
//! The bindings' safe layer hides how much of the input was read, which we need to refuse bytes
//! after the end, so the functions are called directly.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::{self, NonNull};

use libdeflate_sys as library;

use super::{Wrapper, zlib};
use crate::codec::named::Named;
use crate::codec::{
    CodecInfo, CompressError, Compressor, DecompressError, Decompressor, SetupError,
};

// SAFETY: the C library's own allocation functions, with the signatures of stdlib.h.
unsafe extern "C" {
    fn malloc(size: usize) -> *mut c_void;
    fn free(pointer: *mut c_void);
}

thread_local! {
    /// The bytes allocated since the cell was last cleared: a context is made by one thread.
    static ALLOCATED_BYTES: Cell<usize> = const { Cell::new(0) };
}

/// An allocation function that counts, since the library does not say how large a context is.
///
/// # Safety
///
/// None of its own: it is `unsafe` only because the library's type for it is.
unsafe extern "C" fn counting_malloc(size: usize) -> *mut c_void {
    ALLOCATED_BYTES.set(ALLOCATED_BYTES.get() + size);
    // SAFETY: malloc takes any size.
    unsafe { malloc(size) }
}

const COUNTING: library::libdeflate_options = library::libdeflate_options {
    sizeof_options: size_of::<library::libdeflate_options>(),
    malloc_func: Some(counting_malloc),
    free_func: Some(free),
};

/// The most bytes that a payload can become at any level.
pub(super) fn compress_bound(wrapper: Wrapper, length: usize) -> usize {
    // SAFETY: a null compressor asks for the bound of every compressor.
    unsafe {
        match wrapper {
            Wrapper::Gzip => library::libdeflate_gzip_compress_bound(ptr::null_mut(), length),
            Wrapper::Zlib => library::libdeflate_zlib_compress_bound(ptr::null_mut(), length),
            Wrapper::Raw => library::libdeflate_deflate_compress_bound(ptr::null_mut(), length),
        }
    }
}

pub(super) struct LibdeflateCompressor {
    named: Named,
    wrapper: Wrapper,
    context: NonNull<library::libdeflate_compressor>,
    memory_bytes: usize,
}

// SAFETY: the context is one allocation without ties to the thread that made it, and it is only
// used through `&mut self`.
unsafe impl Send for LibdeflateCompressor {}

impl LibdeflateCompressor {
    pub(super) fn new(
        info: &'static CodecInfo,
        wrapper: Wrapper,
        level: i32,
    ) -> Result<Self, SetupError> {
        let named = Named::of(info);
        ALLOCATED_BYTES.set(0);
        // SAFETY: the options are constant and name their own size; a level that the library does
        // not have gives a null pointer.
        let context = unsafe { library::libdeflate_alloc_compressor_ex(level, &COUNTING) };
        let context = NonNull::new(context).ok_or_else(|| named.out_of_memory())?;
        let memory_bytes = size_of::<Self>() + ALLOCATED_BYTES.get();
        Ok(LibdeflateCompressor { named, wrapper, context, memory_bytes })
    }
}

impl Compressor for LibdeflateCompressor {
    fn compress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, CompressError> {
        let compress = match self.wrapper {
            Wrapper::Gzip => library::libdeflate_gzip_compress,
            Wrapper::Zlib => library::libdeflate_zlib_compress,
            Wrapper::Raw => library::libdeflate_deflate_compress,
        };
        // SAFETY: the context is live and exclusively ours; pointers and lengths are those of the
        // slices.
        let length = unsafe {
            compress(
                self.context.as_ptr(),
                input.as_ptr().cast(),
                input.len(),
                output.as_mut_ptr().cast(),
                output.len(),
            )
        };
        if length == 0 {
            return Err(self.named.no_room(output));
        }
        Ok(length)
    }

    fn memory_bytes(&self) -> usize {
        self.memory_bytes
    }
}

impl Drop for LibdeflateCompressor {
    fn drop(&mut self) {
        // SAFETY: the context came from the library and is freed once, here.
        unsafe { library::libdeflate_free_compressor(self.context.as_ptr()) };
    }
}

pub(super) struct LibdeflateDecompressor {
    info: &'static CodecInfo,
    named: Named,
    wrapper: Wrapper,
    context: NonNull<library::libdeflate_decompressor>,
    memory_bytes: usize,
}

// SAFETY: as for the compressor.
unsafe impl Send for LibdeflateDecompressor {}

impl LibdeflateDecompressor {
    pub(super) fn new(info: &'static CodecInfo, wrapper: Wrapper) -> Result<Self, SetupError> {
        let named = Named::of(info);
        ALLOCATED_BYTES.set(0);
        // SAFETY: the options are constant and name their own size.
        let context = unsafe { library::libdeflate_alloc_decompressor_ex(&COUNTING) };
        let context = NonNull::new(context).ok_or_else(|| named.out_of_memory())?;
        let memory_bytes = size_of::<Self>() + ALLOCATED_BYTES.get();
        Ok(LibdeflateDecompressor { info, named, wrapper, context, memory_bytes })
    }
}

impl LibdeflateDecompressor {
    /// The library reads zeros behind the end of its input, so that a body which is cut short may
    /// seem to go on for ever. The other library tells the two apart; it is slower, and needs a
    /// context for it, which only a call that fails anyway pays for.
    #[cold]
    fn longer_or_cut(&self, input: &[u8], output: &mut [u8]) -> DecompressError {
        let verdict = zlib::ZlibDecompressor::new(self.info, self.wrapper)
            .map(|mut other| other.decompress(input, output));
        match verdict {
            Ok(Err(error)) => error,
            Ok(Ok(_)) | Err(_) => self.named.too_long(output.len()),
        }
    }
}

impl Decompressor for LibdeflateDecompressor {
    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, DecompressError> {
        let decompress = match self.wrapper {
            Wrapper::Gzip => library::libdeflate_gzip_decompress_ex,
            Wrapper::Zlib => library::libdeflate_zlib_decompress_ex,
            Wrapper::Raw => library::libdeflate_deflate_decompress_ex,
        };
        let (mut read, mut written) = (0, 0);
        // SAFETY: the context is live and exclusively ours; pointers and lengths are those of the
        // slices, and both results have a place.
        let result = unsafe {
            decompress(
                self.context.as_ptr(),
                input.as_ptr().cast(),
                input.len(),
                output.as_mut_ptr().cast(),
                output.len(),
                &mut read,
                &mut written,
            )
        };
        match result {
            library::libdeflate_result_LIBDEFLATE_SUCCESS if read < input.len() => {
                Err(self.named.trailing(input.len() - read))
            }
            library::libdeflate_result_LIBDEFLATE_SUCCESS => Ok(written),
            library::libdeflate_result_LIBDEFLATE_INSUFFICIENT_SPACE => {
                Err(self.longer_or_cut(input, output))
            }
            _ => Err(self.named.corrupt()),
        }
    }

    fn memory_bytes(&self) -> usize {
        self.memory_bytes
    }

    fn name(&self) -> &'static str {
        self.named.0
    }
}

impl Drop for LibdeflateDecompressor {
    fn drop(&mut self) {
        // SAFETY: the context came from the library and is freed once, here.
        unsafe { library::libdeflate_free_decompressor(self.context.as_ptr()) };
    }
}
