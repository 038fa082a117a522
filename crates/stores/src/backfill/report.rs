//! What a backfill did, by outcome. The counts go into the checkpoint, so that those of a job that
//! was interrupted are of the whole job.

use serde::{Deserialize, Serialize};

use super::convert::Write;
use crate::problems::Problems;

/// What became of the records.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Rewritten.
    pub rewritten: u64,
    /// Of these, in a format of another tool before.
    pub was_foreign: u64,
    /// Of these, with a packed copy that was stale, damaged or said nothing of the raw one.
    pub was_wrong: u64,
    /// Bytes of the rewritten records before.
    pub bytes_before: u64,
    /// Bytes of the rewritten records after.
    pub bytes_after: u64,
    /// As they should be.
    pub already: u64,
    /// Skipped because they expire soon.
    pub expiring: u64,
    /// Left because the application went on changing them.
    pub changed: u64,
    /// Without a payload: an older client wrote null.
    pub null: u64,
    /// Removed or expired between being listed and being read.
    pub gone: u64,
    /// Left with a problem that is listed.
    pub left: u64,
    /// Keys of no namespace, or of none that was asked for.
    pub outside: u64,
    /// How often somebody changed a record between our reading and writing it.
    pub conflicts: u64,
    /// What was left and why.
    pub problems: Problems,
}

impl Counts {
    pub(super) fn note_rewritten(&mut self, write: &Write) {
        self.was_foreign += u64::from(write.was_foreign);
        self.was_wrong += u64::from(write.was_wrong);
        self.note_sizes(write.before, write.after);
    }

    pub(super) fn note_sizes(&mut self, before: usize, after: usize) {
        self.rewritten += 1;
        self.bytes_before += before as u64;
        self.bytes_after += after as u64;
    }

    /// The records of the namespaces that were looked at.
    pub fn records(&self) -> u64 {
        let left = self.changed + self.null + self.left;
        self.rewritten + self.already + self.expiring + left
    }
}

/// What a backfill came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BackfillReport {
    /// Whether every key was looked at; else it goes on from its checkpoint.
    pub is_complete: bool,
    /// Whether it went on from a checkpoint.
    pub resumed: bool,
    /// What became of the records, earlier runs of the job included.
    pub counts: Counts,
}

impl BackfillReport {
    /// Whether every record is as it should be or will be written by the application.
    pub fn is_whole(&self) -> bool {
        self.is_complete && self.counts.left == 0
    }
}
