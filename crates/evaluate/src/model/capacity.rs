//! The figures of the capacity model: days until a disk is full, and money. None is ever infinite,
//! because JSON has no such number.

use serde::{Deserialize, Serialize};

/// What `--rate`, `--disk`, `--overhead`, `--growth` and `--price` asked for, and what they make of
/// the trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CapacityModel {
    /// Payloads a day.
    pub payloads_per_day: f64,
    /// Disk in bytes.
    pub disk_bytes: f64,
    /// The share of the disk that something else uses.
    pub overhead_share: f64,
    /// Growth of the rate per month, as a share.
    pub growth_per_month: f64,
    /// The price of a GB (10^9 bytes) for a month, if given.
    pub price_per_gb_month: Option<f64>,
    /// Doing nothing, gzip -6, the baseline, the recommended trial and the runner-up.
    pub rows: Vec<CapacityRow>,
}

/// One trial on the disk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CapacityRow {
    /// The trial's name.
    pub name: String,
    /// What it is: `now`, `recommended`, `baseline` …
    pub role: String,
    /// Mean stored bytes of a payload.
    pub payload_bytes: f64,
    /// Bytes that come in on the first day.
    pub bytes_per_day: f64,
    /// Days until the whole disk is full.
    pub days_gross: f64,
    /// Days until the disk less its overhead is full.
    pub days_net: f64,
    /// Bytes stored after a year.
    pub bytes_after_year: f64,
    /// What a year costs, where a price was given.
    pub price_of_year: Option<f64>,
}
