//! `cinch ingest`: receives until it is told to stop, and then says what came of everything. The
//! pipeline itself is the library's; here are its configuration, its signals and its last line.

mod forms;
mod load;
pub mod signals;
mod size;
mod top;

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use cinch_ingest::Ingress;
use cinch_ingest::config::Config;

use crate::Done;
use crate::arguments::{IngestArguments, IngestCommand};
use crate::failure::Failure;
use signals::Signals;

/// How often it is looked whether to stop.
const TICK: Duration = Duration::from_millis(50);

/// How often the configuration is read again. Nobody tells of changes of what Kubernetes mounts, or
/// of a network file system.
const FOLLOW_PERIOD: Duration = Duration::from_secs(1);

/// Receives, or does what belongs to an ingress.
pub fn run(arguments: &IngestArguments) -> Result<Done, Failure> {
    match &arguments.command {
        Some(IngestCommand::Forms(arguments)) => forms::run(arguments),
        Some(IngestCommand::Load(arguments)) => load::run(arguments),
        Some(IngestCommand::Size(arguments)) => size::run(arguments),
        Some(IngestCommand::Top(arguments)) => top::run(arguments),
        None => receive(arguments),
    }
}

fn receive(arguments: &IngestArguments) -> Result<Done, Failure> {
    let path = arguments.config.as_deref();
    let path = path.ok_or_else(|| Failure::Argument("--config is missing".to_owned()))?;
    let config = Config::read(path)?;
    if arguments.check {
        return Ok(Done::Whole);
    }
    let signals = Signals::handled();
    let mut follower = Follower::new(path);
    let names: Vec<String> = config.listeners.iter().map(|row| row.name.clone()).collect();
    let tell = |line: &str| eprintln!("cinch: {line}");
    let ingress = Ingress::start(config, Box::new(tell))?;
    for (name, address) in names.iter().zip(ingress.addresses()) {
        eprintln!("cinch: listener {name} on {address}");
    }
    if let Some(address) = ingress.status_address() {
        eprintln!("cinch: status on http://{address}/metrics");
    }
    while !signals.stop() && !ingress.has_failed() {
        follower.look(&ingress, signals.take_reload());
        thread::sleep(TICK);
    }
    let totals = ingress.stop()?;
    let (received, bytes) = (totals.received, totals.received_bytes);
    let (written, dropped) = (totals.written, totals.dropped);
    eprintln!(
        "cinch: received {received} records ({bytes} bytes), wrote {written}, dropped {dropped}"
    );
    Ok(if dropped == 0 { Done::Whole } else { Done::Partly })
}

/// Follows the configuration: what was changed is taken, or told with what is wrong, once.
struct Follower {
    path: PathBuf,
    looked: Instant,
    /// What was told last, so that it is not told every second.
    told: Option<String>,
}

impl Follower {
    fn new(path: &Path) -> Follower {
        Follower { path: path.to_owned(), looked: Instant::now(), told: None }
    }

    fn look(&mut self, ingress: &Ingress, is_asked: bool) {
        if !is_asked && self.looked.elapsed() < FOLLOW_PERIOD {
            return;
        }
        self.looked = Instant::now();
        if is_asked {
            self.told = None;
        }
        let before = ingress.generation();
        let result = match Config::read(&self.path) {
            Ok(config) => ingress
                .reload(config)
                .map_err(|obstacle| format!("{}: {obstacle}", self.path.display())),
            Err(error) => Err(error.to_string()),
        };
        match result {
            Ok(generation) => {
                if generation != before || is_asked {
                    eprintln!("cinch: configuration {generation} holds");
                }
                self.told = None;
            }
            Err(message) if self.told.as_ref() != Some(&message) => {
                ingress.refused_reload();
                eprintln!("cinch: the configuration stays as it was: {message}");
                self.told = Some(message);
            }
            Err(_) => {}
        }
    }
}
