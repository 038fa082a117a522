//! `cinch rollout`: moves a namespace through the steps, or says why not.
//!
//! Every decision is the library's (`cinch_stores::control`); here the configuration is read, the
//! control store opened, and what came of it put into words or JSON.

pub mod arguments;
mod lag;
mod member;
mod preflight;
mod show;
mod status;
mod watch;

use std::path::Path;
use std::sync::Arc;

use cinch_rollout::settings::{Configuration, Sources};
use cinch_rollout::steps::{STEPS, Step};
use cinch_stores::control::Control;
use cinch_stores::control::controller::{Controller, Outcome};
use cinch_stores::control::decision::{Lag, Request, is_managed};

use crate::Done;
use crate::failure::Failure;
use crate::walk::schema_in_words;
use arguments::{
    AdvanceArguments, BackArguments, PlaceArguments, RequestArguments, RolloutArguments,
    RolloutCommand,
};

/// The variables of the process, of which a configuration looks at `CINCH_*`.
pub type Variables = Vec<(String, String)>;

/// Does what was asked.
pub fn run(arguments: &RolloutArguments, variables: Variables) -> Result<Done, Failure> {
    match &arguments.command {
        RolloutCommand::Plan(arguments) => {
            let place = &arguments.configuration;
            let configuration = read(&place.config, variables, None)?;
            let names = managed_names(&configuration, place.namespace.as_deref())?;
            show::plan(&configuration, &names, arguments.bake, place.json)
        }
        RolloutCommand::Status(arguments) => wait(status::run(arguments, variables)),
        RolloutCommand::Advance(arguments) => wait(advance(arguments, variables)),
        RolloutCommand::Back(arguments) => wait(back(arguments, variables)),
        RolloutCommand::Watch(arguments) => wait(watch::run(arguments, variables)),
        RolloutCommand::Preflight(arguments) => wait(preflight::run(arguments)),
        RolloutCommand::Member(arguments) => wait(member::run(arguments, variables)),
    }
}

async fn advance(arguments: &AdvanceArguments, variables: Variables) -> Result<Done, Failure> {
    let place = &arguments.place;
    let (controller, name) = open(place, variables, true).await?;
    let outcome = if arguments.resume {
        controller.resume(&name).await?
    } else {
        let request = request(&arguments.request);
        controller.advance(&name, &request, lag_of(place)).await?
    };
    tell(&controller, &name, &outcome, place.configuration.json, "there is no step after it").await
}

async fn back(arguments: &BackArguments, variables: Variables) -> Result<Done, Failure> {
    let place = &arguments.place;
    let to = arguments.to.as_deref().map(step_named).transpose()?;
    let (controller, name) = open(place, variables, false).await?;
    let outcome = controller.back(&name, to).await?;
    tell(&controller, &name, &outcome, place.configuration.json, "it stands there").await
}

/// Prints what came of a command; nothing changed is exit status 3.
async fn tell(
    controller: &Controller,
    name: &str,
    outcome: &Outcome,
    is_json: bool,
    nothing: &str,
) -> Result<Done, Failure> {
    let survey = controller.survey(name, None).await?;
    show::outcome(&survey, outcome, is_json, nothing)?;
    match outcome {
        Outcome::Changed { .. } => Ok(Done::Whole),
        Outcome::Held(_) | Outcome::Began(_) | Outcome::Nothing | Outcome::Lost => Ok(Done::Partly),
    }
}

/// Runs a command to its end. One thread is enough for one command.
fn wait<T>(command: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| Failure::file("the runtime", error))?.block_on(command)
}

/// The controller of a command and the namespace that it is about.
async fn open(
    place: &PlaceArguments,
    variables: Variables,
    creates: bool,
) -> Result<(Controller, String), Failure> {
    let controller = controller(place, variables, creates).await?;
    let names =
        managed_names(controller.configuration(), place.configuration.namespace.as_deref())?;
    match <[String; 1]>::try_from(names) {
        Ok([name]) => Ok((controller, name)),
        Err(names) => Err(Failure::Argument(format!(
            "the configuration has {} managed namespaces; say which: --namespace {}",
            names.len(),
            names.join("|")
        ))),
    }
}

async fn controller(
    place: &PlaceArguments,
    variables: Variables,
    creates: bool,
) -> Result<Controller, Failure> {
    let configuration = read(&place.configuration.config, variables, None)?;
    let control = Control::open(&place.control, creates).await?;
    if control.may_forget() {
        eprintln!(
            "cinch: {} may evict: keep the control plane where noeviction and persistence are set",
            control.store().name()
        );
    }
    if configuration.fleet.is_empty() {
        eprintln!(
            "cinch: the configuration declares no fleet (expected under [fleet]): nobody notices a \
             process that is absent"
        );
    }
    let mut controller = Controller::new(control, Arc::new(configuration));
    for limit in &place.rules.limits {
        controller.limits.set(limit)?;
    }
    controller.bake_ms =
        place.rules.bake.map(|bake| u64::try_from(bake.as_millis()).unwrap_or(u64::MAX));
    Ok(controller)
}

/// The configuration of an operator, or of a process by its name.
fn read(
    path: &Path,
    variables: Variables,
    process: Option<&str>,
) -> Result<Configuration, Failure> {
    let name = process.unwrap_or("operator").to_owned();
    let sources = Sources::read(path, variables, name)?;
    let mut configuration = sources.with_schemas(schema_in_words).configuration()?;
    if let Some(process) = process {
        process.clone_into(&mut configuration.process);
    }
    for warning in &configuration.warnings {
        eprintln!("cinch: {warning}");
    }
    Ok(configuration)
}

/// The namespaces that a command is about: the one that was named, or all that are managed.
fn managed_names(
    configuration: &Configuration,
    named: Option<&str>,
) -> Result<Vec<String>, Failure> {
    if let Some(name) = named {
        if !configuration.namespaces.contains_key(name) {
            let known: Vec<&str> = configuration.namespaces.keys().map(String::as_str).collect();
            let known = known.join(", ");
            let why =
                format!("there is no namespace {name} in the configuration; there is {known}");
            return Err(Failure::Argument(why));
        }
        return Ok(vec![name.to_owned()]);
    }
    let managed = configuration.namespaces.values().filter(|namespace| is_managed(namespace));
    let names: Vec<String> = managed.map(|namespace| namespace.name.clone()).collect();
    if names.is_empty() {
        let why = "no namespace of the configuration is managed: say managed = true in the one \
                   that is to be rolled out";
        return Err(Failure::Argument(why.to_owned()));
    }
    Ok(names)
}

fn request(arguments: &RequestArguments) -> Request {
    Request { first: arguments.first.clone(), percent: arguments.percent }
}

fn step_named(name: &str) -> Result<Step, Failure> {
    Step::named(name).ok_or_else(|| {
        let names: Vec<&str> = STEPS.iter().map(|row| row.name).collect();
        Failure::Argument(format!("there is no step {name}; there are {}", names.join(", ")))
    })
}

fn lag_of(place: &PlaceArguments) -> Option<Lag> {
    place.rules.lag_command.as_deref().map(lag::measure)
}
