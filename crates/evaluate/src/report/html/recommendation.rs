//! The headline of the page: what to use, what it brings, and what it is compared with.
//!
//! The comparison shows storing plain and the baseline beside the recommendation, because a
//! ratio alone says little about money and nothing about what one has today.

use minijinja::{Value, context};

use super::text;
use crate::model::{Evaluation, Trial};
use crate::report::{human, sentences, view};

/// What the headline card shows.
pub(super) fn headline(evaluation: &Evaluation) -> Value {
    let recommended = &evaluation.recommended;
    let trial = view::find(evaluation, &recommended.name);
    let baseline = view::find(evaluation, &evaluation.baseline.name);
    let is_baseline = recommended.name == evaluation.baseline.name;
    let baseline_name = text(&evaluation.baseline.name);
    context! {
        name => text(&recommended.name),
        encoding => text(&recommended.encoding),
        codec => text(&recommended.codec),
        level => recommended.level,
        dictionary => recommended.dictionary.as_deref().map(text),
        fidelity => text(&recommended.fidelity),
        runner_up => recommended.runner_up.as_deref().map(text),
        reasons => reasons(evaluation),
        profile => recommended.profile.lines().map(text).collect::<Vec<_>>().join("\n"),
        sure => sentences::sure(evaluation),
        flips => texts(&recommended.flips),
        costs => texts(&recommended.costs),
        files => files(evaluation),
        saved => trial.map(saved),
        figures => trial.map(figures).unwrap_or_default(),
        sizes => sizes(trial, baseline.filter(|_| !is_baseline)),
        times => times(trial, baseline.filter(|_| !is_baseline)),
        baseline => baseline_name,
        is_baseline => is_baseline,
        size_factor => trial.map(|trial| human::factor(trial.size_factor)),
        speed_factor => trial.filter(timed).map(|trial| human::factor(trial.speed_factor)),
    }
}

fn texts(texts: &[String]) -> Vec<String> {
    texts.iter().map(|one| text(one)).collect()
}

fn reasons(evaluation: &Evaluation) -> Vec<String> {
    let mut reasons = texts(&evaluation.recommended.reasons);
    reasons.extend(sentences::min_size(evaluation));
    reasons
}

/// The files beside the profile.
fn files(evaluation: &Evaluation) -> Vec<Value> {
    let file = |file: &crate::model::DictionaryFile| {
        context! {
            file_name => text(&file.file_name),
            id => text(&file.id),
            sha256 => text(&file.sha256),
        }
    };
    evaluation.recommended.dictionaries.iter().map(file).collect()
}

fn timed(trial: &&Trial) -> bool {
    view::is_timed(trial)
}

/// How much smaller than storing plain, in words.
fn saved(trial: &Trial) -> String {
    let share = 1.0 - view::stored_share(trial);
    if share >= 0.0 {
        format!("{} smaller", human::percent(share))
    } else {
        format!("{} larger", human::percent(-share))
    }
}

/// The figures of the headline: title, figure, and what stands below it.
fn figures(trial: &Trial) -> Vec<Value> {
    let p99 = if trial.p99_is_max { "max" } else { "p99" };
    let tile = |title: &str, figure: String, note: String| {
        context! { title => title, figure => figure, note => note }
    };
    let mut tiles = vec![
        tile(
            "stored",
            human::percent(view::stored_share(trial)),
            format!("of {}", human::size(trial.bytes_in as f64)),
        ),
        tile(
            "ratio",
            human::ratio(trial.ratio),
            format!("median {}", human::ratio(trial.median_ratio)),
        ),
    ];
    if view::is_timed(trial) {
        let pair = |title, times: &crate::model::Nanoseconds| {
            tile(title, human::time(times.p50), format!("{p99} {}", human::time(times.p99)))
        };
        tiles.push(pair("pack", &trial.pack_ns));
        tiles.push(pair("unpack", &trial.unpack_ns));
        if trial.first_call_ns > 0.0 {
            let time = human::time(trial.first_call_ns);
            tiles.push(tile("first call", time, "new context".to_owned()));
        }
    }
    if view::is_timed(trial) || trial.memory_bytes > 0 {
        let memory = human::size(trial.memory_bytes as f64);
        tiles.push(tile("memory", memory, "both contexts".to_owned()));
    }
    tiles
}

/// Bars of stored size: storing plain, the baseline, the recommendation.
fn sizes(trial: Option<&Trial>, baseline: Option<&Trial>) -> Vec<Value> {
    let mut bars = vec![("stored plain".to_owned(), 1.0, "plain")];
    bars.extend(baseline.map(|one| (text(&one.name), view::stored_share(one), "baseline")));
    bars.extend(trial.map(|one| (text(&one.name), view::stored_share(one), "chosen")));
    drawn(&bars, human::percent)
}

/// Bars of the mean time to pack and unpack one payload.
fn times(trial: Option<&Trial>, baseline: Option<&Trial>) -> Vec<Value> {
    let bar = |one: &Trial, kind| (text(&one.name), view::pack_unpack_ns(one), kind);
    let mut bars = Vec::new();
    bars.extend(baseline.filter(timed).map(|one| bar(one, "baseline")));
    bars.extend(trial.filter(timed).map(|one| bar(one, "chosen")));
    drawn(&bars, human::time)
}

fn drawn(bars: &[(String, f64, &str)], figure: fn(f64) -> String) -> Vec<Value> {
    let longest = bars.iter().map(|bar| bar.1).fold(0.0, f64::max);
    bars.iter()
        .map(|(name, value, kind)| {
            let share = (value * 100.0 / longest).clamp(0.0, 100.0);
            let share = if share.is_finite() { share } else { 0.0 };
            context! {
                name => name.clone(),
                kind => *kind,
                figure => figure(*value),
                share => format!("{share:.1}"),
            }
        })
        .collect()
}
