//! Why a command stopped, and what to do about it. Whoever reads a red CI run wants one line that
//! says what to type next, so the remedy is a field of its own and not an afterthought.

use std::fmt;

pub(crate) type Outcome<T = ()> = Result<T, Failure>;

/// What went wrong and what to do about it.
#[derive(Debug)]
pub(crate) struct Failure {
    what: String,
    remedy: Option<String>,
}

impl Failure {
    pub(crate) fn new(what: impl Into<String>) -> Failure {
        Failure { what: what.into(), remedy: None }
    }

    /// Adds what to do. The first remedy stands: it was named nearest to the cause.
    pub(crate) fn remedy(mut self, remedy: impl Into<String>) -> Failure {
        self.remedy.get_or_insert_with(|| remedy.into());
        self
    }

    /// Says what was being done when it went wrong.
    pub(crate) fn during(mut self, what: &str) -> Failure {
        self.what = format!("{what}: {}", self.what);
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "failed: {}", self.what)?;
        match &self.remedy {
            Some(remedy) => write!(out, "\nwhat to do: {remedy}"),
            None => Ok(()),
        }
    }
}
