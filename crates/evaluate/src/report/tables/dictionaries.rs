//! What each dictionary brings and what it costs: bytes that have to reach every reader before the
//! first payload does, memory in every process, and the time to train it.

use super::{Cell, Column, Row, Table};
use crate::model::{DictionaryCost, Evaluation, Trial};
use crate::report::human;
use crate::report::view;

/// The trials with a dictionary; nothing where there are none.
pub(in crate::report) fn costs(evaluation: &Evaluation) -> Option<Table> {
    let trials = evaluation.trials.iter();
    let rows = trials
        .filter_map(|trial| Some(row(evaluation, trial, trial.dictionary_cost.as_ref()?)))
        .collect();
    Table {
        id: "dictionaries".to_owned(),
        title: "Dictionaries and what they cost".to_owned(),
        caption: "The gain is against the same trial without the dictionary, on payloads that did \
                  not train it; below it the 95 % interval."
            .to_owned(),
        columns: vec![
            Column::words("Trial", "The trial with the dictionary"),
            Column::figure("Gain", "How much smaller than without it; the 95 % interval below"),
            Column::figure("Stored", "Bytes as cinch stores them, in % of the original"),
            Column::figure("To distribute", "Bytes that every reader and writer needs"),
            Column::figure("Memory to pack", "Its form for packing, once per process"),
            Column::figure("Memory to unpack", "Its form for unpacking, once per process"),
            Column::figure("Build time", "Time to train it"),
            Column::figure("Trained on", "Payloads that trained it; their bytes below"),
            Column::words("Id", "What envelopes carry"),
        ],
        rows,
    }
    .filled()
}

fn row(evaluation: &Evaluation, trial: &Trial, cost: &DictionaryCost) -> Row {
    let interval = &cost.gain_interval;
    let cells = vec![
        Cell::trial(evaluation, &trial.name),
        Cell::figure(cost.gain, human::percent)
            .noted(human::percent_interval(interval.low, interval.high)),
        Cell::figure(view::stored_share(trial), human::percent),
        Cell::figure(cost.bytes as f64, human::size),
        Cell::figure(cost.compress_memory_bytes as f64, human::size),
        Cell::figure(cost.decompress_memory_bytes as f64, human::size),
        Cell::figure(cost.build_seconds * 1e9, human::time),
        Cell::count(cost.trained_on_payloads).noted(human::size(cost.trained_on_bytes as f64)),
        Cell::text(&cost.id),
    ];
    Row::of(evaluation, &trial.name, cells)
}
