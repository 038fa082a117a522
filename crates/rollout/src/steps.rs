//! The published steps of a rollout, and ours between and after them, as one table.
//!
//! A step says what every process does while it holds. Steps of one process come before those of
//! all, writing comes before reading, and the raw copy goes last; back is one row up, from
//! anywhere.

use serde::{Deserialize, Serialize};

use crate::modes::{ReadMode, SingleWrite, WriteMode};
use crate::settings::Slots;

/// A step of a rollout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// Published step 1 and 2: the release is everywhere, the feature is off, and it bakes.
    Off,
    /// Published step 3: the first processes write both copies; or pack in the shadow.
    FirstWrite,
    /// Published step 4: all write both copies. Traffic grows; its thresholds know that.
    AllWrite,
    /// Ours: all read the raw copy and verify the packed one.
    Verify,
    /// Published step 5: the first processes read the packed copy.
    FirstRead,
    /// Published step 6: all do.
    AllRead,
    /// Ours: the raw copy is not written any more. For one slot: envelopes are written.
    PackedOnly,
}

/// What a step means.
#[derive(Debug, Clone, Copy)]
pub struct StepRow {
    /// The step.
    pub step: Step,
    /// Its name in arguments and reports.
    pub name: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// What it means with two slots: for the first processes, and for the others.
    pub two: [(WriteMode, ReadMode); 2],
    /// What it means with one slot: for the first processes, and for the others.
    pub one: [SingleWrite; 2],
    /// How long it bakes unless told otherwise, in seconds.
    pub bake_s: u64,
}

/// Every step, in order.
pub const STEPS: &[StepRow] = &[
    StepRow {
        step: Step::Off,
        name: "off",
        summary: "the release is everywhere, nothing is packed",
        two: [(WriteMode::NoCompress, ReadMode::NoCompress); 2],
        one: [SingleWrite::Plain; 2],
        bake_s: 4 * 3600,
    },
    StepRow {
        step: Step::FirstWrite,
        name: "first-write",
        summary: "the first processes write both copies (one slot: pack in the shadow)",
        two: [
            (WriteMode::Dual, ReadMode::NoCompress),
            (WriteMode::NoCompress, ReadMode::NoCompress),
        ],
        one: [SingleWrite::Shadow, SingleWrite::Plain],
        bake_s: 3600,
    },
    StepRow {
        step: Step::AllWrite,
        name: "all-write",
        summary: "all write both copies; traffic grows until the last step",
        two: [(WriteMode::Dual, ReadMode::NoCompress); 2],
        one: [SingleWrite::Shadow; 2],
        bake_s: 3600,
    },
    StepRow {
        step: Step::Verify,
        name: "verify",
        summary: "all read the raw copy and compare the packed one with it",
        two: [(WriteMode::Dual, ReadMode::VerifyCompress); 2],
        one: [SingleWrite::Shadow; 2],
        bake_s: 3600,
    },
    StepRow {
        step: Step::FirstRead,
        name: "first-read",
        summary: "the first processes read the packed copy (one slot: write envelopes)",
        two: [
            (WriteMode::Dual, ReadMode::CompressOnly),
            (WriteMode::Dual, ReadMode::VerifyCompress),
        ],
        one: [SingleWrite::Packed, SingleWrite::Shadow],
        bake_s: 3600,
    },
    StepRow {
        step: Step::AllRead,
        name: "all-read",
        summary: "all read the packed copy (one slot: all write envelopes, by share of keys)",
        two: [(WriteMode::Dual, ReadMode::CompressOnly); 2],
        one: [SingleWrite::Packed; 2],
        bake_s: 24 * 3600,
    },
    StepRow {
        step: Step::PackedOnly,
        name: "packed-only",
        summary: "the raw copy is not written any more",
        two: [(WriteMode::CompressOnly, ReadMode::CompressOnly); 2],
        one: [SingleWrite::Packed; 2],
        bake_s: 24 * 3600,
    },
];

impl Step {
    /// What the step means.
    pub fn row(self) -> &'static StepRow {
        // Every step has a row, which a test checks.
        STEPS.iter().find(|row| row.step == self).expect("every step has a row")
    }

    /// The step of a name.
    pub fn named(name: &str) -> Option<Step> {
        STEPS.iter().find(|row| row.name == name).map(|row| row.step)
    }

    /// The step after this one for a number of slots: with one slot the raw copy *is* the packed
    /// one, so that the last step is that of all processes.
    pub fn next(self, slots: Slots) -> Option<Step> {
        let at = STEPS.iter().position(|row| row.step == self)?;
        let next = STEPS.get(at + 1)?.step;
        (slots == Slots::Two || next != Step::PackedOnly).then_some(next)
    }

    /// The step before this one.
    pub fn back(self) -> Option<Step> {
        let at = STEPS.iter().position(|row| row.step == self)?;
        at.checked_sub(1).map(|before| STEPS[before].step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modes::check_pair;

    #[test]
    fn every_pair_of_every_step_is_allowed_and_each_step_changes_something() {
        for row in STEPS {
            assert_eq!(Step::named(row.name), Some(row.step));
            for (write, read) in row.two {
                check_pair(write, read).unwrap();
            }
        }
        for pair in STEPS.windows(2) {
            assert_ne!(pair[0].two, pair[1].two, "{}", pair[1].name);
        }
    }

    #[test]
    fn readers_change_before_the_raw_copy_goes_and_writers_before_readers() {
        let first_reading = STEPS.iter().position(|row| row.two[0].1 == ReadMode::CompressOnly);
        let all_writing = STEPS.iter().position(|row| row.two[1].0.writes_packed());
        let raw_less = STEPS.iter().position(|row| !row.two[0].0.writes_raw());
        let all_reading = STEPS.iter().position(|row| row.two[1].1 == ReadMode::CompressOnly);
        assert!(all_writing < first_reading && all_reading < raw_less);
    }

    #[test]
    fn a_walk_forward_and_back_meets_every_step() {
        let mut step = Step::Off;
        let mut count = 1;
        while let Some(next) = step.next(Slots::Two) {
            assert_eq!(next.back(), Some(step));
            step = next;
            count += 1;
        }
        assert_eq!((step, count), (Step::PackedOnly, STEPS.len()));
        assert_eq!(Step::AllRead.next(Slots::One), None);
    }
}
