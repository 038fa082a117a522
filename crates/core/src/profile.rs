//! A profile: how to pack. It is chosen by measurement, written by `cinch evaluate` as a small TOML
//! file and read by everything that packs.
//!
//! What is best for a payload of a hundred bytes is rarely best for one of a hundred kilobytes, so
//! a profile may hold a rule per size class; without rules it packs all payloads the same way.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::codec::{Codec, CodecChoice};
use crate::dictionary::Dictionary;
use crate::encoding::{Encoding, Engine};
use crate::schema::Schema;

mod file;
#[cfg(test)]
mod tests;

pub use file::{ProfileError, RuleError};

/// Payloads below this many bytes stay plain unless a profile says otherwise: an envelope costs
/// about a dozen bytes, and almost nothing shorter shrinks by more.
pub const MIN_SIZE_BYTES_DEFAULT: usize = 64;

/// Payloads that shrink by less than this share stay plain unless a profile says otherwise.
pub const MIN_GAIN_DEFAULT: f64 = 0.05;

/// The most rules of a profile file. Each takes a compression context in every packer, and an
/// evaluation tells fewer size classes apart.
pub const RULES_MAX: usize = 16;

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

/// How the payloads of one size class are packed.
#[derive(Debug, Clone)]
pub struct Method {
    /// The encoding.
    pub encoding: &'static Encoding,
    /// The codec and its level.
    pub codec: CodecChoice,
    /// The dictionary, if one is used.
    pub dictionary: Option<Arc<Dictionary>>,
    /// The schema, for an encoding that needs one.
    pub schema: Option<Arc<Schema>>,
}

/// What a profile does with the payloads of one size class instead of its own method.
#[derive(Debug, Clone)]
pub struct Rule {
    /// The rule takes payloads of at most this many bytes that no rule before it takes.
    pub max_bytes: usize,
    /// How they are packed; `None` leaves them plain.
    pub method: Option<Method>,
}

/// How payloads are packed.
#[derive(Debug, Clone)]
pub struct Profile {
    /// The name in metrics and reports.
    pub name: String,
    /// The encoding of payloads that no rule takes.
    pub encoding: &'static Encoding,
    /// The codec and level for payloads that no rule takes.
    pub codec: CodecChoice,
    /// The dictionary for payloads that no rule takes, if one is used.
    pub dictionary: Option<Arc<Dictionary>>,
    /// The schema for payloads that no rule takes, where their encoding needs one.
    pub schema: Option<Arc<Schema>>,
    /// The rules, each with a larger `max_bytes` than the one before; usually none.
    pub rules: Vec<Rule>,
    /// Payloads below this many bytes stay plain, whatever a rule says.
    pub min_size_bytes: usize,
    /// Payloads that shrink by less than this share of their size stay plain.
    pub min_gain: f64,
    /// Whether packed payloads are unpacked and compared before they are used.
    pub verify_on_pack: VerifyOnPack,
}

impl Profile {
    /// A profile without rules and with the default thresholds.
    pub fn new(encoding: &'static Encoding, codec: CodecChoice) -> Profile {
        Profile {
            name: format!("{}+{}", encoding.name, codec),
            encoding,
            codec,
            dictionary: None,
            schema: None,
            rules: Vec::new(),
            min_size_bytes: MIN_SIZE_BYTES_DEFAULT,
            min_gain: MIN_GAIN_DEFAULT,
            verify_on_pack: VerifyOnPack::default_of([encoding]),
        }
    }

    /// The rule that takes payloads of this length, if one does.
    pub fn rule_for(&self, payload_bytes: usize) -> Option<&Rule> {
        self.rules.iter().find(|rule| payload_bytes <= rule.max_bytes)
    }

    /// The encoding for payloads of this length; `None` where a rule leaves them plain.
    pub fn encoding_for(&self, payload_bytes: usize) -> Option<&'static Encoding> {
        match self.rule_for(payload_bytes) {
            Some(rule) => rule.method.as_ref().map(|method| method.encoding),
            None => Some(self.encoding),
        }
    }

    /// The dictionaries of the profile and its rules, which whoever unpacks must know. One that
    /// is used more than once comes as often.
    pub fn dictionaries(&self) -> impl Iterator<Item = &Arc<Dictionary>> {
        let of_rules = self.methods().filter_map(|method| method.dictionary.as_ref());
        self.dictionary.iter().chain(of_rules)
    }

    /// The encodings of the profile and its rules. One that is used more than once comes as often.
    pub fn encodings(&self) -> impl Iterator<Item = &'static Encoding> {
        std::iter::once(self.encoding).chain(self.methods().map(|method| method.encoding))
    }

    /// The codecs of the profile and its rules. One that is used more than once comes as often.
    pub fn codecs(&self) -> impl Iterator<Item = &'static dyn Codec> {
        std::iter::once(self.codec.codec).chain(self.methods().map(|method| method.codec.codec))
    }

    /// The schemas of the profile and its rules, as [`Profile::dictionaries`].
    pub fn schemas(&self) -> impl Iterator<Item = &Arc<Schema>> {
        let of_rules = self.methods().filter_map(|method| method.schema.as_ref());
        self.schema.iter().chain(of_rules)
    }

    /// The methods of the rules.
    fn methods(&self) -> impl Iterator<Item = &Method> {
        self.rules.iter().filter_map(|rule| rule.method.as_ref())
    }
}

impl VerifyOnPack {
    /// Always where one of the encodings is in its first releases, which all but `verbatim` are.
    fn default_of(encodings: impl IntoIterator<Item = &'static Encoding>) -> VerifyOnPack {
        let is_verbatim = |encoding: &Encoding| matches!(encoding.engine, Engine::Verbatim);
        if encodings.into_iter().all(is_verbatim) {
            VerifyOnPack::Never
        } else {
            VerifyOnPack::Always
        }
    }
}
