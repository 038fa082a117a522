//! Learning dictionaries from payloads, so that nothing enters one that few entities had.
//!
//! zstd's own trainer takes whole stretches of payloads as they are, names and addresses included.
//! Here, content is chosen among texts that enough different entities have in full; zstd's builder
//! only adds its tables.

pub mod deny;

mod content;
mod description;
mod lessons;
mod library;
mod part;
mod samples;
mod search;
mod shared;

pub use content::Parameters;
pub use description::{Description, HeldOut};
pub use lessons::{Course, Lessons};
pub use part::{CHECKED_BYTES, CodecPart, LearnError, SAMPLE_BYTES_FACTOR, SAMPLES_MIN, Segment};
pub use samples::{SAMPLE_BYTES_MAX, TRAIN_BYTES_MAX};
pub use search::{Found, SIZE_TOLERANCE, SIZES, SearchError, Tried, steps};
