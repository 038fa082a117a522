//! The net gain: what packing still adds in front of a store that compresses by itself, because
//! compressing twice gains little at rest and much on the network.

use super::{Cell, Column, Row, Table};
use crate::model::{BehindModel, BehindRow, Evaluation};
use crate::report::human;

/// A table for each store that was named.
pub(in crate::report) fn stores(evaluation: &Evaluation) -> Vec<Table> {
    let tables = evaluation.behind.iter().enumerate();
    tables.filter_map(|(index, behind)| table(evaluation, index, behind)).collect()
}

fn table(evaluation: &Evaluation, index: usize, behind: &BehindModel) -> Option<Table> {
    Table {
        id: format!("behind-{}", index + 1),
        title: format!("Behind: {}", human::printable(&behind.name)),
        caption: format!(
            "{} Modelled on {} of {}.",
            human::printable(&behind.summary),
            human::counted(behind.payloads, "payload"),
            human::size(behind.bytes_in as f64),
        ),
        columns: vec![
            Column::words("Trial", "Encoding, codec, level, dictionary"),
            Column::figure("On the network", "Bytes between client and store"),
            Column::figure("Less", "How much less than without packing"),
            Column::figure("At rest", "Bytes after the store's own compression"),
            Column::figure("Less at rest", "How much less than without packing; below 0 is more"),
        ],
        rows: behind.rows.iter().map(|one| row(evaluation, one)).collect(),
    }
    .filled()
}

fn row(evaluation: &Evaluation, row: &BehindRow) -> Row {
    let cells = vec![
        Cell::trial(evaluation, &row.name),
        Cell::figure(row.network_bytes as f64, human::size),
        Cell::figure(row.network_gain, human::percent),
        Cell::figure(row.at_rest_bytes as f64, human::size),
        Cell::figure(row.at_rest_gain, human::percent),
    ];
    Row::of(evaluation, &row.name, cells)
}
