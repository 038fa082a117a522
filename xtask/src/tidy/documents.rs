//! Rules about documents: relative links lead somewhere, anchors name a heading, and there is one
//! title. Code in fences and between backticks is no link and no heading.

use super::Finding;
use super::modules::join;
use super::tree::{File, Tree};

pub(super) fn links(tree: &Tree, findings: &mut Vec<Finding>) {
    for file in tree.markdown() {
        for (number, line) in prose(file) {
            for target in targets(&without_code(line)) {
                if let Some(message) = fault(tree, file, &target) {
                    findings.push(Finding { path: file.path.clone(), line: number, message });
                }
            }
        }
    }
}

pub(super) fn title(tree: &Tree, findings: &mut Vec<Finding>) {
    for file in tree.markdown() {
        let titles: Vec<usize> = prose(file)
            .filter(|(_, line)| line.starts_with("# "))
            .map(|(number, _)| number)
            .collect();
        if titles.len() != 1 {
            let message = format!("the document has {} titles", titles.len());
            let line = titles.get(1).copied().unwrap_or(1);
            findings.push(Finding { path: file.path.clone(), line, message });
        }
    }
}

/// The numbered lines outside code fences.
fn prose(file: &File) -> impl Iterator<Item = (usize, &str)> {
    let mut is_fenced = false;
    file.text.lines().enumerate().filter_map(move |(index, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_fenced ^= is_fence;
        (!is_fenced && !is_fence).then_some((index + 1, line))
    })
}

/// A line with what stands between backticks left out.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// The targets of `[text](target)`, `[name]: target`, `src="target"` and `href="target"`.
fn targets(line: &str) -> Vec<String> {
    let mut targets = Vec::new();
    for (opening, closing) in [("](", ')'), ("src=\"", '"'), ("href=\"", '"')] {
        for (start, _) in line.match_indices(opening) {
            let rest = &line[start + opening.len()..];
            targets.push(rest.split(closing).next().unwrap_or_default());
        }
    }
    if let Some((_, target)) = line.strip_prefix('[').and_then(|rest| rest.split_once("]: ")) {
        targets.push(target);
    }
    // A title may follow the target, and angle brackets may enclose it.
    let bare = |target: &str| {
        let first = target.split_whitespace().next().unwrap_or_default();
        first.trim_matches(['<', '>']).to_owned()
    };
    targets.into_iter().map(bare).collect()
}

/// What is wrong with a link's target, if anything.
fn fault(tree: &Tree, file: &File, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") || target.starts_with("data:") {
        return None;
    }
    if target.is_empty() {
        return Some("the link leads nowhere".to_owned());
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let path = if path.is_empty() { file.path.clone() } else { join(folder, path) };
    let is_folder = || tree.paths.iter().any(|known| known.starts_with(&format!("{path}/")));
    if target.starts_with('/') || !(tree.paths.contains(&path) || path.is_empty() || is_folder()) {
        return Some(format!("{target} leads to no file"));
    }
    let document = tree.markdown().find(|document| document.path == path)?;
    let has_heading = prose(document).any(|(_, line)| slug(line).as_deref() == Some(anchor));
    if anchor.is_empty() || has_heading {
        return None;
    }
    Some(format!("{path} has no heading #{anchor}"))
}

/// The anchor that GitHub gives a heading; none if the line is not a heading.
fn slug(line: &str) -> Option<String> {
    let heading = line.trim_start_matches('#');
    if heading.len() == line.len() || !heading.starts_with(' ') {
        return None;
    }
    let letter = |letter: char| match letter {
        ' ' => Some('-'),
        '-' | '_' => Some(letter),
        _ => letter.is_alphanumeric().then(|| letter.to_ascii_lowercase()),
    };
    Some(heading.trim().chars().filter_map(letter).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_are_made_as_github_makes_them() {
        assert_eq!(slug("## Adding a codec, in `core`").as_deref(), Some("adding-a-codec-in-core"));
        assert_eq!(slug("#no heading"), None);
        assert_eq!(slug("text"), None);
    }

    #[test]
    fn every_kind_of_link_is_found() {
        let line = "[a](b.md \"c\") ![d](<e.png>) <img src=\"f.svg\">";
        assert_eq!(targets(line), ["b.md", "e.png", "f.svg"]);
        assert_eq!(targets("[x]: y.md"), ["y.md"]);
        assert_eq!(targets(&without_code("`[a](b)` c")), [""; 0]);
    }
}
