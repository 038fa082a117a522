//! Rows of a statement, offered in batches.
//!
//! A batch is as many rows as fit into a few megabytes, judged by the rows before it, and not more
//! than the pace takes in a second: a server ends sessions that idle inside a transaction.

use std::ops::ControlFlow;

use tokio_postgres::types::{FromSql, Type};

use super::session::Session;
use crate::error::SampleError;
use crate::options::SampleOptions;
use crate::taker::Taker;
use crate::unwrap::Refusal;

/// How many rows the first batch has, whose lengths are not known.
const FIRST_ROWS: usize = 8;

/// How many rows a batch has at most.
const BATCH_ROWS_MAX: usize = 256;

/// How many bytes a batch should have.
const BATCH_BYTES: usize = 4 << 20;

/// A statement that returns a key, a length and a payload.
pub(super) struct Source {
    /// Stands before the key of each payload.
    pub(super) label: String,
    pub(super) statement: String,
}

/// The bytes of a value as the server sent them.
struct Bytes<'a>(&'a [u8]);

impl<'a> FromSql<'a> for Bytes<'a> {
    fn from_sql(
        _: &Type,
        bytes: &'a [u8],
    ) -> Result<Bytes<'a>, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Bytes(bytes))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// Offers every row; breaks when the taker wants no more.
pub(super) fn offer_all(
    session: &Session<'_>,
    source: &Source,
    options: &SampleOptions,
    taker: &mut Taker<'_>,
) -> Result<ControlFlow<()>, SampleError> {
    session.start(&source.statement)?;
    let rate = options.rate_per_second.map_or(BATCH_ROWS_MAX, |rate| rate as usize);
    let rows_max = rate.clamp(1, BATCH_ROWS_MAX);
    let mut rows_wanted = FIRST_ROWS.min(rows_max);
    loop {
        let rows = session.fetch(rows_wanted)?;
        let mut bytes = 0;
        for row in &rows {
            let key: Option<Bytes<'_>> = row.try_get(0).map_err(|e| session.failed(&e))?;
            let length: Option<i64> = row.try_get(1).map_err(|e| session.failed(&e))?;
            let payload: Option<Bytes<'_>> = row.try_get(2).map_err(|e| session.failed(&e))?;
            let key = String::from_utf8_lossy(key.map_or(b"", |key| key.0));
            let key = format!("{} {key}", source.label);
            let flow = match (payload, length) {
                (Some(payload), _) => {
                    bytes += payload.0.len();
                    taker.offer(key.trim_end(), payload.0)
                }
                (None, Some(_)) => taker.refuse(&Refusal::TooLarge.to_string()),
                (None, None) => taker.refuse("NULL"),
            };
            if flow.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        if rows.len() < rows_wanted {
            session.close()?;
            return Ok(ControlFlow::Continue(()));
        }
        let row_bytes = bytes / rows.len() + 1;
        rows_wanted = (BATCH_BYTES / row_bytes).clamp(1, rows_max);
    }
}
