//! Choosing: which candidates are timed, what takes a candidate out, the front, and the winner.
//!
//! Every rule has a name that the report prints, and none of them reads a clock: given the same
//! measurements, the answer is the same.

use cinch_core::document::Fidelity;
use cinch_core::encoding::Engine;

use crate::budget::Budget;
use crate::candidate::Candidate;
use crate::goal::{Goal, Measured, SIZE_SHARE_MAX, TIE};
use crate::measure::{From, Tracked};

/// An encoding that refuses more than this share of the payloads is taken out; below it, the
/// refused ones are stored verbatim and counted.
const REFUSED_SHARE_MAX: f64 = 0.01;

/// How many of the best go through stage 3 beside the front, the baseline and the controls.
const WHOLE_BEST: usize = 4;

/// The rules that take a trial out: the word before the colon, and what it means to a reader.
/// A budget is its own rule, named by its text.
pub const RULES: &[(&str, &str)] = &[
    ("sizes", "another trial with the same codec is as small, or finalists were smaller"),
    ("dominated", "a trial on the front is smaller and faster"),
    ("refused", "the encoding can't carry more than 1 % of the payloads"),
    ("failed", "a payload did not come back as it was"),
    ("portable", "only one language reads it"),
    ("interrupted", "the run was cut short before its turn"),
];

/// Whether storing with this candidate is worth the trouble.
pub fn pays(tracked: &Tracked) -> bool {
    tracked.size_share() <= SIZE_SHARE_MAX
}

/// Takes out what only one language reads.
pub fn eliminate_unportable(all: &mut [Tracked]) {
    for tracked in all {
        if !tracked.candidate.encoding.portable {
            tracked.eliminated_by = Some("portable: only one language reads it".to_owned());
        }
    }
}

/// Takes out what failed or refuses too much.
pub fn eliminate_unfit(all: &mut [Tracked]) {
    for tracked in all {
        let sized = tracked.sizes.len() as f64;
        if tracked.eliminated_by.is_some() {
            continue;
        }
        if tracked.failures > 0 {
            let failure = tracked.failure.as_deref().unwrap_or_default();
            tracked.eliminated_by = Some(format!("failed: {failure}"));
        } else if tracked.sizes.is_empty() {
            tracked.eliminated_by = Some("interrupted: it was not measured".to_owned());
        } else if tracked.refused as f64 > sized * REFUSED_SHARE_MAX {
            let refusal = tracked.refusal.as_deref().unwrap_or_default();
            tracked.eliminated_by =
                Some(format!("refused: {} of {sized} payloads, first {refusal}", tracked.refused));
        }
    }
}

/// Chooses at most `count` candidates to time: `always`, and then the smallest where the goal is
/// about size, else for each codec in turn its next best level, with the one encoding that is
/// smallest there. What is not chosen is taken out, by a rule that names what was preferred.
pub fn finalists(all: &mut [Tracked], goal: &Goal, always: &[usize], count: usize) -> Vec<usize> {
    if count >= all.len() {
        return fit(all).collect();
    }
    let mut chosen: Vec<usize> =
        always.iter().copied().filter(|&index| all[index].eliminated_by.is_none()).collect();
    let mut queues = if goal.wants_slow { vec![by_size(all)] } else { queues(all, goal) };
    while chosen.len() < count && queues.iter().any(|queue| !queue.is_empty()) {
        for queue in &mut queues {
            if chosen.len() < count
                && let Some(index) = pop_new(queue, &chosen)
            {
                chosen.push(index);
            }
        }
    }
    for index in 0..all.len() {
        if all[index].eliminated_by.is_none() && !chosen.contains(&index) {
            let better = chosen.iter().find(|&&other| {
                all[other].candidate.codec == all[index].candidate.codec
                    && all[other].size_share() <= all[index].size_share()
            });
            all[index].eliminated_by = Some(match better {
                Some(&better) => {
                    format!("sizes: {} is as small or smaller", all[better].candidate)
                }
                None => format!("sizes: not among the {count} finalists"),
            });
        }
    }
    chosen.sort_unstable();
    chosen
}

/// Every candidate, the smallest last.
fn by_size(all: &[Tracked]) -> Vec<usize> {
    let mut queue: Vec<usize> = fit(all).collect();
    queue.sort_by(|&a, &b| all[b].size_share().total_cmp(&all[a].size_share()));
    queue
}

fn pop_new(queue: &mut Vec<usize>, chosen: &[usize]) -> Option<usize> {
    while let Some(index) = queue.pop() {
        if !chosen.contains(&index) {
            return Some(index);
        }
    }
    None
}

fn fit(all: &[Tracked]) -> impl Iterator<Item = usize> + '_ {
    (0..all.len()).filter(|&index| all[index].eliminated_by.is_none())
}

