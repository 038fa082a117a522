//! Starts the reference decoder of `spec/` under the interpreter that `$CINCH_PYTHON` names, or
//! `python3`. A package that is missing is a failure that says how to install it, never a skip.

use std::process::Command;

use super::files::root;

/// A command for a program of `spec/`, once it is known that its packages are there.
pub(crate) fn command(program: &str) -> Command {
    let interpreter = std::env::var("CINCH_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let packages = "import brotli, lz4.block, zstandard";
    let output = Command::new(&interpreter).args(["-c", packages]).output();
    let is_ready = output.as_ref().is_ok_and(|output| output.status.success());
    assert!(
        is_ready,
        "{interpreter} lacks a package of spec/requirements.txt: run `cargo xtask test`, which \
         sets it up, or `pip install --requirement spec/requirements.txt` and name the \
         interpreter in CINCH_PYTHON ({output:?})"
    );
    let mut command = Command::new(interpreter);
    // The reference decoder leaves no compiled files in the work tree.
    command.arg("-B").arg(root().join("spec").join(program));
    command
}
