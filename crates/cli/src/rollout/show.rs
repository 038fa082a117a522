//! The steps and the answers of `cinch rollout`, for people and for programs, with the table that
//! they share.

use std::time::Duration;

use cinch_rollout::settings::{Configuration, Slots};
use cinch_rollout::steps::{STEPS, StepRow};
use cinch_stores::control::controller::{Outcome, Survey};
use cinch_stores::control::decision::{Reason, next_step};
use comfy_table::Table;
use comfy_table::presets::NOTHING;
use serde_json::{Value, json};

use crate::Done;
use crate::failure::Failure;
use crate::output::{Place, write_whole};

/// Prints the steps of namespaces.
pub fn plan(
    configuration: &Configuration,
    names: &[String],
    bake: Option<Duration>,
    is_json: bool,
) -> Result<Done, Failure> {
    let mut documents = Vec::new();
    let mut text = String::new();
    for name in names {
        let Some(namespace) = configuration.namespaces.get(name) else { continue };
        let slots = namespace.slots();
        let rows: Vec<&StepRow> = rows(slots);
        let bake_s = |row: &StepRow| bake.map_or(row.bake_s, |bake| bake.as_secs());
        if is_json {
            let steps = rows.iter().map(|row| {
                json!({
                    "step": row.name, "first": does(row, slots, 0), "others": does(row, slots, 1),
                    "bake_s": bake_s(row), "summary": row.summary,
                })
            });
            documents.push(json!({
                "namespace": name, "profile": (namespace.profile.name),
                "expected": (configuration.fleet), "steps": steps.collect::<Vec<_>>(),
            }));
            continue;
        }
        let fleet = match configuration.fleet.len() {
            0 => "no declared fleet".to_owned(),
            count => format!("{count} expected processes"),
        };
        text.push_str(&format!("{name}: profile {}, {fleet}\n\n", namespace.profile.name));
        let mut table = table(&["step", "the first", "the others", "bakes", "what holds"]);
        for row in rows {
            let bakes = humantime::format_duration(Duration::from_secs(bake_s(row))).to_string();
            let (first, others) = (does(row, slots, 0), does(row, slots, 1));
            table.add_row([row.name.to_owned(), first, others, bakes, row.summary.to_owned()]);
        }
        text.push_str(&format!("{}\n\n", lines(&table)));
    }
    let text = if is_json { pretty(&Value::Array(documents)) } else { text.trim_end().to_owned() };
    write_whole(&Place::Stdout, (text + "\n").as_bytes())?;
    Ok(Done::Whole)
}

/// The steps that change anything with a number of slots.
fn rows(slots: Slots) -> Vec<&'static StepRow> {
    let mut step = STEPS[0].step;
    let mut rows = vec![step.row()];
    while let Some(next) = next_step(step, slots) {
        rows.push(next.row());
        step = next;
    }
    rows
}

/// What the first processes (0) or the others (1) do in a step.
fn does(row: &StepRow, slots: Slots, which: usize) -> String {
    match slots {
        Slots::Two => {
            let (write, read) = row.two[which];
            format!("write {}, read {}", write.name(), read.name())
        }
        Slots::One => format!("write {}", row.one[which].name()),
    }
}

/// A table without lines.
pub fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(header.iter().copied());
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table
}

/// A table's text, indented and without blanks at the ends of lines.
pub fn lines(table: &Table) -> String {
    let shown = table.to_string();
    shown.lines().map(|line| format!("  {}", line.trim_end())).collect::<Vec<_>>().join("\n")
}

/// Prints what came of a command. `survey` is of after it.
pub fn outcome(
    survey: &Survey,
    outcome: &Outcome,
    is_json: bool,
    nothing: &str,
) -> Result<(), Failure> {
    let text = match is_json {
        true => pretty(&outcome_json(survey, outcome)),
        false => outcome_text(survey, outcome, nothing),
    };
    write_whole(&Place::Stdout, (text + "\n").as_bytes())
}

fn outcome_text(survey: &Survey, outcome: &Outcome, nothing: &str) -> String {
    let (name, state) = (&survey.namespace.name, &survey.held.state);
    let (step, epoch) = (state.progress.step.row(), state.epoch);
    match outcome {
        Outcome::Changed { from, to } => {
            let (before, after) = (&from.progress, &to.progress);
            let row = after.step.row();
            let mut text = match (&before.halted, &after.halted) {
                (None, Some(why)) => format!("{name} is halted at {}: {why}", row.name),
                (Some(_), None) => format!("{name} goes on at {}, which bakes anew", row.name),
                _ => format!("{name}: {} -> {}", before.step.row().name, row.name),
            };
            if after.percent < 100 {
                text.push_str(&format!(", for {} % of keys", after.percent));
            }
            text.push_str(&format!(" (epoch {})\n  {}", to.epoch, row.summary));
            if row.two[0] != row.two[1] && !after.first.is_empty() {
                text.push_str(&format!("\n  first: {}", after.first.join(", ")));
            }
            text
        }
        Outcome::Held(reasons) => {
            format!("{name} stays at {} (epoch {epoch})\n{}", step.name, list(reasons))
        }
        Outcome::Began(reasons) => {
            format!("{name} begins at {} (epoch {epoch})\n{}", step.name, list(reasons))
        }
        Outcome::Nothing => format!("{name} is at {}: {nothing}", step.name),
        Outcome::Lost => format!(
            "{name}: somebody else changed it first, and nothing was changed here; it is at {} now \
             (epoch {epoch})",
            step.name
        ),
    }
}

/// Reasons, a line each.
pub fn list(reasons: &[Reason]) -> String {
    let line = |reason: &Reason| {
        let mark = if reason.is_stop() { "!" } else { "-" };
        format!("  {mark} {reason}")
    };
    reasons.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn outcome_json(survey: &Survey, outcome: &Outcome) -> Value {
    let (name, reasons): (&str, &[Reason]) = match outcome {
        Outcome::Changed { from, to }
            if from.progress.halted.is_none() && to.progress.halted.is_some() =>
        {
            ("halted", &[])
        }
        Outcome::Changed { .. } => ("changed", &[]),
        Outcome::Held(reasons) => ("held", reasons),
        Outcome::Began(reasons) => ("began", reasons),
        Outcome::Nothing => ("nothing", &[]),
        Outcome::Lost => ("lost", &[]),
    };
    let state = &survey.held.state;
    json!({
        "namespace": (survey.namespace.name), "outcome": name,
        "step": (state.progress.step.row().name), "epoch": (state.epoch),
        "percent": (state.progress.percent), "first": (state.progress.first),
        "halted": (state.progress.halted), "reasons": reasons_json(reasons),
    })
}

/// Reasons for programs.
pub fn reasons_json(reasons: &[Reason]) -> Value {
    let one = |reason: &Reason| {
        let (name, text, stops) = (reason.name(), reason.to_string(), reason.is_stop());
        json!({ "name": name, "text": text, "stop": stops })
    };
    Value::Array(reasons.iter().map(one).collect())
}

/// JSON with line breaks.
pub fn pretty(value: &Value) -> String {
    // A value has a text whatever is in it.
    serde_json::to_string_pretty(value).unwrap_or_default()
}
