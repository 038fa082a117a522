//! `cargo xtask bench ingest`: the log ingress under load, beside the baselines of the article's
//! figures and rsyslog, in the same run. The load is that of CAL clients: non-blocking sockets with
//! small buffers, where a bunch that is not taken within 0.64 s is a disconnect. Generator and
//! server share the machine's processors.
//!
//! Servers take turns at every step, so that a machine that others use too is slow for all of them
//! alike; ratios mean more than figures then.

use std::fs;
use std::io::Read;
use std::path::PathBuf;

use cinch_ingest::Ingress;
use cinch_ingest::config::{Config, Protocol};
use cinch_ingest::load::{BUNCH_DEADLINE, Messages};

mod blocks;
mod contestants;
mod coupled;
mod goals;
mod measure;
mod stall;

use contestants::Contestant;
pub(crate) use coupled::{CoupledArguments, serve as serve_coupled};
use goals::Figures;
use measure::{Asked, Row, measure, print_titles};

use crate::failure::Outcome;
use crate::machine;

/// Bytes of a bunch.
const BUNCH_BYTES: usize = 16 << 10;

/// Lines that are generated where no file is given.
const LINES: usize = 20_000;

/// The most bytes of log text that are sent before it starts over, and of which every file gives
/// its part: bunches are made before the clock runs.
const TEXT_BYTES: usize = 4 << 20;

/// The most memory that the ingress may take, in MB: its default budget and 64 MiB.
const RESIDENT_MAX_MB: f64 = 320.0 * 1.048_576;

/// A step of the bench.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Step {
    /// What compressors alone cost
    Blocks,
    /// The highest rate of each server
    Rates,
    /// Every server at one rate
    Fixed,
    /// Many connections
    Many,
    /// A filer that stands still
    Stall,
}

/// The log ingress under load, beside the article's baselines and rsyslog
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Connections.
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    connections: usize,
    /// Rates among which the highest is looked for, in MB/s, in ascending order.
    #[arg(
        long,
        value_name = "MB,...",
        value_delimiter = ',',
        default_value = "50,75,100,125,150,200,250,300,350,400,450,500,550,600,700"
    )]
    rates: Vec<u64>,
    /// The rate at which processor time, memory and read intervals are compared, in MB/s.
    #[arg(long, value_name = "MB", default_value_t = 300)]
    fixed: u64,
    /// Connections of the step with many.
    #[arg(long, value_name = "N", default_value_t = 5_000)]
    many: usize,
    /// How long each load lasts.
    #[arg(long, value_name = "N", default_value_t = 8)]
    seconds: u64,
    /// How often the step at one rate is repeated.
    #[arg(long, value_name = "N", default_value_t = 1)]
    rounds: usize,
    /// Only servers whose names hold this.
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// Only these steps.
    #[arg(long, value_enum, value_name = "STEP,...", value_delimiter = ',')]
    steps: Vec<Step>,
    /// Log lines to send, a part of each file; with none, generated ones.
    #[arg(long, value_name = "FILE,...", value_delimiter = ',', num_args = 1..)]
    input: Vec<PathBuf>,
    /// This program as it was at another commit, whose ingress takes its turns too.
    #[arg(long, value_name = "PROGRAM")]
    beside: Option<PathBuf>,
}

