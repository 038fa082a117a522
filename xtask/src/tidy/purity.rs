//! Rules about what code of a kind may touch: the pure crates, the environment, kernels, reads of
//! unknown size and errors made of prose. Code under `#[cfg(test)]` and test files are free.

use super::Finding;
use super::files::has_word;
use super::packages::last_part;
use super::tree::{File, Tree};

/// The crates that are pure, and what their code may not name.
const PURE: &[&str] = &["crates/core/src/", "crates/wire/src/"];
const IMPURE: &[&str] = &[
    "std::env",
    "std::net",
    "std::fs",
    "std::process",
    "std::thread",
    "std::time::Instant",
    "Instant",
    "SystemTime",
    "tokio",
    "async fn",
];

/// Where the environment may be read besides main.rs, config.rs and build.rs.
const READS_ENVIRONMENT: &[&str] = &["xtask/", "bench/"];

const NOT_IN_KERNELS: &[&str] = &["Vec", "String", "Box", "std::io", "format!", "vec!"];

pub(super) fn pure(tree: &Tree, findings: &mut Vec<Finding>) {
    let is_pure = |file: &&File| PURE.iter().any(|folder| file.path.starts_with(folder));
    for file in tree.rust().filter(is_pure) {
        ban(file, findings, |code| IMPURE.iter().copied().find(|name| names(code, name)));
    }
}

pub(super) fn environment(tree: &Tree, findings: &mut Vec<Finding>) {
    for file in tree.rust() {
        let is_reader = ["main.rs", "config.rs", "build.rs"].contains(&last_part(&file.path))
            || READS_ENVIRONMENT.iter().any(|folder| file.path.starts_with(folder));
        if !is_reader {
            ban(file, findings, |code| names(code, "std::env").then_some("std::env"));
        }
    }
}

pub(super) fn kernels(tree: &Tree, findings: &mut Vec<Finding>) {
    for file in tree.rust() {
        let name = last_part(&file.path);
        if name == "kernel.rs" || name.ends_with("_kernel.rs") {
            ban(file, findings, |code| {
                NOT_IN_KERNELS.iter().copied().find(|word| has_word(code, word))
            });
        }
    }
}

pub(super) fn bounded_reads(tree: &Tree, findings: &mut Vec<Finding>) {
    let is_pure = |file: &&File| PURE.iter().any(|folder| file.path.starts_with(folder));
    for file in tree.rust().filter(is_pure) {
        ban(file, findings, |code| {
            ["read_to_end", "read_to_string"].into_iter().find(|word| has_word(code, word))
        });
    }
}

/// Variants such as `Other(String)` in an enum whose name ends in `Error`, in the pure crates.
pub(super) fn typed_errors(tree: &Tree, findings: &mut Vec<Finding>) {
    let is_pure = |file: &&File| PURE.iter().any(|folder| file.path.starts_with(folder));
    for file in tree.rust().filter(is_pure) {
        let mut is_in_error = false;
        for (number, line) in file.numbered().filter(|(_, line)| !line.is_test) {
            let code = line.code.trim();
            if let Some((_, name)) = code.split_once("enum ") {
                is_in_error = name.trim_end_matches([' ', '{']).ends_with("Error");
            } else if line.code.starts_with('}') {
                is_in_error = false;
            } else if is_in_error && code.trim_end_matches(',').ends_with("(String)") {
                let message = "this variant holds nothing but prose".to_owned();
                findings.push(Finding { path: file.path.clone(), line: number, message });
            }
        }
    }
}

/// Reports the lines of `file`, tests left out, in which `find` finds something.
fn ban(file: &File, findings: &mut Vec<Finding>, find: impl Fn(&str) -> Option<&'static str>) {
    if file.is_for_tests() {
        return;
    }
    for (number, line) in file.numbered().filter(|(_, line)| !line.is_test) {
        if let Some(found) = find(&line.code) {
            let message = format!("{found} is not for this file");
            findings.push(Finding { path: file.path.clone(), line: number, message });
        }
    }
}

/// Whether code names a path, also inside a group: `use std::{env, fs};` names `std::env`.
fn names(code: &str, path: &str) -> bool {
    // These are constants of the build; only their path says environment.
    let code = code.replace("std::env::consts", "");
    if has_word(&code, path) {
        return true;
    }
    let Some((parent, child)) = path.rsplit_once("::") else { return false };
    let Some((_, group)) = code.split_once(&format!("{parent}::{{")) else { return false };
    group.split([',', '{', '}', ':', ' ', ';']).any(|part| part == child)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_found_inside_a_group() {
        assert!(names("use std::{fs, env};", "std::env"));
        assert!(names("use std::env::args;", "std::env"));
        assert!(!names("use std::{fs, io};", "std::env"));
        assert!(!names("use other::{env};", "std::env"));
    }
}
