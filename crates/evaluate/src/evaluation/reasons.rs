//! Why: the sentences beside a recommendation, and what the user should know of the measurement.
//!
//! A reason states a figure that the report also shows, or a rule with its name; it never says
//! "better" without saying by how much.

use std::ops::RangeInclusive;

use cinch_core::document::Fidelity;

use super::Measured;
use crate::candidate::{Candidate, controls};
use crate::goal::{Measured as Figures, SIZE_SHARE_MAX};
use crate::measure::{Stage, Tracked};
use crate::report::human;
use crate::select;
use crate::statistics::{P99_COUNT_MIN, mean};

/// A median payload below this many bytes is told that it is small.
const SMALL_PAYLOAD_BYTES: usize = 512;

/// A spread of the rounds above this is told.
const NOISY_SPREAD: f64 = 0.25;

/// Rounds shorter than this many nanoseconds lie far apart on any machine.
const TIMED_NS_MIN: f64 = 2e6;

/// What to use: the winner, or nothing where nothing pays.
pub(super) fn recommended(measured: &Measured<'_>) -> Candidate {
    let nothing = || match controls() {
        Ok([nothing, ..]) => nothing,
        Err(_) => measured.all[measured.baseline].candidate.clone(),
    };
    measured.winner.map_or_else(nothing, |winner| measured.all[winner].candidate.clone())
}

pub(super) fn reasons(measured: &Measured<'_>) -> Vec<String> {
    let goal = measured.request.goal;
    let Some(winner) = measured.winner else {
        return vec![no_winner(measured)];
    };
    let best = &measured.all[winner];
    let mut reasons = vec![format!("It is the best for goal {}: {}.", goal.name, goal.summary)];
    reasons.push(size_reason(measured, best));
    reasons.push(time_reason(measured, best));
    reasons.push(check_reason(best));
    if let Some(runner_up) = measured.runner_up {
        reasons.push(runner_up_reason(measured, best, &measured.all[runner_up]));
    }
    for budget in &measured.request.budgets {
        reasons.push(format!("It keeps the budget {budget}."));
    }
    reasons
}

/// Why there is nothing to recommend: the smallest does not pay, or everything was taken out.
fn no_winner(measured: &Measured<'_>) -> String {
    let standing = measured
        .timed
        .iter()
        .map(|&index| &measured.all[index])
        .filter(|tracked| tracked.eliminated_by.is_none() && !tracked.sizes.is_empty());
    let smallest = standing.min_by(|a, b| a.size_share().total_cmp(&b.size_share()));
    match smallest {
        Some(smallest) => format!(
            "Nothing pays: the smallest, {}, stores {:.1} % of the bytes, and above {:.0} % the \
             payloads had better stay as they are.",
            smallest.candidate,
            100.0 * smallest.size_share(),
            100.0 * SIZE_SHARE_MAX,
        ),
        None => "Nothing could be recommended: every trial was taken out, or the run was cut \
                 short. The table says by which rule."
            .to_owned(),
    }
}

fn size_reason(measured: &Measured<'_>, best: &Tracked) -> String {
    let baseline = &measured.all[measured.baseline];
    let stored = format!(
        "It stores {:.1} % of the bytes, envelopes included: {:.2} times smaller than plain",
        100.0 * best.size_share(),
        1.0 / best.size_share().max(1e-9),
    );
    if best.candidate == baseline.candidate || baseline.sizes.is_empty() {
        return format!("{stored}.");
    }
    let change = best.size_share() / baseline.size_share().max(1e-9) - 1.0;
    format!(
        "{stored}, and {} than {}.",
        more_or_less(change, "larger", "smaller"),
        baseline.candidate
    )
}

fn time_reason(measured: &Measured<'_>, best: &Tracked) -> String {
    let from = measured.request.from;
    let (pack, unpack) = best.totals(from);
    let baseline = &measured.all[measured.baseline];
    let factor = select::time_ns(baseline, from) / select::time_ns(best, from).max(1.0);
    let compared = if best.candidate == baseline.candidate || factor == 0.0 {
        String::new()
    } else if factor >= 1.0 {
        format!(", together {factor:.1} times as fast as {}", baseline.candidate)
    } else {
        format!(", together {:.1} times as slow as {}", 1.0 / factor, baseline.candidate)
    };
    format!(
        "Packing takes {} per payload (p50), unpacking {}{compared}.",
        human::time(pack.p50),
        human::time(unpack.p50),
    )
}

fn check_reason(best: &Tracked) -> String {
    let kept = match best.candidate.encoding.fidelity {
        Fidelity::Bytes => "came back byte for byte",
        Fidelity::ValueAndText => {
            "came back as the same value with the same number texts, as \
                                   other bytes (stores ask you to allow that)"
        }
        Fidelity::Value => {
            "came back as the same value, as other bytes (stores ask you to allow \
                            that)"
        }
    };
    let refused = match best.refused {
        0 => String::new(),
        count => format!("; the encoding refuses {count} of them, which are stored verbatim"),
    };
    let which =
        if best.stage == Stage::Whole { "Every one of the" } else { "Each measured of the" };
    format!("{which} {} payloads {kept}{refused}.", best.sizes.len())
}

