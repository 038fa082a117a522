//! Expedia's form: each codec on the text as it is at its fastest, at its best within a budget on
//! compressing, and at its best, because a codec is not one point but a range.

use super::{Cell, Column, Row, Table};
use crate::budget::Budget;
use crate::model::{Evaluation, Nanoseconds, Trial};
use crate::report::human;
use crate::report::view;

/// The bound that Expedia published, where the user gave none: 20 ms.
const BOUND_NS: f64 = 20e6;

/// The statistic that it bounds.
const BOUND_STATISTIC: &str = "p95";

/// A trial with what it compresses in a second.
pub(in crate::report) struct Speed<'a> {
    /// The trial.
    pub(in crate::report) trial: &'a Trial,
    /// Bytes of the application per second.
    pub(in crate::report) bytes_per_second: f64,
}

/// The trials on the text as it is, without a dictionary, whose compressing was timed at all:
/// by codec, the levels in their order.
pub(in crate::report) fn speeds(evaluation: &Evaluation) -> Vec<Speed<'_>> {
    let is_one = |trial: &&Trial| {
        trial.encoding == "verbatim"
            && trial.codec != "stored"
            && trial.dictionary.is_none()
            && trial.compress_ns.mean > 0.0
            && trial.payloads > 0
    };
    let mut trials: Vec<&Trial> = evaluation.trials.iter().filter(is_one).collect();
    trials.sort_by(|left, right| (&left.codec, left.level).cmp(&(&right.codec, right.level)));
    let speed = |trial: &Trial| {
        trial.bytes_in as f64 / trial.payloads as f64 / trial.compress_ns.mean * 1e9
    };
    trials.into_iter().map(|trial| Speed { trial, bytes_per_second: speed(trial) }).collect()
}

/// The table; nothing where no codec was timed on the text as it is.
pub(in crate::report) fn by_codec(evaluation: &Evaluation) -> Option<Table> {
    let (statistic, bound_ns, origin) = bound(evaluation);
    let speeds = speeds(evaluation);
    let mut rows = Vec::new();
    for codec in speeds.chunk_by(|left, right| left.trial.codec == right.trial.codec) {
        let fastest = codec
            .iter()
            .min_by(|a, b| a.trial.compress_ns.mean.total_cmp(&b.trial.compress_ns.mean));
        let best = |within: f64| {
            let fits = |one: &&Speed<'_>| at(&one.trial.compress_ns, statistic) <= within;
            codec.iter().filter(fits).max_by(|a, b| a.trial.ratio.total_cmp(&b.trial.ratio))
        };
        for (order, (what, chosen)) in
            [("fastest", fastest), ("within the budget", best(bound_ns)), ("best", best(f64::MAX))]
                .into_iter()
                .enumerate()
        {
            rows.push(row(evaluation, &codec[0].trial.codec, (order, what), chosen));
        }
    }
    let caption = format!(
        "Every codec on the text as it is: the level that compresses fastest, the one with the \
         best ratio whose compressing takes at most {} ({statistic}, {origin}), and the one with \
         the best ratio. Sizes are without an envelope.",
        human::time(bound_ns),
    );
    Table {
        id: "expedia".to_owned(),
        title: "Each codec at its fastest, within the budget, and at its best".to_owned(),
        caption,
        columns: vec![
            Column::words("Codec", "The codec"),
            Column::words("At its", "Which of its levels"),
            Column::figure("Level", "The level"),
            Column::figure("Compressed", "Bytes as the codec leaves them, in % of the original"),
            Column::figure("Ratio", "Original over compressed"),
            Column::figure("Compress", "Mean time to compress a payload; p95 below"),
            Column::figure("MB/s", "Original bytes (10^6) per second of compressing"),
        ],
        rows,
    }
    .filled()
}

fn row(
    evaluation: &Evaluation,
    codec: &str,
    (order, what): (usize, &str),
    chosen: Option<&Speed<'_>>,
) -> Row {
    let mut cells = vec![Cell::text(codec), Cell { sort: Some(order as f64), ..Cell::text(what) }];
    let Some(Speed { trial, bytes_per_second }) = chosen else {
        cells.extend((0..5).map(|_| Cell::nothing()));
        return Row::plain(cells);
    };
    let p95 = human::time(trial.compress_ns.p95);
    let rough = if view::is_timed(trial) { "" } else { ", one pass" };
    cells.extend([
        Cell {
            text: trial.level.to_string(),
            ..Cell::figure(f64::from(trial.level), human::figure)
        },
        Cell::figure(trial.bytes_out as f64 / trial.bytes_in as f64, human::percent),
        Cell::figure(trial.ratio, human::ratio),
        Cell::figure(trial.compress_ns.mean, human::time).noted(format!("{p95}{rough}")),
        Cell::figure(bytes_per_second / 1e6, human::figure),
    ]);
    Row::of(evaluation, &trial.name, cells)
}

/// The bound on compressing: its statistic, its nanoseconds, and where it comes from.
fn bound(evaluation: &Evaluation) -> (&'static str, f64, &'static str) {
    let given =
        evaluation.budgets.iter().filter_map(|text| Budget::parse(text).ok()?.on_compress());
    match given.min_by(|a, b| a.1.total_cmp(&b.1)) {
        Some((statistic, bound_ns)) => (statistic, bound_ns, "the budget given"),
        None => (BOUND_STATISTIC, BOUND_NS, "as Expedia published it, for want of a budget"),
    }
}

fn at(times: &Nanoseconds, statistic: &str) -> f64 {
    match statistic {
        "mean" => times.mean,
        "p50" => times.p50,
        "p95" => times.p95,
        _ => times.p99,
    }
}
