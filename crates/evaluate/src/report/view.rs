//! What every report asks of the model: which trials were timed, what a trial is to the reader,
//! and which rule took which trials out. Kept in one place so that reports can't disagree.
//!
//! Nothing here decides anything: it only reads what the evaluation already decided.

use crate::model::{Evaluation, Trial};
use crate::select::RULES;

/// What a trial is to the reader of a report. A trial can be several of these.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) recommended: bool,
    pub(super) runner_up: bool,
    pub(super) tie: bool,
    pub(super) baseline: bool,
    pub(super) front: bool,
    pub(super) control: bool,
}

impl Standing {
    /// The names of what it is, the most telling first.
    pub(super) fn words(self) -> Vec<&'static str> {
        let all = [
            (self.recommended, "recommended"),
            (self.runner_up, "runner-up"),
            (self.tie, "tie"),
            (self.baseline, "baseline"),
            (self.front, "front"),
            (self.control, "control"),
        ];
        all.into_iter().filter_map(|(holds, word)| holds.then_some(word)).collect()
    }

    /// Whether the trial belongs in a short table.
    pub(super) fn is_any(self) -> bool {
        self != Standing::default()
    }
}

/// Whether the trial went past the first stage, so that its times mean something.
pub(super) fn is_timed(trial: &Trial) -> bool {
    trial.stage != "sizes"
}

/// What cinch stores as a share of what the application has.
pub(super) fn stored_share(trial: &Trial) -> f64 {
    trial.packed_bytes as f64 / trial.bytes_in as f64
}

/// What the application has over what cinch stores.
pub(super) fn stored_ratio(trial: &Trial) -> f64 {
    trial.bytes_in as f64 / trial.packed_bytes as f64
}

/// The mean time to pack and unpack one payload, in nanoseconds.
pub(super) fn pack_unpack_ns(trial: &Trial) -> f64 {
    trial.pack_ns.mean + trial.unpack_ns.mean
}

/// The trial of this name.
pub(super) fn find<'a>(evaluation: &'a Evaluation, name: &str) -> Option<&'a Trial> {
    evaluation.trials.iter().find(|trial| trial.name == name)
}

/// The trials with times, in the order of the model.
pub(super) fn timed(evaluation: &Evaluation) -> impl Iterator<Item = &Trial> {
    evaluation.trials.iter().filter(|trial| is_timed(trial))
}

/// The trials that have a place in a picture: the timed ones, and those that were only sized but
/// have the times of one pass.
pub(super) fn drawn(evaluation: &Evaluation) -> impl Iterator<Item = &Trial> {
    evaluation.trials.iter().filter(|trial| is_timed(trial) || pack_unpack_ns(trial) > 0.0)
}

/// What a trial is to the reader.
pub(super) fn standing(evaluation: &Evaluation, trial: &Trial) -> Standing {
    Standing {
        recommended: trial.name == evaluation.recommended.name,
        runner_up: evaluation.recommended.runner_up.as_deref() == Some(trial.name.as_str()),
        tie: evaluation.recommended.ties.contains(&trial.name),
        baseline: trial.name == evaluation.baseline.name,
        front: evaluation.front.iter().any(|point| point.name == trial.name),
        control: trial.is_control,
    }
}

/// A rule, what it means, and the trials that it took out.
pub(super) struct Rule<'a> {
    /// The word before the colon.
    pub(super) name: &'a str,
    /// What it means; nothing for a budget, whose name says it.
    pub(super) meaning: &'static str,
    /// The trials, in the order of the table.
    pub(super) trials: Vec<&'a Trial>,
}

/// The rules that took trials out, each with its trials, in the order of [`RULES`]; budgets, which
/// are rules of the user, come last.
pub(super) fn eliminated(evaluation: &Evaluation) -> Vec<Rule<'_>> {
    let mut rules: Vec<Rule<'_>> = Vec::new();
    for trial in &evaluation.trials {
        let Some(text) = trial.eliminated_by.as_deref() else { continue };
        let name = text.split_once(": ").map_or(text, |(name, _)| name);
        match rules.iter_mut().find(|rule| rule.name == name) {
            Some(rule) => rule.trials.push(trial),
            None => {
                let known = RULES.iter().find(|(known, _)| *known == name);
                let meaning = known.map_or("", |&(_, meaning)| meaning);
                rules.push(Rule { name, meaning, trials: vec![trial] });
            }
        }
    }
    let place = |rule: &Rule<'_>| RULES.iter().position(|(known, _)| *known == rule.name);
    // The sort is stable, so budgets stay in the order of the table.
    rules.sort_by_key(|rule| place(rule).unwrap_or(RULES.len()));
    rules
}

/// Whether any figure that a report shows as a p99 is a maximum, so that a footnote is due.
pub(super) fn any_p99_is_max(evaluation: &Evaluation) -> bool {
    timed(evaluation).any(|trial| trial.p99_is_max)
}
