//! The arguments of `cinch schema`. They name the same sources as an evaluation's do, but the cuts
//! are fewer: a schema has no use for groups or shares.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{FormatChoice, ReadingArguments};

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
    /// What is taken of them.
    #[command(flatten)]
    pub reading: ReadingArguments,
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
