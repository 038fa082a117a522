//! What to take of a store, and every limit of doing so in one place.
//!
//! The store that is sampled usually serves somebody, so the defaults are slow and small.

use std::time::Duration;

/// How many records are read a second unless the user says otherwise: below what any store in
/// production notices.
pub const RECORDS_PER_SECOND: u32 = 1_000;

/// How many payloads are kept unless the user says otherwise: about as many as the codec figures of
/// an evaluation need to settle.
pub const SAMPLE_COUNT: usize = 2_000;

/// How many records are looked at at most, listed keys among them, unless the user says otherwise.
pub const SCAN_LIMIT: u64 = 1_000_000;

/// How long a connection or an answer may take.
pub const TIMEOUT: Duration = Duration::from_secs(10);

/// The longest value that is taken, in bytes, as stored and as unwrapped. What is longer is refused
/// and counted.
pub const VALUE_BYTES_MAX: usize = 64 << 20;

/// The most memory that kept payloads and their keys may take, in bytes.
pub const SAMPLE_BYTES_MAX: u64 = 512 << 20;

/// What to take.
#[derive(Debug, Clone)]
pub struct SampleOptions {
    /// Takes keys, collections, tables or topics of this pattern only: `*`, `?` and `[a-z]` as
    /// Redis has them.
    pub matching: Option<String>,
    /// Takes what this query finds, in the store's own language.
    pub query: Option<String>,
    /// How many payloads are kept at most.
    pub count: usize,
    /// Reads from a replica.
    pub replica: bool,
    /// How many records are read a second; `None` is as fast as the store answers.
    pub rate_per_second: Option<u32>,
    /// Decides every random choice that is ours to make.
    pub seed: u64,
    /// How many records are looked at at most, listed keys among them.
    pub scan_limit: u64,
    /// How long a connection or an answer may take.
    pub timeout: Duration,
}

impl Default for SampleOptions {
    fn default() -> SampleOptions {
        SampleOptions {
            matching: None,
            query: None,
            count: SAMPLE_COUNT,
            replica: false,
            rate_per_second: Some(RECORDS_PER_SECOND),
            seed: 1,
            scan_limit: SCAN_LIMIT,
            timeout: TIMEOUT,
        }
    }
}

impl SampleOptions {
    /// What to do where nothing was found.
    pub(crate) fn nothing_found_hint(&self) -> String {
        match (&self.matching, &self.query) {
            (Some(pattern), _) => format!("nothing matches {pattern:?}; try without --match"),
            (None, Some(_)) => "the query finds nothing; try without --query".to_owned(),
            (None, None) => "it is empty; is it the right database?".to_owned(),
        }
    }
}
