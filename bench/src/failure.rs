//! How a bench fails: with one line for people, and exit status 1.
//! Nobody matches on these errors, so they are prose; a wrong result is one as much as a slow row.

use std::error::Error;

/// The result of a bench or of a part of it.
pub(crate) type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;
