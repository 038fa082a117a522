//! A Redis server on loopback for as long as a bench runs.
//! It keeps nothing on disk, so that its own work is the least there is.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::failure::Outcome;

/// How long it may take to answer.
const START_MAX: Duration = Duration::from_secs(20);

/// A server that ends with its owner.
pub(super) struct Server {
    child: Child,
    port: u16,
}

impl Server {
    pub(super) fn start() -> Outcome<Server> {
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let child = Command::new("redis-server")
            .args(["--bind", "127.0.0.1", "--port", &port.to_string()])
            .args(["--save", "", "--appendonly", "no"])
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| format!("redis-server: {error}; install it, or name one: --redis"))?;
        let server = Server { child, port };
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if began.elapsed() > START_MAX {
                return Err("redis-server does not answer".into());
            }
        }
        Ok(server)
    }

    pub(super) fn address(&self) -> String {
        format!("redis://127.0.0.1:{}/0", self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // One that has ended already can't be ended, which is as it should be.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
