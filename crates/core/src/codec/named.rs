//! The checks and errors that every codec shares, so that they are worded once.
//!
//! A [`Named`] is a codec's registry name with a constructor for each error. Everything here is
//! off the hot path: it runs when a context is made or when a call has already failed.

use std::sync::Arc;

use crate::codec::{CodecInfo, CompressError, DecompressError, DictionaryUse, SetupError};
use crate::dictionary::Dictionary;

/// A codec's name, for errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Named(pub(super) &'static str);

impl Named {
    /// The name in a registry row.
    pub(super) fn of(info: &'static CodecInfo) -> Named {
        Named(info.name)
    }

    #[cold]
    pub(super) fn no_room(self, output: &[u8]) -> CompressError {
        CompressError::OutputTooSmall { codec: self.0, capacity: output.len() }
    }

    #[cold]
    pub(super) fn input_too_large(self, input: &[u8], limit: usize) -> CompressError {
        CompressError::InputTooLarge { codec: self.0, limit, got: input.len() }
    }

    #[cold]
    pub(super) fn compress_failed(self, code: i64) -> CompressError {
        CompressError::Library { codec: self.0, code }
    }

    #[cold]
    pub(super) fn corrupt(self) -> DecompressError {
        DecompressError::Corrupt { codec: self.0 }
    }

    #[cold]
    pub(super) fn too_long(self, capacity: usize) -> DecompressError {
        DecompressError::OutputTooSmall { codec: self.0, capacity }
    }

    #[cold]
    pub(super) fn trailing(self, count: usize) -> DecompressError {
        DecompressError::TrailingBytes { codec: self.0, count }
    }

    #[cold]
    pub(super) fn needs_dictionary(self, id: u32) -> DecompressError {
        DecompressError::NeedsDictionary { codec: self.0, id }
    }

    #[cold]
    pub(super) fn decompress_failed(self, code: i64) -> DecompressError {
        DecompressError::Library { codec: self.0, code }
    }

    #[cold]
    pub(super) fn out_of_memory(self) -> SetupError {
        SetupError::OutOfMemory { codec: self.0 }
    }

    #[cold]
    pub(super) fn bad_dictionary(self, dictionary: &Dictionary) -> SetupError {
        SetupError::BadDictionary { codec: self.0, id: dictionary.id() }
    }
}

/// What a compressor checks before it is made: that the codec has the level and, when there is a
/// dictionary, that it takes one at all. LZ4 alone looks at the level for that, in its own file.
pub(super) fn check_compressor(
    info: &'static CodecInfo,
    level: i32,
    dictionary: Option<&Arc<Dictionary>>,
) -> Result<(), SetupError> {
    if !info.levels.contains(level) {
        let (min, max) = (info.levels.min, info.levels.max);
        return Err(SetupError::Level { codec: info.name, min, max, level });
    }
    check_decompressor(info, dictionary)
}

/// What a decompressor checks before it is made.
pub(super) fn check_decompressor(
    info: &'static CodecInfo,
    dictionary: Option<&Arc<Dictionary>>,
) -> Result<(), SetupError> {
    if dictionary.is_some() && info.dictionary_use == DictionaryUse::None {
        return Err(SetupError::NoDictionary { codec: info.name, level: None });
    }
    Ok(())
}
