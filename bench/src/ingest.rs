//! `cargo xtask bench ingest`: the log ingress under load, beside rsyslog and in the same run. The
//! load is that of CAL clients: non-blocking sockets with small buffers, where a bunch that is not
//! taken within 0.64 s is a disconnect. Generator and server share the machine's processors.
//!
//! Servers are processes of their own, so that their processor time and memory are theirs alone.

use std::error::Error;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use cinch_ingest::Ingress;
use cinch_ingest::config::{Config, Protocol};
use cinch_ingest::load::{BUNCH_DEADLINE, Load, LoadResult, Messages, run as run_load};

use crate::failure::Outcome;
use crate::machine;

/// Bytes of a bunch.
const BUNCH_BYTES: usize = 16 << 10;

/// How long a server may take to listen.
const START_MAX: Duration = Duration::from_secs(20);

/// Ticks of /proc's processor times in a second, on every Linux there is.
const TICKS_PER_SECOND: f64 = 100.0;

/// How long a server is given to do what was sent to it, after the load.
const SETTLE_MAX: Duration = Duration::from_secs(60);

/// How often it is looked whether it has.
const SETTLE_TICK: Duration = Duration::from_millis(400);

/// A server that takes less than this share of a processor has nothing left to do, if it does so
/// for a while: on a busy machine it may only have to wait for its turn.
const IDLE_SHARE: f64 = 0.02;

/// How often in a row it must be so.
const IDLE_TICKS: u32 = 5;

/// Lines that are generated where no file is given.
const LINES: usize = 20_000;

/// The log ingress under load, beside rsyslog
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Connections.
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "1000")]
    connections: Vec<usize>,
    /// Rates to try, in MB/s, until one has a disconnect.
    #[arg(
        long,
        value_name = "MB,...",
        value_delimiter = ',',
        default_value = "50,100,150,200,250,300,350,400,450,500,600,700"
    )]
    rates: Vec<u64>,
    /// How long each rate is tried.
    #[arg(long, value_name = "N", default_value_t = 8)]
    seconds: u64,
    /// Only servers whose names hold this.
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// Log lines to send; with none, generated ones.
    #[arg(long, value_name = "FILE")]
    input: Vec<PathBuf>,
}

/// Runs an ingress until its standard input ends.
#[derive(Debug, clap::Args)]
pub(crate) struct ServeArguments {
    config: PathBuf,
}

/// What is measured.
struct Contestant {
    name: &'static str,
    protocol: Protocol,
    start: fn(&Path, u16, u16) -> Outcome<Command>,
}

