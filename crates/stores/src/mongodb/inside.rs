//! What reads inside the raw field of a collection: indexes, validators and views that name it or a
//! path below it.

use bson::{Bson, Document, doc};
use futures_util::TryStreamExt;

use super::MongoStore;
use super::failure::explain;
use crate::address::Address;
use crate::error::{StoreError, in_one_line};
use crate::preflight::{Effect, Found, OBJECTS_MAX, Report, WITH_TWO_SLOTS, short};

/// Looks at the collection of an address.
///
/// # Errors
/// [`StoreError`].
pub(crate) async fn look_inside(address: Address) -> Result<Report, StoreError> {
    let store = MongoStore::open(address).await?;
    let mut found = Vec::new();
    let mut unseen = Vec::new();
    let mut hear =
        |what: &str, error: mongodb::error::Error| match explain(&store.name, b"", &error) {
            StoreError::Refused { .. } => {
                unseen.push(format!("{what}: {}", in_one_line(&error)));
                Ok(())
            }
            other => Err(other),
        };
    match indexes(&store).await {
        Ok(more) => found.extend(more),
        Err(error) => hear("indexes", error)?,
    }
    match collections(&store).await {
        Ok(more) => found.extend(more),
        Err(error) => hear("validators and views", error)?,
    }
    unseen.push("queries, aggregations, change streams and exports of applications".to_owned());
    let place = format!("field {} of {}", store.names.raw, store.collection.name());
    Ok(Report { store: store.name.clone(), place, when: WITH_TWO_SLOTS, found, unseen })
}

async fn indexes(store: &MongoStore) -> Result<Vec<Found>, mongodb::error::Error> {
    let raw = store.names.raw.as_str();
    // A collection that is not there yet has none.
    let listed: Vec<_> = store.collection.list_indexes().await?.try_collect().await?;
    let mut found = Vec::new();
    for index in listed.into_iter().take(OBJECTS_MAX) {
        let options = index.options.unwrap_or_default();
        let keys = Bson::Document(index.keys.clone());
        let reads_all = index.keys.keys().any(|key| key == "$**");
        let partial = options.partial_filter_expression.map(Bson::Document);
        let names_it = index.keys.keys().any(|key| is_below(key, raw))
            || partial.as_ref().is_some_and(|filter| names(filter, raw));
        // A text index keeps its fields as weights.
        let weights = options
            .weights
            .is_some_and(|weights| weights.keys().any(|key| is_below(key, raw) || key == "$**"));
        if names_it || weights || reads_all {
            let name = options.name.unwrap_or_else(|| short(&keys.to_string()));
            let why = format!("it reads {raw}: {}", short(&keys.to_string()));
            found.push(Found { kind: "index".to_owned(), name, effect: Effect::Breaks, why });
        }
    }
    Ok(found)
}

async fn collections(store: &MongoStore) -> Result<Vec<Found>, mongodb::error::Error> {
    let (raw, own) = (store.names.raw.as_str(), store.collection.name());
    let database = store.collection.client().database(&store.collection.namespace().db);
    let mut found = Vec::new();
    let mut cursor = database.run_cursor_command(doc! { "listCollections": 1 }).await?;
    while let Some(listed) = cursor.try_next().await? {
        let name = listed.get_str("name").unwrap_or_default().to_owned();
        let options = listed.get_document("options").cloned().unwrap_or_default();
        let get = |key: &str| options.get(key).filter(|value| names(value, raw));
        if name == own
            && let Some(validator) = get("validator")
        {
            let why = format!("it checks {raw}: {}", short(&validator.to_string()));
            let kind = "validator".to_owned();
            found.push(Found { kind, name, effect: Effect::Breaks, why });
        } else if options.get_str("viewOn").is_ok_and(|on| on == own)
            && let Some(pipeline) = get("pipeline")
        {
            let why = format!("it reads {raw}: {}", short(&pipeline.to_string()));
            found.push(Found { kind: "view".to_owned(), name, effect: Effect::Breaks, why });
        }
        if found.len() >= OBJECTS_MAX {
            break;
        }
    }
    Ok(found)
}

/// Whether a path is the raw field or something in it.
fn is_below(path: &str, raw: &str) -> bool {
    path.strip_prefix(raw).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Whether a filter, a schema or a pipeline names the raw field, as a key or as a `$path`.
fn names(value: &Bson, raw: &str) -> bool {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Bson::Document(document) => {
                if has_key(document, raw) {
                    return true;
                }
                open.extend(document.iter().map(|(_, value)| value));
            }
            Bson::Array(values) => open.extend(values),
            Bson::String(text) => {
                // `required: ["cart"]` names it without a sign, `$cart.total` with one.
                let path = text.trim_start_matches('$');
                if is_below(path, raw) {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

fn has_key(document: &Document, raw: &str) -> bool {
    document.keys().any(|key| is_below(key, raw))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_named_by_its_key_by_a_path_and_as_required() {
        let named = |document: Document| names(&Bson::Document(document), "cart");
        assert!(named(doc! { "$jsonSchema": { "required": ["user", "cart"] } }));
        assert!(named(
            doc! { "$jsonSchema": { "properties": { "cart": { "bsonType": "string" } } } }
        ));
        assert!(named(doc! { "$project": { "total": "$cart.total" } }));
        assert!(!named(doc! { "$project": { "cartId": "$cartId" } }));
    }
}
