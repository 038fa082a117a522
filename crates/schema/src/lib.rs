//! Schemas of payloads: inferred from a corpus, written in the languages of Protobuf, Thrift, Avro
//! and JSON Schema, and read from the files of the first three.
//!
//! The way from payloads to bytes: [`Observations`] take payloads one by one, a [`Model`] is what
//! they have in common, [`write`] makes a file of it, [`read`] makes the plan by which the core
//! encodes. There is no way around the file, so what is measured is what anybody can read.

mod avro;
mod fold;
mod json_schema;
mod maps;
mod model;
mod names;
mod number;
mod observe;
mod plan;
mod proto;
mod thrift;
mod trial;

pub use json_schema::write as write_json_schema;
pub use model::{Field, Kind, Model, Record, Value};
pub use number::{Change, ChangeError};
pub use observe::{LIMITS, Observations};
pub use trial::{Held, try_on};

use std::sync::Arc;

use cinch_core::limits::SCHEMA_BYTES_MAX;
use cinch_core::schema::{Language, Plan, PlanError, Schema};

/// Why a schema file can't be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file is too large to be a schema.
    #[error("a schema has at most {limit} bytes, this one has {got}")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
        /// Its length in bytes.
        got: usize,
    },
    /// The file is no UTF-8 text.
    #[error("a schema is UTF-8 text")]
    NotText,
    /// The file breaks the rules of its language.
    #[error("line {line}: {what}")]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        what: String,
    },
    /// The file says something that cinch does not read, or that JSON has no value for.
    #[error("{place}: {what}")]
    Unsupported {
        /// The type or field.
        place: String,
        /// What is not read.
        what: String,
    },
    /// The types make no plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

impl ReadError {
    fn unsupported(place: impl Into<String>, what: impl Into<String>) -> ReadError {
        ReadError::Unsupported { place: place.into(), what: what.into() }
    }
}

/// Reads a schema file. The payload is the type that an annotation names as the root, or, where
/// none does, the last one that no other type uses.
///
/// # Errors
/// Where the file breaks the rules of its language or says what no JSON value is.
pub fn read(language: Language, bytes: &[u8]) -> Result<Arc<Schema>, ReadError> {
    if bytes.len() > SCHEMA_BYTES_MAX {
        return Err(ReadError::TooLarge { limit: SCHEMA_BYTES_MAX, got: bytes.len() });
    }
    let text = str::from_utf8(bytes).map_err(|_| ReadError::NotText)?;
    let plan = match language {
        Language::Protobuf => Plan::Tagged(Arc::new(proto::read(text)?)),
        Language::Thrift => Plan::Tagged(Arc::new(thrift::read(text)?)),
        Language::Avro => Plan::Avro(Arc::new(avro::read(text)?)),
    };
    Ok(Schema::new(language, bytes.to_vec(), plan))
}

/// A schema file and what changed since the one before.
#[derive(Debug)]
pub struct Written {
    /// The text of the file.
    pub text: String,
    /// What is different from the previous schema; empty without one.
    pub changes: Vec<Change>,
}

/// Writes a model as a schema file. With a previous schema in the same language every field keeps
/// its number.
///
/// # Errors
/// Where a change breaks readers of the previous schema and `may_break` is not set.
pub fn write(
    language: Language,
    model: &Model,
    previous: Option<&Schema>,
    may_break: bool,
) -> Result<Written, ChangeError> {
    let same_language = previous.filter(|schema| schema.language() == language);
    let tagged = same_language.and_then(|schema| schema.plan().tagged()).map(Arc::as_ref);
    let (text, changes) = match language {
        Language::Protobuf => {
            let (plan, changes) = plan::lower(model, plan::PROTOBUF, tagged);
            (proto::write(&plan), changes)
        }
        Language::Thrift => {
            let (plan, changes) = plan::lower(model, plan::THRIFT, tagged);
            (thrift::write(&plan), changes)
        }
        Language::Avro => {
            avro::write(model, previous.and_then(|schema| schema.plan().avro()).map(Arc::as_ref))
        }
    };
    if !may_break && let Some(change) = changes.iter().find(|change| change.breaks) {
        return Err(ChangeError { change: change.clone() });
    }
    Ok(Written { text, changes })
}
