//! One read-only session: connecting, and the statements that the adapter needs, each with a
//! deadline of its own that holds also for a server that has stopped answering.
//!
//! The runtime is a single thread that runs only while something is waited for. Cursors are those
//! of SQL: each batch is a statement, so the server's time limit is for a batch.

use std::future::Future;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error, Row};

use super::tls::{self, Target};
use crate::address::Address;
use crate::error::SampleError;
use crate::options::SampleOptions;
use crate::random::Random;

/// What the server's administrator sees us as.
const APPLICATION: &str = "cinch";

/// The name of the one cursor.
const CURSOR: &str = "cinch_sample";

/// A session in a read-only transaction.
pub(super) struct Session<'a> {
    address: &'a Address,
    timeout: Duration,
    random: Random,
    client: Client,
    // Dropped last: the client's end is work for it.
    runtime: Runtime,
}

impl<'a> Session<'a> {
    /// Connects, and begins a read-only transaction.
    pub(super) fn open(
        address: &'a Address,
        options: &SampleOptions,
    ) -> Result<Session<'a>, SampleError> {
        let Target { mut config, connector } = tls::target(address)?;
        config.application_name(APPLICATION).connect_timeout(options.timeout);
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| unreachable(address, error.to_string()))?;
        let opened = runtime.block_on(async {
            let connecting = config.connect(connector);
            let (client, connection) = tokio::time::timeout(options.timeout, connecting).await??;
            // Its end is that of the client's statements, which tell of it.
            tokio::spawn(connection);
            Ok::<Client, Failed>(client)
        });
        let client = opened.map_err(|failed| failed.while_connecting(address, options.timeout))?;
        let random = Random::new(options.seed);
        let session = Session { address, timeout: options.timeout, random, client, runtime };
        session.execute(&format!(
            "begin transaction read only; set local statement_timeout = {}",
            options.timeout.as_millis()
        ))?;
        if options.replica && session.rows("select pg_is_in_recovery()::text")?[0][0] != "true" {
            return Err(session.refused(
                "this is no replica (pg_is_in_recovery() is false); \
                 give the address of one, or leave --replica out",
            ));
        }
        Ok(session)
    }

    /// A number for the server's own random choices.
    pub(super) fn seed(&mut self) -> u32 {
        self.random.below(u64::from(u32::MAX)) as u32
    }

    /// The rows of a small result whose columns are all text.
    pub(super) fn rows(&self, statement: &str) -> Result<Vec<Vec<String>>, SampleError> {
        let rows = self.wait(self.client.query_typed(statement, &[]))?;
        let fields = |row: &Row| {
            (0..row.len()).map(|index| row.try_get(index)).collect::<Result<Vec<String>, Error>>()
        };
        let rows: Result<_, Error> = rows.iter().map(fields).collect();
        rows.map_err(|error| self.failed(&error))
    }

    /// How many rows there are in what stands behind `from`.
    pub(super) fn count(&self, from: &str) -> Result<u64, SampleError> {
        let rows = self.rows(&format!("select count(*)::text from {from}"))?;
        Ok(rows.first().and_then(|row| row.first()?.parse().ok()).unwrap_or(0))
    }

    /// The types of what a query returns. It must be one statement.
    pub(super) fn column_types(&self, query: &str) -> Result<Vec<Type>, SampleError> {
        let statement = self.wait(self.client.prepare(query))?;
        Ok(statement.columns().iter().map(|column| column.type_().clone()).collect())
    }

    /// Starts a query whose rows come in batches. There is one at a time.
    pub(super) fn start(&self, query: &str) -> Result<(), SampleError> {
        let declared = format!("declare {CURSOR} no scroll cursor for {query}");
        self.answer(self.client.batch_execute(&declared)).map_err(|failed| match failed {
            // The server took the user's query alone, so it is one that nothing can select from.
            Failed::Server(error) if error.code() == Some(&SqlState::SYNTAX_ERROR) => {
                self.refused("the query is none that rows can be selected from; cinch only reads")
            }
            failed => self.told(failed),
        })
    }

    /// The next rows of the query that was started.
    pub(super) fn fetch(&self, rows: usize) -> Result<Vec<Row>, SampleError> {
        self.wait(self.client.query_typed(&format!("fetch {rows} from {CURSOR}"), &[]))
    }

    /// Ends the query that was started.
    pub(super) fn close(&self) -> Result<(), SampleError> {
        self.execute(&format!("close {CURSOR}"))
    }

    /// An error of what the user asks for.
    pub(super) fn refused(&self, reason: &str) -> SampleError {
        SampleError::Query { address: self.address.to_string(), reason: reason.to_owned() }
    }

    /// What an error of the client or the server is for people.
    pub(super) fn failed(&self, error: &Error) -> SampleError {
        explain(self.address, error, self.timeout)
    }

    fn execute(&self, statements: &str) -> Result<(), SampleError> {
        self.wait(self.client.batch_execute(statements))
    }

    fn wait<T>(&self, answer: impl Future<Output = Result<T, Error>>) -> Result<T, SampleError> {
        self.answer(answer).map_err(|failed| self.told(failed))
    }

    /// Waits twice as long as the server may take: it ends a statement first, and says so.
    fn answer<T>(&self, answer: impl Future<Output = Result<T, Error>>) -> Result<T, Failed> {
        let deadline = self.timeout * 2;
        self.runtime.block_on(async { Ok(tokio::time::timeout(deadline, answer).await??) })
    }

    fn told(&self, failed: Failed) -> SampleError {
        match failed {
            Failed::Server(error) => self.failed(&error),
            Failed::Silent => silent(self.address, self.timeout * 2),
        }
    }
}

