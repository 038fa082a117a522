//! The text of a profile: what spec/profile.md describes, read and written.
//!
//! Reading it is pure: the text is parsed here, the dictionary files that it names are read by
//! whoever has files.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{
    MIN_GAIN_DEFAULT, MIN_SIZE_BYTES_DEFAULT, Method, Profile, RULES_MAX, Rule, VerifyOnPack,
};
use crate::codec::{ChoiceError, CodecChoice};
use crate::dictionary::Dictionary;
use crate::encoding::{ENCODINGS, Encoding, encoding_named};
use crate::schema::Schema;

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
    /// There are more than [`RULES_MAX`] rules.
    #[error("{got} rules, but a profile has at most {limit}; join size classes")]
    TooManyRules {
        /// The limit.
        limit: usize,
        /// How many the file has.
        got: usize,
    },
    /// Two different dictionaries have one id, which is all that an envelope says of them.
    #[error("two different dictionaries have the id {id:#010x}; train one of them again")]
    SameDictionaryId {
        /// The id.
        id: u32,
    },
    /// A schema file is not the one that the profile was made with.
    #[error(
        "the schema {path} is another than the profile names: its SHA-256 is {got}, not \
             {expected}"
    )]
    OtherSchema {
        /// The path in the file.
        path: String,
        /// The SHA-256 that the profile names, in hexadecimal.
        expected: String,
        /// That of the file, in hexadecimal.
        got: String,
    },
    /// Something is wrong with one of the rules.
    #[error("rule {number}: {error}")]
    Rule {
        /// Its place in the file, from 1.
        number: usize,
        /// What is wrong.
        error: RuleError,
    },
}

/// Why a rule can't be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RuleError {
    /// The rule takes no payload.
    #[error("max_bytes is {max_bytes}, but must be above {above}, which is {}", what(*.above))]
    TakesNothing {
        /// The rule's `max_bytes`.
        max_bytes: usize,
        /// The `max_bytes` of the rule before it; 0 for the first.
        above: usize,
    },
    /// The rule does not say what to do.
    #[error("it needs a codec, or plain = true to leave its payloads unpacked")]
    NoCodec,
    /// The rule says how to pack what it leaves plain.
    #[error("with plain = true there is no {key}")]
    PlainWith {
        /// The key that is too much.
        key: &'static str,
    },
    /// The encoding is not in the registry.
    #[error("no encoding is called {name:?}; there are {}", names())]
    UnknownEncoding {
        /// The name in the file.
        name: String,
    },
    /// The codec is not in the registry, or has no such level.
    #[error(transparent)]
    Codec(#[from] ChoiceError),
}

fn names() -> String {
    ENCODINGS.iter().map(|encoding| encoding.name).collect::<Vec<_>>().join(", ")
}

fn what(above: usize) -> &'static str {
    if above == 0 { "less than any payload" } else { "what the rule before it takes" }
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
    encoding: Option<String>,
    codec: String,
    level: Option<Level>,
    dictionary: Option<String>,
    schema: Option<String>,
    schema_sha256: Option<String>,
    #[serde(default = "min_size_bytes_default")]
    min_size_bytes: usize,
    #[serde(default = "min_gain_default")]
    min_gain: f64,
    verify_on_pack: Option<VerifyOnPack>,
    #[serde(default, rename = "rule", skip_serializing_if = "Vec::is_empty")]
    rules: Vec<RuleTable>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleTable {
    max_bytes: usize,
    plain: Option<bool>,
    encoding: Option<String>,
    codec: Option<String>,
    level: Option<Level>,
    dictionary: Option<String>,
    schema: Option<String>,
    schema_sha256: Option<String>,
}

/// A level is a number, or one of the words that codecs have for theirs (`high`).
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Level {
    Number(i32),
    Word(String),
}

fn min_size_bytes_default() -> usize {
    MIN_SIZE_BYTES_DEFAULT
}

fn min_gain_default() -> f64 {
    MIN_GAIN_DEFAULT
}

impl Level {
    /// The level as a file says it: nothing where there is no choice.
    fn of(choice: &CodecChoice) -> Option<Level> {
        (!choice.codec.info().levels.is_single()).then_some(Level::Number(choice.level))
    }
}

