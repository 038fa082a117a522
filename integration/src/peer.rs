//! The programs of others that check our work: Python with its packages, Maven with Jackson,
//! Chromium. A test that needs one fails with the line to type; it never skips itself.
//!
//! Python is the interpreter that `cargo xtask test` prepares with our pinned packages.

use std::env;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use crate::binary::target_folder;

/// The root of the work tree.
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this package is a folder of the tree")
}

/// A program of others that is about to be run.
pub struct Peer(Command);

/// The prepared interpreter.
pub(crate) fn interpreter() -> OsString {
    env::var_os("CINCH_PYTHON").expect(
        "CINCH_PYTHON names no interpreter: run `cargo xtask test`, or \
         `python3 -m venv DIR && DIR/bin/pip install -r integration/python/requirements.txt` \
         and set it to DIR/bin/python",
    )
}

/// A script of `integration/python`, under the prepared interpreter.
pub fn python(script: &str) -> Peer {
    let mut command = Command::new(interpreter());
    command.arg(repository().join("integration/python").join(script));
    Peer(command)
}

/// A script of `deploy`, under the prepared interpreter.
pub fn deployed(script: &str) -> Peer {
    let mut command = Command::new(interpreter());
    command.arg(repository().join("deploy").join(script));
    Peer(command)
}

/// syslog-ng, which `.ci/run` unpacks into the cache, because Debian installs either it or rsyslog.
/// It runs in this folder with this configuration, until it is ended.
pub fn syslog_ng(folder: &Path, config: &str) -> Command {
    let home = std::env::var("HOME").unwrap_or_else(|_| "/root".to_owned());
    let root = Path::new(&home).join(".cache/cinch/syslog-ng");
    let modules = |path: &str| root.join(path).display().to_string();
    let libraries = ["usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu", "usr/lib/syslog-ng"];
    std::fs::write(folder.join("syslog-ng.conf"), config).expect("the folder takes a file");
    let mut command = Command::new(root.join("usr/sbin/syslog-ng"));
    command.current_dir(folder).env("LD_LIBRARY_PATH", libraries.map(modules).join(":"));
    command.args(["--foreground", "--no-caps", "--stderr", "--cfgfile=syslog-ng.conf"]);
    command.args(["--persist-file=persist", "--pidfile=pid", "--control=control"]);
    command.arg(format!("--module-path={}", modules("usr/lib/syslog-ng/3.38")));
    command
}

/// Maven on a copy of `integration/java`, so that nothing is built into the tree.
pub fn maven(project: &Path) -> Peer {
    for file in ["pom.xml", "src/main/java/SmileReader.java"] {
        let to = project.join(file);
        std::fs::create_dir_all(to.parent().expect("a file is in a folder")).expect("a folder");
        let from = repository().join("integration/java").join(file);
        std::fs::copy(from, to).expect("the Java sources are there");
    }
    let mut command = Command::new("mvn");
    command.args(["-q", "-B", "compile", "exec:java"]).current_dir(project);
    Peer(command)
}

/// A program in Go, built from this folder of `integration` into the target folder. Go builds
/// nothing anew where nothing has changed.
pub(crate) fn go_program(folder: &str) -> PathBuf {
    let file = target_folder().join(folder);
    let mut go = Command::new("go");
    go.args(["build", "-trimpath", "-ldflags=-s", "-o"]).arg(&file).arg(".");
    go.current_dir(repository().join("integration").join(folder));
    Peer(go).run("");
    file
}

/// Fluentd's client library for Go, in a program that sends through it.
pub fn fluent_go() -> Peer {
    Peer(Command::new(go_program("fluent")))
}

/// Chromium without a window, with a profile of its own.
pub fn chromium(profile: &Path) -> Peer {
    let names = ["chromium", "chromium-browser"];
    let found = names.iter().find(|name| is_on_path(name)).unwrap_or(&names[0]);
    let mut command = Command::new(found);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]);
    command.args(["--enable-logging=stderr", "--v=0"]);
    command.arg(format!("--user-data-dir={}", profile.display()));
    Peer(command)
}

fn is_on_path(name: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).map(|folder: PathBuf| folder.join(name)).any(|file| file.is_file())
}

impl Peer {
    /// Adds arguments.
    pub fn and(mut self, arguments: &[&str]) -> Peer {
        self.0.args(arguments);
        self
    }

    /// Gives it these bytes, and returns what it wrote to standard output and standard error;
    /// it must succeed.
    #[track_caller]
    pub fn run(mut self, input: impl Into<Vec<u8>>) -> (String, String) {
        let input = input.into();
        let child = self.0.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = child.spawn().unwrap_or_else(|error| {
            let name = self.0.get_program().to_string_lossy().into_owned();
            let package = match name.as_str() {
                "mvn" => "maven default-jdk-headless",
                "go" => "golang-go",
                name => name,
            };
            panic!("{name}: {error}; apt-get update && apt-get install --yes {package}")
        });
        let mut stdin = child.stdin.take().expect("standard input is a pipe");
        let writer = thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().expect("it can be waited for");
        writer.join().expect("the writer does not panic");
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{:?}: {}\n{out}\n{err}", self.0, output.status);
        (out, err)
    }
}
