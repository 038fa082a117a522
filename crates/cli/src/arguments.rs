//! The arguments: what the user typed, nothing else. Everything that needs a file or the
//! environment is resolved by the commands.

mod ingest;

use std::path::PathBuf;

pub use ingest::{
    FormsArguments, IngestArguments, IngestCommand, LoadArguments, LoadProtocol, LogsArguments,
    SizeArguments, TopArguments,
};

use cinch_evaluate::dictionaries::ENTITIES_MIN;
use cinch_sample::{RECORDS_PER_SECOND, SAMPLE_COUNT, SCAN_LIMIT};
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::rollout::arguments::RolloutArguments;

mod proxy;
mod schema;
mod stores;

pub use proxy::{ProxyArguments, ProxyCommand, RedisArguments};
pub use schema::{SchemaArguments, SchemaFormat};
pub use stores::{BackfillArguments, KeyArguments, ScanArguments, TargetChoice, ValuesCommand};
pub use stores::{VerifyArguments, WalkArguments};

const ABOUT: &str = "Measure which encoding and codec fit your payloads, and pack them so.";

const AFTER_HELP: &str = "\
Exit status:
  0  done                     2  wrong arguments
  1  failed                   3  done, but input was skipped or did not come back, the run was cut
                                 short, a dictionary was not worth writing, or a rollout did not
                                 go on";

/// The command line.
#[derive(Debug, Parser)]
#[command(name = "cinch", version, about = ABOUT, after_help = AFTER_HELP, max_term_width = 100)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure encodings and codecs on payloads, and recommend one.
    #[command(after_help = "\
Example:
  cinch evaluate carts/ --goal cache --budget compress_p99=20ms --report report

SOURCE is a file or folder of JSON, NDJSON, concatenated JSON or log lines, plain or packed with
gzip or zstd, or - for a pipe; or a live store, as `cinch sample` takes it. With none, 2,219
generated shopping carts are measured.")]
    Evaluate(Box<EvaluateArguments>),
    /// Tell what a profile would save on payloads, before it is switched on.
    #[command(after_help = "Example:\n  cinch estimate carts/ --profile report/profile.toml")]
    Estimate(EstimateArguments),
    /// Learn a dictionary from payloads, and write it if payloads held out say that it is worth it.
    #[command(after_help = "\
Example:
  cinch train carts/ -o carts.cinchdict --entity CustomerID

Only what enough different entities had is learned: by default 10, told apart by --entity or as
near-duplicates. E-mail addresses, phone and card numbers are not learned whoever had them.
`cinch inspect --contents FILE` shows what a dictionary holds. A dictionary that makes later
payloads less than 5 % smaller, or slower, is not written: the exit status is then 3.")]
    Train(Box<TrainArguments>),
    /// Infer a schema from payloads, in the language of Protobuf, Thrift, Avro or JSON Schema.
    #[command(after_help = "\
Example:
  cinch schema carts/ --out cart.proto
  cinch evaluate carts/ --schema cart.proto
  cinch schema carts-of-today/ --previous cart.proto --out cart.proto --force

One payload in five is held out; it is told how many of these the schema takes, and what it refuses.
With --previous every field keeps its number. A change that readers of the previous schema could not
read is refused without --break.")]
    Schema(SchemaArguments),
    /// Take a fair sample of the payloads that a live store holds; it only reads.
    #[command(after_help = "\
Example:
  cinch sample redis://cache.example:6379/0 --match 'cart:*' --count 2000 -o carts.ndjson

Payloads are written as they were stored; what client libraries wrapped (gzip, zlib, zstd, LZ4,
Snappy, envelopes) is unwrapped. FILE gets one a line. With a / at the end it is a folder that gets
a file for each, which binary payloads need.

Addresses: redis(s)://, mongodb://, postgres://, mysql://, sqlite:FILE and
kafka://HOST:PORT/TOPIC[?tls=true&sasl=scram-sha-512]")]
    Sample(SampleArguments),
    /// Draw what compression does in production, from what processes counted.
    #[command(after_help = "\
Example:
  curl -s http://cart-1:9100/samples > cart-1.json
  cinch report cart-1.json cart-2.json -o production.html")]
    Report(ReportArguments),
    /// Bring what a store holds to what the policy would write, or back to plain, under live
    /// traffic.
    #[command(after_help = "\
