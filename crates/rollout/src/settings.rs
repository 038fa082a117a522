//! The checked settings of a process and of each namespace: what the policy reads.
//!
//! A [`Configuration`] exists only if it is valid, with its profiles and dictionaries read: whoever
//! has one can pack and read without another error of configuration. [`file`] makes it of TOML and
//! `CINCH_*` variables, and says which line is wrong where one is.

use std::collections::BTreeMap;
use std::sync::Arc;

use cinch_core::dictionary::Dictionary;
use cinch_core::profile::Profile;
use cinch_core::schema::Schema;
use serde::{Deserialize, Serialize};

use crate::glob::Glob;
use crate::modes::{ReadMode, SingleWrite, WriteMode};
use crate::published::PublishedCodec;

mod file;
mod position;
mod section;
mod table;
#[cfg(test)]
mod tests;

pub use file::{ConfigurationError, SchemaReader, Sources};

/// The longest payload that a namespace takes unless it says otherwise, in bytes: a hostile header
/// may ask a reader for this much memory and no more.
pub const PAYLOAD_BYTES_MAX_DEFAULT: usize = 64 << 20;

/// The most namespaces of a configuration. Each has pools of contexts and series of metrics.
pub const NAMESPACES_MAX: usize = 256;

/// The most bytes of all dictionaries of a configuration together. They stay in memory, also in a
/// prepared form for each codec and level, and twice while one configuration takes the place of
/// another; learned ones have some tens of kilobytes.
pub const DICTIONARIES_BYTES_MAX: usize = 64 << 20;

/// The settings of a process.
#[derive(Debug, Clone)]
pub struct Configuration {
    /// The master switch. Off: payloads are written as they are, and what is packed is still read.
    pub compression_enabled: bool,
    /// The name of this process in announcements and in `processes`.
    pub process: String,
    /// The declared fleet, by process name. Who is missing freezes what needs everybody.
    pub fleet: Vec<String>,
    /// How long an announcement counts without being renewed, in milliseconds.
    pub lease_ms: u64,
    /// The namespaces by name, in the order of names.
    pub namespaces: BTreeMap<String, Arc<Namespace>>,
    /// What was set and does nothing, to be told once at start.
    pub warnings: Vec<String>,
}

/// The settings of one namespace.
#[derive(Debug, Clone)]
pub struct Namespace {
    /// Its name in metrics, announcements and the durable state.
    pub name: String,
    /// The keys that belong to it. The first namespace by name whose globs match has a key.
    pub keys: Vec<Glob>,
    /// How payloads are packed, and which are left plain.
    pub profile: Arc<Profile>,
    /// The published codec whose bare blocks are written in place of envelopes; only for stores
    /// with two slots, where sizes and codec stand in the metadata.
    pub published: Option<PublishedCodec>,
    /// What is written and believed.
    pub modes: Modes,
    /// The share of keys, in percent, for which the modes hold; the other keys are written as
    /// before. A key stays on its side while the share grows.
    pub percent: u8,
    /// The processes for which the modes hold; empty means all.
    pub processes: Vec<String>,
    /// The longest payload it takes, in bytes.
    pub payload_bytes_max: usize,
    /// What an envelope is that an application writes.
    pub input_envelopes: InputEnvelopes,
    /// Whether encodings that keep the value but not the text may be used.
    pub takes_value_fidelity: bool,
    /// Whether it is a cache: a value that is damaged may then be removed, since its owner can
    /// compute it again.
    pub is_cache: bool,
    /// Whether processes that know nothing of packed copies still read it.
    pub has_legacy_readers: bool,
    /// Whether processes that know nothing of packed copies still write it.
    pub has_legacy_writers: bool,
    /// Dictionaries that values may still name beside those of the profile.
    pub dictionaries: Vec<Arc<Dictionary>>,
    /// Schemas that values may still name beside those of the profile.
    pub schemas: Vec<Arc<Schema>>,
    /// Formats of other tools that its values may be in.
    pub foreign_formats: Vec<ForeignFormat>,
}

/// What is written and believed, by the number of slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Modes {
    /// A raw field and a compressed one.
    Two {
        /// What is written.
        write: WriteMode,
        /// What is believed.
        read: ReadMode,
    },
    /// One value; every envelope is read, always.
    One {
        /// What is written.
        write: SingleWrite,
    },
    /// The modes stand in the durable state, where `cinch rollout` moves them step by step.
    Managed(Slots),
}

/// How many copies of a payload a namespace's store has room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Slots {
    /// One value.
    One,
    /// A raw field and a compressed one.
    Two,
}

/// What an envelope is that an application writes as its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InputEnvelopes {
    /// It was packed before, by a library on the same path, if its header and checksum hold: it is
    /// stored as it is, and readers get the payload in it.
    Pass,
    /// It is a payload like any other: readers get it back as it was written.
    Wrap,
}

/// A format of another tool that values may be in where a namespace lists it. Nothing is recognised
/// that is not listed: the start of a gzip file is also a payload that somebody may store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ForeignFormat {
    /// One gzip member (RFC 1952).
    Gzip,
    /// One zlib stream (RFC 1950), as django-redis writes it.
    Zlib,
    /// A zstd frame (RFC 8878).
    ZstdFrame,
    /// An LZ4 frame.
    Lz4Frame,
    /// Valkey GLIDE's five bytes `00 01 02`, version and codec, then the body.
    GlideV0,
    /// Redisson's `LZ4Codec`: the length in four bytes, then an LZ4 block.
    RedissonLz4,
    /// Redisson's `SnappyCodecV2`: a raw Snappy block.
    RedissonSnappy,
    /// Redisson's `ZStdCodec`: the length in four bytes, then a zstd frame.
    RedissonZstd,
    /// An entry of Rails 7.1 and later: strings, also compressed with zlib.
    Rails71,
    /// What Rails and others serialise with Ruby's Marshal: strings alone are read.
    RailsMarshal,
    /// Django and django-redis: pickle, also inside zlib: texts and bytes alone are read.
    Django,
    /// pymemcache: pickle, also inside zlib. The flags stand outside of the value and are not seen.
    Pymemcache,
    /// spymemcached: gzip, Java's serialisation, or both: strings alone are read.
    Spymemcached,
}

impl Namespace {
    /// How many copies its store has room for.
    pub fn slots(&self) -> Slots {
        match self.modes {
            Modes::Two { .. } => Slots::Two,
            Modes::One { .. } => Slots::One,
            Modes::Managed(slots) => slots,
        }
    }

    /// Whether a key belongs to it.
    pub fn has_key(&self, key: &[u8]) -> bool {
        self.keys.iter().any(|glob| glob.matches(key))
    }

    /// Every dictionary that its readers must have, the profile's own first.
    pub fn all_dictionaries(&self) -> impl Iterator<Item = &Arc<Dictionary>> {
        self.profile.dictionaries().chain(&self.dictionaries)
    }

    /// Every schema that its readers must have, the profile's own first.
    pub fn all_schemas(&self) -> impl Iterator<Item = &Arc<Schema>> {
        self.profile.schemas().chain(&self.schemas)
    }
}

impl Configuration {
    /// The namespace that a key belongs to, if one does.
    pub fn namespace_of(&self, key: &[u8]) -> Option<&Arc<Namespace>> {
        self.namespaces.values().find(|namespace| namespace.has_key(key))
    }
}
