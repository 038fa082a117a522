//! Small values that nothing is done with: what a proxy costs that only passes them.
//! redis-benchmark is the client, 50 connections, one request after the other or 16 at once.

use std::net::SocketAddr;

use super::contestants::{LOOPBACK, Way, redis, said, way};
use super::middle;
use crate::failure::Outcome;
use crate::table::Table;

const WAYS: [Way; 4] = [Way::Direct, Way::Twemproxy, Way::Own, Way::Shared];

const CONNECTIONS: &str = "50";

/// Keys of no namespace beside one of another kind, as sidecars have them.
const SETTINGS: &str = "[namespaces.carts]\nkeys = [\"cart:*\"]\nwrite = \"packed\"\n";

/// What came of a load, by way.
#[derive(Default)]
struct Figures {
    rates: Vec<f64>,
    proxy_us: Vec<f64>,
    redis_us: Vec<f64>,
}

pub(super) fn run(rounds: usize, requests: u64) -> Outcome {
    println!("SET and GET of 100 bytes, {CONNECTIONS} connections, median of {rounds} rounds:\n");
    for (pipeline, requests) in [("1", requests), ("16", requests * 10)] {
        let mut figures = WAYS.map(|_| Figures::default());
        for _ in 0..rounds {
            for (way, figures) in WAYS.iter().zip(&mut figures) {
                measure(*way, pipeline, requests, figures)?;
            }
        }
        print(pipeline, &figures);
    }
    Ok(())
}

fn measure(chosen: Way, pipeline: &str, requests: u64, figures: &mut Figures) -> Outcome {
    let server = redis(LOOPBACK)?;
    let between = way(chosen, server.address, SETTINGS)?;
    let address = between.as_ref().map_or(server.address, |between| between.address);
    check(address)?;
    let cpu = || between.as_ref().map_or(Ok(0.0), |between| between.cpu_s());
    let (cpu_before, redis_before) = (cpu()?, server.cpu_s()?);
    let (port, count) = (address.port().to_string(), requests.to_string());
    let text = said(
        "redis-benchmark",
        &[
            "-p",
            &port,
            "-c",
            CONNECTIONS,
            "-P",
            pipeline,
            "-n",
            &count,
            "-d",
            "100",
            "-r",
            "10000",
            "-t",
            "set,get",
            "--csv",
        ],
    )?;
    let rate = |name: &str| -> Outcome<f64> {
        let line = text.lines().find(|line| line.starts_with(&format!("\"{name}\"")));
        let field = line.and_then(|line| line.split("\",\"").nth(1));
        Ok(field.ok_or("redis-benchmark printed another form")?.parse()?)
    };
    let (set, get) = (rate("SET")?, rate("GET")?);
    figures.rates.push(2.0 / (1.0 / set + 1.0 / get));
    figures.proxy_us.push((cpu()? - cpu_before) * 1e6 / (requests * 2) as f64);
    figures.redis_us.push((server.cpu_s()? - redis_before) * 1e6 / (requests * 2) as f64);
    Ok(())
}

/// A value goes in and comes back: a proxy that answers nonsense would be the fastest.
fn check(address: SocketAddr) -> Outcome {
    let port = address.port().to_string();
    let value = "x".repeat(100);
    said("redis-cli", &["-p", &port, "set", "checked", &value])?;
    match said("redis-cli", &["-p", &port, "get", "checked"])?.trim_end() == value {
        true => Ok(()),
        false => Err(format!("{address} gives another value than was set").into()),
    }
}

fn print(pipeline: &str, figures: &[Figures; 4]) {
    let title = format!("pipeline {pipeline}");
    let mut table = Table::new([
        title.as_str(),
        "requests/s",
        "of direct",
        "of twemproxy",
        "CPU us",
        "of twemproxy's",
        "Redis CPU us",
    ]);
    let [direct, twemproxy, ..] = figures;
    for (way, found) in WAYS.iter().zip(figures) {
        let (rate, cpu) = (middle(&found.rates), middle(&found.proxy_us));
        let is_between = *way != Way::Direct;
        let shown = |text: String| if is_between { text } else { String::new() };
        table.row([
            way.name().to_owned(),
            format!("{rate:.0}"),
            shown(format!("{:.2}", rate / middle(&direct.rates))),
            shown(format!("{:.2}", rate / middle(&twemproxy.rates))),
            shown(format!("{cpu:.2}")),
            shown(format!("{:.2}", cpu / middle(&twemproxy.proxy_us))),
            format!("{:.2}", middle(&found.redis_us)),
        ]);
    }
    println!("{}", table.text());
}
