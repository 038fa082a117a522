//! Confidence intervals by the paired bootstrap over groups of near-duplicates.
//!
//! The groups and not the payloads are drawn, because near-duplicates say the same thing twice.

use serde::{Deserialize, Serialize};

/// Where a figure lies with 95 % confidence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}
