//! What stops a rollout: the bounds on what processes count in a step, and how they are written in
//! arguments.

use std::str::FromStr;

use cinch_rollout::steps::Step;

/// Below this difference, in microseconds, a slower p99 is noise and no reason to stop.
pub const P99_NOISE_US: u64 = 1_000;

/// The bounds of a step. A count is that of one process since the step began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Packed copies that differ from the raw ones beside them; default 0.
    pub mismatches: u64,
    /// Values that could not be unpacked; default 0.
    pub decode_errors: u64,
    /// Payloads that could not be packed; default 0.
    pub pack_failures: u64,
    /// By how many percent the p99 of reads may grow over the step before; the step's own default
    /// where nothing is said.
    pub read_p99_percent: Option<u64>,
    /// By how many percent the p99 of writes may grow over the step before.
    pub write_p99_percent: Option<u64>,
    /// By how much replicas may lag, in milliseconds, where it is measured;
    /// [`LAG_MS_DEFAULT`] where nothing is said.
    pub lag_ms: Option<u64>,
}

/// How far replicas may lag unless told otherwise, in milliseconds.
pub const LAG_MS_DEFAULT: u64 = 10_000;

/// A bound that can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LimitError {
    /// It has another form.
    #[error("--limit {0}: write NAME=NUMBER; the names are {names}", names = NAMES.join(", "))]
    Form(String),
    /// It names nothing.
    #[error("--limit: there is no {0}; the names are {names}", names = NAMES.join(", "))]
    Unknown(String),
}

/// The names in arguments. Growth is in percent, lag in milliseconds.
pub const NAMES: [&str; 6] =
    ["mismatches", "decode_errors", "pack_failures", "read_p99", "write_p99", "lag_ms"];

impl Limits {
    /// Sets one bound of the form `NAME=NUMBER`; a percent sign may stand behind a growth.
    ///
    /// # Errors
    /// [`LimitError`].
    pub fn set(&mut self, text: &str) -> Result<(), LimitError> {
        let (name, value) =
            text.split_once('=').ok_or_else(|| LimitError::Form(text.to_owned()))?;
        let name = name.trim().replace('-', "_");
        let is_growth = name.ends_with("_p99");
        let value = value.trim();
        let digits = if is_growth { value.strip_suffix('%').unwrap_or(value) } else { value };
        let number = u64::from_str(digits).map_err(|_| LimitError::Form(text.to_owned()));
        match name.as_str() {
            "mismatches" => self.mismatches = number?,
            "decode_errors" => self.decode_errors = number?,
            "pack_failures" => self.pack_failures = number?,
            "read_p99" => self.read_p99_percent = Some(number?),
            "write_p99" => self.write_p99_percent = Some(number?),
            "lag_ms" => self.lag_ms = Some(number?),
            _ => return Err(LimitError::Unknown(name)),
        }
        Ok(())
    }

    /// By how many percent the p99 of reads may grow in a step.
    pub fn read_p99_percent(&self, step: Step) -> u64 {
        self.read_p99_percent.unwrap_or(match step {
            // Both copies are read and one is unpacked to be compared.
            Step::Verify => 100,
            _ => 50,
        })
    }

    /// By how many percent the p99 of writes may grow in a step.
    pub fn write_p99_percent(&self, step: Step) -> u64 {
        self.write_p99_percent.unwrap_or(match step {
            // Both copies travel, which the publication calls a necessary evil.
            Step::FirstWrite | Step::AllWrite => 100,
            _ => 50,
        })
    }

    /// By how much replicas may lag, in milliseconds.
    pub fn lag_ms(&self) -> u64 {
        self.lag_ms.unwrap_or(LAG_MS_DEFAULT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_taken_by_name_and_a_slip_is_named() {
        let mut limits = Limits::default();
        for text in ["mismatches=3", "read-p99=20%", "lag_ms=500"] {
            limits.set(text).unwrap();
        }
        assert_eq!((limits.mismatches, limits.lag_ms()), (3, 500));
        assert_eq!(limits.read_p99_percent(Step::Verify), 20);
        assert_eq!(limits.write_p99_percent(Step::AllWrite), 100);
        let message = limits.set("mismatch=3").unwrap_err().to_string();
        assert!(message.contains("no mismatch;") && message.contains("mismatches"), "{message}");
        for text in ["mismatches", "mismatches=-1", "mismatches=3%"] {
            assert!(matches!(limits.set(text), Err(LimitError::Form(_))), "{text}");
        }
    }
}