/// Runs an ingress until its standard input ends.
#[derive(Debug, clap::Args)]
pub(crate) struct ServeArguments {
    config: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    print!("{}", machine::description());
    let load_average = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!(
        "the load: bunches of {BUNCH_BYTES} bytes, {} s each, on the processors of the server;\n\
         a rate holds if all of it was sent and kept and no bunch waited for {} ms;\n\
         load average before it: {}\n",
        arguments.seconds,
        BUNCH_DEADLINE.as_millis(),
        load_average.trim()
    );
    let does = |step| arguments.steps.is_empty() || arguments.steps.contains(&step);
    let lines = lines(&arguments.input)?;
    let contestants = contestants::all(arguments.beside.as_deref())?;
    let ours = contestants.first().cloned().ok_or("nothing to measure")?;
    let chosen: Vec<Contestant> =
        contestants.into_iter().filter(|one| one.name.contains(&arguments.only)).collect();
    let mut figures = Figures::default();
    if does(Step::Blocks) {
        let messages = Messages::new(Protocol::Cal, "load", BUNCH_BYTES, &lines);
        figures.gzip = Some(blocks::run(&messages.stream())?);
    }
    let asked = |rate| {
        let (connections, seconds) = (arguments.connections, arguments.seconds);
        Asked { connections, rate, seconds }
    };
    if does(Step::Rates) {
        print_titles();
        figures.highest = highest(&chosen, &arguments.rates, asked, &lines)?;
    }
    if does(Step::Fixed) {
        print_titles();
        for _ in 0..arguments.rounds {
            for contestant in &chosen {
                figures.fixed.extend(row(contestant, asked(arguments.fixed), &lines)?);
            }
        }
        println!();
    }
    if does(Step::Many) {
        print_titles();
        let many = Asked { connections: arguments.many, ..asked(arguments.fixed) };
        for contestant in chosen.iter().filter(|one| one.name == ours.name) {
            figures.many = row(contestant, many, &lines)?;
        }
        println!();
    }
    if does(Step::Stall) {
        let highest = figures.highest_of(&ours.name).unwrap_or(arguments.fixed);
        figures.stalls = stall::run(&ours, arguments.connections, highest, &lines)?;
    }
    figures.print(&ours.name);
    Ok(())
}

/// One load, whose line is printed. A server that can't be measured says why and is left out.
fn row(contestant: &Contestant, asked: Asked, lines: &[Vec<u8>]) -> Outcome<Option<Row>> {
    let messages = Messages::new(contestant.protocol, "load", BUNCH_BYTES, lines);
    match measure(contestant, asked, &messages) {
        Ok(row) => {
            row.print();
            Ok(Some(row))
        }
        Err(error) => {
            println!("{:<32} {error}", contestant.name);
            Ok(None)
        }
    }
}

/// Halves the rates for every server until one is the highest that holds. Those that hold none are
/// left out.
fn highest(
    contestants: &[Contestant],
    rates: &[u64],
    asked: impl Fn(u64) -> Asked,
    lines: &[Vec<u8>],
) -> Outcome<Vec<(String, u64)>> {
    // How many of the rates hold at least, and at most.
    let mut bounds = vec![(0, rates.len()); contestants.len()];
    while bounds.iter().any(|(low, high)| low < high) {
        for (contestant, (low, high)) in contestants.iter().zip(&mut bounds) {
            if low >= high {
                continue;
            }
            let middle = usize::midpoint(*low, *high);
            let row = row(contestant, asked(rates[middle]), lines)?;
            match row.is_some_and(|row| row.holds()) {
                true => *low = middle + 1,
                false => *high = middle,
            }
        }
    }
    println!();
    let mut highest = Vec::new();
    for (contestant, (low, _)) in contestants.iter().zip(&bounds) {
        match low.checked_sub(1) {
            None => println!("{:<32} holds none of these rates", contestant.name),
            Some(index) => {
                println!("{:<32} holds {} MB/s", contestant.name, rates[index]);
                highest.push((contestant.name.clone(), rates[index]));
            }
        }
    }
    println!();
    Ok(highest)
}

/// Runs an ingress of ours in this process, until standard input ends.
pub(crate) fn serve(arguments: &ServeArguments) -> Outcome {
    let config = Config::read(&arguments.config)?;
    let ingress = Ingress::start(config, Box::new(|line| eprintln!("{line}")))?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    ingress.stop()?;
    Ok(())
}

/// What is sent: of each file its part, so that the stream is of all of them.
fn lines(files: &[PathBuf]) -> Outcome<Vec<Vec<u8>>> {
    let mut lines = Vec::new();
    for file in files {
        let (text, mut left) = (fs::read(file)?, TEXT_BYTES / files.len());
        let all = text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        for line in all {
            let Some(after) = left.checked_sub(line.len()) else { break };
            left = after;
            lines.push(line.to_vec());
        }
    }
    if files.is_empty() {
        let kind = cinch_generate::find("logs").ok_or("no generator of logs")?;
        let options = cinch_generate::Options { count: LINES, seed: 1, median_bytes: None };
        lines.extend(kind.payloads(options).map(String::into_bytes));
    }
    Ok(lines)
}
