//! Redis: one server, or a cluster of three.
//!
//! It is filled through `redis-cli`, so that no client library of ours has a part in it.

use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::daemon::{Daemon, closed_port, output, without_privileges};

const PACKAGE: &str = "redis-server redis-tools";

/// How long a cluster may take to agree.
const AGREE_MAX: Duration = Duration::from_secs(120);

/// A Redis server that keeps nothing on disk.
pub struct Redis(Daemon);

impl Redis {
    /// Starts a server.
    pub fn start() -> Redis {
        Redis::with(|_| Vec::new())
    }

    fn with(more: impl Fn(u16) -> Vec<String>) -> Redis {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let command = |folder: &Path, port: u16| {
            let mut command = Command::new("redis-server");
            command.args(["--bind", "127.0.0.1", "--port", &port.to_string()]);
            command.args(["--save", "", "--appendonly", "no"]).args(more(port));
            without_privileges(&mut command, folder);
            command
        };
        let answers = |_: &Path, port: u16| TcpStream::connect(("127.0.0.1", port)).is_ok();
        Redis(Daemon::start(folder, Signal::TERM, command, answers))
    }

    /// Starts three servers that share the keys.
    pub fn cluster() -> [Redis; 3] {
        let nodes = [(); 3].map(|()| {
            Redis::with(|_| {
                // The usual port of the bus is 10,000 above, which may be none.
                let bus = closed_port().to_string();
                ["--cluster-enabled", "yes", "--cluster-port", &bus].map(str::to_owned).to_vec()
            })
        });
        let mut create = Command::new("redis-cli");
        create.args(["--cluster", "create"]).args(nodes.each_ref().map(Redis::host));
        output(create.arg("--cluster-yes"), Vec::new(), PACKAGE);
        let start = Instant::now();
        // Each try starts a program, so that this is no busy loop.
        while !nodes.iter().all(|node| node.run(&["cluster", "info"]).contains("state:ok")) {
            assert!(start.elapsed() < AGREE_MAX, "the cluster never agreed");
        }
        nodes
    }

    /// `HOST:PORT`.
    pub fn host(&self) -> String {
        self.socket().to_string()
    }

    /// Where it listens.
    pub fn socket(&self) -> SocketAddr {
        ([127, 0, 0, 1], self.0.port()).into()
    }

    /// The address of the database 0.
    pub fn address(&self) -> String {
        format!("redis://{}/0", self.host())
    }

    /// The address as somebody.
    pub fn address_of(&self, user: &str, password: &str) -> String {
        format!("redis://{user}:{password}@{}/0", self.host())
    }

    /// Runs one command and returns what `redis-cli` prints.
    #[track_caller]
    pub fn run(&self, command: &[&str]) -> String {
        let mut client = Command::new("redis-cli");
        client.args(["-c", "-p", &self.0.port().to_string()]).args(command);
        output(&mut client, Vec::new(), PACKAGE)
    }

    /// Runs many commands, each a list of arguments of any bytes; each must succeed.
    #[track_caller]
    pub fn fill(&self, commands: impl IntoIterator<Item = Vec<Vec<u8>>>) {
        let mut text = Vec::new();
        for command in commands {
            text.extend_from_slice(format!("*{}\r\n", command.len()).as_bytes());
            for argument in command {
                text.extend_from_slice(format!("${}\r\n", argument.len()).as_bytes());
                text.extend_from_slice(&argument);
                text.extend_from_slice(b"\r\n");
            }
        }
        let mut client = Command::new("redis-cli");
        client.args(["-p", &self.0.port().to_string(), "--pipe"]);
        let said = output(&mut client, text, PACKAGE);
        assert!(said.contains("errors: 0,"), "{said}");
    }

    /// How many changes the server has seen.
    #[track_caller]
    pub fn changes(&self) -> String {
        let info = self.run(&["info", "persistence"]);
        let line = info.lines().find(|line| line.starts_with("rdb_changes_since_last_save:"));
        line.expect("Redis counts changes").to_owned()
    }
}
