//! `cinch backfill`: has the records of a store brought to what the policy would write, or tells
//! what that would save.

use std::path::PathBuf;

use cinch_evaluate::report::human;
use cinch_stores::backfill::{
    BackfillOptions, BackfillReport, Estimate, EstimateOptions, Interval, Target, backfill, check,
    checkpoint_name, estimate,
};
use cinch_stores::walk::WalkError;

use crate::Done;
use crate::arguments::{BackfillArguments, TargetChoice};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::{Place, write_whole};
use crate::progress::Bar;
use crate::walk::{Walk, count_lines, json, line, problems_text};

/// Runs a backfill, or a dry one.
pub fn run(
    arguments: &BackfillArguments,
    variables: Vec<(String, String)>,
) -> Result<Done, Failure> {
    let walk = Walk::open(&arguments.walk, variables, arguments.control.is_some())?;
    let target = match arguments.to {
        TargetChoice::Policy => Target::Policy,
        TargetChoice::Plain => Target::Plain,
    };
    let announcer = match &arguments.control {
        Some(address) => Some(walk.join(address)?),
        None => None,
    };
    if announcer.is_none() && target == Target::Policy {
        walk.refuse_managed()?;
    }
    let done = run_joined(arguments, &walk, target);
    if let Some(announcer) = announcer {
        walk.runtime.block_on(announcer.stop());
    }
    done
}

/// Runs it while the announcer, where there is one, keeps the policy that of the fleet.
fn run_joined(arguments: &BackfillArguments, walk: &Walk, target: Target) -> Result<Done, Failure> {
    let skip = arguments.skip_expiring_below.as_millis();
    let mut options = BackfillOptions {
        walk: walk.options.clone(),
        target,
        is_exact: arguments.repack,
        skip_expiring_below_ms: u64::try_from(skip).unwrap_or(u64::MAX),
        checkpoint: None,
    };
    check(walk.store.as_ref(), &walk.live, &options)?;
    if arguments.control.is_none() && target == Target::Policy {
        walk.tell_assumptions();
    }
    let interrupt = Interrupt::handled();
    let bar = Bar::new(arguments.walk.progress);
    if arguments.dry_run {
        return dry_run(arguments, walk, &options, &interrupt, &bar);
    }
    let checkpoint = arguments.checkpoint.clone().unwrap_or_else(|| {
        PathBuf::from(checkpoint_name(walk.store.as_ref(), &walk.live, &options))
    });
    options.checkpoint = Some(checkpoint.clone());
    let (store, live) = (walk.store.clone(), walk.live.clone());
    let mut progress = |progress: &cinch_stores::backfill::Progress<'_>| {
        bar.rewriting(progress.counts.records(), progress.counts.rewritten, progress.rate);
    };
    let report = walk
        .runtime
        .block_on(backfill(store, live, &options, &interrupt.stop, &mut progress))
        .inspect_err(|error| {
            bar.finish();
            if matches!(error, WalkError::Store(_)) && checkpoint.exists() {
                let checkpoint = checkpoint.display();
                eprintln!("cinch: what was done is done; go on from {checkpoint} when it answers");
            }
        })?;
    bar.finish();
    let text = match arguments.walk.json {
        true => json(&report)?,
        false => for_people(&report, walk.store.name()).into_bytes(),
    };
    write_whole(&Place::Stdout, &text)?;
    if !report.is_complete {
        let checkpoint = checkpoint.display();
        eprintln!("cinch: interrupted; the same command goes on from {checkpoint}");
    }
    Ok(if report.is_whole() { Done::Whole } else { Done::Partly })
}

fn dry_run(
    arguments: &BackfillArguments,
    walk: &Walk,
    options: &BackfillOptions,
    interrupt: &Interrupt,
    bar: &Bar,
) -> Result<Done, Failure> {
    let how = EstimateOptions { sample: arguments.sample, seed: arguments.seed };
    let (store, live) = (walk.store.clone(), walk.live.clone());
    let mut progress = |listed, read| bar.sampling(listed, read);
    let found = walk
        .runtime
        .block_on(estimate(store, live, options, how, &interrupt.stop, &mut progress))
        .inspect_err(|_| bar.finish())?;
    bar.finish();
    let text = match arguments.walk.json {
        true => json(&found)?,
        false => estimate_for_people(&found, walk.store.name()).into_bytes(),
    };
    write_whole(&Place::Stdout, &text)?;
    let is_whole = found.is_complete && found.left == 0;
    Ok(if is_whole { Done::Whole } else { Done::Partly })
}

fn for_people(report: &BackfillReport, store: &str) -> String {
    let counts = &report.counts;
    let records = human::count(counts.records());
    let mut text = format!("{records} records of {store}\n");
    let rows = [
        ("rewritten", counts.rewritten),
        ("  were foreign", counts.was_foreign),
        ("  had a wrong copy", counts.was_wrong),
        ("as they should be", counts.already),
        ("expire soon", counts.expiring),
        ("changed meanwhile", counts.changed),
        ("null", counts.null),
        ("gone meanwhile", counts.gone),
        ("of no namespace", counts.outside),
    ];
    count_lines(&mut text, &rows);
    if counts.rewritten > 0 {
        let sizes = sizes(counts.bytes_before as f64, counts.bytes_after as f64);
        line(&mut text, "bytes", sizes);
    }
    if counts.left > 0 {
        line(&mut text, "left with a problem", human::count(counts.left));
        text.push_str(&problems_text(&counts.problems));
    }
    text
}

fn sizes(before: f64, after: f64) -> String {
    let ratio = before / after.max(1.0);
    format!("{} -> {} (ratio {})", human::size(before), human::size(after), human::ratio(ratio))
}

fn estimate_for_people(found: &Estimate, store: &str) -> String {
    let (sampled, keys) = (human::count(found.sampled), human::count(found.keys));
    let mut text = format!("dry run on {sampled} of {keys} records of {store}\n");
    let count = |value: f64| human::count(value.round().max(0.0) as u64);
    line(&mut text, "would be rewritten", interval(&found.rewrites, count));
    let sizes = sizes(found.sampled_bytes as f64, found.sampled_bytes_after as f64);
    line(&mut text, "the sample", sizes);
    let size = |value: f64| match value < 0.0 {
        true => format!("-{}", human::size(-value)),
        false => human::size(value),
    };
    line(&mut text, "would save", interval(&found.saved_bytes, size));
    for (name, count) in [
        ("as they should be", found.already),
        ("expire soon", found.expiring),
        ("with a problem", found.left),
    ] {
        if count > 0 {
            line(&mut text, name, format!("{} of the sample", human::count(count)));
        }
    }
    text.push_str(&problems_text(&found.problems));
    if !found.is_complete {
        text.push_str("The listing was interrupted: the figures are of what was listed.\n");
    }
    text.push_str("Nothing was written.\n");
    text
}

fn interval(interval: &Interval, shown: impl Fn(f64) -> String) -> String {
    let middle = shown(interval.middle);
    match (interval.low, interval.high) {
        (Some(low), Some(high)) if low == high => middle,
        (Some(low), Some(high)) => format!("{middle} (95 %: {} to {})", shown(low), shown(high)),
        _ => format!("{middle} (too few records for an interval)"),
    }
}