Example:
  cinch backfill 'postgres://app@db/shop?table=carts&raw=cart&compressed=packed' --dry-run

Each record is replaced only if it is still what was read, keeps its time to live, and is left as it
is where anything about it is wrong. Interrupted, also by force, the same command goes on where it
was. The exit status is 3 where something was left with a problem.")]
    Backfill(Box<BackfillArguments>),
    /// Read everything that a store holds, and tell what can't be read.
    #[command(after_help = "\
Example:
  cinch verify redis://cache.example:6379/0 --config cinch.toml --namespace carts

It only reads. The exit status is 3 where something can't be read, or a packed copy is not what its
raw copy says.")]
    Verify(Box<VerifyArguments>),
    #[command(flatten)]
    Values(ValuesCommand),
    /// Pack payloads into envelopes.
    #[command(after_help = "\
Examples:
  cinch pack cart.json                          writes cart.json.cinch
  cinch pack --codec zstd:19 < cart.json > cart.cinch
  cinch pack --base cart.v1.json cart.v2.json
  cinch pack --records --profile report/profile.toml carts.ndjson")]
    Pack(PackArguments),
    /// Unpack envelopes; what is plain passes through.
    #[command(after_help = "\
Examples:
  cinch unpack cart.json.cinch -o -
  cinch unpack --base cart.v1.json cart.v2.json.cinch")]
    Unpack(UnpackArguments),
    /// Show what the header of an envelope says, or what a dictionary holds.
    #[command(after_help = "\
Examples:
  cinch inspect cart.json.cinch
  cinch inspect --contents carts.cinchdict")]
    Inspect(InspectArguments),
    /// Move a fleet to packed payloads step by step, and back: announcements, steps, stop rules.
    Rollout(RolloutArguments),
    /// Try candidates for an evaluation, told by its pipes.
    #[command(hide = true)]
    MeasureWorker,
    /// Generate realistic payloads, one a line.
    #[command(after_help = "\
Examples:
  cinch generate carts --count 1000 --seed 7 > carts.ndjson
  cinch generate --published ebay | cinch evaluate -")]
    Generate(GenerateArguments),
    /// Receive logs from thousands of connections and write them compressed, in bounded memory.
    #[command(after_help = "\
Example:
  cinch ingest --config ingest.toml
  cinch logs --config ingest.toml --pool cartsvc --since 15m --grep timeout

SIGTERM and Ctrl-C write what was received and close all files. The exit status is 3 if records
were dropped; /metrics says how many, of which pool and why.")]
    Ingest(IngestArguments),
    /// Read back what `cinch ingest` has written, by pool, time and text.
    #[command(after_help = "\
Examples:
  cinch logs --directory /var/log/cinch --pool cartsvc --since 1h --grep 'status=5..'
  cinch logs --directory /var/log/cinch --pool cartsvc --follow --json | jq .text")]
    Logs(LogsArguments),
    /// Stand between clients and a store, and pack on the way.
    Proxy(ProxyArguments),
}

/// Arguments of `cinch report`.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// What each process exported (`Live::export`), as files, or - for standard input.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Where the page goes; - is standard output.
    #[arg(short, long, value_name = "FILE", default_value = "production.html")]
    pub output: String,
    /// Write the merged export as JSON instead of a page.
    #[arg(long)]
    pub json: bool,
}

/// Whether to show progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProgressChoice {
    /// On a terminal only.
    Auto,
    /// Not at all.
    Never,
}

/// How sources are cut into payloads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormatChoice {
    /// By the file's name and first bytes.
    Auto,
    /// JSON values in any layout.
    Json,
    /// Each line is a payload.
    Lines,
    /// Each file is a payload.
    Binary,
}

/// How payloads are parted into those that train, choose and report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SplitChoice {
    /// At random, near-duplicates together.
    Group,
    /// The earliest train, the latest report: for payloads in the order of time.
    Order,
    /// Not at all: what chooses also reports, and no dictionary is trained.
    None,
}

/// Where the application's time starts and ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FromChoice {
    /// The application has JSON text and wants it back.
    Text,
    /// The application has a value in memory and wants it back.
    Value,
}

/// What is read, and how.
#[derive(Debug, Clone, Args)]
pub struct SourceArguments {
    /// Files, folders, - for standard input, or the address of a live store.
    #[arg(value_name = "SOURCE")]
    pub sources: Vec<String>,
    /// How sources are cut into payloads.
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    pub format: FormatChoice,
    /// What is taken of them.
    #[command(flatten)]
    pub reading: ReadingArguments,
}

