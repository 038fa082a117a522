//! The capacity model: days until a disk is full, and what a year costs, in the form in which Uber
//! argued for packing at all.

use super::{Cell, Column, Row, Table};
use crate::model::{CapacityModel, CapacityRow, Evaluation};
use crate::report::human;

/// The rows of the disk; nothing where no disk was given.
pub(in crate::report) fn on_disk(evaluation: &Evaluation) -> Option<Table> {
    let capacity = evaluation.capacity.as_ref()?;
    let has_price = capacity.rows.iter().any(|row| row.price_of_year.is_some());
    let mut columns = vec![
        Column::words("Trial", "Encoding, codec, level, dictionary"),
        Column::words("Which is", "What it stands for"),
        Column::figure("Payload", "Mean stored bytes"),
        Column::figure("Per day", "Bytes that come in on the first day"),
        Column::figure("Days gross", "Until the whole disk is full"),
        Column::figure("Days net", "Until the disk less its overhead is full"),
        Column::figure("After a year", "Bytes stored"),
    ];
    if has_price {
        columns.push(Column::figure("Price of a year", "In the currency of the price given"));
    }
    let rows = capacity.rows.iter().map(|one| row(evaluation, one, has_price)).collect();
    Table {
        id: "capacity".to_owned(),
        title: "Until the disk is full".to_owned(),
        caption: summary(capacity),
        columns,
        rows,
    }
    .filled()
}

/// What was assumed, in a sentence.
pub(in crate::report) fn summary(capacity: &CapacityModel) -> String {
    let growth = match capacity.growth_per_month {
        0.0 => "no growth".to_owned(),
        growth => format!("{} more each month", human::percent(growth)),
    };
    let price = match capacity.price_per_gb_month {
        Some(price) => format!(", {} per GB (10^9 bytes) and month", human::figure(price)),
        None => String::new(),
    };
    format!(
        "{} payloads a day, {growth}, on {}, {} of which something else uses{price}.",
        human::whole(capacity.payloads_per_day),
        human::size(capacity.disk_bytes),
        human::percent(capacity.overhead_share),
    )
}

fn row(evaluation: &Evaluation, row: &CapacityRow, has_price: bool) -> Row {
    let mut cells = vec![
        Cell::text(&row.name),
        Cell::text(&row.role),
        Cell::figure(row.payload_bytes, human::size),
        Cell::figure(row.bytes_per_day, human::size),
        Cell::figure(row.days_gross, human::days),
        Cell::figure(row.days_net, human::days),
        Cell::figure(row.bytes_after_year, human::size),
    ];
    if has_price {
        cells.push(Cell::maybe(row.price_of_year, human::money));
    }
    Row::of(evaluation, &row.name, cells)
}
