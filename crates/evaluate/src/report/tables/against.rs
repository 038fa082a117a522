//! The comparison with an older run: each trial then and now, and what of it is beyond noise.
//!
//! What the older run measured is never measured again, so a figure of then has no interval.

use super::{Cell, Column, Row, Table};
use crate::model::{AgainstTrial, Evaluation};
use crate::report::human;

/// The trials that are in both runs; nothing where no older run was given.
pub(in crate::report) fn older(evaluation: &Evaluation) -> Option<Table> {
    let against = evaluation.against.as_ref()?;
    Table {
        id: "against".to_owned(),
        title: format!("Against {}", human::printable(&against.name)),
        caption: "A change is told only where it is beyond noise.".to_owned(),
        columns: vec![
            Column::words("Trial", "Encoding, codec, level, dictionary"),
            Column::figure("Stored then", "In % of the original"),
            Column::figure("Stored now", "In % of the original; the 95 % interval below"),
            Column::figure("Pack + unpack then", "Mean time of both together"),
            Column::figure("Pack + unpack now", "Mean time of both together"),
            Column::words("Change", "What is beyond noise"),
        ],
        rows: against.trials.iter().map(|trial| row(evaluation, trial)).collect(),
    }
    .filled()
}

fn row(evaluation: &Evaluation, trial: &AgainstTrial) -> Row {
    let now = Cell::figure(trial.packed_share_now, human::percent);
    let cells = vec![
        Cell::trial(evaluation, &trial.name),
        Cell::figure(trial.packed_share_then, human::percent),
        match &trial.packed_share_interval {
            Some(interval) => now.noted(human::percent_interval(interval.low, interval.high)),
            None => now,
        },
        Cell::figure(trial.time_then_ns, human::time),
        Cell::figure(trial.time_now_ns, human::time),
        trial.change.as_deref().map_or_else(Cell::nothing, Cell::text),
    ];
    Row::of(evaluation, &trial.name, cells)
}
