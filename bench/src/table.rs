//! Text tables for terminals and for the README of a run, where they stand as they were printed.
//! The first column is aligned to the left, the others to the right but for words in the last.

/// A table that is filled row by row.
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new<const N: usize>(titles: [&str; N]) -> Table {
        Table { rows: vec![titles.map(str::to_owned).to_vec()] }
    }

    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        debug_assert_eq!(N, self.rows[0].len());
        self.rows.push(cells.to_vec());
    }

    pub(crate) fn text(&self) -> String {
        let width = |column: usize| {
            self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.rows[0].len()).map(width).collect();
        let mut text = String::new();
        for (index, row) in self.rows.iter().enumerate() {
            let mut line = String::new();
            for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                match column {
                    0 => line.push_str(&format!("{cell:<width$}")),
                    _ => line.push_str(&format!("  {cell:>width$}")),
                }
            }
            text.push_str(line.trim_end());
            text.push('\n');
            if index == 0 {
                let rule = widths.iter().sum::<usize>() + 2 * (widths.len() - 1);
                text.push_str(&"-".repeat(rule));
                text.push('\n');
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(["row", "ns"]);
        table.row(["a".to_owned(), "5".to_owned()]);
        table.row(["long".to_owned(), "1000".to_owned()]);
        assert_eq!(table.text(), "row     ns\n----------\na        5\nlong  1000\n");
    }
}
