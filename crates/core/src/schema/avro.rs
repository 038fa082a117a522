//! Plans of Avro schemas: records whose fields stand in one order, each time all of them.
//!
//! Whether a field is there is told by a branch of its union, and the order of a payload's keys by
//! a field beside them, where it is not the schema's.

use crate::document::Span;
use crate::limits::SCHEMA_RECORDS_MAX;
use crate::schema::{Keys, PlanError};

/// How a value is written.
#[derive(Debug, Clone, PartialEq)]
pub enum Type {
    /// `null`, in no bytes.
    Null,
    /// `null`, where the type above stands for a field that is not there: an enumeration of one.
    JsonNull,
    /// `true` or `false`.
    Bool,
    /// An integer of 32 bits.
    Int,
    /// An integer of 64 bits.
    Long,
    /// A number that a float of 32 bits holds exactly.
    Float,
    /// A number that a double holds exactly.
    Double,
    /// A string.
    Text,
    /// A string that is base64 of bytes, with padding; of so many bytes, where a number is given.
    Bytes(Option<usize>),
    /// A string that is one of these.
    Enum(Vec<String>),
    /// Any number, as its JSON text.
    NumberText,
    /// Any value, as its JSON text.
    Json,
    /// A list.
    List(Box<Type>),
    /// An object with any keys, each once.
    Map(Box<Type>),
    /// An object with the keys of a record: its index in the plan.
    Record(usize),
    /// One of several types; the first that fits is taken.
    Union(Vec<Type>),
}

/// A key of a record.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The key in JSON.
    pub key: String,
    /// The name in the schema file.
    pub name: String,
    /// How its values are written.
    pub of: Type,
    /// The branch of its union that says that the key is not there.
    pub absent: Option<usize>,
}

/// An object with known keys.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Record {
    /// The name in the schema file.
    pub name: String,
    /// The keys, in the order of the schema file.
    pub fields: Vec<Field>,
    /// Whether, behind the others, a field stands for members that have no place and for the order
    /// of keys.
    pub has_rest: bool,
}

/// All records of a schema file, and what a payload is.
#[derive(Debug)]
pub struct Plan {
    records: Vec<Record>,
    keys: Vec<Keys>,
    /// Whether a value of the record takes any bytes.
    takes_bytes: Vec<bool>,
    root: Type,
}

impl Plan {
    /// A plan of these records.
    ///
    /// # Errors
    /// Where two fields of a record have one key, a record does not exist, a union stands in a
    /// union, or a field that may be absent has no union.
    pub fn new(records: Vec<Record>, root: Type) -> Result<Plan, PlanError> {
        let wrong = |record: &str, what| Err(PlanError { record: record.to_owned(), what });
        if records.len() > SCHEMA_RECORDS_MAX {
            return wrong("the schema", "it has too many records");
        }
        if !is_sound(&root, records.len(), false) {
            return wrong("the schema", "its type is unknown, or a union in a union");
        }
        let mut keys = Vec::with_capacity(records.len());
        for record in &records {
            let Some(of_record) = Keys::new(record.fields.iter().map(|field| &*field.key)) else {
                return wrong(&record.name, "two fields have one JSON key");
            };
            keys.push(of_record);
            for field in &record.fields {
                if !is_sound(&field.of, records.len(), false) {
                    let what = "the type of a field is unknown, or a union in a union";
                    return wrong(&record.name, what);
                }
                if let Some(branch) = field.absent {
                    match &field.of {
                        Type::Union(branches) if branches.get(branch) == Some(&Type::Null) => {}
                        _ => return wrong(&record.name, "a field that may be absent has no union"),
                    }
                }
            }
        }
        let mut plan = Plan { takes_bytes: vec![false; records.len()], keys, records, root };
        plan.find_empty();
        Ok(plan)
    }

    /// Finds the records that take bytes: those with a field that does, until no more are found.
    fn find_empty(&mut self) {
        loop {
            let found: Vec<bool> = self
                .records
                .iter()
                .map(|record| {
                    record.has_rest || record.fields.iter().any(|field| self.takes_bytes(&field.of))
                })
                .collect();
            if found == self.takes_bytes {
                return;
            }
            self.takes_bytes = found;
        }
    }

    /// Whether every value of a type takes at least a byte.
    pub(crate) fn takes_bytes(&self, of: &Type) -> bool {
        match of {
            Type::Null | Type::Bytes(Some(0)) => false,
            Type::Record(record) => self.takes_bytes[*record],
            _ => true,
        }
    }

    /// The records.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// What a payload is.
    pub fn root(&self) -> &Type {
        &self.root
    }

    /// The field of a key in a document's text, `likely` being a guess.
    #[inline]
    pub(crate) fn field_of(
        &self,
        record: usize,
        text: &[u8],
        key: Span,
        likely: usize,
    ) -> Option<usize> {
        self.keys[record].find(text, key, likely)
    }
}

/// Whether a type leads to records that exist, with no union right in a union.
fn is_sound(of: &Type, records: usize, in_union: bool) -> bool {
    match of {
        Type::List(inner) | Type::Map(inner) => is_sound(inner, records, false),
        Type::Record(index) => *index < records,
        Type::Union(branches) => {
            !in_union && branches.iter().all(|branch| is_sound(branch, records, true))
        }
        _ => true,
    }
}
