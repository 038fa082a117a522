//! What the processes of a fleet announce of themselves, and what that allows a writer or a reader.
//!
//! The rule is about the fleet in both directions: a writer may stop writing what some live reader
//! still needs only when no such reader is left, and a reader may rely on what every live writer
//! writes. A process that is expected and silent counts as the worst of all, because nobody knows
//! what it will do when it comes back.

use std::collections::{BTreeMap, BTreeSet};

use cinch_core::codec::CODECS;
use cinch_core::encoding::ENCODINGS;
use cinch_core::profile::Profile;
use serde::{Deserialize, Serialize};

use crate::decoders::Decoders;
pub use crate::decoders::Lack;
use crate::modes::{ReadMode, SingleWrite, WriteMode};

/// The version of the envelope that this release reads and writes.
pub const ENVELOPE_VERSION: u8 = cinch_core::envelope::VERSION;

/// The most bytes that an announcement may take in the store that carries it.
pub const ANNOUNCEMENT_BYTES_MAX: usize = 64 << 10;

/// What one process says of itself, again and again while it lives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Announcement {
    /// Its name, unique in the fleet.
    pub process: String,
    /// The release it runs.
    pub release: String,
    /// When it was renewed last, in milliseconds since 1970 by the announcer's clock.
    pub renewed_at_ms: u64,
    /// How long it counts after that, in milliseconds.
    pub lease_ms: u64,
    /// The newest version of the envelope that it reads.
    pub envelope_version: u8,
    /// The ids of the codecs that it decodes.
    pub codecs: BTreeSet<u8>,
    /// The ids of the encodings that it decodes.
    pub encodings: BTreeSet<u8>,
    /// What it does in each namespace, by name.
    pub namespaces: BTreeMap<String, Practice>,
}

/// What a process does in one namespace.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Practice {
    /// What it writes, in a store with two slots.
    pub write: Option<WriteMode>,
    /// What it believes, in a store with two slots.
    pub read: Option<ReadMode>,
    /// What it writes, in a store with one slot.
    pub single: Option<SingleWrite>,
    /// The dictionaries that it has loaded.
    pub dictionaries: BTreeSet<u32>,
    /// The schemas that it has loaded.
    #[serde(default)]
    pub schemas: BTreeSet<String>,
    /// Whether it acts by the seal of the namespace's state; a release that knows no seals does
    /// not say so.
    #[serde(default)]
    pub keeps_seal: bool,
    /// The epoch of the namespace's durable state that it has seen: a change holds for it only
    /// from there on.
    pub epoch: u64,
    /// What it counted since it started, for the stop rules.
    pub health: Health,
}

/// What the stop rules look at, since the process started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Health {
    /// Payloads that were written.
    pub writes: u64,
    /// Payloads that were read.
    pub reads: u64,
    /// Packed copies that did not unpack to the raw copy beside them.
    pub mismatches: u64,
    /// Values that could not be unpacked.
    pub decode_errors: u64,
    /// Payloads that could not be packed for a reason that is no property of theirs.
    pub pack_failures: u64,
    /// The 99th percentile of a read with its unpacking, in microseconds, lately.
    pub read_p99_us: u64,
    /// The 99th percentile of a write with its packing, in microseconds, lately.
    pub write_p99_us: u64,
}

impl Announcement {
    /// What this release can decode, with nothing said of namespaces yet.
    pub fn of_this_release(process: &str, lease_ms: u64) -> Announcement {
        Announcement {
            process: process.to_owned(),
            release: env!("CARGO_PKG_VERSION").to_owned(),
            renewed_at_ms: 0,
            lease_ms,
            envelope_version: ENVELOPE_VERSION,
            codecs: CODECS.iter().map(|codec| codec.info().id.0).collect(),
            encodings: ENCODINGS.iter().map(|encoding| encoding.id.0).collect(),
            namespaces: BTreeMap::new(),
        }
    }

    /// Whether it still counts at a moment. A clock that is ahead makes its process live longer,
    /// which only delays a step.
    pub fn is_live(&self, now_ms: u64) -> bool {
        now_ms <= self.renewed_at_ms.saturating_add(self.lease_ms)
    }

    /// What it can read in a namespace.
    pub fn decoders(&self, namespace: &str) -> Decoders {
        let practice = self.namespaces.get(namespace);
        Decoders {
            codecs: self.codecs.clone(),
            encodings: self.encodings.clone(),
            dictionaries: practice.map(|known| known.dictionaries.clone()).unwrap_or_default(),
            schemas: practice.map(|known| known.schemas.clone()).unwrap_or_default(),
        }
    }

    /// What of these it could not read, if anything.
    fn lacks(&self, namespace: &str, needed: &Decoders) -> Option<Lack> {
        if self.envelope_version < ENVELOPE_VERSION {
            return Some(Lack::EnvelopeVersion(ENVELOPE_VERSION));
        }
        needed.missing_in(&self.decoders(namespace))
    }
}

