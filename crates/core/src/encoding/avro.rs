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

use super::by_schema::ByPlan;
use super::{DecodeError, Refusal};
use crate::document::Document;
use crate::schema::avro::Plan;
use crate::schema::{Language, Schema};

/// What the order of keys says of a member that has no place.
const MEMBER: i64 = -1;

/// The `avro` encoding.
pub(super) enum Avro {}

impl ByPlan for Avro {
    type Plan = Plan;

    const LANGUAGE: Language = Language::Avro;

    fn plan_of(schema: &Schema) -> Option<&Arc<Plan>> {
        schema.plan().avro()
    }

    fn encode(plan: &Plan, document: &Document, out: &mut Vec<u8>) -> Result<u64, Refusal> {
        encode::encode(plan, document, out)
    }

    fn decode(plan: &Plan, bytes: &[u8], document: &mut Document) -> Result<(), DecodeError> {
        decode::decode(plan, bytes, document)
    }
}
