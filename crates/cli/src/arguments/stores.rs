//! The arguments of the commands that walk through a live store. They share how the
//! walk is bounded, so that one learns it once.

use std::path::PathBuf;
use std::time::Duration;

use cinch_stores::backfill::{SAMPLE_DEFAULT, SKIP_EXPIRING_BELOW_MS_DEFAULT};
use cinch_stores::control::proof::SETTLE_MS_DEFAULT;
use cinch_stores::walk::{CONCURRENCY_DEFAULT, CONCURRENCY_MAX};
use clap::{Args, Subcommand, ValueEnum};

use super::ProgressChoice;

/// What a walk through a store has in common, whatever it does.
#[derive(Debug, Clone, Args)]
pub struct WalkArguments {
    /// redis://, mongodb://, postgres://, mysql:// or sqlite:, with the names of its fields.
    #[arg(value_name = "STORE")]
    pub address: String,
    /// The configuration with the namespaces.
    #[arg(short, long, value_name = "FILE", default_value = "cinch.toml")]
    pub config: PathBuf,
    /// This namespace only.
    #[arg(short, long, value_name = "NAME")]
    pub namespace: Option<String>,
    /// At most this many records a second [default: as many as the server answers without
    /// becoming slower].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_rate: Option<u32>,
    /// How many records are in work at once.
    #[arg(long, value_name = "N", default_value_t = CONCURRENCY_DEFAULT as u32,
          value_parser = clap::value_parser!(u32).range(1..=CONCURRENCY_MAX as i64))]
    pub concurrency: u32,
    /// Show hashes in place of keys.
    #[arg(long)]
    pub no_keys: bool,
    /// Print what was found as JSON.
    #[arg(long)]
    pub json: bool,
    /// Show progress.
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub progress: ProgressChoice,
}

/// What records are brought to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TargetChoice {
    /// What the policy would write today.
    Policy,
    /// Plain payloads.
    Plain,
}

/// `cinch backfill`
#[derive(Debug, Args)]
pub struct BackfillArguments {
    /// The walk.
    #[command(flatten)]
    pub walk: WalkArguments,
    /// What records are brought to.
    #[arg(long, value_name = "WHAT", default_value = "policy")]
    pub to: TargetChoice,
    /// Write nothing; tell what would be saved, from a sample.
    #[arg(long)]
    pub dry_run: bool,
    /// How many records a dry run reads.
    #[arg(long, value_name = "N", default_value_t = SAMPLE_DEFAULT, requires = "dry_run")]
    pub sample: usize,
    /// Decides which records a dry run reads.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "dry_run")]
    pub seed: u64,
    /// Leave records that have less time to live than this.
    #[arg(long, value_name = "TIME",
          default_value_t = Duration::from_millis(SKIP_EXPIRING_BELOW_MS_DEFAULT).into())]
    pub skip_expiring_below: humantime::Duration,
    /// Rewrite records too whose packed bytes alone differ, as those of another level do.
    #[arg(long)]
    pub repack: bool,
    /// Where the job goes on after an interruption [default: a name of its own in this folder].
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    pub checkpoint: Option<PathBuf>,
    /// The control store of the rollout: the job joins the fleet and goes no further than the
    /// step that holds. Without it the configuration is taken at its word.
    #[arg(long, value_name = "STORE")]
    pub control: Option<String>,
}

/// `cinch verify`
#[derive(Debug, Args)]
pub struct VerifyArguments {
    /// The walk.
    #[command(flatten)]
    pub walk: WalkArguments,
    /// The control store of the rollout: what a clean run proves to be gone is cleared there.
    #[arg(long, value_name = "STORE")]
    pub control: Option<String>,
    /// How long to wait, when the whole fleet keeps the seal, for writes that were under way.
    #[arg(long, value_name = "TIME", requires = "control",
          default_value_t = Duration::from_millis(SETTLE_MS_DEFAULT).into())]
    pub settle: humantime::Duration,
}

/// What shows values of a store.
#[derive(Debug, Subcommand)]
pub enum ValuesCommand {
    /// Print the payload that a store holds under a key; nothing is changed.
    #[command(after_help = "\
Example:
  cinch get redis://cache.example:6379/0 cart:42 --config cinch.toml

The exit status is 3 where nothing is there, or it can't be read.")]
    Get(KeyArguments),
    /// List a store's keys, with the size and form of what is stored.
    #[command(after_help = "\
Example:
  cinch scan redis://cache.example:6379/0 --keys 'cart:*' --config cinch.toml

The columns are bytes, form, namespace and key.")]
    Scan(ScanArguments),
    /// Tell how the value under a key is stored, and by what policy.
    #[command(after_help = "\
Example:
  cinch explain redis://cache.example:6379/0 cart:42 --config cinch.toml")]
    Explain(KeyArguments),
}

/// `cinch get` and `cinch explain`
#[derive(Debug, Args)]
pub struct KeyArguments {
    /// redis://, mongodb://, postgres://, mysql:// or sqlite:, with the names of its fields.
    pub store: String,
    /// The key.
    pub key: String,
    /// The configuration with the namespaces.
    #[arg(short, long, value_name = "FILE", default_value = "cinch.toml")]
    pub config: PathBuf,
}

/// `cinch scan`
#[derive(Debug, Args)]
pub struct ScanArguments {
    /// redis://, mongodb://, postgres://, mysql:// or sqlite:, with the names of its fields.
    pub store: String,
    /// Only keys that match this, as in a namespace's `keys`.
    #[arg(long, value_name = "GLOB")]
    pub keys: Option<String>,
    /// The most keys that are shown.
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub limit: usize,
    /// The configuration with the namespaces.
    #[arg(short, long, value_name = "FILE", default_value = "cinch.toml")]
    pub config: PathBuf,
}
