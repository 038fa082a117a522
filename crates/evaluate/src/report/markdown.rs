//! `report.md`: the report for a pull request or a wiki, where no page opens. It prints the
//! recommendation and the same sections and tables as the page.
//!
//! Everything from users is escaped, so that a name is neither markup nor a column.

use super::sections::{self, Block, Section};
use super::tables::{Cell, Table};
use super::{human, sentences, view};
use crate::model::Evaluation;

/// Makes the whole text.
pub fn render(evaluation: &Evaluation) -> String {
    let mut out = String::new();
    head(evaluation, &mut out);
    recommended(evaluation, &mut out);
    for section in sections::all(evaluation) {
        write_section(&section, &mut out);
    }
    measured(evaluation, &mut out);
    out
}

fn head(evaluation: &Evaluation, out: &mut String) {
    let corpus = &evaluation.corpus;
    out.push_str(&format!("# {}\n\n", escaped(&corpus.name)));
    let facts = format!(
        "{}, {}; half are at most {}, 95 % at most {}, the largest {}. Goal {}, from {}.",
        human::counted(corpus.payloads, "payload"),
        human::size(corpus.bytes as f64),
        human::size(corpus.size.p50 as f64),
        human::size(corpus.size.p95 as f64),
        human::size(corpus.size.max as f64),
        evaluation.goal,
        evaluation.from,
    );
    out.push_str(&format!("{}\n", escaped(&facts)));
    let more = [sentences::split(evaluation), sentences::groups(evaluation)];
    list(more.into_iter().flatten(), out);
    list(evaluation.budgets.iter().map(|budget| format!("Budget: {budget}")), out);
    list(evaluation.run.notices.iter().cloned(), out);
}

fn recommended(evaluation: &Evaluation, out: &mut String) {
    let recommended = &evaluation.recommended;
    out.push_str(&format!("\n## Recommended: {}\n", escaped(&recommended.name)));
    let sentences = recommended.reasons.iter().cloned().chain(sentences::sure(evaluation));
    list(sentences.chain(sentences::min_size(evaluation)), out);
    list_of("What would change the choice", &recommended.flips, out);
    list_of("What else it would cost", &recommended.costs, out);
    file(&recommended.profile, out);
    let files = recommended.dictionaries.iter().map(|file| {
        format!("Beside the profile: {} (id {}, SHA-256 {})", file.file_name, file.id, file.sha256)
    });
    list(files, out);
}

fn write_section(section: &Section, out: &mut String) {
    out.push_str(&format!("\n## {}\n", escaped(&section.title)));
    for sentence in &section.lead {
        out.push_str(&format!("\n{}\n", escaped(sentence)));
    }
    for block in &section.blocks {
        write_block(block, out);
    }
}

fn write_block(block: &Block, out: &mut String) {
    if let Some(fold) = &block.fold {
        out.push_str(&format!("\n### {}\n", escaped(fold)));
    }
    list(block.names.iter().map(|(name, why)| format!("{name}: {why}")), out);
    if let Some(text) = &block.file {
        file(text, out);
    }
    let Some(table) = &block.table else { return };
    if block.fold.as_ref() != Some(&table.title) {
        out.push_str(&format!("\n### {}\n", escaped(&table.title)));
    }
    if !table.caption.is_empty() {
        out.push_str(&format!("\n{}\n", escaped(&table.caption)));
    }
    write_table(table, out);
}

fn write_table(table: &Table, out: &mut String) {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    out.push('\n');
    out.push_str(&line(table.columns.iter().map(|column| escaped(&column.title)).collect()));
    let side = |is_figure: bool| if is_figure { "--:" } else { "---" }.to_owned();
    out.push_str(&line(table.columns.iter().map(|column| side(column.is_figure)).collect()));
    for row in &table.rows {
        out.push_str(&line(row.cells.iter().map(cell).collect()));
    }
}

/// A cell on one line: what it says, its note in parentheses, and its words.
fn cell(cell: &Cell) -> String {
    let mut text = escaped(&cell.text);
    if !cell.note.is_empty() {
        text.push_str(&format!(" ({})", escaped(&cell.note)));
    }
    let words = cell.words.iter().map(|&word| word.to_owned());
    let more: Vec<String> = words.chain(cell.remarks.iter().map(|one| escaped(one))).collect();
    match (text.is_empty(), more.is_empty()) {
        (true, _) => more.join(", "),
        (false, true) => text,
        (false, false) => format!("{text}: {}", more.join(", ")),
    }
}

