//! One read-only session with a MySQL or MariaDB server.
//!
//! Rows are taken from the connection one by one and never collected, so the server waits while the
//! pace does: the time limit of a statement has that wait added to it.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::time::Duration;

use mysql::prelude::Queryable;
use mysql::{Conn, DriverError, Error, Opts, OptsBuilder, Value};

use super::BATCH_ROWS_MAX;
use crate::address::Address;
use crate::error::{SampleError, in_one_line};
use crate::options::SampleOptions;

/// What the server's administrator sees us as.
const APPLICATION: &str = "cinch";

/// Errors of the server: the name or password, or a right that is missing.
const REFUSED_LOGIN: [u16; 3] = [1045, 1698, 1251];
const REFUSED_RIGHT: [u16; 4] = [1044, 1142, 1143, 1370];

/// Errors of the server: the time limit, in MySQL and MariaDB.
const TIME_LIMIT: [u16; 2] = [3024, 1969];

/// The error of the server for what would write.
const READ_ONLY: u16 = 1792;

/// The error of a server that is too old to have a variable.
const UNKNOWN_VARIABLE: u16 = 1193;

/// A session in a read-only transaction.
pub(super) struct Session<'a> {
    address: &'a Address,
    timeout: Duration,
    is_mariadb: bool,
    connection: Conn,
    target: Opts,
}

impl<'a> Session<'a> {
    /// Connects, and begins a read-only transaction.
    pub(super) fn open(
        address: &'a Address,
        options: &SampleOptions,
    ) -> Result<Session<'a>, SampleError> {
        crate::tls::prepare();
        let rest = address.text().split_once(':').map_or("", |(_, rest)| rest);
        let target = Opts::from_url(&format!("mysql:{rest}")).map_err(|error| {
            SampleError::BadAddress { address: address.to_string(), reason: error.to_string() }
        })?;
        let attributes = HashMap::from([("program_name", APPLICATION)]);
        let target: Opts = OptsBuilder::from_opts(target)
            .tcp_connect_timeout(Some(options.timeout))
            .read_timeout(Some(options.timeout * 2))
            .write_timeout(Some(options.timeout))
            .prefer_socket(false)
            .connect_attrs(Some(attributes))
            .into();
        let timeout = options.timeout;
        let connection = Conn::new(target.clone());
        let connection = connection.map_err(|error| explain(address, &error, timeout))?;
        let mut session = Session { address, timeout, is_mariadb: false, connection, target };
        let version = session.rows("select version()")?;
        session.is_mariadb = version.iter().flatten().map(text).any(|v| v.contains("MariaDB"));
        // Each statement sees what is there when it starts, so the server keeps no old rows for us.
        session.execute("set session transaction isolation level read committed, read only")?;
        session.limit_time(options, BATCH_ROWS_MAX)?;
        session.execute("start transaction read only")?;
        let is_read_only = |row: &Vec<Value>| row.first().map(text).as_deref() == Some("1");
        if options.replica && !session.rows("select @@global.read_only")?.iter().any(is_read_only) {
            return Err(session.refused(
                "this is no replica (@@read_only is off); \
                 give the address of one, or leave --replica out",
            ));
        }
        Ok(session)
    }

    /// Gives the statements that follow the time that the pace takes for all rows.
    pub(super) fn allow_slow_reading(
        &mut self,
        options: &SampleOptions,
    ) -> Result<(), SampleError> {
        self.limit_time(options, options.scan_limit)
    }

    /// Limits what a statement of so many rows may take.
    fn limit_time(&mut self, options: &SampleOptions, rows: u64) -> Result<(), SampleError> {
        let rate = options.rate_per_second.map_or(u64::MAX, |rate| u64::from(rate.max(1)));
        let limit = options.timeout.saturating_add(Duration::from_secs(rows / rate + 1));
        let set = if self.is_mariadb {
            format!("set session max_statement_time = {}", limit.as_secs())
        } else {
            format!("set session max_execution_time = {}", limit.as_millis())
        };
        match self.connection.query_drop(set) {
            Err(Error::MySqlError(error)) if error.code == UNKNOWN_VARIABLE => Ok(()),
            done => done.map_err(|error| self.failed(&error)),
        }
    }

    /// The rows of a small result.
    pub(super) fn rows(&mut self, statement: &str) -> Result<Vec<Vec<Value>>, SampleError> {
        let rows: Result<Vec<mysql::Row>, Error> = self.connection.query(statement);
        let rows = rows.map_err(|error| self.failed(&error))?;
        Ok(rows.into_iter().map(values).collect())
    }

    /// Gives each row of a query to `take`; `None` where the statement returns no rows. It must be
    /// one statement.
    pub(super) fn each(
        &mut self,
        query: &str,
        mut take: impl FnMut(Vec<Value>) -> ControlFlow<()>,
    ) -> Result<Option<ControlFlow<()>>, SampleError> {
        let (address, timeout) = (self.address, self.timeout);
        let failed = |error: Error| explain(address, &error, timeout);
        let (target, id) = (self.target.clone(), self.connection.connection_id());
        let mut result = self.connection.query_iter(query).map_err(failed)?;
        if result.columns().as_ref().is_empty() {
            return Ok(None);
        }
        let Some(rows) = result.iter() else { return Ok(None) };
        for row in rows {
            if take(values(row.map_err(failed)?)).is_break() {
                // The rest would have to be read to its end; the server is told to stop instead.
                if let Ok(mut other) = Conn::new(target) {
                    drop(other.query_drop(format!("kill query {id}")));
                }
                return Ok(Some(ControlFlow::Break(())));
            }
        }
        Ok(Some(ControlFlow::Continue(())))
    }

    /// Checks that this is one statement that the server takes.
    pub(super) fn check(&mut self, query: &str) -> Result<(), SampleError> {
        self.connection.prep(query).map(drop).map_err(|error| self.failed(&error))
    }

    /// An error of what the user asks for.
    pub(super) fn refused(&self, reason: &str) -> SampleError {
        SampleError::Query { address: self.address.to_string(), reason: reason.to_owned() }
    }

    fn failed(&self, error: &Error) -> SampleError {
        explain(self.address, error, self.timeout)
    }

    fn execute(&mut self, statement: &str) -> Result<(), SampleError> {
        self.connection.query_drop(statement).map_err(|error| self.failed(&error))
    }
}

