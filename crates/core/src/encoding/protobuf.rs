//! Protocol Buffers (https://protobuf.dev/programming-guides/encoding/) by a plan: no generated
//! code, and keys are looked up once for each member.
//!
//! Fields may stand in any order on the wire, so a payload's order of keys is kept by writing them
//! in it. What the schema has no place for goes into its field for the rest, where it has one, as
//! JSON text. Anything else is refused with its path.

mod decode;
mod encode;
mod lengths;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::by_schema::ByPlan;
use super::{DecodeError, Refusal};
use crate::document::Document;
use crate::schema::tagged::Plan;
use crate::schema::{Language, Schema};

/// Wire types.
const VARINT: u8 = 0;
const EIGHT_BYTES: u8 = 1;
const LENGTH: u8 = 2;
const FOUR_BYTES: u8 = 5;

/// The tags of a map's entry and of a member of the rest: `1` with a length, and `2`.
const KEY_TAG: u8 = 1 << 3 | LENGTH;
const JSON_TAG: u8 = 2 << 3 | LENGTH;

/// The `protobuf` encoding.
pub(super) enum Protobuf {}

impl ByPlan for Protobuf {
    type Plan = Plan;

    const LANGUAGE: Language = Language::Protobuf;

    fn plan_of(schema: &Schema) -> Option<&Arc<Plan>> {
        schema.plan().tagged()
    }

    fn encode(plan: &Plan, document: &Document, out: &mut Vec<u8>) -> Result<u64, Refusal> {
        encode::encode(plan, document, out)
    }

    fn decode(plan: &Plan, bytes: &[u8], document: &mut Document) -> Result<(), DecodeError> {
        decode::decode(plan, bytes, document)
    }
}

/// The wire type of a form.
#[inline]
fn wire_type(form: &crate::schema::tagged::Form) -> u8 {
    use crate::schema::tagged::{Form, Integer};
    match form {
        Form::Null | Form::Bool | Form::Enum(_) => VARINT,
        Form::Integer(Integer::Fixed32 | Integer::Sfixed32) | Form::Float => FOUR_BYTES,
        Form::Integer(Integer::Fixed64 | Integer::Sfixed64) | Form::Double => EIGHT_BYTES,
        Form::Integer(_) => VARINT,
        _ => LENGTH,
    }
}
