//! Corpora for the benches of parsers and encodings: the generated kinds, and any folder of files
//! with one JSON value a line. Each is cut to a size that fits the caches of no machine entirely
//! and still leaves a run short.

use std::fs;
use std::path::Path;

use cinch_generate::{KINDS, Options};
use serde_json::Value;

use crate::failure::Outcome;

/// Seed 1 is also that of the expected sizes.
pub(crate) const SEED: u64 = 1;

/// Payloads that are measured together.
pub(crate) struct Corpus {
    pub(crate) name: String,
    pub(crate) payloads: Vec<Vec<u8>>,
}

impl Corpus {
    pub(crate) fn bytes(&self) -> usize {
        self.payloads.iter().map(Vec::len).sum()
    }

    /// The first of these payloads, up to this many bytes together, but one at least.
    fn first(name: &str, payloads: impl Iterator<Item = Vec<u8>>, bytes_max: usize) -> Corpus {
        let mut bytes = 0;
        let mut taken = Vec::new();
        for payload in payloads {
            bytes += payload.len();
            if bytes > bytes_max && !taken.is_empty() {
                break;
            }
            taken.push(payload);
        }
        Corpus { name: name.to_owned(), payloads: taken }
    }
}

/// Every kind that cinch-generate has.
pub(crate) fn generated(bytes_max: usize) -> Vec<Corpus> {
    let options = Options { count: usize::MAX, seed: SEED, median_bytes: None };
    let corpus = |kind: &cinch_generate::Kind| {
        let payloads = kind.payloads(options).map(String::into_bytes);
        Corpus::first(kind.name, payloads, bytes_max)
    };
    KINDS.iter().map(corpus).collect()
}

/// Every `.ndjson` file of a folder, in the order of the names.
pub(crate) fn of_folder(folder: &Path, bytes_max: usize) -> Outcome<Vec<Corpus>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "ndjson") {
            paths.push(path);
        }
    }
    paths.sort();
    let mut corpora = Vec::new();
    for path in paths {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let content = fs::read(&path)?;
        // What serde_json refuses (deep nesting, lone surrogates) could not be compared.
        let is_common = |line: &&[u8]| serde_json::from_slice::<Value>(line).is_ok();
        let lines = content.split(|&byte| byte == b'\n').filter(is_common);
        corpora.push(Corpus::first(&name, lines.map(<[u8]>::to_vec), bytes_max));
    }
    if corpora.is_empty() {
        return Err(format!("{} has no .ndjson files", folder.display()).into());
    }
    Ok(corpora)
}

/// Whether two texts hold the same value to a reader who takes numbers as doubles. The last bit of
/// a double is not compared: serde_json and its like do not always round correctly.
pub(crate) fn is_same(left: &[u8], right: &[u8]) -> Outcome<bool> {
    Ok(is_same_value(&serde_json::from_slice(left)?, &serde_json::from_slice(right)?))
}

/// See [`is_same`].
pub(crate) fn is_same_value(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            let (left, right) = (left.as_f64(), right.as_f64());
            left.zip(right).is_some_and(|(left, right)| {
                (left - right).abs() <= left.abs().max(right.abs()) * f64::EPSILON
            })
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| is_same_value(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, value)| {
                    right.get(key).is_some_and(|other| is_same_value(value, other))
                })
        }
        _ => left == right,
    }
}

#[cfg(test)]
mod tests {
    use super::is_same;

    #[test]
    fn values_are_compared_and_not_texts() {
        let same = |left: &str, right: &str| is_same(left.as_bytes(), right.as_bytes()).unwrap();
        assert!(same(r#"{"a":1.50,"b":[null,true]}"#, r#"{"b":[null,true],"a":15e-1}"#));
        assert!(!same(r#"{"a":1.5}"#, r#"{"a":1.6}"#));
        assert!(!same("[1]", "[1,2]"));
        assert!(!same(r#"{"a":1}"#, r#"{"b":1}"#));
    }
}