/// The encoding of this name; the name is given back where there is none.
fn encoding_of(name: Option<String>) -> Result<&'static Encoding, String> {
    let name = name.unwrap_or_else(|| "verbatim".to_owned());
    encoding_named(&name).ok_or(name)
}

fn codec_of(name: String, level: Option<Level>) -> Result<CodecChoice, ChoiceError> {
    let choice = match level {
        None => name,
        Some(Level::Number(level)) => format!("{name}:{level}"),
        Some(Level::Word(level)) => format!("{name}:{level}"),
    };
    CodecChoice::parse(&choice)
}

/// TOML's integers end here, and no payload is as long.
fn as_toml(bytes: usize) -> usize {
    bytes.min(i64::MAX as usize)
}

impl RuleTable {
    /// What the rule says, but for the files that it names, whose paths are returned beside it.
    fn read(self, above: usize) -> Result<(Rule, Option<String>, Named), RuleError> {
        let max_bytes = self.max_bytes;
        if max_bytes <= above {
            return Err(RuleError::TakesNothing { max_bytes, above });
        }
        if self.plain == Some(true) {
            let keys = [
                ("encoding", self.encoding.is_some()),
                ("codec", self.codec.is_some()),
                ("level", self.level.is_some()),
                ("dictionary", self.dictionary.is_some()),
                ("schema", self.schema.is_some()),
            ];
            return match keys.iter().find(|(_, is_there)| *is_there) {
                Some((key, _)) => Err(RuleError::PlainWith { key }),
                None => Ok((Rule { max_bytes, method: None }, None, Named::default())),
            };
        }
        let encoding =
            encoding_of(self.encoding).map_err(|name| RuleError::UnknownEncoding { name })?;
        let codec = codec_of(self.codec.ok_or(RuleError::NoCodec)?, self.level)?;
        let method = Method { encoding, codec, dictionary: None, schema: None };
        let named = Named { path: self.schema, sha256: self.schema_sha256 };
        Ok((Rule { max_bytes, method: Some(method) }, self.dictionary, named))
    }

    fn of(
        rule: &Rule,
        path_of: &mut impl FnMut(&Dictionary) -> String,
        schema_path_of: &mut impl FnMut(&Schema) -> String,
    ) -> RuleTable {
        let max_bytes = as_toml(rule.max_bytes);
        let Some(method) = &rule.method else {
            return RuleTable { max_bytes, plain: Some(true), ..RuleTable::default() };
        };
        RuleTable {
            max_bytes,
            plain: None,
            encoding: Some(method.encoding.name.to_owned()),
            codec: Some(method.codec.name().to_owned()),
            level: Level::of(&method.codec),
            dictionary: method.dictionary.as_deref().map(path_of),
            schema: method.schema.as_deref().map(schema_path_of),
            schema_sha256: method.schema.as_deref().map(|schema| hex(schema.sha256())),
        }
    }
}

/// A schema as a profile names it.
#[derive(Default)]
struct Named {
    path: Option<String>,
    sha256: Option<String>,
}

