//! `cargo xtask test`: everything that must hold, cheapest first, so that a slip in formatting is
//! told within seconds and not after the tests. CI runs this and nothing else.
//!
//! A step never skips itself. What it needs and can't find is a failure with the line to type.

mod python;
mod tools;

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::failure::{Failure, Outcome};
use crate::{generate, process, tidy};

/// What the steps share.
struct Run {
    root: PathBuf,
    /// The interpreter that has our pinned packages; known once the step that makes it has run.
    interpreter: Option<PathBuf>,
}

/// One step: its name, what to do when it fails, and how it runs.
struct Step {
    name: &'static str,
    remedy: &'static str,
    run: fn(&mut Run) -> Outcome,
}

const STEPS: &[Step] = &[
    Step {
        name: "system tools",
        remedy: "install what is missing",
        run: |run| tools::check(&run.root),
    },
    Step {
        name: "tidy",
        remedy: "mend each place above; `cargo xtask tidy` runs this step alone",
        run: |run| tidy::check(&run.root),
    },
    Step {
        name: "format",
        remedy: "run `cargo fmt --all`",
        run: |run| cargo(run, &["fmt", "--all", "--check"]),
    },
    Step {
        name: "clippy",
        remedy: "mend each warning above; an exception is `#[expect(lint, reason = \"...\")]`",
        run: |run| cargo(run, &CLIPPY),
    },
    Step {
        name: "generated files",
        remedy: "run `cargo xtask gen` and commit the files",
        run: |run| generate::check(&run.root),
    },
    Step {
        name: "python environment",
        remedy: "check that PyPI can be reached and that the pinned versions exist",
        run: |run| {
            run.interpreter = Some(python::prepare(&run.root)?);
            Ok(())
        },
    },
    Step {
        name: "tests",
        remedy: "mend the test named above; `cargo test --package NAME TEST` runs it alone",
        run: |run| cargo(run, &["test", "--workspace", "--no-fail-fast"]),
    },
];

const CLIPPY: [&str; 6] = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];

pub(crate) fn run(arguments: &[String]) -> Outcome {
    match arguments {
        [] => run_all(process::root()?),
        [flag] if flag == "--list" => {
            STEPS.iter().for_each(|step| println!("{}", step.name));
            Ok(())
        }
        _ => Err(Failure::new("test takes only --list; to run one test, use cargo test")),
    }
}

fn run_all(root: PathBuf) -> Outcome {
    let mut run = Run { root, interpreter: None };
    let start = Instant::now();
    for (index, step) in STEPS.iter().enumerate() {
        println!("== step {} of {}: {}", index + 1, STEPS.len(), step.name);
        let step_start = Instant::now();
        let outcome = (step.run)(&mut run);
        println!("== {}: {:.1} s", step.name, step_start.elapsed().as_secs_f64());
        outcome.map_err(|failure| failure.during(step.name).remedy(step.remedy))?;
    }
    println!("all steps passed in {:.0} s", start.elapsed().as_secs_f64());
    Ok(())
}

fn cargo(run: &Run, arguments: &[&str]) -> Outcome {
    let mut command = process::cargo(&run.root, arguments);
    if let Some(interpreter) = &run.interpreter {
        command.env("CINCH_PYTHON", interpreter);
    }
    process::run(&mut command)
}

/// The folder that cargo builds into.
fn target_folder(root: &Path) -> Outcome<PathBuf> {
    let arguments = ["metadata", "--no-deps", "--format-version=1"];
    let text = process::capture(&mut process::cargo(root, &arguments))?;
    let metadata: serde_json::Value = serde_json::from_str(&text)
        .map_err(|error| Failure::new(format!("cargo metadata printed bad JSON: {error}")))?;
    match metadata["target_directory"].as_str() {
        Some(folder) => Ok(PathBuf::from(folder)),
        None => Err(Failure::new("cargo metadata names no target directory")),
    }
}
