//! What the driver's errors mean, and what to do about them.

use mongodb::error::{Error, ErrorKind, WriteFailure};

use crate::error::{StoreError, in_one_line};

/// The server's codes of a unique index that already has the value.
const DUPLICATE: [i32; 2] = [11_000, 11_001];

/// Codes of a server that is no primary, or is going: the driver looks for another one.
const AWAY: [i32; 9] = [6, 7, 89, 91, 189, 9001, 10_107, 11_600, 13_435];

/// Codes of rights that are missing and of a login that failed.
const RIGHTS: [i32; 2] = [13, 18];

/// The error for a caller.
pub(super) fn explain(store: &str, key: &[u8], error: &Error) -> StoreError {
    let store = store.to_owned();
    let said = in_one_line(error);
    match error.kind.as_ref() {
        ErrorKind::Command(command) if AWAY.contains(&command.code) => {
            StoreError::Unreachable { store, message: command.message.clone() }
        }
        ErrorKind::Command(command) if RIGHTS.contains(&command.code) => StoreError::Refused {
            store,
            message: format!(
                "{}; the user needs the role readWrite on the database",
                command.message
            ),
        },
        ErrorKind::Command(command) => {
            StoreError::Refused { store, message: command.message.clone() }
        }
        ErrorKind::Authentication { message, .. } => StoreError::Refused {
            store,
            message: format!(
                "{message}; write the user in the address, with ?authSource= where it is of \
                 another database"
            ),
        },
        ErrorKind::Write(WriteFailure::WriteError(write)) => {
            StoreError::Refused { store, message: write.message.clone() }
        }
        // It was written where it was sent, and may yet be rolled back.
        ErrorKind::Write(WriteFailure::WriteConcernError(concern)) => {
            StoreError::Unreachable { store, message: concern.message.clone() }
        }
        ErrorKind::BsonDeserialization(_) | ErrorKind::Bson(_) => {
            StoreError::shape(&store, key, said)
        }
        ErrorKind::InvalidArgument { .. } | ErrorKind::InvalidTlsConfig { .. } => {
            StoreError::Address(format!("{store}: {said}"))
        }
        ErrorKind::Io(_)
        | ErrorKind::ServerSelection { .. }
        | ErrorKind::ConnectionPoolCleared { .. }
        | ErrorKind::DnsResolve { .. }
        | ErrorKind::Shutdown => StoreError::Unreachable { store, message: said },
        _ => StoreError::Refused { store, message: said },
    }
}

/// Whether a unique index stopped a write.
pub(super) fn is_duplicate(error: &Error) -> bool {
    match error.kind.as_ref() {
        ErrorKind::Write(WriteFailure::WriteError(write)) => DUPLICATE.contains(&write.code),
        ErrorKind::Command(command) => DUPLICATE.contains(&command.code),
        _ => false,
    }
}

/// Whether there is no such collection yet.
pub(super) fn is_missing(error: &Error) -> bool {
    /// The server's code of that.
    const NAMESPACE_NOT_FOUND: i32 = 26;
    match error.kind.as_ref() {
        ErrorKind::Command(command) => command.code == NAMESPACE_NOT_FOUND,
        _ => false,
    }
}