/// What is taken of sources, whatever they are.
#[derive(Debug, Clone, Args)]
pub struct ReadingArguments {
    /// Take the elements of a top-level array as payloads.
    #[arg(long)]
    pub split: bool,
    /// Take this member of each JSON value as the payload.
    #[arg(long, value_name = "A.B.C")]
    pub field: Option<String>,
    /// Keep a fair sample of at most this many payloads.
    #[arg(long, value_name = "N")]
    pub sample: Option<usize>,
    /// What is taken of a live store.
    #[command(flatten)]
    pub live: LiveArguments,
    /// Decides every random choice: the same seed, the same answer.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Show progress.
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub progress: ProgressChoice,
}

/// `cinch evaluate`
#[derive(Debug, Clone, Args)]
pub struct EvaluateArguments {
    /// What is read.
    #[command(flatten)]
    pub source: SourceArguments,
    /// Measure what an article measured, on generated payloads of its sizes: uber, ebay, doordash,
    /// expedia or expedia-formats.
    #[arg(long, value_name = "NAME", conflicts_with = "sources")]
    pub published: Option<String>,
    /// Try these encodings only, such as json,msgpack, or all.
    #[arg(long, value_name = "LIST")]
    pub encodings: Option<String>,
    /// Try these codecs only, such as zstd:1-9,lz4,LZ4_HIGH.
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    pub codecs: Option<String>,
    /// Take out trials above a bound, such as compress_p99=20ms; may be given more than once.
    #[arg(long = "budget", value_name = "FIGURE=BOUND")]
    pub budgets: Vec<String>,
    /// What "best" means: cache, api, archive, smallest or fastest [default: cache].
    #[arg(long, value_name = "GOAL")]
    pub goal: Option<String>,
    /// Only what several languages can read.
    #[arg(long)]
    pub portable: bool,
    /// Only what needs no schema.
    #[arg(long)]
    pub no_schema: bool,
    /// A schema to use instead of an inferred one: .proto, .thrift or .avsc; may be given once for
    /// each.
    #[arg(long, value_name = "FILE", conflicts_with = "no_schema")]
    pub schema: Vec<PathBuf>,
    /// Train no dictionaries.
    #[arg(long)]
    pub no_dictionary: bool,
    /// Take out what is larger or slower than the baseline.
    #[arg(long)]
    pub beat_baseline: bool,
    /// How payloads are parted into those that train, choose and report [default: group].
    #[arg(long, value_name = "HOW")]
    pub split_by: Option<SplitChoice>,
    /// Write a rule into the profile for each size class that another trial wins clearly.
    #[arg(long)]
    pub by_class: bool,
    /// What factors compare with [default: json+zlib:6].
    #[arg(long, value_name = "ENCODING+CODEC", allow_hyphen_values = true)]
    pub baseline: Option<String>,
    /// Where the application's time starts and ends [default: text].
    #[arg(long, value_name = "WHERE")]
    pub from: Option<FromChoice>,
    /// About how long the run may take.
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub time: String,
    /// Try every pair and level, and time all that a first look sees near the best, some minutes in
    /// place of one.
    #[arg(long)]
    pub all: bool,
    /// Model the time over a link, such as 1Gbps,150ms; with ,warm or ,tls after it.
    #[arg(long, value_name = "LINK")]
    pub link: Option<String>,
    /// Model days until a disk is full, from this rate of payloads, such as 1M/day; needs --disk.
    #[arg(long, value_name = "COUNT/TIME", requires = "disk")]
    pub rate: Option<String>,
    /// The disk, such as 1TB (10^12 bytes) or 1TiB.
    #[arg(long, value_name = "SIZE", requires = "rate")]
    pub disk: Option<String>,
    /// The share of the disk that something else uses [default: 0%].
    #[arg(long, value_name = "PERCENT", requires = "rate")]
    pub overhead: Option<String>,
    /// How much the rate grows, such as 10%/month [default: 0%/month].
    #[arg(long, value_name = "PERCENT/TIME", requires = "rate", allow_hyphen_values = true)]
    pub growth: Option<String>,
    /// What a GB costs for a month, such as 0.10/GB.
    #[arg(long, value_name = "PRICE/GB", requires = "rate")]
    pub price: Option<String>,
    /// Model what is left to gain behind a store that compresses already, such as toast-pglz or
    /// zstd-block; may be given more than once.
    #[arg(long, value_name = "STORE")]
    pub behind: Vec<String>,
    /// Tell what changed since an older run, from the file that its --json wrote.
    #[arg(long, value_name = "FILE")]
    pub against: Option<PathBuf>,
    /// Ignore and replace what was recommended the last time that the same was asked here. Without
    /// this it is recommended again where it is still in the tie with the best.
    #[arg(long)]
    pub forget: bool,
    /// Write the report into this folder [default: report, unless --json is given].
    #[arg(long, value_name = "DIR")]
    pub report: Option<PathBuf>,
    /// Write every figure as JSON to this file, or to standard output with -.
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
    /// Write the recommended profile to this file.
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,
}

