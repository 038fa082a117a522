//! How payload sizes and times are spread, for the trials that one compares: what the pictures of
//! the page show, as figures.

use super::{Cell, Column, Row, Table};
use crate::model::{Evaluation, Spread, Trial};
use crate::report::human;
use crate::report::view;

/// How many trials a picture holds before lines can't be told apart.
const SERIES: usize = 5;

/// The shares that the table tells; the pictures show all.
const SHARES: [f64; 6] = [0.0, 0.5, 0.95, 0.99, 0.999, 1.0];

/// The trials whose spread is shown: the recommended one, the runner-up, the baseline, controls.
pub(in crate::report) fn series(evaluation: &Evaluation) -> Vec<(&Trial, &Spread)> {
    let whole = |spread: &&Spread| {
        let count = evaluation.quantiles.len();
        [&spread.packed_bytes, &spread.pack_ns, &spread.unpack_ns].iter().all(|l| l.len() == count)
    };
    let mut series: Vec<(&Trial, &Spread)> = evaluation
        .trials
        .iter()
        .filter_map(|trial| Some((trial, trial.spread.as_ref().filter(whole)?)))
        .filter(|(trial, _)| {
            let standing = view::standing(evaluation, trial);
            standing.recommended || standing.runner_up || standing.baseline || standing.control
        })
        .collect();
    series.sort_by_key(|(trial, _)| {
        let standing = view::standing(evaluation, trial);
        (!standing.recommended, !standing.runner_up, !standing.baseline)
    });
    series.truncate(SERIES);
    series
}

/// The table; nothing where no spread was kept.
pub(in crate::report) fn quantiles(evaluation: &Evaluation) -> Option<Table> {
    let places: Vec<usize> = SHARES
        .iter()
        .filter_map(|share| evaluation.quantiles.iter().position(|known| known == share))
        .collect();
    let title = |place: usize| name(evaluation.quantiles[place]);
    let mut columns = vec![
        Column::words("Trial", "Encoding, codec, level, dictionary"),
        Column::words("Of", "What is spread"),
    ];
    columns.extend(places.iter().map(|&place| {
        Column::figure(&title(place), "That share of the payloads takes at most this")
    }));
    let mut rows = Vec::new();
    for (trial, spread) in series(evaluation) {
        for (what, figures, print) in [
            ("stored bytes", &spread.packed_bytes, human::size as fn(f64) -> String),
            ("pack", &spread.pack_ns, human::time),
            ("unpack", &spread.unpack_ns, human::time),
        ] {
            let mut cells = vec![Cell::text(&trial.name), Cell::text(what)];
            cells.extend(places.iter().map(|&place| Cell::figure(figures[place], print)));
            rows.push(Row::of(evaluation, &trial.name, cells));
        }
    }
    Table {
        id: "spread".to_owned(),
        title: "Spread over payloads".to_owned(),
        caption: "Each payload's median over the rounds.".to_owned(),
        columns,
        rows,
    }
    .filled()
}

/// A share of the payloads as the name of a quantile.
pub(in crate::report) fn name(share: f64) -> String {
    match share {
        0.0 => "least".to_owned(),
        1.0 => "most".to_owned(),
        share => format!(
            "{} %",
            human::figure((share * 1e5).round() / 1e3).trim_end_matches('0').trim_end_matches('.')
        ),
    }
}
