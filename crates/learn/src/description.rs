//! What a dictionary file says of itself: what it was trained on and how.
//! Nothing is decoded with it: it is for whoever finds the file in two years.

use serde::{Deserialize, Serialize};

/// The description in a dictionary file, as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// The version of cinch that trained it.
    pub cinch: String,
    /// The version of the columnar encoder; see
    /// [`ENCODER_VERSION`](cinch_core::encoding::columnar::ENCODER_VERSION).
    pub encoder: u32,
    /// The encoding that it is for.
    pub encoding: String,
    /// The level of zstd that it is for.
    pub level: i32,
    /// How many payloads it was trained on.
    pub payloads: u64,
    /// Their bytes.
    pub payload_bytes: u64,
    /// The SHA-256 of them, each with a line feed after it, in the order of their entities.
    pub payloads_sha256: String,
    /// How many different entities they are of.
    pub entities: u64,
    /// What fewer entities had is not in it.
    pub entities_min: u32,
    /// The member of a payload that tells its entity; near-duplicates are one otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity_field: Option<String>,
    /// What was not learned whoever had it.
    pub denied: Vec<String>,
    /// When it was trained, in UTC, as `2026-11-21T10:00:00Z`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trained: Option<String>,
    /// What it makes of payloads that it was not trained on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_out: Option<HeldOut>,
}

/// The bytes of payloads that a dictionary was not trained on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct HeldOut {
    /// How many there are.
    pub payloads: u64,
    /// Their bytes as text.
    pub bytes: u64,
    /// Their bytes in envelopes without a dictionary.
    pub bytes_without: u64,
    /// Their bytes in envelopes with this one.
    pub bytes_with: u64,
}

impl Description {
    /// The text for a file.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The description of a file, if it is one of ours.
    pub fn from_json(text: &str) -> Option<Description> {
        serde_json::from_str(text).ok()
    }
}
