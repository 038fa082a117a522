//! The libraries that the formats' own projects publish read what we encode, and we read what they
//! write of it: the same values, in whatever order they put fields.
//!
//! The schemas are compiled by protoc and thrift on the way. Payloads are generated, with a few
//! that have what is hard: names that no language allows, values of several kinds, what has no
//! place.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use cinch_core::document::Document;
use cinch_core::encoding::{ENCODINGS, Engine, Parser, WithSchema};
use cinch_core::json;
use cinch_core::schema::{Language, Plan, Schema};
use cinch_generate::Options;
use cinch_schema::{Model, Observations};
use serde_json::Value;

/// Payloads whose shapes are hard to say in one of the languages.
const HARD: &[&str] = &[
    r#"{"class":1,"user-id":"a","userId":2,"user_id":3,"":4,"日本":5,"@type":"x","a@null":null}"#,
    r#"{"class":"text","user-id":null,"userId":[],"user_id":{},"":[1,"two",null,{"k":[[]]}]}"#,
    r#"{"class":1.5,"deep":{"deep":{"deep":{"x":1}}},"big":12345678901234567890,"e":1e400}"#,
    r#"{"by day":{"2026-01-01":1,"2026-01-02":2,"2026-01-03":3},"list":[[1,2],[],[3.5]]}"#,
    r#"{"by day":{"2026-02-01":1,"2026-02-02":null},"list":[],"empty":[],"nothing":null,"o":{}}"#,
    r#"{"class":true,"deep":{"deep":null},"big":-1,"e":0,"namespace":"n","message":{"oneof":1}}"#,
];

/// Payloads that the schema of the hard ones has no place for, in part.
const UNSEEN: &[&str] = &[
    r#"{"class":[1],"new":{"a":1},"deep":5,"user_id":"three"}"#,
    r#"{"o":{"b":2},"list":["x"],"big":"none","":false,"class":1}"#,
];

fn payloads() -> BTreeMap<&'static str, (Vec<String>, Vec<String>)> {
    let own = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let mut all = BTreeMap::new();
    all.insert("hard", (own(HARD), [own(HARD), own(UNSEEN)].concat()));
    for kind in ["carts", "menus", "trips", "flights", "logs"] {
        let of = cinch_generate::find(kind).unwrap();
        let options = |seed| Options { count: 60, seed, median_bytes: None };
        let made = |seed| of.payloads(options(seed)).collect();
        all.insert(kind, (made(1), made(2)));
    }
    all
}

fn document(text: &str) -> Document {
    let mut document = Document::new();
    json::parse(Parser::Simd, text.as_bytes(), &mut document).unwrap();
    document
}

/// A value without the order of keys; numbers as doubles.
fn unordered(document: &Document) -> Value {
    fn plain(value: Value) -> Value {
        match value {
            Value::Number(number) => Value::from(number.as_f64()),
            Value::Array(all) => all.into_iter().map(plain).collect(),
            Value::Object(all) => all.into_iter().map(|(key, value)| (key, plain(value))).collect(),
            other => other,
        }
    }
    let mut text = Vec::new();
    json::write(document, &mut text);
    // No double holds 1e400; any text will do for it here.
    let text = String::from_utf8(text).unwrap().replace("1e400", "\"1e400\"");
    plain(serde_json::from_str(&text).unwrap())
}

fn coders(schema: &Arc<Schema>) -> Vec<(&'static str, Box<dyn WithSchema>)> {
    let made = |engine: &Engine| match engine {
        Engine::Schema(engine) => engine.with_schema(schema),
        _ => None,
    };
    ENCODINGS.iter().filter_map(|row| Some((row.name, made(&row.engine)?))).collect()
}

fn root_name(schema: &Schema) -> String {
    match schema.plan() {
        Plan::Tagged(plan) => plan.records()[plan.root()].name.clone(),
        Plan::Avro(_) => String::new(),
    }
}

/// What the official library makes of encoded payloads.
fn official(name: &str, schema: &Schema, folder: &Path, encoded: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let python = std::env::var_os("CINCH_PYTHON").expect(
        "CINCH_PYTHON names no interpreter: run `cargo xtask test`, or make one with the packages \
         of integration/python/requirements.txt",
    );
    let file = folder.join(format!("schema.{}", schema.language().extension()));
    std::fs::write(&file, schema.bytes()).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/official.py");
    let mut child = Command::new(python)
        .arg(script)
        .arg(name)
        .arg(&file)
        .arg(root_name(schema))
        .arg(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let hex =
        |bytes: &Vec<u8>| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>() + "\n";
    let lines: String = encoded.iter().map(hex).collect();
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "{name}: {}", output.status);
    let bytes = |line: &str| {
        let digits = line.as_bytes().chunks(2);
        digits.map(|two| u8::from_str_radix(str::from_utf8(two).unwrap(), 16).unwrap()).collect()
    };
    String::from_utf8(output.stdout).unwrap().lines().map(bytes).collect()
}

#[test]
fn official_libraries_read_ours_and_we_read_theirs() {
    for (kind, (training, held_out)) in payloads() {
        let mut observations = Observations::new();
        training.iter().for_each(|text| observations.observe(&document(text)));
        let model = Model::of(&observations);
        for language in Language::ALL {
            let written = cinch_schema::write(language, &model, None, false).unwrap();
            let schema = cinch_schema::read(language, written.text.as_bytes())
                .unwrap_or_else(|error| panic!("{kind}: {error}\n{}", written.text));
            for (name, coder) in coders(&schema) {
                let folder = tempfile::tempdir().unwrap();
                let (mut taken, mut encoded) = (Vec::new(), Vec::new());
                for text in &held_out {
                    let mut bytes = Vec::new();
                    if coder.encode(&document(text), &mut bytes).is_ok() {
                        taken.push(document(text));
                        encoded.push(bytes);
                    }
                }
                assert!(taken.len() * 10 >= held_out.len() * 9, "{kind} {name}");
                let again = official(name, &schema, folder.path(), &encoded);
                assert_eq!(again.len(), taken.len(), "{kind} {name}");
                for (before, bytes) in taken.iter().zip(&again) {
                    let mut after = Document::new();
                    coder.decode(bytes, &mut after).unwrap();
                    assert_eq!(unordered(&after), unordered(before), "{kind} {name}");
                }
            }
        }
    }
}
