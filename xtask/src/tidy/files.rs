//! Rules about a file as a whole or about its raw lines: the header, the length, the width, blanks
//! at line ends, and markers of unfinished work. They read the text, strings and comments included.

use super::Finding;
use super::tree::{File, Tree};

const LINES_MAX: usize = 600;
const COLUMNS_MAX: usize = 100;

/// Files that may be longer than `LINES_MAX`, each with its reason.
const LONG: &[(&str, &str)] = &[];

/// The endings of what we write by hand as source; documents may be long and may name markers.
const SOURCE: &[&str] = &[".rs", ".py", ".java", ".sh", ".toml", ".yml", ".yaml", ".js", ".css"];

/// Split, so that this table does not break its own rule.
const MARKERS: &[&str] =
    &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X"), concat!("HA", "CK")];

pub(super) fn header(tree: &Tree, findings: &mut Vec<Finding>) {
    for file in tree.rust() {
        let count = file.text.lines().take_while(|line| line.starts_with("//!")).count();
        if count < 2 {
            let message = format!("the file opens with {count} `//!` lines");
            findings.push(Finding { path: file.path.clone(), line: 1, message });
        }
    }
}

pub(super) fn length(tree: &Tree, findings: &mut Vec<Finding>) {
    for file in tree.files.iter().filter(|file| is_source(file)) {
        let count = file.text.lines().count();
        if count > LINES_MAX && LONG.iter().all(|(path, _)| *path != file.path) {
            let message = format!("{count} lines, {LINES_MAX} are allowed");
            findings.push(Finding { path: file.path.clone(), line: LINES_MAX + 1, message });
        }
    }
}

pub(super) fn width(tree: &Tree, findings: &mut Vec<Finding>) {
    for file in tree.rust() {
        for (index, line) in file.text.lines().enumerate() {
            let columns = line.chars().count();
            // An address can't be broken, and shortening it would break it too.
            if columns > COLUMNS_MAX && !line.contains("://") {
                let message = format!("{columns} columns, {COLUMNS_MAX} are allowed");
                findings.push(Finding { path: file.path.clone(), line: index + 1, message });
            }
        }
    }
}

pub(super) fn whitespace(tree: &Tree, findings: &mut Vec<Finding>) {
    for file in &tree.files {
        let mut report = |line, message: &str| {
            findings.push(Finding { path: file.path.clone(), line, message: message.to_owned() });
        };
        for (index, line) in file.text.split('\n').enumerate() {
            if line.ends_with([' ', '\t', '\r']) {
                report(index + 1, "blanks at the end of the line");
            }
        }
        let count = file.text.lines().count();
        if !file.text.is_empty() && !file.text.ends_with('\n') {
            report(count, "no newline at the end of the file");
        }
        if file.text.ends_with("\n\n") {
            report(count, "empty lines at the end of the file");
        }
    }
}

pub(super) fn unfinished(tree: &Tree, findings: &mut Vec<Finding>) {
    for file in tree.files.iter().filter(|file| is_source(file)) {
        for (index, line) in file.text.lines().enumerate() {
            for marker in MARKERS.iter().filter(|marker| has_word(line, marker)) {
                let message = format!("{marker} is left in the source");
                findings.push(Finding { path: file.path.clone(), line: index + 1, message });
            }
        }
    }
}

fn is_source(file: &File) -> bool {
    SOURCE.iter().any(|ending| file.path.ends_with(ending)) || file.path.starts_with(".ci/")
}

/// Whether `word` stands in `text` with no letter, digit or underscore touching its ends.
pub(super) fn has_word(text: &str, word: &str) -> bool {
    let is_name = |character: char| character.is_alphanumeric() || character == '_';
    text.match_indices(word).any(|(start, _)| {
        let before = text[..start].chars().next_back();
        let after = text[start + word.len()..].chars().next();
        !before.is_some_and(is_name) && !after.is_some_and(is_name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_ends_where_a_name_would_go_on() {
        assert!(has_word("use std::env;", "std::env"));
        assert!(!has_word("use std::environment;", "std::env"));
        assert!(!has_word("my_unsafe()", "unsafe"));
        assert!(has_word("unsafely unsafe", "unsafe"));
    }

    #[test]
    fn every_long_file_has_a_reason() {
        assert!(LONG.iter().all(|(_, reason)| reason.len() > 10));
    }
}
