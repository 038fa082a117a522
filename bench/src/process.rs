//! Servers that a bench measures, and what the system says of their processes: each is one of its
//! own, so that its processor time and memory are its alone.

use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::failure::Outcome;

/// How long a server may take to listen.
const START_MAX: Duration = Duration::from_secs(20);

/// Ticks of /proc's processor times in a second, on every Linux there is.
const TICKS_PER_SECOND: f64 = 100.0;

/// A server, which ends with the bench however that ends.
pub(crate) struct Server(pub(crate) Child);

impl Server {
    /// Starts it and waits until it listens.
    pub(crate) fn start(
        mut command: Command,
        folder: &Path,
        address: SocketAddr,
    ) -> Outcome<Server> {
        let log_path = folder.join("log");
        let log = File::create(&log_path)?;
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(log);
        let mut server = Server(command.spawn()?);
        let start = Instant::now();
        while TcpStream::connect(address).is_err() {
            if server.0.try_wait()?.is_some() || start.elapsed() > START_MAX {
                let log = fs::read_to_string(&log_path).unwrap_or_default();
                return Err(format!("a server does not listen: {log}").into());
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    /// Asks it to end, and waits for that: ours by the end of its input, others by the signal.
    pub(crate) fn stop(&mut self, is_ours: bool) {
        drop(self.0.stdin.take());
        if !is_ours {
            let id = self.0.id().to_string();
            let _asked = Command::new("kill").args(["-TERM", &id]).status();
        }
        let _ended = self.0.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _killed = self.0.kill();
        let _ended = self.0.wait();
    }
}

pub(crate) fn free_port() -> Outcome<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// Processor seconds of a process, in its own code and in the system's.
pub(crate) fn cpu_s(id: u32) -> Outcome<f64> {
    ticks(id, 11)
}

/// Processor seconds of the children of this process that have ended.
pub(crate) fn children_cpu_s() -> Outcome<f64> {
    ticks(std::process::id(), 13)
}

/// The sum of two of the fields of a process that follow its name.
fn ticks(id: u32, first: usize) -> Outcome<f64> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat"))?;
    let (_, fields) = stat.rsplit_once(") ").ok_or("/proc has another form")?;
    let ticks: Result<Vec<f64>, _> =
        fields.split(' ').skip(first).take(2).map(str::parse::<f64>).collect();
    Ok(ticks?.iter().sum::<f64>() / TICKS_PER_SECOND)
}

/// The most memory that a process has had.
pub(crate) fn resident_mb(id: u32) -> Outcome<f64> {
    let status = fs::read_to_string(format!("/proc/{id}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|rest| rest.trim().strip_suffix(" kB")).ok_or("no VmHWM in /proc")?;
    Ok(kib.trim().parse::<f64>()? * 1024.0 / 1e6)
}
