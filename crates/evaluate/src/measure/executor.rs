//! Where a candidate is tried before it may run beside the others: in a process of its own, so
//! that a library that crashes takes one trial with it and not the evaluation.
//!
//! Without a program to start (in tests of this crate) it runs here, and only panics are caught.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::candidate::Candidate;
use crate::corpus::Payload;
use crate::measure::process::Process;
use crate::measure::runner::{Runner, Steps, TimedFrom};
use crate::measure::stored::Stored;
use crate::measure::{Launch, Verdict};

/// A payload that took less than this, in nanoseconds, is run twice and the faster taken: a single
/// call of some microseconds says more of page faults than of the candidate.
const RUN_TWICE_NS: f32 = 50_000.0;

/// What one payload gave.
#[derive(Debug, Clone)]
pub(super) struct Sized {
    /// As the codec leaves it.
    pub(super) bytes_out: usize,
    /// As cinch stores it.
    pub(super) packed_bytes: usize,
    /// The times of the only call, or of the faster of two.
    pub(super) steps: Steps,
    /// Whether it came back.
    pub(super) verdict: Verdict,
}

/// Why a candidate could not be tried to the end.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Trouble {
    /// Its contexts could not be made.
    Setup(String),
    /// It took its process with it, at one of the payloads of the request.
    Crashed(String),
}

/// The contexts of one candidate.
pub(super) struct Contexts {
    runner: Runner,
    stored: Stored,
}

impl Contexts {
    pub(super) fn new(candidate: &Candidate, from: TimedFrom) -> Result<Contexts, String> {
        let made = catch_unwind(AssertUnwindSafe(|| {
            let runner = Runner::new(candidate, from).map_err(|error| error.to_string())?;
            let stored =
                Stored::new(candidate).ok_or_else(|| "its packer could not be made".to_owned())?;
            Ok(Contexts { runner, stored })
        }));
        made.unwrap_or_else(|panic| Err(panicked(panic.as_ref())))
    }

    /// Runs one payload, with the check, and twice where that is quick. A panic is a failure.
    pub(super) fn size(&mut self, payload: &Payload) -> Sized {
        let sized = catch_unwind(AssertUnwindSafe(|| {
            let run = self.runner.run(payload, true);
            let packed_bytes = self.stored.bytes(&payload.bytes, &run);
            let mut steps = run.steps;
            if steps.sum() < RUN_TWICE_NS {
                steps = steps.least(&self.runner.run(payload, false).steps);
            }
            Sized { bytes_out: run.bytes_out, packed_bytes, steps, verdict: run.verdict }
        }));
        sized.unwrap_or_else(|panic| Sized {
            bytes_out: payload.bytes.len(),
            packed_bytes: payload.bytes.len(),
            steps: Steps::default(),
            verdict: Verdict::Failed(panicked(panic.as_ref())),
        })
    }

    pub(super) fn memory_bytes(&self) -> (usize, usize) {
        self.runner.memory_bytes()
    }
}

/// The times of new contexts and their first call: packing, unpacking.
pub(super) fn first_call(
    candidate: &Candidate,
    from: TimedFrom,
    payload: &Payload,
) -> Result<(f64, f64), String> {
    let (mut runner, (compressor_ns, decompressor_ns)) =
        Runner::new_timed(candidate, from).map_err(|error| error.to_string())?;
    let (pack, unpack) = runner.run(payload, false).steps.totals(candidate, from);
    Ok((compressor_ns + f64::from(pack), decompressor_ns + f64::from(unpack)))
}

fn panicked(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or(panic.downcast_ref::<&str>().copied());
    format!("crashed: it panicked: {}", text.unwrap_or("without a word"))
}

/// Tries candidates one after the other.
pub(super) enum Executor<'a> {
    /// In this process.
    Here(Option<Box<Contexts>>),
    /// In a process of its own, which is started again after a crash.
    Process(Process<'a>),
}

impl<'a> Executor<'a> {
    pub(super) fn new(launch: Option<&'a Launch>) -> Executor<'a> {
        launch.map_or(Executor::Here(None), |launch| Executor::Process(Process::new(launch)))
    }

    /// Makes the contexts of a candidate.
    pub(super) fn begin(&mut self, candidate: &Candidate, from: TimedFrom) -> Result<(), Trouble> {
        match self {
            Executor::Here(contexts) => {
                let made = Contexts::new(candidate, from).map_err(Trouble::Setup)?;
                *contexts = Some(Box::new(made));
                Ok(())
            }
            Executor::Process(process) => process.begin(candidate, from),
        }
    }

    /// Runs payloads, at most a batch, and gives what each left to `take`.
    pub(super) fn run(
        &mut self,
        payloads: &[&Payload],
        take: &mut dyn FnMut(usize, Sized),
    ) -> Result<(), Trouble> {
        match self {
            Executor::Here(contexts) => {
                let contexts = contexts.as_mut().ok_or_else(not_begun)?;
                for (index, payload) in payloads.iter().enumerate() {
                    take(index, contexts.size(payload));
                }
                Ok(())
            }
            Executor::Process(process) => process.run(payloads, take),
        }
    }

    /// What compressor and decompressor hold after all that, in bytes.
    pub(super) fn end(&mut self) -> Result<(usize, usize), Trouble> {
        match self {
            Executor::Here(contexts) => Ok(contexts.as_ref().ok_or_else(not_begun)?.memory_bytes()),
            Executor::Process(process) => process.end(),
        }
    }
}

fn not_begun() -> Trouble {
    Trouble::Setup("no candidate was begun".to_owned())
}
