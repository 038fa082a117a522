//! `trials.csv` and `classes.csv`: every figure of every trial, a row each, for spreadsheets and
//! data frames. A column's name is the path of the figure in `evaluation.json`, its parts joined
//! with dots.
//!
//! The columns are the same in every file, whatever was measured: a figure that is missing is an
//! empty cell. They come from a trial that has everything, so that a new field of the model is a
//! new column without a line here.

use serde::Serialize;

use super::flat::{Leaf, flattened};
use crate::model::{ClassTrial, Evaluation, QUANTILES, Spread, Trial};

/// What starts a formula in a spreadsheet, which a name from a user must not.
const FORMULA_STARTS: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// Makes `trials.csv`.
pub fn trials(evaluation: &Evaluation) -> String {
    let nothing = QUANTILES.map(|_| 0.0).to_vec();
    let spread =
        Spread { packed_bytes: nothing.clone(), pack_ns: nothing.clone(), unpack_ns: nothing };
    let whole = Trial {
        held_out: Some(Default::default()),
        spread: Some(spread),
        calls: Some(Default::default()),
        regimes: Some(Default::default()),
        first_call: Some(Default::default()),
        dictionary_cost: Some(Default::default()),
        paired: Some(Default::default()),
        ..Trial::default()
    };
    let columns: Vec<String> = flattened(&whole).into_iter().map(|(path, _)| path).collect();
    let titles = columns.iter().map(|path| title(path, &evaluation.quantiles)).collect();
    let rows = evaluation.trials.iter().map(|trial| row(&columns, trial)).collect();
    written(titles, rows)
}

/// Makes `classes.csv`: every timed trial on every size class.
pub fn classes(evaluation: &Evaluation) -> String {
    let figures: Vec<String> =
        flattened(&ClassTrial::default()).into_iter().map(|(path, _)| path).collect();
    let mut titles = vec!["class".to_owned(), "class_max_bytes".to_owned()];
    titles.extend(figures.iter().cloned());
    let mut rows = Vec::new();
    for class in &evaluation.corpus.classes {
        for trial in &class.trials {
            let most = class.max_bytes.map(|most| most.to_string()).unwrap_or_default();
            let mut cells = vec![cell(&Leaf::Text(class.name.clone())), most];
            cells.extend(row(&figures, trial));
            rows.push(cells);
        }
    }
    written(titles, rows)
}

/// The figures of one thing under these columns.
fn row(columns: &[String], of: &impl Serialize) -> Vec<String> {
    let leaves = flattened(of);
    let find = |path: &String| leaves.iter().find(|(known, _)| known == path);
    columns.iter().map(|path| find(path).map(|(_, leaf)| cell(leaf)).unwrap_or_default()).collect()
}

/// A column's name: places in a list of quantiles become the quantile, such as `pack_ns.p99_5`.
fn title(path: &str, quantiles: &[f64]) -> String {
    let Some((list, place)) = path.rsplit_once('.') else { return path.to_owned() };
    let quantile = place.parse::<usize>().ok().and_then(|place| quantiles.get(place));
    match quantile {
        Some(share) => {
            let percent = (share * 1e5).round() / 1e3;
            format!("{list}.p{}", percent.to_string().replace('.', "_"))
        }
        None => path.to_owned(),
    }
}

fn cell(leaf: &Leaf) -> String {
    match leaf {
        Leaf::Figure(text) => text.clone(),
        Leaf::Text(text) => {
            let text = super::human::printable(text);
            if text.starts_with(FORMULA_STARTS) { format!("'{text}") } else { text }
        }
    }
}

fn written(titles: Vec<String>, rows: Vec<Vec<String>>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let lines = std::iter::once(titles).chain(rows);
    for line in lines {
        writer.write_record(&line).expect("every row has a cell for every column");
    }
    let bytes = writer.into_inner().expect("a Vec takes any bytes");
    String::from_utf8(bytes).expect("every cell is a String")
}

#[cfg(test)]
mod tests {
    use super::super::example;
    use super::*;

    fn read(text: &str) -> (Vec<String>, Vec<Vec<String>>) {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let cells =
            |record: &csv::StringRecord| record.iter().map(str::to_owned).collect::<Vec<_>>();
        let titles = cells(reader.headers().unwrap());
        (titles, reader.records().map(|record| cells(&record.unwrap())).collect())
    }

    #[test]
    fn every_trial_is_a_row_with_its_own_figures() {
        for evaluation in example::all() {
            let (titles, rows) = read(&trials(&evaluation));
            assert_eq!(rows.len(), evaluation.trials.len());
            let place = |name: &str| titles.iter().position(|title| title == name).unwrap();
            for (row, trial) in rows.iter().zip(&evaluation.trials) {
                assert_eq!(row[place("packed_bytes")], trial.packed_bytes.to_string());
                let mean: f64 = row[place("pack_ns.mean")].parse().unwrap();
                assert!((mean - trial.pack_ns.mean).abs() <= mean.abs() * 1e-12);
                let held = &row[place("held_out.packed_share_interval.high")];
                let expected = trial.held_out.map(|held| held.packed_share_interval.high * 1e9);
                let held: Option<f64> = held.parse().ok();
                assert_eq!(held.map(|high| (high * 1e9).round()), expected.map(f64::round));
                let tail: Option<f64> = row[place("spread.unpack_ns.p99_9")].parse().ok();
                let expected = trial.spread.as_ref().map(|spread| spread.unpack_ns[11]);
                assert_eq!(tail.map(f64::round), expected.map(f64::round));
            }
        }
    }

    #[test]
    fn every_figure_of_a_trial_has_a_column() {
        let evaluation = example::typical();
        let (titles, _) = read(&trials(&evaluation));
        for trial in &evaluation.trials {
            // A part that was not measured is one empty leaf instead of its figures.
            let known = flattened(trial).into_iter();
            for (path, _) in known.filter(|(_, leaf)| *leaf != Leaf::Figure(String::new())) {
                assert!(titles.contains(&title(&path, &evaluation.quantiles)), "{path}");
            }
        }
        let count = titles.len();
        let unique: std::collections::HashSet<_> = titles.into_iter().collect();
        assert_eq!(unique.len(), count);
    }

    #[test]
    fn every_class_has_its_trials() {
        for evaluation in example::all() {
            let (_, rows) = read(&classes(&evaluation));
            let expected: usize =
                evaluation.corpus.classes.iter().map(|class| class.trials.len()).sum();
            assert_eq!(rows.len(), expected);
        }
    }

    #[test]
    fn a_text_is_no_formula_and_a_figure_is_no_text() {
        assert_eq!(cell(&Leaf::Text("=1+1".to_owned())), "'=1+1");
        assert_eq!(cell(&Leaf::Figure("-0.5".to_owned())), "-0.5");
    }
}
