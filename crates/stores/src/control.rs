//! The control plane of a rollout: durable state by compare-and-set, and announcements with leases,
//! in any [`Store`].
//!
//! Four kinds of document live under keys of their own, each JSON in the raw field: the state of a
//! namespace, the announcement of a process, the list of processes, and what was counted when a
//! step began. Nothing here expires by itself: a store that evicts is no place for them.
//! `spec/rollout.md` has the documents, the rules and the races.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use cinch_rollout::Record;
use cinch_rollout::state::{NamespaceState, StateError};

use crate::error::StoreError;
use crate::store::{Condition, Expiry, PutOutcome, Store, Version};

pub mod announcer;
pub mod baseline;
pub mod controller;
pub mod decision;
mod directory;
pub mod limits;
mod open;
pub mod proof;
mod raise;
#[cfg(test)]
mod tests;

pub use announcer::{Announcer, AnnouncerOptions, NotReady, Readiness, StartError};
pub use directory::{Directory, Incarnation, Publication};
pub use proof::{ProofError, ProofOptions, Seal};

/// The longest name of a namespace or process in a key, in bytes: with what stands before it, a key
/// fits the 255 characters of a text column that has an index everywhere.
pub const NAME_BYTES_MAX: usize = 200;

/// The largest state of a namespace, in bytes. Every process reads it at every poll.
pub const STATE_BYTES_MAX: usize = 64 << 10;

/// How often a compare-and-set is tried again after somebody else was first. Somebody succeeds in
/// every round, so that more tries mean a store that does not keep its word.
pub const TRIES_MAX: usize = 16;

/// By how much the clocks of two hosts may differ, in milliseconds. A lease counts this much longer
/// for others than for its owner.
pub const CLOCK_SKEW_MS: u64 = 5_000;

/// Reads and changes what the rollout keeps in a store.
#[derive(Clone)]
pub struct Control {
    store: Arc<dyn Store>,
}

/// Why the control plane could not do it.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// The store did not do it. After [`StoreError::Unreachable`] a change may have happened.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A stored state can't be used.
    #[error("{store}: {key}: {error}")]
    State {
        /// The store's name.
        store: String,
        /// The key of the state.
        key: String,
        /// Why.
        error: StateError,
    },
    /// Another document can't be used.
    #[error("{store}: {key} is damaged: {message}")]
    Document {
        /// The store's name.
        store: String,
        /// Its key.
        key: String,
        /// What is wrong with it.
        message: String,
    },
    /// A name can't be part of a key.
    #[error("{name:?} can't name a {what}: {NAME_BYTES_MAX} bytes at most, no control characters")]
    Name {
        /// What it names.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// Others changed the document again and again between reading and writing it.
    #[error("{store}: {key} was changed by others {TRIES_MAX} times in a row; try again")]
    Contended {
        /// The store's name.
        store: String,
        /// The key.
        key: String,
    },
    /// Somebody else changed the document first; nothing was written.
    #[error("{store}: somebody else changed {key} first; nothing was written")]
    Conflict {
        /// The store's name.
        store: String,
        /// The key.
        key: String,
    },
    /// The list of processes is full.
    #[error("{store}: {limit} processes are registered, which is the limit")]
    Full {
        /// The store's name.
        store: String,
        /// The limit.
        limit: usize,
    },
}

/// A state as it was read, with what is needed to replace exactly it.
#[derive(Debug, Clone, PartialEq)]
pub struct Held {
    /// The state; the default one where nothing is stored.
    pub state: NamespaceState,
    /// Which one it is; `None` where nothing is stored.
    pub version: Option<Version>,
}

impl Control {
    /// The control plane in a store.
    pub fn new(store: Arc<dyn Store>) -> Control {
        Control { store }
    }

    /// The store behind it.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Whether the store's kind is known to lose what it holds, by eviction or with its process.
    pub fn may_forget(&self) -> bool {
        matches!(self.store.shape().kind, "redis" | "memory")
    }

