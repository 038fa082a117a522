//! Tables of trials: the front, every timed trial, the untimed ones, and what was eliminated.
//!
//! A column is one line of a table below: its title, what explains it, and its figure. A cell
//! carries the figure as text for people and as a number for sorting.

use minijinja::{Value, context};

use super::text;
use crate::model::{Evaluation, Nanoseconds, Trial};
use crate::report::human::{self, NOTHING};
use crate::report::view;

/// A cell: what is shown, what is shown small below it, and what sorting compares.
struct Cell {
    main: String,
    note: String,
    sort: f64,
}

/// A column: its title, an explanation, and its cell.
struct Column {
    title: &'static str,
    about: &'static str,
    cell: fn(&Trial) -> Cell,
}

const SIZES: [Column; 3] = [
    Column {
        title: "Stored",
        about: "Bytes as cinch stores them, envelopes included, in % of the original",
        cell: |trial| one(view::stored_share(trial), human::percent),
    },
    Column {
        title: "Ratio",
        about: "Original bytes over compressed bytes, of all payloads together",
        cell: |trial| one(trial.ratio, human::ratio),
    },
    Column {
        title: "Median ratio",
        about: "The median over payloads of each one's own ratio",
        cell: |trial| one(trial.median_ratio, human::ratio),
    },
];

const WHOLE_TIMES: [Column; 2] = [
    Column {
        title: "Pack",
        about: "All between the application and the stored bytes; p50, and p99 below",
        cell: |trial| times(&trial.pack_ns, trial),
    },
    Column {
        title: "Unpack",
        about: "All the way back; p50, and p99 below",
        cell: |trial| times(&trial.unpack_ns, trial),
    },
];

const PART_TIMES: [Column; 6] = [
    Column {
        title: "Parse",
        about: "JSON text to the value; p50, and p99 below",
        cell: |trial| times(&trial.parse_ns, trial),
    },
    Column {
        title: "Encode",
        about: "Value to encoded bytes; p50, and p99 below",
        cell: |trial| times(&trial.encode_ns, trial),
    },
    Column {
        title: "Compress",
        about: "Encoded bytes to compressed bytes; p50, and p99 below",
        cell: |trial| times(&trial.compress_ns, trial),
    },
    Column {
        title: "Decompress",
        about: "Compressed bytes to encoded bytes; p50, and p99 below",
        cell: |trial| times(&trial.decompress_ns, trial),
    },
    Column {
        title: "Decode",
        about: "Encoded bytes to the value; p50, and p99 below",
        cell: |trial| times(&trial.decode_ns, trial),
    },
    Column {
        title: "Write",
        about: "Value to JSON text; p50, and p99 below",
        cell: |trial| times(&trial.write_ns, trial),
    },
];

const REST: [Column; 5] = [
    Column {
        title: "First call",
        about: "A new context and its first call",
        cell: |trial| one(trial.first_call_ns, human::time),
    },
    Column {
        title: "Memory",
        about: "What the contexts hold between calls",
        cell: |trial| one(trial.memory_bytes as f64, human::size),
    },
    Column {
        title: "Size factor",
        about: "Bytes compared with the baseline's",
        cell: |trial| one(trial.size_factor, human::factor),
    },
    Column {
        title: "Speed factor",
        about: "Time to pack and unpack compared with the baseline's",
        cell: |trial| one(trial.speed_factor, human::factor),
    },
    Column {
        title: "Spread",
        about: "The largest spread between rounds, as a share of the median",
        cell: |trial| one(trial.round_spread, human::percent),
    },
];

const TOGETHER: Column = Column {
    title: "Pack + unpack",
    about: "The mean time of both together, for one payload",
    cell: |trial| one(view::pack_unpack_ns(trial), human::time),
};

/// The trials of the front, in its order.
pub(super) fn front(evaluation: &Evaluation) -> Value {
    let trials =
        evaluation.front.iter().filter_map(|point| view::find(evaluation, &point.name)).collect();
    let factors = &REST[1..4];
    let columns = SIZES.iter().chain([&TOGETHER]).chain(&WHOLE_TIMES).chain(factors).collect();
    table(evaluation, trials, columns)
}

