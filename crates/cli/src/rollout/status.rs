//! `cinch rollout status`: where every namespace stands, who announces, and what stands against the
//! next step.

use std::time::Duration;

use cinch_rollout::decoders::Lack;
use cinch_rollout::fleet::{Announcement, Practice};
use cinch_stores::control::controller::Survey;
use cinch_stores::control::decision::{Reason, Request, Verdict, is_managed};
use serde_json::{Value, json};

use super::arguments::PlaceArguments;
use super::show::{lines, list, pretty, reasons_json, table};
use super::{Variables, controller, lag_of, managed_names};
use crate::Done;
use crate::failure::Failure;
use crate::output::{Place, write_whole};

/// Prints it.
pub async fn run(place: &PlaceArguments, variables: Variables) -> Result<Done, Failure> {
    let controller = controller(place, variables, false).await?;
    let named = place.configuration.namespace.as_deref();
    let lag = lag_of(place);
    let mut texts = Vec::new();
    let mut documents = Vec::new();
    for name in managed_names(controller.configuration(), named)? {
        let survey = controller.survey(&name, lag.clone()).await?;
        let reasons = reasons(&survey);
        match place.configuration.json {
            true => documents.push(as_json(&survey, &reasons)),
            false => texts.push(as_text(&survey, &reasons)),
        }
    }
    let text = match place.configuration.json {
        true => pretty(&Value::Array(documents)),
        false => texts.join("\n\n"),
    };
    write_whole(&Place::Stdout, (text + "\n").as_bytes())?;
    Ok(Done::Whole)
}

/// What stands against the next step.
fn reasons(survey: &Survey) -> Vec<Reason> {
    match survey.situation().decide(&Request::default()) {
        Verdict::Hold(reasons) => reasons,
        Verdict::Advance(_) | Verdict::Finished => Vec::new(),
    }
}

fn as_text(survey: &Survey, reasons: &[Reason]) -> String {
    let (state, situation) = (&survey.held.state, survey.situation());
    let progress = &state.progress;
    let row = progress.step.row();
    let mut text = format!("{}: {}", survey.namespace.name, row.name);
    if !is_managed(&survey.namespace) {
        text = format!("{}: its modes stand in the configuration", survey.namespace.name);
    }
    if progress.percent < 100 {
        text.push_str(&format!(" for {} % of keys", progress.percent));
    }
    text.push_str(&format!(", epoch {}", state.epoch));
    if progress.since_ms > 0 {
        text.push_str(&format!(", since {}", ago(survey.now_ms, progress.since_ms)));
    }
    if !progress.first.is_empty() && row.two[0] != row.two[1] {
        text.push_str(&format!(", first: {}", progress.first.join(", ")));
    }
    let mut stored = Vec::new();
    stored.extend(state.may_be_packed.then(|| "packed".to_owned()));
    stored.extend(state.may_lack_raw.then(|| "without a raw copy".to_owned()));
    stored.extend(state.may_be_foreign.then(|| "in foreign formats".to_owned()));
    let decoders = &state.stored;
    stored.extend(decoders.codecs.iter().map(|id| format!("in {}", Lack::Codec(*id))));
    stored.extend(decoders.encodings.iter().map(|id| format!("in {}", Lack::Encoding(*id))));
    stored
        .extend(decoders.dictionaries.iter().map(|id| format!("under {}", Lack::Dictionary(*id))));
    stored.extend(decoders.schemas.iter().map(|id| format!("under {}", Lack::Schema(id.clone()))));
    if !stored.is_empty() {
        text.push_str(&format!("\n  values may be {}", stored.join(", ")));
    }
    if state.sealed {
        text.push_str("\n  sealed: a verification proves what is gone, and nobody writes it");
    }
    if let Some(proof) = &state.proof {
        text.push_str(&format!(
            "\n  proved {}: {} records of {} under the seal of epoch {}",
            ago(survey.now_ms, proof.cleared_ms),
            proof.records,
            proof.store,
            proof.sealed_epoch
        ));
    }
    let header = [
        "process",
        "release",
        "renewed",
        "epoch",
        "does",
        "writes",
        "reads",
        "mismatches",
        "undecodable",
        "not packed",
        "read p99",
        "write p99",
    ];
    let mut table = table(&header);
    for (process, practice) in situation.practices() {
        let health = situation.since(process);
        let counts = [
            health.writes,
            health.reads,
            health.mismatches,
            health.decode_errors,
            health.pack_failures,
        ];
        let mut cells = vec![
            process.process.clone(),
            process.release.clone(),
            ago(survey.now_ms, process.renewed_at_ms),
            practice.epoch.to_string(),
            does(practice),
        ];
        cells.extend(counts.map(|count| count.to_string()));
        cells.push(format!("{} us", health.read_p99_us));
        cells.push(format!("{} us", health.write_p99_us));
        table.add_row(cells);
    }
    if situation.practices().next().is_some() {
        text.push_str(&format!("\n\n{}\n", lines(&table)));
    }
    let gone: Vec<String> = survey
        .directory
        .announcements
        .iter()
        .filter(|found| !survey.fleet.live.contains(found))
        .map(|found| format!("{} ({})", found.process, ago(survey.now_ms, found.renewed_at_ms)))
        .collect();
    if !gone.is_empty() {
        text.push_str(&format!("\n  gone: {}", gone.join(", ")));
    }
    let next = match situation.next_step() {
        _ if progress.percent < 100 => format!("{} for more keys", row.name),
        Some(next) => next.row().name.to_owned(),
        None if reasons.is_empty() => return text + "\n  the last step holds",
        None => {
            return text + &format!("\n  the last step holds, and is not over:\n{}", list(reasons));
        }
    };
    match reasons.is_empty() {
        true => text + &format!("\n  next: {next}; nothing stands against it"),
        false => text + &format!("\n  next: {next}; it has to wait:\n{}", list(reasons)),
    }
}

/// What a process does, as it announces it.
fn does(practice: &Practice) -> String {
    match (practice.write, practice.read, practice.single) {
        (Some(write), Some(read), _) => format!("{}/{}", write.name(), read.name()),
        (_, _, Some(write)) => write.name().to_owned(),
        _ => "nothing".to_owned(),
    }
}

/// How long ago a moment was, or how far ahead, in whole seconds.
fn ago(now_ms: u64, then_ms: u64) -> String {
    let seconds = Duration::from_secs(now_ms.abs_diff(then_ms) / 1000);
    let shown = humantime::format_duration(seconds);
    match then_ms > now_ms + 999 {
        true => format!("{shown} ahead of this clock"),
        false => format!("{shown} ago"),
    }
}

fn as_json(survey: &Survey, reasons: &[Reason]) -> Value {
    let (state, situation) = (&survey.held.state, survey.situation());
    let process = |(process, practice): (&Announcement, &Practice)| {
        json!({
            "process": (process.process), "release": (process.release),
            "renewed_at_ms": (process.renewed_at_ms), "lease_ms": (process.lease_ms),
            "epoch": (practice.epoch), "does": (does(practice)),
            "dictionaries": (practice.dictionaries), "schemas": (practice.schemas),
            "codecs": (process.codecs), "encodings": (process.encodings),
            "since_step": (situation.since(process)),
        })
    };
    json!({
        "namespace": (survey.namespace.name), "state": state,
        "step": (state.progress.step.row().name),
        "next": (situation.next_step().map(|step| step.row().name)),
        "bake_left_ms": (situation.bake_left_ms()),
        "missing": (survey.fleet.missing),
        "processes": (situation.practices().map(process).collect::<Vec<_>>()),
        "reasons": reasons_json(reasons),
    })
}
