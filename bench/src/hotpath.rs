//! `hotpath`: what a service pays for the policy in front of its store. One call of the client that
//! it would use anyway, with the bare codec, against the same call through `cinch-stores`.
//!
//! The target is at most 3 % on top of the bare call with its codec, and nothing that can be
//! measured where compression is off. Calls wait for a server, so that here the wall clock counts;
//! the processor time of the calling thread stands beside it, because a service pays for that too.

mod calls;
mod server;

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use serde_json::json;
use tokio::runtime::Runtime;

use crate::clock::Clock;
use crate::failure::Outcome;
use crate::random::Random;
use crate::statistics::{median, median_interval};
use crate::table::Table;
use crate::{machine, payloads};
use calls::{Call, Case, Sides, cases};
use server::Server;

/// The target for calls that pack or unpack.
const SHARE_ALLOWED: f64 = 0.03;

/// The sizes of the payloads in bytes: a small cart, one of the usual size, and a large one.
const SIZES_BYTES: [u32; 3] = [2_000, 20_000, 500_000];

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Measure against this server [default: a `redis-server` that is started for it]
    #[arg(long, value_name = "redis://HOST:PORT")]
    redis: Option<String>,
    /// Pairs of batches in a row of the table
    #[arg(long, value_name = "N", default_value_t = 400)]
    pairs: usize,
    /// Only rows whose name contains this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Write the figures to this file too
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// How much is measured.
#[derive(Debug, Clone, Copy)]
struct Effort {
    /// Both sides begin anew so often, with other connections.
    lives: usize,
    /// Pairs of batches in a life.
    pairs: usize,
    /// The least time of a batch, in nanoseconds.
    batch_ns: f64,
}

/// Pairs of one life, which are drawn together for the interval: where a connection's buffers lie
/// moves its calls by some percent for as long as it lives, and neighbours meet the same weather.
const PAIRS_IN_LIFE: usize = 20;

