//! Payloads by size, with the trial that wins each class: where another one than the recommended
//! wins clearly, a profile with a rule per class is worth thinking about.

use super::{Cell, Column, Row, Table};
use crate::model::{Evaluation, SizeClass};
use crate::report::human;

/// The classes; nothing where there are none.
pub(in crate::report) fn winners(evaluation: &Evaluation) -> Option<Table> {
    let classes = &evaluation.corpus.classes;
    let most = |of: fn(&SizeClass) -> u64| classes.iter().map(of).max().unwrap_or(1).max(1) as f64;
    let most = (most(|class| class.payloads), most(|class| class.bytes));
    Table {
        id: "classes".to_owned(),
        title: "Payloads by size".to_owned(),
        caption: "The winner of a class is the best under the goal on the payloads of that class; \
                  the gain is against the recommended trial there."
            .to_owned(),
        columns: vec![
            Column::words("Size", "Payloads of about one size"),
            Column::figure("Payloads", "How many"),
            Column::figure("Bytes", "All of them together"),
            Column::words("Winner", "The best trial of this class; its ties below"),
            Column::figure("Gain", "How much better than the recommended trial, of the score"),
        ],
        rows: classes.iter().map(|class| row(evaluation, class, most)).collect(),
    }
    .filled()
}

fn row(evaluation: &Evaluation, class: &SizeClass, (payloads, bytes): (f64, f64)) -> Row {
    let ties: Vec<String> = class.ties.iter().map(|name| human::printable(name)).collect();
    let ties = if ties.is_empty() { String::new() } else { format!("tie: {}", ties.join(", ")) };
    let winner = class.winner.as_deref();
    let gain = winner.filter(|name| *name != evaluation.recommended.name).map(|_| class.gain);
    let bar = |part: u64, most: f64| (part > 0).then(|| part as f64 * 100.0 / most);
    let cells = vec![
        Cell::text(&class.name),
        Cell { bar: bar(class.payloads, payloads), ..Cell::count(class.payloads) },
        Cell { bar: bar(class.bytes, bytes), ..Cell::figure(class.bytes as f64, human::size) },
        winner.map_or_else(Cell::nothing, |name| Cell::trial(evaluation, name)).noted(ties),
        Cell::maybe(gain, human::percent),
    ];
    Row::plain(cells)
}
