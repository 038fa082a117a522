//! What the encodings with a schema have in common towards the rest of the core: one with its
//! schema is a plan that any number of threads may use.
//!
//! An encoding says which plans are its own, and how to write and read by one.

use std::marker::PhantomData;
use std::sync::Arc;

use super::{DecodeError, DocumentEncoding, Refusal, SchemaEncoding, WithSchema};
use crate::document::Document;
use crate::schema::{Language, Schema};

/// An encoding by plans of one kind.
pub(super) trait ByPlan: 'static {
    /// What a schema file becomes.
    type Plan: Send + Sync;

    /// The language of the files.
    const LANGUAGE: Language;

    /// The plan of a schema, where it is of this kind.
    fn plan_of(schema: &Schema) -> Option<&Arc<Self::Plan>>;

    /// Appends the document and answers how many members have no place in the schema.
    fn encode(plan: &Self::Plan, document: &Document, out: &mut Vec<u8>) -> Result<u64, Refusal>;

    /// Decodes all of `bytes` into `document`, which is cleared first.
    fn decode(plan: &Self::Plan, bytes: &[u8], document: &mut Document) -> Result<(), DecodeError>;
}

/// The row of such an encoding in the registry.
pub(super) struct BySchema<E>(PhantomData<fn() -> E>);

impl<E> BySchema<E> {
    pub(super) const fn new() -> BySchema<E> {
        BySchema(PhantomData)
    }
}

impl<E: ByPlan> SchemaEncoding for BySchema<E> {
    fn language(&self) -> Language {
        E::LANGUAGE
    }

    fn with_schema(&self, schema: &Arc<Schema>) -> Option<Box<dyn WithSchema>> {
        if schema.language() != E::LANGUAGE {
            return None;
        }
        let plan = Arc::clone(E::plan_of(schema)?);
        Some(Box::new(Coder::<E> { plan }))
    }
}

/// The encoding with its schema.
struct Coder<E: ByPlan> {
    plan: Arc<E::Plan>,
}

impl<E: ByPlan> DocumentEncoding for Coder<E> {
    fn encode(&self, document: &Document, out: &mut Vec<u8>) -> Result<(), Refusal> {
        self.encode_counting(document, out).map(drop)
    }

    fn decode(&self, bytes: &[u8], document: &mut Document) -> Result<(), DecodeError> {
        E::decode(&self.plan, bytes, document)
    }
}

impl<E: ByPlan> WithSchema for Coder<E> {
    fn encode_counting(&self, document: &Document, out: &mut Vec<u8>) -> Result<u64, Refusal> {
        E::encode(&self.plan, document, out)
    }
}
