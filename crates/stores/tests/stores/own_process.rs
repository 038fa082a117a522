//! One test of this binary in a process of its own, which can be killed, stopped and measured as no
//! task can. It is marked as ignored, so that nothing runs it but its parent.

use std::env;
use std::process::{Command, Stdio};

/// Says what the process is for; a test of this kind does nothing without it.
const TASK: &str = "CINCH_STORES_TASK";

/// A command that runs the ignored test of this path, which finds `task` in [`task`].
pub fn command(test: &str, task: &str) -> Command {
    let mut command = Command::new(env::current_exe().expect("a test knows its own file"));
    command.args([test, "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
    command.env(TASK, task).env("RUST_BACKTRACE", "0").stdin(Stdio::piped());
    command
}

/// What this process was started for; nothing where somebody runs ignored tests by hand.
pub fn task() -> Option<String> {
    env::var(TASK).ok()
}
