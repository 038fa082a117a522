//! Elasticsearch's `_bulk`: newline-delimited JSON, an action and, for most actions, a document on
//! the next line. Only what adds a document makes sense for logs: `index` and `create`. Others are
//! answered one by one, as the store answers what it can't do.
//!
//! The official clients refuse a server that does not send the header `X-Elastic-Product:
//! Elasticsearch`.

use std::borrow::Cow;

use serde::Deserialize;

use crate::json_text::{Object, push_display};

/// Why a request is refused as a whole, with status 400.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ElasticError {
    /// A line should say what to do and does not.
    #[error("line {line} is no action: {detail}")]
    Action {
        /// The line's number, from 1.
        line: usize,
        /// What is wrong with it.
        detail: String,
    },
    /// The body ends where a document should follow.
    #[error("the body ends where the document of line {line} should follow")]
    NoDocument {
        /// The action's line, from 1.
        line: usize,
    },
}

/// What to do with a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// Add it, or put it in the place of one with the same id.
    Index,
    /// Add it.
    Create,
    /// Change one: refused.
    Update,
    /// Remove one: refused. Has no document.
    Delete,
}

impl Action {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Action::Index => "index",
            Action::Create => "create",
            Action::Update => "update",
            Action::Delete => "delete",
        }
    }
}

/// An action and its document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item<'a> {
    /// What to do.
    pub action: Action,
    /// The index or data stream, if the line names one; else it is that of the request's path.
    pub index: Option<Cow<'a, str>>,
    /// The id, if the line names one.
    pub id: Option<Cow<'a, str>>,
    /// The document's line without its end; empty for [`Action::Delete`].
    pub document: &'a [u8],
}

/// What became of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It is taken: status 201.
    Created,
    /// Not now: status 429, and clients send it again.
    NotNow,
    /// Never: status 400, and clients drop it.
    Refused,
}

impl Outcome {
    /// What becomes of this item before anybody has looked at a queue: documents that are no
    /// objects and actions that add nothing are refused.
    pub fn of(item: &Item<'_>) -> Outcome {
        let adds = matches!(item.action, Action::Index | Action::Create);
        let is_object = item.document.trim_ascii_start().first() == Some(&b'{');
        if adds && is_object { Outcome::Created } else { Outcome::Refused }
    }

    fn status(self) -> u64 {
        match self {
            Outcome::Created => 201,
            Outcome::NotNow => 429,
            Outcome::Refused => 400,
        }
    }
}

/// An action's line: one of the keys is there.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Line<'a> {
    #[serde(borrow)]
    Index(Target<'a>),
    #[serde(borrow)]
    Create(Target<'a>),
    #[serde(borrow)]
    Update(Target<'a>),
    #[serde(borrow)]
    Delete(Target<'a>),
}

#[derive(Deserialize)]
struct Target<'a> {
    #[serde(borrow, rename = "_index")]
    index: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "_id")]
    id: Option<Cow<'a, str>>,
}

/// Appends the items of a request's body. Empty lines between them are passed over.
///
/// # Errors
/// Any [`ElasticError`]; then `items` is as it was.
pub fn read_bulk<'a>(body: &'a [u8], items: &mut Vec<Item<'a>>) -> Result<(), ElasticError> {
    let before = items.len();
    let result = read(body, items);
    if result.is_err() {
        items.truncate(before);
    }
    result
}

fn read<'a>(body: &'a [u8], items: &mut Vec<Item<'a>>) -> Result<(), ElasticError> {
    let mut start = 0;
    let mut line = 0;
    let mut next = || {
        let rest = body.get(start..).filter(|rest| !rest.is_empty())?;
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        start += end + 1;
        line += 1;
        let text = &rest[..end];
        Some((line, text.strip_suffix(b"\r").unwrap_or(text)))
    };
    while let Some((line, text)) = next() {
        if text.trim_ascii().is_empty() {
            continue;
        }
        let parsed: Line<'a> = serde_json::from_slice(text)
            .map_err(|error| ElasticError::Action { line, detail: error.to_string() })?;
        let (action, target) = match parsed {
            Line::Index(target) => (Action::Index, target),
            Line::Create(target) => (Action::Create, target),
            Line::Update(target) => (Action::Update, target),
            Line::Delete(target) => (Action::Delete, target),
        };
        let document = match action {
            Action::Delete => &[],
            _ => next().ok_or(ElasticError::NoDocument { line })?.1,
        };
        items.push(Item { action, index: target.index, id: target.id, document });
    }
    Ok(())
}

/// Appends the body of the answer: what became of each item, in order. `default_index` is that of
/// the request's path.
pub fn write_response(
    took_ms: u64,
    items: &[Item<'_>],
    outcomes: &[Outcome],
    default_index: &str,
    out: &mut Vec<u8>,
) {
    let has_errors = outcomes.iter().any(|outcome| *outcome != Outcome::Created);
    let mut response = Object::begin(out);
    push_display(took_ms, response.key(b"took"));
    push_display(has_errors, response.key(b"errors"));
    let list = response.key(b"items");
    list.push(b'[');
    for (index, (item, outcome)) in items.iter().zip(outcomes).enumerate() {
        if index > 0 {
            list.push(b',');
        }
        let mut wrapper = Object::begin(list);
        let inner = wrapper.key(item.action.name().as_bytes());
        write_item(item, *outcome, default_index, inner);
        wrapper.end();
    }
    list.push(b']');
    response.end();
}

fn write_item(item: &Item<'_>, outcome: Outcome, default_index: &str, out: &mut Vec<u8>) {
    let mut object = Object::begin(out);
    object.text("_index", item.index.as_deref().unwrap_or(default_index).as_bytes());
    object.text("_id", item.id.as_deref().unwrap_or_default().as_bytes());
    object.number("status", outcome.status());
    let (kind, reason) = match outcome {
        Outcome::Created => {
            object.text("result", b"created");
            return object.end();
        }
        Outcome::NotNow => ("es_rejected_execution_exception", "the queue is full"),
        Outcome::Refused => {
            ("illegal_argument_exception", "only documents that are objects are added")
        }
    };
    let mut error = Object::begin(object.key(b"error"));
    error.text("type", kind.as_bytes());
    error.text("reason", reason.as_bytes());
    error.end();
    object.end();
}
