//! The three databases behind one face: a statement with its arguments goes in, a count of rows or
//! the rows come out. Every value that comes out is bytes or an integer; the database converts its
//! texts.

use std::sync::Arc;

use async_trait::async_trait;
use sqlx::{AssertSqlSafe, MySqlPool, PgPool, Row as _, SqlitePool};

/// A value that is bound to a statement.
#[derive(Debug, Clone, Copy)]
pub(super) enum Argument<'a> {
    Bytes(Option<&'a [u8]>),
    /// For a column of text: as bytes it would be compared by other rules than the column's.
    Text(Option<&'a str>),
    Integer(Option<i64>),
}

/// What a column of an answer holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Bytes,
    Integer,
}

/// A value of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cell {
    Null,
    Bytes(Vec<u8>),
    Integer(i64),
}

impl Cell {
    pub(super) fn bytes(self) -> Option<Vec<u8>> {
        match self {
            Cell::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    pub(super) fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Cell::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    pub(super) fn integer(&self) -> Option<i64> {
        match self {
            Cell::Integer(number) => Some(*number),
            _ => None,
        }
    }

    pub(super) fn text(self) -> String {
        String::from_utf8_lossy(&self.bytes().unwrap_or_default()).into_owned()
    }
}

/// A database.
#[async_trait]
pub(super) trait Backend: Send + Sync {
    /// Runs a statement and says how many rows it found.
    async fn execute(
        &self,
        text: &Arc<str>,
        arguments: &[Argument<'_>],
    ) -> Result<u64, sqlx::Error>;

    /// Runs a query.
    async fn fetch(
        &self,
        text: &Arc<str>,
        arguments: &[Argument<'_>],
        kinds: &[Kind],
    ) -> Result<Vec<Vec<Cell>>, sqlx::Error>;
}

/// The clients have one shape but no common type that could be written down without a dozen
/// bounds, so that the same few lines are compiled for each.
macro_rules! backend {
    ($pool:ty) => {
        #[async_trait]
        impl Backend for $pool {
            async fn execute(
                &self,
                text: &Arc<str>,
                arguments: &[Argument<'_>],
            ) -> Result<u64, sqlx::Error> {
                let mut query = sqlx::query(AssertSqlSafe(text.clone()));
                for argument in arguments {
                    query = match argument {
                        Argument::Bytes(bytes) => query.bind(*bytes),
                        Argument::Text(text) => query.bind(*text),
                        Argument::Integer(number) => query.bind(*number),
                    };
                }
                Ok(query.execute(self).await?.rows_affected())
            }

            async fn fetch(
                &self,
                text: &Arc<str>,
                arguments: &[Argument<'_>],
                kinds: &[Kind],
            ) -> Result<Vec<Vec<Cell>>, sqlx::Error> {
                let mut query = sqlx::query(AssertSqlSafe(text.clone()));
                for argument in arguments {
                    query = match argument {
                        Argument::Bytes(bytes) => query.bind(*bytes),
                        Argument::Text(text) => query.bind(*text),
                        Argument::Integer(number) => query.bind(*number),
                    };
                }
                let mut rows = Vec::new();
                for row in query.fetch_all(self).await? {
                    let mut cells = Vec::with_capacity(kinds.len());
                    for (index, kind) in kinds.iter().enumerate() {
                        cells.push(match kind {
                            Kind::Bytes => row
                                .try_get_unchecked::<Option<Vec<u8>>, _>(index)?
                                .map_or(Cell::Null, Cell::Bytes),
                            Kind::Integer => row
                                .try_get_unchecked::<Option<i64>, _>(index)?
                                .map_or(Cell::Null, Cell::Integer),
                        });
                    }
                    rows.push(cells);
                }
                Ok(rows)
            }
        }
    };
}

backend!(PgPool);
backend!(MySqlPool);
backend!(SqlitePool);
