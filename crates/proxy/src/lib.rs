//! The Redis and Valkey sidecar: clients in any language talk to it as to the server, and values of
//! the configured namespaces are packed on their way there and unpacked on their way back.
//!
//! A [`session::Session`] is one client's connection without sockets: bytes of both sides in, bytes
//! for both sides out, with the replies owed in order between them. What becomes of a command
//! stands in one table ([`command`]). [`Sidecar`] puts sockets around sessions: one event loop a
//! core, one connection to the server for each connection of a client, so that what a server keeps
//! of a connection (user, database, transaction, subscriptions) is kept as it is without a sidecar.

mod address;
pub mod command;
mod connection;
pub mod counters;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod lane;
mod link;
mod outgoing;
pub mod session;
pub mod settings;
mod shared;
mod sidecar;
mod status;
mod tls;
pub mod values;

pub use sidecar::{Sidecar, SidecarError, Totals};
