//! Redis with a replica: the stream is `master_repl_offset`, the object what MEMORY USAGE says of a
//! key with its value.
//!
//! Every value is read back and compared, since a stream of nothing would be the shortest.

use std::error::Error;
use std::time::{Duration, Instant};

use cinch_integration::Redis;

use crate::launch::{Launcher, Row};
use crate::modes::Method;
use crate::tables::{Column, Table, client_columns, client_figures};
use crate::traffic::Replay;

/// How long a replica may take to have the whole of an empty server.
const CAUGHT_UP_MAX: Duration = Duration::from_secs(60);

/// The memory of all keys together.
const MEMORY: &str = "local sum = 0 \
                      for _, key in ipairs(redis.call('KEYS', '*')) do \
                      sum = sum + redis.call('MEMORY', 'USAGE', key, 'SAMPLES', 0) end return sum";

/// Writes the traffic in each mode to a fresh pair of servers.
///
/// # Errors
/// The first call that failed.
pub fn table(
    launcher: &Launcher,
    replay: &Replay,
    keys: u64,
    methods: &[Method],
) -> Result<Table, Box<dyn Error>> {
    let mut columns = vec![
        Column::new("stream_bytes_per_write", "stream B/write", 0).with_factor(),
        Column::new("object_bytes", "object B", 0).with_factor(),
    ];
    columns.extend(client_columns());
    let keys = usize::try_from(keys)?.min(replay.count);
    let mut rows = vec![measured(launcher, replay, keys, "NO_COMPRESS (plain)", None, "plain")?];
    for method in methods {
        let name = format!("shadow, {}", method.name);
        rows.push(measured(launcher, replay, keys, &name, Some(method), "shadow")?);
        let name = format!("COMPRESS_ONLY (packed), {}", method.name);
        rows.push(measured(launcher, replay, keys, &name, Some(method), "packed")?);
    }
    let floor = floor(replay.count, keys)?;
    let plain = rows[0].1[0].unwrap_or_default();
    let title = "Redis, one value a key, with a replica (bytes by master_repl_offset)".to_owned();
    let notes = vec![
        "DUAL has no place under one key; shadow packs, unpacks and compares, and writes plain."
            .to_owned(),
        format!(
            "The command and the key alone take {floor:.0} bytes of the stream: {:.0}x would be \
             reached with values of no bytes.",
            plain / floor
        ),
    ];
    Ok(Table { title, columns, rows, notes })
}

/// A row's name and its figures.
type Line = (String, Vec<Option<f64>>);

fn measured(
    launcher: &Launcher,
    replay: &Replay,
    keys: usize,
    name: &str,
    method: Option<&Method>,
    write: &str,
) -> Result<Line, Box<dyn Error>> {
    let pair = Pair::start()?;
    let before = pair.offset()?;
    let modes = format!("write = \"{write}\"\n");
    let row = Row {
        name,
        store: pair.primary.address(),
        method,
        modes: &modes,
        keys,
        counted: None,
        link: None,
    };
    let outcome = launcher.measured(&row, replay)?;
    let stream = (pair.offset()? - before) / replay.count as f64;
    let memory: f64 = pair.primary.run(&["eval", MEMORY, "0"]).trim().parse()?;
    let mut figures = vec![Some(stream), Some(memory / keys as f64)];
    figures.extend(client_figures(&outcome));
    Ok((name.to_owned(), figures))
}

/// The stream of as many writes under the same keys of values that have no bytes, for each.
fn floor(count: usize, keys: usize) -> Result<f64, Box<dyn Error>> {
    let pair = Pair::start()?;
    let before = pair.offset()?;
    let set = |index: usize| {
        let key = format!("cart:{}", index % keys).into_bytes();
        vec![b"SET".to_vec(), key, Vec::new()]
    };
    pair.primary.fill((0..count).map(set));
    Ok((pair.offset()? - before) / count as f64)
}

/// A server and its replica.
struct Pair {
    primary: Redis,
    _replica: Redis,
}

impl Pair {
    /// Both, once the replica has all of the primary: from then on its stream is counted.
    fn start() -> Result<Pair, Box<dyn Error>> {
        let (primary, replica) = (Redis::start(), Redis::start());
        // A ping of 14 bytes every ten seconds is no traffic of ours.
        primary.run(&["config", "set", "repl-ping-replica-period", "3600"]);
        let address = primary.address();
        let port = address.rsplit([':', '/']).nth(1).unwrap_or_default();
        replica.run(&["replicaof", "127.0.0.1", port]);
        let deadline = Instant::now() + CAUGHT_UP_MAX;
        // Each try starts a program, so that this is no busy loop.
        while !replica.run(&["info", "replication"]).contains("master_link_status:up") {
            if Instant::now() > deadline {
                return Err("the replica never caught up".into());
            }
        }
        Ok(Pair { primary, _replica: replica })
    }

    fn offset(&self) -> Result<f64, Box<dyn Error>> {
        let text = self.primary.run(&["info", "replication"]);
        let line = text.lines().find_map(|line| line.strip_prefix("master_repl_offset:"));
        Ok(line.ok_or("the server says no master_repl_offset")?.trim().parse()?)
    }
}
