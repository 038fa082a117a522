//! What the compressor alone costs: the stream of the load in blocks of a batch and of a read, by
//! zstd, by zlib of the Cloudflare kind, and as a whole by the stock `gzip -1`. Rows are taken in
//! turn, so that a busy machine is busy for all of them.

use std::fs::{self, File};
use std::process::{Command, Stdio};

use cinch_ingest::limits::BATCH_BYTES;

use super::BUNCH_BYTES;
use super::coupled::{Compressor, Context};
use crate::clock::Clock;
use crate::failure::Outcome;
use crate::process::children_cpu_s;

/// Rounds; the quickest of each row counts.
const ROUNDS: usize = 5;

/// How often the stream is repeated for gzip, whose time is known in hundredths of a second only.
const REPEATS: usize = 32;

/// The level of zstd for what came faster than it could be compressed and waits on disk.
const HURRIED_LEVEL: i32 = cinch_ingest::limits::HURRIED_LEVEL;

/// What `gzip -1` makes of the stream.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gzip {
    /// Its size by that of the stream.
    pub(super) share: f64,
    pub(super) cpu_s_per_gb: f64,
}

/// Prints the table, and returns what is said of `gzip -1`.
pub(super) fn run(stream: &[u8]) -> Outcome<Gzip> {
    let rows = [
        ("zstd 1", Compressor::Zstd(1), BATCH_BYTES),
        ("zstd, hurried", Compressor::Zstd(HURRIED_LEVEL), BATCH_BYTES),
        ("zlib 1", Compressor::Zlib(1), BATCH_BYTES),
        ("zlib 6", Compressor::Zlib(6), BATCH_BYTES),
        ("zstd 1", Compressor::Zstd(1), BUNCH_BYTES),
        ("zlib 6", Compressor::Zlib(6), BUNCH_BYTES),
    ];
    let mut found = vec![(f64::INFINITY, 0); rows.len()];
    let mut out = Vec::new();
    for _ in 0..ROUNDS {
        for ((_, compressor, block), (best_ns, size)) in rows.iter().zip(&mut found) {
            let mut context = Context::new(*compressor)?;
            let (clock, mut bytes) = (Clock::start(), 0);
            for block in stream.chunks(*block) {
                context.pack(block, &mut out)?;
                bytes += out.len();
            }
            (*best_ns, *size) = (best_ns.min(clock.elapsed_ns()), bytes);
        }
    }
    println!("{:<16} {:>7} {:>8} {:>7}", "compressor alone", "block", "cpu s/GB", "size %");
    let length = stream.len() as f64;
    for ((name, _, block), (best_ns, size)) in rows.iter().zip(&found) {
        let (cpu, share) = (best_ns / length, *size as f64 / length * 100.0);
        println!("{name:<16} {block:>7} {cpu:>8.2} {share:>7.1}");
    }
    let gzip = gzip(stream)?;
    let (cpu, share) = (gzip.cpu_s_per_gb, gzip.share * 100.0);
    println!("{:<16} {:>7} {cpu:>8.2} {share:>7.1}\n", "gzip -1", "all");
    Ok(gzip)
}

fn gzip(stream: &[u8]) -> Outcome<Gzip> {
    let folder = tempfile::tempdir()?;
    let (input, output) = (folder.path().join("stream"), folder.path().join("stream.gz"));
    let repeated = stream.repeat(REPEATS);
    fs::write(&input, &repeated)?;
    let before = children_cpu_s()?;
    let mut command = Command::new("gzip");
    command.arg("-1").stdin(File::open(&input)?).stdout(File::create(&output)?);
    if !command.stderr(Stdio::inherit()).status()?.success() {
        return Err("gzip -1 failed".into());
    }
    let length = repeated.len() as f64;
    let cpu_s_per_gb = (children_cpu_s()? - before) / length * 1e9;
    Ok(Gzip { share: fs::metadata(output)?.len() as f64 / length, cpu_s_per_gb })
}
