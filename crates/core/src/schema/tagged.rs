//! Plans of schemas whose fields have numbers: Protobuf and Thrift.
//!
//! A payload's key is a field, and how its value is written depends on what the value is: a field
//! has an alternative for each way, with a number of its own. So nothing of a payload is lost where
//! a key holds a number in one and a text in the next, and a reader that knows only the first
//! alternative still reads that.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::document::Span;
use crate::limits::SCHEMA_RECORDS_MAX;
use crate::schema::{Keys, PlanError};

pub(crate) mod fits;

/// How an integer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Integer {
    /// 8 bits with a sign; Thrift only.
    I8,
    /// 16 bits with a sign; Thrift only.
    I16,
    /// 32 bits with a sign.
    I32,
    /// 64 bits with a sign.
    I64,
    /// 32 bits without a sign; Protobuf only.
    U32,
    /// 64 bits without a sign; Protobuf only.
    U64,
    /// 32 bits, zigzag; Protobuf only.
    S32,
    /// 64 bits, zigzag; Protobuf only.
    S64,
    /// 4 bytes without a sign; Protobuf only.
    Fixed32,
    /// 8 bytes without a sign; Protobuf only.
    Fixed64,
    /// 4 bytes with a sign; Protobuf only.
    Sfixed32,
    /// 8 bytes with a sign; Protobuf only.
    Sfixed64,
}

/// The names of an enumeration and their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    by_name: BTreeMap<String, i32>,
    by_number: BTreeMap<i32, String>,
}

impl Names {
    /// The names of an enumeration; of names with one number the first is read back.
    pub fn new(names: impl IntoIterator<Item = (String, i32)>) -> Names {
        let mut found = Names { by_name: BTreeMap::new(), by_number: BTreeMap::new() };
        for (name, number) in names {
            found.by_number.entry(number).or_insert_with(|| name.clone());
            found.by_name.insert(name, number);
        }
        found
    }

    /// The number of a name that is read back as that name.
    pub(crate) fn number_of(&self, name: &[u8]) -> Option<i32> {
        let name = str::from_utf8(name).ok()?;
        let number = *self.by_name.get(name)?;
        (self.by_number.get(&number).is_some_and(|first| first == name)).then_some(number)
    }

    /// The name of a number.
    pub(crate) fn name_of(&self, number: i32) -> Option<&str> {
        self.by_number.get(&number).map(String::as_str)
    }
}

/// How a value is written.
#[derive(Debug, Clone, PartialEq)]
pub enum Form {
    /// `null`, as a boolean that is true.
    Null,
    /// `true` or `false`.
    Bool,
    /// An integer in the range of its type.
    Integer(Integer),
    /// A number that a double holds exactly.
    Double,
    /// A number that a float of 32 bits holds exactly; Protobuf only.
    Float,
    /// Any number, as its JSON text.
    NumberText,
    /// Any value, as its JSON text.
    Json,
    /// A string.
    Text,
    /// A string that is base64 of bytes, with padding.
    Bytes,
    /// A string that is a name of an enumeration.
    Enum(Arc<Names>),
    /// A list whose elements have one form.
    List(Box<Form>),
    /// An object with any keys, each once, whose values have one form.
    Map(Box<Form>),
    /// An object with the keys of a record, or what a record of one value stands for: the index of
    /// the record in the plan.
    Record(usize),
}

/// One way to write a field's value.
#[derive(Debug, Clone, PartialEq)]
pub struct Alternative {
    /// The number on the wire: 1 to 536,870,911 in Protobuf, 1 to 32,767 in Thrift.
    pub number: u32,
    /// The name in the schema file.
    pub name: String,
    /// How the value is written.
    pub form: Form,
}

/// A key of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The key in JSON.
    pub key: String,
    /// How its values are written; the first that fits is taken.
    pub alternatives: Vec<Alternative>,
}

/// An object with known keys, or one value in a place where the format has room for a record only.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Record {
    /// The name in the schema file.
    pub name: String,
    /// Whether the record is not an object but the value of its only field.
    pub is_value: bool,
    /// The keys, in the order of the schema file.
    pub fields: Vec<Field>,
    /// The number of the field for members that have no place, if there is one.
    pub rest: Option<u32>,
    /// The number of the field that lists which lists and maps are there and empty; Protobuf only.
    pub empties: Option<u32>,
    /// The fields, by their index, without which other readers refuse an object.
    pub required: Vec<usize>,
    /// Fields, by their index, of which other readers keep one.
    pub choices: Vec<Vec<usize>>,
}