/// Why there is no answer.
enum Failed {
    Server(Error),
    Silent,
}

impl From<Error> for Failed {
    fn from(error: Error) -> Failed {
        Failed::Server(error)
    }
}

impl From<tokio::time::error::Elapsed> for Failed {
    fn from(_: tokio::time::error::Elapsed) -> Failed {
        Failed::Silent
    }
}

impl Failed {
    fn while_connecting(self, address: &Address, timeout: Duration) -> SampleError {
        match self {
            Failed::Silent => silent(address, timeout),
            Failed::Server(error) => explain(address, &error, timeout),
        }
    }
}

fn silent(address: &Address, waited: Duration) -> SampleError {
    unreachable(address, format!("no answer within {} s", waited.as_secs()))
}

fn unreachable(address: &Address, reason: String) -> SampleError {
    SampleError::Unreachable {
        address: address.to_string(),
        reason,
        hint: "check that the server runs, and its host and port".to_owned(),
    }
}

/// The server's words, in one line.
fn explain(address: &Address, error: &Error, timeout: Duration) -> SampleError {
    let Some(told) = error.as_db_error() else {
        return unreachable(address, crate::error::in_one_line(error));
    };
    let reason = told.message().replace(['\r', '\n'], " ");
    let shown = address.to_string();
    let code = told.code();
    if [SqlState::INVALID_PASSWORD, SqlState::INVALID_AUTHORIZATION_SPECIFICATION].contains(code) {
        let hint = "check the name and password in the address".to_owned();
        return SampleError::Authentication { address: shown, reason, hint };
    }
    if *code == SqlState::INSUFFICIENT_PRIVILEGE {
        let hint = "grant this user select on it, or name something else".to_owned();
        return SampleError::Authentication { address: shown, reason, hint };
    }
    let next = if *code == SqlState::QUERY_CANCELED {
        format!("; it may take {} s at most: narrow it", timeout.as_secs())
    } else if *code == SqlState::READ_ONLY_SQL_TRANSACTION {
        "; cinch only reads".to_owned()
    } else {
        told.hint().map(|hint| format!("; {}", hint.replace(['\r', '\n'], " "))).unwrap_or_default()
    };
    SampleError::Query { address: shown, reason: format!("{reason}{next}") }
}
