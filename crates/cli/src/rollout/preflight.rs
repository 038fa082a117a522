//! `cinch rollout preflight`: what reads inside the raw field of stores, as a table for people or
//! as JSON.

use cinch_stores::preflight::{Effect, Report, preflight};
use serde_json::json;

use super::arguments::PreflightArguments;
use super::show::{lines, pretty, table};
use crate::Done;
use crate::failure::Failure;
use crate::output::{Place, write_whole};

/// Looks at every store and prints what was found. Something that would break is exit status 3.
pub async fn run(arguments: &PreflightArguments) -> Result<Done, Failure> {
    let mut reports = Vec::new();
    for address in &arguments.addresses {
        reports.push(preflight(address).await?);
    }
    let text = match arguments.json {
        true => pretty(&json!(reports)),
        false => reports.iter().map(for_people).collect::<Vec<_>>().join("\n\n"),
    };
    write_whole(&Place::Stdout, (text + "\n").as_bytes())?;
    let breaks = |report: &Report| report.found.iter().any(|found| found.effect == Effect::Breaks);
    Ok(if reports.iter().any(breaks) { Done::Partly } else { Done::Whole })
}

fn for_people(report: &Report) -> String {
    let mut text = format!("{}: {}", report.store, report.place);
    let count = |effect| report.found.iter().filter(|found| found.effect == effect).count();
    if report.found.is_empty() {
        text.push_str("\n  nothing was found that reads inside of it\n");
    } else {
        let (breaks, looks) = (count(Effect::Breaks), count(Effect::Look));
        text.push_str(&format!("\n  {breaks} would break {}; {looks} to look at\n", report.when));
        let mut table = table(&["", "what", "name", "why"]);
        for found in &report.found {
            let mark = match found.effect {
                Effect::Breaks => "!",
                Effect::Look => "?",
            };
            table.add_row([mark, &found.kind, &found.name, &found.why]);
        }
        text.push_str(&format!("\n{}\n", lines(&table)));
    }
    text.push_str("\n  not looked at:");
    for unseen in &report.unseen {
        text.push_str(&format!("\n  - {unseen}"));
    }
    text
}