/// What was found, in microseconds of a call.
struct Found {
    ours_us: f64,
    bare_us: f64,
    ours_cpu_us: f64,
    bare_cpu_us: f64,
    ratio: f64,
    low: f64,
    high: f64,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    print!("{}", machine::description());
    let server = match &arguments.redis {
        Some(_) => None,
        None => Some(Server::start()?),
    };
    let address = match (&arguments.redis, &server) {
        (Some(address), _) => address.clone(),
        (None, Some(server)) => server.address(),
        (None, None) => return Err("there is no server".into()),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let lives = arguments.pairs.div_ceil(PAIRS_IN_LIFE).max(2);
    let effort = Effort { lives, pairs: PAIRS_IN_LIFE, batch_ns: 2_000_000.0 };
    let mut random = Random::new(1);
    let titles = [
        "store, method, call",
        "bytes",
        "ours us",
        "bare us",
        "ratio",
        "95 % of ratio",
        "cpu ratio",
        "verdict",
    ];
    let mut table = Table::new(titles);
    let mut figures = Vec::new();
    let mut count_over = 0;
    for size in SIZES_BYTES {
        let payload = payloads::nearest(size)?;
        for case in cases(Some(&address)) {
            if arguments.only.as_ref().is_some_and(|text| !case.name.contains(text.as_str())) {
                continue;
            }
            let found = compare(&runtime, &case, &payload, effort, &mut random)?;
            // The interval decides: below 1 % nobody could tell it from the weather.
            let is_over = found.low - 1.0 > if case.is_off { 0.01 } else { SHARE_ALLOWED };
            let verdict = if is_over { "OVER" } else { "ok" };
            // Memory has no call that waits, so that what is left is our work alone.
            count_over += usize::from(is_over && case.counts);
            let cpu_ratio = found.ours_cpu_us / found.bare_cpu_us;
            table.row([
                case.name.clone(),
                payload.len().to_string(),
                format!("{:.2}", found.ours_us),
                format!("{:.2}", found.bare_us),
                format!("{:.4}", found.ratio),
                format!("{:.4} to {:.4}", found.low, found.high),
                format!("{cpu_ratio:.3}"),
                if case.counts { verdict.to_owned() } else { "no target".to_owned() },
            ]);
            figures.push(json!({
                "name": case.name, "payload_bytes": payload.len(), "ours_us": found.ours_us,
                "bare_us": found.bare_us, "ratio": found.ratio, "ratio_low": found.low,
                "ratio_high": found.high, "ours_cpu_us": found.ours_cpu_us,
                "bare_cpu_us": found.bare_cpu_us, "verdict": verdict,
            }));
            eprintln!("measured {} of {} bytes", case.name, payload.len());
        }
    }
    print!("{}", table.text());
    println!(
        "\na row is ok when the interval of its ratio begins at no more than {:.2}, where \
         compression is off at no more than 1.01",
        1.0 + SHARE_ALLOWED
    );
    if let Some(path) = &arguments.json {
        fs::write(path, serde_json::to_string_pretty(&figures)?)?;
    }
    if count_over > 0 {
        return Err(format!("{count_over} rows are OVER").into());
    }
    Ok(())
}

/// Times both sides in pairs of batches, in random order, in lives that begin in random order.
fn compare(
    runtime: &Runtime,
    case: &Case,
    payload: &[u8],
    effort: Effort,
    random: &mut Random,
) -> Outcome<Found> {
    let (mut of_ours, mut of_bare, mut groups) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..effort.lives {
        let Sides { mut ours, mut bare } =
            runtime.block_on(case.open(payload, random.is_heads()))?;
        let calls = calls_of(runtime, bare.as_mut(), effort.batch_ns)?;
        time(runtime, ours.as_mut(), calls)?;
        let mut ratios = Vec::new();
        for _ in 0..effort.pairs {
            let pair = match random.is_heads() {
                true => {
                    let ours = time(runtime, ours.as_mut(), calls)?;
                    (ours, time(runtime, bare.as_mut(), calls)?)
                }
                false => {
                    let bare = time(runtime, bare.as_mut(), calls)?;
                    (time(runtime, ours.as_mut(), calls)?, bare)
                }
            };
            ratios.push(pair.0.0 / pair.1.0);
            of_ours.push(pair.0);
            of_bare.push(pair.1);
        }
        groups.push(ratios);
    }
    let (low, high) = median_interval(&groups, random);
    let middle = |times: &[(f64, f64)], of: fn(&(f64, f64)) -> f64| {
        median(&times.iter().map(of).collect::<Vec<f64>>()) / 1_000.0
    };
    Ok(Found {
        ours_us: middle(&of_ours, |time| time.0),
        bare_us: middle(&of_bare, |time| time.0),
        ours_cpu_us: middle(&of_ours, |time| time.1),
        bare_cpu_us: middle(&of_bare, |time| time.1),
        ratio: median(&groups.concat()),
        low,
        high,
    })
}

/// How many calls make a batch.
fn calls_of(runtime: &Runtime, side: &mut dyn Call, batch_ns: f64) -> Outcome<u32> {
    let mut calls = 1_u32;
    loop {
        let (call_ns, _) = time(runtime, side, calls)?;
        if call_ns * f64::from(calls) >= batch_ns || calls >= 1 << 20 {
            return Ok(calls);
        }
        let wanted = batch_ns / call_ns.max(1.0) * 1.1;
        calls = (wanted as u32).clamp(calls + 1, calls * 8);
    }
}

/// Nanoseconds of a call: by the clock on the wall, and of this thread's processor time.
fn time(runtime: &Runtime, side: &mut dyn Call, calls: u32) -> Outcome<(f64, f64)> {
    let (wall, cpu) = (Instant::now(), Clock::start());
    let done = runtime.block_on(side.run(calls));
    let times = (wall.elapsed().as_nanos() as f64, cpu.elapsed_ns());
    if !done? {
        return Err("a side gave another payload while it was timed".into());
    }
    Ok((times.0 / f64::from(calls), times.1 / f64::from(calls)))
}

/// The store in memory with tiny counts: both sides give the payload back.
#[cfg(test)]
pub(crate) fn smoke() -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let payload = payloads::nearest(2_000)?;
    let effort = Effort { lives: 2, pairs: 2, batch_ns: 1.0 };
    for case in cases(None) {
        compare(&runtime, &case, &payload, effort, &mut Random::new(1))?;
    }
    Ok(())
}
