//! Opens a table by its address: the connections, what every one of them is told first, and what
//! the database says of the table.

use std::str::FromStr;
use std::time::Duration;

use sqlx::mysql::{MySqlConnectOptions, MySqlPoolOptions};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};

use super::backend::Backend;
use super::columns::Columns;
use super::dialect::Dialect;
use super::failure::explain;
use super::statements::statements;
use super::{SqlOptions, SqlStore};
use crate::address::Address;
use crate::error::StoreError;

/// Our parameters.
const OURS: [&str; 9] = [
    "table",
    "key",
    "raw",
    "compressed",
    "metadata",
    "stamp",
    "expires",
    "connections",
    "timeout_ms",
];

/// Those of the clients that are handed on.
const POSTGRES: [&str; 8] = [
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "application_name",
    "options",
    "statement-cache-capacity",
    "password",
];
const MYSQL: [&str; 6] =
    ["ssl-mode", "ssl-ca", "ssl-cert", "ssl-key", "socket", "statement-cache-capacity"];
const SQLITE: [&str; 1] = ["mode"];

/// A value that does not fit into its column is an error on every server; some cut it off silently
/// unless a session says otherwise.
const MYSQL_STRICT: &str = "SET SESSION sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES')";

impl SqlOptions {
    /// Takes the options out of an address. A `compressed` column without a `metadata` one has
    /// its metadata in a column of that name.
    fn take(address: &mut Address) -> Result<SqlOptions, StoreError> {
        let default = SqlOptions::default();
        let packed = address.take("compressed");
        let metadata = address.take("metadata");
        let connections = address.take_number("connections", default.connections.into())?;
        Ok(SqlOptions {
            table: address.take("table").unwrap_or(default.table),
            key: address.take("key").unwrap_or(default.key),
            raw: address.take("raw").unwrap_or(default.raw),
            metadata: metadata.or_else(|| packed.is_some().then(|| "metadata".to_owned())),
            packed,
            stamp: address.take("stamp"),
            expires: address.take("expires"),
            connections: u32::try_from(connections).unwrap_or(u32::MAX).max(1),
            timeout_ms: address.take_number("timeout_ms", default.timeout_ms)?,
        })
    }
}

impl SqlStore {
    /// Opens the table that an address names.
    ///
    /// # Errors
    /// [`StoreError::Address`] where the address is wrong or the table is not as it says;
    /// [`StoreError::Unreachable`] and [`StoreError::Refused`] from the server.
    pub async fn open(mut address: Address) -> Result<SqlStore, StoreError> {
        let options = SqlOptions::take(&mut address)?;
        let (dialect, clients): (_, &[&str]) = match address.scheme() {
            "postgres" | "postgresql" => (Dialect::Postgres, &POSTGRES),
            "mysql" | "mariadb" => (Dialect::MySql, &MYSQL),
            _ => (Dialect::Sqlite, &SQLITE),
        };
        address.only_known(&OURS, clients)?;
        let name = format!("{}?table={}", address.shown(), options.table);
        let backend = connect(&mut address, dialect, &options)
            .await
            .map_err(|error| explain(&name, b"", &error))?;
        let columns = Columns::find(backend.as_ref(), dialect, &options, &name).await?;
        let statements = statements(dialect, &options.table, &columns);
        Ok(SqlStore { name, dialect, backend, columns, statements })
    }
}

async fn connect(
    address: &mut Address,
    dialect: Dialect,
    options: &SqlOptions,
) -> Result<Box<dyn Backend>, sqlx::Error> {
    let timeout = Duration::from_millis(options.timeout_ms);
    match dialect {
        Dialect::Postgres => {
            let url = address.for_client("postgres", None, address.path());
            let client = PgConnectOptions::from_str(&url)?;
            let pool =
                PgPoolOptions::new().max_connections(options.connections).acquire_timeout(timeout);
            Ok(Box::new(pool.connect_with(client).await?))
        }
        Dialect::MySql => {
            let url = address.for_client("mysql", None, address.path());
            let client = MySqlConnectOptions::from_str(&url)?;
            let pool = MySqlPoolOptions::new()
                .max_connections(options.connections)
                .acquire_timeout(timeout)
                .after_connect(|connection, _| {
                    Box::pin(async move {
                        sqlx::query(MYSQL_STRICT).execute(connection).await.map(|_| ())
                    })
                });
            Ok(Box::new(pool.connect_with(client).await?))
        }
        Dialect::Sqlite => {
            let client = SqliteConnectOptions::new()
                .filename(address.path())
                .read_only(address.take("mode").as_deref() == Some("ro"))
                .busy_timeout(timeout);
            let pool = SqlitePoolOptions::new()
                .max_connections(options.connections)
                .acquire_timeout(timeout);
            Ok(Box::new(pool.connect_with(client).await?))
        }
    }
}
