//! The shared sections and tables as the template reads them: texts, classes for cells, and the
//! figures that sorting compares.
//!
//! Nothing is decided here; what a table holds is made in `report/tables`.

use minijinja::{Value, context};

use super::{safe, text};
use crate::model::{Evaluation, Trial};
use crate::report::sections::{Block, Section};
use crate::report::tables::{Cell, Row, Table};
use crate::report::view;

/// Longer figures are rounded for sorting, because sixteen digits sort no better than five.
const SORT_DIGITS: usize = 9;

/// A section with its picture, which is HTML already.
pub(super) fn section(section: Section, picture: Option<String>) -> Value {
    context! {
        id => section.id,
        title => section.title.as_str(),
        lead => section.lead,
        picture => picture.map(safe),
        blocks => section.blocks.iter().map(|one| block(one, &section.title)).collect::<Vec<_>>(),
    }
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
    let count = view::timed(evaluation).count();
    context! { encodings => encodings, codecs => unique(|trial| &trial.codec), count => count }
}

fn block(block: &Block, section: &str) -> Value {
    let name = |(name, why): &(String, String)| context! { name => name, why => why };
    // A title that stands above the table already is not said twice.
    let above = block.fold.as_deref().unwrap_or(section);
    let has_title = block.table.as_ref().is_some_and(|table| above != table.title);
    let lines = |text: &String| text.lines().map(super::text).collect::<Vec<_>>().join("\n");
    context! {
        fold => block.fold.clone(),
        names => block.names.iter().map(name).collect::<Vec<_>>(),
        file => block.file.as_ref().map(lines),
        has_title => has_title,
        table => block.table.as_ref().map(table),
    }
}

fn table(table: &Table) -> Value {
    let classes: Vec<&str> = table
        .columns
        .iter()
        .map(|column| match (column.is_figure, column.title.as_str()) {
            (true, _) => "figure",
            (false, "Verdict") => "verdict",
            (false, _) => "",
        })
        .collect();
    let columns = table.columns.iter().zip(&classes).map(|(column, class)| {
        context! { title => column.title.as_str(), about => column.about.as_str(), class => *class }
    });
    context! {
        id => table.id.as_str(),
        title => table.title.as_str(),
        caption => table.caption.as_str(),
        columns => columns.collect::<Vec<_>>(),
        rows => table.rows.iter().map(|one| row(one, &classes)).collect::<Vec<_>>(),
    }
}

fn row(row: &Row, classes: &[&str]) -> Value {
    let cells = row.cells.iter().zip(classes).map(|(one, class)| cell(one, class));
    context! {
        recommended => row.is_recommended,
        encoding => row.kind.as_ref().map(|kind| &kind.0),
        codec => row.kind.as_ref().map(|kind| &kind.1),
        cells => cells.collect::<Vec<_>>(),
    }
}

fn cell(cell: &Cell, class: &str) -> Value {
    context! {
        text => cell.text.as_str(),
        note => cell.note.as_str(),
        words => cell.words.clone(),
        remarks => cell.remarks.clone(),
        bar => cell.bar.map(|bar| format!("{bar:.1}")),
        class => class,
        // A column of figures sorts what is missing last; a column of words sorts by its words.
        sort => match cell.sort {
            Some(figure) => Some(sortable(figure)),
            None => (class == "figure").then(String::new),
        },
    }
}

fn sortable(figure: f64) -> String {
    let exact = figure.to_string();
    if exact.len() > SORT_DIGITS { format!("{figure:.4e}") } else { exact }
}
