//! The calls into zstd's trainer: the only file of this crate with `unsafe` in it.
//!
//! The safe wrapper offers the trainer without its level and its options, which is why it is called
//! here. The library draws no random numbers and is told to write nothing to the terminal.

use std::ffi::{CStr, c_uint};

use zstd_safe::zstd_sys::{self as library, ZDICT_fastCover_params_t, ZDICT_params_t};

/// The length in bytes of what the trainer counts; the library's own choice.
const SEGMENT_PART_BYTES: c_uint = 8;

/// The base-2 logarithm of the trainer's table of counts; the library's own choice, 6 MiB.
const TABLE_BITS: c_uint = 20;

/// How many lengths of segment are tried, less one: four times as many as the library's own choice,
/// which takes a second longer for 10 MB and misses the best length of corpora with long repeats.
const STEPS: c_uint = 16;

/// The share of the samples, in their order, that the search learns from; the rest judges.
const SEARCH_SHARE: f64 = 0.75;

/// The trainer compresses samples, to judge lengths and to make the entropy tables, at this level
/// at most: tables of level 19 take 0.3 to 0.8 s for each megabyte of samples and make payloads of
/// level 19 between 1 % larger and 3 % smaller. It also lets one dictionary serve all those levels.
const LEVEL_MAX: i32 = 3;

/// Trains a dictionary on samples that stand one after the other, or says why there is none.
pub(super) fn train(
    flat: &[u8],
    lengths: &[usize],
    dictionary_bytes: usize,
    level: i32,
) -> Result<Vec<u8>, String> {
    assert_eq!(lengths.iter().sum::<usize>(), flat.len(), "the lengths of these samples");
    let count = c_uint::try_from(lengths.len()).map_err(|_| "too many samples".to_owned())?;
    let mut dictionary = vec![0; dictionary_bytes];
    let mut search = options(level.min(LEVEL_MAX), 0, SEARCH_SHARE);
    // SAFETY: the dictionary is writable for its length, the samples are readable for the sum of
    // the lengths, as asserted above, and there are `count` lengths.
    let found = unsafe {
        library::ZDICT_optimizeTrainFromBuffer_fastCover(
            dictionary.as_mut_ptr().cast(),
            dictionary.len(),
            flat.as_ptr().cast(),
            lengths.as_ptr(),
            count,
            &raw mut search,
        )
    };
    checked(found)?;
    // SAFETY: as above; the options are passed by value.
    let length = unsafe {
        library::ZDICT_trainFromBuffer_fastCover(
            dictionary.as_mut_ptr().cast(),
            dictionary.len(),
            flat.as_ptr().cast(),
            lengths.as_ptr(),
            count,
            options(level.min(LEVEL_MAX), search.k, 1.0),
        )
    };
    dictionary.truncate(checked(length)?);
    Ok(dictionary)
}

/// The options of the trainer; a segment length of 0 has it look for one.
fn options(level: i32, segment_bytes: c_uint, share: f64) -> ZDICT_fastCover_params_t {
    ZDICT_fastCover_params_t {
        k: segment_bytes,
        d: SEGMENT_PART_BYTES,
        f: TABLE_BITS,
        steps: STEPS,
        nbThreads: 1,
        splitPoint: share,
        accel: 1,
        shrinkDict: 0,
        shrinkDictMaxRegression: 0,
        zParams: ZDICT_params_t { compressionLevel: level, notificationLevel: 0, dictID: 0 },
    }
}

/// How many bytes of a dictionary stand before its content; all of them where it is damaged, which
/// one of the trainer's is not.
pub(super) fn header_bytes(dictionary: &[u8]) -> usize {
    // SAFETY: the dictionary is readable for its length.
    let length =
        unsafe { library::ZDICT_getDictHeaderSize(dictionary.as_ptr().cast(), dictionary.len()) };
    checked(length).unwrap_or(dictionary.len()).min(dictionary.len())
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
