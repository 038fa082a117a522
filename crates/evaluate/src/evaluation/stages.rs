//! The three stages: sizes of every candidate on a small sample and a closer look around the best,
//! times of the finalists in turns, and the best over the whole corpus.

use std::sync::atomic::Ordering;
use std::time::Instant;

use super::Measured;
use crate::budget::Budget;
use crate::candidate::{Candidate, Wanted, around, fast_end};
use crate::host::Host;
use crate::measure::{
    self, BLOCK_BYTES, CallLog, Evictor, Job, Stage, Times, Tracked, Turns, Watch,
};
use crate::select;
use crate::sheet::{Sheet, figures};
use crate::statistics::stratified;

/// How often stage 1 looks around the best it knows.
const CLOSER_LOOKS: usize = 3;

/// Around how many of the best, each of another codec, it looks, and how many of those it tries
/// with the other encodings.
const CLOSER_CODECS: usize = 3;
const CLOSER_WITH_ENCODINGS: usize = 2;

/// The same where size counts more than the time of a run: large lists, where a dictionary is of no
/// use, have their best with an encoding and a codec that nobody would have guessed.
const CLOSER_CODECS_SLOW: usize = 5;

/// A goal for time alone looks at every fast level of what is at most this much, as a difference of
/// scores, behind the best: factor 4.
const FAST_END: f64 = 1.39;

/// So many of the best of stage 1 are timed in turns before the finalists are chosen among them:
/// stage 1 times each only once or twice, and beside others.
const QUALIFYING_MAX: usize = 48;

/// How much they are timed on.
const QUALIFYING_PAYLOADS: usize = 64;
const QUALIFYING_BYTES: usize = 256 << 10;
const QUALIFYING_ROUNDS: usize = 3;

/// How many of the best go through stage 3 beside the front, the baseline and the controls.
const WHOLE_BEST: usize = 4;

/// Small payloads are timed in more rounds, but at most this many times the usual.
const ROUNDS_FACTOR_MAX: usize = 4;

/// Payloads of fewer bytes together than this are timed in more rounds again, the fewer the more,
/// between these factors: else starting processes for first calls would take longer than measuring,
/// and a call of a microsecond would not be told from its neighbour's.
const TINY_BYTES: usize = 512 << 10;
const TINY_FACTOR_MIN: usize = 8;
const TINY_FACTOR_MAX: usize = 24;

/// Rounds that are added at a time while the winner is borderline.
const EXTRA_ROUNDS: usize = 2;

/// Of more finalists than this, which takes `--all`, only the best get first calls and regimes.
const DETAILED_MAX: usize = 64;

/// With `--all`, what stage 1 sees at most this many ties behind the best is among the finalists:
/// its sample is small, and a tie is told by the interval.
const NEAR_TIES: f64 = 1.5;

/// The same where times have a part in the score, which stage 1 takes once or twice and beside
/// others: factor 4. What is further behind can't be the best, and thousands of trials that take
/// turns would find nothing of theirs in the processor's caches.
const NEAR_IN_TIME: f64 = 1.39;

/// So many are finalists because they are near the best: each has contexts of up to some megabytes.
const NEAR_MAX: usize = 512;

/// The same with levels of a megabyte a second among them.
const NEAR_MAX_SLOW: usize = 96;

/// Whose score is further than this from the best has no part in added rounds.
const CONTENDER: f64 = 0.15;

