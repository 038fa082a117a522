//! A profile: how to pack. It is chosen by measurement, written by `cinch evaluate` as a small TOML
//! file and read by everything that packs.
//!
//! Reading it is pure: the text is parsed here, the dictionary file that it names is read by
//! whoever has files.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::codec::{ChoiceError, CodecChoice};
use crate::dictionary::Dictionary;
use crate::encoding::{ENCODINGS, Encoding, Engine, encoding_named};

/// Payloads below this many bytes stay plain unless a profile says otherwise: an envelope costs
/// about a dozen bytes, and almost nothing shorter shrinks by more.
pub const MIN_SIZE_BYTES_DEFAULT: usize = 64;

/// Payloads that shrink by less than this share stay plain unless a profile says otherwise.
pub const MIN_GAIN_DEFAULT: f64 = 0.05;

/// When a packed payload is unpacked again and compared before it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VerifyOnPack {
    /// Every time.
    Always,
    /// One payload in 64.
    Sampled,
    /// Not at all: the checksum alone tells, and only a reader.
    Never,
}

/// How payloads are packed.
#[derive(Debug, Clone)]
pub struct Profile {
    /// The name in metrics and reports.
    pub name: String,
    /// The encoding.
    pub encoding: &'static Encoding,
    /// The codec and its level.
    pub codec: CodecChoice,
    /// The dictionary, if one is used.
    pub dictionary: Option<Arc<Dictionary>>,
    /// Payloads below this many bytes stay plain.
    pub min_size_bytes: usize,
    /// Payloads that shrink by less than this share of their size stay plain.
    pub min_gain: f64,
    /// Whether packed payloads are unpacked and compared before they are used.
    pub verify_on_pack: VerifyOnPack,
}

impl Profile {
    /// A profile with the default thresholds.
    pub fn new(encoding: &'static Encoding, codec: CodecChoice) -> Profile {
        Profile {
            name: format!("{}+{}", encoding.name, codec),
            encoding,
            codec,
            dictionary: None,
            min_size_bytes: MIN_SIZE_BYTES_DEFAULT,
            min_gain: MIN_GAIN_DEFAULT,
            verify_on_pack: VerifyOnPack::default_of(encoding),
        }
    }
}

impl VerifyOnPack {
    /// Always for an encoding in its first releases, which all but `verbatim` are.
    fn default_of(encoding: &Encoding) -> VerifyOnPack {
        match encoding.engine {
            Engine::Verbatim => VerifyOnPack::Never,
            Engine::Document(_) => VerifyOnPack::Always,
        }
    }
}

/// Why a profile file can't be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ProfileError {
    /// The file is no TOML, or has a key or value that a profile does not have.
    #[error("{0}")]
    Syntax(#[from] toml::de::Error),
    /// The encoding is not in the registry.
    #[error("no encoding is called {name:?}; there are {}", names())]
    UnknownEncoding {
        /// The name in the file.
        name: String,
    },
    /// The codec is not in the registry, or has no such level.
    #[error(transparent)]
    Codec(#[from] ChoiceError),
    /// `min_gain` is no share.
    #[error("min_gain is {value}, but must be at least 0 and below 1")]
    MinGain {
        /// The value in the file.
        value: f64,
    },
}

fn names() -> String {
    ENCODINGS.iter().map(|encoding| encoding.name).collect::<Vec<_>>().join(", ")
}

/// The file, as it is written.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    profile: Table,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    name: Option<String>,
    #[serde(default = "verbatim")]
    encoding: String,
    codec: String,
    level: Option<Level>,
    dictionary: Option<String>,
    #[serde(default = "min_size_bytes_default")]
    min_size_bytes: usize,
    #[serde(default = "min_gain_default")]
    min_gain: f64,
    verify_on_pack: Option<VerifyOnPack>,
}

/// A level is a number, or one of the words that codecs have for theirs (`high`).
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Level {
    Number(i32),
    Word(String),
}

fn verbatim() -> String {
    "verbatim".to_owned()
}

fn min_size_bytes_default() -> usize {
    MIN_SIZE_BYTES_DEFAULT
}

fn min_gain_default() -> f64 {
    MIN_GAIN_DEFAULT
}

impl Profile {
    /// Parses a profile file. `read_dictionary` is given the path that the file names, which is
    /// meant relative to the file itself.
    ///
    /// # Errors
    /// A [`ProfileError`] as `E`, or what `read_dictionary` returns.
    pub fn from_toml<E: From<ProfileError>>(
        text: &str,
        read_dictionary: impl FnOnce(&str) -> Result<Arc<Dictionary>, E>,
    ) -> Result<Profile, E> {
        let file: File = toml::from_str(text).map_err(ProfileError::from)?;
        let table = file.profile;
        let encoding = encoding_named(&table.encoding)
            .ok_or(ProfileError::UnknownEncoding { name: table.encoding })?;
        let choice = match table.level {
            None => table.codec,
            Some(Level::Number(level)) => format!("{}:{level}", table.codec),
            Some(Level::Word(level)) => format!("{}:{level}", table.codec),
        };
        let codec = CodecChoice::parse(&choice).map_err(ProfileError::from)?;
        if !(0.0..1.0).contains(&table.min_gain) {
            return Err(ProfileError::MinGain { value: table.min_gain }.into());
        }
        let dictionary = table.dictionary.as_deref().map(read_dictionary).transpose()?;
        let default = Profile::new(encoding, codec);
        Ok(Profile {
            name: table.name.unwrap_or(default.name),
            encoding,
            codec: default.codec,
            dictionary,
            min_size_bytes: table.min_size_bytes,
            min_gain: table.min_gain,
            verify_on_pack: table.verify_on_pack.unwrap_or(default.verify_on_pack),
        })
    }

    /// The text of a profile file. `dictionary` is the path that it names.
    pub fn to_toml(&self, dictionary: Option<&str>) -> String {
        let levels = &self.codec.codec.info().levels;
        let table = Table {
            name: Some(self.name.clone()),
            encoding: self.encoding.name.to_owned(),
            codec: self.codec.codec.info().name.to_owned(),
            level: (!levels.is_single()).then_some(Level::Number(self.codec.level)),
            dictionary: dictionary.map(str::to_owned),
            min_size_bytes: self.min_size_bytes,
            min_gain: self.min_gain,
            verify_on_pack: Some(self.verify_on_pack),
        };
        // Strings and numbers have a TOML form, so there is no error that a caller could see.
        toml::to_string(&File { profile: table }).expect("strings and numbers are TOML")
    }
}
