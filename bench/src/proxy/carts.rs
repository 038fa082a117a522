//! Carts of 2 KB with a dictionary: what the sidecar adds to a GET at half of the load that it can
//! take, and the same rate sent to the server directly.

use std::fs;

use cinch_generate::{Options, find};

use super::contestants::{LOOPBACK, Way, redis, way, written};
use super::load::{Load, What};
use super::middle;
use crate::failure::Outcome;
use crate::payloads;
use crate::table::Table;

const CONNECTIONS: usize = 50;

const CARTS: usize = 2_000;

const SETTINGS: &str =
    "[namespaces.carts]\nkeys = [\"menu:*\"]\nslots = \"one\"\nwrite = \"packed\"\n";

const PROFILE: &str = "[profile]\nencoding = \"verbatim\"\ncodec = \"zstd\"\nlevel = 3\n\
     dictionary = \"carts.dict\"\n";

/// The rows of the table, and half the load of which way is sent to it.
const WAYS: [Way; 3] = [Way::Direct, Way::Own, Way::Shared];

pub(super) fn run(rounds: usize, seconds: u64) -> Outcome {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("carts.dict"), payloads::dictionary()?)?;
    let profile = written(folder.path(), "carts.toml", PROFILE)?;
    let settings = format!("{SETTINGS}profile = \"{profile}\"\n");
    let carts = find("carts").ok_or("cinch-generate has no carts")?;
    let options = Options { count: CARTS, seed: 3, median_bytes: Some(2_000) };
    let lines: Vec<String> = carts.payloads(options).collect();
    let bytes: usize = lines.iter().map(String::len).sum();
    let file = folder.path().join("carts.ndjson");
    fs::write(&file, lines.join("\n"))?;
    println!(
        "GET of carts, {} bytes on average, zstd 3 with a dictionary, {CONNECTIONS} connections, \
         median of {rounds} rounds:\n",
        bytes / CARTS
    );
    let mut found = WAYS.map(|_| (Vec::new(), Vec::new(), Vec::new()));
    let mut rates = Vec::new();
    for _ in 0..rounds {
        let rate = half_load(&settings, &file, seconds)?;
        rates.push(rate);
        for (chosen, (p50, p99, cpu)) in WAYS.iter().zip(&mut found) {
            let server = redis(LOOPBACK)?;
            let between = way(*chosen, server.address, &settings)?;
            let to = between.as_ref().map_or(server.address, |between| between.address);
            let load = |what| Load {
                to,
                what,
                payloads: &file,
                connections: CONNECTIONS,
                rate,
                seconds,
                zipf: false,
            };
            load(What::Fill).run(None)?;
            let cpu_before = between.as_ref().map_or(Ok(0.0), |between| between.cpu_s())?;
            let seen = load(What::Rate).run(None)?;
            let used = between.as_ref().map_or(Ok(0.0), |between| between.cpu_s())? - cpu_before;
            p50.push(seen.p50_us);
            p99.push(seen.p99_us);
            cpu.push(used * 1e6 / seen.calls);
        }
    }
    let mut table =
        Table::new(["half load", "requests/s", "p50 us", "p99 us", "added p99 us", "CPU us"]);
    let direct = middle(&found[0].1);
    for (chosen, (p50, p99, cpu)) in WAYS.iter().zip(&found) {
        let is_between = *chosen != Way::Direct;
        table.row([
            chosen.name().to_owned(),
            format!("{:.0}", middle(&rates)),
            format!("{:.0}", middle(p50)),
            format!("{:.0}", middle(p99)),
            if is_between { format!("{:.0}", middle(p99) - direct) } else { String::new() },
            if is_between { format!("{:.1}", middle(cpu)) } else { String::new() },
        ]);
    }
    println!("{}", table.text());
    Ok(())
}

/// Half of what goes through a sidecar at most.
fn half_load(settings: &str, file: &std::path::Path, seconds: u64) -> Outcome<f64> {
    let server = redis(LOOPBACK)?;
    let between = way(Way::Own, server.address, settings)?.ok_or("there is a sidecar")?;
    let load = |what| Load {
        to: between.address,
        what,
        payloads: file,
        connections: CONNECTIONS,
        rate: 0.0,
        seconds,
        zipf: false,
    };
    load(What::Fill).run(None)?;
    let most = load(What::Most).run(None)?;
    Ok(most.calls / most.seconds / 2.0)
}
