//! Choosing: which candidates are timed, what takes a candidate out, and the front. Who wins is
//! decided in `decision.rs`.
//!
//! Every rule has a name that the report prints, and none of them reads a clock: given the same
//! measurements, the answer is the same.

use crate::bootstrap::Resamples;
use crate::budget::Budget;
use crate::goal::{Goal, Measured, SIZE_SHARE_MAX};
use crate::measure::{Sizes, Stage, TimedFrom, Tracked};
use crate::sheet::Sheet;

/// An encoding that refuses more than this share of the payloads is taken out; below it, the
/// refused ones are stored verbatim and counted.
const REFUSED_SHARE_MAX: f64 = 0.01;

/// The rules that take a trial out: the word before the colon, and what it means to a reader.
/// A budget is its own rule, named by its text.
pub const RULES: &[(&str, &str)] = &[
    ("portable", "only one language reads it"),
    ("no-schema", "it needs a schema"),
    ("crashed", "it took its process with it"),
    ("failed", "a payload did not come back as it was"),
    ("refused", "the encoding can't carry more than 1 % of the payloads"),
    ("dictionary", "its dictionary gains too little over none"),
    ("sizes", "on a sample it was not among the best, nor the best of its codec"),
    ("baseline", "it is larger or slower than the baseline"),
    ("dominated", "a trial on the front is smaller and faster"),
    ("interrupted", "the run was cut short before its turn"),
];

/// A dictionary has to make a trial smaller by this share, or it is not worth distributing.
pub const DICTIONARY_GAIN_MIN: f64 = 0.05;

/// How many of the finalists are chosen by their score; the others show what each codec can do.
const BY_SCORE_SHARE: f64 = 0.6;

/// Whether storing with this share of the bytes is worth the trouble.
pub fn pays(size_share: f64) -> bool {
    size_share <= SIZE_SHARE_MAX
}

/// A few payloads may say by at least this much more or less than all of them.
const SHARE_SLACK_MIN: f64 = 0.02;

/// And by no more than this, or trials that never pay would take the places of others.
const SHARE_SLACK_MAX: f64 = 0.05;

/// So many standard errors hold the share of all payloads, but for one time in four hundred.
const SHARE_ERRORS: f64 = 3.0;

/// Whether a trial pays on all payloads, or may as far as a part of them tells.
pub fn may_pay(tracked: &Tracked) -> bool {
    let slack = match tracked.stage {
        Stage::Whole => 0.0,
        _ => (SHARE_ERRORS * share_error(tracked)).clamp(SHARE_SLACK_MIN, SHARE_SLACK_MAX),
    };
    pays(tracked.size_share() - slack)
}

/// The standard error of the share that a trial stores, which is a ratio of sums: Cochran, Sampling
/// Techniques, 6.4.
fn share_error(tracked: &Tracked) -> f64 {
    let (share, count) = (tracked.size_share(), tracked.sizes.len() as f64);
    let bytes_in: f64 = tracked.sizes.iter().map(|sizes| sizes.bytes_in as f64).sum();
    if count < 2.0 || bytes_in <= 0.0 {
        return 0.0;
    }
    let residual = |sizes: &Sizes| sizes.packed_bytes as f64 - share * sizes.bytes_in as f64;
    let squares: f64 = tracked.sizes.iter().map(|sizes| residual(sizes).powi(2)).sum();
    (count / (count - 1.0) * squares).sqrt() / bytes_in
}

/// Takes out what the user can't use: what only one language reads, what needs a schema.
pub fn eliminate_unusable(all: &mut [Tracked], portable: bool, no_schema: bool) {
    for tracked in all {
        let encoding = tracked.candidate.encoding;
        if portable && !encoding.portable {
            tracked.eliminated_by = Some("portable: only one language reads it".to_owned());
        } else if no_schema && encoding.needs_schema {
            tracked.eliminated_by = Some("no-schema: it needs a schema".to_owned());
        } else if encoding.needs_schema && tracked.candidate.schema.is_none() {
            let why = "no-schema: it needs a schema, and no payloads were there to infer one from";
            tracked.eliminated_by = Some(why.to_owned());
        }
    }
}

