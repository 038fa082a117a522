//! The link model: how long it takes until the other side can use a payload, which is what packing
//! for a network is about.

use super::{Cell, Column, Row, Table};
use crate::model::{Evaluation, LinkModel, LinkTrial};
use crate::report::human;

/// The timed trials over the link; nothing where no link was given.
pub(in crate::report) fn over(evaluation: &Evaluation) -> Option<Table> {
    let link = evaluation.link.as_ref()?;
    let rows = link.trials.iter().map(|trial| row(evaluation, trial)).collect();
    Table {
        id: "link".to_owned(),
        title: format!("Over the link {}", human::printable(&link.text)),
        caption: format!(
            "Until the other side can use a payload: pack, wire and unpack. {}",
            summary(link)
        ),
        columns: vec![
            Column::words("Trial", "Encoding, codec, level, dictionary"),
            Column::figure("Stored bytes", "Mean of a payload"),
            Column::figure("Flights", "Bursts that wait for an acknowledgement, mean"),
            Column::figure("Wire", "Mean time on the wire"),
            Column::figure("Until usable", "Pack, wire and unpack together, mean"),
            Column::figure("p50", "Half of the payloads take at most this"),
            Column::figure("p95", "95 % take at most this"),
            Column::figure("p99", "99 % take at most this"),
        ],
        rows,
    }
    .filled()
}

/// What the link is, in a sentence.
pub(in crate::report) fn summary(link: &LinkModel) -> String {
    format!(
        "{} a second, round trip {}, a {} connection{}.",
        human::bits(link.bits_per_second),
        human::time(link.round_trip_ns),
        if link.is_warm { "warm" } else { "new" },
        if link.has_tls { " with a TLS handshake first" } else { "" },
    )
}

fn row(evaluation: &Evaluation, trial: &LinkTrial) -> Row {
    let cells = vec![
        Cell::trial(evaluation, &trial.name),
        Cell::figure(trial.packed_bytes, human::size),
        Cell::figure(trial.flights, human::ratio),
        Cell::figure(trial.wire_ns.mean, human::time),
        Cell::figure(trial.total_ns.mean, human::time),
        Cell::figure(trial.total_ns.p50, human::time),
        Cell::figure(trial.total_ns.p95, human::time),
        Cell::figure(trial.total_ns.p99, human::time),
    ];
    Row::of(evaluation, &trial.name, cells)
}
