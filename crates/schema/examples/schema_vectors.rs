//! Writes the test vectors of the encodings that need a schema, with the schema files.
//!
//! As those of the core (`crates/core/examples/vectors.rs`) they are never edited: a file that is
//! there is not written again. `cargo run -p cinch-schema --example schema_vectors` writes what is
//! missing. They live here because the core reads no schema files.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use cinch_core::document::Document;
use cinch_core::encoding::{ENCODINGS, Encoding, Parser, WithSchema};
use cinch_core::json;
use cinch_core::schema::{Language, Schema};
use cinch_schema::{Model, Observations};
use serde_json::{Value, json};

/// Payloads that teach the inferred schema: every form that a schema has.
const TEACHING: &[&str] = &[
    r#"{"id":1,"name":"a","open":true,"total":12.5,"user-id":"u","note":null,"tags":["x","y"]}"#,
    r#"{"id":5000000000,"total":3,"lines":[{"sku":"A","n":1},{"sku":"B","n":2,"gift":true}]}"#,
    r#"{"id":-1,"total":"free","days":{"2026-01-01":1,"2026-01-02":2,"2026-01-03":3}}"#,
    r#"{"id":2,"total":[1,"two",null],"empty":[],"big":12345678901234567890,"huge":1e400}"#,
    r#"{"id":3,"node":{"node":{"node":{"x":1}}},"open":null,"counts":[1,2,300],"é":1.5}"#,
];

/// What else is encoded with the inferred schema.
const MORE: &[&str] = &[
    "{}",
    r#"{"open":false,"name":"another order","id":0}"#,
    r#"{"id":7,"new":{"a":[1]},"name":5}"#,
    r#"{"id":8,"id":9}"#,
    r#"{"total":1.50,"lines":[],"tags":["","é"],"days":{},"node":{}}"#,
];

/// Payloads of the schema files that others wrote.
const SHOP: &[&str] = &[concat!(
    r#"{"id":"c","lines":[{"sku":"x","count":2},{"sku":"y"}],"totals":{"eur":-5},"#,
    r#""kind":"GIFT","blob":"AAE=","weights":[0.5,1],"card":"visa","user_id":7}"#,
)];

/// Payloads that those refuse.
const NOT_SHOP: &[&str] = &[r#"{"id":"c","color":"red"}"#, r#"{"id":1}"#, "[]"];

fn main() -> ExitCode {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors");
    for language in Language::ALL {
        if let Err(error) = write(&folder, language) {
            eprintln!("{}: {error}", language.name());
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn write(folder: &Path, language: Language) -> Result<(), Box<dyn std::error::Error>> {
    let mut observations = Observations::new();
    TEACHING.iter().for_each(|text| observations.observe(&document(text)));
    let inferred = cinch_schema::write(language, &Model::of(&observations), None, false)?.text;
    let shop = match language {
        Language::Protobuf => include_str!("../tests/files/shop.proto"),
        Language::Thrift => include_str!("../tests/files/shop.thrift"),
        Language::Avro => include_str!("../tests/files/shop.avsc"),
    };
    let ending = language.extension();
    let files = [
        (format!("schemas/orders.{ending}"), inferred.as_str()),
        (format!("schemas/shop.{ending}"), shop),
    ];
    for (name, text) in &files {
        write_new(&folder.join(name), text)?;
    }
    let [orders, shop] = files;
    // What a file says counts, which may be older than what would be inferred today.
    let read = |name: &str| -> Result<Arc<Schema>, Box<dyn std::error::Error>> {
        Ok(cinch_schema::read(language, &std::fs::read(folder.join(name))?)?)
    };
    let (by_orders, by_shop) = (read(&orders.0)?, read(&shop.0)?);
    for encoding in ENCODINGS {
        let (Ok(Some(own)), Ok(Some(given))) =
            (encoding.with_schema(Some(&by_orders)), encoding.with_schema(Some(&by_shop)))
        else {
            continue;
        };
        let mut rows = Vec::new();
        for text in TEACHING.iter().chain(MORE) {
            rows.push(row(encoding, &orders.0, own.as_ref(), text));
        }
        for text in SHOP.iter().chain(NOT_SHOP) {
            rows.push(row(encoding, &shop.0, given.as_ref(), text));
        }
        // Every part of a payload is refused, and so is a byte behind it.
        let mut bytes = Vec::new();
        given.encode(&document(SHOP[0]), &mut bytes)?;
        let longer = [&bytes[..], &[0]].concat();
        let parts = (0..bytes.len()).map(|end| &bytes[..end]).chain([&longer[..]]);
        for part in parts.filter(|part| given.decode(part, &mut Document::new()).is_err()) {
            rows.push(json!({
                "name": format!("{}, {} bytes", encoding.name, part.len()),
                "encoding": encoding.name,
                "schema": shop.0,
                "hex": hex(part),
                "result": "invalid",
                "check": "decode",
            }));
        }
        let lines: Vec<String> = rows.iter().map(Value::to_string).collect();
        let note = format!("{}, by the schema files of ../schemas.", encoding.name);
        let text =
            format!("{{\"note\": {}, \"vectors\": [\n{}\n]}}\n", json!(note), lines.join(",\n"));
        write_new(&folder.join("with-schema").join(format!("{}.json", encoding.name)), &text)?;
    }
    Ok(())
}

/// What becomes of a payload.
fn row(encoding: &Encoding, schema: &str, coder: &dyn WithSchema, text: &str) -> Value {
    let mut bytes = Vec::new();
    let mut row = json!({
        "name": format!("{}, {text}", encoding.name),
        "encoding": encoding.name,
        "schema": schema,
        "text": text,
        "check": "encode_exact",
    });
    match coder.encode(&document(text), &mut bytes) {
        Ok(()) => {
            let (mut decoded, mut payload) = (Document::new(), Vec::new());
            coder.decode(&bytes, &mut decoded).expect("own bytes are decoded");
            json::write(&decoded, &mut payload);
            row["hex"] = hex(&bytes).into();
            row["payload_text"] = String::from_utf8(payload).expect("JSON text is UTF-8").into();
            row["result"] = "valid".into();
        }
        Err(refusal) => {
            row["result"] = "refused".into();
            row["error"] = refusal.to_string().into();
        }
    }
    row
}

fn document(text: &str) -> Document {
    let mut document = Document::new();
    json::parse(Parser::Ordinary, text.as_bytes(), &mut document).expect("the text is JSON");
    document
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes a file that does not exist.
fn write_new(path: &PathBuf, text: &str) -> std::io::Result<()> {
    if path.exists() {
        println!("{} stays", path.display());
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, text)
}
