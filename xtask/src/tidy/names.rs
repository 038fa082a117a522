//! Rules about names: no drawers (modules for whatever fits nowhere else) and no `get_`.
//! They hold in tests too, because that is where drawers start.

use super::Finding;
use super::tree::Tree;

const DRAWERS: &[&str] = &["util", "utils", "misc", "helper", "helpers", "common"];

pub(super) fn drawers(tree: &Tree, findings: &mut Vec<Finding>) {
    for file in tree.rust() {
        let mut parts = file.path.trim_end_matches(".rs").split('/');
        if let Some(part) = parts.find(|part| DRAWERS.contains(part)) {
            let message = format!("{part} says nothing of what is in it");
            findings.push(Finding { path: file.path.clone(), line: 1, message });
        }
        for (number, line) in file.numbered() {
            let code = line.code.trim_end_matches([' ', '{', '}', ';']);
            let name = code.rsplit_once("mod ").map(|(_, name)| name.trim());
            if name.is_some_and(|name| DRAWERS.contains(&name)) {
                let message = "a module is named after what it holds".to_owned();
                findings.push(Finding { path: file.path.clone(), line: number, message });
            }
        }
    }
}

pub(super) fn getters(tree: &Tree, findings: &mut Vec<Finding>) {
    for file in tree.rust() {
        for (number, line) in file.numbered() {
            if let Some((_, name)) = line.code.split_once("fn get_") {
                let rest: String = name
                    .chars()
                    .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
                    .collect();
                let message = format!("get_{rest} can be called {rest}");
                findings.push(Finding { path: file.path.clone(), line: number, message });
            }
        }
    }
}