fn values(row: mysql::Row) -> Vec<Value> {
    row.unwrap_raw().into_iter().map(|value| value.unwrap_or(Value::NULL)).collect()
}

/// A value as the server prints it.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::NULL => String::new(),
        other => other.as_sql(true).trim_matches('\'').to_owned(),
    }
}

/// A name, whatever its characters.
pub(super) fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// The server's words, in one line.
fn explain(address: &Address, error: &Error, timeout: Duration) -> SampleError {
    let shown = address.to_string();
    let told = match error {
        Error::MySqlError(told) => told,
        Error::UrlError(error) => {
            return SampleError::BadAddress { address: shown, reason: error.to_string() };
        }
        error => {
            let reason = match error {
                Error::DriverError(DriverError::CouldNotConnect(Some((_, said, _)))) => {
                    said.clone()
                }
                Error::DriverError(error) => error.to_string(),
                Error::IoError(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    format!("no answer within {} s", timeout.as_secs() * 2)
                }
                Error::IoError(error) => error.to_string(),
                error => in_one_line(error),
            };
            let hint = "check that the server runs, and its host and port".to_owned();
            return SampleError::Unreachable { address: shown, reason, hint };
        }
    };
    let reason = told.message.replace(['\r', '\n'], " ");
    if REFUSED_LOGIN.contains(&told.code) {
        let hint = "check the name and password in the address".to_owned();
        return SampleError::Authentication { address: shown, reason, hint };
    }
    if REFUSED_RIGHT.contains(&told.code) {
        let hint = "grant this user select on it, or name something else".to_owned();
        return SampleError::Authentication { address: shown, reason, hint };
    }
    let next = if TIME_LIMIT.contains(&told.code) {
        format!("; it may take {} s at most: narrow it", timeout.as_secs())
    } else if told.code == READ_ONLY {
        "; cinch only reads".to_owned()
    } else {
        String::new()
    };
    SampleError::Query { address: shown, reason: format!("{reason}{next}") }
}
