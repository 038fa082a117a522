//! Charts of how payload sizes and times are spread: one chart for each of stored bytes, packing
//! and unpacking, with a line for each trial that one compares.
//!
//! The axis across gives every quantile the same room, so that the tail, which has few payloads
//! and hurts most, can be seen at all.

use super::chart::{Chart, Line, Point, drawn};
use super::scale::Scale;
use crate::model::{Evaluation, Spread};
use crate::report::human;
use crate::report::tables::spread;

/// Quantiles that get a label; all of them would cover each other.
const LABELLED: [f64; 6] = [0.0, 0.1, 0.5, 0.9, 0.99, 1.0];

/// The class of the line of payloads as the application has them.
pub(in crate::report) const ORIGINAL_CLASS: &str = "q5";

/// The charts; none where no spread was kept.
pub(in crate::report) fn distributions(evaluation: &Evaluation) -> Vec<String> {
    let series = spread::series(evaluation);
    if series.is_empty() || evaluation.quantiles.len() < 2 {
        return Vec::new();
    }
    let size = &evaluation.corpus.size;
    let original =
        [(0.0, size.min), (0.5, size.p50), (0.95, size.p95), (0.99, size.p99), (1.0, size.max)];
    let of = |list: fn(&Spread) -> &Vec<f64>| -> Vec<(String, Vec<(f64, f64)>)> {
        let lines = series.iter().enumerate().map(|(index, (_, spread))| {
            let pairs = evaluation.quantiles.iter().copied().zip(list(spread).iter().copied());
            (format!("q{index}"), pairs.collect())
        });
        lines.collect()
    };
    let mut sizes = of(|spread| &spread.packed_bytes);
    let bytes = original.map(|(share, bytes)| (share, bytes as f64)).to_vec();
    sizes.push((ORIGINAL_CLASS.to_owned(), bytes));
    let charts = [
        ("Bytes of a payload", sizes, human::size as fn(f64) -> String),
        ("Time to pack a payload", of(|spread| &spread.pack_ns), human::time),
        ("Time to unpack a payload", of(|spread| &spread.unpack_ns), human::time),
    ];
    charts
        .into_iter()
        .map(|(title, lines, print)| drawn(&chart(evaluation, title, lines, print)))
        .collect()
}

fn chart(
    evaluation: &Evaluation,
    title: &str,
    lines: Vec<(String, Vec<(f64, f64)>)>,
    print: fn(f64) -> String,
) -> Chart {
    let quantiles = &evaluation.quantiles;
    let across = |share: f64| {
        let place = quantiles.iter().position(|known| *known == share)?;
        Some(place as f64 / (quantiles.len() - 1) as f64)
    };
    let is_drawable = |figure: &f64| figure.is_finite() && *figure > 0.0;
    let figures: Vec<f64> =
        lines.iter().flat_map(|line| &line.1).map(|pair| pair.1).filter(is_drawable).collect();
    let up = Scale::logarithmic(&figures, (0.0, 1.0));
    let line = |(class, pairs): (String, Vec<(f64, f64)>)| Line {
        class,
        points: pairs
            .into_iter()
            .filter(|(_, figure)| is_drawable(figure))
            .filter_map(|(share, figure)| {
                let facts = format!("{}: {}", spread::name(share), print(figure));
                Some(Point { place: (across(share)?, up.place(figure)), facts })
            })
            .collect(),
        name: None,
    };
    Chart {
        title: title.to_owned(),
        across: "share of the payloads, the tail stretched".to_owned(),
        across_ticks: LABELLED
            .iter()
            .filter_map(|&share| Some((across(share)?, spread::name(share))))
            .collect(),
        up_ticks: up
            .ticks(6)
            .into_iter()
            .map(|figure| (up.place(figure), super::axes::without_zeros(&print(figure))))
            .collect(),
        lines: lines.into_iter().map(line).collect(),
    }
}
