//! The rule about silenced lints: `allow` and `expect` carry a `reason`. A bare one can't be told
//! from one that was put there to get a build through on a Friday.

use super::Finding;
use super::tree::{File, Tree};

const SILENCERS: &[&str] = &["#[allow(", "#![allow(", "#[expect(", "#![expect("];

pub(super) fn reasons(tree: &Tree, findings: &mut Vec<Finding>) {
    for file in tree.rust() {
        for (number, line) in file.numbered() {
            let Some(start) = SILENCERS.iter().find_map(|name| line.code.find(name)) else {
                continue;
            };
            if !attribute(file, number, start).contains("reason =") {
                let message = "a lint is silenced without a reason".to_owned();
                findings.push(Finding { path: file.path.clone(), line: number, message });
            }
        }
    }
}

/// The code of the attribute that starts in line `number` at byte `start`, to its closing bracket.
fn attribute(file: &File, number: usize, start: usize) -> String {
    let mut text = String::new();
    let mut depth = 0;
    for (index, line) in file.lines[number - 1..].iter().enumerate() {
        let code = if index == 0 { &line.code[start..] } else { &line.code };
        for character in code.chars() {
            text.push(character);
            match character {
                '[' => depth += 1,
                ']' => depth -= 1,
                _ => continue,
            }
            if depth == 0 {
                return text;
            }
        }
        text.push(' ');
    }
    text
}
