//! The Redis sidecar as a process, and a client that is a plain socket: replies are compared byte
//! for byte, so that no library can hide a difference.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{ChildStderr, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::{Folder, Started, cinch};

/// How long a test waits for what should come.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// What is answered to `PING the-end`: to a client that is subscribed in RESP2, and to all others.
const PINGS: [&[u8]; 2] = [b"*2\r\n$4\r\npong\r\n$7\r\nthe-end\r\n", b"$7\r\nthe-end\r\n"];

/// A sidecar that runs.
pub struct Sidecar {
    started: Started,
    err: BufReader<ChildStderr>,
    /// Where it listens.
    pub address: SocketAddr,
    status: SocketAddr,
}

impl Sidecar {
    /// Starts one on a free port.
    #[track_caller]
    pub fn start(folder: &Folder, upstream: &str, settings: &str) -> Sidecar {
        let config = folder.write("cinch.toml", settings);
        let arguments = ["--listen", "127.0.0.1:0", "--upstream", upstream, "--config", &config];
        let mut command =
            cinch(["proxy", "redis"]).and(arguments).and(["--status", "127.0.0.1:0"]).command();
        let mut child = command.stderr(Stdio::piped()).spawn().expect("the binary can be started");
        let mut err = BufReader::new(child.stderr.take().expect("standard error is a pipe"));
        let address = after(&mut err, "listening on ").parse().expect("an address");
        let status = after(&mut err, "status on http://");
        let status = status.trim_end_matches("/metrics").parse().expect("an address");
        Sidecar { started: Started(child), err, address, status }
    }

    /// A client of it.
    pub fn client(&self) -> RespClient {
        RespClient::to(self.address)
    }

    /// A page of its status.
    pub fn page(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(self.status).expect("the status page answers");
        let request = format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut page = String::new();
        stream.read_to_string(&mut page).unwrap();
        page
    }

    /// Kills it, as a machine does that runs out of memory.
    pub fn kill(self) {
        kill_process(Pid::from_child(&self.started.0), Signal::KILL).expect("it runs");
    }

    /// The most memory that it has had, in bytes.
    pub fn memory_bytes_max(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.started.0.id()));
        let status = status.expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|rest| rest.trim().strip_suffix(" kB")).expect("a size");
        kib.trim().parse::<u64>().expect("a number") << 10
    }

    /// Asks it to end, and answers with its exit status and its last line.
    pub fn stop(mut self) -> (Option<i32>, String) {
        kill_process(Pid::from_child(&self.started.0), Signal::TERM).expect("it runs");
        let mut rest = String::new();
        self.err.read_to_string(&mut rest).expect("it writes text");
        let status = self.started.0.wait().expect("it can be waited for");
        (status.code(), rest.lines().last().unwrap_or_default().to_owned())
    }
}

/// What stands behind these words on a line of standard error.
#[track_caller]
pub fn after(err: &mut impl BufRead, words: &str) -> String {
    let mut said = String::new();
    loop {
        let mut line = String::new();
        assert!(err.read_line(&mut line).expect("it writes text") > 0, "it ended: {said}");
        if let Some((_, found)) = line.split_once(words) {
            return found.trim_end().to_owned();
        }
        said += &line;
    }
}

/// A plain client.
pub struct RespClient(TcpStream);

impl RespClient {
    /// Connects.
    pub fn to(address: SocketAddr) -> RespClient {
        let stream = TcpStream::connect(address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        RespClient(stream)
    }

    /// The socket itself.
    pub fn stream(&mut self) -> &mut TcpStream {
        &mut self.0
    }

    /// Sends bytes.
    pub fn send(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).expect("it takes commands");
    }

    /// What is said until these bytes have come.
    #[track_caller]
    pub fn until(&mut self, end: &[u8]) -> Vec<u8> {
        self.until_one_of(&[end])
    }

    #[track_caller]
    fn until_one_of(&mut self, ends: &[&[u8]]) -> Vec<u8> {
        let mut said = Vec::new();
        let mut buffer = vec![0; 64 << 10];
        while !ends.iter().any(|end| said.ends_with(end)) {
            let count = self.0.read(&mut buffer).expect("it answers");
            assert!(count > 0, "it closed after {}", said.escape_ascii());
            said.extend_from_slice(&buffer[..count]);
        }
        said
    }

    /// What is answered to one command, whatever else the connection is used for: in RESP2 a client
    /// that is subscribed may still say PING.
    #[track_caller]
    pub fn answer(&mut self, command: &[u8]) -> Vec<u8> {
        self.send(command);
        self.send(&resp_command(&[b"PING", b"the-end"]));
        let said = self.until_one_of(&PINGS);
        let end = PINGS.iter().find_map(|end| said.strip_suffix(*end));
        end.map(<[u8]>::to_vec).unwrap_or_default()
    }

    /// What is answered to commands.
    #[track_caller]
    pub fn ask(&mut self, commands: &[u8]) -> Vec<u8> {
        let writer = self.0.try_clone().expect("a socket can be shared");
        let bytes = [commands, &resp_command(&[b"ECHO", b"the-end"])].concat();
        // A long pipeline does not fit what sockets hold.
        let writing = std::thread::spawn(move || (&writer).write_all(&bytes).expect("it reads"));
        let said = self.until(b"$7\r\nthe-end\r\n");
        writing.join().expect("the writer does not panic");
        said
    }

    /// What is answered to one command of words.
    pub fn line(&mut self, line: &str) -> String {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        String::from_utf8_lossy(&self.ask(&resp_command(&words))).into_owned()
    }
}

/// A command as an array of bulks.
pub fn resp_command(words: &[&[u8]]) -> Vec<u8> {
    let mut out = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        out.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        out.extend_from_slice(word);
        out.extend_from_slice(b"\r\n");
    }
    out
}
