//! What was recommended when the same was asked before: how it takes part again, and what is said
//! of it.
//!
//! It is measured like every other trial and stays only in a tie with the best of this run, so that
//! remembering can hide noise and never a change.

use super::assemble::versions;
use super::{Before, Measured, Request};
use crate::bootstrap::Interval;
use crate::candidate::{Candidate, Wanted};
use crate::corpus::Corpus;
use crate::measure::Tracked;
use crate::memory::{Memory, Question, corpus_sha256};
use crate::model::Remembered;
use crate::report::human;
use crate::select;

/// What this run is asked.
pub(super) fn question(
    corpus: &Corpus,
    request: &Request<'_>,
    wanted: &Wanted,
    baseline: &Candidate,
    processor: &str,
) -> Question {
    let encodings = wanted.encodings.as_ref();
    let codecs = wanted.codecs.as_ref();
    Question {
        corpus_sha256: corpus_sha256(corpus),
        goal: request.goal.name.to_owned(),
        from: request.from.name().to_owned(),
        seed: request.seed,
        time_ms: (request.time_seconds * 1e3) as u64,
        split_by: request.split_by.map(|by| by.name().to_owned()),
        budgets: request.budgets.iter().map(ToString::to_string).collect(),
        baseline: baseline.to_string(),
        beat_baseline: request.beat_baseline,
        encodings: encodings.map(|named| named.iter().map(|one| one.name.to_owned()).collect()),
        codecs: codecs.map(|named| named.iter().map(ToString::to_string).collect()),
        all: wanted.all,
        portable: wanted.portable,
        no_schema: wanted.no_schema,
        no_dictionary: wanted.no_dictionary,
        versions: versions().into_iter().map(|found| (found.name, found.version)).collect(),
        processor: processor.to_owned(),
    }
}

impl Measured<'_> {
    /// Looks up what was recommended last time, and sees to it that it is tried again: the search
    /// follows times, so that it might not have come there by itself.
    pub(super) fn recall(&mut self, memory: &Memory, question: &Question, wanted: &Wanted) {
        let recalled = match memory.recall(question) {
            Ok(Some(recalled)) => recalled,
            Ok(None) => return,
            Err(error) => {
                self.notices.push(format!("What was recommended last time is not known: {error}."));
                return;
            }
        };
        let known = self.all.iter().map(|tracked| &tracked.candidate);
        let candidate = recalled.candidate(known).filter(|found| wanted.includes(found));
        let index = candidate.map(|candidate| {
            // What a dictionary gains can be told only beside the same trial without one.
            self.place_of(candidate.without_dictionary());
            self.place_of(candidate)
        });
        self.before = Some(Before { recalled, index });
    }

    /// Where a candidate stands among all, which it joins where it is new.
    fn place_of(&mut self, candidate: Candidate) -> usize {
        let known = self.all.iter().position(|tracked| tracked.candidate == candidate);
        known.unwrap_or_else(|| {
            self.all.push(Tracked::new(candidate));
            self.all.len() - 1
        })
    }
}

/// What the model says of the last recommendation. A run that was cut short can't tell that it
/// lost.
pub(super) fn remembered(measured: &Measured<'_>) -> Option<Remembered> {
    let before = measured.before.as_ref()?;
    let decision = &measured.decision;
    let winner = measured.winner();
    let is_kept = before.index.is_some() && before.index == winner;
    if measured.interrupted && !is_kept {
        return None;
    }
    let name = |index: usize| measured.all[index].candidate.to_string();
    let said = Remembered {
        name: before.recalled.name.clone(),
        at: humantime::format_rfc3339_seconds(before.recalled.at).to_string(),
        is_kept,
        ..Remembered::default()
    };
    if is_kept {
        let anew = decision.anew.filter(|&anew| Some(anew) != winner).map(name);
        return Some(Remembered { anew, ..said });
    }
    let why = before.index.map_or_else(
        || Some("its dictionary is no longer learned".to_owned()),
        |index| why_out(&measured.all[index]),
    );
    let goal = measured.request.goal;
    let paired =
        before.index.zip(decision.best).filter(|_| why.is_none()).and_then(|(index, best)| {
            measured.chosen.paired(index, best, goal, &measured.resamples)
        });
    Some(Remembered {
        out_by: why,
        best: paired.as_ref().and(decision.best).map(name),
        behind: paired.as_ref().map(|paired| paired.score_difference.exp_m1()),
        behind_interval: paired.as_ref().map(|paired| shares(&paired.score_interval)),
        ..said
    })
}

/// Why a trial could not win, whatever its score.
fn why_out(tracked: &Tracked) -> Option<String> {
    // Who is dominated is told of what has lost, and takes nothing out of the decision.
    let rule = tracked.eliminated_by.clone().filter(|rule| !rule.starts_with("dominated: "));
    rule.or_else(|| {
        let share = tracked.size_share();
        (!select::may_pay(tracked))
            .then(|| format!("it stores {} of the bytes", human::percent(share)))
    })
}

/// Differences of scores as shares: 0.05 is 5 % behind.
fn shares(interval: &Interval) -> Interval {
    match interval.low.is_finite() && interval.high.is_finite() {
        true => Interval { low: interval.low.exp_m1(), high: interval.high.exp_m1() },
        false => Interval::UNKNOWN,
    }
}

/// The same as a sentence.
pub(super) fn sentence(measured: &Measured<'_>) -> Option<String> {
    let remembered = remembered(measured)?;
    let Remembered { name, at, .. } = &remembered;
    // Minutes tell two runs apart, and `T` and seconds only make a date harder to read.
    let at = format!("{} UTC", at.chars().take(16).collect::<String>().replace('T', " "));
    if remembered.is_kept {
        let place = match measured.decision.ties.len() {
            0 | 1 => "still the best",
            _ => "still in the tie",
        };
        let alone = remembered.anew.map_or_else(String::new, |anew| {
            format!(" This run alone would have named {anew}; a change would gain nothing.")
        });
        return Some(format!("As in the run of {at}: {place}.{alone}"));
    }
    let lost = match (remembered.behind, &remembered.behind_interval, &remembered.best) {
        (Some(behind), Some(interval), Some(best)) => {
            let bounds = match interval.low.is_finite() {
                true => format!(" ({})", human::percent_interval(interval.low, interval.high)),
                false => String::new(),
            };
            format!(
                "is now {}{bounds} behind {best} under the goal, which is more than a tie",
                human::percent(behind),
            )
        }
        _ => match &remembered.out_by {
            Some(why) => format!("is out now ({why})"),
            None => "was not timed this time".to_owned(),
        },
    };
    Some(format!("It changed since the run of {at}: {name}, which was recommended then, {lost}."))
}
