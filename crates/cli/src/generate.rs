//! `cinch generate`: payloads like real ones, one a line.
//!
//! They are streamed, so that a million of them take no more memory than one.

use std::sync::atomic::Ordering;

use cinch_generate::{KINDS, Options};

use crate::Done;
use crate::arguments::GenerateArguments;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::{Output, Place};

/// Writes the payloads.
pub fn run(arguments: &GenerateArguments) -> Result<Done, Failure> {
    let kind = cinch_generate::find(&arguments.kind).ok_or_else(|| {
        let kinds: Vec<_> =
            KINDS.iter().map(|kind| format!("{} ({})", kind.name, kind.summary)).collect();
        Failure::Argument(format!(
            "nothing called {:?} can be generated; there are {}",
            arguments.kind,
            kinds.join(", ")
        ))
    })?;
    let interrupt = Interrupt::handled();
    let place = arguments.output.clone().map_or(Place::Stdout, Place::File);
    let mut output = Output::open(&place, true)?;
    let options = Options {
        count: arguments.count,
        seed: arguments.seed,
        median_bytes: arguments.median_bytes,
    };
    for mut payload in kind.payloads(options) {
        if interrupt.stop.load(Ordering::Relaxed) {
            return Err(Failure::Interrupted);
        }
        payload.push('\n');
        output.write(payload.as_bytes())?;
    }
    output.finish()?;
    Ok(Done::Whole)
}
