//! Redis with a replica: the stream is `master_repl_offset`, the object what MEMORY USAGE says.
//! Every value is read back and compared, since a stream of nothing would be the shortest.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use cinch_integration::Redis;
use cinch_stores::{Condition, Expiry, Store};

use super::modes::{Method, client};
use super::report::{Row, Times, cpu_us, print};

/// Writes the traffic in each mode to a fresh pair of servers.
pub async fn run(
    payloads: &[Vec<u8>],
    keys: usize,
    methods: &[Method],
) -> Result<(), Box<dyn Error>> {
    let mut rows = vec![measured("plain", None, "write = \"plain\"\n", payloads, keys).await?];
    for method in methods {
        let name = format!("packed, {}", method.name);
        rows.push(measured(&name, Some(method), "write = \"packed\"\n", payloads, keys).await?);
    }
    print("Redis, one value a key (DUAL has no place there; shadow writes as plain does)", &rows);
    Ok(())
}

async fn measured(
    name: &str,
    method: Option<&Method>,
    modes: &str,
    payloads: &[Vec<u8>],
    keys: usize,
) -> Result<Row, Box<dyn Error>> {
    let (primary, replica) = (Redis::start(), Redis::start());
    let address = primary.address();
    let port = address.rsplit([':', '/']).nth(1).unwrap_or_default().to_owned();
    replica.run(&["replicaof", "127.0.0.1", &port]);
    // The stream is counted from the moment that a replica has the whole of it.
    let deadline = Instant::now() + std::time::Duration::from_secs(60);
    while !replica.run(&["info", "replication"]).contains("master_link_status:up") {
        if Instant::now() > deadline {
            return Err("the replica never caught up".into());
        }
    }
    let store: Arc<dyn Store> = Arc::from(cinch_stores::open(&address).await?);
    let client = client(store, method, modes)?;
    let before = offset(&primary)?;
    let (mut writes, mut reads) = (Times::default(), Times::default());
    let cpu = cpu_us();
    for (index, payload) in payloads.iter().enumerate() {
        let key = format!("cart:{}", index % keys);
        let start = Instant::now();
        client.put(key.as_bytes(), payload, None, &Condition::Always, Expiry::Keep).await?;
        writes.add(start);
    }
    let cpu_us = (cpu_us() - cpu) / payloads.len() as f64;
    let stream = offset(&primary)? - before;
    let mut object_bytes = 0.0;
    let live_keys = keys.min(payloads.len());
    for key in 0..live_keys {
        let key = format!("cart:{key}");
        let usage = primary.run(&["memory", "usage", &key, "samples", "0"]);
        object_bytes += usage.trim().parse::<f64>()?;
        let start = Instant::now();
        let got = client.get(key.as_bytes()).await?;
        reads.add(start);
        let payload = got.and_then(|got| got.read.payload);
        let last = (0..payloads.len()).rev().find(|index| format!("cart:{}", index % keys) == key);
        if payload.as_deref() != last.map(|index| payloads[index].as_slice()) {
            return Err(format!("{name}: {key} did not come back").into());
        }
    }
    Ok(Row {
        name: name.to_owned(),
        stream_bytes: stream / payloads.len() as f64,
        object_bytes: object_bytes / live_keys as f64,
        cpu_us,
        write_p50_us: writes.p50_us(),
        read_p50_us: reads.p50_us(),
    })
}

fn offset(primary: &Redis) -> Result<f64, Box<dyn Error>> {
    let text = primary.run(&["info", "replication"]);
    let line = text.lines().find_map(|line| line.strip_prefix("master_repl_offset:"));
    Ok(line.ok_or("the server says no master_repl_offset")?.trim().parse()?)
}
