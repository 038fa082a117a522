//! Finds the binary under test. `CINCH_BINARY` names another one, such as a release; otherwise it
//! is built from this tree, in the profile of the tests.
//!
//! Cargo builds no binary of another package for a test, and one that lies there may be old. So it
//! is always asked to build; where nothing changed that takes a fraction of a second.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::repository;

/// The path of the binary.
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| env::var_os("CINCH_BINARY").map_or_else(build, PathBuf::from))
}

/// The folder that the tests were built into: `target/debug`, or that of another profile.
fn profile_folder() -> PathBuf {
    let test = env::current_exe().expect("a test knows its own file");
    let folder = test.parent().and_then(Path::parent).expect("tests are in target/PROFILE/deps");
    folder.to_owned()
}

/// The folder that cargo builds into.
pub(crate) fn target_folder() -> PathBuf {
    let folder = profile_folder();
    folder.parent().expect("a profile is a folder of the target folder").to_owned()
}

fn build() -> PathBuf {
    let (folder, target) = (profile_folder(), target_folder());
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--package", "cinch-cli", "--target-dir"]).arg(target);
    if folder.ends_with("release") {
        cargo.arg("--release");
    }
    let status = cargo.current_dir(repository()).status().expect("cargo can be started");
    assert!(status.success(), "the binary does not build: {cargo:?}");
    folder.join("cinch")
}