const METRICS: &str = "
[[metric]]
name = \"vid\"
class = \"E\"
type = \"VID\"
key = [\"pool\", \"name\"]
value = \"data.n\"
[[metric]]
name = \"heartbeat\"
class = \"H\"
key = [\"pool\", \"host\", \"name\"]
value = \"data.load\"
";

const CONTESTANTS: &[Contestant] = &[
    Contestant {
        name: "cinch, CAL, VID and heartbeat metrics",
        protocol: Protocol::Cal,
        start: |folder, port, status| ours(folder, port, status, "cal", "", METRICS),
    },
    Contestant {
        name: "cinch, lines",
        protocol: Protocol::Lines,
        start: |folder, port, status| ours(folder, port, status, "lines", "", ""),
    },
    Contestant {
        name: "cinch, lines, a batch for each read",
        protocol: Protocol::Lines,
        start: |folder, port, status| ours(folder, port, status, "lines", "batch = 1", ""),
    },
    Contestant { name: "rsyslog, gzip -1", protocol: Protocol::Lines, start: rsyslog },
];

/// What came of one rate.
struct Row {
    result: LoadResult,
    cpu_s: f64,
    resident_mb: f64,
    read_p99_ms: Option<f64>,
    read_max_ms: Option<f64>,
    disk_bytes: u64,
    /// Lines that are in the files when the server has ended, by those that were sent.
    kept: f64,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    print!("{}", machine::description());
    let lines = lines(&arguments.input)?;
    println!(
        "the load: bunches of {BUNCH_BYTES} bytes, {} s each, on the processors of the server;\n\
         a rate holds if no bunch waited for {} ms\n",
        arguments.seconds,
        BUNCH_DEADLINE.as_millis()
    );
    println!(
        "{:<38} {:>6} {:>5} {:>6} {:>8} {:>7} {:>12} {:>6} {:>6}",
        "server",
        "conns",
        "MB/s",
        "discon",
        "cpu s/GB",
        "res. MB",
        "read p99/max",
        "disk %",
        "kept %"
    );
    let named = |row: &&Contestant| row.name.contains(&arguments.only);
    for contestant in CONTESTANTS.iter().filter(named) {
        for &connections in &arguments.connections {
            let messages = Messages::new(contestant.protocol, "load", BUNCH_BYTES, &lines);
            let mut highest = None;
            for &rate in &arguments.rates {
                let load = Load {
                    address: SocketAddr::from(([127, 0, 0, 1], free_port()?)),
                    protocol: contestant.protocol,
                    connections,
                    rate: rate * 1_000_000,
                    bunch_bytes: BUNCH_BYTES,
                    duration: Duration::from_secs(arguments.seconds),
                    deadline: BUNCH_DEADLINE,
                };
                let row = match measure(contestant, &load, &messages) {
                    Ok(row) => row,
                    Err(error) => {
                        println!("{:<38} {connections:>6} {rate:>5} {error}", contestant.name);
                        break;
                    }
                };
                print(contestant.name, connections, &row);
                if row.result.disconnects > 0 || row.kept < 1.0 {
                    break;
                }
                highest = Some(rate);
            }
            match highest {
                Some(rate) => println!("{:<38} holds {rate} MB/s\n", contestant.name),
                None => println!("{:<38} holds none of these rates\n", contestant.name),
            }
        }
    }
    println!(
        "goals at 1,000 connections: 500 MB/s with metrics; 3.0 cpu s/GB at 300 MB/s; 256 MB and \
         64 beside;\nread p99 under 20 ms; at least 4 times rsyslog's rate"
    );
    Ok(())
}

fn measure(contestant: &Contestant, load: &Load, messages: &Messages) -> Outcome<Row> {
    let folder = tempfile::tempdir()?;
    let status = free_port()?;
    let mut command = (contestant.start)(folder.path(), load.address.port(), status)?;
    let log = File::create(folder.path().join("log"))?;
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(log);
    let mut server = Running(command.spawn()?);
    wait_until_it_listens(load.address, &mut server.0, folder.path())?;
    let before = cpu_s(server.0.id())?;
    let result = run_load(load, messages)?;
    let cpu_s = settled_cpu_s(server.0.id())? - before;
    let resident_mb = resident_mb(server.0.id())?;
    let page = page(status).unwrap_or_default();
    let quantile = |quantile: &str| {
        let name = "cinch_ingest_read_interval_seconds{";
        let label = format!("quantile=\"{quantile}\"");
        let line = page.lines().find(|line| line.starts_with(name) && line.contains(&label))?;
        line.rsplit_once(' ')?.1.parse::<f64>().ok().map(|seconds| seconds * 1e3)
    };
    let (read_p99_ms, read_max_ms) = (quantile("0.99"), quantile("1"));
    server.stop(contestant.name.starts_with("cinch"));
    let files = files_below(folder.path())?;
    let mut disk_bytes = 0;
    let mut lines = 0;
    for file in &files {
        disk_bytes += fs::metadata(file)?.len();
        lines += lines_in(file)?;
    }
    let labels = match contestant.protocol {
        Protocol::Cal => 5 * load.connections as u64,
        _ => 0,
    };
    let kept = lines.saturating_sub(labels) as f64 / result.sent_messages.max(1) as f64;
    Ok(Row { result, cpu_s, resident_mb, read_p99_ms, read_max_ms, disk_bytes, kept })
}

fn print(name: &str, connections: usize, row: &Row) {
    let result = &row.result;
    let gigabytes = result.sent_bytes as f64 / 1e9;
    let rate = gigabytes * 1e3 / result.elapsed.as_secs_f64();
    let (cpu, resident) = (row.cpu_s / gigabytes, row.resident_mb);
    let read = match (row.read_p99_ms, row.read_max_ms) {
        (Some(p99), Some(max)) => format!("{p99:.1}/{max:.1}"),
        _ => "-".to_owned(),
    };
    let disk = row.disk_bytes as f64 / result.sent_bytes as f64 * 100.0;
    let late = match result.late_bunches {
        0 => "",
        _ => "  (the generator was late)",
    };
    println!(
        "{name:<38} {connections:>6} {rate:>5.0} {:>6} {cpu:>8.2} {resident:>7.0} {read:>12} \
         {disk:>6.1} {:>6.1}{late}",
        result.disconnects,
        row.kept * 100.0
    );
}

fn ours(
    folder: &Path,
    port: u16,
    status: u16,
    protocol: &str,
    pool: &str,
    metrics: &str,
) -> Outcome<Command> {
    let of_lines = if protocol == "lines" { "pool = \"load\"" } else { "" };
    let text = format!(
        "status = \"127.0.0.1:{status}\"\n[sink.files]\nkind = \"filer\"\ndirectory = {:?}\n\
         [pool.default]\n{pool}\n[[listener]]\nprotocol = \"{protocol}\"\n\
         address = \"127.0.0.1:{port}\"\n{of_lines}\n{metrics}",
        folder.join("out")
    );
    let config = folder.join("ingest.toml");
    fs::write(&config, text)?;
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("ingest-serve").arg(config);
    Ok(command)
}

fn rsyslog(folder: &Path, port: u16, _: u16) -> Outcome<Command> {
    let out = folder.join("out");
    fs::create_dir(&out)?;
    let queue = "queue.type=\"FixedArray\" queue.size=\"200000\" \
                 queue.dequeueBatchSize=\"4096\" queue.workerThreads=\"2\" \
                 queue.timeoutShutdown=\"60000\"";
    let text = format!(
        "module(load=\"imptcp\" threads=\"2\")\n\
         global(workDirectory={folder:?} net.enableDNS=\"off\")\n\
         input(type=\"imptcp\" port=\"{port}\" address=\"127.0.0.1\" ruleset=\"out\")\n\
         template(name=\"raw\" type=\"string\" string=\"%rawmsg%\\n\")\n\
         ruleset(name=\"out\" {queue}) {{\n\
         action(type=\"omfile\" file={:?} template=\"raw\" zipLevel=\"1\" veryRobustZip=\"off\" \
         ioBufferSize=\"256k\" asyncWriting=\"on\" flushOnTXEnd=\"off\")\n}}\n",
        out.join("log.gz")
    );
    let config = folder.join("rsyslog.conf");
    fs::write(&config, text)?;
    let mut command = Command::new("rsyslogd");
    command.args(["-n", "-f"]).arg(config).arg("-i").arg(folder.join("pid"));
    Ok(command)
}

/// A server, which ends with the bench however that ends.
struct Running(Child);

impl Running {
    /// Asks it to end, and waits for that: ours by the end of its input, others by the signal.
    fn stop(&mut self, is_ours: bool) {
        drop(self.0.stdin.take());
        if !is_ours {
            let id = self.0.id().to_string();
            let _asked = Command::new("kill").args(["-TERM", &id]).status();
        }
        let _ended = self.0.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _killed = self.0.kill();
        let _ended = self.0.wait();
    }
}

/// Runs an ingress of ours in this process, until standard input ends.
pub(crate) fn serve(arguments: &ServeArguments) -> Outcome {
    let config = Config::read(&arguments.config)?;
    let ingress = Ingress::start(config, Box::new(|line| eprintln!("{line}")))?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    ingress.stop()?;
    Ok(())
}

fn wait_until_it_listens(address: SocketAddr, server: &mut Child, folder: &Path) -> Outcome {
    let start = Instant::now();
    while TcpStream::connect(address).is_err() {
        if server.try_wait()?.is_some() || start.elapsed() > START_MAX {
            let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
            return Err(format!("a server does not listen: {log}").into());
        }
        thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

fn free_port() -> Outcome<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// Processor seconds of a process, in its own code and in the system's.
fn cpu_s(id: u32) -> Outcome<f64> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat"))?;
    let (_, fields) = stat.rsplit_once(") ").ok_or("/proc has another form")?;
    let ticks: Result<Vec<f64>, _> =
        fields.split(' ').skip(11).take(2).map(str::parse::<f64>).collect();
    Ok(ticks?.iter().sum::<f64>() / TICKS_PER_SECOND)
}

fn resident_mb(id: u32) -> Outcome<f64> {
    let status = fs::read_to_string(format!("/proc/{id}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|rest| rest.trim().strip_suffix(" kB")).ok_or("no VmHWM in /proc")?;
    Ok(kib.trim().parse::<f64>()? * 1024.0 / 1e6)
}

fn page(port: u16) -> Result<String, Box<dyn Error>> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    write!(stream, "GET /metrics HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n")?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    Ok(text)
}

/// The files that a server has written.
fn files_below(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.join("out")]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else {
                files.push(entry.path());
            }
        }
    }
    Ok(files)
}

/// The lines of a compressed file, as the stock programs read it.
fn lines_in(file: &Path) -> Outcome<u64> {
    let program =
        if file.extension().is_some_and(|ending| ending == "gz") { "gzip" } else { "zstd" };
    let mut child = Command::new(program)
        .arg("-dc")
        .arg(file)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
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
fn settled_cpu_s(id: u32) -> Outcome<f64> {
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

fn lines(files: &[PathBuf]) -> Outcome<Vec<Vec<u8>>> {
    let mut lines = Vec::new();
    for file in files {
        let text = fs::read(file)?;
        let all = text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        lines.extend(all.map(<[u8]>::to_vec));
    }
    if files.is_empty() {
        let kind = cinch_generate::find("logs").ok_or("no generator of logs")?;
        let options = cinch_generate::Options { count: LINES, seed: 1, median_bytes: None };
        lines.extend(kind.payloads(options).map(String::into_bytes));
    }
    Ok(lines)
}
