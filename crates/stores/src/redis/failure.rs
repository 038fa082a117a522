//! What the client's errors mean, and what to do about them.

use redis::{ErrorKind, RedisError, ServerErrorKind};

use crate::error::{StoreError, in_one_line};

/// The error for a caller.
pub(super) fn explain(store: &str, key: &[u8], error: &RedisError) -> StoreError {
    let code = error.code().unwrap_or_default().to_owned();
    let said = in_one_line(error);
    let store = store.to_owned();
    let refused = |hint: &str| StoreError::Refused {
        store: store.clone(),
        message: if hint.is_empty() { said.clone() } else { format!("{said}; {hint}") },
    };
    match error.kind() {
        ErrorKind::InvalidClientConfig => StoreError::Address(format!("{store}: {said}")),
        ErrorKind::AuthenticationFailed => {
            refused("write the user in the address: redis://user:password@host")
        }
        ErrorKind::Server(ServerErrorKind::NoPerm) => refused(
            "the user needs `+get +pttl +set` on the keys, `+eval +del +exists` for conditional \
             writes, and `+scan +info +cluster|nodes` for scans",
        ),
        ErrorKind::Server(ServerErrorKind::Moved | ServerErrorKind::Ask) => {
            refused("this is a node of a cluster: add ?cluster=true to the address")
        }
        ErrorKind::Server(
            ServerErrorKind::BusyLoading
            | ServerErrorKind::ClusterDown
            | ServerErrorKind::MasterDown
            | ServerErrorKind::TryAgain,
        )
        | ErrorKind::ClusterConnectionNotFound => StoreError::Unreachable { store, message: said },
        _ if code == "WRONGTYPE" || said.contains("WRONGTYPE") => {
            StoreError::shape(&store, key, "a value that is no string".to_owned())
        }
        _ if ["NOAUTH", "WRONGPASS"].contains(&code.as_str()) => {
            refused("write the user in the address: redis://user:password@host")
        }
        _ if error.is_timeout() => {
            StoreError::Unreachable { store, message: "no answer in time".to_owned() }
        }
        _ if error.is_io_error() || error.is_connection_dropped() => {
            StoreError::Unreachable { store, message: said }
        }
        _ => refused(""),
    }
}

/// Whether a node of a cluster did not carry a command out, so that it may be sent again.
pub(super) fn was_turned_away(error: &RedisError) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Server(
            ServerErrorKind::Moved
                | ServerErrorKind::Ask
                | ServerErrorKind::TryAgain
                | ServerErrorKind::ClusterDown
                | ServerErrorKind::MasterDown
                | ServerErrorKind::BusyLoading
        ) | ErrorKind::ClusterConnectionNotFound
    )
}
