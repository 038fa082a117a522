//! Schemas as the core sees them: plans, compiled once from a schema file, by which the encodings
//! `protobuf`, `thrift-binary`, `thrift-compact` and `avro` write and read.
//!
//! Files are read and written elsewhere (the crate `schema`); a plan has no syntax left in it. What
//! identifies a schema to a reader is the SHA-256 of its file, of which envelopes carry the start,
//! so that a payload is never read with another schema than it was written with.

pub mod avro;
mod keys;
mod path;
mod rest;
pub mod tagged;

use std::sync::Arc;

use sha2::{Digest, Sha256};

pub(crate) use keys::Keys;
pub(crate) use path::path_of;
pub(crate) use rest::{JsonText, Outside};

/// The bytes of a schema's SHA-256 that an envelope carries.
pub const SCHEMA_PREFIX_BYTES: usize = 8;

/// The language of a schema file, which says which encodings it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    /// Protocol Buffers, `.proto`.
    Protobuf,
    /// Apache Thrift, `.thrift`.
    Thrift,
    /// Apache Avro, `.avsc`.
    Avro,
}

impl Language {
    /// Every language.
    pub const ALL: [Language; 3] = [Language::Protobuf, Language::Thrift, Language::Avro];

    /// The ending of its files, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Language::Protobuf => "proto",
            Language::Thrift => "thrift",
            Language::Avro => "avsc",
        }
    }

    /// The name that people know it by.
    pub fn name(self) -> &'static str {
        match self {
            Language::Protobuf => "Protobuf",
            Language::Thrift => "Thrift",
            Language::Avro => "Avro",
        }
    }
}

/// What a schema file says, ready to be used.
#[derive(Debug)]
pub enum Plan {
    /// Fields with numbers: Protobuf and Thrift.
    Tagged(Arc<tagged::Plan>),
    /// Fields in one order: Avro.
    Avro(Arc<avro::Plan>),
}

impl Plan {
    /// The plan of fields with numbers, where it is one.
    pub fn tagged(&self) -> Option<&Arc<tagged::Plan>> {
        match self {
            Plan::Tagged(plan) => Some(plan),
            Plan::Avro(_) => None,
        }
    }

    /// The plan of fields in one order, where it is one.
    pub fn avro(&self) -> Option<&Arc<avro::Plan>> {
        match self {
            Plan::Avro(plan) => Some(plan),
            Plan::Tagged(_) => None,
        }
    }
}

/// A schema file and its plan.
#[derive(Debug)]
pub struct Schema {
    language: Language,
    bytes: Vec<u8>,
    sha256: [u8; 32],
    plan: Plan,
}

impl Schema {
    /// A schema from the bytes of its file and what they mean.
    pub fn new(language: Language, bytes: Vec<u8>, plan: Plan) -> Arc<Schema> {
        let sha256 = Sha256::digest(&bytes).into();
        Arc::new(Schema { language, bytes, sha256, plan })
    }

    /// The language of the file.
    pub fn language(&self) -> Language {
        self.language
    }

    /// The bytes of the file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The SHA-256 of the file.
    pub fn sha256(&self) -> &[u8; 32] {
        &self.sha256
    }

    /// What envelopes carry of the SHA-256.
    pub fn prefix(&self) -> &[u8] {
        &self.sha256[..SCHEMA_PREFIX_BYTES]
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
}

/// Why a plan can't be used. Schema files that break these rules are refused when they are read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{record}: {what}")]
pub struct PlanError {
    /// The record that is wrong.
    pub record: String,
    /// What is wrong with it.
    pub what: &'static str,
}
