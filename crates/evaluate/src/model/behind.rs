//! The figures of the net gain: what packing adds where the store compresses already, over the
//! network and at rest.

use serde::{Deserialize, Serialize};

/// What `--behind` asked for and what the trials leave to gain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BehindModel {
    /// The name that was asked for, such as `toast-pglz`.
    pub name: String,
    /// What is modelled, in a sentence.
    pub summary: String,
    /// How many payloads it was modelled on.
    pub payloads: u64,
    /// Their bytes.
    pub bytes_in: u64,
    /// Doing nothing first, then the trials.
    pub rows: Vec<BehindRow>,
    /// What it comes to, in a sentence or two.
    pub verdict: String,
}

/// One trial in front of the store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BehindRow {
    /// The trial's name.
    pub name: String,
    /// Bytes on the network between client and store.
    pub network_bytes: u64,
    /// Bytes at rest, after the store's own compression.
    pub at_rest_bytes: u64,
    /// How much less goes over the network than without packing, as a share.
    pub network_gain: f64,
    /// How much less lies at rest than without packing, as a share; below 0 is more.
    pub at_rest_gain: f64,
}
