//! The figures of the link model: the time until the other side can use a payload, and what would
//! change which trial is fastest.

use serde::{Deserialize, Serialize};

use crate::model::Nanoseconds;

/// What `--link` asked for and what it makes of every timed trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinkModel {
    /// The link as it was written.
    pub text: String,
    /// Bandwidth in bits per second.
    pub bits_per_second: f64,
    /// Round trip in nanoseconds.
    pub round_trip_ns: f64,
    /// Whether the connection has sent enough before that its window is open.
    pub is_warm: bool,
    /// Whether a TLS handshake comes first.
    pub has_tls: bool,
    /// The timed trials, the fastest first.
    pub trials: Vec<LinkTrial>,
    /// What would change which trial is fastest, as sentences: `round trip under 20 ms: lz4:1`.
    pub flips: Vec<String>,
}

/// One trial over the link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinkTrial {
    /// The trial's name.
    pub name: String,
    /// Mean stored bytes of a payload.
    pub packed_bytes: f64,
    /// Mean number of flights: bursts that wait for an acknowledgement.
    pub flights: f64,
    /// Time on the wire.
    pub wire_ns: Nanoseconds,
    /// Pack, wire and unpack together, payload by payload.
    pub total_ns: Nanoseconds,
}
