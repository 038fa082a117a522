//! What is added up under one key of a window: a count, and of values their sum, ends and
//! quantiles.
//!
//! Quantiles come from a DDSketch, whose error is relative to the value and which can be merged, so
//! that every worker has its own.

use std::fmt;

use sketches_ddsketch::{Config, DDSketch};

use super::MetricRule;

/// How far a quantile may be from the true one, as a share of it.
const SKETCH_ERROR: f64 = 0.01;

/// The most bins of a sketch, eight bytes each: enough for values of which the largest is 28,000
/// times the least. Beyond that the least ones share a bin.
const SKETCH_BINS_MAX: u32 = 512;

/// Smaller values count as zero.
const SKETCH_VALUE_MIN: f64 = 1e-9;

/// What was added up under one key.
#[derive(Debug, Clone)]
pub struct Sums {
    /// Records.
    pub count: u64,
    /// Values that were numbers.
    pub values: u64,
    /// Their sum.
    pub sum: f64,
    /// The least.
    pub min: f64,
    /// The largest.
    pub max: f64,
    sketch: Option<Box<Sketch>>,
}

#[derive(Clone)]
struct Sketch(DDSketch);

impl fmt::Debug for Sketch {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "a sketch of {} values", self.0.count())
    }
}

impl Default for Sums {
    fn default() -> Sums {
        let (min, max) = (f64::INFINITY, f64::NEG_INFINITY);
        Sums { count: 0, values: 0, sum: 0.0, min, max, sketch: None }
    }
}

impl Sums {
    /// Nothing yet, of what this rule wants.
    pub(super) fn of(rule: &MetricRule) -> Sums {
        let config = Config::new(SKETCH_ERROR, SKETCH_BINS_MAX, SKETCH_VALUE_MIN);
        let sketch = (!rule.quantiles.is_empty()).then(|| Box::new(Sketch(DDSketch::new(config))));
        Sums { sketch, ..Sums::default() }
    }

    pub(super) fn add(&mut self, value: Option<f64>) {
        self.count += 1;
        let Some(value) = value.filter(|value| value.is_finite()) else { return };
        self.values += 1;
        self.sum += value;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        if let Some(sketch) = &mut self.sketch {
            sketch.0.add(value);
        }
    }

    pub(super) fn merge(&mut self, other: &Sums) {
        self.count += other.count;
        self.values += other.values;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        match (&mut self.sketch, &other.sketch) {
            (Some(sketch), Some(other)) => {
                // It fails for sketches of another shape only, and all have the same one.
                let _merged = sketch.0.merge(&other.0);
            }
            (own, Some(other)) => *own = Some(other.clone()),
            (_, None) => {}
        }
    }

    /// The value that this share of all values does not exceed, to one hundredth of it; `None`
    /// where there are no values or the rule has no quantiles.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let found = self.sketch.as_ref()?.0.quantile(share).ok()??;
        // The ends are known exactly.
        Some(found.clamp(self.min, self.max))
    }
}
