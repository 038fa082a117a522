//! Sizes: candidates over payloads, each in a process of its own and as many at a time as there
//! are processors. Sizes don't depend on what else runs; the times of this single pass only tell
//! which candidates are worth timing.
//!
//! What a candidate will see when it is timed it has seen here first, so that a crash is met in
//! a process that may crash.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::candidate::Candidate;
use crate::corpus::{Corpus, Payload};
use crate::measure::executor::{Executor, Sized, Trouble};
use crate::measure::frames::{BATCH_BYTES, BATCH_PAYLOADS};
use crate::measure::runner::TimedFrom;
use crate::measure::tracked::{Sizes, Times, Tracked};
use crate::measure::{Launch, Verdict, Watch};

/// What every stage is given.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// The payloads.
    pub corpus: &'a Corpus,
    /// Where the application's time starts and ends.
    pub from: TimedFrom,
    /// The seed of every choice.
    pub seed: u64,
    /// How to start a process for a candidate; nothing tries it here.
    pub launch: Option<&'a Launch>,
}

/// A job is about this many bytes, so that every processor has one until the end.
const JOB_BYTES: usize = 2 << 20;

/// How long a process may have been dead before the user's wish to end the run is known.
const SIGNAL_GRACE: Duration = Duration::from_millis(500);

/// How often that is looked at.
const SIGNAL_LOOK: Duration = Duration::from_millis(5);

/// A candidate and some of the payloads it is to be sized on. What the jobs of one candidate find
/// is put together.
pub struct Job {
    /// Index of the candidate.
    pub candidate: usize,
    /// Indices of the payloads, rising.
    pub payloads: Vec<usize>,
}

impl Job {
    /// The jobs of one candidate on these payloads, which rise.
    pub fn all(corpus: &Corpus, candidate: usize, payloads: &[usize]) -> Vec<Job> {
        Batches { corpus, rest: payloads, bytes: JOB_BYTES, payloads: usize::MAX }
            .map(|payloads| Job { candidate, payloads: payloads.to_vec() })
            .collect()
    }
}

/// What sizing found of one candidate.
#[derive(Default)]
struct Taken {
    sizes: Vec<Sizes>,
    times: Vec<Times>,
    memory_bytes: (usize, usize),
    refused: u64,
    refusal: Option<String>,
    failures: u64,
    failure: Option<String>,
    is_complete: bool,
}

impl Taken {
    fn take(&mut self, corpus: &Corpus, index: usize, sized: Sized) {
        match sized.verdict {
            Verdict::Fine => {}
            Verdict::Refused(reason) => {
                self.refused += 1;
                self.refusal.get_or_insert_with(|| told(corpus, index, &reason));
            }
            Verdict::Failed(reason) => {
                self.failures += 1;
                self.failure.get_or_insert_with(|| told(corpus, index, &reason));
            }
        }
        let bytes_in = corpus.payloads[index].bytes.len();
        let Sized { bytes_out, packed_bytes, .. } = sized;
        self.sizes.push(Sizes { payload: index, bytes_in, bytes_out, packed_bytes });
        self.times.push(Times { payload: index, rounds: vec![sized.steps] });
    }

    /// Ends the job with a failure of the whole candidate.
    fn fail(&mut self, reason: String) {
        self.failures += 1;
        self.failure.get_or_insert(reason);
    }

    /// Adds what a later job found of the same candidate.
    fn extend(&mut self, other: Taken) {
        self.sizes.extend(other.sizes);
        self.times.extend(other.times);
        self.memory_bytes = larger(self.memory_bytes, other.memory_bytes);
        self.refused += other.refused;
        self.refusal = self.refusal.take().or(other.refusal);
        self.failures += other.failures;
        self.failure = self.failure.take().or(other.failure);
        self.is_complete &= other.is_complete;
    }

    /// Puts these sizes and verdicts in place of the earlier ones. A failure of any stage stays
    /// one. Cut short, what an earlier stage found on its whole sample says more.
    fn replace(self, tracked: &mut Tracked, is_first: bool) {
        tracked.failures += self.failures;
        tracked.failure = tracked.failure.take().or(self.failure);
        tracked.memory_bytes = larger(tracked.memory_bytes, self.memory_bytes);
        if !self.is_complete && !tracked.sizes.is_empty() {
            return;
        }
        tracked.sizes = self.sizes;
        (tracked.refused, tracked.refusal) = (self.refused, self.refusal);
        if is_first {
            tracked.single = self.times;
        }
    }
}

fn larger(a: (usize, usize), b: (usize, usize)) -> (usize, usize) {
    (a.0.max(b.0), a.1.max(b.1))
}

/// What went wrong, after the crash's own word where it is one, with the payload it is about.
fn told(corpus: &Corpus, index: usize, reason: &str) -> String {
    match reason.strip_prefix("crashed: ") {
        Some(reason) => format!("crashed: {}: {reason}", corpus.describe(index)),
        None => format!("{}: {reason}", corpus.describe(index)),
    }
}

