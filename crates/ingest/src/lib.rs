//! The log ingress: takes records from thousands of connections, cuts, counts, batches and
//! compresses them, and hands them to sinks that may be slow, in bounded memory and with nothing
//! lost in silence.
//!
//! Readers (`reader`) only read. What they read goes in chunks (`chunk`) to workers (`worker`),
//! which fill batches (`batch`), compress them and put them into the ring (`ring`) of a sink
//! (`sink`).
//! [`Ingress`] starts and stops it all.

mod acknowledge;
mod batch;
mod budget;
mod chunk;
pub mod columns;
pub mod config;
mod connection;
pub mod format;
pub mod forms;
mod grpc;
mod histogram;
mod ingress;
pub mod limits;
pub mod load;
pub mod logs;
pub mod metric;
mod metrics;
mod outlet;
mod pool;
mod rate;
pub mod read;
mod reader;
mod ring;
mod sink;
pub mod size;
mod spill;
mod status;
pub mod top;
mod varint;
mod worker;

pub use histogram::Histogram;
pub use ingress::{Ingress, IngressError, Tell, Totals};
pub use sink::{SinkError, folder_name};
