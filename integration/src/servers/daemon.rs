//! One server process: started on a free port, waited for until it answers, and ended when it is
//! dropped, also by a test that fails.
//!
//! Between two tries to reach it the wait is for its end, so that a server that dies at once is
//! told at once, with what it wrote.

use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use tempfile::TempDir;

/// How long a server may take to answer: a hundred times what it takes on an idle machine.
const START_MAX: Duration = Duration::from_secs(120);

/// How long it is given between two tries to reach it.
const BETWEEN_TRIES: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// A free port can be taken by somebody else before the server listens on it.
const PORTS_TRIED: usize = 3;

/// The user and group `nobody`, in whose name servers run that refuse to be root.
const NOBODY: u32 = 65_534;

/// The file that takes what the server writes.
const LOG: &str = "log";

/// A server that runs.
pub(super) struct Daemon {
    child: Child,
    port: u16,
    stop: Signal,
    /// Removed after the process has ended, because fields are dropped after `drop`.
    folder: TempDir,
}

impl Daemon {
    /// Starts what `command` gives for a port, and waits until `answers`.
    pub(super) fn start(
        folder: TempDir,
        stop: Signal,
        command: impl Fn(&Path, u16) -> Command,
        answers: impl Fn(&Path, u16) -> bool,
    ) -> Daemon {
        Daemon::start_at(closed_port, folder, stop, command, answers)
    }

    /// The same on this port, for a server that others look for before it is there.
    pub(super) fn start_on(
        port: u16,
        folder: TempDir,
        stop: Signal,
        command: impl Fn(&Path, u16) -> Command,
        answers: impl Fn(&Path, u16) -> bool,
    ) -> Daemon {
        Daemon::start_at(|| port, folder, stop, command, answers)
    }

    fn start_at(
        choose_port: impl Fn() -> u16,
        folder: TempDir,
        stop: Signal,
        command: impl Fn(&Path, u16) -> Command,
        answers: impl Fn(&Path, u16) -> bool,
    ) -> Daemon {
        let mut folder = Some(folder);
        for _ in 0..PORTS_TRIED {
            let here = folder.take().expect("it is put back when the start fails");
            let port = choose_port();
            let log = File::create(here.path().join(LOG)).expect("the folder takes a file");
            let child = command(here.path(), port)
                .current_dir(here.path())
                .stdin(Stdio::null())
                .stdout(log.try_clone().expect("a file can be shared"))
                .stderr(log)
                .spawn()
                .expect("a server that was found can be started");
            let mut daemon = Daemon { child, port, stop, folder: here };
            if daemon.wait(&answers) {
                return daemon;
            }
            let log = daemon.log();
            assert!(log.to_lowercase().contains("in use"), "a server did not start: {log}");
            let empty = tempfile::tempdir().expect("a temporary folder can be made");
            folder = Some(std::mem::replace(&mut daemon.folder, empty));
        }
        panic!("{PORTS_TRIED} free ports were taken before a server could listen on them")
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Waits until it answers; false where it ended instead.
    fn wait(&mut self, answers: impl Fn(&Path, u16) -> bool) -> bool {
        let process = pidfd_open(Pid::from_child(&self.child), PidfdFlags::empty())
            .expect("a process that was just started can be watched");
        let start = Instant::now();
        while !answers(self.folder.path(), self.port) {
            let mut ended = [PollFd::new(&process, PollFlags::IN)];
            if poll(&mut ended, Some(&BETWEEN_TRIES)).is_ok_and(|count| count > 0) {
                return false;
            }
            assert!(start.elapsed() < START_MAX, "a server never answered: {}", self.log());
        }
        true
    }

    fn log(&self) -> String {
        let log = fs::read(self.folder.path().join(LOG)).unwrap_or_default();
        String::from_utf8_lossy(&log).into_owned()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // One that has ended already can't be ended, which is as it should be.
        let _ended = kill_process(Pid::from_child(&self.child), self.stop);
        drop(self.child.wait());
    }
}

/// A server that the tests of a file share: it lives as long as one of them holds it.
pub(super) struct Shared<S>(Mutex<Weak<S>>);

impl<S> Shared<S> {
    pub(super) const fn new() -> Shared<S> {
        Shared(Mutex::new(Weak::new()))
    }

    /// The one that runs, or else a new one.
    pub(super) fn or_start(&self, start: impl FnOnce() -> S) -> Arc<S> {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        running.upgrade().unwrap_or_else(|| {
            let started = Arc::new(start());
            *running = Arc::downgrade(&started);
            started
        })
    }
}

/// A port of this machine on which nothing listens.
pub fn closed_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("this machine has a free port");
    listener.local_addr().expect("a listener has an address").port()
}

/// Makes the command run as nobody and gives nobody the folder, where we are root.
pub(super) fn without_privileges<'a>(command: &'a mut Command, folder: &Path) -> &'a mut Command {
    if !rustix::process::geteuid().is_root() {
        return command;
    }
    chown(folder, Some(NOBODY), Some(NOBODY)).expect("root may give a folder away");
    command.uid(NOBODY).gid(NOBODY)
}

/// Runs a command to its end, with this on its standard input, and returns its standard output.
#[track_caller]
pub(crate) fn output(command: &mut Command, input: Vec<u8>, package: &str) -> String {
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.unwrap_or_else(|error| {
        let name = command.get_program().to_string_lossy().into_owned();
        panic!("{name}: {error}; apt-get update && apt-get install --yes {package}")
    });
    let mut stdin = child.stdin.take().expect("standard input is a pipe");
    let writer = std::thread::spawn(move || drop(std::io::Write::write_all(&mut stdin, &input)));
    let output = child.wait_with_output().expect("it can be waited for");
    writer.join().expect("the writer does not panic");
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}: {err}", output.status);
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}
