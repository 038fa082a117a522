//! A comparison with an older run: how the payloads changed, what changed beyond noise, and
//! whether the profile in use should change.
//!
//! Two runs never agree to the digit, so nothing is called changed without a bound: intervals that
//! do not overlap where a run has them, named bounds where it does not. A host that is slower than
//! the last one makes every time longer and says nothing about a trial; times are therefore
//! compared with those of the other trials of the same run. And a profile that can't be told from
//! the best one stays, because changing it costs more than a tie is worth.

use crate::bootstrap::Interval;
use crate::model::{AgainstModel, AgainstTrial, Evaluation, Trial};

mod caveats;
mod decision;
mod drift;

/// The newest version of the model that can be read here.
const FORMAT_MAX: u32 = 1;

/// A stored share has changed beyond noise from this relative change on, where there are no
/// intervals to tell.
const SIZE_CHANGE_MIN: f64 = 0.01;

/// A time has changed beyond noise from this change on, relative to the run's median trial; more
/// where the rounds of either run lay further apart.
const TIME_CHANGE_MIN: f64 = 0.05;

/// The least number of trials timed in both runs from which their median says how much slower or
/// faster the host is, and not how one of them changed.
const MEDIAN_TRIALS_MIN: usize = 3;

/// An older run that can't be compared with.
#[derive(Debug, thiserror::Error)]
pub enum AgainstError {
    /// The text is no JSON of an evaluation.
    #[error("this is not what cinch evaluate --json writes: {0}")]
    NotRead(#[from] serde_json::Error),
    /// The text is JSON of something else.
    #[error("this is JSON, but not what cinch evaluate --json writes: it has no trials or format")]
    NotEvaluation,
    /// A newer cinch wrote it.
    #[error(
        "this is an evaluation of format {format}, and this cinch reads format {FORMAT_MAX}: \
         upgrade cinch to compare with it"
    )]
    Newer {
        /// The format of the text.
        format: u64,
    },
}

/// Reads what `cinch evaluate --json` wrote, of this version or an older one.
///
/// # Errors
/// Where the text is something else, or of a newer format.
pub fn read(text: &str) -> Result<Evaluation, AgainstError> {
    // The format comes first: a newer one may have fields of other kinds.
    let value: serde_json::Value = serde_json::from_str(text)?;
    match value.get("format").and_then(serde_json::Value::as_u64) {
        None | Some(0) => return Err(AgainstError::NotEvaluation),
        Some(format) if format > u64::from(FORMAT_MAX) => {
            return Err(AgainstError::Newer { format });
        }
        Some(_) => {}
    }
    let evaluation: Evaluation = serde_json::from_value(value)?;
    if evaluation.trials.is_empty() {
        return Err(AgainstError::NotEvaluation);
    }
    Ok(evaluation)
}

/// What changed from the older run to the newer one.
pub fn compare(old: &Evaluation, new: &Evaluation) -> AgainstModel {
    let pairs: Vec<(&Trial, &Trial)> = new
        .trials
        .iter()
        .filter_map(|now| Some((trial_named(old, &now.name)?, now)))
        .filter(|(then, now)| then.bytes_in > 0 && now.bytes_in > 0)
        .collect();
    let pace = pace(&pairs);
    let decision = decision::decide(old, new);
    AgainstModel {
        name: old.corpus.name.clone(),
        caveats: caveats::caveats(old, new, pace),
        drift: drift::drift(old, new),
        versions: versions(old, new),
        trials: pairs.iter().map(|(then, now)| trial(then, now, pace)).collect(),
        recommended_then: old.recommended.name.clone(),
        recommended_now: new.recommended.name.clone(),
        verdict: decision.verdict,
        decision: decision.word.to_owned(),
    }
}

fn trial_named<'a>(evaluation: &'a Evaluation, name: &str) -> Option<&'a Trial> {
    evaluation.trials.iter().find(|trial| trial.name == name)
}

