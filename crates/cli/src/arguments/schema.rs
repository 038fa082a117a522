//! The arguments of `cinch schema`. They name the same sources as an evaluation's do, but the cuts
//! are fewer: a schema has no use for groups or shares.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{FormatChoice, LiveArguments, ProgressChoice};

/// The language of a schema file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemaFormat {
    /// Protocol Buffers, version 3.
    Proto,
    /// Apache Thrift.
    Thrift,
    /// Apache Avro.
    Avro,
    /// JSON Schema, draft 2020-12: to validate with, not to encode with.
    Jsonschema,
}

/// `cinch schema`
#[derive(Debug, Clone, Args)]
pub struct SchemaArguments {
    /// Files, folders, - for standard input, or the address of a live store.
    #[arg(value_name = "SOURCE", required = true)]
    pub sources: Vec<String>,
    /// The language [default: what the ending of --out says, else proto].
    #[arg(long, value_enum, value_name = "LANGUAGE")]
    pub format: Option<SchemaFormat>,
    /// How sources are cut into payloads.
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    pub input_format: FormatChoice,
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
    /// Write the schema here [default: standard output].
    #[arg(short, long = "out", value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The schema that is in use, in the same language: its fields keep their numbers.
    #[arg(long, value_name = "FILE")]
    pub previous: Option<PathBuf>,
    /// Write the schema even if readers of the previous one can't read what it says.
    #[arg(long = "break", requires = "previous")]
    pub may_break: bool,
    /// Replace a file that exists.
    #[arg(short, long)]
    pub force: bool,
}
