//! The three stages: sizes of every candidate on a small sample, times of the finalists in turns,
//! and the best over the whole corpus. Each is budgeted by counts, never by a clock, so that one
//! seed gives one answer.

use cinch_core::envelope::Header;
use cinch_core::pack::{Packer, is_worth_packing, reason_to_leave};
use cinch_core::profile::{Profile, VerifyOnPack};

use crate::corpus::{Corpus, Payload};
use crate::measure::runner::{From, Run, Runner, Steps};
use crate::measure::timing::timed;
use crate::measure::tracked::{Sizes, Stage, Times, Tracked};
use crate::measure::{Verdict, Watch};
use crate::statistics::{Chooser, stratified};

/// How many payloads take a turn before the next candidate does: enough that a candidate finds its
/// own code and tables in the cache, few enough that a disturbance hits all of them.
const BLOCK_PAYLOADS: usize = 32;

/// How much each stage may do.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Payloads of stage 1, at most.
    pub stage1_payloads: usize,
    /// Bytes of stage 1, at most.
    pub stage1_bytes: usize,
    /// Candidates of stage 2, at most.
    pub finalists: usize,
    /// Payloads of stage 2, at most.
    pub stage2_payloads: usize,
    /// Bytes of stage 2, at most.
    pub stage2_bytes: usize,
    /// Rounds of stage 2.
    pub rounds: usize,
    /// Bytes of stage 3, at most; the recommended candidate is checked on all.
    pub stage3_bytes: usize,
}

impl Plan {
    /// The plan for about this many seconds on two cores. Only the counts follow from the time, so
    /// that the same request always means the same work.
    ///
    /// Where slow levels are wanted, a tenth of the speed is met by fewer bytes.
    pub fn of_time(seconds: f64, all: bool, slow: bool) -> Plan {
        let factor = (seconds / 60.0).clamp(0.05, 1_000.0);
        let slow_factor = if slow { 4 } else { 1 };
        let scaled = |count: usize| ((count as f64 * factor) as usize).max(8);
        Plan {
            stage1_payloads: scaled(128).max(32),
            stage1_bytes: scaled((4 << 20) / slow_factor),
            finalists: if all { usize::MAX } else { 16 },
            stage2_payloads: scaled(512).max(32),
            stage2_bytes: scaled((12 << 20) / slow_factor),
            rounds: if factor < 0.5 || slow { 3 } else { 5 },
            stage3_bytes: scaled((64 << 20) / slow_factor),
        }
    }
}

/// The choice of payloads by size, the same for every candidate.
fn choose(corpus: &Corpus, count: usize, bytes_max: usize, seed: u64) -> Vec<usize> {
    let sizes: Vec<usize> = corpus.payloads.iter().map(|payload| payload.bytes.len()).collect();
    stratified(&sizes, count, bytes_max, seed)
}

/// What cinch stores for a payload, envelope and thresholds included.
struct Stored {
    profile: Profile,
    /// Only where envelopes use another form of the codec: everything else is known from the run.
    packer: Option<Packer>,
    out: Vec<u8>,
}

impl Stored {
    fn new(tracked: &Tracked) -> Option<Stored> {
        let mut profile = Profile::new(tracked.candidate.encoding, tracked.candidate.codec);
        profile.verify_on_pack = VerifyOnPack::Never;
        let packer = match profile.codec.codec.bare_form() {
            Some(_) => Some(Packer::new(&profile).ok()?),
            None => None,
        };
        Some(Stored { profile, packer, out: Vec::new() })
    }

    fn bytes(&mut self, payload: &[u8], run: &Run) -> usize {
        if let Some(packer) = &mut self.packer {
            return match packer.pack(payload, &mut self.out) {
                Ok(_) => self.out.len(),
                Err(_) => payload.len(),
            };
        }
        if reason_to_leave(&self.profile, payload).is_some() {
            return payload.len();
        }
        self.out.clear();
        let is_encoded = run.text_bytes.is_some();
        let header = Header {
            codec: self.profile.codec.codec.info().id,
            encoding: is_encoded.then_some(self.profile.encoding.id),
            payload_bytes: run.text_bytes.unwrap_or(payload.len()) as u32,
            dictionary: None,
            // The value does not matter, only that there is one.
            checksum: Some(0),
            fields: Vec::new(),
        };
        let packed_bytes = header.write(&mut self.out).unwrap_or_default() + run.bytes_out;
        let is_packed = is_worth_packing(&self.profile, payload.len(), packed_bytes);
        if is_packed { packed_bytes } else { payload.len() }
    }
}

