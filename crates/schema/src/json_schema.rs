//! A model as JSON Schema, draft 2020-12: for validators and editors. No encoding uses it. It
//! says what the others can't: which members an object may lack.

use serde_json::{Map, Value as Json, json};

use crate::model::{Kind, Model, Value, Width};

/// The text of the file.
pub fn write(model: &Model) -> String {
    let mut definitions = Map::new();
    for record in &model.records {
        let mut properties = Map::new();
        for field in &record.fields {
            properties.insert(field.key.clone(), value(model, &field.value));
        }
        let required: Vec<&str> = record
            .fields
            .iter()
            .filter(|field| field.is_always)
            .map(|field| field.key.as_str())
            .collect();
        let mut object = json!({ "type": "object", "properties": properties });
        if !required.is_empty() {
            object["required"] = json!(required);
        }
        definitions.insert(record.name.clone(), object);
    }
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": definitions,
    });
    if let (Json::Object(root), Json::Object(schema)) = (value(model, &model.root), &mut schema) {
        schema.extend(root);
    }
    format!("{schema:#}\n")
}

fn value(model: &Model, value: &Value) -> Json {
    match &value.kinds[..] {
        [one] => kind(model, one),
        several => {
            json!({ "anyOf": several.iter().map(|one| kind(model, one)).collect::<Vec<_>>() })
        }
    }
}

fn kind(model: &Model, of: &Kind) -> Json {
    match of {
        Kind::Null => json!({ "type": "null" }),
        Kind::Bool => json!({ "type": "boolean" }),
        Kind::Integer(Width::Unsigned) => json!({ "type": "integer", "minimum": 0 }),
        Kind::Integer(_) => json!({ "type": "integer" }),
        Kind::Double | Kind::NumberText => json!({ "type": "number" }),
        Kind::Text => json!({ "type": "string" }),
        Kind::List(element) => json!({ "type": "array", "items": value(model, element) }),
        Kind::Map(element) => {
            json!({ "type": "object", "additionalProperties": value(model, element) })
        }
        Kind::Record(index) => json!({ "$ref": format!("#/$defs/{}", model.records[*index].name) }),
        Kind::Json => json!({}),
    }
}
