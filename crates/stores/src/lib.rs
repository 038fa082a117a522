//! One [`Store`] trait over the stores that services keep payloads in, and its adapters.
//!
//! A store hands out and takes [`Record`](cinch_rollout::Record)s and knows nothing of packing:
//! what to write and which copy to believe is the policy's business. What every adapter owes is
//! written at the trait's methods and checked by one conformance suite, so that a tiered store, a
//! backfill and a rollout behave the same over each of them. [`open`] finds the adapter of an
//! address; each is a cargo feature. A [`Client`] is a store with the policy in front.

pub mod address;
pub mod backfill;
pub mod client;
#[cfg(feature = "testing")]
pub mod conformance;
pub mod control;
pub mod error;
#[cfg(feature = "testing")]
pub mod faults;
#[cfg(feature = "kafka")]
pub mod kafka;
pub mod memory;
#[cfg(any(feature = "mongodb", feature = "sql"))]
mod metadata;
#[cfg(feature = "mongodb")]
pub mod mongodb;
pub mod preflight;
pub mod problems;
#[cfg(feature = "redis")]
pub mod redis;
#[cfg(feature = "sql")]
pub mod sql;
mod stamp;
pub mod store;
pub mod tiered;
pub mod verify;
#[cfg(any(feature = "mongodb", feature = "sql"))]
mod version;
pub mod walk;

#[cfg(feature = "kafka")]
pub use crate::kafka::KafkaTopic;
#[cfg(feature = "mongodb")]
pub use crate::mongodb::MongoStore;
#[cfg(feature = "redis")]
pub use crate::redis::RedisStore;
pub use address::{Address, open};
pub use client::{Client, ClientError, Got};
pub use error::StoreError;
pub use memory::MemoryStore;
#[cfg(feature = "sql")]
pub use sql::{SqlOptions, SqlStore};
pub use store::{Condition, Expiry, Found, Page, PutOutcome, Shape, Slots, Store, Version};
