//! An evaluation from start to end: candidates, the three stages, the choice.
//!
//! What chooses the winner does not report it: dictionaries are trained on one part of the
//! payloads, the winner is chosen on a second and told on a third. What was measured is turned into
//! the model in `evaluation/assemble.rs` and nowhere else, so that every report says the same.

mod advice;
mod assemble;
mod classes;
mod models;
mod noise;
mod reasons;
mod recall;
mod stages;
mod trials;

use std::sync::Arc;

use cinch_core::schema::Schema;

use crate::behind::Behind;
use crate::bootstrap::{RESAMPLES, Resamples};
use crate::budget::Budget;
use crate::candidate::{Candidate, CandidateError, Wanted, candidates, controls, parse_encodings};
use crate::capacity::Capacity;
use crate::corpus::Corpus;
use crate::decision::{self, Decision};
use crate::dictionaries;
use crate::goal::Goal;
use crate::groups::{Groups, near_duplicates};
use crate::host::Host;
use crate::link::Link;
use crate::measure::{Launch, Plan, Setting, TimedFrom, Tracked, Watch};
use crate::memory::{Memory, Recalled};
use crate::model::{Evaluation, StageTwo};
use crate::schemas::{self, Schemas};
use crate::select;
use crate::sheet::Sheet;
use crate::split::{Split, SplitBy, split};

/// What the user asked for.
pub struct Request<'a> {
    /// The name of the corpus in titles.
    pub name: &'a str,
    /// The goal.
    pub goal: &'static Goal,
    /// Bounds that a trial has to keep.
    pub budgets: Vec<Budget>,
    /// What factors compare with; `None` is `json+zlib:6`, or `verbatim+zlib:6` for payloads that
    /// are no JSON.
    pub baseline: Option<Candidate>,
    /// Whether what is larger or slower than the baseline is out.
    pub beat_baseline: bool,
    /// Which candidates.
    pub wanted: Wanted,
    /// Where the application's time starts and ends.
    pub from: TimedFrom,
    /// How the payloads are parted into those that train, choose and report; nothing does not
    /// part them, so that no dictionary is trained.
    pub split_by: Option<SplitBy>,
    /// About how many seconds the run may take.
    pub time_seconds: f64,
    /// The seed of every choice.
    pub seed: u64,
    /// How to start this program so that it serves [`crate::measure::serve`]; without it a trial
    /// that crashes ends the evaluation.
    pub launch: Option<Launch>,
    /// The link to model, if any.
    pub link: Option<Link>,
    /// The rate and disk to model, if any.
    pub capacity: Option<Capacity>,
    /// The stores that compress already, to model what is left to gain.
    pub behind: Vec<&'static Behind>,
    /// Schemas that the user has, at most one of each language; others are inferred.
    pub schemas: Vec<Arc<Schema>>,
    /// An older run to compare with, if any.
    pub against: Option<Evaluation>,
    /// Where it is remembered what was recommended, if anywhere.
    pub memory: Option<Memory>,
}

/// Everything the stages left behind, for the model to be made of.
struct Measured<'a> {
    request: &'a Request<'a>,
    corpus: &'a Corpus,
    groups: Groups,
    split: Split,
    plan: Plan,
    all: Vec<Tracked>,
    baseline: usize,
    controls: Vec<usize>,
    timed: Vec<usize>,
    whole: Vec<usize>,
    /// The finalists on the payloads that choose.
    chosen: Sheet,
    /// The finalists on the payloads that report; the same where there was no split.
    reported: Sheet,
    resamples: Resamples,
    schemas: Schemas,
    decision: Decision,
    /// What was recommended last time, where this was asked before.
    before: Option<Before>,
    counts: Counts,
    notices: Vec<String>,
    host: [Host; 2],
    interrupted: bool,
}

/// What was recommended the last time that the same was asked.
struct Before {
    recalled: Recalled,
    /// Its trial, where it could be made again.
    index: Option<usize>,
}

