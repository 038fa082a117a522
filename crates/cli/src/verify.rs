//! `cinch verify`: has every record of a store read, and tells what can't be. The judgement
//! is the library's; here it is only put into words.

use std::sync::Arc;

use cinch_evaluate::report::human;
use cinch_stores::control::{Control, ProofOptions, Seal};
use cinch_stores::verify::{Facts, VerifyReport, verify};

use crate::Done;
use crate::arguments::VerifyArguments;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::{Place, write_whole};
use crate::progress::Bar;
use crate::walk::{Walk, count_lines, json, line, problems_text};

/// Verifies.
pub fn run(arguments: &VerifyArguments, variables: Vec<(String, String)>) -> Result<Done, Failure> {
    let walk = Walk::open(&arguments.walk, variables, false)?;
    let proving = arguments.control.as_deref().map(|address| {
        let settle_ms = u64::try_from(arguments.settle.as_millis()).unwrap_or(u64::MAX);
        Proving::begin(&walk, address, settle_ms)
    });
    let proving = proving.transpose()?;
    let interrupt = Interrupt::handled();
    let bar = Bar::new(arguments.walk.progress);
    let (store, live) = (walk.store.clone(), walk.live.clone());
    let mut progress = |report: &VerifyReport, rate| {
        let sum = |count: fn(&Facts) -> u64| report.namespaces.values().map(count).sum();
        bar.verifying(sum(|facts| facts.records), sum(|facts| facts.unreadable), rate);
    };
    let report = walk
        .runtime
        .block_on(verify(store, live, &walk.options, &interrupt.stop, &mut progress))
        .inspect_err(|_| bar.finish())?;
    bar.finish();
    let text = match arguments.walk.json {
        true => json(&report)?,
        false => for_people(&report, walk.store.name()).into_bytes(),
    };
    write_whole(&Place::Stdout, &text)?;
    if !report.is_complete {
        eprintln!("cinch: interrupted; nothing is proved by a part");
    }
    let is_cleared = proving.is_none_or(|proving| proving.end(&walk, &report));
    Ok(if report.is_clean() && is_cleared { Done::Whole } else { Done::Partly })
}

/// Seals what a verification may clear, and clears it.
struct Proving {
    control: Control,
    options: ProofOptions,
    seals: Vec<Seal>,
}

impl Proving {
    fn begin(walk: &Walk, address: &str, settle_ms: u64) -> Result<Proving, Failure> {
        let control = walk.runtime.block_on(Control::open(address, false))?;
        let options = ProofOptions { settle_ms, ..ProofOptions::default() };
        let mut proving = Proving { control, options, seals: Vec::new() };
        let snapshot = walk.live.snapshot();
        let only = walk.options.namespace.as_ref();
        for ready in snapshot.namespaces() {
            let namespace = ready.namespace();
            if only.is_some_and(|name| *name != namespace.name) {
                continue;
            }
            let control = &proving.control;
            let seal = control.seal(&snapshot.configuration, namespace, &proving.options);
            match walk.runtime.block_on(seal) {
                Ok(Some(seal)) => {
                    let (name, what, epoch) = (seal.namespace(), seal.what(), seal.epoch());
                    eprintln!("cinch: {name}: sealed at epoch {epoch}: nobody writes {what}");
                    proving.seals.push(seal);
                }
                Ok(None) => eprintln!("cinch: {}: there is nothing to clear", namespace.name),
                Err(error) => {
                    for seal in &proving.seals {
                        walk.runtime.block_on(proving.control.unseal(seal));
                    }
                    return Err(error.into());
                }
            }
        }
        Ok(proving)
    }

    /// Clears what was proved; whether that is all.
    fn end(self, walk: &Walk, report: &VerifyReport) -> bool {
        let Proving { control, options, seals } = self;
        let configuration = Arc::clone(&walk.live.snapshot().configuration);
        let mut is_all = true;
        for seal in seals {
            let (name, what) = (seal.namespace().to_owned(), seal.what());
            let store = walk.store.as_ref();
            let clear = control.clear(&configuration, seal, report, store, &options);
            match walk.runtime.block_on(clear) {
                Ok(state) => {
                    let epoch = state.epoch;
                    eprintln!("cinch: {name}: cleared at epoch {epoch}: there are no {what}");
                }
                Err(error) => {
                    eprintln!("cinch: {error}");
                    is_all = false;
                }
            }
        }
        is_all
    }
}

fn for_people(report: &VerifyReport, store: &str) -> String {
    let mut text = String::new();
    for (name, facts) in &report.namespaces {
        let records = human::count(facts.records);
        text.push_str(&format!("{name}: {records} records of {store}\n"));
        let rows = [
            ("plain", facts.plain),
            ("packed", facts.packed),
            ("  without a raw copy", facts.lack_raw),
            ("foreign", facts.foreign),
            ("null", facts.null),
            ("stale packed copies", facts.stale),
            ("unproven ones", facts.unproven),
            ("mismatching ones", facts.mismatches),
            ("broken ones", facts.broken_copies),
        ];
        count_lines(&mut text, &rows);
        for (id, count) in &facts.dictionaries {
            let count = human::count(*count);
            line(&mut text, &format!("dictionary {id}"), format!("{count} records"));
        }
        line(&mut text, "can't be read", human::count(facts.unreadable));
        text.push_str(&problems_text(&facts.problems));
    }
    count_lines(&mut text, &[("of no namespace", report.outside), ("gone meanwhile", report.gone)]);
    text
}
