//! One server under one load: it is started, loaded, left alone until it has done what was sent to
//! it, and ended; then its files are looked at.

use std::error::Error;
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use cinch_ingest::load::{BUNCH_DEADLINE, Load, LoadResult, Messages, run as run_load};

use super::BUNCH_BYTES;
use super::contestants::{Contestant, Place};
use crate::failure::Outcome;
use crate::process::{Server, cpu_s, free_port, resident_mb};

/// How long a server is given to do what was sent to it, after the load.
const SETTLE_MAX: Duration = Duration::from_secs(60);

/// How often it is looked whether it has.
const SETTLE_TICK: Duration = Duration::from_millis(400);

/// A server that takes less than this share of a processor has nothing left to do, if it does so
/// for a while: on a busy machine it may only have to wait for its turn.
const IDLE_SHARE: f64 = 0.02;

/// How often in a row it must be so.
const IDLE_TICKS: u32 = 5;

/// A rate is reached if at least this share of it was sent: less means that the load was too slow.
const REACHED_SHARE: f64 = 0.97;

/// What is sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    pub(super) connections: usize,
    /// MB in a second.
    pub(super) rate: u64,
    pub(super) seconds: u64,
}

/// What came of it.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) asked: Asked,
    pub(super) result: LoadResult,
    /// Processor seconds of the server.
    pub(super) cpu_s: f64,
    /// Processor seconds of the load.
    pub(super) load_cpu_s: f64,
    /// The most memory that the server had.
    pub(super) resident_mb: f64,
    pub(super) read_p99_ms: Option<f64>,
    pub(super) read_max_ms: Option<f64>,
    pub(super) disk_bytes: u64,
    /// Records that are in the files when the server has ended, by those that were sent.
    pub(super) kept: f64,
}

impl Row {
    pub(super) fn gigabytes(&self) -> f64 {
        self.result.sent_bytes as f64 / 1e9
    }

    /// MB in a second that were sent.
    pub(super) fn reached(&self) -> f64 {
        self.gigabytes() * 1e3 / self.result.elapsed.as_secs_f64()
    }

    pub(super) fn cpu_s_per_gb(&self) -> f64 {
        self.cpu_s / self.gigabytes()
    }

    /// Whether nobody was disconnected, nothing is missing, and all of it was sent.
    pub(super) fn holds(&self) -> bool {
        self.result.disconnects == 0
            && self.kept >= 1.0
            && self.reached() >= self.asked.rate as f64 * REACHED_SHARE
    }

    /// The line of the table.
    pub(super) fn print(&self) {
        let (asked, result) = (self.asked, &self.result);
        let read = match (self.read_p99_ms, self.read_max_ms) {
            (Some(p99), Some(max)) => format!("{p99:.1}/{max:.1}"),
            _ => "-".to_owned(),
        };
        let late = if result.late_bunches > 0 { "  (the load was late)" } else { "" };
        println!(
            "{:<32} {:>6} {:>5} {:>5.0} {:>6} {:>8.2} {:>8.2} {:>7.0} {:>12} {:>6.1} {:>6.1}{late}",
            self.name,
            asked.connections,
            asked.rate,
            self.reached(),
            result.disconnects,
            self.cpu_s_per_gb(),
            self.load_cpu_s / self.gigabytes(),
            self.resident_mb,
            read,
            self.disk_bytes as f64 / result.sent_bytes as f64 * 100.0,
            self.kept * 100.0
        );
    }
}

/// The titles of the table.
pub(super) fn print_titles() {
    println!(
        "{:<32} {:>6} {:>5} {:>5} {:>6} {:>8} {:>8} {:>7} {:>12} {:>6} {:>6}",
        "server",
        "conns",
        "MB/s",
        "sent",
        "discon",
        "cpu s/GB",
        "load s/G",
        "res. MB",
        "read p99/max",
        "disk %",
        "kept %"
    );
}