/// What one stage found of one candidate, until it is complete.
#[derive(Default)]
struct Taken {
    sizes: Vec<Sizes>,
    times: Vec<Times>,
    refused: u64,
    refusal: Option<String>,
    failures: u64,
    failure: Option<String>,
}

impl Taken {
    fn add(&mut self, index: usize, payload: &Payload, run: &Run, stored: &mut Stored) {
        self.sizes.push(Sizes {
            payload: index,
            bytes_in: payload.bytes.len(),
            bytes_out: run.bytes_out,
            packed_bytes: stored.bytes(&payload.bytes, run),
        });
    }

    fn judge(&mut self, verdict: &Verdict, describe: impl FnOnce() -> String) {
        match verdict {
            Verdict::Fine => {}
            Verdict::Refused(reason) => {
                self.refused += 1;
                self.refusal.get_or_insert_with(|| format!("{}: {reason}", describe()));
            }
            Verdict::Failed(reason) => {
                self.failures += 1;
                self.failure.get_or_insert_with(|| format!("{}: {reason}", describe()));
            }
        }
    }

    /// Puts these sizes and verdicts, and times if there are any, in place of the earlier ones.
    /// A failure of any stage stays one.
    fn replace(self, tracked: &mut Tracked) {
        tracked.sizes = self.sizes;
        if !self.times.is_empty() {
            tracked.times = self.times;
        }
        tracked.refused = self.refused;
        tracked.refusal = self.refusal;
        tracked.failures += self.failures;
        tracked.failure = tracked.failure.take().or(self.failure);
    }
}

/// Sizes `payloads` with one candidate; `timed_too` keeps the times of the single pass.
fn size_one(
    corpus: &Corpus,
    tracked: &mut Tracked,
    payloads: &[usize],
    from: From,
    timed_too: bool,
    watch: &mut Watch<'_>,
) {
    let runner = Runner::new(&tracked.candidate, from);
    let (Ok(mut runner), Some(mut stored)) = (runner, Stored::new(tracked)) else {
        tracked.failures += 1;
        tracked.failure.get_or_insert_with(|| "its context could not be made".to_owned());
        return;
    };
    let mut taken = Taken::default();
    for &index in payloads {
        if watch.stopped() {
            break;
        }
        let payload = &corpus.payloads[index];
        let run = runner.run(payload, true);
        taken.add(index, payload, &run, &mut stored);
        taken.judge(&run.verdict, || corpus.describe(index));
        if timed_too {
            taken.times.push(Times { payload: index, rounds: vec![run.steps] });
        }
    }
    tracked.memory_bytes = tracked.memory_bytes.max(runner.memory_bytes());
    // Cut short, what an earlier stage found on its whole sample says more.
    if !watch.stopped() || tracked.sizes.is_empty() {
        taken.replace(tracked);
    }
}

/// Stage 1: the sizes of every candidate on a stratified sample. Returns how many payloads it took.
pub fn size_all(
    corpus: &Corpus,
    all: &mut [Tracked],
    plan: &Plan,
    from: From,
    seed: u64,
    watch: &mut Watch<'_>,
) -> usize {
    let payloads = choose(corpus, plan.stage1_payloads, plan.stage1_bytes, seed);
    watch.progress.begin("sizes", all.len() as u64);
    for tracked in all {
        if watch.stopped() {
            break;
        }
        if let Some(&middle) = payloads.get(payloads.len() / 2) {
            let payload = &corpus.payloads[middle];
            // A new context and its first call, as a process that has just started pays them.
            let candidate = tracked.candidate.clone();
            let (_, first) = timed(|| {
                Runner::new(&candidate, from).map(|mut runner| runner.run(payload, false))
            });
            tracked.first_call_ns = first;
        }
        size_one(corpus, tracked, &payloads, from, true, watch);
        watch.progress.advance(1);
    }
    payloads.len()
}

/// One finalist, whose turn comes once for every block of every round.
struct Turn {
    finalist: usize,
    runner: Runner,
    stored: Stored,
    /// Units of progress for each byte of a payload.
    weight: u64,
    taken: Taken,
}

