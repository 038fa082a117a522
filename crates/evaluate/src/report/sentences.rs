//! Sentences about the recommendation and about the measurement that the model holds as figures:
//! how sure the choice is, what was split how, and how quiet the host was. Made once, so that the
//! page, the Markdown report and the terminal say the same.

use super::{human, view};
use crate::model::Evaluation;

/// How many names a sentence lists before it only counts.
const NAMES: usize = 6;

/// How sure the choice is: held-out figures, ties, and a host that was not quiet.
pub(super) fn sure(evaluation: &Evaluation) -> Vec<String> {
    let mut sentences = Vec::new();
    let trial = view::find(evaluation, &evaluation.recommended.name);
    if let Some(held) = trial.and_then(|trial| trial.held_out.as_ref()) {
        let interval = &held.packed_share_interval;
        sentences.push(format!(
            "On {} it stores {} ({} with 95 % confidence).",
            human::counted(held.payloads, "held-out payload"),
            human::percent(held.packed_share),
            human::percent_interval(interval.low, interval.high),
        ));
    }
    sentences.extend(ties(evaluation));
    sentences.extend(noise(evaluation).filter(|_| evaluation.run.noise.is_noisy));
    sentences
}

/// What it ties with, where it does.
pub(super) fn ties(evaluation: &Evaluation) -> Option<String> {
    let ties = &evaluation.recommended.ties;
    (!ties.is_empty())
        .then(|| format!("A tie: it can't be told from {} under the goal.", names(ties)))
}

/// Below which size packing does not pay, where there is such a size.
pub(super) fn min_size(evaluation: &Evaluation) -> Option<String> {
    let bytes = evaluation.recommended.min_size_bytes?;
    Some(format!("Below {} packing does not pay.", human::size(bytes as f64)))
}

/// Which payloads trained, chose and reported, where any were set apart.
pub(super) fn split(evaluation: &Evaluation) -> Option<String> {
    let split = &evaluation.corpus.split;
    let by = match split.by.as_deref()? {
        "group" => "near-duplicates kept together",
        "order" => "in their order",
        other => other,
    };
    Some(format!(
        "{} trained dictionaries, {} chose, {} reported; split with {}.",
        human::counted(split.train, "payload"),
        human::count(split.select),
        human::count(split.report),
        human::printable(by),
    ))
}

/// How many payloads are nearly the same, where groups were made.
pub(super) fn groups(evaluation: &Evaluation) -> Option<String> {
    let corpus = &evaluation.corpus;
    (corpus.groups > 0).then(|| {
        format!(
            "{} of near-duplicates, the largest with {}.",
            human::counted(corpus.groups, "group"),
            human::counted(corpus.largest_group, "payload"),
        )
    })
}

/// Whether the host was quiet, where anything was timed.
pub(super) fn noise(evaluation: &Evaluation) -> Option<String> {
    let noise = &evaluation.run.noise;
    if noise.is_noisy {
        let signs: Vec<String> = noise.signs.iter().map(|sign| human::printable(sign)).collect();
        return Some(format!("The host was noisy. {}", signs.join(" ")).trim_end().to_owned());
    }
    (noise.cpu_share > 0.0).then(|| {
        format!(
            "The host was quiet: {} of the round trips were interrupted, CPU time was {} of wall \
             time, and rounds lay {} apart.",
            human::percent(noise.preempted_share),
            human::percent(noise.cpu_share),
            human::percent(noise.round_spread),
        )
    })
}

/// Size classes that another trial than the recommended one wins clearly.
pub(super) fn other_winners(evaluation: &Evaluation) -> Vec<String> {
    let best = &evaluation.recommended.name;
    let classes = evaluation.corpus.classes.iter();
    let other = |class: &crate::model::SizeClass| {
        let winner = class.winner.as_ref().filter(|name| *name != best)?;
        (class.gain > 0.0 && !class.ties.contains(best)).then(|| {
            format!(
                "{}: {}, {} better",
                human::printable(&class.name),
                human::printable(winner),
                human::percent(class.gain),
            )
        })
    };
    classes.filter_map(other).collect()
}

/// Names in a row, with a count of those that are left out.
pub(super) fn names(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(NAMES).map(|name| human::printable(name)).collect();
    match names.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
