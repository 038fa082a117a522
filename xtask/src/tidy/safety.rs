//! The rule about `unsafe`: every block and impl has a SAFETY comment at hand, every unsafe fn or
//! trait a `# Safety` section in its documentation. Clippy asks for the first only in some places.

use super::Finding;
use super::files::has_word;
use super::tree::{File, Tree};

/// How far above the comment may end: a statement's first lines may stand between.
const LINES_BETWEEN: usize = 3;

pub(super) fn comments(tree: &Tree, findings: &mut Vec<Finding>) {
    for file in tree.rust() {
        for (number, line) in file.numbered().filter(|(_, line)| has_word(&line.code, "unsafe")) {
            let message = match kind(&line.code) {
                Kind::Contract if !has_section(file, number) => "no `# Safety` section above",
                Kind::Claim if !has_comment(file, number) => "no SAFETY comment above",
                _ => continue,
            };
            let message = message.to_owned();
            findings.push(Finding { path: file.path.clone(), line: number, message });
        }
    }
}

enum Kind {
    /// An unsafe fn or trait: callers or implementers owe something.
    Contract,
    /// A block, an impl or a foreign block: its writer claims that it is sound.
    Claim,
    /// A function pointer's type, or an attribute such as `unsafe(no_mangle)` explained elsewhere.
    Other,
}

fn kind(code: &str) -> Kind {
    let Some((_, rest)) = code.split_once("unsafe") else { return Kind::Other };
    let rest = rest.trim_start();
    let rest = match rest.strip_prefix("extern") {
        Some(after) => after.trim_start().trim_start_matches("\"\"").trim_start(),
        None => rest,
    };
    if rest.starts_with("trait ") {
        return Kind::Contract;
    }
    match rest.strip_prefix("fn") {
        // `unsafe fn(` is a type; `unsafe fn name` is an item.
        Some(after) if after.starts_with(' ') => Kind::Contract,
        Some(_) => Kind::Other,
        None if rest.starts_with('{') || rest.starts_with("impl") || rest.is_empty() => Kind::Claim,
        None => Kind::Other,
    }
}

/// Whether a SAFETY comment stands in the line, or ends at most `LINES_BETWEEN` lines above it.
fn has_comment(file: &File, number: usize) -> bool {
    let comment = |index: usize| file.lines[index].comment.as_str();
    let here = number - 1;
    let says = |index: usize| comment(index).contains("SAFETY:");
    if says(here) {
        return true;
    }
    let mut above = (here.saturating_sub(LINES_BETWEEN)..here).rev();
    let Some(last) = above.find(|&index| !comment(index).is_empty()) else { return false };
    (0..=last).rev().take_while(|&index| !comment(index).is_empty()).any(says)
}

/// Whether the documentation above an item has a `# Safety` heading.
fn has_section(file: &File, number: usize) -> bool {
    let is_above = |index: &usize| {
        let line = &file.lines[*index];
        let code = line.code.trim();
        !line.comment.is_empty() || code.starts_with("#[") || code.ends_with(")]")
    };
    (0..number - 1)
        .rev()
        .take_while(is_above)
        .any(|index| file.lines[index].comment.trim_start_matches(['/', ' ']) == "# Safety")
}
