//! Expedia's picture: what each codec compresses in a second against its ratio, a line for each
//! codec through its levels.

use super::chart::{Chart, Line, Point, drawn};
use super::palette::Palette;
use super::scale::Scale;
use crate::model::Evaluation;
use crate::report::human;
use crate::report::tables::expedia;

/// The chart; nothing where no codec was timed on the text as it is.
pub(in crate::report) fn speed(evaluation: &Evaluation) -> Option<String> {
    let speeds = expedia::speeds(evaluation);
    let across: Vec<f64> = speeds.iter().map(|one| one.bytes_per_second() / 1e6).collect();
    let up: Vec<f64> = speeds.iter().map(expedia::Speed::ratio).collect();
    if speeds.is_empty() {
        return None;
    }
    let (x, y) = (Scale::logarithmic(&across, (0.0, 1.0)), Scale::fitting(&up, (0.0, 1.0)));
    let mut palette = Palette::default();
    let lines = speeds.chunk_by(|left, right| left.trial.codec == right.trial.codec).map(|codec| {
        let name = &codec[0].trial.codec;
        let point = |one: &expedia::Speed<'_>| Point {
            place: (x.place(one.bytes_per_second() / 1e6), y.place(one.ratio())),
            facts: format!(
                "{}: ratio {}, {} MB/s",
                one.trial.name,
                human::ratio(one.ratio()),
                human::figure(one.bytes_per_second() / 1e6)
            ),
        };
        Line {
            class: format!("s{0} f{0}", palette.class(name)),
            points: codec.iter().map(point).collect(),
            name: Some(human::shortened(name, 16)),
        }
    });
    let lines = lines.collect();
    let ticks = |scale: &Scale, most: usize| -> Vec<(f64, String)> {
        let label = |figure: f64| super::axes::without_zeros(&human::figure(figure));
        scale.ticks(most).into_iter().map(|figure| (scale.place(figure), label(figure))).collect()
    };
    Some(drawn(&Chart {
        title: "Ratio against compression speed".to_owned(),
        across: "original MB compressed in a second →".to_owned(),
        across_ticks: ticks(&x, 6),
        up_ticks: ticks(&y, 6),
        lines,
    }))
}