/// `cinch estimate`
#[derive(Debug, Args)]
pub struct EstimateArguments {
    /// What is read.
    #[command(flatten)]
    pub source: SourceArguments,
    /// How payloads are packed.
    #[command(flatten)]
    pub profile: ProfileArguments,
    /// Write the figures as JSON to this file, or to standard output with -.
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
}

/// How payloads are packed.
#[derive(Debug, Args)]
pub struct ProfileArguments {
    /// The profile file, as `cinch evaluate` writes it.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["encoding", "codec", "dictionary",
          "schema"])]
    pub profile: Option<PathBuf>,
    /// The encoding, where there is no profile file [default: verbatim].
    #[arg(long, value_name = "NAME")]
    pub encoding: Option<String>,
    /// The codec and level, where there is no profile file [default: zstd:3].
    #[arg(long, value_name = "CODEC[:LEVEL]", allow_hyphen_values = true)]
    pub codec: Option<String>,
    /// The dictionary, where there is no profile file.
    #[arg(long, value_name = "FILE")]
    pub dictionary: Option<PathBuf>,
    /// The schema, where there is no profile file and the encoding needs one.
    #[arg(long, value_name = "FILE")]
    pub schema: Option<PathBuf>,
}

/// What is taken of a live store, beside its address.
#[derive(Debug, Clone, Args)]
pub struct LiveArguments {
    /// Of a live store: keys, collections, tables or topics of this pattern only.
    #[arg(long = "match", value_name = "PATTERN")]
    pub matching: Option<String>,
    /// Of a live store: what this query finds, in its own language.
    #[arg(long, value_name = "QUERY")]
    pub query: Option<String>,
    /// Of a live store: read from a replica.
    #[arg(long)]
    pub replica: bool,
    /// Of a live store: read at most this many records a second; 0 is as fast as it answers.
    #[arg(long, value_name = "N", default_value_t = RECORDS_PER_SECOND)]
    pub read_rate: u32,
}

/// `cinch sample`
#[derive(Debug, Args)]
pub struct SampleArguments {
    /// redis://, mongodb://, postgres://, mysql://, sqlite: or kafka://
    #[arg(value_name = "ADDRESS")]
    pub address: String,
    /// What is taken.
    #[command(flatten)]
    pub live: LiveArguments,
    /// How many payloads.
    #[arg(long, value_name = "N", default_value_t = SAMPLE_COUNT)]
    pub count: usize,
    /// Look at no more than this many records, listed keys among them.
    #[arg(long, value_name = "N", default_value_t = SCAN_LIMIT)]
    pub scan_limit: u64,
    /// Decides every random choice that is ours to make.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Write here: a file, a folder with a / at the end, or - for standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: String,
    /// Replace a file that exists.
    #[arg(short, long)]
    pub force: bool,
    /// Show progress.
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub progress: ProgressChoice,
}

