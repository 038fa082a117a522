//! The other side: the libraries called as sparingly as they can be, with a context that is reused,
//! a dictionary that is prepared, and not one check of ours.
//!
//! This table is also the list of what `overhead` measures. It names registry rows, because it says
//! how their libraries are called without us; a name that the registry lacks fails the bench.

use crate::side::{Operation, Side};

mod deflate;
mod lz4;
mod snappy;
pub(crate) mod zstd;

/// Makes a side for an operation, a level and perhaps a dictionary.
type Make = fn(Operation, i32, Option<&[u8]>) -> Box<dyn Side>;

/// A library as a registry row uses it.
pub(crate) struct Bare {
    /// The registry row that it is compared with.
    pub(crate) codec: &'static str,
    /// The levels to measure without a dictionary.
    pub(crate) levels: &'static [i32],
    /// The levels to measure with one.
    pub(crate) dictionary_levels: &'static [i32],
    make: Make,
}

impl Bare {
    /// A side with a context of its own, which holds what it needs of the dictionary's bytes.
    pub(crate) fn side(
        &self,
        operation: Operation,
        level: i32,
        dictionary: Option<&[u8]>,
    ) -> Box<dyn Side> {
        (self.make)(operation, level, dictionary)
    }
}

/// Every library that is measured.
pub(crate) static BARE: &[Bare] = &[
    Bare {
        codec: "zstd",
        levels: &[-5, 1, 3, 9],
        dictionary_levels: &[-5, 1, 3, 9],
        make: zstd::standard,
    },
    Bare { codec: "lz4", levels: &[1, 9], dictionary_levels: &[9], make: lz4::side },
    Bare { codec: "gzip-libdeflate", levels: &[6], dictionary_levels: &[], make: deflate::gzip },
    Bare { codec: "zlib-libdeflate", levels: &[6], dictionary_levels: &[], make: deflate::zlib },
    Bare { codec: "deflate-libdeflate", levels: &[6], dictionary_levels: &[], make: deflate::raw },
    Bare { codec: "snappy", levels: &[0], dictionary_levels: &[], make: snappy::side },
];
