//! Fuzz bodies of the encodings that go by a schema: one schema with every form, so that what bytes
//! and payloads may do is met without a schema file in the input.

use std::sync::Arc;

use crate::document::{Document, Fidelity, first_difference};
use crate::encoding::tagged::testing::every_form;
use crate::encoding::{ENCODINGS, Encoding, Engine, Parser, WithSchema};
use crate::json;
use crate::schema::avro::{Field, Record, Type};
use crate::schema::{Language, Plan, Schema, avro, tagged};

/// An encoding that needs a schema, with one.
type WithOne = (&'static Encoding, Box<dyn WithSchema>);

thread_local! {
    /// Each of them, made once: to make them takes longer than most inputs do.
    static CODERS: Vec<WithOne> = coders();
}

fn coders() -> Vec<WithOne> {
    let schemas = [Language::Protobuf, Language::Thrift, Language::Avro].map(schema);
    let made = |encoding: &'static Encoding| {
        let Engine::Schema(engine) = encoding.engine else { return None };
        schemas.iter().find_map(|schema| Some((encoding, engine.with_schema(schema)?)))
    };
    ENCODINGS.iter().filter_map(made).collect()
}

/// Calls with the one that a byte picks.
fn with_coder(row: u8, body: impl FnOnce(&Encoding, &dyn WithSchema)) {
    CODERS.with(|coders| {
        let (encoding, coder) = &coders[usize::from(row) % coders.len()];
        body(encoding, coder.as_ref());
    });
}

fn schema(language: Language) -> Arc<Schema> {
    let plan = match language {
        Language::Avro => {
            avro::Plan::new(avro_records(), Type::Record(0)).map(|plan| Plan::Avro(Arc::new(plan)))
        }
        _ => tagged::Plan::new(every_form(), 0).map(|plan| Plan::Tagged(Arc::new(plan))),
    };
    let plan = plan.unwrap_or_else(|error| unreachable!("the schema is sound: {error}"));
    Schema::new(language, b"a schema of the fuzz targets".to_vec(), plan)
}

/// A record with every type, whose keys are those of the other languages' schema.
fn avro_records() -> Vec<Record> {
    let list = |of| Type::List(Box::new(of));
    let value = Type::Union(vec![Type::Null, Type::Double, Type::Text, Type::Record(0)]);
    let field = |(key, of): (&str, Type)| Field {
        key: key.to_owned(),
        name: key.to_owned(),
        of: Type::Union(vec![Type::Null, of, Type::JsonNull]),
        absent: Some(0),
    };
    let fields = [
        ("b", Type::Bool),
        ("i", Type::Int),
        ("n", Type::NumberText),
        ("d", Type::Double),
        ("t", Type::Text),
        ("y", Type::Bytes(None)),
        ("e", Type::Enum(vec!["RED".to_owned(), "BLUE".to_owned()])),
        ("j", Type::Json),
        ("r", Type::Record(0)),
        ("li", list(Type::Long)),
        ("lv", list(value)),
        ("lr", list(Type::Record(1))),
        ("md", Type::Map(Box::new(Type::Float))),
    ];
    let always = Field { key: "a".to_owned(), name: "a".to_owned(), of: Type::Null, absent: None };
    vec![
        Record { name: "Payload".to_owned(), fields: fields.map(field).into(), has_rest: true },
        Record { name: "Empty".to_owned(), fields: vec![always], has_rest: false },
    ]
}

/// Any bytes are refused, or decode to a value that its text says again and that is encoded to what
/// decodes to it. The first byte picks the encoding.
pub fn schema_decode_any(bytes: &[u8]) {
    let Some((&row, encoded)) = bytes.split_first() else { return };
    with_coder(row, |encoding, coder| {
        let mut document = Document::new();
        if coder.decode(encoded, &mut document).is_err() {
            return;
        }
        let mut text = Vec::new();
        json::write(&document, &mut text);
        let mut again = Document::new();
        let parsed = json::parse(Parser::Ordinary, &text, &mut again);
        assert!(parsed.is_ok(), "{}: {parsed:?}", encoding.name);
        assert_eq!(first_difference(&document, &again, Fidelity::Value), None, "{}", encoding.name);
        comes_back(encoding, coder, &document);
    });
}

/// A JSON value is refused with its path, or comes back. The first byte picks the encoding, the
/// rest is JSON text.
pub fn schema_roundtrip(bytes: &[u8]) {
    let Some((&row, text)) = bytes.split_first() else { return };
    let mut document = Document::new();
    if json::parse(Parser::Ordinary, text, &mut document).is_ok() {
        with_coder(row, |encoding, coder| comes_back(encoding, coder, &document));
    }
}

fn comes_back(encoding: &Encoding, coder: &dyn WithSchema, document: &Document) {
    let mut encoded = Vec::new();
    if coder.encode(document, &mut encoded).is_err() {
        return;
    }
    let mut decoded = Document::new();
    let result = coder.decode(&encoded, &mut decoded);
    assert!(result.is_ok(), "{}: {result:?}", encoding.name);
    let difference = first_difference(document, &decoded, encoding.fidelity);
    assert_eq!(difference, None, "{}", encoding.name);
}
