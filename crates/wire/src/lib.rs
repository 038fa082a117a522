//! Protocol machines over byte slices. This crate reads what clients send and writes what they are
//! answered; it opens no socket, reads no clock and keeps no bytes of the connection.
//!
//! Every stream protocol has the same shape. The caller owns a buffer, reads into it, and shows it
//! to the machine's `scan`, which says where complete records lie (as [`Span`]s of that buffer,
//! nothing is copied) and how many bytes are done with ([`Scan`]). The caller keeps the rest, an
//! incomplete record, reads behind it and shows it again. However the bytes were cut by the
//! network, the records are the same. An error is typed and closes that connection alone.
//!
//! Fields of a record are found when they are asked for, because most records are only passed on.
//! What hostile input may cost is in [`limits`].

pub mod bulk;
pub mod cal;
pub mod chunked;
pub mod forward;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod json_text;
pub mod limits;
pub mod lines;
pub mod msgpack;
pub mod native;
pub mod otlp;
mod protobuf;
pub mod resp;
mod scan;
pub mod stream;
pub mod syslog;

pub use json_text::{JsonFault, TooLong};
pub use protobuf::ProtobufError;
pub use scan::{Scan, Span};
