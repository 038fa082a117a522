//! `cinch verify`: has every record of a store read, and tells what can't be. The judgement
//! is the library's; here it is only put into words.

use cinch_evaluate::report::human;
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
    let walk = Walk::open(&arguments.walk, variables)?;
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
    Ok(if report.is_clean() { Done::Whole } else { Done::Partly })
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
