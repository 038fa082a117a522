//! The capacity model: how many days of payloads a disk holds, and what keeping them costs.
//!
//! It is arithmetic that everybody does by hand before a decision, so it is done here once, with
//! its units said: sizes are decimal unless they are written with an `i` (1 TB is 10^12 bytes, 1
//! TiB is 2^40). What is stored is never deleted. The formulas stand in spec/evaluation.md,
//! "Models".

use crate::budget::quantity;
use crate::model::{CapacityModel, CapacityRow};

/// Days beyond which nothing is told apart: a thousand years. What lasts longer has this many
/// days, so that a figure is never infinite.
pub const DAYS_MAX: f64 = 365_000.0;

/// The days of a year.
const YEAR_DAYS: f64 = 365.0;

/// The days of a month: a twelfth of a year.
const MONTH_DAYS: f64 = YEAR_DAYS / 12.0;

/// The most growth per month that is accepted, as a share: eleven times as much each month.
const GROWTH_MAX: f64 = 10.0;

/// The most payloads a day, bytes of a disk and price that are accepted: beyond any, and small
/// enough that no figure overflows.
const QUANTITY_MAX: f64 = 1e24;

/// The bytes of a GB, which prices are for.
const GB: f64 = 1e9;

const COUNT_UNITS: &[(&str, f64)] =
    &[("", 1.0), ("k", 1e3), ("K", 1e3), ("M", 1e6), ("G", 1e9), ("B", 1e9), ("T", 1e12)];

const SIZE_UNITS: &[(&str, f64)] = &[
    ("B", 1.0),
    ("K", 1e3),
    ("kB", 1e3),
    ("KB", 1e3),
    ("M", 1e6),
    ("MB", 1e6),
    ("G", 1e9),
    ("GB", 1e9),
    ("T", 1e12),
    ("TB", 1e12),
    ("P", 1e15),
    ("PB", 1e15),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
    ("PiB", 1_125_899_906_842_624.0),
];

/// How many of each are in a day.
const PER_DAY: &[(&str, f64)] = &[
    ("s", 86_400.0),
    ("sec", 86_400.0),
    ("second", 86_400.0),
    ("min", 1_440.0),
    ("minute", 1_440.0),
    ("h", 24.0),
    ("hour", 24.0),
    ("d", 1.0),
    ("day", 1.0),
];

/// What comes in, and where it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Capacity {
    payloads_per_day: f64,
    disk_bytes: f64,
    overhead_share: f64,
    growth_per_month: f64,
    price_per_gb_month: Option<f64>,
}

/// An argument of the capacity model that can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CapacityError {
    /// The rate of payloads.
    #[error("{text:?} is no rate of payloads: write 1M/day, 200/s or 1.5k/min")]
    Rate {
        /// What was written.
        text: String,
    },
    /// The size of the disk.
    #[error("{text:?} is no size of a disk: write 1TB (10^12 bytes), 1TiB (2^40) or 512GB")]
    Disk {
        /// What was written.
        text: String,
    },
    /// The overhead.
    #[error("{text:?} is no overhead: write the share of the disk that something else uses, 40%")]
    Overhead {
        /// What was written.
        text: String,
    },
    /// The growth.
    #[error("{text:?} is no growth: write 10%/month or 200%/year")]
    Growth {
        /// What was written.
        text: String,
    },
    /// The price.
    #[error("{text:?} is no price: write what a GB costs for a month, 0.10/GB")]
    Price {
        /// What was written.
        text: String,
    },
}

impl Capacity {
    /// Parses `1M/day` and `1TB`; nothing else uses the disk, the rate does not grow, and there is
    /// no price until one is given.
    ///
    /// # Errors
    /// Where one of the two can't be read, is 0, or is beyond anything real.
    pub fn parse(rate: &str, disk: &str) -> Result<Capacity, CapacityError> {
        let payloads_per_day =
            per_day(rate).ok_or_else(|| CapacityError::Rate { text: rate.to_owned() })?;
        let disk_bytes = quantity(disk.trim(), SIZE_UNITS)
            .filter(is_real)
            .ok_or_else(|| CapacityError::Disk { text: disk.to_owned() })?;
        Ok(Capacity {
            payloads_per_day,
            disk_bytes,
            overhead_share: 0.0,
            growth_per_month: 0.0,
            price_per_gb_month: None,
        })
    }

    /// The share of the disk that something else uses: `40%` or `0.4`, below all of it.
    ///
    /// # Errors
    /// Where the text is no such share.
    pub fn with_overhead(self, text: &str) -> Result<Capacity, CapacityError> {
        let share = share(text).filter(|share| (0.0..1.0).contains(share));
        let share = share.ok_or_else(|| CapacityError::Overhead { text: text.to_owned() })?;
        Ok(Capacity { overhead_share: share, ..self })
    }

    /// How much the rate grows: `10%/month`, or by the year. A rate that falls is negative.
    ///
    /// # Errors
    /// Where the text is no such growth, or is above 1,000 % a month.
    pub fn with_growth(self, text: &str) -> Result<Capacity, CapacityError> {
        let growth = growth(text).ok_or_else(|| CapacityError::Growth { text: text.to_owned() })?;
        Ok(Capacity { growth_per_month: growth, ..self })
    }

