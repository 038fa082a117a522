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

use super::{DecodeError, DocumentEncoding, Refusal, SchemaEncoding, WithSchema};
use crate::document::Document;
use crate::schema::{Language, Plan, Schema};
pub(super) use binary::Binary;
pub(super) use compact::Compact;
use protocol::Protocol;

/// The numbers of a member of the rest: its key, its JSON text, its place among the pairs.
const MEMBER_KEY: i16 = 1;
const MEMBER_JSON: i16 = 2;
const MEMBER_PLACE: i16 = 3;

/// An encoding of one of the protocols.
pub(super) struct Thrift<P>(PhantomData<fn() -> P>);

impl<P> Thrift<P> {
    pub(super) const fn new() -> Thrift<P> {
        Thrift(PhantomData)
    }
}

impl<P: Protocol> SchemaEncoding for Thrift<P> {
    fn language(&self) -> Language {
        Language::Thrift
    }

    fn with_schema(&self, schema: &Arc<Schema>) -> Option<Box<dyn WithSchema>> {
        if schema.language() != Language::Thrift {
            return None;
        }
        matches!(schema.plan(), Plan::Tagged(_)).then(|| {
            let schema = Arc::clone(schema);
            Box::new(Coder::<P> { schema, protocol: PhantomData }) as Box<dyn WithSchema>
        })
    }
}

/// The encoding with its schema.
struct Coder<P> {
    schema: Arc<Schema>,
    protocol: PhantomData<fn() -> P>,
}

impl<P: Protocol> DocumentEncoding for Coder<P> {
    fn encode(&self, document: &Document, out: &mut Vec<u8>) -> Result<(), Refusal> {
        self.encode_counting(document, out).map(drop)
    }

    fn decode(&self, bytes: &[u8], document: &mut Document) -> Result<(), DecodeError> {
        let Plan::Tagged(plan) = self.schema.plan() else { unreachable!("asked when it was made") };
        decode::decode::<P>(plan, bytes, document)
    }
}

impl<P: Protocol> WithSchema for Coder<P> {
    fn encode_counting(&self, document: &Document, out: &mut Vec<u8>) -> Result<u64, Refusal> {
        let Plan::Tagged(plan) = self.schema.plan() else { unreachable!("asked when it was made") };
        encode::encode::<P>(plan, document, out)
    }
}