#[derive(Default)]
struct Counts {
    stage1_payloads: usize,
    stage2_payloads: usize,
    stage_seconds: [f64; 3],
    stage2: StageTwo,
    training_seconds: f64,
    /// How much longer calls took in the noisier half of the rounds.
    unsteadiness: f64,
}

/// Up to so many candidates of codecs that the user names are all timed.
const NAMED_TIMED_MAX: usize = 64;

/// Fast levels lie close together, so more of them are timed where only time counts.
const FAST_FINALISTS: usize = 28;

/// Evaluates a corpus. When the watch's stop flag is set, what was measured so far is the answer.
///
/// # Errors
/// Where the request names candidates that do not exist.
pub fn evaluate(
    corpus: &Corpus,
    request: &Request<'_>,
    watch: &mut Watch<'_>,
) -> Result<Evaluation, CandidateError> {
    let host = Host::read();
    let any_json = corpus.payloads.iter().any(|payload| payload.is_json);
    let baseline = match &request.baseline {
        Some(baseline) => baseline.clone(),
        None if any_json => Candidate::parse("json+zlib:6")?,
        None => Candidate::parse("verbatim+zlib:6")?,
    };
    let mut wanted = request.wanted.clone();
    if !any_json && wanted.encodings.is_none() {
        wanted.encodings = Some(parse_encodings("verbatim")?);
    }
    let groups = near_duplicates(corpus);
    let mut split = match request.split_by {
        Some(by) => split(corpus, &groups, by, request.seed),
        None => whole(corpus),
    };
    let mut notices: Vec<String> = split.notice.iter().cloned().collect();
    let mut candidates = candidates(&wanted, request.goal, &baseline)?;
    let count = candidates.len();
    let is_inferred = !wanted.no_schema && split.by.is_some();
    candidates.retain(|candidate| {
        let is_given = |schema: &Arc<Schema>| {
            schemas::language_of(candidate.encoding) == Some(schema.language())
        };
        !candidate.encoding.needs_schema || is_inferred || request.schemas.iter().any(is_given)
    });
    if candidates.len() < count && !wanted.no_schema {
        notices
            .push("No schema was inferred: there are too few payloads to learn one from.".into());
    }
    let find = |wanted: &Candidate| candidates.iter().position(|found| found == wanted);
    let controls: Vec<usize> = controls()?.iter().filter_map(find).collect();
    let base = baseline;
    let baseline = find(&base).unwrap_or_default();
    let any_slow = candidates.iter().any(Candidate::is_slow);
    let goal = request.goal;
    let mut plan = Plan::of_time(request.time_seconds, goal.wants_slow, any_slow);
    if goal.wants_fast {
        plan.finalists = plan.finalists.max(FAST_FINALISTS);
    }
    if wanted.codecs.is_some() && (wanted.all || candidates.len() <= NAMED_TIMED_MAX) {
        // Whoever names codecs wants to see their times.
        plan.finalists = usize::MAX;
    }
    let tracked = |candidate: &Candidate| Tracked {
        is_asked: wanted.includes(candidate),
        ..Tracked::new(candidate.clone())
    };
    let all = candidates.iter().map(tracked).collect();
    let mut measured = Measured {
        request,
        corpus,
        plan,
        all,
        baseline,
        controls,
        timed: Vec::new(),
        whole: Vec::new(),
        chosen: Sheet::default(),
        reported: Sheet::default(),
        resamples: Resamples::new(&[], 0, request.seed),
        schemas: Schemas::default(),
        decision: Decision::default(),
        before: None,
        counts: Counts::default(),
        notices: Vec::new(),
        host: [host.clone(), host],
        interrupted: false,
        groups,
        split: Split {
            train: Vec::new(),
            select: Vec::new(),
            report: Vec::new(),
            by: None,
            notice: None,
        },
    };
    if !wanted.no_schema && !watch.stopped() {
        let training = if split.by.is_some() { &split.train[..] } else { &[] };
        measured.schemas = Schemas::of(corpus, training, &candidates, &request.schemas);
        measured.counts.training_seconds += measured.schemas.seconds;
        for tracked in &mut measured.all {
            measured.schemas.attach(&mut tracked.candidate);
        }
    }
    let trains = split.by.is_some() && !wanted.no_dictionary && !watch.stopped();
    if trains {
        watch.progress.begin("training", 1);
        let asked: Vec<Candidate> = measured
            .all
            .iter()
            .map(|tracked| tracked.candidate.clone())
            .filter(|candidate| wanted.includes(candidate))
            .collect();
        let schemas = &measured.schemas.found;
        let training = dictionaries::learn(
            corpus,
            &measured.groups,
            &split.train,
            &asked,
            schemas,
            wanted.all,
        );
        measured.counts.training_seconds += training.seconds;
        if training.candidates.is_empty()
            && let Some(trouble) = training.trouble
        {
            notices.push(format!("No dictionary was tried: {trouble}."));
        }
        measured.all.extend(training.candidates.into_iter().map(Tracked::new));
        watch.progress.advance(1);
    }
    let is_trained = measured.all.iter().any(|tracked| tracked.candidate.learned.is_some())
        || measured.schemas.payloads > 0;
    if !is_trained {
        // Nothing trains, so what would have trained may choose.
        let train = std::mem::take(&mut split.train);
        if split.by.is_some() {
            split.select.extend(train);
            split.select.sort_unstable();
        }
    }
    measured.split = split;
    measured.notices = notices;
    let asked = request.memory.as_ref().map(|memory| {
        let processor = &measured.host[0].processor;
        (memory, recall::question(corpus, request, &wanted, &base, processor))
    });
    if let Some((memory, question)) = &asked {
        measured.recall(memory, question, &wanted);
    }
    select::eliminate_unusable(&mut measured.all, wanted.portable, wanted.no_schema);
    measured.run(&wanted, watch);
    let winner = measured.winner().map(|winner| measured.all[winner].candidate.clone());
    let mut evaluation = assemble::model(measured);
    // What was cut short has not seen all that might have won.
    if let Some((memory, question)) = asked.filter(|_| !evaluation.run.interrupted) {
        let kept = match winner {
            Some(winner) => memory.keep(&question, &winner),
            None => memory.forget(&question),
        };
        let note = |error| format!("What is recommended can't be remembered: {error}.");
        evaluation.run.notices.extend(kept.err().map(note));
    }
    Ok(evaluation)
}

