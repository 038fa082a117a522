//! `cinch sample`: takes payloads from a live store and writes them as they were stored, so that
//! `cinch evaluate` reads back exactly the same ones.
//!
//! The place is checked before the store is asked: a sample takes minutes, and a name that is taken
//! must cost none.

mod layout;
mod summary;

use cinch_sample::{Address, SampleOptions, Sampled};

use crate::Done;
use crate::arguments::{LiveArguments, SampleArguments};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::progress::Bar;
use layout::Target;

/// Samples.
pub fn run(arguments: &SampleArguments) -> Result<Done, Failure> {
    let address = Address::parse(&arguments.address)?;
    let options = SampleOptions {
        count: arguments.count,
        seed: arguments.seed,
        scan_limit: arguments.scan_limit,
        ..options(&arguments.live)
    };
    let target = Target::open(&arguments.output, arguments.force)?;
    let interrupt = Interrupt::handled();
    let bar = Bar::new(arguments.progress);
    let sampled = take(&address, &options, &bar, &interrupt)?;
    bar.finish();
    let written = target.write(&sampled.payloads)?;
    summary::tell(&address, &sampled, &written);
    let is_whole = sampled.refused.is_empty() && !sampled.is_cut_short;
    Ok(if is_whole { Done::Whole } else { Done::Partly })
}

/// What the arguments ask of a live store.
pub fn options(live: &LiveArguments) -> SampleOptions {
    SampleOptions {
        matching: live.matching.clone(),
        query: live.query.clone(),
        replica: live.replica,
        rate_per_second: (live.read_rate > 0).then_some(live.read_rate),
        ..SampleOptions::default()
    }
}

/// Takes a sample of a live store.
pub fn take(
    address: &Address,
    options: &SampleOptions,
    bar: &Bar,
    interrupt: &Interrupt,
) -> Result<Sampled, Failure> {
    if options.count == 0 {
        return Err(Failure::Argument("a sample of 0 payloads has nothing in it".to_owned()));
    }
    let mut progress = |seen, kept| bar.sampling(seen, kept);
    let sampled = interrupt
        .while_reading(|| cinch_sample::sample(address, options, &interrupt.stop, &mut progress))?;
    if sampled.payloads.is_empty() {
        return Err(Failure::Interrupted);
    }
    Ok(sampled)
}
