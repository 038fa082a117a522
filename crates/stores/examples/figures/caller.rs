//! The client of one row, in a process of its own: it writes the payloads one after the other, then
//! reads every key once, compares what comes back, and says what the calls cost.
//!
//! Payloads are read from their file between the calls and never held together, so that the memory
//! that is told is the client's and not that of the corpus.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cinch_rollout::live::Live;
use cinch_rollout::settings::Sources;
use cinch_stores::{Client, Condition, Expiry, Store};
use nix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use crate::traffic::lines;
use crate::wire::Counted;

/// The calls of one row.
#[derive(Debug, Clone, clap::Args)]
pub struct Calls {
    /// The store.
    #[arg(long)]
    pub store: String,
    /// The configuration.
    #[arg(long)]
    pub config: PathBuf,
    /// The payloads, one a line.
    #[arg(long)]
    pub payloads: PathBuf,
    /// How many payloads there are.
    #[arg(long)]
    pub count: usize,
    /// How many keys they are spread over.
    #[arg(long)]
    pub keys: usize,
    /// The start of the keys.
    #[arg(long)]
    pub prefix: String,
    /// Count what is sent to this address, which stands in the store's.
    #[arg(long)]
    pub counted: Option<String>,
}

/// What the calls of a row came to.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Outcome {
    /// All writes.
    pub writes: Cost,
    /// One read of each key.
    pub reads: Cost,
    /// The most memory that the client had, in bytes.
    pub memory_bytes: u64,
    /// What was sent for the writes, where that was counted.
    pub sent_bytes: Option<u64>,
}

/// What calls of one kind cost.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Cost {
    /// How many.
    pub count: usize,
    /// All of them, one after the other, in seconds.
    pub sum_s: f64,
    /// The median, in microseconds.
    pub p50_us: f64,
    /// The 99th of 100, in microseconds.
    pub p99_us: f64,
    /// The client's CPU time for each, in microseconds.
    pub cpu_us: f64,
}

/// Makes the calls and prints the outcome as JSON.
///
/// # Errors
/// The first call that failed, or a payload that came back as another.
pub fn run(calls: &Calls) -> Result<(), Box<dyn Error>> {
    // One thread, so that its CPU time is all that the calls took.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let outcome = runtime.block_on(called(calls))?;
    println!("{}", serde_json::to_string(&outcome)?);
    Ok(())
}

async fn called(calls: &Calls) -> Result<Outcome, Box<dyn Error>> {
    let counted = calls.counted.as_deref().map(Counted::before).transpose()?;
    let address = match (&calls.counted, &counted) {
        (Some(server), Some(counted)) => calls.store.replace(server, counted.address()),
        _ => calls.store.clone(),
    };
    let store: Arc<dyn Store> = Arc::from(cinch_stores::open(&address).await?);
    let expiry = if store.shape().has_expiry { Expiry::Never } else { Expiry::Keep };
    let sources = Sources::read(&calls.config, [], "figures".to_owned())?;
    let client = Client::new(store, Arc::new(Live::new(sources.configuration()?)));
    let key = |index: usize| format!("{}:{}", calls.prefix, index % calls.keys).into_bytes();

    // The first call opens the connection, which is no part of what a write costs.
    client.get(&key(0)).await?;
    let sent = || counted.as_ref().map(Counted::bytes);
    let (sent_before, mut writes) = (sent(), Times::default());
    for (index, payload) in lines(&calls.payloads)?.enumerate() {
        let (key, payload) = (key(index), payload?);
        let start = Start::now();
        client.put(&key, payload.clone(), None, &Condition::Always, expiry).await?;
        writes.add(start);
    }
    let sent_bytes = sent().zip(sent_before).map(|(now, before)| now - before);
    let mut reads = Times::default();
    // Behind the last round of the keys nothing was written over.
    let first = calls.count.saturating_sub(calls.keys);
    for (index, payload) in lines(&calls.payloads)?.enumerate().skip(first) {
        let (key, payload) = (key(index), payload?);
        let start = Start::now();
        let got = client.get(&key).await?;
        reads.add(start);
        if got.and_then(|read| read.payload).as_deref() != Some(&payload[..]) {
            let key = String::from_utf8_lossy(&key).into_owned();
            return Err(format!("{key} did not come back as it was written").into());
        }
    }
    let memory_bytes = memory_bytes()?;
    Ok(Outcome { writes: writes.cost(), reads: reads.cost(), memory_bytes, sent_bytes })
}

/// The moment at which a call began.
struct Start {
    time: Instant,
    cpu_ns: u64,
}

impl Start {
    fn now() -> Start {
        Start { cpu_ns: cpu_ns(), time: Instant::now() }
    }
}

/// Times of calls.
#[derive(Default)]
struct Times {
    times: Vec<Duration>,
    cpu_ns: u64,
}

impl Times {
    fn add(&mut self, start: Start) {
        self.times.push(start.time.elapsed());
        self.cpu_ns += cpu_ns().saturating_sub(start.cpu_ns);
    }

    fn cost(mut self) -> Cost {
        let count = self.times.len();
        self.times.sort_unstable();
        let at = |share: f64| {
            let place = ((count as f64 * share).ceil() as usize).clamp(1, count.max(1)) - 1;
            self.times.get(place).map_or(0.0, |time| time.as_secs_f64() * 1e6)
        };
        Cost {
            count,
            sum_s: self.times.iter().sum::<Duration>().as_secs_f64(),
            p50_us: at(0.5),
            p99_us: at(0.99),
            cpu_us: self.cpu_ns as f64 / 1e3 / count.max(1) as f64,
        }
    }
}

/// The CPU time of this thread, which makes the calls, in nanoseconds.
fn cpu_ns() -> u64 {
    // Every Linux has this clock; without it there would be zeros in a column, and no wrong figure.
    let Ok(time) = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID) else { return 0 };
    Duration::from(time).as_nanos() as u64
}

/// The most memory that this process has had.
fn memory_bytes() -> Result<u64, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/self/status")?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    Ok(kib.ok_or("the system does not say how much memory it is")? << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_of_the_middle_and_percentiles_round_up() {
        let times = Times { times: (1..=100).map(Duration::from_micros).collect(), cpu_ns: 50_000 };
        let cost = times.cost();
        assert_eq!((cost.count, cost.p50_us, cost.p99_us), (100, 50.0, 99.0));
        assert!((cost.sum_s - 0.00505).abs() < 1e-9 && cost.cpu_us == 0.5);
        let one = Times { times: vec![Duration::from_micros(7)], cpu_ns: 0 }.cost();
        assert_eq!((one.p50_us, one.p99_us), (7.0, 7.0));
        assert_eq!(Times::default().cost().p99_us, 0.0);
    }
}