    /// What a GB (10^9 bytes) costs for a month: `0.10/GB`, in whatever currency.
    ///
    /// # Errors
    /// Where the text is no such price.
    pub fn with_price(self, text: &str) -> Result<Capacity, CapacityError> {
        let price = price(text).ok_or_else(|| CapacityError::Price { text: text.to_owned() })?;
        Ok(Capacity { price_per_gb_month: Some(price), ..self })
    }

    /// What payloads of this mean size make of the disk.
    pub fn row(&self, name: &str, role: &str, mean_packed_bytes: f64) -> CapacityRow {
        let bytes_per_day = self.payloads_per_day * mean_packed_bytes.max(0.0);
        let net_bytes = self.disk_bytes * (1.0 - self.overhead_share);
        CapacityRow {
            name: name.to_owned(),
            role: role.to_owned(),
            payload_bytes: mean_packed_bytes,
            bytes_per_day,
            days_gross: self.days_until(self.disk_bytes, bytes_per_day),
            days_net: self.days_until(net_bytes, bytes_per_day),
            bytes_after_year: bytes_per_day * self.days_of_input(YEAR_DAYS),
            price_of_year: self.price_per_gb_month.map(|price| {
                let byte_days: f64 =
                    (1..=YEAR_DAYS as u32).map(|day| self.days_of_input(f64::from(day))).sum();
                bytes_per_day * byte_days / MONTH_DAYS / GB * price
            }),
        }
    }

    /// The model with these rows.
    pub fn model(&self, rows: Vec<CapacityRow>) -> CapacityModel {
        CapacityModel {
            payloads_per_day: self.payloads_per_day,
            disk_bytes: self.disk_bytes,
            overhead_share: self.overhead_share,
            growth_per_month: self.growth_per_month,
            price_per_gb_month: self.price_per_gb_month,
            rows,
        }
    }

    /// The natural logarithm of a day's rate over that of the day before.
    fn daily_growth(&self) -> f64 {
        self.growth_per_month.ln_1p() / MONTH_DAYS
    }

    /// What comes in within this many days, in days of the first day's input. Each day brings a
    /// constant factor of the one before: (q^days - 1) / (q - 1).
    fn days_of_input(&self, days: f64) -> f64 {
        let growth = self.daily_growth();
        if growth == 0.0 { days } else { (growth * days).exp_m1() / growth.exp_m1() }
    }

    /// The days until this much is stored, at most [`DAYS_MAX`].
    fn days_until(&self, bytes: f64, bytes_per_day: f64) -> f64 {
        let days_of_input = bytes / bytes_per_day;
        let growth = self.daily_growth();
        let days = if growth == 0.0 {
            days_of_input
        } else {
            // A rate that falls may never fill the disk: the logarithm of what is not positive is
            // no number, which the comparison turns into the cap.
            (days_of_input * growth.exp_m1()).ln_1p() / growth
        };
        if days < DAYS_MAX { days } else { DAYS_MAX }
    }
}

/// Days as people read them: `51 days`, `3.4 years`, or `more than 1,000 years`. Days are rounded
/// down, because a disk that is full on the 52nd day lasts 51.
pub fn days_text(days: f64) -> String {
    // From here on days say less than years.
    const DAYS_TOLD_MAX: f64 = 3.0 * YEAR_DAYS;
    match days {
        days if days.is_nan() || days >= DAYS_MAX => "more than 1,000 years".to_owned(),
        days if days >= DAYS_TOLD_MAX => format!("{:.1} years", days / YEAR_DAYS),
        days if days >= 10.0 => format!("{:.0} days", days.floor()),
        days if days >= 1.0 => format!("{:.1} days", (days * 10.0).floor() / 10.0),
        days => format!("{:.1} hours", (days * 240.0).floor() / 10.0),
    }
}

fn is_real(value: &f64) -> bool {
    *value > 0.0 && *value <= QUANTITY_MAX
}

fn per_day(text: &str) -> Option<f64> {
    let (count, unit) = text.split_once('/')?;
    let per_day = PER_DAY.iter().find(|(name, _)| *name == unit.trim())?.1;
    Some(quantity(count.trim(), COUNT_UNITS)? * per_day).filter(is_real)
}

/// `40%` or `0.4`.
fn share(text: &str) -> Option<f64> {
    quantity(text.trim(), &[("%", 0.01), ("", 1.0)])
}

fn growth(text: &str) -> Option<f64> {
    let (amount, unit) = text.split_once('/').unwrap_or((text, "month"));
    let (amount, sign) = match amount.trim().strip_prefix('-') {
        Some(amount) => (amount, -1.0),
        None => (amount, 1.0),
    };
    // 10 is more likely 10 % than ten times as much, so it is asked for.
    if !amount.contains('%') && share(amount)? > 1.0 {
        return None;
    }
    let amount = sign * share(amount)?;
    let per_month = match unit.trim() {
        "month" => amount,
        "year" => (1.0 + amount).powf(1.0 / 12.0) - 1.0,
        _ => return None,
    };
    (per_month > -1.0 && per_month <= GROWTH_MAX).then_some(per_month)
}

fn price(text: &str) -> Option<f64> {
    let (amount, unit) = text.split_once('/')?;
    let amount = amount.trim().trim_start_matches(['$', '€', '£']);
    let scale = match unit.trim() {
        "GB" | "GB/month" => 1.0,
        "TB" | "TB/month" => 1e-3,
        "GiB" | "GiB/month" => GB / 1_073_741_824.0,
        _ => return None,
    };
    Some(quantity(amount, &[("", scale)])?).filter(|price| *price <= QUANTITY_MAX)
}

#[cfg(test)]
mod tests;
