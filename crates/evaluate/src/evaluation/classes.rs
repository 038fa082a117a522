//! Size classes: each with its own winner, because what is best for a hundred bytes is rarely best
//! for a hundred kilobytes.

use super::{Measured, trials};
use crate::decision::{self, Decision};
use crate::model::SizeClass;
use crate::select;
use crate::sheet::Sheet;

/// The upper bounds of the size classes in bytes, and their names.
const CLASSES: &[(usize, &str)] = &[
    (1 << 10, "up to 1 KiB"),
    (4 << 10, "1 to 4 KiB"),
    (16 << 10, "4 to 16 KiB"),
    (128 << 10, "16 to 128 KiB"),
    (usize::MAX, "above 128 KiB"),
];

/// Fewer payloads that chose than this don't make a rule of their own.
const RULE_PAYLOADS_MIN: usize = 20;

/// One class, and who won it.
pub(super) struct Class {
    pub(super) name: &'static str,
    pub(super) max_bytes: usize,
    payloads: usize,
    bytes: u64,
    on_report: Sheet,
    choosing_payloads: usize,
    decision: Decision,
    /// How much better the winner is than the trial that is recommended overall, as a share, where
    /// the two can be told apart.
    gain: f64,
}

impl Class {
    /// The winner, where it is clearly better than the trial that is recommended overall and
    /// enough payloads chose it.
    pub(super) fn own_winner(&self) -> Option<usize> {
        let is_sure = self.gain > 0.0 && self.choosing_payloads >= RULE_PAYLOADS_MIN;
        self.decision.ranked.first().copied().filter(|_| is_sure)
    }
}

/// The classes that have payloads.
pub(super) fn classes(measured: &Measured<'_>) -> Vec<Class> {
    let goal = measured.request.goal;
    let mut above = 0;
    let mut classes = Vec::new();
    for &(max_bytes, name) in CLASSES {
        let range = above..=max_bytes;
        above = max_bytes.saturating_add(1);
        let lengths = measured.corpus.payloads.iter().map(|payload| payload.bytes.len());
        let lengths: Vec<usize> = lengths.filter(|length| range.contains(length)).collect();
        if lengths.is_empty() {
            continue;
        }
        let chosen = measured.chosen.within(|bytes| range.contains(&bytes));
        let on_report = measured.reported.within(|bytes| range.contains(&bytes));
        let resamples = measured.resamples(&chosen.payloads);
        let decision = match chosen.payloads.is_empty() {
            true => Decision::default(),
            false => {
                let share = |index| chosen.measured(index).map(|measured| measured.size_share);
                let pays = |index| share(index).is_some_and(select::pays);
                decision::decide(&measured.all, &chosen, pays, goal, &resamples, None)
            }
        };
        let overall = measured.winner();
        let gain = match (decision.ranked.first(), overall) {
            (Some(&winner), Some(overall)) if winner != overall => {
                match chosen.paired(overall, winner, goal, &resamples) {
                    Some(paired) if !paired.is_tie => 1.0 - (-paired.score_difference).exp(),
                    _ => 0.0,
                }
            }
            _ => 0.0,
        };
        classes.push(Class {
            name,
            max_bytes,
            payloads: lengths.len(),
            bytes: lengths.iter().map(|&length| length as u64).sum(),
            choosing_payloads: chosen.payloads.len(),
            on_report,
            decision,
            gain,
        });
    }
    classes
}

/// The class in the model.
pub(super) fn model(measured: &Measured<'_>, class: &Class) -> SizeClass {
    let winner = class.decision.ranked.first().copied();
    let name = |&index: &usize| measured.all[index].candidate.to_string();
    let on_report = &class.on_report;
    SizeClass {
        name: class.name.to_owned(),
        max_bytes: (class.max_bytes != usize::MAX).then_some(class.max_bytes as u64),
        payloads: class.payloads as u64,
        bytes: class.bytes,
        winner: winner.as_ref().map(name),
        ties: class.decision.ties.iter().filter(|&&tie| Some(tie) != winner).map(name).collect(),
        gain: class.gain,
        trials: on_report
            .rows
            .keys()
            .filter_map(|&index| trials::class_trial(measured, on_report, index))
            .collect(),
    }
}
