//! Budgets: bounds that a trial has to keep, such as `compress_p99=20ms`.
//!
//! A budget fails closed: what has to keep the bound is the upper end of the figure's 95 %
//! interval, and below 299 payloads a p99 is the maximum.

use std::fmt;

use crate::bootstrap::Resamples;
use crate::measure::{Steps, TimedFrom, Tracked};
use crate::statistics::{P99_COUNT_MIN, Weighted, mean};

/// A bound on one figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Budget {
    text: String,
    figure: Figure,
    limit: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Figure {
    Time(Step, Statistic),
    FirstCall,
    MemoryBytes,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Step {
    Encode,
    Compress,
    Decompress,
    Decode,
    Pack,
    Unpack,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Statistic {
    Mean,
    P50,
    P95,
    P99,
}

const STEPS: &[(&str, Step)] = &[
    ("encode", Step::Encode),
    ("compress", Step::Compress),
    ("decompress", Step::Decompress),
    ("decode", Step::Decode),
    ("pack", Step::Pack),
    ("unpack", Step::Unpack),
];

const STATISTICS: &[(&str, Statistic)] = &[
    ("mean", Statistic::Mean),
    ("p50", Statistic::P50),
    ("p95", Statistic::P95),
    ("p99", Statistic::P99),
];

const TIME_UNITS: &[(&str, f64)] =
    &[("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];

const SIZE_UNITS: &[(&str, f64)] = &[
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("B", 1.0),
];

/// A text that is no budget.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is no budget: write {{encode|compress|decompress|decode|pack|unpack}}_\
     {{mean|p50|p95|p99}}=20ms, first_call=1ms or memory=1MB"
)]
pub struct BudgetError {
    text: String,
}

impl Budget {
    /// Parses `compress_p99=20ms` and its like.
    pub fn parse(text: &str) -> Result<Budget, BudgetError> {
        let error = || BudgetError { text: text.to_owned() };
        let (name, limit) = text.split_once('=').ok_or_else(error)?;
        let figure = match name.trim() {
            "first_call" => Figure::FirstCall,
            "memory" => Figure::MemoryBytes,
            name => {
                let (step, statistic) = name.rsplit_once('_').ok_or_else(error)?;
                let step = find(STEPS, step).ok_or_else(error)?;
                Figure::Time(step, find(STATISTICS, statistic).ok_or_else(error)?)
            }
        };
        let units = if figure == Figure::MemoryBytes { SIZE_UNITS } else { TIME_UNITS };
        let limit = quantity(limit.trim(), units).ok_or_else(error)?;
        Ok(Budget { text: text.to_owned(), figure, limit })
    }

    /// Whether this bounds the first call.
    pub fn is_on_first_call(&self) -> bool {
        self.figure == Figure::FirstCall
    }

    /// The statistic and the bound in nanoseconds, where this bounds the time to compress.
    pub fn on_compress(&self) -> Option<(&'static str, f64)> {
        let Figure::Time(Step::Compress, bounded) = self.figure else { return None };
        let named = STATISTICS.iter().find(|(_, statistic)| *statistic == bounded);
        named.map(|(name, _)| (*name, self.limit))
    }

    /// The rule that takes a trial out, if it breaks this budget. The resamples are of the payloads
    /// that the trial was timed on.
    pub fn broken_by(
        &self,
        tracked: &Tracked,
        resamples: &Resamples,
        from: TimedFrom,
    ) -> Option<String> {
        let (value, upper) = match self.figure {
            Figure::FirstCall => {
                let slowest = |call: crate::model::FirstCall| call.pack_max_ns + call.unpack_max_ns;
                (tracked.first_call_ns, tracked.first_call.map_or(tracked.first_call_ns, slowest))
            }
            Figure::MemoryBytes => {
                let bytes = (tracked.memory_bytes.0 + tracked.memory_bytes.1) as f64;
                (bytes, bytes)
            }
            Figure::Time(step, statistic) => {
                let candidate = &tracked.candidate;
                let times = tracked.per_payload(|steps: &Steps| match step {
                    Step::Encode => steps.encode,
                    Step::Compress => steps.compress,
                    Step::Decompress => steps.decompress,
                    Step::Decode => steps.decode,
                    Step::Pack => steps.totals(candidate, from).0,
                    Step::Unpack => steps.totals(candidate, from).1,
                });
                statistic.with_upper_bound(&times, resamples)
            }
        };
        let text = |value: f64| match self.figure {
            Figure::MemoryBytes => format!("{value} bytes"),
            _ => format!("{:.3} ms", value / 1e6),
        };
        let up_to = match text(upper) == text(value) {
            true => String::new(),
            false => format!(", and up to {} within its interval", text(upper)),
        };
        (upper > self.limit)
            .then(|| format!("budget {}: it takes {}{up_to}", self.text, text(value)))
    }
}

impl Statistic {
    /// The statistic of one time per payload, and the upper end of its 95 % interval.
    fn with_upper_bound(self, times: &[f64], resamples: &Resamples) -> (f64, f64) {
        let share = match self {
            Statistic::Mean => {
                let ones = vec![1.0; times.len()];
                let is_known = resamples.payloads() == times.len();
                let upper = is_known.then(|| resamples.ratio_of_sums(times, &ones).high);
                let value = mean(times);
                return (value, upper.filter(|upper| upper.is_finite()).unwrap_or(value));
            }
            Statistic::P50 => 0.5,
            Statistic::P95 => 0.95,
            Statistic::P99 if times.len() < P99_COUNT_MIN => 1.0,
            Statistic::P99 => 0.99,
        };
        let weighted = Weighted::new(times);
        let value = weighted.percentile(share, |_| 1);
        if resamples.payloads() != times.len() || share == 1.0 {
            return (value, value);
        }
        let interval = resamples.interval(|counts| weighted.percentile(share, |i| counts[i]));
        (value, if interval.high.is_finite() { interval.high } else { value })
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn find<T: Copy>(table: &[(&str, T)], name: &str) -> Option<T> {
    table.iter().find(|(known, _)| *known == name).map(|&(_, found)| found)
}

/// A number and a unit.
pub(crate) fn quantity(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: f64 = number.parse().ok()?;
    Some(number * find(units, unit.trim())?)
}

/// Parses a time such as `60s` or `2m` into seconds.
pub fn parse_seconds(text: &str) -> Option<f64> {
    let units = [("s", 1.0), ("m", 60.0), ("min", 60.0), ("h", 3600.0), ("ms", 1e-3), ("", 1.0)];
    quantity(text.trim(), &units).filter(|&seconds| seconds > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_read_with_their_units() {
        let limit = |text| Budget::parse(text).map(|budget| budget.limit);
        assert_eq!(limit("compress_p99=20ms"), Ok(20e6));
        assert_eq!(limit("unpack_mean=1.5us"), Ok(1500.0));
        assert_eq!(limit("first_call=1s"), Ok(1e9));
        assert_eq!(limit("memory=2MiB"), Ok(2_097_152.0));
        for text in ["", "compress_p99", "compress_p98=1ms", "compress_p99=20", "memory=1ms"] {
            assert!(Budget::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_are_read_in_seconds() {
        assert_eq!(parse_seconds("60s"), Some(60.0));
        assert_eq!(parse_seconds("2m"), Some(120.0));
        assert_eq!(parse_seconds("30"), Some(30.0));
        assert_eq!(parse_seconds("0s"), None);
        assert_eq!(parse_seconds("soon"), None);
    }
}
