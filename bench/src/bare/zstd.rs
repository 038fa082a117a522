//! libzstd, called directly: `ZSTD_compress2` and `ZSTD_decompressDCtx` on contexts that keep their
//! parameters and their prepared dictionary. The parameters must stay those of our rows, or the
//! comparison is not one; the bytes are compared before anything is timed.

use zstd_safe::zstd_sys::{
    self as library, ZSTD_CCtx, ZSTD_CDict, ZSTD_DCtx, ZSTD_DDict, ZSTD_cParameter, ZSTD_dParameter,
};

use crate::side::{Call, Operation, Side};

/// ZSTD_c_format and ZSTD_d_format with their value ZSTD_f_zstd1_magicless.
const COMPRESS_FORMAT: ZSTD_cParameter = ZSTD_cParameter::ZSTD_c_experimentalParam2;
const DECOMPRESS_FORMAT: ZSTD_dParameter = ZSTD_dParameter::ZSTD_d_experimentalParam1;
const MAGICLESS: i32 = 1;

/// A side for the row `zstd`.
pub(super) fn standard(
    operation: Operation,
    level: i32,
    dictionary: Option<&[u8]>,
) -> Box<dyn Side> {
    match operation {
        Operation::Compress => Box::new(Compress::new(false, level, dictionary)),
        Operation::Decompress => Box::new(Decompress::new(false, dictionary)),
    }
}

/// A compression context.
pub(crate) struct Compress {
    context: *mut ZSTD_CCtx,
    dictionary: *mut ZSTD_CDict,
}

impl Compress {
    /// A context for standard frames, or for frames as envelopes hold them.
    pub(crate) fn new(is_magicless: bool, level: i32, dictionary: Option<&[u8]>) -> Compress {
        let mut dictionary_pointer = std::ptr::null_mut();
        // SAFETY: the context is not null; the dictionary's bytes are copied by the library and
        // the prepared form is freed after the context that refers to it.
        let context = unsafe {
            let context = library::ZSTD_createCCtx();
            assert!(!context.is_null(), "no memory for a context");
            let set = |parameter, value| {
                library::ZSTD_CCtx_setParameter(context, parameter, value);
            };
            set(ZSTD_cParameter::ZSTD_c_compressionLevel, level);
            set(ZSTD_cParameter::ZSTD_c_checksumFlag, 0);
            if is_magicless {
                set(COMPRESS_FORMAT, MAGICLESS);
                set(ZSTD_cParameter::ZSTD_c_contentSizeFlag, 0);
                set(ZSTD_cParameter::ZSTD_c_dictIDFlag, 0);
            }
            if let Some(bytes) = dictionary {
                dictionary_pointer =
                    library::ZSTD_createCDict(bytes.as_ptr().cast(), bytes.len(), level);
                library::ZSTD_CCtx_refCDict(context, dictionary_pointer);
            }
            context
        };
        Compress { context, dictionary: dictionary_pointer }
    }
}

impl Call for Compress {
    #[inline]
    fn call(&mut self, input: &[u8], output: &mut [u8]) -> usize {
        // SAFETY: the context is live and ours alone; pointers and lengths are those of the slices.
        unsafe {
            library::ZSTD_compress2(
                self.context,
                output.as_mut_ptr().cast(),
                output.len(),
                input.as_ptr().cast(),
                input.len(),
            )
        }
    }
}

impl Drop for Compress {
    fn drop(&mut self) {
        // SAFETY: both came from the library and are freed once, here; null is allowed.
        unsafe {
            library::ZSTD_freeCCtx(self.context);
            library::ZSTD_freeCDict(self.dictionary);
        }
    }
}

/// A decompression context.
pub(crate) struct Decompress {
    context: *mut ZSTD_DCtx,
    dictionary: *mut ZSTD_DDict,
}

impl Decompress {
    /// A context for standard frames, or for frames as envelopes hold them.
    pub(crate) fn new(is_magicless: bool, dictionary: Option<&[u8]>) -> Decompress {
        let mut dictionary_pointer = std::ptr::null_mut();
        // SAFETY: as for `Compress`.
        let context = unsafe {
            let context = library::ZSTD_createDCtx();
            assert!(!context.is_null(), "no memory for a context");
            if is_magicless {
                library::ZSTD_DCtx_setParameter(context, DECOMPRESS_FORMAT, MAGICLESS);
            }
            if let Some(bytes) = dictionary {
                dictionary_pointer = library::ZSTD_createDDict(bytes.as_ptr().cast(), bytes.len());
                library::ZSTD_DCtx_refDDict(context, dictionary_pointer);
            }
            context
        };
        Decompress { context, dictionary: dictionary_pointer }
    }
}

impl Call for Decompress {
    #[inline]
    fn call(&mut self, input: &[u8], output: &mut [u8]) -> usize {
        // SAFETY: the context is live and ours alone; pointers and lengths are those of the slices.
        unsafe {
            library::ZSTD_decompressDCtx(
                self.context,
                output.as_mut_ptr().cast(),
                output.len(),
                input.as_ptr().cast(),
                input.len(),
            )
        }
    }
}

impl Drop for Decompress {
    fn drop(&mut self) {
        // SAFETY: both came from the library and are freed once, here; null is allowed.
        unsafe {
            library::ZSTD_freeDCtx(self.context);
            library::ZSTD_freeDDict(self.dictionary);
        }
    }
}
