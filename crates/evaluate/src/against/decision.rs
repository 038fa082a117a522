//! Whether the profile in use should change: only where it is beaten now beyond a tie.
//!
//! What can't be told from these two runs is called unclear, with what would make it clear.

use super::{percent, trial_named};
use crate::goal::TIE;
use crate::model::{Evaluation, Trial};

/// The rules that make a trial unfit for use, whatever its score.
const UNFIT_RULES: &[&str] = &["failed", "refused", "portable", "budget"];

pub(super) struct Decision {
    /// `keep`, `change` or `unclear`.
    pub(super) word: &'static str,
    pub(super) verdict: String,
}

fn keep(verdict: String) -> Decision {
    Decision { word: "keep", verdict }
}

fn change(verdict: String) -> Decision {
    Decision { word: "change", verdict }
}

fn unclear(verdict: String) -> Decision {
    Decision { word: "unclear", verdict }
}

/// Decides on what the older run recommended, which is taken to be in use.
pub(super) fn decide(old: &Evaluation, new: &Evaluation) -> Decision {
    let (then, now) = (&old.recommended.name, &new.recommended.name);
    if then.is_empty() || now.is_empty() {
        return unclear("One of the two runs recommends nothing.".to_owned());
    }
    if then == now {
        return same(old, new);
    }
    let Some(trial) = trial_named(new, then) else {
        return unclear(format!(
            "{now} is recommended now, but {then}, which is in use, was not tried: name it with \
             --encodings and --codecs to compare the two."
        ));
    };
    if old.goal != new.goal || old.from != new.from {
        return unclear(format!(
            "{now} is recommended now, but for another question: {then} was chosen for goal {} \
             and --from {}. Run again with these to compare the two.",
            old.goal, old.from
        ));
    }
    if let Some(rule) = unfit_rule(trial) {
        return change(format!("Change to {now}: {then}, which is in use, is out ({rule})."));
    }
    if new.run.interrupted {
        return unclear(format!(
            "{now} is recommended now, but the run was cut short: run it again before {then} is \
             changed."
        ));
    }
    beaten(trial, trial_named(new, now), then)
}

fn same(old: &Evaluation, new: &Evaluation) -> Decision {
    let name = &new.recommended.name;
    match (&old.recommended.dictionary, &new.recommended.dictionary) {
        (Some(then), Some(now)) if then != now => keep(format!(
            "Keep {name}: it is recommended again, with a dictionary trained anew ({now}, then \
             {then}). Compare the two with cinch estimate before another one is distributed."
        )),
        _ => keep(format!("Keep {name}: it is recommended again.")),
    }
}

/// The rule that makes the trial unfit, with its reason.
fn unfit_rule(trial: &Trial) -> Option<&str> {
    let rule = trial.eliminated_by.as_deref()?;
    UNFIT_RULES.iter().any(|unfit| rule.starts_with(unfit)).then_some(rule)
}

/// Whether the trial in use is beaten beyond the tie.
fn beaten(trial: &Trial, best: Option<&Trial>, then: &str) -> Decision {
    let Some(best) = best else {
        return unclear("What is recommended now is not among the trials.".to_owned());
    };
    let now = &best.name;
    let tie = || {
        keep(format!(
            "Keep {then}: {now} is recommended now, but the two can't be told apart under the goal."
        ))
    };
    match (&trial.paired, trial.score, best.score) {
        (Some(paired), ..) if paired.is_tie => tie(),
        (Some(paired), ..) if paired.score_difference > 0.0 => change(format!(
            "Change from {then} to {now}: it is {} better under the goal (95 % confidence: {} to \
             {}).",
            percent(paired.score_difference),
            percent(paired.score_interval.low),
            percent(paired.score_interval.high),
        )),
        (Some(_), ..) => unclear(format!(
            "{now} is recommended now, but {then} does not score worse under the goal. The table \
             says by which rule it is out."
        )),
        (None, Some(score), Some(best)) if (score - best).abs() <= TIE => tie(),
        (None, ..) => unclear(format!(
            "{now} is recommended now, but {then} was not compared with it payload by payload: \
             name both with --encodings and --codecs to compare them."
        )),
    }
}
