//! Records that something is wrong with, as a long job lists them: so many of each kind, and no
//! more, each by a key that an operator can look up or by its hash.

use std::collections::BTreeMap;

use cinch_core::envelope::base_id;
use serde::{Deserialize, Serialize};

/// How many examples of a kind are listed.
pub const EXAMPLES_MAX: usize = 20;

/// How many kinds are listed: as many as there are codes of errors, and room for more.
const KINDS_MAX: usize = 64;

/// The longest part of a key or message that is shown, in characters.
const SHOWN_CHARACTERS_MAX: usize = 200;

/// Problems by kind.
pub type Problems = BTreeMap<String, Problem>;

/// What is wrong with some records.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// How many records.
    pub count: u64,
    /// Some of them.
    pub examples: Vec<Example>,
}

/// A record with a problem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Example {
    /// The key, with replacement characters where it is no text, or `xxh64:` and its hash.
    pub key: String,
    /// What was said of it.
    pub message: String,
}

/// Notes a problem with a record.
pub(crate) fn note(
    problems: &mut Problems,
    kind: &str,
    key: &[u8],
    message: String,
    hides_keys: bool,
) {
    if problems.len() >= KINDS_MAX && !problems.contains_key(kind) {
        return;
    }
    let problem = problems.entry(kind.to_owned()).or_default();
    problem.count += 1;
    if problem.examples.len() < EXAMPLES_MAX {
        let key = match hides_keys {
            true => format!("xxh64:{:016x}", base_id(key)),
            false => shortened(&String::from_utf8_lossy(key)),
        };
        problem.examples.push(Example { key, message: shortened(&message) });
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARACTERS_MAX) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_bounded_and_keys_can_be_hidden() {
        let mut problems = Problems::new();
        for number in 0..100 {
            let key = format!("cart:{number}:{}", "ü".repeat(1_000));
            note(&mut problems, "damaged", key.as_bytes(), String::new(), number % 2 == 0);
        }
        let problem = &problems["damaged"];
        assert_eq!((problem.count, problem.examples.len()), (100, EXAMPLES_MAX));
        assert!(problem.examples[0].key.starts_with("xxh64:"));
        assert!(!problem.examples[0].key.contains("cart"));
        assert!(problem.examples[1].key.starts_with("cart:1:ü"));
        assert!(problem.examples[1].key.len() < 500);
    }
}