/// Stage 2: the finalists take turns, in blocks of payloads, in an order drawn for every block.
/// Returns how many payloads it took.
pub fn time_finalists(
    corpus: &Corpus,
    all: &mut [Tracked],
    finalists: &[usize],
    plan: &Plan,
    from: From,
    seed: u64,
    watch: &mut Watch<'_>,
) -> usize {
    let payloads = choose(corpus, plan.stage2_payloads, plan.stage2_bytes, seed);
    let mut turns: Vec<Turn> = Vec::new();
    for &finalist in finalists {
        let tracked = &all[finalist];
        let runner = Runner::new(&tracked.candidate, from);
        let (Ok(runner), Some(stored)) = (runner, Stored::new(tracked)) else { continue };
        // The unit of progress is a nanosecond of what stage 1 saw, so that the time left is right
        // although one candidate takes a hundred times as long as another.
        let (bytes_in, _, _) = tracked.bytes();
        let spent: f64 = tracked.per_payload(Steps::sum).iter().sum();
        let weight = (spent / bytes_in.max(1) as f64).ceil() as u64;
        let times = |&payload: &usize| Times { payload, rounds: Vec::with_capacity(plan.rounds) };
        let taken = Taken { times: payloads.iter().map(times).collect(), ..Taken::default() };
        turns.push(Turn { finalist, runner, stored, weight, taken });
    }
    let bytes: u64 = payloads.iter().map(|&index| corpus.payloads[index].bytes.len() as u64).sum();
    let units: u64 = turns.iter().map(|turn| turn.weight * bytes).sum();
    watch.progress.begin("times", units * plan.rounds as u64);
    let mut chooser = Chooser::new(seed, "rounds");
    let mut places: Vec<usize> = (0..payloads.len()).collect();
    let mut order: Vec<usize> = (0..turns.len()).collect();
    'rounds: for round in 0..plan.rounds {
        chooser.shuffle(&mut places);
        for block in places.chunks(BLOCK_PAYLOADS) {
            chooser.shuffle(&mut order);
            for &turn in &order {
                if watch.stopped() {
                    break 'rounds;
                }
                let Turn { runner, stored, weight, taken, .. } = &mut turns[turn];
                let mut done = 0;
                for &place in block {
                    let index = payloads[place];
                    let payload = &corpus.payloads[index];
                    let run = runner.run(payload, round == 0);
                    taken.times[place].rounds.push(run.steps);
                    if round == 0 {
                        taken.judge(&run.verdict, || corpus.describe(index));
                        taken.add(index, payload, &run, stored);
                    }
                    done += *weight * payload.bytes.len() as u64;
                }
                watch.progress.advance(done);
            }
        }
    }
    for Turn { finalist, runner, taken, .. } in turns {
        let tracked = &mut all[finalist];
        tracked.memory_bytes = tracked.memory_bytes.max(runner.memory_bytes());
        // Cut short in its first round, what stage 1 found says more.
        if taken.sizes.len() == payloads.len() {
            tracked.stage = Stage::Times;
            taken.replace(tracked);
        }
    }
    payloads.len()
}

/// Stage 3: these candidates over the whole corpus, or over as much of it as the plan allows.
/// Returns how many payloads it took.
pub fn whole_corpus(
    corpus: &Corpus,
    all: &mut [Tracked],
    chosen: &[usize],
    plan: &Plan,
    from: From,
    seed: u64,
    watch: &mut Watch<'_>,
) -> usize {
    let payloads = choose(corpus, corpus.payloads.len(), plan.stage3_bytes, seed);
    watch.progress.begin("whole corpus", chosen.len() as u64);
    for &index in chosen {
        if watch.stopped() {
            break;
        }
        size_one(corpus, &mut all[index], &payloads, from, false, watch);
        if !watch.stopped() {
            all[index].stage = Stage::Whole;
        }
        watch.progress.advance(1);
    }
    payloads.len()
}

/// Checks one candidate on every payload that stage 3 left out, and returns whether all came back.
pub fn check_rest(
    corpus: &Corpus,
    tracked: &mut Tracked,
    from: From,
    watch: &mut Watch<'_>,
) -> bool {
    let Ok(mut runner) = Runner::new(&tracked.candidate, from) else { return false };
    let mut is_done = vec![false; corpus.payloads.len()];
    for sizes in &tracked.sizes {
        is_done[sizes.payload] = true;
    }
    let mut taken = Taken::default();
    let rest = is_done.iter().filter(|&&done| !done).count();
    if rest > 0 {
        watch.progress.begin("checking the rest", rest as u64);
    }
    for (index, payload) in corpus.payloads.iter().enumerate() {
        if is_done[index] {
            continue;
        }
        if watch.stopped() {
            break;
        }
        let run = runner.run(payload, true);
        taken.judge(&run.verdict, || corpus.describe(index));
        watch.progress.advance(1);
    }
    tracked.failures += taken.failures;
    tracked.failure = tracked.failure.take().or(taken.failure);
    tracked.failures == 0
}
