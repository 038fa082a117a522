//! `cinch estimate`: what a profile would save, payload by payload.
//!
//! The figures are the library's; here they are only put into words.

use cinch_evaluate::estimate::{Estimate, estimate};
use cinch_evaluate::measure::Progress;
use cinch_evaluate::report::human;

use crate::Done;
use crate::arguments::EstimateArguments;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::{Place, write_whole};
use crate::progress::Bar;
use crate::{profile, sources};

/// Estimates.
pub fn run(arguments: &EstimateArguments) -> Result<Done, Failure> {
    let profile = profile::read(&arguments.profile)?;
    let interrupt = Interrupt::handled();
    let mut bar = Bar::new(arguments.source.reading.progress);
    let (corpus, name) = sources::read(&arguments.source, &bar, &interrupt)?;
    bar.begin("packing", corpus.payloads.len() as u64);
    let found = estimate(&corpus, &profile, &interrupt.stop, || bar.advance(1))?;
    bar.finish();
    let was_skipped = sources::tell_problems(&corpus);
    let json_place = arguments.json.as_deref().map(Place::of);
    if let Some(place) = &json_place {
        let text = serde_json::to_string_pretty(&found).unwrap_or_default() + "\n";
        write_whole(place, text.as_bytes())?;
    }
    if json_place != Some(Place::Stdout) {
        write_whole(&Place::Stdout, for_people(&found, &name).as_bytes())?;
    }
    let is_partly = was_skipped || found.failures > 0 || found.interrupted;
    Ok(if is_partly { Done::Partly } else { Done::Whole })
}

fn for_people(found: &Estimate, name: &str) -> String {
    let mut text = format!("{} on {name}\n", found.profile);
    let mut line = |name: &str, value: String| text.push_str(&format!("  {name:<16} {value}\n"));
    line("payloads", human::count(found.payloads));
    line("bytes in", human::size(found.bytes_in as f64));
    let share = found.bytes_out as f64 / (found.bytes_in as f64).max(1.0);
    line(
        "bytes out",
        format!("{} ({})", human::size(found.bytes_out as f64), human::percent(share)),
    );
    line("ratio", human::ratio(found.ratio));
    let reasons: Vec<String> = found
        .plain_reasons
        .iter()
        .map(|(reason, count)| format!("{reason}: {}", human::count(*count)))
        .collect();
    let reasons =
        if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(", ")) };
    line("stay plain", format!("{}{reasons}", human::count(found.plain)));
    if found.wrapped > 0 {
        line("wrapped", human::count(found.wrapped));
    }
    if found.not_encoded > 0 {
        line("packed verbatim", human::count(found.not_encoded));
    }
    let tail = if found.p99_is_max { "max" } else { "p99" };
    for (name, times) in [("pack", &found.pack_ns), ("unpack", &found.unpack_ns)] {
        line(
            name,
            format!(
                "p50 {}, p95 {}, {tail} {}",
                human::time(times.p50),
                human::time(times.p95),
                human::time(times.p99)
            ),
        );
    }
    line("failures", human::count(found.failures));
    if let Some(failure) = &found.failure {
        line("first failure", failure.clone());
    }
    if found.interrupted {
        text.push_str("  The run was cut short; the figures are of what was packed.\n");
    }
    text
}
