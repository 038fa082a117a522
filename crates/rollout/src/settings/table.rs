//! The configuration as it is written: every key of the file, nothing checked but its type.
//!
//! The published spellings of the settings (`compressionEnabled`, `WRITE_MODE`, …) are aliases, so
//! that a configuration that a team has already works.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{ForeignFormat, InputEnvelopes, Slots};
use crate::modes::{ReadMode, SingleWrite, WriteMode};

/// A whole file. Keys that other parts of cinch read from it are theirs to check.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    #[serde(default = "on", alias = "compressionEnabled", alias = "COMPRESSION_ENABLED")]
    pub compression_enabled: bool,
    pub process: Option<String>,
    #[serde(flatten)]
    pub defaults: Defaults,
    #[serde(default)]
    pub fleet: Fleet,
    #[serde(default)]
    pub namespaces: BTreeMap<String, Table>,
    /// `[proxy.redis]`, which the sidecar reads.
    #[serde(default, rename = "proxy")]
    pub _proxy: IgnoredAny,
}

/// The published settings, for namespaces that don't say their own.
#[derive(Debug, Default, Clone, Deserialize)]
pub(super) struct Defaults {
    #[serde(alias = "compressionCodec", alias = "COMPRESSION_CODEC")]
    pub compression_codec: Option<String>,
    #[serde(alias = "WRITE_MODE", alias = "writeMode")]
    pub write_mode: Option<WriteMode>,
    #[serde(alias = "READ_MODE", alias = "readMode")]
    pub read_mode: Option<ReadMode>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fleet {
    #[serde(default)]
    pub expected: Vec<String>,
    pub lease_ms: Option<u64>,
}

/// One namespace.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    #[serde(default)]
    pub keys: Vec<String>,
    pub slots: Option<Slots>,
    pub profile: Option<String>,
    #[serde(alias = "compressionCodec", alias = "COMPRESSION_CODEC")]
    pub compression_codec: Option<String>,
    #[serde(alias = "WRITE_MODE", alias = "writeMode")]
    pub write_mode: Option<WriteMode>,
    #[serde(alias = "READ_MODE", alias = "readMode")]
    pub read_mode: Option<ReadMode>,
    pub write: Option<SingleWrite>,
    #[serde(default)]
    pub managed: bool,
    pub percent: Option<u8>,
    #[serde(default)]
    pub processes: Vec<String>,
    pub min_size_bytes: Option<usize>,
    pub min_gain: Option<f64>,
    pub payload_bytes_max: Option<usize>,
    pub input_envelopes: Option<InputEnvelopes>,
    pub fidelity: Option<Fidelity>,
    #[serde(default)]
    pub cache: bool,
    #[serde(default)]
    pub legacy_readers: bool,
    #[serde(default)]
    pub legacy_writers: bool,
    #[serde(default)]
    pub dictionaries: Vec<String>,
    #[serde(default)]
    pub schemas: Vec<String>,
    #[serde(default)]
    pub foreign_formats: Vec<ForeignFormat>,
}

/// What readers must get back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Fidelity {
    /// The same bytes.
    Bytes,
    /// The same JSON value.
    Value,
}

fn on() -> bool {
    true
}
