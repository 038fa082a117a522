//! The published table of menus: all of them SET one after the other, then all GET, by codec.
//!
//! The published run gained 1.3 times on SET and 1.9 times on GET with LZ4. Loopback moves bytes
//! faster than any network, so that what is gained here is the least; see the crate's README for
//! the same over a link of 1 Gbit/s.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use cinch_integration::Redis;
use cinch_stores::{Condition, Expiry, Store};

use super::Traffic;
use super::modes::{Method, client, menu_methods};
use super::report::Times;

/// Measures and prints.
pub async fn run(traffic: &Traffic) -> Result<(), Box<dyn Error>> {
    let payloads = traffic.payloads()?;
    let sum: usize = payloads.iter().map(Vec::len).sum();
    println!(
        "{} menus, {:.1} KB on average\n",
        payloads.len(),
        sum as f64 / payloads.len() as f64 / 1e3
    );
    println!(
        "  {:<12} {:>9} {:>7} {:>9} {:>7} {:>12}",
        "", "SET s", "gain", "GET s", "gain", "Redis MB"
    );
    let methods = menu_methods(traffic.profile.as_deref());
    let mut first = None;
    for method in [None].into_iter().chain(methods.iter().map(Some)) {
        let (set_s, get_s, memory) = measured(&payloads, method).await?;
        let (first_set, first_get) = *first.get_or_insert((set_s, get_s));
        println!(
            "  {:<12} {set_s:>9.3} {:>6.2}x {get_s:>9.3} {:>6.2}x {memory:>12.1}",
            method.map_or("none", |method| &method.name),
            first_set / set_s,
            first_get / get_s,
        );
    }
    Ok(())
}

async fn measured(
    payloads: &[Vec<u8>],
    method: Option<&Method>,
) -> Result<(f64, f64, f64), Box<dyn Error>> {
    let server = Redis::start();
    let store: Arc<dyn Store> = Arc::from(cinch_stores::open(&server.address()).await?);
    let write = if method.is_some() { "write = \"packed\"\n" } else { "write = \"plain\"\n" };
    let client = client(store, method, write)?;
    let (mut set, mut get) = (Times::default(), Times::default());
    for (index, payload) in payloads.iter().enumerate() {
        let start = Instant::now();
        let key = format!("menu:{index}");
        client.put(key.as_bytes(), payload, None, &Condition::Always, Expiry::Keep).await?;
        set.add(start);
    }
    for (index, payload) in payloads.iter().enumerate() {
        let start = Instant::now();
        let got = client.get(format!("menu:{index}").as_bytes()).await?;
        get.add(start);
        if got.and_then(|got| got.read.payload).as_ref() != Some(payload) {
            return Err(format!("menu:{index} did not come back").into());
        }
    }
    let memory = server.run(&["info", "memory"]);
    let used = memory.lines().find_map(|line| line.strip_prefix("used_memory:"));
    let used: f64 = used.ok_or("the server says no used_memory")?.trim().parse()?;
    Ok((set.sum_s(), get.sum_s(), used / 1e6))
}
