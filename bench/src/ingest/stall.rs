//! A filer that stands still for ten seconds under the full rate, in each of the three ways a pool
//! may choose: what is dropped is counted, memory stays inside the budget, and a second pool, whose
//! data fits, sees nothing of it.
//!
//! The stall is that of the tests (`integration/c/faults.c`): while switches are there, writes to
//! the filer's folder wait, and so does what opens, closes or renames a file there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use cinch_ingest::config::Protocol;
use cinch_ingest::load::{Messages, run as run_load};

use super::contestants::{Contestant, Place};
use super::measure::{Asked, load, page, settled_cpu_s, values, written};
use super::{BUNCH_BYTES, RESIDENT_MAX_MB};
use crate::failure::Outcome;
use crate::process::{Server, free_port, resident_mb};

/// How long the filer stands still.
const STALL: Duration = Duration::from_secs(10);

/// How long it goes before that, and after it.
const AROUND: Duration = Duration::from_secs(3);

/// The connections of the pool whose data fits, and their MB in a second.
const QUIET: Asked =
    Asked { connections: 20, rate: 1, seconds: STALL.as_secs() + 2 * AROUND.as_secs() };

/// The name of the pool that floods, and of the one that does not.
const POOLS: [&str; 2] = ["load", "quiet"];

/// What came of one stall.
pub(super) struct Stalled {
    pub(super) when_slow: &'static str,
    /// Of the pool that floods, and of the one whose data fits.
    pub(super) disconnects: [u64; 2],
    /// Records that were dropped and counted, of each.
    pub(super) dropped: [u64; 2],
    /// Records that were sent and are neither in the files nor counted as dropped.
    pub(super) missing: i64,
    pub(super) resident_mb: f64,
}

/// Stalls the ingress in all three modes, at this many MB a second.
pub(super) fn run(
    contestant: &Contestant,
    connections: usize,
    rate: u64,
    lines: &[Vec<u8>],
) -> Outcome<Vec<Stalled>> {
    let seconds = QUIET.seconds;
    println!(
        "a filer that stands still for {} s, {connections} connections, {rate} MB/s; beside it a \
         pool of {} connections with {} MB/s, whose data fits\n{:<14} {:>14} {:>14} {:>16} {:>16} \
         {:>8} {:>8}",
        STALL.as_secs(),
        QUIET.connections,
        QUIET.rate,
        "when_slow",
        "disconnects",
        "of the quiet",
        "dropped, counted",
        "of the quiet",
        "missing",
        "res. MB"
    );
    let library = Library::build()?;
    let mut all = Vec::new();
    for when_slow in ["spill", "drop", "backpressure"] {
        let asked = Asked { connections, rate, seconds };
        let one = stalled(contestant, when_slow, asked, lines, &library)?;
        println!(
            "{when_slow:<14} {:>14} {:>14} {:>16} {:>16} {:>8} {:>8.0}",
            one.disconnects[0],
            one.disconnects[1],
            one.dropped[0],
            one.dropped[1],
            one.missing,
            one.resident_mb
        );
        all.push(one);
    }
    println!("memory: at most {RESIDENT_MAX_MB:.0} MB, the budget and 64 MiB\n");
    Ok(all)
}

fn stalled(
    contestant: &Contestant,
    when_slow: &'static str,
    asked: Asked,
    lines: &[Vec<u8>],
    library: &Library,
) -> Outcome<Stalled> {
    let folder = tempfile::tempdir()?;
    let place = Place { folder: folder.path(), port: free_port()?, status: free_port()? };
    let mut command = contestant.command(&place)?;
    let config = folder.path().join("ingest.toml");
    let text = fs::read_to_string(&config)?;
    let pool = format!("[pool.default]\nwhen_slow = \"{when_slow}\"");
    fs::write(&config, text.replace("[pool.default]", &pool))?;
    let out = folder.path().join("out");
    command.env("LD_PRELOAD", &library.file).env("FAULTS", folder.path()).env("FAULTY", &out);
    let mut server = Server::start(command, place.folder, ([127, 0, 0, 1], place.port).into())?;
    let messages = |pool| Messages::new(Protocol::Cal, pool, BUNCH_BYTES, lines);
    let [noisy, quiet] = thread::scope(|scope| {
        let run = |pool, asked| {
            let load = load(contestant, &place, asked);
            scope.spawn(move || run_load(&load, &messages(pool)))
        };
        let running = [run(POOLS[0], asked), run(POOLS[1], QUIET)];
        let switches = ["stall", "names"].map(|name| folder.path().join(name));
        thread::sleep(AROUND);
        switches.iter().try_for_each(|switch| fs::write(switch, ""))?;
        thread::sleep(STALL);
        switches.iter().try_for_each(fs::remove_file)?;
        let [noisy, quiet] = running.map(|load| load.join().map_err(|_| "a load panicked"));
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>([noisy??, quiet??])
    })?;
    settled_cpu_s(server.0.id())?;
    let page = page(place.status).map_err(|error| error.to_string())?;
    let dropped = POOLS.map(|pool| {
        let label = format!("pool=\"{pool}\"");
        values(&page, "dropped_records_total", &label).sum::<f64>() as u64
    });
    let resident_mb = resident_mb(server.0.id())?;
    server.stop(true);
    let (_, written) = written(folder.path())?;
    // Connections that were lost have sent a label each time that they were made anew.
    let connections = (asked.connections + QUIET.connections) as u64;
    let disconnects = [noisy.disconnects, quiet.disconnects];
    let labels = (connections + disconnects[0] + disconnects[1]) * contestant.lines_a_connection();
    let sent = noisy.sent_messages + quiet.sent_messages;
    let found = written.saturating_sub(labels) + dropped[0] + dropped[1];
    let missing = sent as i64 - found as i64;
    Ok(Stalled { when_slow, disconnects, dropped, missing, resident_mb })
}

/// The library that stalls writes, built once.
struct Library {
    _folder: tempfile::TempDir,
    file: PathBuf,
}

impl Library {
    fn build() -> Outcome<Library> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("faults.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../integration/c/faults.c");
        let mut compile = Command::new("cc");
        compile.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&file).arg(source).arg("-ldl");
        if !compile.status()?.success() {
            return Err("cc could not build integration/c/faults.c".into());
        }
        Ok(Library { _folder: folder, file })
    }
}
