//! What changed between a schema and the one before it, for people to read, and which of it breaks
//! readers of the older one.

use std::fmt;

/// A difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Where, as in `$.items[].price`.
    pub path: String,
    /// What is different.
    pub what: String,
    /// Whether readers with the older schema can't read what is written with the new one.
    pub breaks: bool,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.what)
    }
}

/// A change that breaks readers of the older schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{change}; readers of the previous schema could not read that: --break writes it")]
pub struct ChangeError {
    /// The first such change.
    pub change: Change,
}
