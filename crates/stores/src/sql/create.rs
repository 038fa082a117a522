//! Makes a table for values under keys, where cinch keeps what is its own: the tables of payloads
//! are the application's, and never made here.

use std::fs::OpenOptions;
use std::sync::Arc;

use super::dialect::Dialect;
use super::failure::explain;
use super::open::connect;
use super::{SqlOptions, SqlStore};
use crate::address::Address;
use crate::error::StoreError;

/// The parameters of an address that open such a table, where it names none of its own.
pub(crate) const OWN_TABLE: &str = "table=cinch_control&key=id&raw=value";

impl SqlStore {
    /// Makes the table of [`OWN_TABLE`] where it is not there, and the file where there is none.
    ///
    /// # Errors
    /// [`StoreError`]; a role that may not make tables is told the statement.
    pub(crate) async fn create_own_table(mut address: Address) -> Result<(), StoreError> {
        let (dialect, statement) = match address.scheme() {
            "postgres" | "postgresql" => (
                Dialect::Postgres,
                "CREATE TABLE IF NOT EXISTS cinch_control \
                 (id varchar(255) PRIMARY KEY, value bytea NOT NULL)",
            ),
            "mysql" | "mariadb" => (
                Dialect::MySql,
                "CREATE TABLE IF NOT EXISTS cinch_control \
                 (id varbinary(255) PRIMARY KEY, value longblob NOT NULL)",
            ),
            _ => (
                Dialect::Sqlite,
                "CREATE TABLE IF NOT EXISTS cinch_control \
                 (id TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL)",
            ),
        };
        let name = address.shown();
        if dialect == Dialect::Sqlite {
            // An empty file is a database without tables.
            let file = OpenOptions::new().append(true).create(true).open(address.path());
            file.map_err(|error| StoreError::Address(format!("{name}: {error}")))?;
        }
        let options = SqlOptions { connections: 1, ..SqlOptions::default() };
        let backend = connect(&mut address, dialect, &options)
            .await
            .map_err(|error| explain(&name, b"", &error))?;
        match backend.execute(&Arc::from(statement), &[]).await {
            Ok(_) => Ok(()),
            Err(error) => match explain(&name, b"", &error) {
                StoreError::Refused { store, message } => Err(StoreError::Refused {
                    store,
                    message: format!("{message}; have somebody run: {statement}"),
                }),
                other => Err(other),
            },
        }
    }
}