/// Sizes candidates, and keeps the times of the single pass where `is_first` says that it is their
/// first one. Each job advances progress by one. Returns the candidates whose jobs all came to
/// their end.
pub fn size(
    setting: &Setting<'_>,
    all: &mut [Tracked],
    jobs: &[Job],
    is_first: bool,
    watch: &mut Watch<'_>,
) -> Vec<usize> {
    let processors = thread::available_parallelism().map_or(1, |count| count.get());
    let next = AtomicUsize::new(0);
    let stop = watch.stop;
    let candidates: Vec<Candidate> =
        jobs.iter().map(|job| all[job.candidate].candidate.clone()).collect();
    let mut found: Vec<Option<Taken>> = jobs.iter().map(|_| None).collect();
    thread::scope(|scope| {
        // A worker that is ahead waits; the bound is there so that no queue is without one.
        let (sender, receiver) = sync_channel(processors);
        for _ in 0..processors.min(jobs.len()) {
            let sender: SyncSender<(usize, Taken)> = sender.clone();
            let (next, candidates) = (&next, &candidates);
            scope.spawn(move || {
                let mut executor = Executor::new(setting.launch);
                loop {
                    let job = next.fetch_add(1, Ordering::Relaxed);
                    if job >= jobs.len() || stop.load(Ordering::Relaxed) {
                        break;
                    }
                    let payloads = &jobs[job].payloads;
                    let taken = one(setting, &mut executor, &candidates[job], payloads, stop);
                    if sender.send((job, taken)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        for (job, taken) in receiver {
            found[job] = Some(taken);
            watch.progress.advance(1);
        }
    });
    let mut together: BTreeMap<usize, Taken> = BTreeMap::new();
    for (job, taken) in jobs.iter().zip(found) {
        let taken = taken.unwrap_or_default();
        match together.entry(job.candidate) {
            Entry::Vacant(place) => drop(place.insert(taken)),
            Entry::Occupied(mut place) => place.get_mut().extend(taken),
        }
    }
    let mut complete = Vec::new();
    for (candidate, taken) in together {
        if taken.is_complete {
            complete.push(candidate);
        }
        taken.replace(&mut all[candidate], is_first);
    }
    complete
}

fn one(
    setting: &Setting<'_>,
    executor: &mut Executor<'_>,
    candidate: &Candidate,
    payloads: &[usize],
    stop: &AtomicBool,
) -> Taken {
    let mut taken = Taken::default();
    if let Err(trouble) = executor.begin(candidate, setting.from) {
        give_up(&mut taken, trouble, stop);
        return taken;
    }
    let corpus = setting.corpus;
    let batches = Batches { corpus, rest: payloads, bytes: BATCH_BYTES, payloads: BATCH_PAYLOADS };
    for batch in batches {
        if stop.load(Ordering::Relaxed) {
            return taken;
        }
        if let Err(trouble) = run(setting.corpus, executor, batch, &mut taken) {
            if let Trouble::Crashed(reason) = &trouble
                && !is_stopped_soon(stop)
            {
                let culprit = find_culprit(setting, executor, candidate, batch);
                let reason = reason.clone();
                match culprit {
                    Some(index) => taken.fail(told(setting.corpus, index, &reason)),
                    None => taken.fail(reason),
                }
                taken.is_complete = true;
                return taken;
            }
            give_up(&mut taken, trouble, stop);
            return taken;
        }
    }
    match executor.end() {
        Ok(memory_bytes) => {
            taken.memory_bytes = memory_bytes;
            taken.is_complete = true;
        }
        Err(trouble) => give_up(&mut taken, trouble, stop),
    }
    taken
}

/// Whether the user ends the run. A terminal sends its signal to every process at once, so that the
/// one that tried the candidate is dead before the thread that sets the flag has its turn.
pub(super) fn is_stopped_soon(stop: &AtomicBool) -> bool {
    let start = Instant::now();
    while !stop.load(Ordering::Relaxed) && start.elapsed() < SIGNAL_GRACE {
        thread::sleep(SIGNAL_LOOK);
    }
    stop.load(Ordering::Relaxed)
}

/// A user's signal ends the processes too, which is no failure of the candidate.
fn give_up(taken: &mut Taken, trouble: Trouble, stop: &AtomicBool) {
    let is_stopped = match trouble {
        Trouble::Setup(_) => stop.load(Ordering::Relaxed),
        Trouble::Crashed(_) => is_stopped_soon(stop),
    };
    if !is_stopped {
        match trouble {
            Trouble::Setup(reason) | Trouble::Crashed(reason) => taken.fail(reason),
        }
        taken.is_complete = true;
    }
}

fn run(
    corpus: &Corpus,
    executor: &mut Executor<'_>,
    batch: &[usize],
    taken: &mut Taken,
) -> Result<(), Trouble> {
    let payloads: Vec<&Payload> = batch.iter().map(|&index| &corpus.payloads[index]).collect();
    executor.run(&payloads, &mut |place, sized| taken.take(corpus, batch[place], sized))
}

/// Which payload of a batch ends the process, tried one by one in new ones.
fn find_culprit(
    setting: &Setting<'_>,
    executor: &mut Executor<'_>,
    candidate: &Candidate,
    batch: &[usize],
) -> Option<usize> {
    let mut unused = Taken::default();
    executor.begin(candidate, setting.from).ok()?;
    batch
        .iter()
        .copied()
        .find(|&index| run(setting.corpus, executor, &[index], &mut unused).is_err())
}

/// Payloads in portions of at most so many, and of about so many bytes.
struct Batches<'a> {
    corpus: &'a Corpus,
    rest: &'a [usize],
    bytes: usize,
    payloads: usize,
}

impl<'a> Iterator for Batches<'a> {
    type Item = &'a [usize];

    fn next(&mut self) -> Option<&'a [usize]> {
        let mut bytes = 0;
        let fits = |&&index: &&usize| {
            let before = bytes;
            bytes += self.corpus.payloads[index].bytes.len();
            before == 0 || bytes <= self.bytes
        };
        let count = self.rest.iter().take(self.payloads).take_while(fits).count();
        let (batch, rest) = self.rest.split_at(count);
        self.rest = rest;
        (count > 0).then_some(batch)
    }
}
