//! What can be wrong with a codec and level that somebody wrote, worded for that person: each
//! message says what was read, what would be right, and which name was probably meant.

use super::{ALIASES, CodecChoice, codec_names};
use crate::codec::CODECS;

/// Names of formats and tools that people write for one of our codecs.
const RELATED: &[(&str, &str)] = &[
    ("xz", "lzma2"),
    ("lzma", "lzma2"),
    ("br", "brotli"),
    ("bz2", "bzip2"),
    ("gz", "gzip"),
    ("zst", "zstd"),
    ("lz4hc", "lz4:high"),
    ("lz4-hc", "lz4:high"),
    ("lz4-high", "lz4:high"),
    ("lz4-fast", "lz4:fast"),
    ("inflate", "deflate"),
    ("zlib-rs", "zlib"),
    ("libdeflate", "gzip-libdeflate"),
    ("raw", "stored"),
    ("off", "stored"),
];

/// Why a text does not name codecs and levels.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChoiceError {
    /// An item of the list has no name.
    #[error(
        "{item:?} names no codec: write a name such as \"zstd\" or a name and a level such \
             as \"zstd:3\""
    )]
    NoName {
        /// The item as it was written.
        item: String,
    },
    /// No codec has this name.
    #[error("there is no codec {name:?}{}; the codecs are {}", .meant.map(|meant| format!(
        " (did you mean {meant}?)")).unwrap_or_default(), codec_names())]
    UnknownName {
        /// The name as it was written.
        name: String,
        /// The name that was probably meant.
        meant: Option<&'static str>,
    },
    /// What follows the colon is neither a level nor a range of them.
    #[error(
        "{text:?} is not a level of {codec}: write a level from {min} to {max}, a range such \
             as {codec}:{min}..{max}, or {codec}:all"
    )]
    NotALevel {
        /// The codec's name.
        codec: &'static str,
        /// What was written after the colon.
        text: String,
        /// The lowest level it has.
        min: i32,
        /// The highest level it has.
        max: i32,
    },
    /// The codec does not have this level.
    #[error("{codec} has no level {level}: it has {}", if min == max {
        "only one level, which need not be named".to_owned()
    } else {
        format!("levels {min} to {max}")
    })]
    NoSuchLevel {
        /// The codec's name.
        codec: &'static str,
        /// The level that was written.
        level: i32,
        /// The lowest level it has.
        min: i32,
        /// The highest level it has.
        max: i32,
    },
    /// A range whose first level is above its last.
    #[error("{codec}:{first}..{last} is empty: write the lower level first")]
    EmptyRange {
        /// The codec's name.
        codec: &'static str,
        /// The first level that was written.
        first: i32,
        /// The last level that was written.
        last: i32,
    },
    /// A published name, which has a level of its own, with another level.
    #[error("{alias} always means {choice}: for another level write {}:LEVEL", .choice.name())]
    AliasWithLevel {
        /// The published name as it was written.
        alias: String,
        /// What it stands for.
        choice: CodecChoice,
    },
    /// A list or a range where one choice was asked for.
    #[error("{text:?} names {count} choices where one is needed")]
    Several {
        /// The text as it was written.
        text: String,
        /// How many choices it names.
        count: usize,
    },
}

impl ChoiceError {
    /// The error for a name that no codec has.
    pub(super) fn unknown(name: &str) -> ChoiceError {
        ChoiceError::UnknownName { name: name.to_owned(), meant: probably_meant(name) }
    }
}

/// The name that `name` is probably a slip of, or another word for.
fn probably_meant(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase().replace('_', "-");
    if let Some((_, meant)) = RELATED.iter().find(|(related, _)| *related == name) {
        return Some(meant);
    }
    let names = CODECS.iter().map(|codec| codec.info().name);
    let aliases = ALIASES.iter().map(|(alias, _, _)| *alias);
    // Two letters that changed places count as two slips.
    let slips_max = if name.len() < 3 { 0 } else { (name.len() / 3).max(2) };
    names
        .chain(aliases)
        .map(|known| (slips(&name, &known.to_ascii_lowercase().replace('_', "-")), known))
        .min_by_key(|(slips, _)| *slips)
        .filter(|(slips, _)| *slips <= slips_max)
        .map(|(_, known)| known)
}

/// How many letters must be put in, left out or changed to make one word the other.
fn slips(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, letter) in one.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, known) in other.bytes().enumerate() {
            let changed = diagonal + usize::from(letter != known);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}
