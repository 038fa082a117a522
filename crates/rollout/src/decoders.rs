//! What a reader must have to read a value: decoders by their permanent ids, dictionaries and
//! schemas by theirs. A profile needs some, a process has some, and a namespace's durable state
//! names those that stored values may need; each of the three is compared with the others.

use std::collections::BTreeSet;
use std::fmt;

use cinch_core::codec::CODECS;
use cinch_core::encoding::ENCODINGS;
use cinch_core::profile::Profile;
use cinch_core::schema::Schema;
use serde::{Deserialize, Serialize};

use crate::settings::Namespace;

/// Ids of decoders, dictionaries and schemas.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decoders {
    /// Of codecs.
    #[serde(default)]
    pub codecs: BTreeSet<u8>,
    /// Of encodings.
    #[serde(default)]
    pub encodings: BTreeSet<u8>,
    /// Of dictionaries.
    #[serde(default)]
    pub dictionaries: BTreeSet<u32>,
    /// Of schemas: [`schema_id`].
    #[serde(default)]
    pub schemas: BTreeSet<String>,
}

/// What is missing to read a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lack {
    /// This version of the envelope.
    EnvelopeVersion(u8),
    /// The codec of this id.
    Codec(u8),
    /// The encoding of this id.
    Encoding(u8),
    /// The dictionary of this id.
    Dictionary(u32),
    /// The schema of this id.
    Schema(String),
}

/// The id of a schema: the start of its SHA-256 that envelopes carry, in hexadecimal digits.
pub fn schema_id(schema: &Schema) -> String {
    schema.prefix().iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Decoders {
    /// What a value needs that is written by a profile.
    pub fn of_profile(profile: &Profile) -> Decoders {
        let written = |codec: &'static dyn cinch_core::codec::Codec| {
            codec.bare_form().unwrap_or(codec).info().id.0
        };
        Decoders {
            codecs: profile.codecs().map(written).collect(),
            encodings: profile.encodings().map(|encoding| encoding.id.0).collect(),
            dictionaries: profile.dictionaries().map(|dictionary| dictionary.id()).collect(),
            schemas: profile.schemas().map(|schema| schema_id(schema)).collect(),
        }
    }

    /// What this release has for a namespace.
    pub fn of_this_release(namespace: &Namespace) -> Decoders {
        Decoders {
            codecs: CODECS.iter().map(|codec| codec.info().id.0).collect(),
            encodings: ENCODINGS.iter().map(|encoding| encoding.id.0).collect(),
            dictionaries: namespace.all_dictionaries().map(|found| found.id()).collect(),
            schemas: namespace.all_schemas().map(|schema| schema_id(schema)).collect(),
        }
    }

    /// Adds what others need.
    pub fn extend(&mut self, other: &Decoders) {
        self.codecs.extend(&other.codecs);
        self.encodings.extend(&other.encodings);
        self.dictionaries.extend(&other.dictionaries);
        self.schemas.extend(other.schemas.iter().cloned());
    }

    /// The first of these that is not among what somebody has.
    pub fn missing_in(&self, has: &Decoders) -> Option<Lack> {
        let codec = || self.codecs.difference(&has.codecs).next().map(|id| Lack::Codec(*id));
        let encoding = || {
            let missing = self.encodings.difference(&has.encodings).next();
            missing.map(|id| Lack::Encoding(*id))
        };
        let dictionary = || {
            let missing = self.dictionaries.difference(&has.dictionaries).next();
            missing.map(|id| Lack::Dictionary(*id))
        };
        let schema = || {
            let missing = self.schemas.difference(&has.schemas).next();
            missing.map(|id| Lack::Schema(id.clone()))
        };
        codec().or_else(encoding).or_else(dictionary).or_else(schema)
    }
}

/// The name, and the id where this release knows none.
impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lack::EnvelopeVersion(version) => write!(f, "envelopes of version {version}"),
            Lack::Codec(id) => {
                let known = CODECS.iter().map(|codec| codec.info()).find(|row| row.id.0 == *id);
                write!(
                    f,
                    "the codec {} ({id:#04x})",
                    known.map_or("of a newer release", |r| r.name)
                )
            }
            Lack::Encoding(id) => {
                let name = ENCODINGS.iter().find(|row| row.id.0 == *id).map(|row| row.name);
                write!(f, "the encoding {} ({id:#04x})", name.unwrap_or("of a newer release"))
            }
            Lack::Dictionary(id) => write!(f, "dictionary {id:#010x}"),
            Lack::Schema(id) => write!(f, "schema {id}"),
        }
    }
}
