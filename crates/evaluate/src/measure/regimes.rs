//! The same calls under other circumstances: one payload again and again, cold caches, new
//! contexts, and the first call of a new process.
//!
//! None of them chooses a winner; they tell how far the default figure, rotating payloads with
//! reused contexts, is from what a service may meet.

use std::hint::black_box;

use crate::candidate::Candidate;
use crate::corpus::Payload;
use crate::measure::Watch;
use crate::measure::executor::Trouble;
use crate::measure::process::Process;
use crate::measure::runner::{Runner, Steps, TimedFrom};
use crate::measure::sizing::{Setting, is_stopped_soon};
use crate::measure::tracked::{Times, Tracked};
use crate::model::{FirstCall, Nanoseconds, Regimes, RoundTrip};
use crate::statistics::median;

/// Bytes written between two calls to empty the caches: several times a second-level cache, and
/// about what one process may hold of a third-level one that it shares.
const EVICT_BYTES: usize = 8 << 20;

/// One write in each line of the cache is enough.
const LINE_BYTES: usize = 64;

/// How often one payload is repeated for its least time.
const SAME_PAYLOAD_CALLS: usize = 20;

/// Repeating ends after this much time, in nanoseconds.
const SAME_PAYLOAD_NS_MAX: f64 = 5e6;

/// Packing and unpacking times, one of each for each payload.
#[derive(Default)]
struct Pairs(Vec<(f64, f64)>);

impl Pairs {
    fn push(&mut self, steps: &Steps, candidate: &Candidate, from: TimedFrom, extra: (f64, f64)) {
        let (pack, unpack) = steps.totals(candidate, from);
        self.0.push((f64::from(pack) + extra.0, f64::from(unpack) + extra.1));
    }

    fn summary(&self) -> RoundTrip {
        RoundTrip {
            pack_ns: Nanoseconds::of(self.0.iter().map(|pair| pair.0).collect()),
            unpack_ns: Nanoseconds::of(self.0.iter().map(|pair| pair.1).collect()),
        }
    }
}

/// What empties the caches.
pub struct Evictor(Vec<u8>);

impl Evictor {
    /// An evictor with memory of its own.
    pub fn new() -> Evictor {
        Evictor(vec![0; EVICT_BYTES])
    }

    fn evict(&mut self) {
        for line in self.0.chunks_mut(LINE_BYTES) {
            line[0] = line[0].wrapping_add(1);
        }
        black_box(&self.0);
    }
}

impl Default for Evictor {
    fn default() -> Evictor {
        Evictor::new()
    }
}

/// Times one candidate under the other circumstances, and returns the nanoseconds in measured
/// calls.
pub fn regimes(
    setting: &Setting<'_>,
    tracked: &mut Tracked,
    payloads: &[usize],
    evictor: &mut Evictor,
    watch: &Watch<'_>,
) -> f64 {
    let from = setting.from;
    let candidate = tracked.candidate.clone();
    let Ok(mut runner) = Runner::new(&candidate, from) else { return 0.0 };
    let [mut same, mut rotating, mut cold, mut fresh] = [const { Pairs(Vec::new()) }; 4];
    let mut measured_ns = 0.0;
    for &index in payloads {
        if watch.stopped() {
            return measured_ns;
        }
        let payload = &setting.corpus.payloads[index];
        let times = tracked.times().iter().find(|times| times.payload == index);
        if let Some(times) = times {
            rotating.0.push(medians(times, &candidate, from));
        }
        let (least, spent) = repeated(&mut runner, payload);
        same.push(&least, &candidate, from, (0.0, 0.0));
        measured_ns += spent;

        evictor.evict();
        let run = runner.run_with(payload, false, || evictor.evict());
        cold.push(&run.steps, &candidate, from, (0.0, 0.0));
        measured_ns += f64::from(run.steps.sum());

        let Ok(made) = runner.renew() else { return measured_ns };
        let run = runner.run(payload, false);
        fresh.push(&run.steps, &candidate, from, made);
        measured_ns += f64::from(run.steps.sum()) + made.0 + made.1;
    }
    tracked.regimes = Some(Regimes {
        payloads: payloads.len() as u64,
        same_payload: same.summary(),
        rotating: rotating.summary(),
        cold_cache: cold.summary(),
        fresh_context: fresh.summary(),
    });
    measured_ns
}

