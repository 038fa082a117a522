//! Axes: where a figure stands in the picture, and which round figures get a tick.
//!
//! A scale is never empty: one figure, equal figures and no figures all give a usable axis.

/// A position along one axis for every figure.
#[derive(Debug, Clone, Copy)]
pub(in crate::report) struct Scale {
    logarithmic: bool,
    /// Figures at the ends, as logarithms where the axis is logarithmic.
    ends: (f64, f64),
    /// Positions of the ends.
    places: (f64, f64),
}

impl Scale {
    /// An axis in equal factors, with some room around the figures.
    pub(in crate::report) fn logarithmic(figures: &[f64], places: (f64, f64)) -> Scale {
        let (low, high) = bounds(figures).unwrap_or((1.0, 10.0));
        let (mut low, mut high) = (low.log10(), high.log10());
        let room = ((high - low) * 0.06).max(0.06);
        (low, high) = (low - room, high + room);
        // Less than half a decade would blow differences up that mean nothing.
        let missing = (0.5 - (high - low)).max(0.0) / 2.0;
        Scale { logarithmic: true, ends: (low - missing, high + missing), places }
    }

    /// An axis in equal steps from zero.
    pub(in crate::report) fn linear(figures: &[f64], places: (f64, f64)) -> Scale {
        let (_, high) = bounds(figures).unwrap_or((1.0, 1.0));
        Scale { logarithmic: false, ends: (0.0, high * 1.08), places }
    }

    /// Equal steps where the figures are of one magnitude, else equal factors.
    pub(super) fn fitting(figures: &[f64], places: (f64, f64)) -> Scale {
        match bounds(figures) {
            Some((low, high)) if high / low > 4.0 => Scale::logarithmic(figures, places),
            _ => Scale::linear(figures, places),
        }
    }

    /// Whether equal distances are equal factors.
    pub(super) fn is_logarithmic(&self) -> bool {
        self.logarithmic
    }

    /// Where a figure stands.
    pub(in crate::report) fn place(&self, figure: f64) -> f64 {
        let value = if self.logarithmic { figure.log10() } else { figure };
        let share = (value - self.ends.0) / (self.ends.1 - self.ends.0);
        self.places.0 + share * (self.places.1 - self.places.0)
    }

    /// At most `most` round figures of the axis, as many as that allows.
    pub(in crate::report) fn ticks(&self, most: usize) -> Vec<f64> {
        if self.logarithmic { self.round_factors(most) } else { self.round_steps(most) }
    }

    fn round_factors(&self, most: usize) -> Vec<f64> {
        let decades = (self.ends.0.floor() as i32)..=(self.ends.1.ceil() as i32);
        let mantissas: [&[f64]; 4] =
            [&[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0], &[1.0, 2.0, 3.0, 5.0], &[1.0, 2.0, 5.0], &[1.0]];
        let choice = |mantissas: &[f64], stride: i32| -> Vec<f64> {
            let chosen = decades.clone().filter(|decade| decade % stride == 0);
            chosen
                .flat_map(|decade| mantissas.iter().map(move |one| one * 10f64.powi(decade)))
                .filter(|figure| (self.ends.0..=self.ends.1).contains(&figure.log10()))
                .collect()
        };
        let dense = mantissas.iter().map(|mantissas| choice(mantissas, 1));
        let sparse = (2..40).map(|stride| choice(&[1.0], stride));
        dense.chain(sparse).find(|ticks| ticks.len() <= most).unwrap_or_default()
    }

    fn round_steps(&self, most: usize) -> Vec<f64> {
        let rough = (self.ends.1 - self.ends.0) / most.max(1) as f64;
        let magnitude = 10f64.powf(rough.log10().floor());
        let factors = [1.0, 2.0, 2.5, 5.0, 10.0];
        let step = factors.iter().map(|factor| factor * magnitude).find(|step| *step >= rough);
        let step = step.unwrap_or(magnitude * 10.0);
        let count = ((self.ends.1 - self.ends.0) / step).floor() as usize;
        (0..=count).map(|index| self.ends.0 + index as f64 * step).collect()
    }
}

fn bounds(figures: &[f64]) -> Option<(f64, f64)> {
    let low = figures.iter().copied().reduce(f64::min)?;
    let high = figures.iter().copied().reduce(f64::max)?;
    Some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        let scale = Scale::logarithmic(&[50.0, 3e9], (0.0, 900.0));
        assert_eq!(scale.ticks(9), [1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]);
        assert_eq!(scale.ticks(4), [1e2, 1e4, 1e6, 1e8]);
        let scale = Scale::logarithmic(&[12_000.0, 70_000.0], (0.0, 900.0));
        assert_eq!(scale.ticks(8), [15e3, 20e3, 30e3, 40e3, 50e3, 70e3]);
        let scale = Scale::linear(&[0.12, 0.3], (0.0, 400.0));
        assert_eq!(scale.ticks(7).len(), 7);
    }

    #[test]
    fn every_axis_is_usable() {
        for figures in [&[][..], &[5.0], &[5.0, 5.0], &[0.003, 1.25]] {
            let places = (10.0, 100.0);
            for scale in [Scale::logarithmic(figures, places), Scale::fitting(figures, places)] {
                assert!(!scale.ticks(6).is_empty());
                for figure in figures {
                    assert!((10.0..=100.0).contains(&scale.place(*figure)));
                }
            }
        }
    }
}
