//! Runs the vectors of the encodings that need a schema (`vectors/with-schema`): a byte that
//! changes in what is written, a payload that is no longer read, or a schema file that is read
//! differently breaks one of them.
//!
//! What the formats' own libraries make of our bytes is asked in `official.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cinch_core::document::Document;
use cinch_core::encoding::{ENCODINGS, Parser, encoding_named};
use cinch_core::json;
use cinch_core::schema::{Language, Schema};
use serde_json::Value;

fn vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors")
}

/// The rows of every file.
fn rows() -> Vec<Value> {
    let mut rows = Vec::new();
    for entry in std::fs::read_dir(vectors().join("with-schema")).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let file: Value = serde_json::from_str(&text).unwrap();
        rows.extend(file["vectors"].as_array().unwrap().iter().cloned());
    }
    rows
}

fn schema(name: &str) -> Arc<Schema> {
    let ending = name.rsplit('.').next().unwrap();
    let language = Language::ALL.into_iter().find(|language| language.extension() == ending);
    let bytes = std::fs::read(vectors().join(name)).unwrap();
    cinch_schema::read(language.unwrap(), &bytes).unwrap()
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2);
    digits.map(|two| u8::from_str_radix(str::from_utf8(two).unwrap(), 16).unwrap()).collect()
}

#[test]
fn every_vector_gives_its_result() {
    let mut results: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut names = BTreeSet::new();
    for row in rows() {
        let member = |name: &str| row[name].as_str().unwrap_or_else(|| panic!("{name}: {row}"));
        let (name, result) = (member("name"), member("result"));
        assert!(names.insert(name.to_owned()), "{name} stands twice");
        let encoding = encoding_named(member("encoding")).unwrap();
        let coder = encoding.with_schema(Some(&schema(member("schema")))).unwrap().unwrap();
        if let Some(text) = row["text"].as_str() {
            let (mut document, mut encoded) = (Document::new(), Vec::new());
            json::parse(Parser::Ordinary, text.as_bytes(), &mut document).unwrap();
            match coder.encode(&document, &mut encoded) {
                Ok(()) => assert_eq!(encoded, bytes(member("hex")), "{name}"),
                Err(refusal) => {
                    let expected = ("refused", member("error"));
                    assert_eq!((result, &*refusal.to_string()), expected, "{name}");
                }
            }
        }
        if result != "refused" {
            let mut decoded = Document::new();
            match coder.decode(&bytes(member("hex")), &mut decoded) {
                Ok(()) => {
                    let mut text = Vec::new();
                    json::write(&decoded, &mut text);
                    assert_eq!(result, "valid", "{name}");
                    assert_eq!(text, member("payload_text").as_bytes(), "{name}");
                }
                Err(error) => assert_eq!(result, "invalid", "{name}: {error}"),
            }
        }
        results.entry(encoding.name.to_owned()).or_default().insert(result.to_owned());
    }
    let all: BTreeSet<String> = ["invalid", "refused", "valid"].map(str::to_owned).into();
    for encoding in ENCODINGS.iter().filter(|encoding| encoding.needs_schema) {
        assert_eq!(results.get(encoding.name), Some(&all), "{} lacks vectors", encoding.name);
    }
}
