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
    built(&["--test", "binary"]);
    profile_folder().join("cinch")
}

/// The cart service of `examples/cart-service`: the program that takes the addresses of its stores,
/// and the one that brings its own servers. `CINCH_CART_SERVICE` names the folder of another build,
/// such as `target/release`.
pub fn cart_services() -> &'static [PathBuf; 2] {
    static SERVICES: OnceLock<[PathBuf; 2]> = OnceLock::new();
    SERVICES.get_or_init(|| {
        let folder = env::var_os("CINCH_CART_SERVICE").map(PathBuf::from).unwrap_or_else(|| {
            built(&["--test", "service", "--example", "with_servers"]);
            profile_folder()
        });
        [folder.join("cart-service"), folder.join("examples").join("with_servers")]
    })
}

/// Has cargo build these targets and the binaries beside them exactly as `cargo test --workspace`
/// does: any other choice of packages unites other features and builds every library once more.
fn built(what: &[&str]) {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["test", "--workspace", "--no-run", "--quiet"]).args(what);
    cargo.arg("--target-dir").arg(target_folder());
    // Cargo tells a test which package it belongs to. The build script of ring runs again wherever
    // these variables have changed, and everything that uses ring is built again after it.
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_MANIFEST_") || text.starts_with("CARGO_PKG_") {
            cargo.env_remove(&name);
        }
    }
    if profile_folder().ends_with("release") {
        cargo.arg("--release");
    }
    let status = cargo.current_dir(repository()).status().expect("cargo can be started");
    assert!(status.success(), "it does not build: {cargo:?}");
}
