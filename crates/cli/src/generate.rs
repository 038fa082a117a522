//! `cinch generate`: payloads like real ones, one a line.
//!
//! They are streamed, so that a million of them take no more memory than one.

use std::sync::atomic::Ordering;

use cinch_generate::{KINDS, Options, PUBLISHED};

use crate::Done;
use crate::arguments::GenerateArguments;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::{Output, Place};

/// How many payloads of a kind are generated unless the user says otherwise.
const COUNT_DEFAULT: usize = 1000;

/// Writes the payloads.
pub fn run(arguments: &GenerateArguments) -> Result<Done, Failure> {
    let payloads = match &arguments.published {
        Some(name) => published(name, arguments)?,
        None => of_kind(arguments.kind.as_deref().unwrap_or_default(), arguments)?,
    };
    let interrupt = Interrupt::handled();
    let place = arguments.output.clone().map_or(Place::Stdout, Place::File);
    let mut output = Output::open(&place, true)?;
    for mut payload in payloads {
        if interrupt.stop.load(Ordering::Relaxed) {
            return Err(Failure::Interrupted);
        }
        payload.push('\n');
        output.write(payload.as_bytes())?;
    }
    output.finish()?;
    Ok(Done::Whole)
}

type Payloads = Box<dyn Iterator<Item = String>>;

fn of_kind(name: &str, arguments: &GenerateArguments) -> Result<Payloads, Failure> {
    let kind = cinch_generate::find(name)
        .ok_or_else(|| unknown(name, KINDS.iter().map(|kind| (kind.name, kind.summary))))?;
    Ok(Box::new(kind.payloads(Options {
        count: arguments.count.unwrap_or(COUNT_DEFAULT),
        seed: arguments.seed,
        median_bytes: arguments.median_bytes,
    })))
}

fn published(name: &str, arguments: &GenerateArguments) -> Result<Payloads, Failure> {
    let corpus = cinch_generate::published(name).ok_or_else(|| {
        unknown(name, PUBLISHED.iter().map(|corpus| (corpus.name, corpus.summary)))
    })?;
    let count = arguments.count.unwrap_or(corpus.count);
    if count > corpus.count_max {
        return Err(Failure::Argument(format!(
            "--count is {count}, but {name} has at most {} payloads",
            corpus.count_max
        )));
    }
    Ok(corpus.first(arguments.seed, count))
}

fn unknown<'a>(name: &str, known: impl Iterator<Item = (&'a str, &'a str)>) -> Failure {
    let known: Vec<_> = known.map(|(name, summary)| format!("{name} ({summary})")).collect();
    Failure::Argument(format!(
        "nothing called {name:?} can be generated; there are {}",
        known.join(", ")
    ))
}
