//! eBay's form: for each trial the payloads by size, with what each size costs, because a codec
//! that is good for large payloads can be a bad one for small ones.

use super::{Cell, Column, Row, Table};
use crate::model::{ClassTrial, Evaluation, SizeClass, Trial};
use crate::report::human;
use crate::report::view;

/// The most trials of this table: where more were timed, `classes.csv` has all of them.
const TRIALS: usize = 24;

/// The timed trials on each size class; nothing where classes were not timed.
pub(in crate::report) fn by_class(evaluation: &Evaluation) -> Option<Table> {
    let classes = &evaluation.corpus.classes;
    let mut names: Vec<&str> = Vec::new();
    for trial in classes.iter().flat_map(|class| &class.trials) {
        if !names.contains(&trial.name.as_str()) {
            names.push(&trial.name);
        }
    }
    // What is still in goes first, in the order of the model.
    names.sort_by_key(|name| {
        view::find(evaluation, name).is_some_and(|trial| trial.eliminated_by.is_some())
    });
    let more = names.len().saturating_sub(TRIALS);
    names.truncate(TRIALS);
    let mut rows = Vec::new();
    for name in names {
        for (order, class) in classes.iter().enumerate() {
            if let Some(figures) = class.trials.iter().find(|trial| trial.name == name) {
                rows.push(row(evaluation, (order, class), figures));
            }
        }
    }
    let mut caption = "Sizes and times are means of one payload of the class. The first call is a \
                       new context and one call, on a payload of median size."
        .to_owned();
    if more > 0 {
        let others = human::counted(more as u64, "trial");
        caption.push_str(&format!(" Only in classes.csv: {others}."));
    }
    Table {
        id: "ebay".to_owned(),
        title: "Trials by size class".to_owned(),
        caption,
        columns: vec![
            Column::words("Trial", "Encoding, codec, level, dictionary"),
            Column::words("Size class", "Payloads of about one size"),
            Column::figure("Payloads", "How many were timed"),
            Column::figure("Original", "Mean bytes as the application sees them"),
            Column::figure("Compressed", "Mean bytes as the codec leaves them"),
            Column::figure("Ratio", "Original over compressed"),
            Column::figure("Compress", "Encoded bytes to compressed bytes, mean"),
            Column::figure("Decompress", "Compressed bytes to encoded bytes, mean"),
            Column::figure("Total", "Compress and decompress together, mean"),
            Column::figure("First call", "A new context and its first call"),
        ],
        rows,
    }
    .filled()
}

fn row(evaluation: &Evaluation, (order, class): (usize, &SizeClass), on: &ClassTrial) -> Row {
    let payloads = on.payloads.max(1) as f64;
    let first = view::find(evaluation, &on.name)
        .filter(|_| holds_median(evaluation, order))
        .map(first_call)
        .filter(|first| *first > 0.0);
    let cells = vec![
        Cell::text(&on.name),
        Cell { sort: Some(order as f64), ..Cell::text(&class.name) },
        Cell::count(on.payloads),
        Cell::figure(on.bytes_in as f64 / payloads, human::size),
        Cell::figure(on.bytes_out as f64 / payloads, human::size),
        Cell::figure(on.ratio, human::ratio),
        Cell::figure(on.compress_ns.mean, human::time),
        Cell::figure(on.decompress_ns.mean, human::time),
        Cell::figure(on.compress_ns.mean + on.decompress_ns.mean, human::time),
        Cell::maybe(first, human::time),
    ];
    Row::of(evaluation, &on.name, cells)
}

/// Whether the payload of median size, which first calls are of, is in the class of this place.
fn holds_median(evaluation: &Evaluation, order: usize) -> bool {
    let median = evaluation.corpus.size.p50;
    let holds = |class: &SizeClass| class.max_bytes.is_none_or(|most| median <= most);
    evaluation.corpus.classes.iter().position(holds) == Some(order)
}

/// Where there are fresh processes, packing and unpacking there; else the call in this one.
fn first_call(trial: &Trial) -> f64 {
    match &trial.first_call {
        Some(first) => first.pack_p50_ns + first.unpack_p50_ns,
        None => trial.first_call_ns,
    }
}