/// Every timed trial with every figure.
pub(super) fn timed(evaluation: &Evaluation) -> Value {
    let columns = SIZES.iter().chain(&WHOLE_TIMES).chain(&PART_TIMES).chain(&REST).collect();
    table(evaluation, view::timed(evaluation).collect(), columns)
}

/// The trials that only have sizes.
pub(super) fn untimed(evaluation: &Evaluation) -> Value {
    let trials = evaluation.trials.iter().filter(|trial| !view::is_timed(trial)).collect();
    table(evaluation, trials, SIZES.iter().chain(&REST[2..3]).collect())
}

/// The encodings and codecs that the table of timed trials can be filtered by.
pub(super) fn filters(evaluation: &Evaluation) -> Value {
    let unique = |of: fn(&Trial) -> &str| {
        let mut names: Vec<String> = view::timed(evaluation).map(|trial| text(of(trial))).collect();
        names.sort();
        names.dedup();
        names
    };
    let encodings = unique(|trial| &trial.encoding);
    context! { encodings => encodings, codecs => unique(|trial| &trial.codec) }
}

/// The rules with the trials they took out.
pub(super) fn eliminated(evaluation: &Evaluation) -> Vec<Value> {
    let row = |rule: view::Rule<'_>| {
        let name = |trial: &&Trial| {
            context! {
                name => text(&trial.name),
                why => trial.eliminated_by.as_deref().map(text),
            }
        };
        context! {
            rule => text(rule.name),
            meaning => rule.meaning,
            count => human::counted(rule.trials.len() as u64, "trial"),
            names => rule.trials.iter().map(name).collect::<Vec<_>>(),
        }
    };
    view::eliminated(evaluation).into_iter().map(row).collect()
}

fn table(evaluation: &Evaluation, trials: Vec<&Trial>, columns: Vec<&Column>) -> Value {
    let titles = columns.iter().map(|column| {
        context! { title => column.title, about => column.about }
    });
    let rows = trials.iter().map(|trial| {
        let standing = view::standing(evaluation, trial);
        let cells = columns.iter().map(|column| {
            let cell = (column.cell)(trial);
            context! { main => cell.main, note => cell.note, sort => sortable(cell.sort) }
        });
        context! {
            name => text(&trial.name),
            encoding => text(&trial.encoding),
            codec => text(&trial.codec),
            dictionary => trial.dictionary.as_deref().map(text),
            fidelity => text(&trial.fidelity),
            recommended => standing.recommended,
            words => standing.words(),
            eliminated_by => trial.eliminated_by.as_deref().map(text),
            remarks => remarks(trial),
            cells => cells.collect::<Vec<_>>(),
        }
    });
    context! {
        titles => titles.collect::<Vec<_>>(),
        count => trials.len(),
        rows => rows.collect::<Vec<_>>(),
    }
}

/// What a trial's figures do not say: what it could not carry, and what did not come back.
fn remarks(trial: &Trial) -> Vec<String> {
    let remark = |count: u64, what: &str, first: &Option<String>| {
        let first = first.as_deref().map(|first| format!(": {}", text(first))).unwrap_or_default();
        (count > 0).then(|| format!("{} {what}{first}", human::counted(count, "payload")))
    };
    let failed = remark(trial.failures, "did not come back", &trial.failure);
    let refused = remark(trial.refused, "refused", &trial.refusal);
    failed.into_iter().chain(refused).collect()
}

fn one(figure: f64, print: fn(f64) -> String) -> Cell {
    Cell { main: print(figure), note: String::new(), sort: figure }
}

fn times(times: &Nanoseconds, trial: &Trial) -> Cell {
    // A part that a trial does not have takes no time at all, and saying 0 ns would be a claim.
    if times.mean == 0.0 {
        return Cell { main: NOTHING.to_owned(), note: String::new(), sort: 0.0 };
    }
    let mark = if trial.p99_is_max { "*" } else { "" };
    let note = format!("{}{mark}", human::time(times.p99));
    Cell { main: human::time(times.p50), note, sort: times.p50 }
}

fn sortable(figure: f64) -> String {
    if figure.is_finite() { figure.to_string() } else { String::new() }
}
