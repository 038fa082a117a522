//! Reports: what an evaluation looks like to people and to programs. This file is the front door:
//! the table of the files that a report folder holds, and nothing that knows one format from
//! another.
//!
//! A report renders the model and measures nothing, so that no two reports can disagree. All
//! names come from users: every format escapes them in its own way, and its tests say so.

pub mod csv;
pub mod html;
pub mod human;
pub mod json;
pub mod markdown;
pub mod production;
pub mod svg;
pub mod terminal;

mod flat;
mod sections;
mod sentences;
mod tables;
mod view;

#[cfg(test)]
mod example;

use crate::model::Evaluation;

/// A file of a report folder.
#[derive(Debug, Clone, Copy)]
pub struct ReportFormat {
    /// The name used in arguments and messages.
    pub name: &'static str,
    /// The file's name in the report folder.
    pub file_name: &'static str,
    /// Makes the file's whole text.
    pub render: fn(&Evaluation) -> String,
}

/// Every file of a report folder, in the order in which they are written.
pub const REPORT_FORMATS: &[ReportFormat] = &[
    ReportFormat { name: "html", file_name: "index.html", render: html::render },
    ReportFormat { name: "json", file_name: "evaluation.json", render: json::render },
    ReportFormat { name: "markdown", file_name: "report.md", render: markdown::render },
    ReportFormat { name: "trials-csv", file_name: "trials.csv", render: csv::trials },
    ReportFormat { name: "classes-csv", file_name: "classes.csv", render: csv::classes },
    ReportFormat { name: "svg", file_name: "scatter.svg", render: svg::scatter },
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_and_file_names_are_unique() {
        let names: HashSet<_> = REPORT_FORMATS.iter().map(|format| format.name).collect();
        let files: HashSet<_> = REPORT_FORMATS.iter().map(|format| format.file_name).collect();
        assert_eq!((names.len(), files.len()), (REPORT_FORMATS.len(), REPORT_FORMATS.len()));
    }

    #[test]
    fn every_format_renders_every_example() {
        for evaluation in example::all() {
            for format in REPORT_FORMATS {
                let text = (format.render)(&evaluation);
                assert!(text.ends_with('\n'), "{} ends without a newline", format.name);
                assert!(!text.contains("NaN"), "{} prints NaN", format.name);
                assert_eq!(text, (format.render)(&evaluation), "{} differs", format.name);
            }
        }
    }
}
