//! Who wins, and who can't be told from the winner.
//!
//! Scores that contain times move by some percent from one run to the next, so what is best by its
//! score is chance among several. A tie names those, and one of them is preferred by what no clock
//! can move. Which trials are in a tie still depends on times, at its border; the preference is
//! therefore for what lies deep in a tie and not for what just came in.

use std::cmp::Ordering;

use cinch_core::document::Fidelity;

use crate::bootstrap::{Interval, Resamples};
use crate::goal::Goal;
use crate::measure::Tracked;
use crate::sheet::{Sheet, is_tie};

/// A winner is borderline where moving the bound of a tie by this share of it gives another: about
/// what the difference of two scores moves from one run to the next.
const BORDER_SHARE: f64 = 0.25;

/// Who won, and who can't be told from it.
#[derive(Debug, Clone, Default)]
pub struct Decision {
    /// What is still in and pays, best first; the winner is the first.
    pub ranked: Vec<usize>,
    /// Those that can't be told from the one with the best score, the winner among them.
    pub ties: Vec<usize>,
    /// Whether a slightly different bound of a tie would have made another one the winner.
    pub is_borderline: bool,
    /// The one with the best score.
    pub best: Option<usize>,
    /// The one that would win if none had won before.
    pub anew: Option<usize>,
}

/// Ranks what was asked for, is still in and pays by its score. Among those that can't be told from
/// the best, the one that won `before` wins again, because a change that gains nothing costs
/// something. Otherwise each encoding and codec, with a dictionary and without, is stood for by
/// its [`simplest`] trial, and of these the higher fidelity wins, then the one without a
/// dictionary, then the smallest: all of which are the same in every run.
pub fn decide(
    all: &[Tracked],
    sheet: &Sheet,
    is_paying: impl Fn(usize) -> bool,
    goal: &Goal,
    resamples: &Resamples,
    before: Option<usize>,
) -> Decision {
    let mut scored: Vec<(usize, f64)> = sheet
        .rows
        .keys()
        .filter(|&&index| all[index].eliminated_by.is_none() && all[index].is_asked)
        .filter(|&&index| is_paying(index))
        .filter_map(|&index| Some((index, sheet.score(index, goal)?)))
        .collect();
    scored.sort_by(|a, b| a.1.total_cmp(&b.1));
    let Some(&(best, _)) = scored.first() else { return Decision::default() };
    let differences: Vec<(usize, f64, Interval)> = scored
        .iter()
        .filter_map(|&(index, _)| {
            let paired = sheet.paired(index, best, goal, resamples)?;
            Some((index, paired.score_difference, paired.score_interval))
        })
        .collect();
    let tied = |bound: f64| -> Vec<usize> {
        differences
            .iter()
            .filter(|&&(index, difference, ref interval)| {
                index == best || is_tie(difference, interval, bound)
            })
            .map(|&(index, ..)| index)
            .collect()
    };
    let anew = |tied: &[usize]| preferred(all, sheet, goal, tied);
    let again = |tied: &[usize]| before.filter(|before| tied.contains(before));
    let ties = tied(goal.tie);
    let winner = again(&ties).or_else(|| anew(&ties));
    let border = BORDER_SHARE * goal.tie;
    let is_borderline = [goal.tie - border, goal.tie + border].into_iter().any(|bound| {
        let tied = tied(bound);
        again(&tied).or_else(|| anew(&tied)) != winner
    });
    let anew = anew(&ties);
    let mut ranked: Vec<usize> = scored.into_iter().map(|(index, _)| index).collect();
    ranked.sort_by_key(|&index| Some(index) != winner);
    Decision { ranked, ties, is_borderline, best: Some(best), anew }
}

/// The one of these that is preferred where no figure of the goal tells them apart.
fn preferred(all: &[Tracked], sheet: &Sheet, goal: &Goal, tied: &[usize]) -> Option<usize> {
    let family = |index: usize| {
        let candidate = &all[index].candidate;
        (candidate.encoding.name, candidate.codec.name(), candidate.learned.is_some())
    };
    let stands_for_its_family = |&index: &usize| {
        let mut others = tied.iter().filter(|&&other| family(other) == family(index));
        !goal.wants_fast || others.all(|&other| simplest(all, index, other).is_le())
    };
    tied.iter()
        .copied()
        .filter(stands_for_its_family)
        .min_by(|&a, &b| between_families(all, sheet, a, b))
}

/// Which of two of the same encoding and codec is simpler: `Less` for the first. A smaller
/// dictionary comes first, then a lower level. Levels were made to be faster the lower they are, so
/// that a goal for time alone has its best there, and the border of a tie at the other end.
fn simplest(all: &[Tracked], a: usize, b: usize) -> Ordering {
    let simplicity = |index: usize| {
        let candidate = &all[index].candidate;
        let dictionary_bytes = candidate.dictionary().map_or(0, |found| found.bytes().len());
        (dictionary_bytes, candidate.codec.level, index)
    };
    simplicity(a).cmp(&simplicity(b))
}

/// Which of two that are tied is preferred: `Less` for the first.
fn between_families(all: &[Tracked], sheet: &Sheet, a: usize, b: usize) -> Ordering {
    let fidelity = |index: usize| -> Fidelity { all[index].candidate.encoding.fidelity };
    let size = |index: usize| -> f64 {
        sheet.rows.get(&index).map_or(f64::INFINITY, |row| row.packed_bytes.iter().sum())
    };
    let has_dictionary = |index: usize| all[index].candidate.learned.is_some();
    fidelity(b)
        .cmp(&fidelity(a))
        .then(has_dictionary(a).cmp(&has_dictionary(b)))
        .then(size(a).total_cmp(&size(b)))
        .then(a.cmp(&b))
}

#[cfg(test)]
mod tests;