fn medians(times: &Times, candidate: &Candidate, from: TimedFrom) -> (f64, f64) {
    (
        times.median(|steps| steps.totals(candidate, from).0),
        times.median(|steps| steps.totals(candidate, from).1),
    )
}

/// The least time of each step over repeated calls, and the nanoseconds of all of them.
fn repeated(runner: &mut Runner, payload: &Payload) -> (Steps, f64) {
    let mut least = runner.run(payload, false).steps;
    let mut spent = f64::from(least.sum());
    for _ in 1..SAME_PAYLOAD_CALLS {
        if spent > SAME_PAYLOAD_NS_MAX {
            break;
        }
        let steps = runner.run(payload, false).steps;
        spent += f64::from(steps.sum());
        least = least.least(&steps);
    }
    (least, spent)
}

/// First calls of one candidate, each in a process of its own. Without a program to start, one
/// first call in this process stands in. Returns the nanoseconds in measured calls.
pub fn first_calls(
    setting: &Setting<'_>,
    tracked: &mut Tracked,
    payload: usize,
    processes: usize,
    watch: &Watch<'_>,
) -> f64 {
    let payload = &setting.corpus.payloads[payload];
    let candidate = &tracked.candidate;
    let Some(launch) = setting.launch else {
        let found = super::executor::first_call(candidate, setting.from, payload);
        tracked.first_call_ns = found.map_or(0.0, |(pack, unpack)| pack + unpack);
        return tracked.first_call_ns;
    };
    let (mut pack, mut unpack) = (Vec::new(), Vec::new());
    for _ in 0..processes {
        if watch.stopped() {
            return 0.0;
        }
        match Process::new(launch).first_call(candidate, setting.from, payload) {
            Ok(times) => {
                pack.push(times.0);
                unpack.push(times.1);
            }
            Err(trouble) => {
                // Without a figure it would keep every budget on it.
                if !is_stopped_soon(watch.stop) {
                    let (Trouble::Setup(reason) | Trouble::Crashed(reason)) = trouble;
                    tracked.failures += 1;
                    tracked.failure.get_or_insert(reason);
                }
                return 0.0;
            }
        }
    }
    let first_call = FirstCall {
        processes: processes as u64,
        pack_p50_ns: median(&mut pack),
        pack_max_ns: pack.last().copied().unwrap_or_default(),
        unpack_p50_ns: median(&mut unpack),
        unpack_max_ns: unpack.last().copied().unwrap_or_default(),
    };
    tracked.first_call_ns = first_call.pack_p50_ns + first_call.unpack_p50_ns;
    tracked.first_call = Some(first_call);
    pack.iter().chain(&unpack).sum()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::corpus::Corpus;
    use crate::measure::{Launch, Progress};
    use std::sync::atomic::AtomicBool;

    struct Silent;

    impl Progress for Silent {
        fn begin(&mut self, _: &str, _: u64) {}
        fn advance(&mut self, _: u64) {}
    }

    /// A trial after a first call in processes that end by themselves.
    fn tried(is_stopped: bool) -> Tracked {
        let corpus = Corpus::from_payloads("one", [b"{}".to_vec()]);
        let (program, arguments) = ("/bin/sh".into(), vec!["-c".into(), "exit 7".into()]);
        let launch = Launch { program, arguments };
        let setting =
            Setting { corpus: &corpus, from: TimedFrom::Text, seed: 1, launch: Some(&launch) };
        let mut tracked = Tracked::new(Candidate::parse("verbatim+zstd:3").unwrap());
        let stop = AtomicBool::new(is_stopped);
        let watch = Watch { progress: &mut Silent, stop: &stop };
        assert_eq!(first_calls(&setting, &mut tracked, 0, 3, &watch), 0.0);
        tracked
    }

    #[test]
    fn a_first_call_that_crashes_is_a_failure_unless_the_user_ended_it() {
        let crashed = tried(false);
        assert_eq!(crashed.failures, 1);
        assert!(crashed.failure.unwrap().starts_with("crashed: "));
        assert_eq!(tried(true).failures, 0);
    }
}