/// For each codec the candidates to time, the next one last.
fn queues(all: &[Tracked], goal: &Goal) -> Vec<Vec<usize>> {
    let handicap = |candidate: &Candidate| match candidate.encoding.engine {
        Engine::Verbatim => 0.0,
        _ if candidate.encoding.is_json_text => goal.encoding_handicap / 2.0,
        _ => goal.encoding_handicap,
    };
    let weighted =
        |index: usize| all[index].size_share().max(1e-9).ln() + handicap(&all[index].candidate);
    let mut names: Vec<&str> = Vec::new();
    let mut queues: Vec<Vec<usize>> = Vec::new();
    for index in fit(all) {
        let codec = all[index].candidate.codec;
        let place = names.iter().position(|&name| name == codec.name()).unwrap_or_else(|| {
            names.push(codec.name());
            queues.push(Vec::new());
            names.len() - 1
        });
        let queue = &mut queues[place];
        match queue.iter_mut().find(|other| all[**other].candidate.codec == codec) {
            Some(other) if weighted(index) < weighted(*other) => *other = index,
            Some(_) => {}
            None => queue.push(index),
        }
    }
    for queue in &mut queues {
        queue.sort_by(|&a, &b| weighted(b).total_cmp(&weighted(a)));
        // The default level is what everybody compares with, so its turn comes first.
        queue.sort_by_key(|&index| {
            let codec = all[index].candidate.codec;
            codec.level == codec.codec.info().levels.default
        });
    }
    queues
}

/// What the goal ranks a candidate by.
pub fn measured(tracked: &Tracked, from: From) -> Measured {
    let (pack, unpack) = tracked.totals(from);
    let (_, _, packed) = tracked.bytes();
    Measured {
        size_share: tracked.size_share(),
        packed_bytes: packed as f64 / (tracked.sizes.len() as f64).max(1.0),
        pack_ns: pack.mean,
        unpack_ns: unpack.mean,
    }
}

/// Takes out of these candidates what breaks a budget.
pub fn eliminate_over_budget(all: &mut [Tracked], timed: &[usize], budgets: &[Budget], from: From) {
    for &index in timed {
        let tracked = &mut all[index];
        if tracked.eliminated_by.is_none()
            && let Some(broken) = budgets.iter().find_map(|budget| budget.broken_by(tracked, from))
        {
            tracked.eliminated_by = Some(broken);
        }
    }
}

/// Mean time to pack and unpack a payload.
pub fn time_ns(tracked: &Tracked, from: From) -> f64 {
    let measured = measured(tracked, from);
    measured.pack_ns + measured.unpack_ns
}

/// The candidates of `timed` that no other beats in both size and time, smallest first.
pub fn front(all: &[Tracked], timed: &[usize], from: From) -> Vec<usize> {
    let mut by_size: Vec<(usize, f64, f64)> = timed
        .iter()
        .filter(|&&index| all[index].eliminated_by.is_none())
        .map(|&index| (index, all[index].size_share(), time_ns(&all[index], from)))
        .collect();
    by_size.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.2.total_cmp(&b.2)));
    let mut fastest = f64::INFINITY;
    let mut front = Vec::new();
    for (index, _, time) in by_size {
        if time < fastest {
            fastest = time;
            front.push(index);
        }
    }
    front
}

/// Which candidates run over the whole corpus: the front, the best under the goal, and `always`.
pub fn for_whole_corpus(
    all: &[Tracked],
    timed: &[usize],
    goal: &Goal,
    from: From,
    always: &[usize],
) -> Vec<usize> {
    let mut chosen = front(all, timed, from);
    chosen.extend(ranked(all, timed, goal, from).into_iter().take(WHOLE_BEST));
    chosen.extend(always);
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}

/// The candidates of `timed` that are still in and pay, best first under the goal. Within a tie the
/// higher fidelity goes first, then the faster one.
pub fn ranked(all: &[Tracked], timed: &[usize], goal: &Goal, from: From) -> Vec<usize> {
    let score = |index: usize| (goal.score)(&measured(&all[index], from));
    let mut ranked: Vec<(usize, f64)> = timed
        .iter()
        .filter(|&&index| all[index].eliminated_by.is_none() && pays(&all[index]))
        .map(|&index| (index, score(index)))
        .collect();
    ranked.sort_by(|a, b| a.1.total_cmp(&b.1));
    if let Some(&(_, best)) = ranked.first() {
        let tied = ranked.iter().take_while(|(_, score)| score - best < TIE).count();
        ranked[..tied].sort_by(|&(a, _), &(b, _)| {
            let fidelity = |index: usize| -> Fidelity { all[index].candidate.encoding.fidelity };
            fidelity(b)
                .cmp(&fidelity(a))
                .then(time_ns(&all[a], from).total_cmp(&time_ns(&all[b], from)))
        });
    }
    ranked.into_iter().map(|(index, _)| index).collect()
}
