//! The figures of a comparison with an older run, for whoever has a profile in use and asks
//! whether to change it.

use serde::{Deserialize, Serialize};

use crate::bootstrap::Interval;

/// What changed since an older evaluation, beyond noise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgainstModel {
    /// The older run's corpus name.
    pub name: String,
    /// What can't be compared and why, as sentences (another goal, another host …).
    pub caveats: Vec<String>,
    /// How the payloads changed, as sentences with figures.
    pub drift: Vec<String>,
    /// Components whose version changed: name, then, now.
    pub versions: Vec<(String, String, String)>,
    /// Trials that are in both.
    pub trials: Vec<AgainstTrial>,
    /// What was recommended then.
    pub recommended_then: String,
    /// What is recommended now.
    pub recommended_now: String,
    /// Whether the profile in use should change, and why, in a sentence or two.
    pub verdict: String,
    /// The same as a word for machines: `keep`, `change` or `unclear`.
    pub decision: String,
}

/// One trial then and now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgainstTrial {
    /// The trial's name.
    pub name: String,
    /// Stored share then.
    pub packed_share_then: f64,
    /// Stored share now.
    pub packed_share_now: f64,
    /// Where the stored share now lies with 95 % confidence, where that is known.
    pub packed_share_interval: Option<Interval>,
    /// Mean time to pack and unpack then, in nanoseconds.
    pub time_then_ns: f64,
    /// The same now.
    pub time_now_ns: f64,
    /// What of it is beyond noise, as words: `12 % larger`; nothing where nothing is.
    pub change: Option<String>,
}
