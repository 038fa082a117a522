//! What an application links to switch packing on under live traffic, and off again.
//!
//! The decision is a pure function ([`policy`]) of the configuration, the key, what the fleet
//! announces and the durable state of the namespace; it says what to write and how to read. The
//! [`modes`] carry the published names, so that whoever knows eBay's cart service knows ours.
//! Nothing here opens a socket: stores, leases and clocks belong to the caller.
//!
//! The principal types: a [`Record`] is what a store holds under a key, in one slot or two;
//! [`modes::WriteMode`] and [`modes::ReadMode`] say which of them is written and believed.

pub mod decoders;
pub mod fleet;
pub mod gate;
pub mod glob;
pub mod live;
pub mod metrics;
pub mod modes;
pub mod policy;
pub mod published;
pub mod record;
pub mod reload;
pub mod settings;
pub mod state;
pub mod steps;

pub use record::{Metadata, PackedField, Record, Stamp};
