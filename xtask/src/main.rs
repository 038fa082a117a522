//! `cargo xtask`: every command that works on this repository, in one table. CI and developers
//! run the same ones, so that what passes here passes there.
//!
//! Each subcommand is one file beside this one; adding one is that file and a row of `COMMANDS`.

mod bench;
mod failure;
mod fuzz;
mod generate;
mod process;
mod test;
mod tidy;

use std::process::ExitCode;

use failure::{Failure, Outcome};

/// A subcommand: what it is called, how it is used, what it does.
struct Command {
    name: &'static str,
    usage: &'static str,
    summary: &'static str,
    run: fn(&[String]) -> Outcome,
}

const COMMANDS: &[Command] = &[
    Command {
        name: "test",
        usage: "test [--list]",
        summary: "every check and test there is, as CI runs them; --list only names the steps",
        run: test::run,
    },
    Command {
        name: "tidy",
        usage: "tidy [--list]",
        summary: "the rules that no compiler checks; --list prints them",
        run: tidy::run,
    },
    Command {
        name: "gen",
        usage: "gen [--check]",
        summary: "write the generated files, or fail if one is stale",
        run: generate::run,
    },
    Command {
        name: "bench",
        usage: "bench [ARGS...]",
        summary: "run the benchmarks in release mode; ARGS go to them",
        run: bench::run,
    },
    Command {
        name: "fuzz",
        usage: "fuzz [--seconds N]",
        summary: "run every fuzz target for N seconds (60)",
        run: fuzz::run,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[String]) -> Outcome {
    let Some((name, rest)) = arguments.split_first() else {
        return Err(Failure::new("no command was named").remedy(usage()));
    };
    if matches!(name.as_str(), "help" | "--help" | "-h") {
        println!("{}", usage());
        return Ok(());
    }
    match COMMANDS.iter().find(|command| command.name == name) {
        Some(command) => (command.run)(rest),
        None => Err(Failure::new(format!("there is no command {name:?}")).remedy(usage())),
    }
}

fn usage() -> String {
    let mut text = String::from("the commands are:\n");
    for command in COMMANDS {
        text.push_str(&format!("  cargo xtask {:<20} {}\n", command.usage, command.summary));
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_usage_starts_with_its_name() {
        for command in COMMANDS {
            assert!(command.usage.starts_with(command.name), "{}", command.name);
        }
    }

    #[test]
    fn an_unknown_command_is_refused_and_the_known_ones_are_listed() {
        let failure = dispatch(&["tset".to_owned()]).unwrap_err().to_string();
        assert!(failure.contains("tset") && failure.contains("cargo xtask tidy"), "{failure}");
    }
}
