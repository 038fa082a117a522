//! The arguments of `cinch ingest` and `cinch logs`, apart from the others because they are about
//! logs and not about payloads.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

/// `cinch ingest`
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct IngestArguments {
    /// What else to do than to receive.
    #[command(subcommand)]
    pub command: Option<IngestCommand>,
    /// The configuration: listeners, pools, sinks, metrics.
    #[arg(long, value_name = "FILE", required = true)]
    pub config: Option<PathBuf>,
    /// Say whether the configuration can be used, and do nothing else.
    #[arg(long)]
    pub check: bool,
}

/// What belongs to an ingress.
#[derive(Debug, Subcommand)]
pub enum IngestCommand {
    /// Send as CAL clients do, and count what an ingress could not take in time.
    #[command(after_help = "\
Examples:
  cinch ingest load 127.0.0.1:1118 --connections 1000 --rate 300000000 --seconds 10
  cinch ingest load 127.0.0.1:1118 --connections 100,1000,5000 --rate 300000000,500000000 \
    --status 127.0.0.1:9118 --picture load.svg

Each connection is a non-blocking socket with a buffer of 128 KiB. A bunch of messages that was not
taken within the interval is a disconnect: it is counted, what was left of the bunch is lost, and
the connection is made anew. The exit status is 3 if there was any.")]
    Load(LoadArguments),
    /// Try the forms of a batch and its filter on logs of one's own: sizes, speeds, and what a
    /// search passes over.
    #[command(after_help = "\
Example:
  cinch ingest forms --level 1,3 /var/log/app/*.log")]
    Forms(FormsArguments),
    /// Apply the article's formulas: how long a connection waits, and how much memory is needed.
    #[command(after_help = "\
Example:
  cinch ingest size --connections 1000000 --rate 200000000000 --readers 512")]
    Size(SizeArguments),
    /// Show what an ingress does right now: rates, latencies, and what each pool drops.
    #[command(after_help = "\
Examples:
  cinch ingest top 127.0.0.1:9118
  cinch ingest top 127.0.0.1:9118 --once --json")]
    Top(TopArguments),
}

/// `cinch ingest top`
#[derive(Debug, Args)]
pub struct TopArguments {
    /// The status address of the ingress.
    #[arg(value_name = "HOST:PORT")]
    pub address: SocketAddr,
    /// The time between two looks, over which rates are taken.
    #[arg(long, value_name = "TIME", default_value = "1s")]
    #[arg(value_parser = humantime::parse_duration)]
    pub interval: Duration,
    /// Look once and end.
    #[arg(long)]
    pub once: bool,
    /// Print JSON, one object a look.
    #[arg(long)]
    pub json: bool,
}

/// `cinch ingest forms`
#[derive(Debug, Args)]
pub struct FormsArguments {
    /// Logs: files of lines.
    #[arg(value_name = "FILE", required = true)]
    pub input: Vec<PathBuf>,
    /// Levels of zstd.
    #[arg(long, value_name = "NUMBER", value_delimiter = ',', default_value = "1,3")]
    #[arg(allow_negative_numbers = true)]
    pub level: Vec<i32>,
    /// The text of a batch, in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 160 << 10)]
    pub batch: usize,
    /// Print JSON, one object a row.
    #[arg(long)]
    pub json: bool,
}

/// How a load's messages are framed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LoadProtocol {
    /// As CAL clients do.
    Cal,
    /// Lines that end in a newline.
    Lines,
    /// Records after their length.
    LengthPrefixed,
}

/// `cinch ingest load`
#[derive(Debug, Args)]
pub struct LoadArguments {
    /// Where to.
    #[arg(value_name = "HOST:PORT")]
    pub address: SocketAddr,
    /// How messages are framed.
    #[arg(long, value_enum, default_value = "cal")]
    pub protocol: LoadProtocol,
    /// How many connections; several numbers are tried one after the other.
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "1000")]
    pub connections: Vec<usize>,
    /// Bytes in a second of all connections together; several are tried one after the other.
    #[arg(long, value_name = "BYTES,...", value_delimiter = ',', default_value = "200000000")]
    pub rate: Vec<u64>,
    /// Bytes of a bunch.
    #[arg(long, value_name = "BYTES", default_value_t = 16 << 10)]
    pub bunch: usize,
    /// How long each load lasts.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub seconds: u64,
    /// When a bunch that was not taken is a disconnect, in milliseconds: the buffer by the rate,
    /// 0.64 s in the article.
    #[arg(long, value_name = "MS", default_value_t = 640)]
    pub deadline_ms: u64,
    /// The pool that the label names.
    #[arg(long, value_name = "NAME", default_value = "load")]
    pub pool: String,
    /// Log lines to send; with none, lines of our own.
    #[arg(long, value_name = "FILE")]
    pub input: Vec<PathBuf>,
    /// Draw throughput and pause against connections into this file, which ends in .svg or .html.
    #[arg(long, value_name = "FILE")]
    pub picture: Option<PathBuf>,
    /// The status address of the ingress, to ask it for its pause: the longest time between two
    /// reads of a connection. Without it the pause is the longest that a bunch waited.
    #[arg(long, value_name = "HOST:PORT")]
    pub status: Option<SocketAddr>,
    /// Print JSON, one object for each load.
    #[arg(long)]
    pub json: bool,
}

/// `cinch ingest size`
#[derive(Debug, Args)]
pub struct SizeArguments {
    /// Connections.
    #[arg(long, value_name = "N")]
    pub connections: u64,
    /// Bytes in a second, of all connections together.
    #[arg(long, value_name = "BYTES")]
    pub rate: f64,
    /// Threads that read.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub readers: u64,
    /// How long one read of one connection takes; about 20 microseconds for 16 KiB.
    #[arg(long, value_name = "TIME", default_value = "20us")]
    #[arg(value_parser = humantime::parse_duration)]
    pub period: Duration,
    /// The longest time for which nothing is read.
    #[arg(long, value_name = "TIME", default_value = "0s")]
    #[arg(value_parser = humantime::parse_duration)]
    pub pause: Duration,
    /// From a read to the sink.
    #[arg(long, value_name = "TIME", default_value = "250ms")]
    #[arg(value_parser = humantime::parse_duration)]
    pub process: Duration,
    /// The send buffer of a client, in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 128e3)]
    pub client_buffer: f64,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `cinch logs`
#[derive(Debug, Args)]
pub struct LogsArguments {
    /// The filer's folder.
    #[arg(long, value_name = "FOLDER", required_unless_present = "config")]
    pub directory: Option<PathBuf>,
    /// The configuration of the ingress, which names the folder.
    #[arg(long, value_name = "FILE", conflicts_with = "directory")]
    pub config: Option<PathBuf>,
    /// The pool; with none, all of them.
    #[arg(long, value_name = "NAME")]
    pub pool: Option<String>,
    /// Leave out batches that were received before: a time such as 2026-11-21T10:00:00Z, or how
    /// long ago, such as 15m.
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Leave out batches that were received after.
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// Only records that match this pattern.
    #[arg(long, value_name = "REGEX")]
    pub grep: Option<String>,
    /// Only records of this connection, by the number that --json shows.
    #[arg(long, value_name = "N")]
    pub connection: Option<u64>,
    /// Go on with what is added, until Ctrl-C.
    #[arg(long)]
    pub follow: bool,
    /// Print JSON, one object for each record.
    #[arg(long)]
    pub json: bool,
    /// Say at the end, on standard error, how many batches were read and passed over.
    #[arg(long)]
    pub stats: bool,
    /// Print the bytes that clients sent, headers included.
    #[arg(long, conflicts_with = "json")]
    pub wire: bool,
}
