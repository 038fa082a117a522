//! Running other programs. Every command goes through here so that a program that is missing, one
//! that fails and one that prints nonsense are told apart, with the command line in the message.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::{Failure, Outcome};

/// The top of the work tree.
pub(crate) fn root() -> Outcome<PathBuf> {
    let mut git = Command::new("git");
    git.args(["rev-parse", "--show-toplevel"]);
    let text = capture(&mut git)
        .map_err(|failure| failure.remedy("run this inside a git clone of cinch"))?;
    Ok(PathBuf::from(text.trim_end()))
}

/// The cargo that started us, run at `root`, without what it told us about our own package: the
/// build script of ring runs again wherever that has changed, and everything that uses ring is
/// built again after it.
pub(crate) fn cargo(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_MANIFEST_") || text.starts_with("CARGO_PKG_") {
            command.env_remove(&name);
        }
    }
    command
}

/// Runs a command whose output goes straight to ours, and fails if it does.
pub(crate) fn run(command: &mut Command) -> Outcome {
    let line = command_line(command);
    let status = command
        .stdin(Stdio::null())
        .status()
        .map_err(|error| Failure::new(format!("`{line}` could not be started: {error}")))?;
    if status.success() {
        return Ok(());
    }
    Err(Failure::new(format!("`{line}` ended with {status}")))
}

/// Runs a command and returns what it printed. Its standard error goes to ours.
pub(crate) fn capture(command: &mut Command) -> Outcome<String> {
    let line = command_line(command);
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| Failure::new(format!("`{line}` could not be started: {error}")))?;
    if !output.status.success() {
        return Err(Failure::new(format!("`{line}` ended with {}", output.status)));
    }
    String::from_utf8(output.stdout)
        .map_err(|_| Failure::new(format!("`{line}` printed something that is not UTF-8")))
}

/// Whether a command runs and succeeds; what it prints is thrown away.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn command_line(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let mut line = program.to_string_lossy().into_owned();
    for argument in command.get_args() {
        line.push(' ');
        line.push_str(&argument.to_string_lossy());
    }
    line
}