/// Takes out trials whose dictionary gains too little over the same trial without one, on payloads
/// that did not train it.
pub fn eliminate_useless_dictionaries(all: &mut [Tracked]) {
    for index in 0..all.len() {
        let Some(gain) = dictionary_gain(all, index) else { continue };
        if gain < DICTIONARY_GAIN_MIN && all[index].eliminated_by.is_none() {
            let without = all[index].candidate.without_dictionary();
            all[index].eliminated_by = Some(format!(
                "dictionary: {:.1} % smaller than {without}, {:.0} % are asked for",
                100.0 * gain,
                100.0 * DICTIONARY_GAIN_MIN,
            ));
        }
    }
}

/// How much smaller a trial's dictionary makes it, as a share, on the payloads of both.
pub fn dictionary_gain(all: &[Tracked], index: usize) -> Option<f64> {
    let tracked = &all[index];
    tracked.candidate.learned.as_ref()?;
    let base = tracked.candidate.without_dictionary();
    let base = all.iter().find(|other| other.candidate == base)?;
    let (mut with, mut without) = (0, 0);
    for sizes in &tracked.sizes {
        if let Some(other) = base.sizes_of(sizes.payload) {
            with += sizes.packed_bytes;
            without += other.packed_bytes;
        }
    }
    (without > 0).then(|| 1.0 - with as f64 / without as f64)
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
            tracked.eliminated_by = Some(match failure.starts_with("crashed: ") {
                true => failure.to_owned(),
                false => format!("failed: {failure}"),
            });
        } else if tracked.sizes.is_empty() {
            tracked.eliminated_by = Some("interrupted: it was not measured".to_owned());
        } else if tracked.refused as f64 > sized * REFUSED_SHARE_MAX {
            let refusal = tracked.refusal.as_deref().unwrap_or_default();
            tracked.eliminated_by =
                Some(format!("refused: {} of {sized} payloads, first {refusal}", tracked.refused));
        }
    }
}

/// What stage 1 says of a candidate, by its single pass.
pub fn first_look(tracked: &Tracked, from: TimedFrom) -> Measured {
    let (pack, unpack) = tracked.totals(from);
    let (_, _, packed) = tracked.bytes();
    Measured {
        size_share: tracked.size_share(),
        packed_bytes: packed as f64 / (tracked.sizes.len() as f64).max(1.0),
        pack_ns: pack.mean,
        unpack_ns: unpack.mean,
    }
}

fn fit(all: &[Tracked]) -> impl Iterator<Item = usize> + '_ {
    (0..all.len()).filter(|&index| all[index].eliminated_by.is_none())
}

/// What is still in and pays, the best of stage 1 first.
pub fn by_first_look(all: &[Tracked], goal: &Goal, from: TimedFrom) -> Vec<usize> {
    let mut scored: Vec<(usize, f64)> = fit(all)
        .filter(|&index| may_pay(&all[index]))
        .map(|index| (index, (goal.score)(&first_look(&all[index], from))))
        .collect();
    scored.sort_by(|a, b| a.1.total_cmp(&b.1));
    scored.into_iter().map(|(index, _)| index).collect()
}

/// The best score of a first look, of what is ranked and surely pays. What only may pay is often
/// the fastest by far, and out in the end, so that nothing is near or far by its score.
pub fn best_score(all: &[Tracked], ranked: &[usize], goal: &Goal, from: TimedFrom) -> f64 {
    let score = |index: &usize| (goal.score)(&first_look(&all[*index], from));
    let least = |scores: &mut dyn Iterator<Item = f64>| scores.fold(f64::INFINITY, f64::min);
    let paying = ranked.iter().filter(|index| pays(all[**index].size_share()));
    let best = least(&mut paying.map(score));
    if best.is_finite() { best } else { least(&mut ranked.iter().map(score)) }
}

