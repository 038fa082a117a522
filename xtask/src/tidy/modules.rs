//! Rules about how files become modules: no mod.rs, and every .rs file is declared by some crate.
//! A file that nothing declares looks alive to a reader and is dead to the compiler.

use std::collections::BTreeSet;

use super::Finding;
use super::packages::last_part;
use super::tree::{File, Tree};

pub(super) fn no_mod_rs(tree: &Tree, findings: &mut Vec<Finding>) {
    for file in tree.rust().filter(|file| last_part(&file.path) == "mod.rs") {
        let message = "name the file after its module".to_owned();
        findings.push(Finding { path: file.path.clone(), line: 1, message });
    }
}

pub(super) fn reachable(tree: &Tree, findings: &mut Vec<Finding>) {
    let mut reached = BTreeSet::new();
    let roots: BTreeSet<&String> =
        tree.packages.iter().flat_map(|package| &package.roots).collect();
    let mut open: Vec<String> = roots.iter().map(|root| (*root).clone()).collect();
    while let Some(path) = open.pop() {
        let Some(file) = tree.files.iter().find(|file| file.path == path) else { continue };
        if reached.insert(path.clone()) {
            open.extend(declared(file, roots.contains(&path)));
        }
    }
    for file in tree.rust().filter(|file| !reached.contains(&file.path)) {
        let message = "no `mod` line and no Cargo target leads to this file".to_owned();
        findings.push(Finding { path: file.path.clone(), line: 1, message });
    }
}

/// The files that the `mod name;` lines of `file` can stand for.
fn declared(file: &File, is_root: bool) -> Vec<String> {
    let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let children = match last_part(&file.path) {
        name if is_root || name == "mod.rs" => folder.to_owned(),
        _ => file.path.trim_end_matches(".rs").to_owned(),
    };
    let texts: Vec<&str> = file.text.lines().collect();
    let mut paths = Vec::new();
    for (number, line) in file.numbered() {
        let Some(name) = module_name(&line.code) else { continue };
        let above = if number >= 2 { texts[number - 2].trim() } else { "" };
        let path = above.strip_prefix("#[path = \"").and_then(|rest| rest.strip_suffix("\"]"));
        match path {
            Some(path) => paths.push(join(folder, path)),
            None => {
                paths.push(join(&children, &format!("{name}.rs")));
                paths.push(join(&children, &format!("{name}/mod.rs")));
            }
        }
    }
    paths
}

/// The name in a line such as `pub(crate) mod name;`.
fn module_name(code: &str) -> Option<&str> {
    let declaration = code.trim().strip_suffix(';')?;
    let (before, name) = declaration.rsplit_once("mod ")?;
    let before = before.trim();
    let is_visibility = before.is_empty() || before.starts_with("pub") || before.ends_with(']');
    let name = name.trim().trim_start_matches("r#");
    let is_name = name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    (is_visibility && is_name && !name.is_empty()).then_some(name)
}

/// Joins two relative paths and resolves `.` and `..`.
pub(super) fn join(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            // A path that leaves the top keeps its dots, and so matches no file.
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn module_lines_are_told_from_others() {
        for line in ["mod a;", "pub mod a;", "  pub(crate) mod a;", "#[cfg(test)] mod a;"] {
            assert_eq!(module_name(line), Some("a"), "{line}");
        }
        for line in ["mod a {", "use mod_a;", "let x = y.mod z;", ""] {
            assert_eq!(module_name(line), None, "{line}");
        }
    }

    #[test]
    fn joined_paths_are_resolved() {
        assert_eq!(join("a/b", "../c.md"), "a/c.md");
        assert_eq!(join("", "./c.md"), "c.md");
        assert_eq!(join("a", "../../c.md"), "../c.md");
    }
}
