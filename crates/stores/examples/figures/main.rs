//! The published figures, through real servers that this program starts itself: what a write costs
//! the replication stream and the store before, during and after a rollout.
//!
//! `cargo run --release -p cinch-stores --features all --example figures -- --help`. Sizes and
//! bytes are exact; times are of one machine and are printed beside each other for their ratio
//! only.

mod menus;
mod modes;
mod postgres;
mod redis;
mod report;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The published figures of carts and menus, measured.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Bytes of the replication stream and average object size, by mode (Redis, PostgreSQL)
    Replication(Traffic),
    /// SET and GET of menus against Redis: none, Snappy, LZ4 and a profile
    Menus(Traffic),
}

/// What is written.
#[derive(Debug, clap::Args)]
struct Traffic {
    /// Payloads, one a line: `cinch generate carts --published ebay > carts.ndjson`
    corpus: PathBuf,
    /// A profile to compare with the published codecs: `cinch evaluate … --report DIR`
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// How many keys the payloads are spread over; each is written again and again
    #[arg(long, default_value_t = 500)]
    keys: usize,
    /// How many payloads at most
    #[arg(long, default_value_t = 5_000)]
    count: usize,
}

impl Traffic {
    fn payloads(&self) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
        let text = std::fs::read(&self.corpus)
            .map_err(|error| format!("{}: {error}", self.corpus.display()))?;
        let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let payloads: Vec<Vec<u8>> = lines.take(self.count).map(<[u8]>::to_vec).collect();
        if payloads.is_empty() {
            return Err(format!("{}: there are no lines", self.corpus.display()).into());
        }
        Ok(payloads)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let result = match Arguments::parse().what {
        What::Replication(traffic) => replication(&traffic).await,
        What::Menus(traffic) => menus::run(&traffic).await,
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("figures: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn replication(traffic: &Traffic) -> Result<(), Box<dyn Error>> {
    let payloads = traffic.payloads()?;
    let sum: usize = payloads.iter().map(Vec::len).sum();
    println!(
        "{} writes of {:.1} KB on average over {} keys\n",
        payloads.len(),
        sum as f64 / payloads.len() as f64 / 1_000.0,
        traffic.keys
    );
    let methods = modes::methods(traffic.profile.as_deref());
    redis::run(&payloads, traffic.keys, &methods).await?;
    postgres::run(&payloads, traffic.keys, &methods).await
}
