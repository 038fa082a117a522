//! PostgreSQL with two slots: the stream is its write-ahead log, with TOAST compressing as it does
//! by default and with TOAST told not to.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use cinch_integration::Postgres;
use cinch_stores::{Condition, Expiry, Store};

use super::modes::{Method, client};
use super::report::{Row, Times, cpu_us, print};

/// The modes of a rollout, in its order.
const MODES: &[(&str, &str)] = &[
    ("NO_COMPRESS", "write_mode = \"NO_COMPRESS\"\n"),
    ("DUAL", "write_mode = \"DUAL\"\nread_mode = \"VERIFY_COMPRESS\"\n"),
    ("COMPRESS_ONLY", "write_mode = \"COMPRESS_ONLY\"\nread_mode = \"COMPRESS_ONLY\"\n"),
];

/// Writes the traffic in each mode into fresh tables.
pub async fn run(
    payloads: &[Vec<u8>],
    keys: usize,
    methods: &[Method],
) -> Result<(), Box<dyn Error>> {
    let server = Postgres::shared();
    for (toast, storage) in [("on (pglz)", "EXTENDED"), ("off", "EXTERNAL")] {
        let mut rows = Vec::new();
        for method in methods {
            for (mode, settings) in MODES {
                // Without packing the method does not matter, and one row is enough.
                if *mode == "NO_COMPRESS" && !rows.is_empty() {
                    continue;
                }
                let table = Table { server: &server, storage };
                let name = match *mode {
                    "NO_COMPRESS" => (*mode).to_owned(),
                    mode => format!("{mode}, {}", method.name),
                };
                rows.push(table.measured(name, method, settings, payloads, keys).await?);
            }
        }
        print(&format!("PostgreSQL, two slots, TOAST compression {toast}"), &rows);
    }
    Ok(())
}

struct Table<'a> {
    server: &'a Postgres,
    storage: &'a str,
}

impl Table<'_> {
    async fn measured(
        &self,
        name: String,
        method: &Method,
        modes: &str,
        payloads: &[Vec<u8>],
        keys: usize,
    ) -> Result<Row, Box<dyn Error>> {
        let storage = self.storage;
        self.server.run(format!(
            "DROP TABLE IF EXISTS carts; \
             CREATE TABLE carts (id text PRIMARY KEY, cart text, packed bytea, about jsonb, \
             version bigint); \
             ALTER TABLE carts ALTER cart SET STORAGE {storage}, \
             ALTER packed SET STORAGE {storage}; CHECKPOINT"
        ));
        let address = format!(
            "{}?table=carts&key=id&raw=cart&compressed=packed&metadata=about&stamp=version",
            self.server.address()
        );
        let store: Arc<dyn Store> = Arc::from(cinch_stores::open(&address).await?);
        let client = client(store, Some(method), modes)?;
        let before = self.server.run("SELECT pg_current_wal_insert_lsn()").trim().to_owned();
        let (mut writes, mut reads) = (Times::default(), Times::default());
        let cpu = cpu_us();
        for (index, payload) in payloads.iter().enumerate() {
            let key = format!("cart:{}", index % keys);
            let start = Instant::now();
            client.put(key.as_bytes(), payload, None, &Condition::Always, Expiry::Keep).await?;
            writes.add(start);
        }
        let cpu_us = (cpu_us() - cpu) / payloads.len() as f64;
        let written = format!("SELECT pg_current_wal_insert_lsn() - '{before}'::pg_lsn");
        let stream: f64 = self.server.run(written).trim().parse()?;
        let sizes = "SELECT avg(coalesce(pg_column_size(cart), 0) \
                     + coalesce(pg_column_size(packed), 0)) FROM carts";
        let object_bytes: f64 = self.server.run(sizes).trim().parse()?;
        let live_keys = keys.min(payloads.len());
        for key in 0..live_keys {
            let start = Instant::now();
            let got = client.get(format!("cart:{key}").as_bytes()).await?;
            reads.add(start);
            let last = (0..payloads.len()).rev().find(|index| index % keys == key);
            let payload = got.and_then(|got| got.read.payload);
            if payload.as_deref() != last.map(|index| payloads[index].as_slice()) {
                return Err(format!("{name}: cart:{key} did not come back").into());
            }
        }
        Ok(Row {
            name,
            stream_bytes: stream / payloads.len() as f64,
            object_bytes,
            cpu_us,
            write_p50_us: writes.p50_us(),
            read_p50_us: reads.p50_us(),
        })
    }
}