/// No split: every part is all of the payloads.
fn whole(corpus: &Corpus) -> Split {
    let every: Vec<usize> = (0..corpus.payloads.len()).collect();
    let (train, select) = (every.clone(), every.clone());
    Split { train, select, report: every, by: None, notice: None }
}

impl<'a> Measured<'a> {
    /// What the stages are given.
    fn setting(&self) -> Setting<'a> {
        Setting {
            corpus: self.corpus,
            from: self.request.from,
            seed: self.request.seed,
            launch: self.request.launch.as_ref(),
        }
    }

    /// The baseline and the controls, which go through every stage.
    fn always(&self) -> Vec<usize> {
        let mut always = self.controls.clone();
        always.push(self.baseline);
        always.sort_unstable();
        always.dedup();
        always
    }

    /// The recommended trial.
    fn winner(&self) -> Option<usize> {
        self.decision.ranked.first().copied()
    }

    /// The decision as far as it is known.
    fn decide(&self, resamples: &Resamples) -> Decision {
        let pays = |index: usize| select::may_pay(&self.all[index]);
        let before = self.before.as_ref().and_then(|before| before.index);
        decision::decide(&self.all, &self.chosen, pays, self.request.goal, resamples, before)
    }

    /// The trial that comes next.
    fn runner_up(&self) -> Option<usize> {
        self.decision.ranked.get(1).copied()
    }

    /// Resamples for intervals over these payloads, by their groups.
    fn resamples(&self, payloads: &[usize]) -> Resamples {
        let groups: Vec<u32> = payloads.iter().map(|&index| self.groups.of[index]).collect();
        Resamples::new(&groups, RESAMPLES, self.request.seed)
    }
}

#[cfg(test)]
mod tests;