/// Loads a server and says what came of it.
pub(super) fn measure(contestant: &Contestant, asked: Asked, messages: &Messages) -> Outcome<Row> {
    let folder = tempfile::tempdir()?;
    let place = Place { folder: folder.path(), port: free_port()?, status: free_port()? };
    let mut server = start(contestant, &place)?;
    let (before, own_before) = (cpu_s(server.0.id())?, cpu_s(std::process::id())?);
    let result = run_load(&load(contestant, &place, asked), messages)?;
    let load_cpu_s = cpu_s(std::process::id())? - own_before;
    let cpu_s = settled_cpu_s(server.0.id())? - before;
    let resident_mb = resident_mb(server.0.id())?;
    let page =
        if contestant.is_ours() { page(place.status).unwrap_or_default() } else { String::new() };
    let interval = |quantile: &str| {
        let label = format!("quantile=\"{quantile}\"");
        values(&page, "read_interval_seconds", &label).next().map(|seconds| seconds * 1e3)
    };
    let (read_p99_ms, read_max_ms) = (interval("0.99"), interval("1"));
    server.stop(contestant.is_ours());
    let (disk_bytes, lines) = written(folder.path())?;
    let labels = contestant.lines_a_connection() * asked.connections as u64;
    let kept = lines.saturating_sub(labels) as f64 / result.sent_messages.max(1) as f64;
    let name = contestant.name.clone();
    Ok(Row {
        name,
        asked,
        result,
        cpu_s,
        load_cpu_s,
        resident_mb,
        read_p99_ms,
        read_max_ms,
        disk_bytes,
        kept,
    })
}

/// The load that is asked for, to a server at this place.
pub(super) fn load(contestant: &Contestant, place: &Place, asked: Asked) -> Load {
    Load {
        address: SocketAddr::from(([127, 0, 0, 1], place.port)),
        protocol: contestant.protocol,
        connections: asked.connections,
        rate: asked.rate * 1_000_000,
        bunch_bytes: BUNCH_BYTES,
        duration: Duration::from_secs(asked.seconds),
        deadline: BUNCH_DEADLINE,
    }
}

/// Starts a server and waits until it listens.
pub(super) fn start(contestant: &Contestant, place: &Place) -> Outcome<Server> {
    let address = SocketAddr::from(([127, 0, 0, 1], place.port));
    Server::start(contestant.command(place)?, place.folder, address)
}

/// What the ingress says of itself.
pub(super) fn page(port: u16) -> Result<String, Box<dyn Error>> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    write!(stream, "GET /metrics HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n")?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    Ok(text)
}

/// The values of a metric on that page whose labels hold this.
pub(super) fn values<'a>(page: &'a str, name: &str, label: &str) -> impl Iterator<Item = f64> + 'a {
    let (start, label) = (format!("cinch_ingest_{name}{{"), label.to_owned());
    page.lines()
        .filter(move |line| line.starts_with(&start) && line.contains(&label))
        .filter_map(|line| line.rsplit_once(' ')?.1.parse().ok())
}

/// The bytes and the lines of the files that a server has written.
pub(super) fn written(folder: &Path) -> Outcome<(u64, u64)> {
    let (mut bytes, mut lines, mut folders) = (0, 0, vec![folder.join("out")]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else {
                bytes += entry.metadata()?.len();
                lines += lines_in(&entry.path())?;
            }
        }
    }
    Ok((bytes, lines))
}

/// The lines of a compressed file, as the stock programs read it.
fn lines_in(file: &Path) -> Outcome<u64> {
    let is_gzip = file.extension().is_some_and(|ending| ending == "gz");
    let mut command = Command::new(if is_gzip { "gzip" } else { "zstd" });
    let file: PathBuf = file.to_owned();
    command.arg("-dc").arg(file).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let mut output = child.stdout.take().ok_or("standard output is a pipe")?;
    let (mut buffer, mut lines) = (vec![0; 1 << 20], 0);
    loop {
        let count = output.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        lines += buffer[..count].iter().filter(|&&byte| byte == b'\n').count() as u64;
    }
    // A file whose end is missing gives the lines before it, and those count.
    child.wait()?;
    Ok(lines)
}

/// The processor seconds of a process once it has done what was sent to it.
pub(super) fn settled_cpu_s(id: u32) -> Outcome<f64> {
    let start = Instant::now();
    let (mut last, mut idle) = (cpu_s(id)?, 0);
    while idle < IDLE_TICKS && start.elapsed() < SETTLE_MAX {
        thread::sleep(SETTLE_TICK);
        let now = cpu_s(id)?;
        let is_idle = now - last < SETTLE_TICK.as_secs_f64() * IDLE_SHARE;
        idle = if is_idle { idle + 1 } else { 0 };
        last = now;
    }
    Ok(last)
}
