//! Apache Avro (https://avro.apache.org/docs/1.12.0/specification/) by a plan: the binary encoding
//! of one datum, without a container file around it.
//!
//! Fields have one order, so a payload whose keys stand in another carries that order beside them,
//! with the members that have no place, in the last field of the record. Where the record has no
//! such field, such a payload is refused.

mod decode;
mod encode;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::{DecodeError, DocumentEncoding, Refusal, SchemaEncoding, WithSchema};
use crate::document::Document;
use crate::schema::{Language, Plan, Schema};

/// What the order of keys says of a member that has no place.
const MEMBER: i64 = -1;

/// The `avro` encoding.
pub(super) struct Avro;

impl SchemaEncoding for Avro {
    fn language(&self) -> Language {
        Language::Avro
    }

    fn with_schema(&self, schema: &Arc<Schema>) -> Option<Box<dyn WithSchema>> {
        matches!(schema.plan(), Plan::Avro(_))
            .then(|| Box::new(Coder { schema: Arc::clone(schema) }) as Box<dyn WithSchema>)
    }
}

/// The encoding with its schema.
struct Coder {
    schema: Arc<Schema>,
}

impl DocumentEncoding for Coder {
    fn encode(&self, document: &Document, out: &mut Vec<u8>) -> Result<(), Refusal> {
        self.encode_counting(document, out).map(drop)
    }

    fn decode(&self, bytes: &[u8], document: &mut Document) -> Result<(), DecodeError> {
        let Plan::Avro(plan) = self.schema.plan() else { unreachable!("asked when it was made") };
        decode::decode(plan, bytes, document)
    }
}

impl WithSchema for Coder {
    fn encode_counting(&self, document: &Document, out: &mut Vec<u8>) -> Result<u64, Refusal> {
        let Plan::Avro(plan) = self.schema.plan() else { unreachable!("asked when it was made") };
        encode::encode(plan, document, out)
    }
}
