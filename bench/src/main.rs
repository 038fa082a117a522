//! `cargo xtask bench`: our calls beside the bare libraries and the peers, always in one run.
//!
//! Every bench verifies what it measures before it measures it, and reports a ratio or a difference
//! to something that ran in the same minute on the same machine. No test has a threshold of time:
//! the smoke tests run the same code with tiny counts, for its results only.

mod bare;
mod clock;
mod contest;
mod corpora;
mod deltas;
mod drift;
mod encodings;
mod failure;
mod hotpath;
mod ingest;
mod json;
mod learned;
mod machine;
mod overhead;
mod pack;
mod paired;
mod payloads;
#[cfg(feature = "peers")]
mod peers;
mod process;
mod proxy;
mod random;
mod ratios;
mod schema;
mod side;
#[cfg(test)]
mod smoke;
mod statistics;
mod table;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use failure::Outcome;

/// Benchmarks of cinch: run them with `cargo xtask bench`.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask bench")]
struct Arguments {
    #[command(subcommand)]
    bench: Option<Bench>,
}

#[derive(Debug, Subcommand)]
enum Bench {
    /// Our codec calls against the bare libraries (the default)
    Overhead(overhead::Arguments),
    /// Our JSON parsers and writer against those of serde_json, simd-json and sonic-rs
    Json(json::Arguments),
    /// Our binary encodings against those of rmp-serde and ciborium
    Encodings(encodings::Arguments),
    /// Our encodings with a schema against prost, thrift and apache-avro
    Schema(schema::Arguments),
    /// What an envelope costs beside zstd, xxh64 and memcpy
    Pack(pack::Arguments),
    /// Compressed sizes, exactly, against bench/expected/ratios.csv
    Ratios(ratios::Arguments),
    /// The columnar encoding with a dictionary against MessagePack, text and gzip, by corpus
    Learned(learned::Arguments),
    /// Each payload of a corpus against the one before it: versions, in sizes and in time
    Deltas(deltas::Arguments),
    /// Old dictionaries under today's encoder, against the sizes of their day
    Drift(drift::Arguments),
    /// The client of a store with the policy in front, beside the bare client with the bare codec
    Hotpath(hotpath::Arguments),
    /// The log ingress under the load of CAL clients, beside its baselines and rsyslog
    Ingest(ingest::Arguments),
    /// An ingress for `ingest` to send to
    #[command(hide = true)]
    IngestServe(ingest::ServeArguments),
    /// The baseline of `ingest` that reads and handles in the same threads
    #[command(hide = true)]
    IngestCoupled(ingest::CoupledArguments),
    /// The Redis sidecar beside twemproxy and a direct connection
    Proxy(proxy::Arguments),
    /// A sidecar for `proxy` to talk to
    #[command(hide = true)]
    ProxyServe(proxy::ServeArguments),
    /// The clients of `proxy`
    #[command(hide = true)]
    ProxyLoad(proxy::LoadArguments),
    /// One side of one row, a number of times: what `overhead --callgrind` runs under valgrind
    #[command(hide = true)]
    One(overhead::OneArguments),
}

fn main() -> ExitCode {
    let bench = Arguments::parse().bench.unwrap_or(Bench::Overhead(overhead::Arguments::default()));
    match run(&bench) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(bench: &Bench) -> Outcome {
    match bench {
        Bench::Overhead(arguments) => overhead::run(arguments),
        Bench::Drift(arguments) => drift::run(arguments),
        Bench::Json(arguments) => json::run(arguments),
        Bench::Encodings(arguments) => encodings::run(arguments),
        Bench::Schema(arguments) => schema::run(arguments),
        Bench::Pack(arguments) => pack::run(arguments),
        Bench::Ratios(arguments) => ratios::run(arguments),
        Bench::Learned(arguments) => learned::run(arguments),
        Bench::Deltas(arguments) => deltas::run(arguments),
        Bench::Hotpath(arguments) => hotpath::run(arguments),
        Bench::Ingest(arguments) => ingest::run(arguments),
        Bench::IngestServe(arguments) => ingest::serve(arguments),
        Bench::IngestCoupled(arguments) => ingest::serve_coupled(arguments),
        Bench::Proxy(arguments) => proxy::run(arguments),
        Bench::ProxyServe(arguments) => proxy::serve(arguments),
        Bench::ProxyLoad(arguments) => proxy::load(arguments),
        Bench::One(arguments) => overhead::run_one(arguments),
    }
}
