//! What every process had counted when a step began, so that a step is judged by what happened in
//! it, and a p99 by that of the step before.
//!
//! It is a document of its own under the moment when the step began: written before the step is, it
//! can't be missing once the step holds, and whoever loses the race for a step leaves one that
//! nobody reads.

use std::collections::BTreeMap;

use cinch_rollout::fleet::Health;
use serde::{Deserialize, Serialize};

use super::directory::{Directory, Incarnation, PROCESSES_MAX, from_bytes, to_bytes};
use super::{Control, ControlError, NAME_BYTES_MAX, key};
use crate::store::{Condition, PutOutcome};

/// The largest document, in bytes: a name and seven numbers a process.
const BASELINE_BYTES_MAX: usize = PROCESSES_MAX * (NAME_BYTES_MAX + 400) + 64;

/// The version of the document.
const BASELINE_VERSION: u32 = 1;

/// What was counted when a step began.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    version: u32,
    processes: BTreeMap<String, Counted>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Counted {
    incarnation: Incarnation,
    health: Health,
}

impl Baseline {
    /// What is counted now in a namespace.
    pub fn of(directory: &Directory, namespace: &str) -> Baseline {
        let processes = directory.announcements.iter().filter_map(|found| {
            let health = found.namespaces.get(namespace)?.health;
            let incarnation = *directory.incarnations.get(&found.process)?;
            Some((found.process.clone(), Counted { incarnation, health }))
        });
        Baseline { version: BASELINE_VERSION, processes: processes.collect() }
    }

    /// What a process counted since: all of it, where it was restarted. The percentiles are those
    /// of now.
    pub fn since(&self, process: &str, incarnation: Option<Incarnation>, now: Health) -> Health {
        let before = self
            .processes
            .get(process)
            .filter(|before| Some(before.incarnation) == incarnation)
            .map_or(Health::default(), |before| before.health);
        Health {
            writes: now.writes.saturating_sub(before.writes),
            reads: now.reads.saturating_sub(before.reads),
            mismatches: now.mismatches.saturating_sub(before.mismatches),
            decode_errors: now.decode_errors.saturating_sub(before.decode_errors),
            pack_failures: now.pack_failures.saturating_sub(before.pack_failures),
            ..now
        }
    }

    /// The percentiles of a process when the step began, read then write, in microseconds; the
    /// largest of the fleet for a process that was not there, 0 where nothing was measured.
    pub fn p99s(&self, process: &str) -> (u64, u64) {
        let of = |counted: &Counted| (counted.health.read_p99_us, counted.health.write_p99_us);
        match self.processes.get(process) {
            Some(counted) => of(counted),
            None => self
                .processes
                .values()
                .map(of)
                .fold((0, 0), |most, found| (most.0.max(found.0), most.1.max(found.1))),
        }
    }
}

impl Control {
    /// What was counted when a step began.
    ///
    /// # Errors
    /// [`ControlError`]; nothing stored is `None` and no error.
    pub async fn baseline(
        &self,
        namespace: &str,
        since_ms: u64,
    ) -> Result<Option<Baseline>, ControlError> {
        let key = baseline_key(namespace, since_ms)?;
        let Some((bytes, _)) = self.read(&key, BASELINE_BYTES_MAX).await? else { return Ok(None) };
        from_bytes(&bytes).map(Some).map_err(|message| self.damaged(&key, message))
    }

    /// Keeps what is counted at the beginning of a step.
    ///
    /// # Errors
    /// [`ControlError::Conflict`] where another operator begins a step in the same millisecond.
    pub async fn keep_baseline(
        &self,
        namespace: &str,
        since_ms: u64,
        baseline: &Baseline,
    ) -> Result<(), ControlError> {
        let key = baseline_key(namespace, since_ms)?;
        match self.write(&key, to_bytes(baseline), BASELINE_BYTES_MAX, None).await? {
            PutOutcome::Written => Ok(()),
            PutOutcome::ConditionFailed => {
                Err(ControlError::Conflict { store: self.store().name().to_owned(), key })
            }
        }
    }

    /// Removes what nobody reads any more.
    ///
    /// # Errors
    /// [`ControlError`]; it then stays, which costs some bytes.
    pub async fn drop_baseline(&self, namespace: &str, since_ms: u64) -> Result<(), ControlError> {
        let key = baseline_key(namespace, since_ms)?;
        self.store().delete(key.as_bytes(), &Condition::Always).await?;
        Ok(())
    }
}

fn baseline_key(namespace: &str, since_ms: u64) -> Result<String, ControlError> {
    Ok(format!("{}:{since_ms}", key("cinch:baseline:", "namespace", namespace)?))
}
