//! `.thrift` files: written for a plan, with annotations that say what the language can't, and
//! read, ours and those of others. spec/schema.md has the list of annotations.
//!
//! The language is small, and no library reads it without a runtime of its own, so it is read here.

mod read;
mod tokens;
mod write;

pub(crate) use read::read;
pub(crate) use write::write;

/// The JSON key of a field whose name is another.
const KEY: &str = "cinch.key";

/// What a field or struct is, where the language can't say so.
const AS: &str = "cinch.as";
const NULL: &str = "null";
const NUMBER: &str = "number";
const JSON: &str = "json";
const REST: &str = "rest";
const VALUE: &str = "value";
const ROOT: &str = "root";
const ROOT_VALUE: &str = "root value";

/// The struct of a member that the schema has no place for.
const MEMBER: &str = "CinchMember";