fn measured(evaluation: &Evaluation, out: &mut String) {
    let run = &evaluation.run;
    out.push_str("\n## How it was measured\n");
    let stages = [
        (run.stage1_trials, run.stage1_payloads, "sized"),
        (run.stage2_trials, run.stage2_payloads, "timed"),
    ];
    let stage = |(trials, payloads, what): (u64, u64, &str)| {
        let payloads = human::counted(payloads, "payload");
        format!("{} {what} on {payloads}", human::counted(trials, "trial"))
    };
    list(stages.into_iter().map(stage), out);
    list(sentences::noise(evaluation), out);
    let processors = human::counted(run.processors, "logical processor");
    list([format!("{}, {processors}; seed {}", run.processor, evaluation.seed)], out);
    list(run.host.iter().map(|(name, value)| format!("{name}: {value}")), out);
    let versions = evaluation.versions.iter();
    let versions: Vec<String> =
        versions.map(|version| format!("{} {}", version.name, version.version)).collect();
    list([format!("Versions: {}", versions.join(", "))], out);
    if view::timed(evaluation).next().is_none() {
        list(["No trial was timed.".to_owned()], out);
    }
}

fn list_of(title: &str, texts: &[String], out: &mut String) {
    if !texts.is_empty() {
        out.push_str(&format!("\n### {title}\n"));
        list(texts.iter().cloned(), out);
    }
}

fn list(texts: impl IntoIterator<Item = String>, out: &mut String) {
    for (index, text) in texts.into_iter().enumerate() {
        if index == 0 {
            out.push('\n');
        }
        out.push_str(&format!("- {}\n", escaped(&text)));
    }
}

/// A file's text in a block whose fence is longer than any in the text.
fn file(text: &str, out: &mut String) {
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let lines: Vec<String> = text.lines().map(human::printable).collect();
    out.push_str(&format!("\n{fence}toml\n{}\n{fence}\n", lines.join("\n")));
}

/// Text that is no markup, on one line.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in human::printable(text).chars() {
        if matches!(
            character,
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '~' | '&'
        ) {
            safe.push('\\');
        }
        safe.push(character);
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::super::example;
    use super::*;

    /// The cells of a line, by pipes that are not escaped.
    fn cells(line: &str) -> usize {
        line.replace("\\\\", "").replace("\\|", "").matches('|').count()
    }

    #[test]
    fn every_table_has_as_many_cells_in_each_row() {
        for evaluation in example::all() {
            let text = render(&evaluation);
            let mut expected = None;
            let mut tables = 0;
            for line in text.lines() {
                if !line.starts_with("| ") {
                    expected = None;
                    continue;
                }
                tables += usize::from(expected.is_none());
                assert_eq!(*expected.get_or_insert_with(|| cells(line)), cells(line), "{line}");
            }
            assert!(tables >= 2, "{tables} tables");
        }
    }

    #[test]
    fn names_are_no_markup() {
        let text = render(&example::hostile());
        let outside: String = text.split("toml\n").next().unwrap().to_owned();
        assert!(outside.contains("\\<script\\>alert"));
        assert!(!outside.replace("\\<", "").contains('<'), "a bare < starts HTML");
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'));
    }

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        let mut out = String::new();
        file("a = 1\n````\n", &mut out);
        assert_eq!(out, "\n`````toml\na = 1\n````\n`````\n");
    }

    #[test]
    fn it_says_what_to_use_how_sure_and_what_would_change_it() {
        let evaluation = example::typical();
        let text = render(&evaluation);
        let told = |one: &String| assert!(text.contains(&escaped(one)), "{one}");
        evaluation.recommended.reasons.iter().for_each(told);
        evaluation.recommended.flips.iter().for_each(told);
        evaluation.recommended.costs.iter().for_each(told);
        sentences::sure(&evaluation).iter().for_each(told);
        assert_eq!(sentences::sure(&evaluation).len(), 3, "held out, the tie, the noise");
        assert!(text.contains(evaluation.recommended.profile.lines().next().unwrap()));
    }
}
