//! What of two runs can't be compared, and why, as sentences.
//!
//! They stand beside the comparison and never stop it: whoever asked decides what they are worth.

use super::percent;
use crate::model::{CorpusSummary, Evaluation};

/// A host is told to be slower or faster from this change of the median trial on.
const PACE_CHANGE_MIN: f64 = 0.1;

/// At most this many differences between the hosts are named.
const HOST_DIFFERENCES_MAX: usize = 4;

/// How a run without a verdict on noise of its own said that the host was busy.
const BUSY_NOTICE: &str = "The machine was busy";

pub(super) fn caveats(old: &Evaluation, new: &Evaluation, pace: Option<f64>) -> Vec<String> {
    let mut caveats = Vec::new();
    let mut differs = |what: &str, then: &str, now: &str, consequence: &str| {
        if then != now {
            caveats.push(format!("{what} was {then} then and is {now} now: {consequence}."));
        }
    };
    let budgets = |evaluation: &Evaluation| match evaluation.budgets.is_empty() {
        true => "none".to_owned(),
        false => evaluation.budgets.join(" and "),
    };
    differs("The goal", &old.goal, &new.goal, "the recommendations answer different questions");
    differs("--from", &old.from, &new.from, "times count different steps");
    differs("The budget", &budgets(old), &budgets(new), "other trials may be taken out");
    differs(
        "The baseline",
        &old.baseline.name,
        &new.baseline.name,
        "factors compare with different trials",
    );
    let seeds = (old.seed.to_string(), new.seed.to_string());
    differs("The seed", &seeds.0, &seeds.1, "other payloads were chosen and timed");
    let samples = (sample(&old.corpus), sample(&new.corpus));
    differs("The sample", &samples.0, &samples.1, "the sizes are of other choices");
    if let Some(difference) = hosts(old, new) {
        caveats.push(difference);
    }
    if let Some(pace) = pace.filter(|pace| (pace - 1.0).abs() > PACE_CHANGE_MIN) {
        caveats.push(format!(
            "The median trial takes {} of its time then. Times are compared with that, so that \
             another host or payloads of another size are no change.",
            percent(pace)
        ));
    } else if pace.is_none() {
        caveats.push(
            "Too few trials were timed in both runs to tell a change of times from a change of \
             the host; no time is called changed."
                .to_owned(),
        );
    }
    for (evaluation, when) in [(old, "then"), (new, "now")] {
        if is_busy(evaluation) {
            caveats.push(format!("The machine was busy {when}. Sizes are exact, times are not."));
        }
        if evaluation.run.interrupted {
            caveats.push(format!("The run was cut short {when}."));
        }
    }
    caveats
}

/// How many of the payloads were kept, as far as that makes a difference.
fn sample(corpus: &CorpusSummary) -> String {
    match corpus.seen > corpus.payloads && corpus.seen > 0 {
        true => format!("{} of the payloads", percent(corpus.payloads as f64 / corpus.seen as f64)),
        false => "all payloads".to_owned(),
    }
}

/// The difference of the hosts, if there is one.
fn hosts(old: &Evaluation, new: &Evaluation) -> Option<String> {
    let (then, now) = (&old.run, &new.run);
    let mut differences = Vec::new();
    let mut compare = |name: &str, then: &str, now: &str| {
        if then != now && !then.is_empty() && !now.is_empty() {
            differences.push(format!("{name} {then} then, {now} now"));
        }
    };
    compare("processor", &then.processor, &now.processor);
    compare("processors", &then.processors.to_string(), &now.processors.to_string());
    for (name, value) in &now.host {
        let before = then.host.iter().find(|(other, _)| other == name);
        compare(name, before.map_or("", |(_, value)| value), value);
    }
    let more = differences.len().saturating_sub(HOST_DIFFERENCES_MAX);
    differences.truncate(HOST_DIFFERENCES_MAX);
    if more > 0 {
        differences.push(format!("{more} more"));
    }
    (!differences.is_empty()).then(|| format!("The host differs: {}.", differences.join("; ")))
}

fn is_busy(evaluation: &Evaluation) -> bool {
    let told = |notice: &String| notice.starts_with(BUSY_NOTICE);
    evaluation.run.noise.is_noisy || evaluation.run.notices.iter().any(told)
}
