//! The Python environment of the tests: one venv with the pinned packages of every requirements
//! file, kept beside cargo's output and made anew only when a pin or the interpreter changed.
//!
//! The tests start `$CINCH_PYTHON`, so they never see the packages of the machine they run on.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{Failure, Outcome};
use crate::process;

const REQUIREMENTS: &[&str] = &["integration/python/requirements.txt", "spec/requirements.txt"];

/// Makes the environment if it is missing or stale, and returns its interpreter.
pub(crate) fn prepare(root: &Path) -> Outcome<PathBuf> {
    let files: Vec<PathBuf> =
        REQUIREMENTS.iter().map(|file| root.join(file)).filter(|file| file.exists()).collect();
    let stamp = stamp(&files)?;
    let venv = super::target_folder(root)?.join("python");
    let stamp_file = venv.join("cinch-stamp");
    let interpreter = venv.join("bin/python");
    let is_fresh = fs::read_to_string(&stamp_file).is_ok_and(|old| old == stamp);
    if is_fresh && process::succeeds(Command::new(&interpreter).args(["-c", ""])) {
        println!("{} is up to date", venv.display());
        return Ok(interpreter);
    }
    process::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv))?;
    if !files.is_empty() {
        process::run(&mut install(&interpreter, &files))?;
    }
    // Written last, so that an installation that was cut short is done again.
    fs::write(&stamp_file, stamp)
        .map_err(|error| Failure::new(format!("{}: {error}", stamp_file.display())))?;
    Ok(interpreter)
}

fn install(interpreter: &Path, files: &[PathBuf]) -> Command {
    let mut pip = Command::new(interpreter);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    for file in files {
        pip.arg("--requirement").arg(file);
    }
    pip
}

/// All that the environment depends on: the interpreter's version and every pin.
fn stamp(files: &[PathBuf]) -> Outcome<String> {
    let mut stamp = process::capture(Command::new("python3").arg("--version"))?;
    for file in files {
        let text = fs::read_to_string(file)
            .map_err(|error| Failure::new(format!("{}: {error}", file.display())))?;
        if let Some(line) = first_unpinned(&text) {
            return Err(Failure::new(format!("{}: {line:?} has no version", file.display()))
                .remedy("pin it with ==, so that every run tests the same"));
        }
        stamp.push_str(&text);
    }
    Ok(stamp)
}

fn first_unpinned(requirements: &str) -> Option<&str> {
    let is_package = |line: &&str| !line.is_empty() && !line.starts_with(['#', '-']);
    requirements.lines().map(str::trim).filter(is_package).find(|line| !line.contains("=="))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_without_a_version_is_found() {
        assert_eq!(first_unpinned("# tests\n\npytest==8.3.4\n"), None);
        assert_eq!(first_unpinned("pytest==8.3.4\nmsgpack>=1\n"), Some("msgpack>=1"));
    }
}
