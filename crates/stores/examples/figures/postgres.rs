//! PostgreSQL with two slots: the stream is its write-ahead log, with TOAST compressing as it does
//! by default and with TOAST told not to.

use std::error::Error;

use cinch_integration::Postgres;

use crate::launch::{Launcher, Row};
use crate::modes::{Method, rows_of_two_slots};
use crate::tables::{Column, Table, client_columns, client_figures};
use crate::traffic::Replay;

/// What the server does by itself and by the clock is no traffic of ours: a checkpoint in one row
/// and not in the other would copy pages into the log of one of them.
const QUIET: &str = "ALTER SYSTEM SET autovacuum = off; \
                     ALTER SYSTEM SET checkpoint_timeout = '1d'; \
                     ALTER SYSTEM SET max_wal_size = '100GB'; \
                     SELECT pg_reload_conf()";

/// Writes the traffic in each mode into fresh tables.
///
/// # Errors
/// The first call that failed.
pub fn tables(
    launcher: &Launcher,
    replay: &Replay,
    keys: u64,
    methods: &[Method],
) -> Result<Vec<Table>, Box<dyn Error>> {
    let server = Postgres::shared();
    server.run(QUIET);
    let keys = usize::try_from(keys)?.min(replay.count);
    let mut tables = Vec::new();
    for (toast, storage) in [("on: pglz, EXTENDED", "EXTENDED"), ("off: EXTERNAL", "EXTERNAL")] {
        let mut columns = vec![
            Column::new("wal_bytes_per_write", "WAL B/write", 0).with_factor(),
            Column::new("object_bytes", "object B", 0).with_factor(),
        ];
        columns.extend(client_columns());
        let mut rows = Vec::new();
        for (name, method, modes) in rows_of_two_slots(methods) {
            let row = Row {
                name: &name,
                store: format!(
                    "{}?table=carts&key=id&raw=cart&compressed=packed&metadata=about&stamp=version",
                    server.address()
                ),
                method: Some(method),
                modes,
                keys,
                counted: None,
                link: None,
            };
            let figures = measured(launcher, replay, &server, storage, &row)?;
            rows.push((name, figures));
        }
        let title = format!("PostgreSQL, two slots, TOAST compression {toast}");
        let notes = vec![
            "An object is its columns with the metadata, as pg_column_size sees them stored."
                .to_owned(),
        ];
        tables.push(Table { title, columns, rows, notes });
    }
    Ok(tables)
}

fn measured(
    launcher: &Launcher,
    replay: &Replay,
    server: &Postgres,
    storage: &str,
    row: &Row<'_>,
) -> Result<Vec<Option<f64>>, Box<dyn Error>> {
    server.run(format!(
        "DROP TABLE IF EXISTS carts; \
         CREATE TABLE carts (id text PRIMARY KEY, cart text, packed bytea, about jsonb, \
         version bigint); \
         ALTER TABLE carts ALTER cart SET STORAGE {storage}, \
         ALTER packed SET STORAGE {storage}; CHECKPOINT"
    ));
    let before = server.run("SELECT pg_current_wal_insert_lsn()").trim().to_owned();
    let outcome = launcher.measured(row, replay)?;
    let written = format!("SELECT pg_current_wal_insert_lsn() - '{before}'::pg_lsn");
    let stream: f64 = server.run(written).trim().parse()?;
    let sizes = "SELECT avg(coalesce(pg_column_size(cart), 0) \
                 + coalesce(pg_column_size(packed), 0) + coalesce(pg_column_size(about), 0)) \
                 FROM carts";
    let object: f64 = server.run(sizes).trim().parse()?;
    let mut figures = vec![Some(stream / replay.count as f64), Some(object)];
    figures.extend(client_figures(&outcome));
    Ok(figures)
}
