//! A running `cinch ingest`, and what a test asks of it: where it listens, what it counts, and that
//! it ends. Clients are plain sockets, written from the specification.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{ChildStdout, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::{Folder, Started, cinch};

/// How long a test waits for what should come.
const PATIENCE: Duration = Duration::from_secs(60);

/// The lines of its standard error that are kept until somebody reads them.
const LINES_KEPT: usize = 100_000;

/// A running ingress.
pub struct Ingress {
    started: Started,
    lines: Receiver<String>,
    said: Vec<String>,
    status: SocketAddr,
    listeners: Vec<(String, SocketAddr)>,
}

impl Ingress {
    /// Starts one with this configuration, to which a status page is added, and waits until it
    /// listens. Addresses of listeners should have port 0.
    #[track_caller]
    pub fn start(folder: &Folder, config: &str) -> Ingress {
        Ingress::start_with(folder, config, Stdio::null())
    }

    /// The same, with this as its standard output.
    #[track_caller]
    pub fn start_with(folder: &Folder, config: &str, output: Stdio) -> Ingress {
        Ingress::start_as(folder, config, output, &[])
    }

    /// Starts one with these variables in its environment.
    #[track_caller]
    pub fn start_in(folder: &Folder, config: &str, variables: &[(&str, &str)]) -> Ingress {
        Ingress::start_as(folder, config, Stdio::null(), variables)
    }

    #[track_caller]
    fn start_as(
        folder: &Folder,
        config: &str,
        output: Stdio,
        variables: &[(&str, &str)],
    ) -> Ingress {
        let text = format!("status = \"127.0.0.1:0\"\n{config}");
        let file = folder.write("ingest.toml", text);
        let mut command = cinch(["ingest", "--config", &file]).command();
        let mut child = command
            .current_dir(folder.path())
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary can be started");
        let stderr = child.stderr.take().expect("standard error is a pipe");
        let (sender, lines) = sync_channel(LINES_KEPT);
        thread::spawn(move || {
            BufReader::new(stderr).lines().map_while(Result::ok).for_each(|line| {
                drop(sender.send(line));
            });
        });
        let (said, listeners) = (Vec::new(), Vec::new());
        let status = ([127, 0, 0, 1], 0).into();
        let mut ingress = Ingress { started: Started(child), lines, said, status, listeners };
        loop {
            let line = ingress.line();
            if let Some(rest) = line.strip_prefix("cinch: listener ") {
                let (name, address) = rest.split_once(" on ").expect("a name and an address");
                let address = address.parse().expect("an address");
                ingress.listeners.push((name.to_owned(), address));
            } else if let Some(rest) = line.strip_prefix("cinch: status on http://") {
                let address = rest.strip_suffix("/metrics").expect("the page is /metrics");
                ingress.status = address.parse().expect("an address");
                return ingress;
            }
        }
    }

    /// The next line of its standard error.
    #[track_caller]
    fn line(&mut self) -> String {
        let line = self.lines.recv_timeout(PATIENCE);
        let line = line.unwrap_or_else(|_| panic!("it says no more than {:?}", self.said));
        self.said.push(line.clone());
        line
    }

    /// Where this listener listens.
    #[track_caller]
    pub fn address(&self, name: &str) -> SocketAddr {
        let found = self.listeners.iter().find(|(listener, _)| listener == name);
        found.unwrap_or_else(|| panic!("no listener {name}")).1
    }

    /// A connection to this listener.
    #[track_caller]
    pub fn connect(&self, name: &str) -> TcpStream {
        TcpStream::connect(self.address(name)).expect("the listener can be connected to")
    }

    /// A page of its status server: the code and the text.
    #[track_caller]
    pub fn page(&self, path: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(self.status).expect("the status page is there");
        write!(stream, "GET {path} HTTP/1.1\r\nHost: cinch\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("the page is text");
        let code = answer.split(' ').nth(1).and_then(|code| code.parse().ok());
        let (_, body) = answer.split_once("\r\n\r\n").expect("a page has a head");
        (code.expect("an answer has a code"), body.to_owned())
    }

    /// The sum of a metric over all its labels that hold this text.
    #[track_caller]
    pub fn metric(&self, name: &str, labels: &str) -> f64 {
        let (_, page) = self.page("/metrics");
        let name = format!("cinch_ingest_{name}");
        let of_it = |line: &&str| {
            let (full, _) = line.rsplit_once(' ').unwrap_or((line, ""));
            let (base, rest) = full.split_once('{').unwrap_or((full, ""));
            base == name && rest.contains(labels)
        };
        let value = |line: &str| line.rsplit_once(' ').and_then(|(_, v)| v.parse::<f64>().ok());
        page.lines().filter(of_it).filter_map(value).sum()
    }

    /// Waits until a metric is at least this.
    #[track_caller]
    pub fn wait_for(&self, name: &str, labels: &str, at_least: f64) {
        let start = Instant::now();
        while self.metric(name, labels) < at_least {
            let value = self.metric(name, labels);
            assert!(start.elapsed() < PATIENCE, "{name}{{{labels}}} stays at {value}");
            thread::yield_now();
        }
    }

    /// The most memory that it has had, in bytes.
    pub fn resident_bytes(&self) -> u64 {
        let path = format!("/proc/{}/status", self.started.0.id());
        let status = std::fs::read_to_string(path).expect("the process is there");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|rest| rest.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
        kib.expect("Linux tells the resident memory") << 10
    }

    /// Its standard output, which must have been made a pipe.
    #[track_caller]
    pub fn output(&mut self) -> ChildStdout {
        self.started.0.stdout.take().expect("standard output is a pipe and was not taken before")
    }

    /// Asks it to end and waits for that: how it ended, and all that it said.
    #[track_caller]
    pub fn stop(mut self) -> (ExitStatus, Vec<String>) {
        let pid = Pid::from_child(&self.started.0);
        kill_process(pid, Signal::TERM).expect("the process is there");
        let status = self.started.0.wait().expect("it can be waited for");
        self.said.extend(self.lines.iter());
        let said = self.said.clone();
        assert!(!said.iter().any(|line| line.contains("panicked")), "it panicked: {said:?}");
        (status, said)
    }

    /// Asks it to read its configuration again.
    pub fn hang_up(&self) {
        let pid = Pid::from_child(&self.started.0);
        kill_process(pid, Signal::HUP).expect("the process is there");
    }

    /// The address of its status page.
    pub fn status(&self) -> SocketAddr {
        self.status
    }

    /// Ends it at once, as a power cut would end it but for what the system has not written.
    pub fn kill(mut self) {
        self.started.0.kill().expect("the process is there");
        self.started.0.wait().expect("it can be waited for");
    }
}