/// Who or what stands against a mode, named so that an operator can go and look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Obstacle {
    /// Expected, and not announcing.
    Missing(String),
    /// Processes older than any announcement still read.
    LegacyReaders,
    /// Processes older than any announcement still write.
    LegacyWriters,
    /// A live process reads the raw copy alone.
    ReadsRawOnly(String),
    /// A live process writes the raw copy alone.
    WritesRawOnly(String),
    /// A live process could not decode what would be written.
    Lacks(String, Lack),
    /// The durable state does not allow it yet.
    State(&'static str),
}

impl Obstacle {
    /// A name for metrics, without what varies.
    pub fn name(&self) -> &'static str {
        match self {
            Obstacle::Missing(_) => "process missing",
            Obstacle::LegacyReaders => "legacy readers",
            Obstacle::LegacyWriters => "legacy writers",
            Obstacle::ReadsRawOnly(_) => "process reads raw only",
            Obstacle::WritesRawOnly(_) => "process writes raw only",
            Obstacle::Lacks(..) => "process lacks a decoder",
            Obstacle::State(_) => "durable state",
        }
    }
}

impl std::fmt::Display for Obstacle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Obstacle::Missing(process) => write!(f, "{process} is expected and does not announce"),
            Obstacle::LegacyReaders => f.write_str("legacy_readers = true"),
            Obstacle::LegacyWriters => f.write_str("legacy_writers = true"),
            Obstacle::ReadsRawOnly(process) => write!(f, "{process} reads NO_COMPRESS"),
            Obstacle::WritesRawOnly(process) => write!(f, "{process} writes NO_COMPRESS"),
            Obstacle::Lacks(process, lack @ (Lack::Dictionary(_) | Lack::Schema(_))) => {
                write!(f, "{process} has not loaded {lack}")
            }
            Obstacle::Lacks(process, lack) => write!(f, "{process} does not read {lack}"),
            Obstacle::State(what) => write!(f, "the durable state says {what}"),
        }
    }
}

/// The live processes and those that should be, at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Fleet {
    /// The announcements that count.
    pub live: Vec<Announcement>,
    /// Who is expected and does not announce.
    pub missing: Vec<String>,
}

impl Fleet {
    /// What is live of all announcements at a moment, against the declared fleet.
    pub fn at(now_ms: u64, announcements: Vec<Announcement>, expected: &[String]) -> Fleet {
        let live: Vec<Announcement> =
            announcements.into_iter().filter(|found| found.is_live(now_ms)).collect();
        let is_there = |name: &&String| live.iter().any(|found| found.process == **name);
        let missing = expected.iter().filter(|name| !is_there(name)).cloned().collect();
        Fleet { live, missing }
    }

    /// A process on its own, for which no other counts: tests, tools, and services that declare
    /// that they are alone.
    pub fn alone() -> Fleet {
        Fleet::default()
    }

    /// What stands against writing by a profile: every live reader must be able to decode it.
    pub fn against_profile(&self, namespace: &str, profile: &Profile) -> Option<Obstacle> {
        self.against_values(namespace, &Decoders::of_profile(profile))
    }

    /// What stands against values that need these decoders, whether they are to be written or are
    /// stored already.
    pub fn against_values(&self, namespace: &str, needed: &Decoders) -> Option<Obstacle> {
        self.missing().or_else(|| {
            self.live.iter().find_map(|found| {
                let lack = found.lacks(namespace, needed)?;
                Some(Obstacle::Lacks(found.process.clone(), lack))
            })
        })
    }

    /// What stands against not writing the raw copy: every live reader must read the packed one.
    pub fn against_raw_less(&self, namespace: &str) -> Option<Obstacle> {
        self.missing().or_else(|| {
            self.find(namespace, |practice| practice.read == Some(ReadMode::NoCompress))
                .map(Obstacle::ReadsRawOnly)
        })
    }

    /// What stands against relying on the packed copy: every live writer must write it.
    pub fn against_packed_only_reads(&self, namespace: &str) -> Option<Obstacle> {
        self.missing().or_else(|| {
            self.find(namespace, |practice| practice.write == Some(WriteMode::NoCompress))
                .map(Obstacle::WritesRawOnly)
        })
    }

    fn missing(&self) -> Option<Obstacle> {
        self.missing.first().cloned().map(Obstacle::Missing)
    }

    /// A live process whose practice in the namespace is such. One that says nothing of the
    /// namespace does nothing in it.
    fn find(&self, namespace: &str, is_such: impl Fn(&Practice) -> bool) -> Option<String> {
        let is_such = |found: &&Announcement| found.namespaces.get(namespace).is_some_and(&is_such);
        self.live.iter().find(is_such).map(|found| found.process.clone())
    }
}
