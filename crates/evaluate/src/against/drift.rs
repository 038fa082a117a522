//! How the payloads changed between two runs, as sentences with figures. Only what moved by more
//! than a bound is told: the payloads of two days are never quite the same.

use super::{packed_share, percent, trial_named};
use crate::model::{CorpusSummary, Evaluation};
use crate::report::human;

/// A median or p95 size has moved from this relative change on.
const SIZE_DRIFT_MIN: f64 = 0.05;

/// A share of the payloads has moved from this difference on.
const SHARE_DRIFT_MIN: f64 = 0.02;

pub(super) fn drift(old: &Evaluation, new: &Evaluation) -> Vec<String> {
    let (then, now) = (&old.corpus, &new.corpus);
    let mut drift = Vec::new();
    for (name, size_then, size_now) in [
        ("The median payload", then.size.p50, now.size.p50),
        ("95 % of the payloads", then.size.p95, now.size.p95),
    ] {
        let verb = if name.starts_with("95") { "have at most" } else { "has" };
        let change = size_now as f64 / size_then.max(1) as f64 - 1.0;
        if change.abs() > SIZE_DRIFT_MIN {
            drift.push(format!(
                "{name} {verb} {}; it was {} then ({}{}).",
                human::size(size_now as f64),
                human::size(size_then as f64),
                if change < 0.0 { "-" } else { "+" },
                percent(change.abs()),
            ));
        }
    }
    let mut share = |subject: String, share_then: f64, share_now: f64| {
        if (share_now - share_then).abs() > SHARE_DRIFT_MIN {
            let (share_then, share_now) = (percent(share_then), percent(share_now));
            drift.push(format!("{subject}: {share_now}; it was {share_then} then."));
        }
    };
    let of_payloads =
        |corpus: &CorpusSummary, count: u64| count as f64 / corpus.payloads.max(1) as f64;
    share(
        "Payloads that are JSON".to_owned(),
        of_payloads(then, then.json_payloads),
        of_payloads(now, now.json_payloads),
    );
    share(
        "Payloads that are exact copies of an earlier one".to_owned(),
        of_payloads(then, then.duplicates),
        of_payloads(now, now.duplicates),
    );
    let class_share = |corpus: &CorpusSummary, name: &str| {
        let class = corpus.classes.iter().find(|class| class.name == name);
        class.map_or(0.0, |class| of_payloads(corpus, class.payloads))
    };
    let mut names: Vec<&str> = now.classes.iter().map(|class| class.name.as_str()).collect();
    let gone = then.classes.iter().map(|class| class.name.as_str());
    let gone: Vec<&str> = gone.filter(|name| !names.contains(name)).collect();
    names.extend(gone);
    for name in names {
        share(format!("Payloads of {name}"), class_share(then, name), class_share(now, name));
    }
    drift.extend(compressibility(old, new));
    drift
}

/// Whether the payloads compress better or worse, by the baseline on held-out payloads.
fn compressibility(old: &Evaluation, new: &Evaluation) -> Option<String> {
    let name = &new.baseline.name;
    let (share_then, interval_then) = packed_share(trial_named(old, name)?);
    let (share_now, interval_now) = packed_share(trial_named(new, name)?);
    let (then, now) = (interval_then?, interval_now?);
    (then.high < now.low || now.high < then.low).then(|| {
        format!(
            "The payloads compress differently: {name} stores {} of the held-out bytes (95 % \
             confidence: {} to {}); it was {} then ({} to {}).",
            percent(share_now),
            percent(now.low),
            percent(now.high),
            percent(share_then),
            percent(then.low),
            percent(then.high),
        )
    })
}
