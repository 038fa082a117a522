//! The arguments of `cinch rollout`: what the user typed, nothing else. What needs a file or a
//! store is resolved by the commands.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

/// How often a watch looks, unless told otherwise.
const EVERY: &str = "10s";

/// `cinch rollout`
#[derive(Debug, Clone, Args)]
pub struct RolloutArguments {
    /// What to do.
    #[command(subcommand)]
    pub command: RolloutCommand,
}

/// What can be done with a rollout.
#[derive(Debug, Clone, Subcommand)]
pub enum RolloutCommand {
    /// Show the steps: what each process does in them, and how long they bake.
    #[command(after_help = "Example:\n  cinch rollout plan --config cinch.toml")]
    Plan(PlanArguments),
    /// Show where every namespace stands, who announces, and what stands against the next step.
    Status(PlaceArguments),
    /// Take the next step, or a larger share of keys within one, if nothing stands against it.
    #[command(after_help = "\
Examples:
  cinch rollout advance --config cinch.toml --control postgres://ops@db.example/cinch
  cinch rollout advance --first host-3 --bake 30m
  cinch rollout advance --percent 10

Exit status 3: nothing was changed, and the reasons are printed.")]
    Advance(AdvanceArguments),
    /// Go back one step, or to an earlier one, at once and for all keys.
    Back(BackArguments),
    /// Look again and again: halt when something is wrong; with --auto, advance when nothing is.
    #[command(after_help = "\
Exit status: 0 when the last step holds (with --auto) or the time of --for is over, 3 when the \
rollout is halted.")]
    Watch(WatchArguments),
    /// Find what reads inside the raw field in a store, and say what would break.
    #[command(after_help = "\
Examples:
  cinch rollout preflight 'postgres://app@db.example/shop?table=carts&raw=cart'
  cinch rollout preflight redis://cache.example mongodb://db.example/shop.carts

It only reads catalogs. Exit status 3: something was found that would break.")]
    Preflight(PreflightArguments),
    /// Be a process of the fleet, told by standard input: for tests.
    #[command(hide = true)]
    Member(MemberArguments),
}

/// Which configuration, and which namespace of it.
#[derive(Debug, Clone, Args)]
pub struct ConfigurationArguments {
    /// The configuration of the service.
    #[arg(short, long, value_name = "FILE", default_value = "cinch.toml")]
    pub config: PathBuf,
    /// The namespace; it may be left out where there is one that is managed.
    #[arg(short, long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `cinch rollout plan`
#[derive(Debug, Clone, Args)]
pub struct PlanArguments {
    /// Which configuration.
    #[command(flatten)]
    pub configuration: ConfigurationArguments,
    /// How long every step bakes, such as 30m, in place of its own time.
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub bake: Option<Duration>,
}

/// Which rollout.
#[derive(Debug, Clone, Args)]
pub struct PlaceArguments {
    /// Which configuration.
    #[command(flatten)]
    pub configuration: ConfigurationArguments,
    /// The store that keeps states and announcements, such as postgres://ops@db.example/cinch or
    /// sqlite:control.db.
    #[arg(long, value_name = "ADDRESS")]
    pub control: String,
    /// What the decision goes by.
    #[command(flatten)]
    pub rules: RuleArguments,
}

/// What a decision goes by.
#[derive(Debug, Clone, Args)]
pub struct RuleArguments {
    /// How long the step bakes, such as 30m, in place of its own time.
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub bake: Option<Duration>,
    /// Stop at another bound, such as decode_errors=5 or read_p99=20%; may be given more than once.
    #[arg(long = "limit", value_name = "NAME=NUMBER")]
    pub limits: Vec<String>,
    /// A command that prints by how many seconds replicas lag.
    #[arg(long, value_name = "COMMAND")]
    pub lag_command: Option<String>,
}

/// What is asked for with a step.
#[derive(Debug, Clone, Args)]
pub struct RequestArguments {
    /// The processes that go first, in the steps for one process.
    #[arg(long, value_name = "HOST,HOST", value_delimiter = ',')]
    pub first: Vec<String>,
    /// Take the step for this share of keys only, from 1 to 100.
    #[arg(long, value_name = "P")]
    pub percent: Option<u8>,
}

/// `cinch rollout advance`
#[derive(Debug, Clone, Args)]
pub struct AdvanceArguments {
    /// Which rollout.
    #[command(flatten)]
    pub place: PlaceArguments,
    /// What is asked for.
    #[command(flatten)]
    pub request: RequestArguments,
    /// Let a halted rollout go on: its step begins anew, and nothing is advanced yet.
    #[arg(long, conflicts_with_all = ["first", "percent"])]
    pub resume: bool,
}

/// `cinch rollout back`
#[derive(Debug, Clone, Args)]
pub struct BackArguments {
    /// Which rollout.
    #[command(flatten)]
    pub place: PlaceArguments,
    /// The step to go back to, in place of the one before.
    #[arg(long, value_name = "STEP")]
    pub to: Option<String>,
}

/// `cinch rollout watch`
#[derive(Debug, Clone, Args)]
pub struct WatchArguments {
    /// Which rollout.
    #[command(flatten)]
    pub place: PlaceArguments,
    /// What is asked for with every step that --auto takes.
    #[command(flatten)]
    pub request: RequestArguments,
    /// Take the next step whenever nothing stands against it.
    #[arg(long)]
    pub auto: bool,
    /// How often to look.
    #[arg(long, value_name = "TIME", default_value = EVERY)]
    #[arg(value_parser = humantime::parse_duration)]
    pub every: Duration,
    /// Stop looking after this time.
    #[arg(long = "for", value_name = "TIME", value_parser = humantime::parse_duration)]
    pub duration: Option<Duration>,
}

/// `cinch rollout preflight`
#[derive(Debug, Clone, Args)]
pub struct PreflightArguments {
    /// The stores, as the service would open them.
    #[arg(value_name = "ADDRESS", required = true)]
    pub addresses: Vec<String>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `cinch rollout member`
#[derive(Debug, Clone, Args)]
pub struct MemberArguments {
    /// The configuration.
    #[arg(long, value_name = "FILE")]
    pub config: PathBuf,
    /// The control store.
    #[arg(long, value_name = "ADDRESS")]
    pub control: String,
    /// The store of payloads.
    #[arg(long, value_name = "ADDRESS")]
    pub store: String,
    /// The name of the process.
    #[arg(long, value_name = "NAME")]
    pub process: String,
}
