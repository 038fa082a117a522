//! `cinch rollout watch`: looks again and again, halts on what is wrong and, where it is told to,
//! advances on what is not.
//!
//! It prints a line when something changes, and not at every look. A store that can't be reached is
//! told once and tried again: nothing can go on without it anyway.

use std::time::Instant;

use cinch_rollout::state::NamespaceState;
use cinch_stores::control::controller::{ControllerError, Outcome};
use cinch_stores::control::{ControlError, now_ms};

use super::arguments::WatchArguments;
use super::{Variables, lag_of, open, request, show};
use crate::Done;
use crate::failure::Failure;

/// Watches.
pub async fn run(arguments: &WatchArguments, variables: Variables) -> Result<Done, Failure> {
    let place = &arguments.place;
    let is_json = place.configuration.json;
    let (controller, name) = open(place, variables, arguments.auto).await?;
    let asked = arguments.auto.then(|| request(&arguments.request));
    let until = arguments.duration.map(|duration| Instant::now() + duration);
    let mut told = String::new();
    loop {
        let looked = controller.watch(&name, asked.as_ref(), lag_of(place)).await;
        let outcome = match looked {
            Ok(outcome) => Some(outcome),
            Err(ControllerError::Control(ControlError::Store(error))) if error.is_transient() => {
                tell_once(&mut told, error.to_string(), || eprintln!("cinch: {error}; trying on"));
                None
            }
            Err(error) => return Err(error.into()),
        };
        if let Some(outcome) = outcome {
            let survey = controller.survey(&name, None).await?;
            let is_change = matches!(outcome, Outcome::Changed { .. } | Outcome::Began(_));
            let kinds = kinds(&outcome);
            let mut shown = Ok(());
            tell_once(&mut told, if is_change { now_ms().to_string() } else { kinds }, || {
                shown = show::outcome(&survey, &outcome, is_json, "nothing stands against it");
            });
            shown?;
            if survey.held.state.progress.halted.is_some() {
                return Ok(Done::Partly);
            }
            if arguments.auto && is_last(&survey.held.state, &outcome) {
                return Ok(Done::Whole);
            }
        }
        if until.is_some_and(|until| Instant::now() + arguments.every > until) {
            return Ok(Done::Whole);
        }
        tokio::time::sleep(arguments.every).await;
    }
}

/// Tells something where it is not what was told last.
fn tell_once(told: &mut String, what: String, tell: impl FnOnce()) {
    if *told != what {
        tell();
        *told = what;
    }
}

/// What makes two looks the same for whoever reads: the kinds of reasons, without what counts down.
fn kinds(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Held(reasons) => {
            reasons.iter().map(|reason| reason.name()).collect::<Vec<_>>().join(" ")
        }
        Outcome::Nothing => "nothing".to_owned(),
        Outcome::Lost => "lost".to_owned(),
        Outcome::Changed { .. } | Outcome::Began(_) => String::new(),
    }
}

/// Whether an automatic rollout is at its end: there was nothing to do, for all keys.
fn is_last(state: &NamespaceState, outcome: &Outcome) -> bool {
    *outcome == Outcome::Nothing && state.progress.percent == 100
}
