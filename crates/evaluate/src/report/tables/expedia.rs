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

/// A timed trial with its sizes on the payloads that were timed. The trial's own sizes are of the
/// last stage it went through, so that those of two levels may be of different payloads.
pub(in crate::report) struct Speed<'a> {
    /// The trial.
    pub(in crate::report) trial: &'a Trial,
    payloads: f64,
    bytes_in: f64,
    bytes_out: f64,
}

impl Speed<'_> {
    /// Original bytes over compressed bytes.
    pub(in crate::report) fn ratio(&self) -> f64 {
        self.bytes_in / self.bytes_out
    }

    /// Original bytes per second of compressing.
    pub(in crate::report) fn bytes_per_second(&self) -> f64 {
        self.bytes_in / self.payloads / self.trial.compress_ns.mean * 1e9
    }

    fn of<'a>(evaluation: &Evaluation, trial: &'a Trial) -> Speed<'a> {
        let classes = evaluation.corpus.classes.iter().flat_map(|class| &class.trials);
        let none = Speed { trial, payloads: 0.0, bytes_in: 0.0, bytes_out: 0.0 };
        let timed = classes.filter(|one| one.name == trial.name).fold(none, |sum, one| Speed {
            trial,
            payloads: sum.payloads + one.payloads as f64,
            bytes_in: sum.bytes_in + one.bytes_in as f64,
            bytes_out: sum.bytes_out + one.bytes_out as f64,
        });
        match timed.payloads {
            0.0 => Speed {
                trial,
                payloads: trial.payloads as f64,
                bytes_in: trial.bytes_in as f64,
                bytes_out: trial.bytes_out as f64,
            },
            _ => timed,
        }
    }
}

/// The timed trials on the text as it is, without a dictionary: by codec, the levels in order.
pub(in crate::report) fn speeds(evaluation: &Evaluation) -> Vec<Speed<'_>> {
    let is_one = |trial: &&Trial| {
        trial.encoding == "verbatim" && trial.codec != "stored" && trial.dictionary.is_none()
    };
    let mut trials: Vec<&Trial> = view::timed(evaluation).filter(is_one).collect();
    trials.sort_by(|left, right| (&left.codec, left.level).cmp(&(&right.codec, right.level)));
    let speeds = trials.into_iter().map(|trial| Speed::of(evaluation, trial));
    let is_usable = |speed: &Speed<'_>| {
        let figures = [speed.ratio(), speed.bytes_per_second()];
        figures.iter().all(|figure| figure.is_finite() && *figure > 0.0)
    };
    speeds.filter(is_usable).collect()
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
            codec.iter().filter(fits).max_by(|a, b| a.ratio().total_cmp(&b.ratio()))
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
        "Every codec on the text as it is, of the levels that were timed: the one that compresses \
         fastest, the one with the best ratio whose compressing takes at most {} ({statistic}, \
         {origin}), and the one with the best ratio. Sizes are without an envelope.",
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
    let Some(speed) = chosen else {
        cells.extend((0..5).map(|_| Cell::nothing()));
        return Row::plain(cells);
    };
    let trial = speed.trial;
    let level = trial.level.to_string();
    cells.extend([
        Cell { text: level, ..Cell::figure(f64::from(trial.level), human::figure) },
        Cell::figure(1.0 / speed.ratio(), human::percent),
        Cell::figure(speed.ratio(), human::ratio),
        Cell::figure(trial.compress_ns.mean, human::time).noted(human::time(trial.compress_ns.p95)),
        Cell::figure(speed.bytes_per_second() / 1e6, human::figure),
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