    /// The durable state of a namespace.
    ///
    /// # Errors
    /// [`ControlError`]; a caller then writes nothing that is not plain.
    pub async fn state(&self, namespace: &str) -> Result<Held, ControlError> {
        let key = state_key(namespace)?;
        let Some((bytes, version)) = self.read(&key, STATE_BYTES_MAX).await? else {
            return Ok(Held { state: NamespaceState::default(), version: None });
        };
        match NamespaceState::from_bytes(&bytes) {
            Ok(state) => Ok(Held { state, version: Some(version) }),
            Err(error) => {
                Err(ControlError::State { store: self.store.name().to_owned(), key, error })
            }
        }
    }

    /// Writes a state over exactly the one that was read.
    ///
    /// # Errors
    /// [`ControlError::Conflict`] where somebody else was first.
    pub async fn replace_state(
        &self,
        namespace: &str,
        held: &Held,
        next: &NamespaceState,
    ) -> Result<(), ControlError> {
        let key = state_key(namespace)?;
        match self.write(&key, next.to_bytes(), STATE_BYTES_MAX, held.version.clone()).await? {
            PutOutcome::Written => Ok(()),
            PutOutcome::ConditionFailed => {
                Err(ControlError::Conflict { store: self.store.name().to_owned(), key })
            }
        }
    }

    /// Changes a state, again from its newest form where somebody else was first. `change` returns
    /// nothing where the state is right as it is.
    ///
    /// # Errors
    /// [`ControlError::Contended`] after [`TRIES_MAX`] tries.
    pub async fn change_state(
        &self,
        namespace: &str,
        mut change: impl FnMut(&NamespaceState) -> Option<NamespaceState>,
    ) -> Result<NamespaceState, ControlError> {
        for _ in 0..TRIES_MAX {
            let held = self.state(namespace).await?;
            let Some(next) = change(&held.state) else { return Ok(held.state) };
            match self.replace_state(namespace, &held, &next).await {
                Ok(()) => return Ok(next),
                Err(ControlError::Conflict { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let key = state_key(namespace)?;
        Err(ControlError::Contended { store: self.store.name().to_owned(), key })
    }

    /// A document's bytes and version, if it is there and not larger than it may be.
    async fn read(
        &self,
        key: &str,
        limit: usize,
    ) -> Result<Option<(Bytes, Version)>, ControlError> {
        let Some(found) = self.store.get(key.as_bytes()).await? else { return Ok(None) };
        match found.record.raw {
            Some(bytes) if bytes.len() <= limit => Ok(Some((bytes, found.version))),
            Some(bytes) => {
                Err(self.damaged(key, format!("{} bytes, at most {limit}", bytes.len())))
            }
            None => Err(self.damaged(key, "its value is null".to_owned())),
        }
    }

    /// Writes a document over the version that was read, or where none was.
    async fn write(
        &self,
        key: &str,
        bytes: Vec<u8>,
        limit: usize,
        version: Option<Version>,
    ) -> Result<PutOutcome, ControlError> {
        if bytes.len() > limit {
            let got = bytes.len();
            return Err(StoreError::TooLarge { what: "a control document", limit, got }.into());
        }
        let condition = version.map_or(Condition::Absent, Condition::Is);
        let record = Record::single(bytes);
        Ok(self.store.put(key.as_bytes(), &record, &condition, Expiry::Never).await?)
    }

    fn damaged(&self, key: &str, message: String) -> ControlError {
        ControlError::Document { store: self.store.name().to_owned(), key: key.to_owned(), message }
    }
}

/// The key of a namespace's state.
///
/// # Errors
/// [`ControlError::Name`].
pub fn state_key(namespace: &str) -> Result<String, ControlError> {
    key("cinch:state:", "namespace", namespace)
}

/// The key of a process's announcement.
///
/// # Errors
/// [`ControlError::Name`].
pub fn process_key(process: &str) -> Result<String, ControlError> {
    key("cinch:process:", "process", process)
}

fn key(start: &str, what: &'static str, name: &str) -> Result<String, ControlError> {
    let is_name = (1..=NAME_BYTES_MAX).contains(&name.len()) && !name.contains(char::is_control);
    match is_name {
        true => Ok(format!("{start}{name}")),
        false => {
            Err(ControlError::Name { what, name: name.chars().take(NAME_BYTES_MAX).collect() })
        }
    }
}

/// Milliseconds since 1970 by this host's clock.
pub fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
