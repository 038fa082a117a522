//! libdeflate, called directly. Each wrapper has functions of its own, and each gets types of its
//! own here, so that the bare side does not even pay for choosing between them.

use libdeflate_sys as library;

use crate::side::{Call, Operation, Side};

struct Compressor(*mut library::libdeflate_compressor);

impl Compressor {
    fn new(level: i32) -> Compressor {
        // SAFETY: takes any level; one that it does not have gives null.
        let context = unsafe { library::libdeflate_alloc_compressor(level) };
        assert!(!context.is_null(), "libdeflate has no level {level}");
        Compressor(context)
    }
}

impl Drop for Compressor {
    fn drop(&mut self) {
        // SAFETY: it came from the library and is freed once, here.
        unsafe { library::libdeflate_free_compressor(self.0) };
    }
}

struct Decompressor(*mut library::libdeflate_decompressor);

impl Decompressor {
    fn new() -> Decompressor {
        // SAFETY: takes nothing.
        let context = unsafe { library::libdeflate_alloc_decompressor() };
        assert!(!context.is_null(), "no memory for a context");
        Decompressor(context)
    }
}

impl Drop for Decompressor {
    fn drop(&mut self) {
        // SAFETY: it came from the library and is freed once, here.
        unsafe { library::libdeflate_free_decompressor(self.0) };
    }
}

macro_rules! wrapper {
    ($side:ident, $compress:ident, $decompress:ident) => {
        pub(super) fn $side(operation: Operation, level: i32, _: Option<&[u8]>) -> Box<dyn Side> {
            struct Compress(Compressor);

            impl Call for Compress {
                #[inline]
                fn call(&mut self, input: &[u8], output: &mut [u8]) -> usize {
                    // SAFETY: the context is live and ours alone; pointers and lengths are those
                    // of the slices.
                    unsafe {
                        library::$compress(
                            self.0.0,
                            input.as_ptr().cast(),
                            input.len(),
                            output.as_mut_ptr().cast(),
                            output.len(),
                        )
                    }
                }
            }

            struct Decompress(Decompressor);

            impl Call for Decompress {
                #[inline]
                fn call(&mut self, input: &[u8], output: &mut [u8]) -> usize {
                    let mut written = 0;
                    // SAFETY: as for `Compress`; the result has a place.
                    unsafe {
                        library::$decompress(
                            self.0.0,
                            input.as_ptr().cast(),
                            input.len(),
                            output.as_mut_ptr().cast(),
                            output.len(),
                            &mut written,
                        )
                    };
                    written
                }
            }

            match operation {
                Operation::Compress => Box::new(Compress(Compressor::new(level))),
                Operation::Decompress => Box::new(Decompress(Decompressor::new())),
            }
        }
    };
}

wrapper!(gzip, libdeflate_gzip_compress, libdeflate_gzip_decompress);
wrapper!(zlib, libdeflate_zlib_compress, libdeflate_zlib_decompress);
wrapper!(raw, libdeflate_deflate_compress, libdeflate_deflate_decompress);
