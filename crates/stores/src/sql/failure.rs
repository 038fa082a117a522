//! What the client's errors mean: not reached, refused, or worth another try because the database
//! undid the statement itself.

use sqlx::Error;

use crate::error::{StoreError, in_one_line};

/// SQLSTATEs of a server that is going or coming, by their beginnings.
const AWAY: [&str; 3] = ["08", "57P0", "53300"];

/// What a server says when it undid a statement because of another one: PostgreSQL's SQLSTATEs,
/// those of MySQL and MariaDB, and SQLite's extended codes.
const UNDONE: [&str; 5] = ["40001", "40P01", "5", "517", "6"];

/// The error for a caller.
pub(super) fn explain(store: &str, key: &[u8], error: &Error) -> StoreError {
    let store = store.to_owned();
    match error {
        Error::Database(said) => {
            let message = in_one_line(said.as_ref());
            let code = said.code().unwrap_or_default();
            if AWAY.iter().any(|start| code.starts_with(start)) {
                return StoreError::Unreachable { store, message };
            }
            StoreError::Refused { store, message }
        }
        Error::Decode(_) | Error::ColumnDecode { .. } => {
            StoreError::shape(&store, key, in_one_line(error))
        }
        Error::Configuration(_) => StoreError::Address(format!("{store}: {}", in_one_line(error))),
        Error::PoolTimedOut => StoreError::Unreachable {
            store,
            message: "no connection was free or could be made in time".to_owned(),
        },
        _ => StoreError::Unreachable { store, message: in_one_line(error) },
    }
}

/// Whether the statement had no effect and may succeed at once.
pub(super) fn was_undone(error: &Error) -> bool {
    let Error::Database(said) = error else { return false };
    said.code().is_some_and(|code| UNDONE.contains(&code.as_ref()))
}

/// Whether a row with a value that must be unique is already there.
pub(super) fn is_duplicate(error: &Error) -> bool {
    matches!(error, Error::Database(said) if said.is_unique_violation())
}
