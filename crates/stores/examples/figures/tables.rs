//! Tables as they are printed and as JSON: rows with a name, columns with a unit, and for what
//! should shrink the factor against the first row beside it.

use std::fmt::Write;

use serde_json::{Map, Value};

use crate::caller::Outcome;

/// A column.
pub struct Column {
    /// The name in JSON, with its unit.
    pub key: &'static str,
    /// The name in the printed table.
    pub title: &'static str,
    /// How many decimals are printed.
    pub decimals: usize,
    /// Whether the first row's figure divided by this one's is printed beside it.
    pub has_factor: bool,
}

/// A table.
pub struct Table {
    /// What it shows.
    pub title: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows: a name, and a figure for each column that was measured.
    pub rows: Vec<(String, Vec<Option<f64>>)>,
    /// What a reader has to know of it.
    pub notes: Vec<String>,
}

/// Everything that one run measured.
#[derive(Default)]
pub struct Report {
    facts: Vec<(&'static str, Value)>,
    /// The tables.
    pub tables: Vec<Table>,
}

impl Column {
    /// A column without factors.
    pub const fn new(key: &'static str, title: &'static str, decimals: usize) -> Column {
        Column { key, title, decimals, has_factor: false }
    }

    /// The same with factors against the first row.
    pub const fn with_factor(self) -> Column {
        Column { has_factor: true, ..self }
    }
}

impl Report {
    /// A report of no tables yet.
    pub fn new(facts: Vec<(&'static str, Value)>) -> Report {
        Report { facts, tables: Vec::new() }
    }

    /// As JSON, with every figure as it was measured.
    pub fn json(&self) -> Value {
        let mut report: Map<String, Value> =
            self.facts.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        let tables = self.tables.iter().map(Table::json).collect();
        report.insert("tables".to_owned(), Value::Array(tables));
        Value::Object(report)
    }

    /// As it is printed.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (key, value) in &self.facts {
            let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            // A String takes any text.
            let _ = writeln!(text, "{:<18} {shown}", key.replace('_', " "));
        }
        for table in &self.tables {
            text.push('\n');
            text.push_str(&table.text());
        }
        text
    }
}

impl Table {
    fn json(&self) -> Value {
        let row = |(name, figures): &(String, Vec<Option<f64>>)| {
            let mut row = Map::from_iter([("name".to_owned(), Value::from(name.as_str()))]);
            for (column, figure) in self.columns.iter().zip(figures) {
                row.insert(column.key.to_owned(), Value::from(*figure));
                if column.has_factor {
                    let key = format!("{}_factor", column.key);
                    row.insert(key, Value::from(self.factor(column, *figure)));
                }
            }
            Value::Object(row)
        };
        serde_json::json!({
            "title": self.title,
            "rows": self.rows.iter().map(row).collect::<Vec<_>>(),
            "notes": self.notes,
        })
    }

    /// The figure of the first row divided by this one; none where there is nothing to divide.
    fn factor(&self, column: &Column, figure: Option<f64>) -> Option<f64> {
        let place = self.columns.iter().position(|other| other.key == column.key)?;
        let first = self.rows.first()?.1.get(place).copied()??;
        figure.filter(|figure| *figure > 0.0).map(|figure| first / figure)
    }

    fn text(&self) -> String {
        let mut lines = vec![vec![String::new()]];
        for column in &self.columns {
            lines[0].push(column.title.to_owned());
            if column.has_factor {
                lines[0].push(String::new());
            }
        }
        for (name, figures) in &self.rows {
            let mut line = vec![name.clone()];
            for (column, figure) in self.columns.iter().zip(figures) {
                let decimals = column.decimals;
                line.push(figure.map_or("-".to_owned(), |f| grouped(&format!("{f:.decimals$}"))));
                if column.has_factor {
                    let factor = self.factor(column, *figure);
                    line.push(factor.map_or(String::new(), |factor| format!("{factor:.1}x")));
                }
            }
            lines.push(line);
        }
        let count = lines[0].len();
        let width = |place: usize| lines.iter().map(|line| line[place].chars().count()).max();
        let widths: Vec<usize> = (0..count).map(|place| width(place).unwrap_or(0)).collect();
        let mut text = format!("{}\n", self.title);
        for line in &lines {
            let mut row = format!("  {:<width$}", line[0], width = widths[0]);
            for (cell, width) in line.iter().zip(&widths).skip(1) {
                // A String takes any text.
                let _ = write!(row, "  {cell:>width$}");
            }
            text.push_str(row.trim_end());
            text.push('\n');
        }
        for note in &self.notes {
            let _ = writeln!(text, "  {note}");
        }
        text
    }
}

