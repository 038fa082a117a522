//! Seeded JSON payload corpora that behave like real ones: shopping carts, canteen menus, taxi
//! trips, flight search lists and structured log events.
//!
//! Measuring codecs needs payloads, and most people who start cinch have none at hand that they
//! may share. The corpora here are calibrated against measured real ones (sizes, share of key
//! bytes, number texts, repetition inside and between payloads), so that the ratios they show are
//! close to what production data shows. All names and words are invented or generic.
//!
//! ```
//! use cinch_generate::{Options, find};
//!
//! let carts = find("carts").expect("carts is a kind");
//! let options = Options { count: 3, seed: 7, median_bytes: None };
//! assert_eq!(carts.payloads(options).count(), 3);
//! ```
//!
//! The bytes are the same on every platform and in every build: the random numbers are ChaCha8
//! with fixed seeding, everything drawn from them is computed with integers, and no floating point
//! number is ever formatted.

#![forbid(unsafe_code)]

mod calendar;
#[cfg(test)]
mod calibration;
mod carts;
mod flights;
mod identifiers;
mod json;
mod kind;
mod logs;
mod menus;
mod options;
mod payloads;
mod published;
mod quantiles;
mod random;
mod recipe;
mod scale;
mod sizes;
mod trips;

pub use kind::{KINDS, Kind, find};
pub use options::Options;
pub use payloads::Payloads;
pub use published::{PUBLISHED, Published, published};
