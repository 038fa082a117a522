//! Runs evaluations and finds things in their JSON, which is the form that other programs rely on.
//!
//! `--json -` is used throughout: what stands on standard output must be JSON and nothing else.

use serde_json::Value;

use crate::cinch;

/// The JSON of an evaluation of these sources that went well, within the smallest budget of time
/// unless the arguments have another.
#[track_caller]
pub fn evaluate(arguments: &[&str]) -> Value {
    let time: &[&str] = if arguments.contains(&"--time") { &[] } else { &["--time", "1s"] };
    let run = cinch(["evaluate", "--progress", "never", "--json", "-"]).and(time).and(arguments);
    run.run().quiet().json()
}

/// The names of all trials, in the order of the table.
#[track_caller]
pub fn trial_names(evaluation: &Value) -> Vec<&str> {
    let trials = evaluation["trials"].as_array().expect("trials are an array");
    trials.iter().map(|trial| trial["name"].as_str().expect("a trial has a name")).collect()
}

/// The trial of this name.
#[track_caller]
pub fn trial<'a>(evaluation: &'a Value, name: &str) -> &'a Value {
    let trials = evaluation["trials"].as_array().expect("trials are an array");
    let found = trials.iter().find(|trial| trial["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} among {:?}", trial_names(evaluation)))
}

/// A figure.
#[track_caller]
pub fn figure(value: &Value, name: &str) -> f64 {
    value[name].as_f64().unwrap_or_else(|| panic!("{name} is no number: {}", value[name]))
}
