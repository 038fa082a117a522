//! `cinch evaluate`: reads the payloads, has them measured, and writes what was found.
//!
//! Arguments are resolved before anything is read, so that a typo costs no minute.

use std::fs;
use std::io::stdout;
use std::path::{Path, PathBuf};

use anstream::{AutoStream, ColorChoice};
use cinch_core::codec::CodecChoice;
use cinch_evaluate::budget::{Budget, parse_seconds};
use cinch_evaluate::candidate::{Candidate, Wanted, parse_encodings};
use cinch_evaluate::evaluation::{Request, evaluate};
use cinch_evaluate::goal::{GOALS, Goal, goal_named};
use cinch_evaluate::measure::{From, Watch};
use cinch_evaluate::model::Evaluation;
use cinch_evaluate::report::terminal::{self, TerminalOptions};
use cinch_evaluate::report::{REPORT_FORMATS, json};

use crate::Done;
use crate::arguments::{EvaluateArguments, FromChoice};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::{Place, write_whole};
use crate::progress::Bar;
use crate::sources;

/// Where the report goes unless another folder is named.
const REPORT_FOLDER: &str = "report";

/// The recommended profile's file name in the report folder.
const PROFILE_FILE: &str = "profile.toml";

/// Evaluates.
pub fn run(arguments: &EvaluateArguments) -> Result<Done, Failure> {
    let goal = goal(&arguments.goal)?;
    let budgets =
        arguments.budgets.iter().map(|text| Budget::parse(text)).collect::<Result<_, _>>()?;
    let baseline = arguments.baseline.as_deref().map(Candidate::parse).transpose()?;
    let wanted = Wanted {
        encodings: arguments.encodings.as_deref().map(parse_encodings).transpose()?,
        codecs: arguments.codecs.as_deref().map(CodecChoice::parse_list).transpose()?,
        all: arguments.all,
        portable: arguments.portable,
    };
    let time_seconds = parse_seconds(&arguments.time).ok_or_else(|| {
        Failure::Argument(format!("{:?} is no time; write 60s or 2m", arguments.time))
    })?;
    let interrupt = Interrupt::handled();
    let mut bar = Bar::new(arguments.source.progress);
    let (corpus, name) = sources::read(&arguments.source, &bar, &interrupt)?;
    let request = Request {
        name: &name,
        goal,
        budgets,
        baseline,
        wanted,
        from: match arguments.from {
            FromChoice::Text => From::Text,
            FromChoice::Value => From::Value,
        },
        time_seconds,
        seed: arguments.source.seed,
    };
    let mut watch = Watch { progress: &mut bar, stop: &interrupt.stop };
    let evaluation = evaluate(&corpus, &request, &mut watch)?;
    bar.finish();
    let was_skipped = sources::tell_problems(&corpus);
    let has_failed = evaluation.trials.iter().any(|trial| trial.failures > 0);
    write(arguments, &evaluation)?;
    let is_partly = was_skipped || has_failed || evaluation.run.interrupted;
    Ok(if is_partly { Done::Partly } else { Done::Whole })
}

fn goal(name: &str) -> Result<&'static Goal, Failure> {
    goal_named(name).ok_or_else(|| {
        let goals: Vec<_> =
            GOALS.iter().map(|goal| format!("{} ({})", goal.name, goal.summary)).collect();
        Failure::Argument(format!("no goal is called {name:?}; there are {}", goals.join(", ")))
    })
}

/// Writes what was asked for: files first, so that what the terminal says of them is true.
fn write(arguments: &EvaluateArguments, evaluation: &Evaluation) -> Result<(), Failure> {
    let folder: Option<PathBuf> = match (&arguments.report, &arguments.json) {
        (Some(folder), _) => Some(folder.clone()),
        (None, None) => Some(PathBuf::from(REPORT_FOLDER)),
        (None, Some(_)) => None,
    };
    let profile = evaluation.recommended.profile.as_bytes();
    if let Some(folder) = &folder {
        fs::create_dir_all(folder).map_err(|error| Failure::file(folder, error))?;
        for format in REPORT_FORMATS {
            let place = Place::File(folder.join(format.file_name));
            write_whole(&place, (format.render)(evaluation).as_bytes())?;
        }
        write_whole(&Place::File(folder.join(PROFILE_FILE)), profile)?;
    }
    if let Some(path) = &arguments.profile {
        write_whole(&Place::File(path.clone()), profile)?;
    }
    let json_place = arguments.json.as_deref().map(Place::of);
    if let Some(place) = &json_place {
        write_whole(place, json::render(evaluation).as_bytes())?;
    }
    if json_place == Some(Place::Stdout) {
        return Ok(());
    }
    let written = arguments.profile.clone().or(folder.as_ref().map(|f| f.join(PROFILE_FILE)));
    let options = TerminalOptions {
        width: terminal_size::terminal_size().map_or(100, |(width, _)| width.0.into()).min(120),
        color: AutoStream::choice(&stdout()) != ColorChoice::Never,
        next_steps: next_steps(arguments, folder.as_deref(), written.as_deref()),
    };
    write_whole(&Place::Stdout, terminal::render(evaluation, &options).as_bytes())
}

/// What the user can do with the result.
fn next_steps(
    arguments: &EvaluateArguments,
    folder: Option<&Path>,
    profile: Option<&Path>,
) -> Vec<String> {
    let mut steps = Vec::new();
    if let Some(folder) = folder {
        steps.push(format!("open {}", folder.join("index.html").display()));
    }
    if let Some(profile) = profile {
        let profile = profile.display();
        if !arguments.source.sources.is_empty() {
            let sources = arguments.source.sources.join(" ");
            steps.push(format!("cinch estimate {sources} --profile {profile}"));
        }
        steps.push(format!("cinch pack --profile {profile} FILE"));
    }
    steps
}
