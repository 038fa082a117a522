//! What the driver's errors mean, and what to do about them. Whether a write may be tried again is
//! the caller's business; here it is only told apart.

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
        ErrorKind::ServerSelection { message, .. } => {
            StoreError::Unreachable { store, message: selection(message) }
        }
        ErrorKind::Io(_)
        | ErrorKind::ConnectionPoolCleared { .. }
        | ErrorKind::DnsResolve { .. }
        | ErrorKind::Shutdown => StoreError::Unreachable { store, message: said },
        _ => StoreError::Refused { store, message: said },
    }
}

/// Why no server was selected, of the driver's description of all that it knows: its own words, and
/// what the first server said that did not answer.
fn selection(message: &str) -> String {
    let (words, topology) = message.split_once(" Topology:").unwrap_or((message, ""));
    let of_server = topology.split_once("Error: Kind: ").map(|(_, error)| error);
    let of_server = of_server.and_then(|error| error.split(", labels:").next());
    match of_server {
        Some(error) => format!("{words} {error}"),
        None => words.to_owned(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_topology_only_the_reason_is_told() {
        let message = "Server selection timeout: No available servers. Topology: { Type: Unknown, \
                       Servers: [ { Address: 127.0.0.1:1, Type: Unknown, Error: Kind: I/O error: \
                       Connection refused (os error 111), labels: {\"RetryableError\"}, source: \
                       None, server response: None } ] }";
        let expected = "Server selection timeout: No available servers. I/O error: Connection \
                        refused (os error 111)";
        assert_eq!(selection(message), expected);
        assert_eq!(selection("no servers in the address"), "no servers in the address");
    }
}
