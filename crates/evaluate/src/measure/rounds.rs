//! Stage 2: the finalists take turns, in blocks of payloads, in an order drawn for every block.
//!
//! A disturbance of the machine hits all of them, and what the system interrupted is measured
//! again. Everything that is not a measured call is kept out of the loops: what comes back was
//! checked before the rounds.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Instant;

use crate::corpus::Corpus;
use crate::host::{preemptions, thread_cpu_ns};
use crate::measure::Watch;
use crate::measure::runner::{Runner, Steps, TimedFrom};
use crate::measure::sizing::Setting;
use crate::measure::tracked::{CallLog, Times, Tracked};
use crate::statistics::{Chooser, mean, median};

/// So many payloads at least take a turn before the next candidate does, and so many bytes: enough
/// that a candidate finds its own code and tables in the cache, few enough that a disturbance hits
/// all of them. Of lines of a hundred bytes, 32 would be over before a table of 256 KiB is in the
/// cache again, and a time would say how many others take part.
const BLOCK_PAYLOADS: usize = 32;

/// The bytes of a turn at least.
pub const BLOCK_BYTES: usize = 64 << 10;

/// After this much measured time, in nanoseconds, the thread's clock and its interruptions are
/// read: often enough to know which calls were disturbed, rarely enough to cost under 1 %.
const CHUNK_NS: f32 = 200_000.0;

/// Interrupted calls are made again unless they took longer than this, in nanoseconds: a scheduler
/// on a busy machine gives no slice of that length undisturbed.
const REPEAT_NS_MAX: f64 = 20e6;

/// How often contexts and buffers are made anew through a number of rounds: where in memory they
/// happen to lie moves the time of a call by some percent, which no number of rounds would show.
const LIVES: usize = 10;

/// One finalist, whose turn comes once for every block of every round.
struct Turn {
    finalist: usize,
    runner: Runner,
    /// Units of progress for each byte of a payload.
    weight: u64,
    times: Vec<Times>,
    /// Its lives: the number of each, and the rounds before it. Contexts are new in each.
    lives: Vec<(usize, usize)>,
    calls: CallLog,
}

/// The finalists and the payloads on which they are timed.
pub struct Turns<'a> {
    corpus: &'a Corpus,
    from: TimedFrom,
    payloads: Vec<usize>,
    turns: Vec<Turn>,
    chooser: Chooser,
    measured_ns: f64,
    lives: usize,
}

/// The rounds of one candidate in which the machine was not slow.
pub struct Quiet {
    /// The times of those rounds.
    pub times: Vec<Times>,
    /// The logarithm of the total time in each of those lives, by the number of the life.
    pub lives: BTreeMap<usize, f64>,
}

