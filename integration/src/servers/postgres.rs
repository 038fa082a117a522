//! PostgreSQL, of whichever version Debian installed.
//!
//! Passwords are asked for, so that a wrong one is refused as it is in production.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use rustix::process::Signal;

use super::daemon::{Daemon, Shared, output, without_privileges};

const PACKAGE: &str = "postgresql";
const OWNER: &str = "owner";
const PASSWORD: &str = "owner-password";

/// A PostgreSQL server with one database, `postgres`.
pub struct Postgres(Daemon);

impl Postgres {
    /// The server that the tests of this file share.
    pub fn shared() -> Arc<Postgres> {
        static SHARED: Shared<Postgres> = Shared::new();
        SHARED.or_start(Postgres::start)
    }

    fn start() -> Postgres {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let password = folder.path().join("password");
        fs::write(&password, PASSWORD).expect("the folder takes a file");
        let mut initdb = Command::new(program("initdb"));
        initdb.current_dir(folder.path()).args(["--pgdata=data", "--auth=scram-sha-256"]);
        initdb.args([&format!("--username={OWNER}"), "--pwfile=password", "--no-sync"]);
        initdb.args(["--encoding=UTF8", "--locale=C"]);
        output(without_privileges(&mut initdb, folder.path()), Vec::new(), PACKAGE);
        let command = |folder: &Path, port: u16| {
            let mut command = Command::new(program("postgres"));
            command.args(["-D", "data", "-h", "127.0.0.1", "-p", &port.to_string()]);
            command.arg("-k").arg(folder).args(["-c", "fsync=off"]);
            without_privileges(&mut command, folder);
            command
        };
        let answers = |_: &Path, port: u16| {
            psql(port).args(["-c", "select 1"]).output().is_ok_and(|ran| ran.status.success())
        };
        // This one is the stop at once: nobody needs the data any more.
        Postgres(Daemon::start(folder, Signal::QUIT, command, answers))
    }

    /// The address of the database, as its owner.
    pub fn address(&self) -> String {
        self.address_of(OWNER, PASSWORD)
    }

    /// The address of the database, as somebody else.
    pub fn address_of(&self, user: &str, password: &str) -> String {
        format!("postgres://{user}:{password}@127.0.0.1:{}/postgres", self.0.port())
    }

    /// Runs statements as the owner and returns the rows: a line each, columns parted by `|`.
    #[track_caller]
    pub fn run(&self, statements: impl Into<Vec<u8>>) -> String {
        output(&mut psql(self.0.port()), statements.into(), PACKAGE)
    }
}

fn psql(port: u16) -> Command {
    let mut psql = Command::new("psql");
    psql.args(["--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--host=127.0.0.1"]);
    psql.args([&format!("--port={port}"), &format!("--username={OWNER}"), "--dbname=postgres"]);
    psql.args(["--set=ON_ERROR_STOP=1"]).env("PGPASSWORD", PASSWORD);
    psql
}

/// Debian keeps the server's programs off the path, in a folder for each version.
fn program(name: &str) -> PathBuf {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let newest = versions
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse::<u32>().ok()?, entry.path())))
        .map(|(version, folder)| (version, folder.join("bin").join(name)))
        .filter(|(_, file)| file.is_file())
        .max();
    newest.map_or_else(|| PathBuf::from(name), |(_, file)| file)
}