/// A number with a comma between groups of three digits.
fn grouped(number: &str) -> String {
    let (whole, rest) = number.split_at(number.find('.').unwrap_or(number.len()));
    let mut text = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index) % 3 == 0 && !text.ends_with('-') {
            text.push(',');
        }
        text.push(digit);
    }
    text + rest
}

/// The columns of what calls cost the client, behind those of a store.
pub fn client_columns() -> Vec<Column> {
    vec![
        Column::new("write_cpu_us", "CPU us/put", 0),
        Column::new("read_cpu_us", "CPU us/get", 0),
        Column::new("write_p50_us", "put p50 us", 0),
        Column::new("write_p99_us", "p99", 0),
        Column::new("read_p50_us", "get p50 us", 0),
        Column::new("read_p99_us", "p99", 0),
        Column::new("client_memory_mb", "client MB", 1),
    ]
}

/// Their figures.
pub fn client_figures(outcome: &Outcome) -> Vec<Option<f64>> {
    let (writes, reads) = (&outcome.writes, &outcome.reads);
    [
        writes.cpu_us,
        reads.cpu_us,
        writes.p50_us,
        writes.p99_us,
        reads.p50_us,
        reads.p99_us,
        outcome.memory_bytes as f64 / 1e6,
    ]
    .map(Some)
    .to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        Table {
            title: "A store".to_owned(),
            columns: vec![
                Column::new("stream_bytes", "stream B", 0).with_factor(),
                Column::new("put_us", "put us", 1),
            ],
            rows: vec![
                ("before".to_owned(), vec![Some(32_000.0), Some(10.25)]),
                ("after".to_owned(), vec![Some(2_000.0), None]),
                ("nothing".to_owned(), vec![Some(0.0), Some(1.0)]),
            ],
            notes: vec!["Not measured elsewhere.".to_owned()],
        }
    }

    #[test]
    fn factors_are_against_the_first_row_and_missing_figures_are_dashes() {
        let expected = "A store\n\
                        \u{20}          stream B         put us\n\
                        \u{20} before     32,000   1.0x    10.2\n\
                        \u{20} after       2,000  16.0x       -\n\
                        \u{20} nothing         0            1.0\n\
                        \u{20} Not measured elsewhere.\n";
        assert_eq!(table().text(), expected);
    }

    #[test]
    fn json_has_every_figure_with_its_unit_in_the_key() {
        let report =
            Report { tables: vec![table()], ..Report::new(vec![("replayed", Value::from(7))]) };
        let json = report.json();
        assert_eq!(json["replayed"], 7);
        let rows = &json["tables"][0]["rows"];
        assert_eq!(rows[1]["name"], "after");
        assert_eq!(rows[1]["stream_bytes"], 2_000.0);
        assert_eq!(rows[1]["stream_bytes_factor"], 16.0);
        assert_eq!(rows[1]["put_us"], Value::Null);
        assert_eq!(rows[2]["stream_bytes_factor"], Value::Null);
    }

    #[test]
    fn digits_are_grouped_from_the_right() {
        for (number, expected) in [
            ("0", "0"),
            ("999", "999"),
            ("1000", "1,000"),
            ("1234567.5", "1,234,567.5"),
            ("-100", "-100"),
        ] {
            assert_eq!(grouped(number), expected);
        }
    }
}
