//! What a reader of any format would notice of the tables: that rows fit their columns, that rules
//! add up, and that the figures are the model's.

use std::collections::HashSet;

use super::*;
use crate::report::{example, sections};

fn all(evaluation: &Evaluation) -> Vec<Table> {
    let sections = sections::all(evaluation).into_iter();
    sections.flat_map(|section| section.blocks).filter_map(|block| block.table).collect()
}

#[test]
fn every_row_fits_its_columns_and_no_id_is_there_twice() {
    for evaluation in example::all() {
        let tables = all(&evaluation);
        for table in &tables {
            for row in &table.rows {
                assert_eq!(row.cells.len(), table.columns.len(), "{}", table.title);
                assert!(row.cells.iter().all(|cell| cell.sort.is_none_or(f64::is_finite)));
            }
        }
        let ids: HashSet<&str> = tables.iter().map(|table| table.id.as_str()).collect();
        assert_eq!(ids.len(), tables.len());
    }
}

#[test]
fn the_rules_take_the_full_list_to_the_shortlist() {
    for evaluation in example::all() {
        let mut left = uber::full(&evaluation).rows.len();
        assert_eq!(left, evaluation.trials.len());
        for step in uber::steps(&evaluation) {
            left -= step.rule.trials.len();
            assert_eq!(step.left as usize, left);
            if let Some(table) = step.table {
                assert_eq!(table.rows.len(), left);
            }
        }
        assert_eq!(uber::shortlist(&evaluation).rows.len(), left);
    }
}

#[test]
fn rules_come_in_their_order_and_budgets_last() {
    let evaluation = example::typical();
    let rules: Vec<String> =
        uber::steps(&evaluation).iter().map(|step| step.rule.name.to_owned()).collect();
    assert_eq!(rules, ["sizes", "dominated", "budget pack_p99=400us"]);
}

#[test]
fn totals_are_of_the_whole_corpus() {
    let evaluation = example::typical();
    let table = uber::full(&evaluation);
    let plain = view::find(&evaluation, "verbatim+stored").unwrap();
    let row = table.rows.iter().find(|row| row.cells[0].text == plain.name).unwrap();
    let expected = plain.pack_ns.mean * evaluation.corpus.payloads as f64 / 1e6;
    assert_eq!(row.cells[1].sort, Some(expected));
    let bytes = plain.packed_bytes as f64 / plain.bytes_in as f64 * evaluation.corpus.bytes as f64;
    assert!((row.cells[3].sort.unwrap() - bytes).abs() < 1.0);
}

#[test]
fn each_codec_has_three_levels_of_which_the_best_has_the_best_ratio() {
    let mut evaluation = example::typical();
    // Between lz4:1 with its p95 of about 10 µs and lz4:9 with about 90 µs.
    evaluation.budgets = vec!["compress_p95=40us".to_owned()];
    let table = expedia::by_codec(&evaluation).unwrap();
    let levels: Vec<&str> = table
        .rows
        .iter()
        .filter(|row| row.cells[0].text == "lz4")
        .map(|row| row.cells[2].text.as_str())
        .collect();
    assert_eq!(levels, ["1", "1", "9"]);
    assert!(table.caption.contains("40.0 µs (p95, the budget given)"), "{}", table.caption);
    evaluation.budgets.clear();
    let table = expedia::by_codec(&evaluation).unwrap();
    assert!(table.caption.contains("20.0 ms (p95, as Expedia"), "{}", table.caption);
    // Where nothing keeps the bound, the row says so and stays.
    evaluation.budgets = vec!["compress_mean=1ns".to_owned()];
    let table = expedia::by_codec(&evaluation).unwrap();
    assert_eq!(table.rows[1].cells[2].text, human::NOTHING);
}

#[test]
fn first_calls_stand_in_the_class_that_holds_the_median() {
    let evaluation = example::typical();
    let table = ebay::by_class(&evaluation).unwrap();
    let with: HashSet<&str> = table
        .rows
        .iter()
        .filter(|row| row.cells[9].sort.is_some())
        .map(|row| row.cells[1].text.as_str())
        .collect();
    assert_eq!(with, HashSet::from(["1 to 4 KiB"]), "the median payload has 2,480 bytes");
}

#[test]
fn a_tie_is_told_as_one() {
    let evaluation = example::typical();
    let table = trials::timed(&evaluation);
    let tied: Vec<&str> = table
        .rows
        .iter()
        .filter(|row| row.cells[1].words.contains(&"tie"))
        .map(|row| row.cells[0].text.as_str())
        .collect();
    assert_eq!(tied, evaluation.recommended.ties);
    assert!(!tied.is_empty());
}

#[test]
fn what_was_not_measured_is_no_table() {
    let evaluation = example::one_payload();
    for absent in [link::over, capacity::on_disk, against::older, regimes::regimes, regimes::calls]
    {
        assert!(absent(&evaluation).is_none());
    }
    assert!(dictionaries::costs(&evaluation).is_none() && behind::stores(&evaluation).is_empty());
}

#[test]
fn quantiles_have_names() {
    let names = [0.0, 0.5, 0.995, 0.999, 1.0].map(spread::name);
    assert_eq!(names, ["least", "50 %", "99.5 %", "99.9 %", "most"]);
}

#[test]
fn levels_are_compared_on_the_payloads_that_were_timed() {
    let mut evaluation = example::typical();
    let of_zstd = |evaluation: &Evaluation| -> Vec<String> {
        let table = expedia::by_codec(evaluation).unwrap();
        let rows = table.rows.iter().filter(|row| row.cells[0].text == "zstd");
        rows.flat_map(|row| row.cells.iter().map(|cell| cell.text.clone())).collect()
    };
    let before = of_zstd(&evaluation);
    assert!(!before.is_empty());
    // One level went on to other payloads, on which everything is twice as small.
    for trial in &mut evaluation.trials {
        if trial.name == "verbatim+zstd:3" {
            (trial.stage, trial.ratio) = ("whole".to_owned(), trial.ratio * 2.0);
            (trial.bytes_out, trial.packed_bytes) = (trial.bytes_out / 2, trial.packed_bytes / 2);
        }
    }
    assert_eq!(of_zstd(&evaluation), before);
    // A level that was only sized is not among them.
    assert!(expedia::speeds(&evaluation).iter().all(|speed| speed.trial.name != "verbatim+zstd:1"));
}
