//! A codec and a level as people write them: `zstd:3`, `lz4:high`, `gzip:1-9`, `zstd:-5..-1`,
//! `brotli:all`, or a name from a published store's configuration such as `LZ4_HIGH`.
//!
//! Arguments, profiles and reports all use this notation, so what a choice prints must parse to
//! the same choice, and an error must say what would have been right.

use std::fmt;
use std::str::FromStr;

use crate::codec::{CODECS, Codec, Levels, codec_named};

mod error;

pub use error::ChoiceError;

/// Names that published stores and their configurations use, in any case, and what they stand
/// for. A level of `None` is the codec's default.
pub const ALIASES: &[(&str, &str, Option<i32>)] = &[
    ("SNAPPY", "snappy", None),
    ("LZ4_FAST", "lz4", Some(LZ4_FAST)),
    ("LZ_FAST", "lz4", Some(LZ4_FAST)),
    ("LZ4_HIGH", "lz4", Some(LZ4_HIGH)),
    ("GZIP", "gzip", Some(6)),
    ("NO", "stored", None),
    ("NONE", "stored", None),
];

/// The levels that `lz4:fast` and `lz4:high` stand for.
const LZ4_FAST: i32 = 1;
const LZ4_HIGH: i32 = 9;

/// One codec at one level.
#[derive(Clone, Copy)]
pub struct CodecChoice {
    /// The codec.
    pub codec: &'static dyn Codec,
    /// One of its levels.
    pub level: i32,
}

impl CodecChoice {
    /// Reads exactly one choice.
    pub fn parse(text: &str) -> Result<CodecChoice, ChoiceError> {
        let choices = CodecChoice::parse_list(text)?;
        match choices.as_slice() {
            [choice] => Ok(*choice),
            several => Err(ChoiceError::Several { text: text.to_owned(), count: several.len() }),
        }
    }

    /// Reads a list with commas between its items, each a name, a name and a level, a range of
    /// levels, or `all` of them. A choice that comes twice is kept once, in its first place.
    pub fn parse_list(text: &str) -> Result<Vec<CodecChoice>, ChoiceError> {
        let mut choices = Vec::new();
        for item in text.split(',') {
            for choice in parse_item(item.trim())? {
                if !choices.contains(&choice) {
                    choices.push(choice);
                }
            }
        }
        Ok(choices)
    }

    /// The codec's registry name.
    pub fn name(&self) -> &'static str {
        self.codec.info().name
    }
}

/// The choices of one item, in ascending order of level.
fn parse_item(item: &str) -> Result<Vec<CodecChoice>, ChoiceError> {
    let (name, levels) = match item.split_once(':') {
        Some((name, levels)) => (name.trim_end(), Some(levels.trim_start())),
        None => (item, None),
    };
    if name.is_empty() {
        return Err(ChoiceError::NoName { item: item.to_owned() });
    }
    let (codec, levels) = match (codec_named(name), alias(name)) {
        (Some(codec), _) => match levels {
            Some(levels) => (codec, parse_levels(codec, levels)?),
            None => (codec, single(codec.info().levels.default)),
        },
        (None, Some((codec, level))) => match levels {
            Some(_) => {
                let (alias, choice) = (name.to_owned(), CodecChoice { codec, level });
                return Err(ChoiceError::AliasWithLevel { alias, choice });
            }
            None => (codec, single(level)),
        },
        (None, None) => return Err(ChoiceError::unknown(name)),
    };
    let (first, last) = levels;
    Ok((first..=last).map(|level| CodecChoice { codec, level }).collect())
}

/// The codec and level of a published name.
fn alias(name: &str) -> Option<(&'static dyn Codec, i32)> {
    let row = ALIASES.iter().find(|(alias, _, _)| alias.eq_ignore_ascii_case(name))?;
    let codec = codec_named(row.1)?;
    Some((codec, row.2.unwrap_or(codec.info().levels.default)))
}

fn single(level: i32) -> (i32, i32) {
    (level, level)
}

/// The first and the last level of what follows a codec's name and colon.
fn parse_levels(codec: &'static dyn Codec, text: &str) -> Result<(i32, i32), ChoiceError> {
    let info = codec.info();
    let Levels { min, max, .. } = info.levels;
    if text == "all" {
        return Ok((min, max));
    }
    let bad = || ChoiceError::NotALevel { codec: info.name, text: text.to_owned(), min, max };
    let level = |text: &str| parse_level(info.name, text.trim()).ok_or_else(bad);
    let (first, last) = match range(text) {
        Some((first, last)) => (level(first)?, level(last)?),
        None => single(level(text)?),
    };
    for level in [first, last] {
        if !info.levels.contains(level) {
            return Err(ChoiceError::NoSuchLevel { codec: info.name, level, min, max });
        }
    }
    if first > last {
        return Err(ChoiceError::EmptyRange { codec: info.name, first, last });
    }
    Ok((first, last))
}

/// The two ends of a range: `A..B`, or `A-B`, where a minus that starts the text is a sign.
fn range(text: &str) -> Option<(&str, &str)> {
    if let Some(ends) = text.split_once("..") {
        return Some(ends);
    }
    let dash = text.char_indices().skip(1).find(|&(_, character)| character == '-')?.0;
    Some((&text[..dash], &text[dash + 1..]))
}

/// One level: a number, or a word that the codec has for it.
fn parse_level(codec: &str, text: &str) -> Option<i32> {
    match (codec, text) {
        ("lz4" | "lz4-frame", "fast") => Some(LZ4_FAST),
        ("lz4" | "lz4-frame", "high") => Some(LZ4_HIGH),
        _ => text.parse().ok(),
    }
}

impl fmt::Display for CodecChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let info = self.codec.info();
        if info.levels.is_single() {
            return f.pad(info.name);
        }
        f.pad(&format!("{}:{}", info.name, self.level))
    }
}

impl fmt::Debug for CodecChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CodecChoice({self})")
    }
}

impl PartialEq for CodecChoice {
    fn eq(&self, other: &CodecChoice) -> bool {
        self.name() == other.name() && self.level == other.level
    }
}

impl Eq for CodecChoice {}

impl std::hash::Hash for CodecChoice {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.name().hash(state);
        self.level.hash(state);
    }
}

impl FromStr for CodecChoice {
    type Err = ChoiceError;

    fn from_str(text: &str) -> Result<CodecChoice, ChoiceError> {
        CodecChoice::parse(text)
    }
}

/// The names of all codecs, in registry order, for errors and help texts.
pub fn codec_names() -> String {
    CODECS.iter().map(|codec| codec.info().name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
