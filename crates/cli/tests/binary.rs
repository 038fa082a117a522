//! Cargo builds a package's binary beside its tests only where the package has a test of its own.
//! So this file is what gives all tests of the workspace a `cinch` that was built with them, by
//! the same compilation of every library; it checks that the binary is this release.

use std::process::Command;

#[test]
fn the_binary_is_this_release() {
    let ran = Command::new(env!("CARGO_BIN_EXE_cinch")).arg("--version").output().expect("it runs");
    assert_eq!(
        String::from_utf8_lossy(&ran.stdout),
        concat!("cinch ", env!("CARGO_PKG_VERSION"), "\n")
    );
}
