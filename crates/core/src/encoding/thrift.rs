//! Apache Thrift by a plan, in its binary and its compact protocol
//! (https://github.com/apache/thrift/tree/master/doc/specs).
//!
//! Fields may stand in any order, so a payload's order of keys is kept by writing them in it. What
//! the schema has no place for stands first, in the field for the rest, each with its place among
//! the others.

mod binary;
mod compact;
mod decode;
mod encode;
mod protocol;
#[cfg(test)]
mod tests;

use std::marker::PhantomData;
use std::sync::Arc;

use super::by_schema::ByPlan;
use super::{DecodeError, Refusal};
use crate::document::Document;
use crate::schema::tagged::Plan;
use crate::schema::{Language, Schema};
pub(super) use binary::Binary;
pub(super) use compact::Compact;
use protocol::Protocol;

/// The numbers of a member of the rest: its key, its JSON text, its place among the pairs.
const MEMBER_KEY: i16 = 1;
const MEMBER_JSON: i16 = 2;
const MEMBER_PLACE: i16 = 3;

/// An encoding of one of the protocols.
pub(super) struct Thrift<P>(PhantomData<fn() -> P>);

impl<P: Protocol> ByPlan for Thrift<P> {
    type Plan = Plan;

    const LANGUAGE: Language = Language::Thrift;

    fn plan_of(schema: &Schema) -> Option<&Arc<Plan>> {
        schema.plan().tagged()
    }

    fn encode(plan: &Plan, document: &Document, out: &mut Vec<u8>) -> Result<u64, Refusal> {
        encode::encode::<P>(plan, document, out)
    }

    fn decode(plan: &Plan, bytes: &[u8], document: &mut Document) -> Result<(), DecodeError> {
        decode::decode::<P>(plan, bytes, document)
    }
}
