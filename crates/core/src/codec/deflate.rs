//! The zlib family: one compressed format (RFC 1951) in three wrappers, by two libraries.
//!
//! The wrapper is the decoder's id; the library is not, so rows with one id must read each
//! other's bytes. The rows of libdeflate come first in the registry: it works on whole buffers
//! only, which is all we have, and decodes envelopes fastest.

use std::sync::Arc;

use crate::codec::named::{check_compressor, check_decompressor};
use crate::codec::{
    Codec, CodecId, CodecInfo, Compressor, Decompressor, DictionaryUse, Levels, SetupError,
};
use crate::dictionary::Dictionary;

mod libdeflate;
mod zlib;

/// The version of the library's crate, which it does not tell; a test compares it with the lock
/// file.
pub(super) const LIBDEFLATE_VERSION: &str = "1.26.1";

/// What is around the compressed blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wrapper {
    /// RFC 1952: ten bytes before, CRC-32 and length after.
    Gzip,
    /// RFC 1950: two bytes before, Adler-32 after.
    Zlib,
    /// RFC 1951: nothing.
    Raw,
}

#[derive(Debug, Clone, Copy)]
enum Library {
    Libdeflate,
    Zlib,
}

/// A registry row.
pub(super) struct Deflate {
    info: &'static CodecInfo,
    wrapper: Wrapper,
    library: Library,
}

macro_rules! row {
    ($row:ident, $id:literal, $name:literal, $wrapper:ident, $library:ident, $summary:literal) => {
        pub(super) static $row: Deflate = Deflate {
            info: &CodecInfo {
                id: CodecId($id),
                name: $name,
                summary: $summary,
                library: Library::$library.version(),
                levels: Library::$library.levels(),
                dictionary_use: DictionaryUse::None,
                takes_prefix: false,
                since: "0.1.0",
                until: None,
            },
            wrapper: Wrapper::$wrapper,
            library: Library::$library,
        };
    };
}

row!(GZIP_LIBDEFLATE, 0x13, "gzip-libdeflate", Gzip, Libdeflate, "gzip by libdeflate: faster");
row!(GZIP, 0x13, "gzip", Gzip, Zlib, "gzip by zlib: the common baseline");
row!(ZLIB_LIBDEFLATE, 0x14, "zlib-libdeflate", Zlib, Libdeflate, "zlib by libdeflate: faster");
row!(ZLIB, 0x14, "zlib", Zlib, Zlib, "zlib by zlib: the common baseline");
row!(RAW_LIBDEFLATE, 0x15, "deflate-libdeflate", Raw, Libdeflate, "DEFLATE by libdeflate: faster");
row!(RAW, 0x15, "deflate", Raw, Zlib, "DEFLATE by zlib, without wrapper or checksum");

impl Library {
    const fn version(self) -> fn() -> String {
        match self {
            Library::Libdeflate => || format!("libdeflate {LIBDEFLATE_VERSION}"),
            Library::Zlib => zlib::version,
        }
    }

    const fn levels(self) -> Levels {
        let max = match self {
            Library::Libdeflate => 12,
            Library::Zlib => 9,
        };
        Levels { min: 1, max, default: 6, slow_from: max + 1 }
    }
}

impl Codec for Deflate {
    fn info(&self) -> &'static CodecInfo {
        self.info
    }

    fn compress_bound(&self, length: usize) -> usize {
        match self.library {
            Library::Libdeflate => libdeflate::compress_bound(self.wrapper, length),
            Library::Zlib => zlib::compress_bound(length),
        }
    }

    fn compressor(
        &self,
        level: i32,
        dictionary: Option<&Arc<Dictionary>>,
    ) -> Result<Box<dyn Compressor>, SetupError> {
        check_compressor(self.info, level, dictionary)?;
        Ok(match self.library {
            Library::Libdeflate => {
                Box::new(libdeflate::LibdeflateCompressor::new(self.info, self.wrapper, level)?)
            }
            Library::Zlib => Box::new(zlib::ZlibCompressor::new(self.info, self.wrapper, level)?),
        })
    }

    fn decompressor(
        &self,
        dictionary: Option<&Arc<Dictionary>>,
    ) -> Result<Box<dyn Decompressor>, SetupError> {
        check_decompressor(self.info, dictionary)?;
        Ok(match self.library {
            Library::Libdeflate => {
                Box::new(libdeflate::LibdeflateDecompressor::new(self.info, self.wrapper)?)
            }
            Library::Zlib => Box::new(zlib::ZlibDecompressor::new(self.info, self.wrapper)?),
        })
    }
}
