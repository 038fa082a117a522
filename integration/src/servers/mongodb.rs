//! A server that speaks MongoDB's protocol: FerretDB, built from `integration/ferretdb` into the
//! folder of cargo's output.
//!
//! It is filled by Python's driver, which is MongoDB's own.

use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use rustix::process::Signal;

use super::daemon::{Daemon, Shared};
use crate::peer::go_program;
use crate::python;

/// FerretDB with its databases in SQLite files.
pub struct MongoDb(Daemon);

impl MongoDb {
    /// The server that the tests of this file share.
    pub fn shared() -> Arc<MongoDb> {
        static SHARED: Shared<MongoDb> = Shared::new();
        SHARED.or_start(MongoDb::start)
    }

    fn start() -> MongoDb {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let server = go_program("ferretdb");
        let command = |folder: &Path, port: u16| {
            let mut command = Command::new(&server);
            command.arg(format!("-listen=127.0.0.1:{port}"));
            command.arg(format!("-folder={}", folder.display()));
            command
        };
        let answers = |_: &Path, port: u16| TcpStream::connect(("127.0.0.1", port)).is_ok();
        MongoDb(Daemon::start(folder, Signal::TERM, command, answers))
    }

    /// The address of a database, or with a dot of one of its collections.
    pub fn address(&self, rest: &str) -> String {
        format!("mongodb://127.0.0.1:{}/{rest}", self.0.port())
    }

    /// Runs `python/mongo.py` with these arguments and this input; returns what it printed.
    #[track_caller]
    pub fn run(&self, arguments: &[&str], input: impl Into<Vec<u8>>) -> String {
        let (out, _) = python("mongo.py").and(&[&self.address("")]).and(arguments).run(input);
        out.trim_end().to_owned()
    }
}
