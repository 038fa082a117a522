//! `cargo xtask bench`: the benchmarks, always in release mode. A debug build's times mean
//! nothing, so there is no way to ask for one here.

use crate::failure::{Failure, Outcome};
use crate::process;

const PACKAGE: &str = "cinch-bench";

pub(crate) fn run(arguments: &[String]) -> Outcome {
    let root = process::root()?;
    if !root.join("bench/Cargo.toml").exists() {
        return Err(Failure::new("bench/Cargo.toml is missing, so there is nothing to run"));
    }
    let mut command = process::cargo(&root, &["run", "--release", "--package", PACKAGE, "--"]);
    command.args(arguments);
    process::run(&mut command)
}
