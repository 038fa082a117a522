//! An evaluation from start to end: candidates, the three stages, the choice.
//!
//! What was measured is turned into the model in `evaluation/assemble.rs` and nowhere else, so that
//! every report says the same.

mod assemble;
mod reasons;

use std::sync::atomic::Ordering;
use std::time::Instant;

use crate::budget::Budget;
use crate::candidate::{Candidate, CandidateError, Wanted, candidates, controls};
use crate::corpus::Corpus;
use crate::goal::Goal;
use crate::measure::{self, From, Plan, Tracked, Watch};
use crate::model::Evaluation;
use crate::select;

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
    /// Which candidates.
    pub wanted: Wanted,
    /// Where the application's time starts and ends.
    pub from: From,
    /// About how many seconds the run may take.
    pub time_seconds: f64,
    /// The seed of every choice.
    pub seed: u64,
}

/// Everything the stages left behind, for the model to be made of.
struct Measured<'a> {
    request: &'a Request<'a>,
    corpus: &'a Corpus,
    all: Vec<Tracked>,
    baseline: usize,
    controls: Vec<usize>,
    timed: Vec<usize>,
    whole: Vec<usize>,
    winner: Option<usize>,
    runner_up: Option<usize>,
    counts: Counts,
    interrupted: bool,
}

#[derive(Default)]
struct Counts {
    stage1_payloads: usize,
    stage2_payloads: usize,
    stage_seconds: [f64; 3],
}

/// Evaluates a corpus. When the watch's stop flag is set, what was measured so far is the answer.
///
/// # Errors
/// Where the request names candidates that do not exist.
pub fn evaluate(
    corpus: &Corpus,
    request: &Request<'_>,
    watch: &mut Watch<'_>,
) -> Result<Evaluation, CandidateError> {
    let any_json = corpus.payloads.iter().any(|payload| payload.is_json);
    let baseline = match &request.baseline {
        Some(baseline) => baseline.clone(),
        None if any_json => Candidate::parse("json+zlib:6")?,
        None => Candidate::parse("verbatim+zlib:6")?,
    };
    let mut wanted = request.wanted.clone();
    if !any_json && wanted.encodings.is_none() {
        wanted.encodings = Some(crate::candidate::parse_encodings("verbatim")?);
    }
    let candidates = candidates(&wanted, request.goal, &baseline)?;
    let find = |wanted: &Candidate| candidates.iter().position(|found| found == wanted);
    let control_places: Vec<usize> = controls()?.iter().filter_map(find).collect();
    let baseline = find(&baseline).unwrap_or_default();
    let mut measured = Measured {
        request,
        corpus,
        all: candidates.iter().cloned().map(Tracked::new).collect(),
        baseline,
        controls: control_places,
        timed: Vec::new(),
        whole: Vec::new(),
        winner: None,
        runner_up: None,
        counts: Counts::default(),
        interrupted: false,
    };
    if wanted.portable {
        select::eliminate_unportable(&mut measured.all);
    }
    measured.run(watch);
    Ok(assemble::model(measured))
}

impl Measured<'_> {
    /// The baseline and the controls, which go through every stage.
    fn always(&self) -> Vec<usize> {
        let mut always = self.controls.clone();
        always.push(self.baseline);
        always.sort_unstable();
        always.dedup();
        always
    }

    fn run(&mut self, watch: &mut Watch<'_>) {
        let Request { goal, from, seed, .. } = *self.request;
        let plan =
            Plan::of_time(self.request.time_seconds, self.request.wanted.all, goal.wants_slow);

        let start = Instant::now();
        self.counts.stage1_payloads =
            measure::size_all(self.corpus, &mut self.all, &plan, from, seed, watch);
        select::eliminate_unfit(&mut self.all);
        self.counts.stage_seconds[0] = start.elapsed().as_secs_f64();

        let start = Instant::now();
        let always = self.always();
        self.timed = select::finalists(&mut self.all, goal, &always, plan.finalists);
        if !watch.stopped() {
            let (all, timed) = (&mut self.all, &self.timed);
            self.counts.stage2_payloads =
                measure::time_finalists(self.corpus, all, timed, &plan, from, seed, watch);
        }
        select::eliminate_unfit(&mut self.all);
        select::eliminate_over_budget(&mut self.all, &self.timed, &self.request.budgets, from);
        self.counts.stage_seconds[1] = start.elapsed().as_secs_f64();

        let start = Instant::now();
        self.whole_corpus(&plan, watch);
        self.counts.stage_seconds[2] = start.elapsed().as_secs_f64();
        self.interrupted = watch.stop.load(Ordering::Relaxed);
    }

    /// Stage 3, again for every new winner until one comes through it sound.
    fn whole_corpus(&mut self, plan: &Plan, watch: &mut Watch<'_>) {
        let Request { goal, from, seed, .. } = *self.request;
        let mut pending =
            select::for_whole_corpus(&self.all, &self.timed, goal, from, &self.always());
        while !pending.is_empty() && !watch.stopped() {
            let (corpus, all) = (self.corpus, &mut self.all);
            measure::whole_corpus(corpus, all, &pending, plan, from, seed, watch);
            self.whole.append(&mut pending);
            select::eliminate_unfit(&mut self.all);
            let ranked = select::ranked(&self.all, &self.timed, goal, from);
            pending.extend(ranked.first().filter(|best| !self.whole.contains(best)));
            if pending.is_empty()
                && let Some(&best) = ranked.first()
                && !measure::check_rest(corpus, &mut self.all[best], from, watch)
            {
                select::eliminate_unfit(&mut self.all);
                let ranked = select::ranked(&self.all, &self.timed, goal, from);
                pending.extend(ranked.first());
            }
        }
        // What ran over the whole corpus is ranked by it, and before what did not.
        let mut ranked = select::ranked(&self.all, &self.timed, goal, from);
        ranked.sort_by_key(|index| !self.whole.contains(index));
        let mut ranked = ranked.into_iter();
        self.winner = ranked.next();
        self.runner_up = ranked.next();
    }
}

#[cfg(test)]
mod tests;
