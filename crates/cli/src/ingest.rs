//! `cinch ingest`: receives until it is told to stop, and then says what came of everything. The
//! pipeline itself is the library's; here are its configuration, its signals and its last line.

mod load;
mod size;

use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use cinch_ingest::Ingress;
use cinch_ingest::config::Config;

use crate::Done;
use crate::arguments::{IngestArguments, IngestCommand};
use crate::failure::Failure;
use crate::interrupt::Interrupt;

/// How often it is looked whether to stop.
const TICK: Duration = Duration::from_millis(50);

/// Receives, or does what belongs to an ingress.
pub fn run(arguments: &IngestArguments) -> Result<Done, Failure> {
    match &arguments.command {
        Some(IngestCommand::Load(arguments)) => load::run(arguments),
        Some(IngestCommand::Size(arguments)) => size::run(arguments),
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
    let interrupt = Interrupt::handled();
    let names: Vec<String> = config.listeners.iter().map(|row| row.name.clone()).collect();
    let tell = |line: &str| eprintln!("cinch: {line}");
    let ingress = Ingress::start(config, Box::new(tell))?;
    for (name, address) in names.iter().zip(ingress.addresses()) {
        eprintln!("cinch: listener {name} on {address}");
    }
    if let Some(address) = ingress.status_address() {
        eprintln!("cinch: status on http://{address}/metrics");
    }
    while !interrupt.stop.load(Ordering::Relaxed) && !ingress.has_failed() {
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
