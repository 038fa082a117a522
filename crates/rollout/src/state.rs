//! What is durable about a namespace: which data may be there, and how far the rollout is.
//!
//! Announcements say what processes do now; they can't say what was written last month and is still
//! stored. So the first write without a raw copy, the first packed value of a namespace with one
//! slot, and every dictionary that values may name are written down *before* they happen, in a
//! store that does not evict, by compare-and-set on the epoch.

use serde::{Deserialize, Serialize};

use crate::decoders::Decoders;
use crate::modes::SingleWrite;
use crate::settings::{Modes, Namespace};
use crate::steps::Step;

/// The version of this document. A reader that meets a newer one changes nothing.
pub const STATE_VERSION: u32 = 1;

/// The durable state of one namespace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NamespaceState {
    /// [`STATE_VERSION`] of whoever wrote it.
    pub version: u32,
    /// Grows by one with every change.
    pub epoch: u64,
    /// Whether records without a raw copy may be there. Set before the first is written; cleared
    /// only by a verification that read everything and found none.
    pub may_lack_raw: bool,
    /// Whether packed values may be there. Set and cleared in the same way.
    pub may_be_packed: bool,
    /// Whether values in foreign formats may be there.
    pub may_be_foreign: bool,
    /// What values may need to be read. A process that lacks any of it does not start.
    #[serde(flatten)]
    pub stored: Decoders,
    /// While this is set nobody writes what a verification is proving to be gone: records without
    /// a raw copy, in a store with one slot packed values. Who wants to write them takes the seal
    /// off first, by compare-and-set, and so voids the proof.
    #[serde(default)]
    pub sealed: bool,
    /// The last verification that cleared a flag.
    #[serde(default)]
    pub proof: Option<Proof>,
    /// How far the rollout is, where `cinch rollout` manages the namespace.
    pub progress: Progress,
}

/// What allowed a flag to be cleared, for people who ask later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// The store that was read, by an address without secrets.
    pub store: String,
    /// The epoch of the seal under which every key was looked at.
    pub sealed_epoch: u64,
    /// How many records were read.
    pub records: u64,
    /// When the seal was set, in milliseconds since 1970.
    pub sealed_ms: u64,
    /// When the flag was cleared, in milliseconds since 1970.
    pub cleared_ms: u64,
}

/// Where a managed rollout stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// The step that holds.
    pub step: Step,
    /// When it began, in milliseconds since 1970.
    pub since_ms: u64,
    /// The processes that go first in the steps for one process.
    pub first: Vec<String>,
    /// The share of keys, in percent, in the steps that grow by share.
    pub percent: u8,
    /// Why it was halted, if it was: nothing advances until an operator says so.
    pub halted: Option<String>,
}

impl Default for NamespaceState {
    fn default() -> NamespaceState {
        NamespaceState {
            version: STATE_VERSION,
            epoch: 0,
            may_lack_raw: false,
            may_be_packed: false,
            may_be_foreign: false,
            stored: Decoders::default(),
            sealed: false,
            proof: None,
            progress: Progress::default(),
        }
    }
}

impl Default for Progress {
    fn default() -> Progress {
        Progress { step: Step::Off, since_ms: 0, first: Vec::new(), percent: 100, halted: None }
    }
}

/// Why a stored state can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// A newer release wrote it.
    #[error("the state has version {got}, this release knows up to {STATE_VERSION}: update it")]
    Newer {
        /// Its version.
        got: u32,
    },
    /// It is no state.
    #[error("the state is damaged: {0}")]
    Damaged(String),
}

impl NamespaceState {
    /// What a process takes for granted that has no durable store to ask: the operator's word, that
    /// is the modes and dictionaries of its own configuration.
    pub fn assumed_of(namespace: &Namespace) -> NamespaceState {
        let (may_lack_raw, may_be_packed) = match namespace.modes {
            Modes::Two { write, .. } => (!write.writes_raw(), write.writes_packed()),
            Modes::One { write } => (false, write == SingleWrite::Packed),
            // Where the steps stand in the durable state, nothing is taken for granted.
            Modes::Managed(_) => return NamespaceState::default(),
        };
        NamespaceState {
            may_lack_raw,
            may_be_packed,
            may_be_foreign: !namespace.foreign_formats.is_empty(),
            stored: Decoders::of_this_release(namespace),
            ..NamespaceState::default()
        }
    }

    /// The state as it is stored.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Numbers, texts and lists have a JSON form, so there is no error that a caller could see.
        serde_json::to_vec_pretty(self).expect("a state is JSON")
    }

    /// The state of stored bytes.
    ///
    /// # Errors
    /// [`StateError`]; a caller then writes nothing that is not plain.
    pub fn from_bytes(bytes: &[u8]) -> Result<NamespaceState, StateError> {
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        let damaged = |error: serde_json::Error| StateError::Damaged(error.to_string());
        let Versioned { version } = serde_json::from_slice(bytes).map_err(damaged)?;
        if version > STATE_VERSION {
            return Err(StateError::Newer { got: version });
        }
        serde_json::from_slice(bytes).map_err(damaged)
    }

    /// The next state, changed by `change`: what a compare-and-set writes over this one.
    pub fn next(&self, change: impl FnOnce(&mut NamespaceState)) -> NamespaceState {
        let mut next = self.clone();
        change(&mut next);
        next.version = STATE_VERSION;
        next.epoch = self.epoch + 1;
        next
    }
}
