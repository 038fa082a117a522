//! Rules about waiting: tests wait for events and not for time, and queues have bounds.
//! Both faults hide on a fast machine and appear on CI or in production.

use super::Finding;
use super::files::has_word;
use super::tree::Tree;

pub(super) fn no_sleep_in_tests(tree: &Tree, findings: &mut Vec<Finding>) {
    for file in tree.rust() {
        let is_for_tests = file.is_for_tests();
        for (number, line) in file.numbered().filter(|(_, line)| is_for_tests || line.is_test) {
            if has_word(&line.code, "thread::sleep") {
                let message = "a test sleeps".to_owned();
                findings.push(Finding { path: file.path.clone(), line: number, message });
            }
        }
    }
}

pub(super) fn no_unbounded_channel(tree: &Tree, findings: &mut Vec<Finding>) {
    for file in tree.rust() {
        for (number, line) in file.numbered().filter(|(_, line)| is_unbounded(&line.code)) {
            let code = line.code.trim();
            let message = format!("this channel has no bound: {code}");
            findings.push(Finding { path: file.path.clone(), line: number, message });
        }
    }
}

/// `unbounded()`, `unbounded_channel()`, and std's `channel()`, which takes no size. Tokio's
/// channel takes one, so its parentheses are not empty.
fn is_unbounded(code: &str) -> bool {
    if ["unbounded", "unbounded_channel"].iter().any(|name| has_word(code, name)) {
        return true;
    }
    let Some((_, rest)) = code.split_once("mpsc::channel") else { return false };
    let rest = match rest.strip_prefix("::<") {
        Some(typed) => typed.rsplit_once(">(").map_or("", |(_, after)| after),
        None => rest.strip_prefix('(').unwrap_or(""),
    };
    rest.starts_with(')')
}
