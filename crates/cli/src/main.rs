//! The `cinch` binary: one subcommand a file, no logic of its own.
//!
//! Exit status: 0 for success, 1 for an error, 2 for wrong arguments, 3 when the work was done but
//! some input was skipped or did not come back, nothing was worth writing or a rollout did not go
//! on, 130 when it was
//! interrupted and there is no result.

mod arguments;
mod backfill;
mod config;
mod estimate;
mod evaluate;
mod failure;
mod generate;
mod ingest;
mod inputs;
mod inspect;
mod interrupt;
mod logs;
mod output;
mod pack;
mod profile;
mod progress;
mod proxy;
mod published;
mod records;
mod report;
mod rollout;
mod sample;
mod schema;
mod sources;
mod train;
mod unpack;
mod values;
mod verify;
mod walk;

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command};
use failure::Failure;

/// What a command that did its work has to say of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Done {
    /// All of it was done.
    Whole,
    /// Some input was skipped or did not come back, nothing was worth writing, or a rollout did not
    /// go on; what and why was printed.
    Partly,
}

/// The environment's variables; those that are no text are none of ours.
fn variables() -> Vec<(String, String)> {
    let text = |(name, value): (OsString, OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    env::vars_os().filter_map(text).collect()
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match arguments.command {
        Command::Evaluate(arguments) => {
            evaluate::run(&arguments, env::current_exe().ok(), config::evaluations_folder())
        }
        Command::Estimate(arguments) => estimate::run(&arguments),
        Command::Train(arguments) => train::run(&arguments),
        Command::Schema(arguments) => schema::run(&arguments),
        Command::Sample(arguments) => sample::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Pack(arguments) => pack::run(&arguments),
        Command::Unpack(arguments) => unpack::run(&arguments),
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::Rollout(arguments) => rollout::run(&arguments, variables()),
        Command::Backfill(arguments) => backfill::run(&arguments, variables()),
        Command::Verify(arguments) => verify::run(&arguments, variables()),
        Command::Values(command) => values::run(&command, variables()),
        Command::MeasureWorker => evaluate::serve(),
        Command::Generate(arguments) => generate::run(&arguments),
        Command::Ingest(arguments) => ingest::run(&arguments),
        Command::Logs(arguments) => logs::run(&arguments),
        Command::Proxy(arguments) => proxy::run(&arguments, variables()),
    };
    match result {
        Ok(Done::Whole) => ExitCode::SUCCESS,
        Ok(Done::Partly) => ExitCode::from(3),
        // Whoever reads our output has gone; there is nobody to tell.
        Err(Failure::Pipe) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("cinch: {failure}");
            ExitCode::from(failure.exit_code())
        }
    }
}