/// What a number on the wire stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// A field's alternative.
    Member { field: usize, alternative: usize },
    /// Members that have no place.
    Rest,
    /// Which lists and maps are empty.
    Empties,
}

/// How a record's keys and numbers are found.
#[derive(Debug)]
struct Index {
    keys: Keys,
    /// Indexed by the number while numbers are small.
    low: Vec<Option<Target>>,
    high: BTreeMap<u32, Target>,
}

/// Numbers below this are found without a search.
const LOW_NUMBERS: u32 = 256;

/// All records of a schema file that its root needs.
#[derive(Debug)]
pub struct Plan {
    records: Vec<Record>,
    indices: Vec<Index>,
    root: usize,
}

impl Plan {
    /// A plan of these records, the payload being the one of index `root`.
    ///
    /// # Errors
    /// Where two fields of a record have one key or number, a record does not exist, or one that
    /// stands for a value has not exactly one field.
    pub fn new(records: Vec<Record>, root: usize) -> Result<Plan, PlanError> {
        let wrong = |record: &Record, what| Err(PlanError { record: record.name.clone(), what });
        if records.len() > SCHEMA_RECORDS_MAX || root >= records.len() {
            let record = "the schema".to_owned();
            return Err(PlanError { record, what: "it has no root, or too many records" });
        }
        let mut indices = Vec::with_capacity(records.len());
        for record in &records {
            if record.is_value && (record.fields.len() != 1 || record.rest.is_some()) {
                return wrong(record, "a record that stands for a value has one field");
            }
            let Some(keys) = Keys::new(record.fields.iter().map(|field| &*field.key)) else {
                return wrong(record, "two fields have one JSON key");
            };
            let mut by_number = BTreeMap::new();
            for (field, Field { alternatives, .. }) in record.fields.iter().enumerate() {
                for (alternative, Alternative { number, form, .. }) in
                    alternatives.iter().enumerate()
                {
                    let target = Target::Member { field, alternative };
                    if *number == 0 || by_number.insert(*number, target).is_some() {
                        return wrong(record, "two fields have one number");
                    }
                    if records_of(form).is_some_and(|index| index >= records.len()) {
                        return wrong(record, "a field has an unknown type");
                    }
                }
            }
            let beside = [(record.rest, Target::Rest), (record.empties, Target::Empties)];
            for (number, target) in beside {
                if let Some(number) = number
                    && by_number.insert(number, target).is_some()
                {
                    return wrong(record, "two fields have one number");
                }
            }
            let low = (0..LOW_NUMBERS).map(|number| by_number.get(&number).copied()).collect();
            indices.push(Index { keys, low, high: by_number });
        }
        let plan = Plan { records, indices, root };
        plan.check_values()?;
        Ok(plan)
    }

    /// A value that is written as itself could be looked at for ever.
    fn check_values(&self) -> Result<(), PlanError> {
        let inner = |index: usize| {
            let record = &self.records[index];
            let forms = record.fields.iter().filter(|_| record.is_value);
            forms.flat_map(|field| &field.alternatives).filter_map(|alternative| match alternative
                .form
            {
                Form::Record(inner) if self.records[inner].is_value => Some(inner),
                _ => None,
            })
        };
        for record in &self.records {
            if record.is_value && record.fields.iter().any(|field| field.alternatives.is_empty()) {
                let what = "a record that stands for a value has no way to write it";
                return Err(PlanError { record: record.name.clone(), what });
            }
        }
        for index in 0..self.records.len() {
            if inner(index).next().is_some() {
                let what = "a record that stands for a value holds another such";
                return Err(PlanError { record: self.records[index].name.clone(), what });
            }
        }
        Ok(())
    }

    /// The records.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// The index of the record that a payload is.
    pub fn root(&self) -> usize {
        self.root
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
        self.indices[record].keys.find(text, key, likely)
    }

    /// What a number on the wire stands for.
    #[inline]
    pub(crate) fn target_of(&self, record: usize, number: u32) -> Option<Target> {
        let index = &self.indices[record];
        match index.low.get(number as usize) {
            Some(target) => *target,
            None => index.high.get(&number).copied(),
        }
    }
}

/// The record that a form leads to, through lists and maps.
fn records_of(form: &Form) -> Option<usize> {
    match form {
        Form::List(inner) | Form::Map(inner) => records_of(inner),
        Form::Record(index) => Some(*index),
        _ => None,
    }
}
