//! Tables as data: what the page, the Markdown report and the terminal print, made once here, so
//! that no two of them can disagree. One file of `tables/` for each form of table.
//!
//! A maker reads the model and nothing else. Text from users is made printable here; every format
//! then escapes it in its own way.

pub(super) mod against;
pub(super) mod behind;
pub(super) mod capacity;
pub(super) mod classes;
pub(super) mod dictionaries;
pub(super) mod ebay;
pub(super) mod expedia;
pub(super) mod link;
pub(super) mod regimes;
pub(super) mod spread;
#[cfg(test)]
mod tests;
pub(super) mod trials;
pub(super) mod uber;

use super::{human, view};
use crate::model::{Evaluation, Nanoseconds};

/// A table: what it is called, what its figures are of, its columns and its rows.
#[derive(Debug, Clone)]
pub(super) struct Table {
    /// Unique among the tables of a report: the page's anchor.
    pub(super) id: String,
    /// What it is called.
    pub(super) title: String,
    /// What the figures are of, in a sentence or two; may be empty.
    pub(super) caption: String,
    /// The columns; the first one names the row.
    pub(super) columns: Vec<Column>,
    /// The rows, each with as many cells as there are columns.
    pub(super) rows: Vec<Row>,
}

/// A column.
#[derive(Debug, Clone)]
pub(super) struct Column {
    /// Its title.
    pub(super) title: String,
    /// What its figures are, in a phrase.
    pub(super) about: String,
    /// Whether it holds figures, which stand on the right.
    pub(super) is_figure: bool,
}

/// A row.
#[derive(Debug, Clone, Default)]
pub(super) struct Row {
    /// Its cells, in the order of the columns.
    pub(super) cells: Vec<Cell>,
    /// Whether it is the recommended trial's.
    pub(super) is_recommended: bool,
    /// The encoding and the codec, where the table can be filtered by them.
    pub(super) kind: Option<(String, String)>,
}

/// A cell.
#[derive(Debug, Clone, Default)]
pub(super) struct Cell {
    /// What it says.
    pub(super) text: String,
    /// What it says in small below that.
    pub(super) note: String,
    /// What sorting compares; text where there is nothing.
    pub(super) sort: Option<f64>,
    /// What a trial is to the reader, a word each.
    pub(super) words: Vec<&'static str>,
    /// What the figures do not say.
    pub(super) remarks: Vec<String>,
    /// The length of a bar in percent of the longest.
    pub(super) bar: Option<f64>,
}

impl Column {
    /// A column of figures.
    fn figure(title: &str, about: &str) -> Column {
        Column { title: title.to_owned(), about: about.to_owned(), is_figure: true }
    }

    /// A column of words.
    fn words(title: &str, about: &str) -> Column {
        Column { is_figure: false, ..Column::figure(title, about) }
    }
}

impl Cell {
    /// Words, from a user or not.
    fn text(text: &str) -> Cell {
        Cell { text: human::printable(text), ..Cell::default() }
    }

    /// A figure.
    fn figure(figure: f64, print: fn(f64) -> String) -> Cell {
        let sort = Some(figure).filter(|figure| figure.is_finite());
        Cell { text: print(figure), sort, ..Cell::default() }
    }

    /// A figure that may not have been measured.
    fn maybe(figure: Option<f64>, print: fn(f64) -> String) -> Cell {
        figure.map_or_else(Cell::nothing, |figure| Cell::figure(figure, print))
    }

    /// A count.
    fn count(count: u64) -> Cell {
        Cell { text: human::count(count), sort: Some(count as f64), ..Cell::default() }
    }

    /// What was not measured.
    fn nothing() -> Cell {
        Cell::text(human::NOTHING)
    }

    /// A time over payloads: p50, and p99 below it.
    fn times(times: &Nanoseconds, p99_is_max: bool) -> Cell {
        // A part that a trial does not have takes no time at all, and saying 0 ns would be a claim.
        if times.mean == 0.0 {
            return Cell::nothing();
        }
        let mark = if p99_is_max { "*" } else { "" };
        Cell::figure(times.p50, human::time).noted(format!("{}{mark}", human::time(times.p99)))
    }

    /// The name of a trial, and what it is to the reader.
    fn trial(evaluation: &Evaluation, name: &str) -> Cell {
        let words = view::find(evaluation, name)
            .map(|trial| view::standing(evaluation, trial).words())
            .unwrap_or_default();
        Cell { words, ..Cell::text(name) }
    }

    /// The same cell with a note.
    fn noted(self, note: String) -> Cell {
        Cell { note, ..self }
    }
}

impl Row {
    /// A row about no trial.
    fn plain(cells: Vec<Cell>) -> Row {
        Row { cells, ..Row::default() }
    }

    /// A row about the trial of this name.
    fn of(evaluation: &Evaluation, name: &str, cells: Vec<Cell>) -> Row {
        let is_recommended = name == evaluation.recommended.name;
        Row { cells, is_recommended, kind: None }
    }
}

impl Table {
    /// A table, where it has rows.
    fn filled(self) -> Option<Table> {
        (!self.rows.is_empty()).then_some(self)
    }
}
