//! Starts the process that measures a row, where its network is: here, or behind a link. Each row
//! has a process of its own, so that memory and processor time are of that row alone.

use std::cell::Cell;
use std::error::Error;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::caller::Outcome;
use crate::link::Link;
use crate::modes::{Method, configuration};
use crate::traffic::Replay;

/// What rows have in common.
pub struct Launcher {
    program: PathBuf,
    folder: PathBuf,
    rows: Cell<usize>,
}

/// One row.
pub struct Row<'a> {
    /// Its name in the table, for who waits and for errors.
    pub name: &'a str,
    /// The address of the store.
    pub store: String,
    /// How payloads are packed, if they are.
    pub method: Option<&'a Method>,
    /// The settings of the modes.
    pub modes: &'a str,
    /// How many keys the payloads are spread over.
    pub keys: usize,
    /// The host and port in the store's address, to count what is sent there.
    pub counted: Option<String>,
    /// Where the client is.
    pub link: Option<&'a Link>,
}

impl Launcher {
    /// Starts `program`, which is this one, and writes configurations into a folder.
    pub fn new(program: PathBuf, folder: PathBuf) -> Launcher {
        Launcher { program, folder, rows: Cell::new(0) }
    }

    /// Measures a row.
    ///
    /// # Errors
    /// What the process said, with the row's name before it.
    pub fn measured(&self, row: &Row<'_>, replay: &Replay) -> Result<Outcome, Box<dyn Error>> {
        eprintln!("figures: {}", row.name);
        self.rows.set(self.rows.get() + 1);
        let config = self.folder.join(format!("row-{}.toml", self.rows.get()));
        std::fs::write(&config, configuration(row.method, row.modes))?;
        let mut command = match row.link {
            None => Command::new(&self.program),
            Some(link) => link.command(&self.program),
        };
        command.args(["call", "--store", &row.store, "--prefix", "cart"]);
        command.arg("--config").arg(&config).arg("--payloads").arg(&replay.path);
        command.args(["--count", &replay.count.to_string(), "--keys", &row.keys.to_string()]);
        if let Some(counted) = &row.counted {
            command.args(["--counted", counted]);
        }
        let ran = command.stdin(Stdio::null()).output()?;
        if !ran.status.success() {
            let said = String::from_utf8_lossy(&ran.stderr);
            let said = said.trim().trim_start_matches("figures: ");
            let why = if said.is_empty() { ran.status.to_string() } else { said.to_owned() };
            return Err(format!("{}: {why}", row.name).into());
        }
        Ok(serde_json::from_slice(&ran.stdout)?)
    }
}