fn runner_up_reason(measured: &Measured<'_>, best: &Tracked, next: &Tracked) -> String {
    let from = measured.request.from;
    let size = next.size_share() / best.size_share().max(1e-9) - 1.0;
    let time = select::time_ns(next, from) / select::time_ns(best, from).max(1.0) - 1.0;
    format!(
        "Next comes {}: {} and {}.",
        next.candidate,
        more_or_less(size, "larger", "smaller"),
        more_or_less(time, "slower", "faster"),
    )
}

/// `change` as words: 0.12 is "12.0 % larger".
fn more_or_less(change: f64, more: &str, less: &str) -> String {
    if change.abs() < 0.0005 {
        format!("no {more}")
    } else if change > 1.0 {
        format!("{:.1} times {more}", change + 1.0)
    } else if change > 0.0 {
        format!("{:.1} % {more}", 100.0 * change)
    } else {
        format!("{:.1} % {less}", -100.0 * change)
    }
}

/// What the user should know of the measurement.
pub(super) fn notices(measured: &Measured<'_>) -> Vec<String> {
    let corpus = measured.corpus;
    let mut notices = Vec::new();
    if measured.interrupted {
        notices.push("The run was cut short; the figures are of what was measured.".to_owned());
    }
    if corpus.problems.count > 0 {
        let problems = human::counted(corpus.problems.count, "payload or file");
        notices.push(format!("{problems} could not be read."));
    }
    let json = corpus.payloads.iter().filter(|payload| payload.is_json).count();
    if json < corpus.payloads.len() {
        let others = corpus.payloads.len() - json;
        let others = human::counted(others as u64, "payload");
        notices.push(format!("Not JSON, so that only codecs apply: {others}."));
    }
    let kept = corpus.payloads.len() as u64;
    if corpus.seen > kept {
        notices.push(format!("A fair sample of {kept} of {} payloads was taken.", corpus.seen));
    }
    if corpus.duplicates > 0 {
        let share = 100.0 * corpus.duplicates as f64 / kept.max(1) as f64;
        let copies = human::counted(corpus.duplicates, "payload");
        notices.push(format!("Exact copies of an earlier one: {copies} ({share:.1} %)."));
    }
    if corpus.payloads.len() < P99_COUNT_MIN {
        notices.push(format!(
            "Below {P99_COUNT_MIN} payloads there is no p99; the maximum stands in its place."
        ));
    }
    let mut sizes: Vec<usize> = corpus.payloads.iter().map(|p| p.bytes.len()).collect();
    sizes.sort_unstable();
    if sizes.get(sizes.len() / 2).is_some_and(|&middle| middle < SMALL_PAYLOAD_BYTES) {
        notices.push(
            "Half of the payloads are below 512 bytes. Alone they hardly shrink; a trained \
             dictionary (zstd --train, profile key dictionary) often gives several times as much."
                .to_owned(),
        );
    }
    let spreads: Vec<f64> = measured
        .timed
        .iter()
        .map(|&index| &measured.all[index])
        .filter(|tracked| tracked.round_ns() > TIMED_NS_MIN)
        .map(Tracked::round_spread)
        .collect();
    if mean(&spreads) > NOISY_SPREAD {
        notices.push(format!(
            "The machine was busy: rounds lay {:.0} % apart on average. Sizes are exact, times \
             are not.",
            100.0 * mean(&spreads)
        ));
    }
    notices
}

/// The best candidate for payloads of these sizes only, among those that were timed.
pub(super) fn winner_within(
    measured: &Measured<'_>,
    range: &RangeInclusive<usize>,
) -> Option<usize> {
    let from = measured.request.from;
    let scored = measured.timed.iter().filter_map(|&index| {
        let tracked = &measured.all[index];
        if tracked.eliminated_by.is_some() && measured.winner != Some(index) {
            return None;
        }
        let within: Vec<_> =
            tracked.sizes.iter().filter(|sizes| range.contains(&sizes.bytes_in)).collect();
        let bytes_in: usize = within.iter().map(|sizes| sizes.bytes_in).sum();
        let packed: usize = within.iter().map(|sizes| sizes.packed_bytes).sum();
        let times = tracked
            .times
            .iter()
            .filter(|times| range.contains(&measured.corpus.payloads[times.payload].bytes.len()));
        let (mut pack, mut unpack, mut count) = (0.0, 0.0, 0.0);
        for steps in times.flat_map(|times| &times.rounds) {
            let (packing, unpacking) = steps.totals(&tracked.candidate, from);
            pack += f64::from(packing);
            unpack += f64::from(unpacking);
            count += 1.0;
        }
        if within.is_empty() || count == 0.0 {
            return None;
        }
        let size_share = packed as f64 / bytes_in as f64;
        if size_share > SIZE_SHARE_MAX {
            return None;
        }
        let score = (measured.request.goal.score)(&Figures {
            size_share,
            packed_bytes: packed as f64 / within.len() as f64,
            pack_ns: pack / count,
            unpack_ns: unpack / count,
        });
        Some((index, score))
    });
    scored.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(index, _)| index)
}
