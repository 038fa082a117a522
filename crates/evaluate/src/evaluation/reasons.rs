//! Why: the sentences beside a recommendation, and what the user should know of the measurement.
//!
//! A reason states a figure that the report also shows, or a rule with its name; it never says
//! "better" without saying by how much.

use cinch_core::document::Fidelity;
use cinch_core::encoding::{ENCODINGS, Encoding};

use super::Measured;
use super::recall;
use super::trials::{dictionary_cost, share, time_ns};
use crate::candidate::{Candidate, controls};
use crate::goal::SIZE_SHARE_MAX;
use crate::measure::{Stage, Tracked};
use crate::report::human;
use crate::statistics::P99_COUNT_MIN;

/// A median payload below this many bytes is told that it is small.
const SMALL_PAYLOAD_BYTES: usize = 512;

/// How many ties a sentence names.
const TIES_SHOWN: usize = 4;

/// What to use: the winner, or nothing where nothing pays.
pub(super) fn recommended(measured: &Measured<'_>) -> Candidate {
    let nothing = || match controls() {
        Ok([nothing, ..]) => nothing,
        Err(_) => measured.all[measured.baseline].candidate.clone(),
    };
    measured.winner().map_or_else(nothing, |winner| measured.all[winner].candidate.clone())
}

pub(super) fn reasons(measured: &Measured<'_>) -> Vec<String> {
    let Some(winner) = measured.winner() else {
        let mut reasons = vec![no_winner(measured)];
        reasons.extend(recall::sentence(measured));
        return reasons;
    };
    let mut reasons = vec![best_reason(measured, winner)];
    reasons.extend(recall::sentence(measured));
    reasons.push(size_reason(measured, winner));
    reasons.push(time_reason(measured, winner));
    reasons.extend(dictionary_reason(measured, winner));
    reasons.push(check_reason(measured, winner));
    if let Some(runner_up) = measured.runner_up() {
        reasons.push(runner_up_reason(measured, winner, runner_up));
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

/// That it is the best, or who can't be told from it.
fn best_reason(measured: &Measured<'_>, winner: usize) -> String {
    let goal = measured.request.goal;
    let ties: Vec<String> = measured
        .decision
        .ties
        .iter()
        .filter(|&&tie| tie != winner)
        .map(|&tie| measured.all[tie].candidate.to_string())
        .collect();
    if ties.is_empty() {
        return format!("It is the best for goal {}: {}.", goal.name, goal.summary);
    }
    let shown = ties.iter().take(TIES_SHOWN).cloned().collect::<Vec<_>>().join(", ");
    let more = match ties.len().saturating_sub(TIES_SHOWN) {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    let tie = format!("For goal {} ({}) it is a tie with {shown}{more}", goal.name, goal.summary);
    if measured.decision.anew != Some(winner) {
        return format!("{tie}.");
    }
    let of_each = match goal.wants_fast {
        true => " of what each codec is at its smallest dictionary and lowest level there",
        false => "",
    };
    format!(
        "{tie}; of those it keeps the most of a payload, needs no dictionary where another does \
         not, and is then the smallest{of_each}."
    )
}

fn size_reason(measured: &Measured<'_>, winner: usize) -> String {
    let best = share(measured, winner);
    let candidate = &measured.all[winner].candidate;
    let stored = format!(
        "It stores {:.1} % of the bytes, envelopes included: {:.2} times smaller than plain",
        100.0 * best,
        1.0 / best.max(1e-9),
    );
    let baseline = &measured.all[measured.baseline];
    if *candidate == baseline.candidate || baseline.sizes.is_empty() {
        return format!("{stored}.");
    }
    let change = best / share(measured, measured.baseline).max(1e-9) - 1.0;
    format!(
        "{stored}, and {} than {}.",
        more_or_less(change, "larger", "smaller"),
        baseline.candidate
    )
}

fn time_reason(measured: &Measured<'_>, winner: usize) -> String {
    let from = measured.request.from;
    let best = &measured.all[winner];
    let (pack, unpack) = best.totals(from);
    let baseline = &measured.all[measured.baseline];
    let factor = time_ns(baseline, from) / time_ns(best, from).max(1.0);
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

/// What the dictionary gains and costs.
fn dictionary_reason(measured: &Measured<'_>, winner: usize) -> Option<String> {
    let cost = dictionary_cost(measured, winner)?;
    Some(format!(
        "Its dictionary makes it {:.1} % smaller than without ({:.1} to {:.1} %), on payloads \
         that did not train it, and is a file of {} that every reader needs.",
        100.0 * cost.gain,
        100.0 * cost.gain_interval.low,
        100.0 * cost.gain_interval.high,
        human::size(cost.bytes as f64),
    ))
}

fn check_reason(measured: &Measured<'_>, winner: usize) -> String {
    let best = &measured.all[winner];
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
    let (which, count) = match best.stage {
        Stage::Whole => ("Every one of the", measured.corpus.payloads.len()),
        _ => ("Each measured of the", best.sizes.len()),
    };
    format!("{which} {} payloads {kept}{refused}.", human::count(count as u64))
}

fn runner_up_reason(measured: &Measured<'_>, winner: usize, next: usize) -> String {
    let from = measured.request.from;
    let size = share(measured, next) / share(measured, winner).max(1e-9) - 1.0;
    let (best, next) = (&measured.all[winner], &measured.all[next]);
    let time = time_ns(next, from) / time_ns(best, from).max(1.0) - 1.0;
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

/// The smallest trial with a schema beside the smallest without one, and without a dictionary,
/// which also has to be handed around.
fn what_a_schema_would_buy(measured: &Measured<'_>) -> Option<String> {
    let smallest = |is_wanted: &dyn Fn(&Candidate) -> bool| {
        let is_sound = |tracked: &Tracked| tracked.failures == 0 && !tracked.sizes.is_empty();
        (0..measured.all.len())
            .filter(|&index| is_sound(&measured.all[index]))
            .filter(|&index| is_wanted(&measured.all[index].candidate))
            .map(|index| (index, share(measured, index)))
            .min_by(|(_, a), (_, b)| a.total_cmp(b))
    };
    let (with, with_share) = smallest(&|candidate| candidate.schema.is_some())?;
    let (without, without_share) =
        smallest(&|candidate| candidate.schema.is_none() && candidate.learned.is_none())?;
    Some(format!(
        "What a schema would buy: {} stores {} of the bytes, {} without schema and dictionary {}. \
         Payloads refused, which are counted as they are: {}.",
        measured.all[with].candidate,
        human::percent(with_share),
        measured.all[without].candidate,
        human::percent(without_share),
        shares_refused(measured).join(", "),
    ))
}

/// The share that each encoding with a schema refused, told by the trial of most payloads.
fn shares_refused(measured: &Measured<'_>) -> Vec<String> {
    let of_encoding = |encoding: &'static Encoding| {
        let has_schema = |tracked: &&Tracked| {
            tracked.candidate.encoding == encoding && tracked.candidate.schema.is_some()
        };
        let trials = measured.all.iter().filter(has_schema);
        let told = trials.max_by_key(|tracked| tracked.sizes.len())?;
        let share = told.refused as f64 / (told.sizes.len() as f64).max(1.0);
        Some(format!("{} {}", encoding.name, human::percent(share)))
    };
    ENCODINGS.iter().filter_map(of_encoding).collect()
}

/// What the user should know of the measurement.
pub(super) fn notices(measured: &Measured<'_>) -> Vec<String> {
    let corpus = measured.corpus;
    let mut notices = measured.notices.clone();
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
        let (kept, seen) = (human::count(kept), human::count(corpus.seen));
        notices.push(format!("A fair sample of {kept} of {seen} payloads was taken."));
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
            "Half of the payloads are below 512 bytes. Alone they hardly shrink; what they share \
             has to come from a dictionary."
                .to_owned(),
        );
    }
    notices.extend(what_a_schema_would_buy(measured));
    if measured.decision.is_borderline {
        notices.push(
            "The choice is a close one: another run may prefer another of the trials that are \
             nearly tied."
                .to_owned(),
        );
    }
    notices
}
