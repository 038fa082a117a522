//! What payloads have in common, in no language: records with fields, and for each place the kinds
//! of values that stand there.
//!
//! It is made once from all that was seen, always in the same order, so that the same corpus gives
//! the same model.

use crate::fold::fold;
use crate::maps::find_maps;
use crate::names::Namer;
use crate::observe::{Observations, Seen};

/// A field is taken for one that is always there only if so many objects had it: what ten objects
/// have in common, the eleventh may lack.
const ALWAYS_MIN: u64 = 100;

/// A kind of value.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool,
    /// An integer.
    Integer(Width),
    /// A number that a double holds.
    Double,
    /// A number that may be beyond a double, as its text.
    NumberText,
    /// A string.
    Text,
    /// A list of values.
    List(Box<Value>),
    /// An object with any keys.
    Map(Box<Value>),
    /// An object of the record with this index.
    Record(usize),
    /// A value of which nothing is known, as its JSON text.
    Json,
}

/// The range of an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// 32 bits with a sign, with room to grow.
    Narrow,
    /// 64 bits with a sign.
    Wide,
    /// 64 bits without a sign.
    Unsigned,
}

/// The kinds of values that stand in a place, at least one; of each kind of JSON at most one.
#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    /// The kinds, in one order: null, boolean, number, string, list, object.
    pub kinds: Vec<Kind>,
}

/// A key of a record.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The key.
    pub key: String,
    /// Whether every object had it, and there were enough of them to say so.
    pub is_always: bool,
    /// Its values.
    pub value: Value,
}

/// An object with known keys.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// A name that no other record has, in letters and digits.
    pub name: String,
    /// The keys, in an order in which they stand in payloads.
    pub fields: Vec<Field>,
}

/// What payloads have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// The records.
    pub records: Vec<Record>,
    /// What a payload is.
    pub root: Value,
}

/// The name of the record that a payload is.
pub(crate) const ROOT_NAME: &str = "Payload";

impl Model {
    /// The model of what was seen.
    pub fn of(observations: &Observations) -> Model {
        let mut root = observations.root.clone();
        find_maps(&mut root);
        fold(&mut root);
        let mut builder = Builder { records: Vec::new(), namer: Namer::new(), levels: Vec::new() };
        let root = builder.value(&root, ROOT_NAME);
        Model { records: builder.records, root }
    }
}

struct Builder {
    records: Vec<Record>,
    namer: Namer,
    /// The record of each object on the way from the root; none for a map.
    levels: Vec<Option<usize>>,
}

impl Builder {
    fn value(&mut self, seen: &Seen, name: &str) -> Value {
        let mut kinds = Vec::new();
        if seen.nulls > 0 {
            kinds.push(Kind::Null);
        }
        if seen.bools > 0 {
            kinds.push(Kind::Bool);
        }
        kinds.extend(number(seen));
        if seen.texts > 0 {
            kinds.push(Kind::Text);
        }
        if let Some(list) = &seen.list {
            kinds.push(Kind::List(Box::new(self.inner(&list.element, name))));
        }
        kinds.extend(self.object(seen, name));
        if kinds.is_empty() {
            kinds.push(Kind::Json);
        }
        Value { kinds }
    }

    /// An element of a list or a value of a map. What is always null says nothing of what it is
    /// when it is something.
    fn inner(&mut self, seen: &Seen, name: &str) -> Value {
        let value = self.value(seen, name);
        if value.kinds == [Kind::Null] { Value { kinds: vec![Kind::Json] } } else { value }
    }

    fn object(&mut self, seen: &Seen, name: &str) -> Option<Kind> {
        if let Some(level) = seen.like {
            return self.levels.get(level).copied().flatten().map(Kind::Record);
        }
        let object = seen.object.as_deref()?;
        if let Some(map) = &object.map {
            self.levels.push(None);
            let value = self.inner(map, name);
            self.levels.pop();
            return Some(Kind::Map(Box::new(value)));
        }
        let index = self.records.len();
        let name = self.namer.type_name(name);
        self.records.push(Record { name, fields: Vec::new() });
        self.levels.push(Some(index));
        let mut fields = Vec::with_capacity(object.members.len());
        for member in &object.members {
            fields.push(Field {
                key: member.key.clone(),
                is_always: member.count >= object.count && object.count >= ALWAYS_MIN,
                value: self.value(&member.value, &member.key),
            });
        }
        self.levels.pop();
        self.records[index].fields = fields;
        Some(Kind::Record(index))
    }
}

fn number(seen: &Seen) -> Option<Kind> {
    let is_long = seen.integers.is_some_and(|range| range.is_long);
    if seen.long_numbers > 0 || (seen.doubles > 0 && is_long) {
        return Some(Kind::NumberText);
    }
    if seen.doubles > 0 {
        return Some(Kind::Double);
    }
    let range = seen.integers?;
    Some(match (range.is_narrow(), range.is_unsigned()) {
        (true, _) => Kind::Integer(Width::Narrow),
        (_, false) => Kind::Integer(Width::Wide),
        (_, true) if range.low >= 0 => Kind::Integer(Width::Unsigned),
        _ => Kind::NumberText,
    })
}
