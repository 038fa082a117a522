//! The terminal's table: the trials that a person compares, one line each.
//!
//! A line is never broken: where the terminal is narrow, columns that the rest of the report also
//! tells are left out, and names are cut.

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};
use unicode_width::UnicodeWidthStr;

use super::{Paint, wrap};
use crate::model::{Evaluation, Trial};
use crate::report::human;
use crate::report::view::{self, Standing};

/// A column: its title, its side, how soon it is left out (0 is never), and its text.
struct Column {
    title: &'static str,
    alignment: CellAlignment,
    expendable: u8,
    text: fn(&Trial, Standing) -> String,
}

/// What stands between two columns.
const GAP: usize = 2;

/// Names are only cut to this width; before that, columns are left out.
const NAME_WIDTH: usize = 30;

/// The last step of leaving columns out.
const MOST_EXPENDABLE: u8 = 5;

const COLUMNS: [Column; 9] = [
    Column {
        title: "  trial",
        alignment: CellAlignment::Left,
        expendable: 0,
        text: |trial, standing| {
            let mark = if standing.recommended { "★" } else { " " };
            format!("{mark} {}", human::printable(&trial.name))
        },
    },
    Column {
        title: "ratio",
        alignment: CellAlignment::Right,
        expendable: 0,
        text: |trial, _| human::ratio(trial.ratio),
    },
    Column {
        title: "stored",
        alignment: CellAlignment::Right,
        expendable: 3,
        text: |trial, _| human::percent(view::stored_share(trial)),
    },
    Column { title: "held out", alignment: CellAlignment::Right, expendable: 4, text: held_out },
    Column {
        title: "pack p50/p99",
        alignment: CellAlignment::Right,
        expendable: 0,
        text: |trial, _| times(trial, trial.pack_ns.p50, trial.pack_ns.p99),
    },
    Column {
        title: "unpack p50/p99",
        alignment: CellAlignment::Right,
        expendable: 0,
        text: |trial, _| times(trial, trial.unpack_ns.p50, trial.unpack_ns.p99),
    },
    Column {
        title: "memory",
        alignment: CellAlignment::Right,
        expendable: 1,
        text: |trial, _| human::size(trial.memory_bytes as f64),
    },
    Column {
        title: "fidelity",
        alignment: CellAlignment::Left,
        expendable: 2,
        text: |trial, _| human::shortened(&human::printable(&trial.fidelity), 12),
    },
    Column { title: "note", alignment: CellAlignment::Left, expendable: 5, text: note },
];

/// Makes the table's lines.
pub(super) fn render(evaluation: &Evaluation, width: usize, paint: Paint) -> String {
    let rows: Vec<(Standing, &Trial)> = chosen(evaluation);
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|(standing, trial)| {
            COLUMNS.iter().map(|column| (column.text)(trial, *standing)).collect()
        })
        .collect();
    let mut widths: Vec<usize> = COLUMNS.iter().map(|column| column.title.width()).collect();
    for row in &cells {
        for (widest, cell) in widths.iter_mut().zip(row) {
            *widest = (*widest).max(cell.width());
        }
    }
    let is_blank = |index: usize| cells.iter().all(|row| row[index] == human::NOTHING);
    let present = (0..COLUMNS.len()).filter(|&index| !is_blank(index)).collect();
    let kept = fit(present, &mut widths, width);
    let mut table = Table::new();
    table.load_style(NOTHING);
    table.set_header(kept.iter().map(|index| COLUMNS[*index].title));
    for row in &cells {
        table.add_row(kept.iter().map(|index| wrap::cut(&row[*index], widths[*index])));
    }
    for (place, index) in kept.iter().enumerate() {
        if let Some(column) = table.column_mut(place) {
            column.set_padding((0, if place + 1 < kept.len() { GAP as u16 } else { 0 }));
            column.set_cell_alignment(COLUMNS[*index].alignment);
        }
    }
    let mut out = String::new();
    for (index, line) in table.lines().enumerate() {
        let line = line.trim_end();
        let standing = index.checked_sub(1).and_then(|row| rows.get(row)).map(|row| row.0);
        let line = match standing {
            None => paint.quiet(line),
            Some(standing) if standing.recommended => paint.chosen(line),
            Some(_) => line.to_owned(),
        };
        out.push_str(&line);
        out.push('\n');
    }
    if view::any_p99_is_max(evaluation) {
        wrap::painted(&mut out, "  ", "  ", "* maximum: a p99 needs 299 payloads", width, |line| {
            paint.quiet(line)
        });
    }
    out
}

/// The trials that a person compares, smallest first; the whole table is in the HTML report.
fn chosen(evaluation: &Evaluation) -> Vec<(Standing, &Trial)> {
    let mut rows: Vec<(Standing, &Trial)> = evaluation
        .trials
        .iter()
        .map(|trial| (view::standing(evaluation, trial), trial))
        .filter(|(standing, trial)| {
            let matters = Standing { control: false, ..*standing }.is_any();
            matters || (standing.control && view::is_timed(trial))
        })
        .collect();
    rows.sort_by(|(_, left), (_, right)| {
        view::stored_share(left).total_cmp(&view::stored_share(right))
    });
    rows
}

/// Leaves out columns until the rest fits `width`, and returns those that are kept. Names are
/// cut only where they are very long, because the start of a name alone can mean many trials.
fn fit(mut kept: Vec<usize>, widths: &mut [usize], width: usize) -> Vec<usize> {
    let full_name = widths[0];
    for expendable in 0..=MOST_EXPENDABLE {
        kept.retain(|index| !(1..=expendable).contains(&COLUMNS[*index].expendable));
        let gaps = GAP * (kept.len() - 1);
        let others = kept[1..].iter().map(|index| widths[*index]).sum::<usize>() + gaps;
        widths[0] = full_name.min(width.saturating_sub(others)).max(NAME_WIDTH.min(full_name));
        if widths[0] + others <= width {
            break;
        }
    }
    kept
}

fn times(trial: &Trial, p50: f64, p99: f64) -> String {
    if !view::is_timed(trial) {
        return human::NOTHING.to_owned();
    }
    let mark = if trial.p99_is_max { "*" } else { "" };
    format!("{}{mark}", human::time_pair(p50, p99))
}

/// The stored share of payloads that neither trained nor chose, with half its interval in points.
fn held_out(trial: &Trial, _: Standing) -> String {
    let Some(held) = &trial.held_out else { return human::NOTHING.to_owned() };
    let interval = &held.packed_share_interval;
    let room = human::plus_minus(interval.low, interval.high);
    format!("{} {room}", human::percent(held.packed_share))
}

fn note(trial: &Trial, standing: Standing) -> String {
    // What is first or second under the goal is on the front as a rule; saying so costs a column.
    let is_placed = standing.recommended || standing.runner_up;
    let standing = Standing { front: standing.front && !is_placed, ..standing };
    let words = standing.words().join(", ");
    match &trial.eliminated_by {
        Some(_) if words.is_empty() => "out".to_owned(),
        Some(_) => format!("{words}; out"),
        None => words,
    }
}
