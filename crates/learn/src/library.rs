//! The calls into zstd's dictionary builder: the only file of this crate with `unsafe` in it.
//!
//! The content is ours; the library adds entropy tables, which are statistics of samples, and a
//! header. It draws no random numbers and is told to write nothing to the terminal.

use std::ffi::{CStr, c_uint};

use zstd_safe::zstd_sys::{self as library, ZDICT_params_t};

/// The header and tables are not longer than this.
const HEADER_BYTES_MAX: usize = 1 << 10;

/// The least content that the library takes, in bytes.
pub(crate) const CONTENT_BYTES_MIN: usize = 128;

/// Makes a dictionary in zstd's format of content, with tables for samples that stand one after the
/// other, or says why there is none.
pub(crate) fn finish(
    content: &[u8],
    flat: &[u8],
    lengths: &[usize],
    level: i32,
    id: u32,
) -> Result<Vec<u8>, String> {
    assert_eq!(lengths.iter().sum::<usize>(), flat.len(), "the lengths of these samples");
    let count = c_uint::try_from(lengths.len()).map_err(|_| "too many samples".to_owned())?;
    let mut dictionary = vec![0; content.len() + HEADER_BYTES_MAX];
    let parameters = ZDICT_params_t { compressionLevel: level, notificationLevel: 0, dictID: id };
    // SAFETY: the dictionary is writable for its length, which is more than that of the content;
    // content and samples are readable for theirs, the samples for the sum of the lengths, as
    // asserted above, and there are `count` lengths.
    let length = unsafe {
        library::ZDICT_finalizeDictionary(
            dictionary.as_mut_ptr().cast(),
            dictionary.len(),
            content.as_ptr().cast(),
            content.len(),
            flat.as_ptr().cast(),
            lengths.as_ptr(),
            count,
            parameters,
        )
    };
    dictionary.truncate(checked(length)?);
    Ok(dictionary)
}

/// The library's answer: a length or an error, in one number.
fn checked(result: usize) -> Result<usize, String> {
    // SAFETY: both are pure functions of any number, and the name is a static text.
    unsafe {
        if library::ZDICT_isError(result) == 0 {
            return Ok(result);
        }
        Err(CStr::from_ptr(library::ZDICT_getErrorName(result)).to_string_lossy().into_owned())
    }
}
