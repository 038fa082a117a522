//! Documents in the published shape, behind a server that speaks MongoDB's protocol: how large they
//! are as BSON, and how many bytes of commands a write takes on the wire.
//!
//! That server is FerretDB over SQLite. It has no oplog, and its times say nothing of mongod, so
//! neither is told here.

use std::error::Error;

use bson::RawDocumentBuf;
use bson::doc;
use cinch_integration::MongoDb;
use futures_util::TryStreamExt;

use crate::launch::{Launcher, Row};
use crate::modes::{Method, rows_of_two_slots};
use crate::tables::{Column, Table};
use crate::traffic::Replay;

/// Writes the traffic in each mode into fresh collections.
///
/// # Errors
/// The first call that failed.
pub fn table(
    launcher: &Launcher,
    replay: &Replay,
    keys: u64,
    methods: &[Method],
) -> Result<Table, Box<dyn Error>> {
    let server = MongoDb::shared();
    let host = host(&server.address(""))?;
    let keys = usize::try_from(keys)?.min(replay.count);
    let columns = vec![
        Column::new("command_bytes_per_write", "command B/write", 0).with_factor(),
        Column::new("object_bytes", "object B", 0).with_factor(),
        Column::new("write_cpu_us", "CPU us/put", 0),
        Column::new("read_cpu_us", "CPU us/get", 0),
        Column::new("client_memory_mb", "client MB", 1),
        Column::new("oplog_bytes_per_write", "oplog B/write", 0),
    ];
    let mut rows = Vec::new();
    for (number, (name, method, modes)) in rows_of_two_slots(methods).into_iter().enumerate() {
        let collection = format!("carts{number}");
        let row = Row {
            name: &name,
            store: server.address(&format!("figures.{collection}")),
            method: Some(method),
            modes,
            keys,
            counted: Some(host.clone()),
            link: None,
        };
        let outcome = launcher.measured(&row, replay)?;
        let object = mean_document_bytes(&server.address(""), &collection)?;
        let sent = outcome.sent_bytes.ok_or("nothing counted what was sent")?;
        let figures = vec![
            Some(sent as f64 / replay.count as f64),
            Some(object),
            Some(outcome.writes.cpu_us),
            Some(outcome.reads.cpu_us),
            Some(outcome.memory_bytes as f64 / 1e6),
            None,
        ];
        rows.push((name, figures));
    }
    let title = "Documents in the published shape, by MongoDB's protocol (FerretDB)".to_owned();
    let notes = vec![
        "The oplog is not measured on mongod: FerretDB has none. What a whole document costs \
         there is not less than its own bytes."
            .to_owned(),
        "A first write of a key is an update that finds nothing and an insert, as the store does \
         it."
        .to_owned(),
    ];
    Ok(Table { title, columns, rows, notes })
}

/// The host and port of an address.
pub fn host(address: &str) -> Result<String, Box<dyn Error>> {
    let host = address.strip_prefix("mongodb://").and_then(|rest| rest.split('/').next());
    Ok(host.ok_or("no address of a MongoDB server")?.to_owned())
}

/// How large the documents of a collection are on average, as BSON.
fn mean_document_bytes(address: &str, collection: &str) -> Result<f64, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let client = ::mongodb::Client::with_uri_str(address).await?;
        let documents = client.database("figures").collection::<RawDocumentBuf>(collection);
        let mut found = documents.find(doc! {}).await?;
        let (mut count, mut bytes) = (0_u64, 0_u64);
        while let Some(document) = found.try_next().await? {
            count += 1;
            bytes += document.as_bytes().len() as u64;
        }
        Ok(bytes as f64 / count.max(1) as f64)
    })
}