/// `cinch train`
#[derive(Debug, Clone, Args)]
pub struct TrainArguments {
    /// What is read.
    #[command(flatten)]
    pub source: SourceArguments,
    /// Write the dictionary here.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// The encoding that it is for: columnar, verbatim or another [default: the better of these
    /// two].
    #[arg(long, value_name = "NAME")]
    pub encoding: Option<String>,
    /// The codec and level that it is for.
    #[arg(
        long,
        value_name = "CODEC[:LEVEL]",
        default_value = "zstd:3",
        allow_hyphen_values = true
    )]
    pub codec: String,
    /// Learn only what at least so many different entities had.
    #[arg(long, value_name = "K", default_value_t = ENTITIES_MIN,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub entities_min: u32,
    /// The member that tells who or what a payload is about, such as customer.id [default:
    /// near-duplicates are one entity].
    #[arg(long, value_name = "A.B.C")]
    pub entity: Option<String>,
    /// Learn nothing that matches this pattern; may be given more than once.
    #[arg(long, value_name = "REGEX")]
    pub deny: Vec<String>,
    /// Learn e-mail addresses, phone and card numbers too, if enough entities had them.
    #[arg(long)]
    pub allow_personal: bool,
    /// The dictionary that is in use: the new one has to be better than it.
    #[arg(long, value_name = "FILE")]
    pub against: Option<PathBuf>,
    /// How payloads are parted into those that train, choose and report [default: group].
    #[arg(long, value_name = "HOW")]
    pub split_by: Option<SplitChoice>,
    /// Write the dictionary even if it is not worth it, and replace a file that exists.
    #[arg(short, long)]
    pub force: bool,
    /// Print every figure as JSON.
    #[arg(long)]
    pub json: bool,
}

/// `cinch pack`
#[derive(Debug, Args)]
pub struct PackArguments {
    /// Files, each of which gets a packed one beside it; with none, standard input.
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
    /// How payloads are packed.
    #[command(flatten)]
    pub profile: ProfileArguments,
    /// Write here instead; - is standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<String>,
    /// Pack each line on its own, and write the records one after the other.
    #[arg(long)]
    pub records: bool,
    /// Write the form that the stock programs read too: zstd, or lz4 with --codec lz4.
    #[arg(long, conflicts_with = "records")]
    pub interop: bool,
    /// An earlier version of the payload: where that is smaller, pack what changed since, which can
    /// then be unpacked with this version only. Takes codec zstd.
    #[arg(long, value_name = "FILE", conflicts_with = "interop")]
    pub base: Option<PathBuf>,
    /// Replace files that exist.
    #[arg(short, long)]
    pub force: bool,
}

/// `cinch unpack`
#[derive(Debug, Args)]
pub struct UnpackArguments {
    /// Files that end in .cinch, each of which gets an unpacked one beside it; with none, standard
    /// input.
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
    /// The profile whose dictionaries and schema envelopes may name.
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,
    /// A schema that envelopes may name; may be given more than once.
    #[arg(long = "schema", value_name = "FILE")]
    pub schemas: Vec<PathBuf>,
    /// A dictionary that envelopes may name; may be given more than once.
    #[arg(long = "dictionary", value_name = "FILE")]
    pub dictionaries: Vec<PathBuf>,
    /// An unpacked version that envelopes may be packed against; may be given more than once.
    #[arg(long = "base", value_name = "FILE")]
    pub bases: Vec<PathBuf>,
    /// Write here instead; - is standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<String>,
    /// Read records, and write each payload on a line of its own.
    #[arg(long)]
    pub records: bool,
    /// Refuse payloads above this many bytes.
    #[arg(long, value_name = "BYTES")]
    pub limit: Option<usize>,
    /// Replace files that exist.
    #[arg(short, long)]
    pub force: bool,
}

/// `cinch inspect`
#[derive(Debug, Args)]
pub struct InspectArguments {
    /// Files; with none, standard input.
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
    /// Read records.
    #[arg(long)]
    pub records: bool,
    /// Of a dictionary: print all that it holds, with how many entities had it.
    #[arg(long, conflicts_with = "records")]
    pub contents: bool,
    /// Print JSON, one object a line.
    #[arg(long)]
    pub json: bool,
}

/// `cinch generate`
#[derive(Debug, Args)]
pub struct GenerateArguments {
    /// What to generate: carts, menus, trips, flights or logs.
    #[arg(value_name = "KIND", required_unless_present = "published")]
    pub kind: Option<String>,
    /// Generate payloads of the sizes that an article published: uber, ebay, doordash or expedia.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["kind", "median_bytes"])]
    pub published: Option<String>,
    /// How many payloads [default: 1000, or as many as were published].
    #[arg(long, value_name = "N")]
    pub count: Option<usize>,
    /// The same seed gives the same payloads.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Scale payloads to about this median size [default: that of real ones].
    #[arg(long, value_name = "BYTES")]
    pub median_bytes: Option<u32>,
    /// Write here instead of to standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn no_command_has_two_arguments_of_one_name() {
        Arguments::command().debug_assert();
    }
}