impl<'a> Turns<'a> {
    /// Contexts for every finalist. `purpose` tells the random orders of two uses apart.
    pub fn new(
        setting: &Setting<'a>,
        all: &[Tracked],
        finalists: &[usize],
        payloads: &[usize],
        purpose: &str,
    ) -> Turns<'a> {
        let turns = finalists
            .iter()
            .filter_map(|&finalist| {
                let tracked = &all[finalist];
                let runner = Runner::new(&tracked.candidate, setting.from).ok()?;
                // The unit of progress is a nanosecond of what stage 1 saw, so that the time left
                // is right although one candidate takes a hundred times as long as another.
                let spent: f64 = tracked.per_payload(Steps::sum).iter().sum();
                let bytes: usize = tracked
                    .times()
                    .iter()
                    .map(|times| setting.corpus.payloads[times.payload].bytes.len())
                    .sum();
                let weight = ((spent / bytes.max(1) as f64).ceil() as u64).max(1);
                let times = |&payload: &usize| Times { payload, rounds: Vec::new() };
                let times = payloads.iter().map(times).collect();
                let (lives, calls) = (Vec::new(), CallLog::default());
                Some(Turn { finalist, runner, weight, times, lives, calls })
            })
            .collect();
        Turns {
            corpus: setting.corpus,
            from: setting.from,
            payloads: payloads.to_vec(),
            turns,
            chooser: Chooser::new(setting.seed, purpose),
            measured_ns: 0.0,
            lives: 0,
        }
    }

    /// How much progress one round makes.
    pub fn units(&self) -> u64 {
        let bytes = |&index: &usize| self.corpus.payloads[index].bytes.len() as u64;
        let bytes: u64 = self.payloads.iter().map(bytes).sum();
        self.turns.iter().map(|turn| turn.weight * bytes).sum()
    }

    /// Makes rounds, with only the finalists that `takes_part` allows.
    pub fn rounds(
        &mut self,
        count: usize,
        takes_part: impl Fn(usize) -> bool,
        watch: &mut Watch<'_>,
    ) {
        let Turns { corpus, from, payloads, turns, chooser, measured_ns, lives } = self;
        let mut places: Vec<usize> = (0..payloads.len()).collect();
        let mut order: Vec<usize> =
            (0..turns.len()).filter(|&turn| takes_part(turns[turn].finalist)).collect();
        let bytes_of_all: usize =
            payloads.iter().map(|&index| corpus.payloads[index].bytes.len()).sum();
        let mean_bytes = (bytes_of_all / payloads.len().max(1)).max(1);
        let block_payloads = (BLOCK_BYTES / mean_bytes).max(BLOCK_PAYLOADS);
        for round in 0..count {
            if round % count.div_ceil(LIVES) == 0 {
                chooser.shuffle(&mut order);
                for &turn in &order {
                    turns[turn].begin_life(*lives, *from);
                }
                *lives += 1;
            }
            chooser.shuffle(&mut places);
            for block in places.chunks(block_payloads) {
                chooser.shuffle(&mut order);
                for &turn in &order {
                    if watch.stopped() {
                        return;
                    }
                    let turn = &mut turns[turn];
                    *measured_ns += turn.block(corpus, *from, block);
                    let bytes =
                        |&place: &usize| corpus.payloads[payloads[place]].bytes.len() as u64;
                    watch.progress.advance(turn.weight * block.iter().map(bytes).sum::<u64>());
                }
            }
        }
    }

    /// The times so far, of the quieter half of the lives: what slows the whole machine for a while
    /// slows some candidates more than others, and is no property of any of them.
    pub fn look(&self, mut take: impl FnMut(usize, Quiet)) {
        let quiet = self.quiet_lives();
        for turn in &self.turns {
            take(turn.finalist, turn.within(&quiet, self.from));
        }
    }

    /// The half of the lives in which the candidates took least, each compared with itself.
    fn quiet_lives(&self) -> Vec<usize> {
        let mut lives = self.slowness();
        lives.truncate(lives.len().div_ceil(2));
        lives.into_iter().map(|(life, _)| life).collect()
    }

    /// How much longer, as a share, calls took in the noisier half of the lives than in the
    /// quieter.
    pub fn unsteadiness(&self) -> f64 {
        let lives: Vec<f64> = self.slowness().into_iter().map(|(_, slowness)| slowness).collect();
        let (quiet, noisy) = lives.split_at(lives.len().div_ceil(2));
        if noisy.is_empty() { 0.0 } else { (mean(noisy) - mean(quiet)).exp() - 1.0 }
    }

    /// The lives, and the logarithm of how slow the machine was in each, the quietest first.
    fn slowness(&self) -> Vec<(usize, f64)> {
        let mut slowness = vec![Vec::new(); self.lives];
        for turn in &self.turns {
            let totals = turn.life_totals(self.from);
            let usual = median(&mut totals.values().copied().collect::<Vec<f64>>());
            for (life, total) in totals {
                slowness[life].push(total - usual);
            }
        }
        let mut lives: Vec<(usize, f64)> = slowness
            .iter()
            .enumerate()
            .filter(|(_, of_turns)| !of_turns.is_empty())
            .map(|(life, of_turns)| (life, mean(of_turns)))
            .collect();
        lives.sort_by(|a, b| a.1.total_cmp(&b.1));
        lives
    }

    /// Gives the times of the quieter half to their candidates, and all calls, and returns the
    /// seconds spent in measured calls.
    pub fn finish(self, mut take: impl FnMut(usize, Vec<Times>, CallLog, (usize, usize))) -> f64 {
        let quiet = self.quiet_lives();
        for turn in self.turns {
            let Quiet { times, .. } = turn.within(&quiet, self.from);
            take(turn.finalist, times, turn.calls, turn.runner.memory_bytes());
        }
        self.measured_ns / 1e9
    }
}

impl Turn {
    /// Begins a life: makes contexts and buffers anew, unless these are new.
    fn begin_life(&mut self, life: usize, from: TimedFrom) {
        let rounds = self.rounds();
        if rounds > 0
            && let Ok(runner) = Runner::new(self.runner.candidate(), from)
        {
            self.runner = runner;
        }
        self.lives.push((life, rounds));
    }

    /// The rounds that it has made on every payload.
    fn rounds(&self) -> usize {
        self.times.iter().map(|times| times.rounds.len()).min().unwrap_or_default()
    }