impl Measured<'_> {
    pub(super) fn run(&mut self, wanted: &Wanted, watch: &mut Watch<'_>) {
        let start = Instant::now();
        let ranked = self.sizes(wanted, watch);
        self.counts.stage_seconds[0] = start.elapsed().as_secs_f64();

        let start = Instant::now();
        self.times(&ranked, wanted, watch);
        let seconds = start.elapsed().as_secs_f64();
        self.counts.stage_seconds[1] = seconds;
        let stage2 = &mut self.counts.stage2;
        let timing = seconds - stage2.comparison_seconds;
        stage2.other_seconds = (timing - stage2.measured_seconds).max(0.0);
        stage2.overhead_share = stage2.other_seconds / timing.max(1e-9);

        let start = Instant::now();
        self.whole_corpus(watch);
        self.counts.stage_seconds[2] = start.elapsed().as_secs_f64();
        self.interrupted = watch.stop.load(Ordering::Relaxed);
    }

    /// A stratified choice of some payloads, the same for every candidate.
    fn choose(&self, from: &[usize], count: usize, bytes_max: usize) -> Vec<usize> {
        let sizes: Vec<usize> =
            from.iter().map(|&index| self.corpus.payloads[index].bytes.len()).collect();
        let chosen = stratified(&sizes, count, bytes_max, self.request.seed);
        chosen.into_iter().map(|place| from[place]).collect()
    }

    /// This many payloads, or as many more as a turn takes where nothing but time counts: in a turn
    /// of a few microseconds what has large tables is slower than it is, and would not be a
    /// finalist.
    fn enough(&self, count: usize) -> usize {
        let sizes = self.split.select.iter().map(|&index| self.corpus.payloads[index].bytes.len());
        let mean_bytes = sizes.sum::<usize>() / self.split.select.len().max(1);
        match self.request.goal.wants_fast {
            true => count.max(BLOCK_BYTES / mean_bytes.max(1)),
            false => count,
        }
    }

    fn jobs(&self, candidates: &[usize], payloads: &[usize]) -> Vec<Job> {
        let jobs = |&candidate: &usize| Job::all(self.corpus, candidate, payloads);
        candidates.iter().flat_map(jobs).collect()
    }

    /// Stage 1. Returns what is still in and pays, the best first.
    fn sizes(&mut self, wanted: &Wanted, watch: &mut Watch<'_>) -> Vec<usize> {
        let (count, bytes) = (self.plan.stage1_payloads, self.plan.stage1_bytes);
        let sample = self.choose(&self.split.select, self.enough(count), bytes);
        self.counts.stage1_payloads = sample.len();
        // What has no schema after all (none of the payloads that train were JSON) can't be tried.
        let is_tried = |index: &usize| {
            let candidate = &self.all[*index].candidate;
            !candidate.encoding.needs_schema || candidate.schema.is_some()
        };
        let mut new: Vec<usize> = (0..self.all.len()).filter(is_tried).collect();
        for look in 0..=CLOSER_LOOKS {
            let jobs = self.jobs(&new, &sample);
            watch
                .progress
                .begin(if look == 0 { "sizes" } else { "a closer look" }, jobs.len() as u64);
            measure::size(&self.setting(), &mut self.all, &jobs, true, watch);
            select::eliminate_unfit(&mut self.all);
            select::eliminate_useless_dictionaries(&mut self.all);
            let is_narrowed = wanted.all || wanted.codecs.is_some();
            if is_narrowed || watch.stopped() || look == CLOSER_LOOKS {
                break;
            }
            new = self.look_closer(wanted);
            if new.is_empty() {
                break;
            }
        }
        self.qualify(&sample, watch)
    }

    /// Adds the neighbours of the best candidates, and returns which are new.
    fn look_closer(&mut self, wanted: &Wanted) -> Vec<usize> {
        let goal = self.request.goal;
        let (codecs, with_encodings) = match goal.wants_slow {
            true => (CLOSER_CODECS_SLOW, CLOSER_CODECS_SLOW),
            false => (CLOSER_CODECS, CLOSER_WITH_ENCODINGS),
        };
        let mut best: Vec<usize> = Vec::new();
        for index in select::by_first_look(&self.all, goal, self.request.from) {
            let kind = |index: usize| {
                let candidate = &self.all[index].candidate;
                (candidate.codec.name(), candidate.learned.is_some())
            };
            if best.len() < codecs && !best.iter().any(|&other| kind(other) == kind(index)) {
                best.push(index);
            }
        }
        let start = self.all.len();
        if goal.wants_fast {
            self.look_at_the_fast_end();
        }
        for (place, index) in best.into_iter().enumerate() {
            let with_encodings = place < with_encodings && wanted.encodings.is_none();
            for mut candidate in around(&self.all[index].candidate, goal.wants_slow, with_encodings)
            {
                self.schemas.attach(&mut candidate);
                let lacks_schema = candidate.encoding.needs_schema && candidate.schema.is_none();
                if !lacks_schema && !self.all.iter().any(|known| known.candidate == candidate) {
                    self.all.push(Tracked::new(candidate));
                }
            }
        }
        select::eliminate_unusable(&mut self.all, wanted.portable, wanted.no_schema);
        (start..self.all.len()).collect()
    }

    /// Adds every fast level of each codec, and of each with each dictionary, that is not far
    /// behind the best: where payloads take microseconds, the single pass of stage 1 can't tell
    /// which level is fastest.
    fn look_at_the_fast_end(&mut self) {
        let (goal, from) = (self.request.goal, self.request.from);
        let score = |index: usize| (goal.score)(&select::first_look(&self.all[index], from));
        let ranked = select::by_first_look(&self.all, goal, from);
        let best_score = select::best_score(&self.all, &ranked, goal, from);
        let mut best: Vec<usize> = Vec::new();
        for index in ranked {
            let is_near = score(index) <= best_score + FAST_END;
            let kind = |index: usize| {
                let candidate = &self.all[index].candidate;
                (candidate.codec.name(), candidate.dictionary().map(|dictionary| dictionary.id()))
            };
            if is_near && !best.iter().any(|&other| kind(other) == kind(index)) {
                best.push(index);
            }
        }
        let levels: Vec<Candidate> =
            best.into_iter().flat_map(|index| fast_end(&self.all[index].candidate)).collect();
        for candidate in levels {
            if !self.all.iter().any(|known| known.candidate == candidate) {
                self.all.push(Tracked::new(candidate));
            }
        }
    }

    /// What is still in and pays, the best first, by times that were taken in turns where times
    /// have a part in the score.
    fn qualify(&mut self, sample: &[usize], watch: &mut Watch<'_>) -> Vec<usize> {
        let (goal, from) = (self.request.goal, self.request.from);
        let mut ranked = select::by_first_look(&self.all, goal, from);
        if !goal.is_timed || ranked.len() <= self.plan.finalists || watch.stopped() {
            return ranked;
        }
        let count = ranked.len().min(QUALIFYING_MAX);
        let best = &mut ranked[..count];
        let sample = self.choose(sample, self.enough(QUALIFYING_PAYLOADS), QUALIFYING_BYTES);
        let setting = self.setting();
        let mut turns = Turns::new(&setting, &self.all, best, &sample, "qualifying rounds");
        let rounds = self.rounds(QUALIFYING_ROUNDS, &sample);
        watch.progress.begin("a qualifying round", turns.units() * rounds as u64);
        turns.rounds(rounds, |_| true, watch);
        let mut times = vec![None; self.all.len()];
        turns.look(|index, quiet| {
            times[index] = figures(&self.all[index], quiet, from);
        });
        let sheet = Sheet::new(self.corpus, &sample, &self.all, best, |index| times[index].take());
        let score = |index: usize| sheet.score(index, goal).unwrap_or(f64::INFINITY);
        best.sort_by(|&a, &b| score(a).total_cmp(&score(b)));
        ranked
    }

    /// Stage 2, for the best of what is ranked.
    fn times(&mut self, ranked: &[usize], wanted: &Wanted, watch: &mut Watch<'_>) {
        let (goal, from) = (self.request.goal, self.request.from);
        let mut sure = self.always();
        // Whether it is still in the tie can be told of what is timed only.
        let before = self.before.as_ref().and_then(|before| before.index);
        sure.extend(before.filter(|before| !sure.contains(before)));
        let mut count = self.plan.finalists;
        if wanted.all {
            // Nobody who asks for everything wants a tie that names only some of those in it.
            let distance = if goal.is_timed { NEAR_IN_TIME } else { NEAR_TIES * goal.tie };
            let most = if goal.wants_slow { NEAR_MAX_SLOW } else { NEAR_MAX };
            let near = select::near(&self.all, ranked, distance, goal, from).min(most);
            count = count.max(select::count_with(near, sure.len()));
        }
        self.timed = select::finalists(&mut self.all, ranked, &sure, count);
        let (count, bytes) = (self.plan.stage2_payloads, self.plan.stage2_bytes);
        let choose = self.choose(&self.split.select, count, bytes);
        let report = match self.split.by {
            Some(_) => self.choose(&self.split.report, count, bytes),
            None => Vec::new(),
        };
        self.counts.stage2_payloads = choose.len();
        if watch.stopped() {
            return;
        }
        let start = Instant::now();
        self.check(&choose, &report, watch);
        self.counts.stage2.comparison_seconds = start.elapsed().as_secs_f64();

        // The processes that checked have ended, so what else uses a processor from here on is
        // a disturbance.
        self.host[0] = Host::read();
        self.time_the_choice(&choose, watch);
        // A budget on the first call has to be kept by every one of them.
        let is_bounded = self.request.budgets.iter().any(Budget::is_on_first_call);
        let called = if is_bounded { self.timed.clone() } else { self.families() };
        self.counts.stage2.measured_seconds += self.first_calls(&choose, &called, watch) / 1e9;
        self.resamples = self.resamples(&self.chosen.payloads);
        select::eliminate_over_budget(
            &mut self.all,
            &self.timed,
            &self.request.budgets,
            &self.resamples,
            from,
        );
        if self.request.beat_baseline {
            select::eliminate_below_baseline(&mut self.all, &self.chosen, self.baseline);
        }
        self.decision = self.decide(&self.resamples);
        self.time_the_report(&report, watch);
        self.regimes(if report.is_empty() { &choose } else { &report }, watch);
        self.host[1] = Host::read();
    }

    /// Sizes and checks the finalists on all they will be timed on, and takes out what fails.
    fn check(&mut self, choose: &[usize], report: &[usize], watch: &mut Watch<'_>) {
        let mut payloads = [choose, report].concat();
        payloads.sort_unstable();
        payloads.dedup();
        let jobs = self.jobs(&self.timed, &payloads);
        watch.progress.begin("checking", jobs.len() as u64);
        let complete = measure::size(&self.setting(), &mut self.all, &jobs, false, watch);
        select::eliminate_unfit(&mut self.all);
        let (all, always) = (&self.all, self.always());
        self.timed.retain(|index| {
            let is_in = all[*index].eliminated_by.is_none()
                || always.contains(index) && all[*index].failures == 0;
            complete.contains(index) && is_in
        });
    }

    /// How many rounds these payloads get: few bytes get more.
    fn rounds(&self, usual: usize, payloads: &[usize]) -> usize {
        let bytes: usize =
            payloads.iter().map(|&index| self.corpus.payloads[index].bytes.len()).sum();
        let few = (self.plan.stage2_bytes / bytes.max(1)).clamp(1, ROUNDS_FACTOR_MAX);
        let tiny = (TINY_BYTES / bytes.max(1)).clamp(TINY_FACTOR_MIN, TINY_FACTOR_MAX);
        // With `--all`, what is measured outweighs what is not by itself.
        let is_tiny = bytes < TINY_BYTES && self.timed.len() <= DETAILED_MAX;
        usual * if is_tiny { few * tiny } else { few }
    }

    fn time_the_choice(&mut self, choose: &[usize], watch: &mut Watch<'_>) {
        let setting = self.setting();
        let mut turns = Turns::new(&setting, &self.all, &self.timed, choose, "rounds");
        let rounds = self.rounds(self.plan.rounds, choose);
        watch.progress.begin("times", turns.units() * rounds as u64);
        turns.rounds(rounds, |_| true, watch);
        let extra_max = self.rounds(self.plan.extra_rounds, choose);
        let mut extra = 0;
        loop {
            let mut times = vec![None; self.all.len()];
            turns.look(|index, quiet| {
                times[index] = figures(&self.all[index], quiet, setting.from);
            });
            self.chosen = Sheet::new(self.corpus, choose, &self.all, &self.timed, |index| {
                times[index].take()
            });
            if extra >= extra_max || watch.stopped() || !self.is_borderline() {
                break;
            }
            let contenders = self.contenders();
            let more = self.rounds(EXTRA_ROUNDS, choose);
            watch.progress.begin("a close decision", turns.units() * more as u64);
            turns.rounds(more, |index| contenders.contains(&index), watch);
            extra += more;
        }
        self.counts.unsteadiness = self.counts.unsteadiness.max(turns.unsteadiness());
        let all = &mut self.all;
        let seconds = turns.finish(|index, times, calls, memory| {
            give(&mut all[index], times, calls, memory, false);
        });
        self.counts.stage2.measured_seconds += seconds;
    }

    /// Whether more rounds could make a close decision clearer.
    fn is_borderline(&self) -> bool {
        if !self.request.goal.is_timed {
            return false;
        }
        let resamples = self.resamples(&self.chosen.payloads);
        self.decide(&resamples).is_borderline
    }

    /// Those whose score is near the best.
    fn contenders(&self) -> Vec<usize> {
        let score = |&index: &usize| self.chosen.score(index, self.request.goal);
        let paying = |index: &&usize| select::may_pay(&self.all[**index]);
        let best = self.timed.iter().filter(paying).filter_map(score).fold(f64::INFINITY, f64::min);
        let is_near = |index: &&usize| score(index).is_some_and(|score| score < best + CONTENDER);
        self.timed.iter().filter(is_near).copied().collect()
    }

    /// The finalists whose other circumstances are told: all, or the best of very many.
    fn detailed(&self) -> Vec<usize> {
        if self.timed.len() <= DETAILED_MAX {
            return self.timed.clone();
        }
        let score =
            |index: usize| self.chosen.score(index, self.request.goal).unwrap_or(f64::INFINITY);
        let mut detailed = self.timed.clone();
        detailed.sort_by(|&a, &b| score(a).total_cmp(&score(b)));
        detailed.truncate(DETAILED_MAX);
        detailed.extend(self.always());
        detailed.sort_unstable();
        detailed.dedup();
        detailed
    }

    /// The best finalist of every codec, of those with a dictionary and of those without, and what
    /// the others are compared with: a first call pays for the codec's tables and code, which its
    /// levels share.
    fn families(&self) -> Vec<usize> {
        let score =
            |index: usize| self.chosen.score(index, self.request.goal).unwrap_or(f64::INFINITY);
        let mut ranked = self.timed.clone();
        ranked.sort_by(|&a, &b| score(a).total_cmp(&score(b)));
        let family = |index: usize| {
            let candidate = &self.all[index].candidate;
            (candidate.codec.name(), candidate.learned.is_some())
        };
        let mut families = self.always();
        for index in ranked {
            if !families.iter().any(|&other| family(other) == family(index)) {
                families.push(index);
            }
        }
        families.retain(|index| self.timed.contains(index));
        families
    }

    /// Makes first calls of these candidates, and returns the nanoseconds in measured calls.
    fn first_calls(&mut self, choose: &[usize], called: &[usize], watch: &mut Watch<'_>) -> f64 {
        let setting = self.setting();
        let mut by_size = choose.to_vec();
        by_size.sort_by_key(|&index| self.corpus.payloads[index].bytes.len());
        let Some(&median) = by_size.get(by_size.len() / 2) else { return 0.0 };
        watch.progress.begin("first calls", called.len() as u64);
        let mut spent = 0.0;
        for &index in called {
            let processes = self.plan.first_call_processes;
            let tracked = &mut self.all[index];
            spent += measure::first_calls(&setting, tracked, median, processes, watch);
            watch.progress.advance(1);
        }
        select::eliminate_unfit(&mut self.all);
        spent
    }

    /// Times what is still in on the payloads that chose nothing.
    fn time_the_report(&mut self, report: &[usize], watch: &mut Watch<'_>) {
        if report.is_empty() || watch.stopped() {
            self.reported = self.chosen.clone();
            return;
        }
        let setting = self.setting();
        let mut turns = Turns::new(&setting, &self.all, &self.timed, report, "report rounds");
        let rounds = self.rounds(self.plan.report_rounds, report);
        watch.progress.begin("times, held out", turns.units() * rounds as u64);
        turns.rounds(rounds, |_| true, watch);
        let mut times = vec![None; self.all.len()];
        turns.look(|index, quiet| {
            times[index] = figures(&self.all[index], quiet, setting.from);
        });
        self.reported =
            Sheet::new(self.corpus, report, &self.all, &self.timed, |index| times[index].take());
        self.counts.unsteadiness = self.counts.unsteadiness.max(turns.unsteadiness());
        let all = &mut self.all;
        let seconds = turns.finish(|index, times, calls, memory| {
            give(&mut all[index], times, calls, memory, true);
        });
        self.counts.stage2.measured_seconds += seconds;
        if self.reported.rows.is_empty() {
            self.reported = self.chosen.clone();
        }
    }

    /// The other circumstances, for what is still in.
    fn regimes(&mut self, payloads: &[usize], watch: &mut Watch<'_>) {
        let setting = self.setting();
        let (count, bytes) = (self.plan.regime_payloads, self.plan.regime_bytes);
        let payloads = self.choose(payloads, count, bytes);
        let mut evictor = Evictor::new();
        let detailed = self.detailed();
        watch.progress.begin("caches", detailed.len() as u64);
        for index in detailed {
            let tracked = &mut self.all[index];
            let spent = measure::regimes(&setting, tracked, &payloads, &mut evictor, watch);
            self.counts.stage2.measured_seconds += spent / 1e9;
            watch.progress.advance(1);
        }
    }

    /// Stage 3, again for every new winner until one comes through it sound.
    fn whole_corpus(&mut self, watch: &mut Watch<'_>) {
        let mut pending = select::front(&self.all, &self.reported);
        pending.extend(self.decision.ranked.iter().take(WHOLE_BEST));
        pending.extend(self.always());
        pending.sort_unstable();
        pending.dedup();
        let mut checked: Vec<usize> = Vec::new();
        while !pending.is_empty() && !watch.stopped() {
            self.size_whole(&pending, self.plan.stage3_bytes, watch);
            self.whole.append(&mut pending);
            self.decision = self.decide(&self.resamples);
            let Some(best) = self.winner() else { break };
            if !self.whole.contains(&best) {
                pending.push(best);
            } else if !checked.contains(&best) && !watch.stopped() {
                self.size_whole(&[best], usize::MAX, watch);
                checked.push(best);
                self.decision = self.decide(&self.resamples);
                pending.extend(self.winner().filter(|best| !checked.contains(best)));
            }
        }
        // Another one of its codec was called where this one was not yet the best of it.
        let is_uncalled = |&best: &usize| self.all[best].first_call_ns == 0.0;
        if let Some(best) = self.winner().filter(is_uncalled)
            && !watch.stopped()
        {
            let payloads = self.chosen.payloads.clone();
            self.first_calls(&payloads, &[best], watch);
            self.decision = self.decide(&self.resamples);
        }
    }

    /// Sizes and checks candidates on all payloads, or, within so many bytes, on a choice of them.
    /// A trial with a dictionary is checked on all and sized on what did not train it.
    fn size_whole(&mut self, candidates: &[usize], bytes_max: usize, watch: &mut Watch<'_>) {
        let every: Vec<usize> = (0..self.corpus.payloads.len()).collect();
        let mut payloads = self.choose(&every, every.len(), bytes_max);
        // What was compared stays in, so that every trial has a size for it.
        payloads.extend(self.chosen.payloads.iter().chain(&self.reported.payloads));
        payloads.sort_unstable();
        payloads.dedup();
        let jobs: Vec<Job> = candidates
            .iter()
            .filter(|&&index| self.all[index].sizes.len() < payloads.len())
            .flat_map(|&index| Job::all(self.corpus, index, &payloads))
            .collect();
        watch.progress.begin("whole corpus", jobs.len() as u64);
        let complete = measure::size(&self.setting(), &mut self.all, &jobs, false, watch);
        let train = &self.split.train;
        for &index in candidates {
            if !watch.stopped() || complete.contains(&index) {
                self.all[index].stage = self.all[index].stage.max(Stage::Whole);
            }
            if self.all[index].candidate.learned.is_some() {
                let sizes = &mut self.all[index].sizes;
                sizes.retain(|sizes| train.binary_search(&sizes.payload).is_err());
            }
        }
        select::eliminate_unfit(&mut self.all);
    }
}

fn give(
    tracked: &mut Tracked,
    times: Vec<Times>,
    calls: CallLog,
    (compressor, decompressor): (usize, usize),
    is_report: bool,
) {
    let (known_compressor, known_decompressor) = tracked.memory_bytes;
    tracked.memory_bytes = (known_compressor.max(compressor), known_decompressor.max(decompressor));
    // Cut short in its first round, it has nothing to tell.
    if times.iter().any(|times| times.rounds.is_empty()) {
        return;
    }
    tracked.stage = tracked.stage.max(Stage::Times);
    tracked.calls = calls;
    if is_report {
        tracked.reported = times;
    } else {
        tracked.chosen = times;
    }
}
