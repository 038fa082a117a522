//! Uber's form: totals to encode and to decode, total size, and both as factors of a baseline; for
//! every trial, after each rule that took trials out, and for those that are left.
//!
//! Trials are measured on different numbers of payloads, and totals of those can't be compared. So
//! every total here is of the whole corpus: a mean, or a share, times what the corpus holds.

use super::{Cell, Column, Row, Table};
use crate::model::{Evaluation, Trial};
use crate::report::human;
use crate::report::view;

/// A rule, what it took out, and what was left after it.
pub(in crate::report) struct Step<'a> {
    /// The rule, and the trials that it took out.
    pub(in crate::report) rule: view::Rule<'a>,
    /// How many trials were left.
    pub(in crate::report) left: u64,
    /// Those trials; nothing after the last rule, where they are the shortlist.
    pub(in crate::report) table: Option<Table>,
}

/// Every trial, the smallest first.
pub(in crate::report) fn full(evaluation: &Evaluation) -> Table {
    let trials: Vec<&Trial> = evaluation.trials.iter().collect();
    table(evaluation, ("uber-full", "Every trial"), trials)
}

/// The rules in their order, each with the table as it was after it.
pub(in crate::report) fn steps(evaluation: &Evaluation) -> Vec<Step<'_>> {
    let rules = view::eliminated(evaluation);
    let count = rules.len();
    let mut left: Vec<&Trial> = evaluation.trials.iter().collect();
    let step = |(index, rule): (usize, view::Rule<'_>)| {
        left.retain(|trial| !rule.trials.iter().any(|out| std::ptr::eq(*out, *trial)));
        let title = format!("After {}", human::shortened(&human::printable(rule.name), 80));
        let id = format!("uber-{}", index + 1);
        let table = (index + 1 < count).then(|| table(evaluation, (&id, &title), left.clone()));
        (left.len() as u64, table)
    };
    let after: Vec<(u64, Option<Table>)> =
        view::eliminated(evaluation).into_iter().enumerate().map(step).collect();
    let both = rules.into_iter().zip(after);
    both.map(|(rule, (left, table))| Step { rule, left, table }).collect()
}

/// What no rule took out, the smallest first.
pub(in crate::report) fn shortlist(evaluation: &Evaluation) -> Table {
    let left = evaluation.trials.iter().filter(|trial| trial.eliminated_by.is_none());
    table(evaluation, ("uber-shortlist", "The shortlist"), left.collect())
}

fn table(evaluation: &Evaluation, (id, title): (&str, &str), mut trials: Vec<&Trial>) -> Table {
    trials.sort_by(|left, right| view::stored_share(left).total_cmp(&view::stored_share(right)));
    let corpus = &evaluation.corpus;
    let payloads = human::counted(corpus.payloads, "payload");
    let sized = match trials.iter().any(|trial| !view::is_timed(trial)) {
        true => format!(
            " What was only sized is of {}.",
            human::counted(evaluation.run.stage1_payloads, "payload")
        ),
        false => String::new(),
    };
    let caption = format!(
        "Times are what the {payloads} of the corpus would take: the mean of a payload times their \
         number. Sizes are what they would take, as cinch stores them. Factors compare with \
         {}.{sized}",
        human::printable(&evaluation.baseline.name),
    );
    let columns = vec![
        Column::words("Trial", "Encoding, codec, level, dictionary"),
        Column::figure("Encode (ms)", "All of packing, for the whole corpus"),
        Column::figure("Decode (ms)", "All of unpacking, for the whole corpus"),
        Column::figure("Size (bytes)", "Stored bytes of the whole corpus, envelopes included"),
        Column::figure("Size factor", "Stored bytes over the baseline's"),
        Column::figure("Speed factor", "Time over the baseline's; less is faster"),
    ];
    let rows = trials.into_iter().map(|trial| {
        let total = |mean: f64| {
            let total = Some(mean * corpus.payloads as f64 / 1e6).filter(|_| mean > 0.0);
            let cell = Cell::maybe(total, human::figure);
            let is_rough = total.is_some() && !view::is_timed(trial);
            if is_rough { cell.noted("one pass".to_owned()) } else { cell }
        };
        let bytes = (view::stored_share(trial) * corpus.bytes as f64).round();
        let speed = Some(trial.speed_factor).filter(|_| view::is_timed(trial));
        let cells = vec![
            Cell::trial(evaluation, &trial.name),
            total(trial.pack_ns.mean),
            total(trial.unpack_ns.mean),
            Cell::figure(bytes, human::whole),
            Cell::figure(trial.size_factor, human::factor),
            Cell::maybe(speed, human::factor),
        ];
        Row::of(evaluation, &trial.name, cells)
    });
    let rows = rows.collect();
    Table { id: id.to_owned(), title: title.to_owned(), caption, columns, rows }
}