    /// The rounds of each life that has any.
    fn life_rounds(&self) -> impl Iterator<Item = (usize, Range<usize>)> + '_ {
        let ends = self.lives.iter().skip(1).map(|&(_, start)| start).chain([self.rounds()]);
        let lives = self.lives.iter().zip(ends);
        lives
            .map(|(&(life, start), end)| (life, start..end))
            .filter(|(_, rounds)| !rounds.is_empty())
    }

    /// The logarithm of the total time in each life.
    fn life_totals(&self, from: TimedFrom) -> BTreeMap<usize, f64> {
        let time = |steps: &Steps| {
            let (pack, unpack) = steps.totals(self.runner.candidate(), from);
            pack + unpack
        };
        let total = |rounds: Range<usize>| {
            let of = |times: &Times| times.median_of(rounds.clone(), time);
            self.times.iter().map(of).sum::<f64>().max(1.0).ln()
        };
        self.life_rounds().map(|(life, rounds)| (life, total(rounds))).collect()
    }

    /// What it did in these lives; all it did if it had none of them.
    fn within(&self, lives: &[usize], from: TimedFrom) -> Quiet {
        let (mut kept, mut totals) = (Vec::new(), self.life_totals(from));
        kept.extend(self.life_rounds().filter(|(life, _)| lives.contains(life)));
        if kept.is_empty() {
            kept.extend(self.life_rounds());
        } else {
            totals.retain(|life, _| lives.contains(life));
        }
        let times = |times: &Times| Times {
            payload: times.payload,
            rounds: kept
                .iter()
                .flat_map(|(_, range)| &times.rounds[range.clone()])
                .copied()
                .collect(),
        };
        Quiet { times: self.times.iter().map(times).collect(), lives: totals }
    }

    /// Runs one block of places, and returns the nanoseconds in measured calls.
    fn block(&mut self, corpus: &Corpus, from: TimedFrom, block: &[usize]) -> f64 {
        let mut measured_ns = 0.0;
        let mut rest = block;
        while !rest.is_empty() {
            let mut chunk = Chunk::run(self, corpus, rest);
            measured_ns += chunk.measured_ns();
            if chunk.is_preempted {
                self.calls.preempted += chunk.steps.len() as u64;
                if chunk.wall_ns < REPEAT_NS_MAX {
                    let again = Chunk::run(self, corpus, &rest[..chunk.steps.len()]);
                    measured_ns += again.measured_ns();
                    if again.steps.len() == chunk.steps.len() {
                        chunk = again;
                    }
                }
                if chunk.is_preempted {
                    chunk.take_off_waiting();
                }
            }
            self.calls.wall_ns += chunk.wall_ns;
            self.calls.cpu_ns += chunk.cpu_ns;
            let (done, left) = rest.split_at(chunk.steps.len());
            for (&place, steps) in done.iter().zip(chunk.steps) {
                let (pack, unpack) = steps.totals(self.runner.candidate(), from);
                self.calls.pack_ns.push(pack);
                self.calls.unpack_ns.push(unpack);
                self.times[place].rounds.push(steps);
            }
            rest = left;
        }
        measured_ns
    }
}

/// Calls between two readings of the thread's clock.
struct Chunk {
    steps: Vec<Steps>,
    wall_ns: f64,
    cpu_ns: f64,
    is_preempted: bool,
}

impl Chunk {
    fn run(turn: &mut Turn, corpus: &Corpus, places: &[usize]) -> Chunk {
        let mut steps = Vec::with_capacity(places.len());
        let before = (preemptions(), thread_cpu_ns());
        let start = Instant::now();
        let mut spent = 0.0;
        for &place in places {
            let payload = &corpus.payloads[turn.times[place].payload];
            let run = turn.runner.run(payload, false);
            spent += run.steps.sum();
            steps.push(run.steps);
            if spent > CHUNK_NS {
                break;
            }
        }
        let wall_ns = start.elapsed().as_nanos() as f64;
        let cpu_ns = thread_cpu_ns().saturating_sub(before.1) as f64;
        let is_preempted = preemptions() > before.0;
        Chunk { steps, wall_ns, cpu_ns, is_preempted }
    }

    fn measured_ns(&self) -> f64 {
        self.steps.iter().map(|steps| f64::from(steps.sum())).sum()
    }

    /// Where calls were interrupted again, their time is their CPU time.
    fn take_off_waiting(&mut self) {
        let share = (self.cpu_ns / self.wall_ns.max(1.0)).clamp(0.0, 1.0) as f32;
        if share > 0.0 {
            for steps in &mut self.steps {
                *steps = Steps::from_array(steps.as_array().map(|step| step * share));
            }
        }
    }
}