/// How many of those that are ranked are by a first look at most `distance` behind the best.
pub fn near(
    all: &[Tracked],
    ranked: &[usize],
    distance: f64,
    goal: &Goal,
    from: TimedFrom,
) -> usize {
    let best = best_score(all, ranked, goal, from);
    let score = |index: &usize| (goal.score)(&first_look(&all[*index], from));
    ranked.iter().filter(|index| score(index) <= best + distance).count()
}

/// How many finalists there have to be so that this many have a place by their score.
pub fn count_with(by_score: usize, always: usize) -> usize {
    always + (by_score as f64 / BY_SCORE_SHARE).ceil() as usize
}

/// Chooses at most `count` candidates to time: `always`, then the best of those that are ranked,
/// and with the last third the best of every codec that is not among them. What is not chosen is
/// taken out, by a rule that names what was preferred.
pub fn finalists(
    all: &mut [Tracked],
    ranked: &[usize],
    always: &[usize],
    count: usize,
) -> Vec<usize> {
    if count >= all.len() {
        return fit(all).collect();
    }
    let mut chosen: Vec<usize> =
        always.iter().copied().filter(|&index| all[index].eliminated_by.is_none()).collect();
    let by_score =
        chosen.len() + (BY_SCORE_SHARE * (count - chosen.len().min(count)) as f64) as usize;
    for &index in ranked {
        if chosen.len() < by_score && !chosen.contains(&index) {
            chosen.push(index);
        }
    }
    for &index in ranked {
        let name = all[index].candidate.codec.name();
        let is_shown = chosen.iter().any(|&other| all[other].candidate.codec.name() == name);
        if chosen.len() < count && !is_shown {
            chosen.push(index);
        }
    }
    for &index in ranked {
        if chosen.len() < count && !chosen.contains(&index) {
            chosen.push(index);
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

/// Takes out of these candidates what breaks a budget, by the upper bound of what was measured.
pub fn eliminate_over_budget(
    all: &mut [Tracked],
    timed: &[usize],
    budgets: &[Budget],
    resamples: &Resamples,
    from: TimedFrom,
) {
    for &index in timed {
        let tracked = &mut all[index];
        if tracked.eliminated_by.is_none()
            && let Some(broken) =
                budgets.iter().find_map(|budget| budget.broken_by(tracked, resamples, from))
        {
            tracked.eliminated_by = Some(broken);
        }
    }
}

/// Takes out what is larger or slower than the baseline, as Uber did to get its shortlist.
pub fn eliminate_below_baseline(all: &mut [Tracked], sheet: &Sheet, baseline: usize) {
    let Some(base) = sheet.measured(baseline) else { return };
    for &index in sheet.rows.keys() {
        let Some(mine) = sheet.measured(index) else { continue };
        if index == baseline || all[index].eliminated_by.is_some() {
            continue;
        }
        let size = mine.size_share / base.size_share;
        let time = (mine.pack_ns + mine.unpack_ns) / (base.pack_ns + base.unpack_ns);
        if size > 1.0 || time > 1.0 {
            let name = &all[baseline].candidate;
            all[index].eliminated_by = Some(format!(
                "baseline: {:.0} % of the size and {:.0} % of the time of {name}",
                100.0 * size,
                100.0 * time,
            ));
        }
    }
}

/// Whether a candidate may stand on the front: what is worse than the baseline in one way may be
/// better than everything in the other.
fn is_compared(tracked: &Tracked) -> bool {
    tracked.eliminated_by.as_ref().is_none_or(|rule| rule.starts_with("baseline: "))
}

/// The candidates of a sheet that no other beats in both size and time, smallest first.
pub fn front(all: &[Tracked], sheet: &Sheet) -> Vec<usize> {
    let mut by_size: Vec<(usize, f64, f64)> = sheet
        .rows
        .keys()
        .filter(|&&index| is_compared(&all[index]))
        .filter_map(|&index| {
            let measured = sheet.measured(index)?;
            Some((index, measured.size_share, measured.pack_ns + measured.unpack_ns))
        })
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

#[cfg(test)]
mod tests;
