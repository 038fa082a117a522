//! `cargo xtask bench proxy`: the Redis sidecar beside a direct connection and twemproxy, in the
//! same run. Clients, proxies and the server share the machine's processors, and take turns, so
//! that a machine that others use too is slow for all of them alike; ratios mean more than figures
//! then.

mod carts;
mod contestants;
mod idle;
mod link;
mod load;
mod menus;
mod plain;

use std::io::Read;
use std::path::PathBuf;

use cinch_proxy::Sidecar;
use cinch_proxy::settings::Settings;
use cinch_rollout::live::Live;
use cinch_rollout::settings::Sources;

pub(crate) use load::{LoadArguments, run as load};

use crate::failure::Outcome;
use crate::machine;

/// A step of the bench.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Step {
    /// Small plain values, in pipelines and one by one
    Plain,
    /// Carts with a dictionary: what the sidecar adds to a call
    Carts,
    /// Menus over a link, and one that everybody wants
    Menus,
    /// The memory of idle connections
    Idle,
}

/// The Redis sidecar beside twemproxy and a direct connection
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Only these steps.
    #[arg(long, value_enum, value_name = "STEP,...", value_delimiter = ',')]
    steps: Vec<Step>,
    /// How often each load is repeated.
    #[arg(long, value_name = "N", default_value_t = 3)]
    rounds: usize,
    /// How long each load lasts where it is not a number of calls.
    #[arg(long, value_name = "N", default_value_t = 6)]
    seconds: u64,
    /// Requests of a load of small values that is not pipelined; ten times as many that are.
    #[arg(long, value_name = "N", default_value_t = 200_000)]
    requests: u64,
    /// Menus.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    menus: usize,
    /// The link that menus go over (root, `ip` and `tc`).
    #[arg(long, value_name = "RATE", default_value = "1gbit")]
    link: String,
    /// The profile of menus [default: columnar, zstd -1]
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
}

/// Runs a sidecar until its standard input ends.
#[derive(Debug, clap::Args)]
pub(crate) struct ServeArguments {
    config: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    print!("{}", machine::description());
    let load_average = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("load average before it: {}\n", load_average.trim());
    let does = |step| arguments.steps.is_empty() || arguments.steps.contains(&step);
    if does(Step::Plain) {
        plain::run(arguments.rounds, arguments.requests)?;
    }
    if does(Step::Carts) {
        carts::run(arguments.rounds, arguments.seconds)?;
    }
    if does(Step::Menus) {
        let profile = arguments.profile.as_deref();
        menus::run(&arguments.link, arguments.menus, profile, arguments.seconds)?;
    }
    if does(Step::Idle) {
        idle::run()?;
    }
    Ok(())
}

pub(crate) fn serve(arguments: &ServeArguments) -> Outcome {
    let sources = Sources::read(&arguments.config, Vec::new(), "bench".to_owned())?;
    let settings: Settings = sources.redis_proxy()?;
    let live = std::sync::Arc::new(Live::new(sources.configuration()?));
    let sidecar = Sidecar::start(&settings, live)?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    sidecar.stop();
    Ok(())
}

/// The middle one of some figures, for a table.
fn middle(values: &[f64]) -> f64 {
    crate::statistics::median(values)
}
