//! Runs the binary and says what came of it. Whatever a test expects, two things are never
//! acceptable and are checked for every run: a panic, and an end by a signal.
//!
//! Standard input is written by a thread of its own, so that no test can block on a full pipe.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use serde_json::Value;

use crate::binary;

/// A run of the binary that was not started yet.
pub struct Cinch {
    arguments: Vec<OsString>,
    folder: Option<PathBuf>,
    state: Option<PathBuf>,
    input: Vec<u8>,
}

/// A run of the binary with these arguments, which remembers nothing of other runs.
pub fn cinch<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Cinch {
    let arguments = arguments.into_iter().map(|argument| argument.as_ref().to_owned()).collect();
    Cinch { arguments, folder: None, state: None, input: Vec::new() }
}

impl Cinch {
    /// Adds arguments.
    pub fn and<A: AsRef<OsStr>>(mut self, more: impl IntoIterator<Item = A>) -> Cinch {
        self.arguments.extend(more.into_iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// Gives it these bytes on standard input.
    pub fn input(mut self, bytes: impl Into<Vec<u8>>) -> Cinch {
        self.input = bytes.into();
        self
    }

    /// Runs it in this folder.
    pub fn inside(mut self, folder: impl AsRef<Path>) -> Cinch {
        self.folder = Some(folder.as_ref().to_owned());
        self
    }

    /// Has it keep what it remembers in this folder.
    pub fn remembering(mut self, state: impl AsRef<Path>) -> Cinch {
        self.state = Some(state.as_ref().to_owned());
        self
    }

    /// The command, for tests that start and end it themselves.
    pub fn command(&self) -> Command {
        let mut command = Command::new(binary());
        command.args(&self.arguments).env_remove("RUST_BACKTRACE");
        // What a test finds must not depend on what another left in somebody's home folder.
        command.env_remove("HOME").env_remove("XDG_STATE_HOME");
        if let Some(state) = &self.state {
            command.env("XDG_STATE_HOME", state);
        }
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        command
    }

    /// Runs it to its end.
    pub fn run(self) -> Ran {
        let mut child = self
            .command()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary can be started");
        let mut stdin = child.stdin.take().expect("standard input is a pipe");
        let (arguments, input) = (self.arguments, self.input);
        // A run that needs no input closes it early, which is no failure of the test.
        let writer = thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().expect("the binary can be waited for");
        writer.join().expect("the writer does not panic");
        let ran = Ran {
            code: output.status.code(),
            out: output.stdout,
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
            arguments,
        };
        assert!(ran.code.is_some(), "{ran} was ended by a signal: {}", output.status);
        assert!(!ran.err.contains("panicked"), "{ran} panicked: {}", ran.err);
        ran
    }
}

/// A process that a test has started and may leave behind when it fails.
pub struct Started(pub Child);

impl Drop for Started {
    fn drop(&mut self) {
        // One that has ended already can't be ended, which is as it should be.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// What a run came to.
pub struct Ran {
    /// The exit status.
    pub code: Option<i32>,
    /// What it wrote to standard output.
    pub out: Vec<u8>,
    /// What it wrote to standard error.
    pub err: String,
    arguments: Vec<OsString>,
}

impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let arguments: Vec<_> = self.arguments.iter().map(|a| a.to_string_lossy()).collect();
        write!(f, "`cinch {}`", arguments.join(" "))
    }
}

impl Ran {
    /// Checks the exit status.
    #[track_caller]
    pub fn code(self, expected: i32) -> Ran {
        assert_eq!(self.code, Some(expected), "{self} said: {}", self.err);
        self
    }

    /// Checks that it succeeded and had nothing to say.
    #[track_caller]
    pub fn quiet(self) -> Ran {
        let ran = self.code(0);
        assert_eq!(ran.err, "", "{ran} was expected to say nothing");
        ran
    }

    /// Checks that it failed with this status, wrote nothing and said why in one line, which holds
    /// each of these words.
    #[track_caller]
    pub fn refused(self, code: i32, words: &[&str]) -> Ran {
        let ran = self.code(code).says(words);
        assert!(ran.err.starts_with("cinch: "), "{ran} said: {}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{ran} said more than a line: {}", ran.err);
        assert!(ran.out.is_empty(), "{ran} wrote output although it failed");
        ran
    }

    /// Checks that standard error holds each of these words.
    #[track_caller]
    pub fn says(self, words: &[&str]) -> Ran {
        for word in words {
            assert!(self.err.contains(word), "{self} did not say {word:?}: {}", self.err);
        }
        self
    }

    /// Standard output as text.
    #[track_caller]
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.out).unwrap_or_else(|_| panic!("{self} wrote no UTF-8"))
    }

    /// Standard output as one JSON value, with nothing before or after it.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.out).unwrap_or_else(|e| panic!("{self}: {e}: {}", self.err))
    }
}