/// Components whose version changed, came or went.
fn versions(old: &Evaluation, new: &Evaluation) -> Vec<(String, String, String)> {
    let find = |evaluation: &Evaluation, name: &str| {
        let found = evaluation.versions.iter().find(|version| version.name == name);
        found.map_or_else(|| "none".to_owned(), |version| version.version.clone())
    };
    let mut names: Vec<&str> = new.versions.iter().map(|version| version.name.as_str()).collect();
    names.extend(old.versions.iter().map(|version| version.name.as_str()));
    names.sort_unstable();
    names.dedup();
    let changes = names.into_iter().map(|name| (name, find(old, name), find(new, name)));
    changes
        .filter(|(_, then, now)| then != now)
        .map(|(name, then, now)| (name.to_owned(), then, now))
        .collect()
}

/// How much slower the newer run's host is than the older one's: the median over the trials of
/// both of time now over time then. Nothing where there are too few to tell.
fn pace(pairs: &[(&Trial, &Trial)]) -> Option<f64> {
    let mut ratios: Vec<f64> =
        pairs.iter().filter_map(|(then, now)| Some(time_ns(now)? / time_ns(then)?)).collect();
    ratios.sort_by(f64::total_cmp);
    (ratios.len() >= MEDIAN_TRIALS_MIN).then(|| ratios[ratios.len() / 2])
}

/// Mean time to pack and unpack a payload; nothing where it was not measured. The single pass of
/// stage `sizes` is made beside others and says which trials are worth timing, nothing more.
fn time_ns(trial: &Trial) -> Option<f64> {
    let time = trial.pack_ns.mean + trial.unpack_ns.mean;
    let is_timed = trial.timed_payloads > 0 && trial.stage != "sizes";
    (is_timed && time.is_finite() && time > 0.0).then_some(time)
}

/// The stored share, and where it lies with 95 % confidence if that is known.
fn packed_share(trial: &Trial) -> (f64, Option<Interval>) {
    match &trial.held_out {
        Some(held_out) if held_out.bytes_in > 0 => {
            (held_out.packed_share, Some(held_out.packed_share_interval))
        }
        _ => (trial.packed_bytes as f64 / trial.bytes_in as f64, None),
    }
}

fn trial(then: &Trial, now: &Trial, pace: Option<f64>) -> AgainstTrial {
    let (share_then, _) = packed_share(then);
    let (share_now, interval) = packed_share(now);
    let changes: Vec<String> =
        [size_change(then, now), time_change(then, now, pace)].into_iter().flatten().collect();
    AgainstTrial {
        name: now.name.clone(),
        packed_share_then: share_then,
        packed_share_now: share_now,
        packed_share_interval: interval,
        time_then_ns: time_ns(then).unwrap_or_default(),
        time_now_ns: time_ns(now).unwrap_or_default(),
        change: (!changes.is_empty()).then(|| changes.join(", ")),
    }
}

/// How the stored share changed beyond noise, if it did.
fn size_change(then: &Trial, now: &Trial) -> Option<String> {
    let ((share_then, interval_then), (share_now, interval_now)) =
        (packed_share(then), packed_share(now));
    let is_changed = match (interval_then, interval_now) {
        (Some(then), Some(now)) => then.high < now.low || now.high < then.low,
        // Before the last stage a trial has sized a sample only, and which one decides as much.
        _ if then.stage != "whole" || now.stage != "whole" => false,
        _ => (share_now / share_then - 1.0).abs() > SIZE_CHANGE_MIN,
    };
    (is_changed && share_then > 0.0)
        .then(|| in_words(share_now / share_then - 1.0, "larger", "smaller"))
}

/// How the time changed beyond noise and beyond that of the other trials, if it did.
fn time_change(then: &Trial, now: &Trial, pace: Option<f64>) -> Option<String> {
    let change = time_ns(now)? / time_ns(then)? / pace? - 1.0;
    let noise = TIME_CHANGE_MIN.max(then.round_spread).max(now.round_spread);
    (change.abs() > noise)
        .then(|| format!("{} than the other trials say", in_words(change, "slower", "faster")))
}

/// `0.12` as `12 % larger`, `5.1` as `6.1 times larger`.
fn in_words(change: f64, more: &str, less: &str) -> String {
    match change {
        change if change > 1.0 => format!("{:.1} times {more}", change + 1.0),
        change if change < 0.0 => format!("{} {less}", percent(-change)),
        change => format!("{} {more}", percent(change)),
    }
}

/// A share in percent, with a decimal below ten.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

#[cfg(test)]
mod tests;
