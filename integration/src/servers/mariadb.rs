//! MariaDB, which speaks the protocol of MySQL.
//!
//! The owner has a password and comes by TCP, as the binary under test does.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use rustix::process::Signal;

use super::daemon::{Daemon, Shared, output, without_privileges};

const PACKAGE: &str = "mariadb-server-core mariadb-client-core";
const SOCKET: &str = "socket";
const OWNER: &str = "owner";
const PASSWORD: &str = "owner-password";
const DATABASE: &str = "shop";

/// A MariaDB server with one database, `shop`.
pub struct MariaDb(Daemon);

impl MariaDb {
    /// The server that the tests of this file share.
    pub fn shared() -> Arc<MariaDb> {
        static SHARED: Shared<MariaDb> = Shared::new();
        SHARED.or_start(MariaDb::start)
    }

    fn start() -> MariaDb {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let mut install = Command::new("mariadb-install-db");
        install.arg("--no-defaults").arg(data_argument(folder.path())).arg("--skip-test-db");
        install.arg("--auth-root-authentication-method=normal").current_dir(folder.path());
        output(without_privileges(&mut install, folder.path()), Vec::new(), PACKAGE);
        let command = |folder: &Path, port: u16| {
            let mut command = Command::new(program());
            command.arg("--no-defaults").arg(data_argument(folder));
            command.args(["--bind-address=127.0.0.1", &format!("--port={port}")]);
            command.arg(format!("--socket={}", folder.join(SOCKET).display()));
            command.args(["--max-allowed-packet=64M", "--innodb-flush-log-at-trx-commit=0"]);
            without_privileges(&mut command, folder);
            command
        };
        let answers = |folder: &Path, _: u16| {
            client(folder).args(["-e", "select 1"]).output().is_ok_and(|ran| ran.status.success())
        };
        // Nobody needs the data any more, so it is not asked to write them out.
        let server = MariaDb(Daemon::start(folder, Signal::KILL, command, answers));
        output(
            &mut client(server.0.folder()),
            format!(
                "create database {DATABASE};
                 create user {OWNER}@'127.0.0.1' identified by '{PASSWORD}';
                 grant all on *.* to {OWNER}@'127.0.0.1' with grant option;"
            )
            .into(),
            PACKAGE,
        );
        server
    }

    /// The address of the database, as its owner.
    pub fn address(&self) -> String {
        self.address_of(OWNER, PASSWORD)
    }

    /// The address of the database, as somebody else.
    pub fn address_of(&self, user: &str, password: &str) -> String {
        format!("mysql://{user}:{password}@127.0.0.1:{}/{DATABASE}", self.0.port())
    }

    /// Runs statements in the database and returns the rows: a line each, columns parted by tabs.
    #[track_caller]
    pub fn run(&self, statements: impl Into<Vec<u8>>) -> String {
        output(client(self.0.folder()).arg(DATABASE), statements.into(), PACKAGE)
    }
}

/// Debian keeps the server where only root's path leads.
fn program() -> &'static str {
    let debian = "/usr/sbin/mariadbd";
    if Path::new(debian).is_file() { debian } else { "mariadbd" }
}

fn data_argument(folder: &Path) -> String {
    format!("--datadir={}", folder.join("data").display())
}

/// The client of MariaDB, as the server's root.
fn client(folder: &Path) -> Command {
    let mut client = Command::new("mariadb");
    client.args(["--no-defaults", "--batch", "--skip-column-names", "--user=root"]);
    client.args(["--binary-mode", "--default-character-set=utf8mb4"]);
    client.arg(format!("--socket={}", folder.join(SOCKET).display()));
    client
}
