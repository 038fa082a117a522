//! `.avsc` files: written for a model, with properties that say what the language can't, and read,
//! ours and those of others. spec/schema.md has the list of properties.

mod changes;
mod read;
mod write;

use cinch_core::schema::avro::Plan;

use crate::model::Model;
use crate::number::Change;

pub(crate) use read::read;

/// The JSON key of a field whose name is another.
const KEY: &str = "cinch.key";

/// The namespace and names of our own types.
const NAMESPACE: &str = "cinch";
const JSON_NULL: &str = "JsonNull";
const JSON_NUMBER: &str = "JsonNumber";
const JSON_TEXT: &str = "JsonText";
const REST: &str = "Rest";
const MEMBER: &str = "Member";

/// The text of a model's schema, and what is different from the one before.
pub(crate) fn write(model: &Model, previous: Option<&Plan>) -> (String, Vec<Change>) {
    let text = write::write(model);
    let changes = match (previous, read(&text)) {
        (Some(previous), Ok(plan)) => changes::between(previous, &plan),
        _ => Vec::new(),
    };
    (text, changes)
}
