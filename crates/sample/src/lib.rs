//! Takes a fair sample of the payloads that a live store holds, so that an evaluation measures what
//! is really there and nobody has to write an export first.
//!
//! Three promises must not change. Nothing is written: adapters send reading commands only, and
//! where a server can be told so, it is. Memory is bounded by [`SampleOptions`], never by the
//! store. And nothing is left out in silence:
//! what can't be taken as a payload is counted by its reason.

mod address;
mod class;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
mod columns;
mod error;
mod options;
mod random;
#[cfg(any(feature = "mongodb", feature = "mysql", feature = "postgres", feature = "sqlite"))]
mod shares;
mod sources;
#[cfg(any(feature = "mysql", feature = "sqlite"))]
mod stripes;
mod taker;
mod unwrap;

#[cfg(any(feature = "redis", feature = "kafka", feature = "mysql"))]
mod tls;

#[cfg(feature = "kafka")]
mod kafka;
#[cfg(feature = "mongodb")]
mod mongodb;
#[cfg(feature = "mysql")]
mod mysql;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "redis")]
mod redis;
#[cfg(feature = "sqlite")]
mod sqlite;

use std::sync::atomic::AtomicBool;

pub use address::{Address, Host, is_address};
pub use class::{CLASSES, Class, ClassCount};
pub use error::SampleError;
pub use options::{
    RECORDS_PER_SECOND, SAMPLE_BYTES_MAX, SAMPLE_COUNT, SCAN_LIMIT, SampleOptions, TIMEOUT,
    VALUE_BYTES_MAX,
};
pub use random::Random;
pub use sources::{SOURCES, Source};
pub use taker::{Sampled, Taken, Taker};
pub use unwrap::{Refusal, Unwrapper, Wrapping};

/// Takes a sample of what the address names. `progress` is told how many values were seen and how
/// many of them are kept, after each value. When `stop` is set, what was taken so far is the
/// sample.
///
/// # Errors
/// [`SampleError`] where the store can't be read at all, or holds nothing that can be taken. A
/// value that can't be taken is no error: it is counted in [`Sampled::refused`].
pub fn sample(
    address: &Address,
    options: &SampleOptions,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Sampled, SampleError> {
    let source = sources::source_of(address)?;
    let mut taker = Taker::new(options, stop, progress);
    (source.read)(address, options, &mut taker)?;
    let sampled = taker.finish();
    if sampled.seen == 0 && !sampled.is_cut_short {
        return Err(SampleError::NothingFound {
            address: address.to_string(),
            hint: options.nothing_found_hint(),
        });
    }
    if sampled.payloads.is_empty() && !sampled.is_cut_short {
        let reasons = sampled.refused.iter().map(|(reason, count)| format!("{reason}: {count}"));
        return Err(SampleError::NothingTaken {
            address: address.to_string(),
            seen: sampled.seen,
            reasons: reasons.collect::<Vec<_>>().join(", "),
        });
    }
    Ok(sampled)
}