impl Named {
    /// Has the file read and compares it with the hash, where one is named.
    fn read<E: From<ProfileError>>(
        self,
        read: &mut impl FnMut(&str) -> Result<Arc<Schema>, E>,
    ) -> Result<Option<Arc<Schema>>, E> {
        let Some(path) = self.path else { return Ok(None) };
        let schema = read(&path)?;
        let got = hex(schema.sha256());
        match self.sha256 {
            Some(expected) if !expected.eq_ignore_ascii_case(&got) => {
                Err(ProfileError::OtherSchema { path, expected, got }.into())
            }
            _ => Ok(Some(schema)),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The dictionaries read so far, so that rules which name one file share what is prepared of it.
struct Dictionaries<R> {
    read: R,
    found: BTreeMap<String, Arc<Dictionary>>,
}

impl<R> Dictionaries<R> {
    fn at<E>(&mut self, path: Option<String>) -> Result<Option<Arc<Dictionary>>, E>
    where
        E: From<ProfileError>,
        R: FnMut(&str) -> Result<Arc<Dictionary>, E>,
    {
        let Some(path) = path else { return Ok(None) };
        if let Some(found) = self.found.get(&path) {
            return Ok(Some(Arc::clone(found)));
        }
        let mut dictionary = (self.read)(&path)?;
        if let Some(same) = self.found.values().find(|found| found.id() == dictionary.id()) {
            if same.sha256() != dictionary.sha256() {
                return Err(ProfileError::SameDictionaryId { id: dictionary.id() }.into());
            }
            dictionary = Arc::clone(same);
        }
        self.found.insert(path, Arc::clone(&dictionary));
        Ok(Some(dictionary))
    }
}

impl Profile {
    /// Parses a profile file. `read_dictionary` and `read_schema` are given a path that the file
    /// names, which is meant relative to the file itself; the first is called once for each path.
    ///
    /// # Errors
    /// A [`ProfileError`] as `E`, or what the two return.
    pub fn from_toml<E: From<ProfileError>>(
        text: &str,
        read_dictionary: impl FnMut(&str) -> Result<Arc<Dictionary>, E>,
        mut read_schema: impl FnMut(&str) -> Result<Arc<Schema>, E>,
    ) -> Result<Profile, E> {
        let file: File = toml::from_str(text).map_err(ProfileError::from)?;
        let table = file.profile;
        let encoding =
            encoding_of(table.encoding).map_err(|name| ProfileError::UnknownEncoding { name })?;
        let codec = codec_of(table.codec, table.level).map_err(ProfileError::from)?;
        if !(0.0..1.0).contains(&table.min_gain) {
            return Err(ProfileError::MinGain { value: table.min_gain }.into());
        }
        let got = table.rules.len();
        if got > RULES_MAX {
            return Err(ProfileError::TooManyRules { limit: RULES_MAX, got }.into());
        }
        let mut dictionaries = Dictionaries { read: read_dictionary, found: BTreeMap::new() };
        let mut profile = Profile::new(encoding, codec);
        profile.dictionary = dictionaries.at(table.dictionary)?;
        let named = Named { path: table.schema, sha256: table.schema_sha256 };
        profile.schema = named.read(&mut read_schema)?;
        let mut above = 0;
        for (index, rule) in table.rules.into_iter().enumerate() {
            let (mut rule, path, named) = rule
                .read(above)
                .map_err(|error| ProfileError::Rule { number: index + 1, error })?;
            above = rule.max_bytes;
            if let Some(method) = &mut rule.method {
                method.dictionary = dictionaries.at(path)?;
                method.schema = named.read(&mut read_schema)?;
            }
            profile.rules.push(rule);
        }
        let verify_on_pack = VerifyOnPack::default_of(profile.encodings());
        Ok(Profile {
            name: table.name.unwrap_or(profile.name),
            min_size_bytes: table.min_size_bytes,
            min_gain: table.min_gain,
            verify_on_pack: table.verify_on_pack.unwrap_or(verify_on_pack),
            ..profile
        })
    }

    /// The text of a profile file. `path_of` and `schema_path_of` say where each dictionary and
    /// schema will be, relative to that file; they are called once for each use of one.
    pub fn to_toml(
        &self,
        mut path_of: impl FnMut(&Dictionary) -> String,
        mut schema_path_of: impl FnMut(&Schema) -> String,
    ) -> String {
        let of_rule = |rule: &Rule| RuleTable::of(rule, &mut path_of, &mut schema_path_of);
        let rules: Vec<RuleTable> = self.rules.iter().map(of_rule).collect();
        let table = Table {
            name: Some(self.name.clone()),
            encoding: Some(self.encoding.name.to_owned()),
            codec: self.codec.name().to_owned(),
            level: Level::of(&self.codec),
            dictionary: self.dictionary.as_deref().map(&mut path_of),
            schema: self.schema.as_deref().map(&mut schema_path_of),
            schema_sha256: self.schema.as_deref().map(|schema| hex(schema.sha256())),
            min_size_bytes: as_toml(self.min_size_bytes),
            min_gain: self.min_gain,
            verify_on_pack: Some(self.verify_on_pack),
            rules,
        };
        // Strings and numbers have a TOML form, so there is no error that a caller could see.
        toml::to_string(&File { profile: table }).expect("strings and numbers are TOML")
    }
}
