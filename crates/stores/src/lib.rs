//! One [`Store`] trait over the stores that services keep payloads in, and its adapters.
//!
//! A store hands out and takes [`Record`](cinch_rollout::Record)s and knows nothing of packing: what
//! to write and which copy to believe is the policy's business. What every adapter owes is written
//! at the trait's methods and checked by one conformance suite, so that a tiered store, a backfill
//! and a rollout behave the same over each of them.

pub mod backfill;
pub mod client;
pub mod error;
pub mod memory;
pub mod problems;
mod stamp;
pub mod store;
pub mod tiered;
pub mod verify;
pub mod walk;

pub use client::{Client, ClientError, Got};
pub use error::StoreError;
pub use memory::MemoryStore;
pub use store::{Condition, Expiry, Found, Page, PutOutcome, Shape, Slots, Store, Version};
