//! A model as records with numbered fields, for Protobuf and Thrift: a new plan, or the previous
//! one with what it lacks.
//!
//! A plan only ever grows: every field keeps its number, its name and its form, and where values
//! need another form, they get another field for the same key. So readers of an older file go on
//! reading what they know.

use std::collections::{BTreeMap, BTreeSet};

use cinch_core::schema::tagged::{Alternative, Field, Form, Integer, Plan, Record};

use crate::model::{Kind, Model, ROOT_NAME, Value, Width};
use crate::names::Namer;
use crate::number::Change;

/// What sets one language apart from the other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flavor {
    /// Lists and maps stand in fields only, not in each other.
    wraps: bool,
    /// There are 64-bit integers without a sign.
    has_unsigned: bool,
    /// The number of the field for members that have no place.
    rest: u32,
    /// The number of the field that lists what is there and empty, where the language can't say so.
    empties: Option<u32>,
    /// Numbers that are not given out.
    reserved: (u32, u32),
}

/// Numbers of two bytes on the wire, and above those of nearly all fields.
const REST: u32 = 2047;
const EMPTIES: u32 = 2046;

/// Protobuf: 19,000 to 19,999 are its own.
pub(crate) const PROTOBUF: Flavor = Flavor {
    wraps: true,
    has_unsigned: true,
    rest: REST,
    empties: Some(EMPTIES),
    reserved: (19_000, 19_999),
};

/// Thrift: numbers have 16 bits.
pub(crate) const THRIFT: Flavor = Flavor {
    wraps: false,
    has_unsigned: false,
    rest: REST,
    empties: None,
    reserved: (32_768, u32::MAX),
};

/// The names that the annotated fields have in files.
pub(crate) const REST_NAME: &str = "cinch_rest";
pub(crate) const EMPTIES_NAME: &str = "cinch_empty";

/// The plan of a model, which takes what the previous one takes too, and what it has more.
pub(crate) fn lower(model: &Model, flavor: Flavor, previous: Option<&Plan>) -> (Plan, Vec<Change>) {
    let mut builder = Builder {
        model,
        flavor,
        records: previous.map(|plan| plan.records().to_vec()).unwrap_or_default(),
        types: Namer::new(),
        made: BTreeMap::new(),
        merged: BTreeSet::new(),
        changes: Vec::new(),
        is_new: previous.is_none(),
    };
    for name in ["CinchMember", "CinchRest"] {
        builder.types.reserve(name);
    }
    for record in &builder.records {
        builder.types.reserve(&record.name);
        builder.changes.extend(losses(record));
    }
    let root = match previous {
        Some(plan) => {
            let root = plan.root();
            let fits = builder.widen(&Form::Record(root), &model.root, "$", false);
            if !fits {
                let kinds = builder.kind_names(&model.root);
                builder.changes.push(Change {
                    path: "$".to_owned(),
                    what: format!("payloads are of another kind: {kinds}"),
                    breaks: true,
                });
                builder.root(&model.root)
            } else {
                root
            }
        }
        None => builder.root(&model.root),
    };
    let Builder { records, changes, .. } = builder;
    let plan = Plan::new(records, root).expect("names and numbers are given out once");
    (plan, changes)
}

/// What a file by somebody else says and one of ours would not.
fn losses(record: &Record) -> impl Iterator<Item = Change> {
    fn has_names(form: &Form) -> bool {
        match form {
            Form::List(inner) | Form::Map(inner) => has_names(inner),
            form => matches!(form, Form::Enum(_)),
        }
    }
    let lost = |name: &str, what: &str| Change {
        path: format!("{}.{name}", record.name),
        what: what.to_owned(),
        breaks: true,
    };
    let is_named = |(_, alternative): &(usize, &Alternative)| has_names(&alternative.form);
    let names = alternatives(record).filter(is_named);
    let key = |field: &usize| record.fields[*field].key.as_str();
    let names = names.map(|(_, known)| lost(&known.name, "a string instead of an enumeration"));
    let required = record.required.iter().map(|field| lost(key(field), "no longer required"));
    let choices = record.choices.iter().flatten();
    let choices = choices.map(|field| lost(key(field), "no longer one of several"));
    names.chain(required).chain(choices).collect::<Vec<_>>().into_iter()
}

struct Builder<'a> {
    model: &'a Model,
    flavor: Flavor,
    records: Vec<Record>,
    types: Namer,
    /// The records made for those of the model.
    made: BTreeMap<usize, usize>,
    /// The pairs of a record of the model and one of the plan that takes it.
    merged: BTreeSet<(usize, usize)>,
    changes: Vec<Change>,
    /// There is nothing to compare with.
    is_new: bool,
}

impl Builder<'_> {
    fn root(&mut self, value: &Value) -> usize {
        match self.element(value, ROOT_NAME, "$") {
            Form::Record(index) => index,
            form => self.wrapper(ROOT_NAME, vec![form]),
        }
    }

    /// The form of a value that stands in a list, a map or alone.
    fn element(&mut self, value: &Value, name: &str, path: &str) -> Form {
        if let [kind] = &value.kinds[..] {
            let is_direct = match kind {
                Kind::List(_) | Kind::Map(_) => !self.flavor.wraps,
                Kind::Null => false,
                _ => true,
            };
            if is_direct {
                return self.form(kind, name, path);
            }
        }
        let forms: Vec<Form> = null_last(value).map(|kind| self.form(kind, name, path)).collect();
        Form::Record(self.wrapper(name, forms))
    }

    fn wrapper(&mut self, name: &str, forms: Vec<Form>) -> usize {
        let name = self.types.type_name(&format!("{name}_value"));
        let has_lists = forms.iter().any(|form| matches!(form, Form::List(_) | Form::Map(_)));
        let mut names = Namer::new();
        let alternatives = forms
            .into_iter()
            .zip(1..)
            .map(|(form, number)| Alternative {
                number,
                name: names.field_name(&format!("{}_value", word(&form))),
                form,
            })
            .collect();
        self.records.push(Record {
            name,
            is_value: true,
            fields: vec![Field { key: String::new(), alternatives }],
            empties: self.flavor.empties.filter(|_| has_lists),
            ..Record::default()
        });
        self.records.len() - 1
    }

    fn form(&mut self, kind: &Kind, name: &str, path: &str) -> Form {
        match kind {
            Kind::Null => Form::Null,
            Kind::Bool => Form::Bool,
            Kind::Integer(Width::Narrow) => Form::Integer(Integer::I32),
            Kind::Integer(Width::Wide) => Form::Integer(Integer::I64),
            Kind::Integer(Width::Unsigned) if self.flavor.has_unsigned => {
                Form::Integer(Integer::U64)
            }
            Kind::Integer(Width::Unsigned) | Kind::NumberText => Form::NumberText,
            Kind::Double => Form::Double,
            Kind::Text => Form::Text,
            Kind::Json => Form::Json,
            Kind::List(value) => {
                Form::List(Box::new(self.element(value, name, &format!("{path}[]"))))
            }
            Kind::Map(value) => {
                Form::Map(Box::new(self.element(value, name, &format!("{path}.*"))))
            }
            Kind::Record(record) => Form::Record(self.record(*record, path)),
        }
    }

    /// The record made for one of the model.
    fn record(&mut self, of_model: usize, path: &str) -> usize {
        if let Some(&made) = self.made.get(&of_model) {
            return made;
        }
        let name = self.types.type_name(&self.model.records[of_model].name);
        let made = self.records.len();
        self.records.push(Record { name, ..Record::default() });
        self.made.insert(of_model, made);
        let is_new = std::mem::replace(&mut self.is_new, true);
        self.merge(of_model, made, path);
        self.is_new = is_new;
        made
    }

    /// Gives a record of the plan what it lacks of one of the model.
    fn merge(&mut self, of_model: usize, into: usize, path: &str) {
        if !self.merged.insert((of_model, into)) {
            return;
        }
        let model = self.model;
        // All keys first: a field's name must not be the key of another.
        let known: BTreeMap<String, usize> = self.records[into]
            .fields
            .iter()
            .enumerate()
            .map(|(position, field)| (field.key.clone(), position))
            .collect();
        let mut positions = Vec::new();
        for field in &model.records[of_model].fields {
            let path = format!("{path}.{}", field.key);
            let position = known.get(&field.key).copied().unwrap_or_else(|| {
                self.tell(&path, format!("new: {}", self.kind_names(&field.value)));
                let fields = &mut self.records[into].fields;
                fields.push(Field { key: field.key.clone(), alternatives: Vec::new() });
                fields.len() - 1
            });
            positions.push((position, path));
        }
        for (field, (position, path)) in model.records[of_model].fields.iter().zip(positions) {
            self.fill(into, position, &field.value, &path);
        }
        self.add_beside(into);
    }

    /// Adds the fields for the rest and for what is empty, where they are needed and free.
    fn add_beside(&mut self, into: usize) {
        let record = &self.records[into];
        let used = numbers(record);
        let has_lists = alternatives(record)
            .any(|(_, other)| matches!(other.form, Form::List(_) | Form::Map(_)));
        let free = |number: &u32| !used.contains(number);
        let rest = record.rest.or(Some(self.flavor.rest).filter(free)).filter(|_| !record.is_value);
        let empties = record.empties.or(self.flavor.empties.filter(|_| has_lists).filter(free));
        let record = &mut self.records[into];
        (record.rest, record.empties) = (rest, empties);
    }

    /// Gives a field the alternatives that it lacks.
    fn fill(&mut self, into: usize, position: usize, value: &Value, path: &str) {
        let was_empty = self.records[into].fields[position].alternatives.is_empty();
        for kind in null_last(value) {
            let one = Value { kinds: vec![kind.clone()] };
            let known: Vec<Form> = self.records[into].fields[position]
                .alternatives
                .iter()
                .map(|known| known.form.clone())
                .collect();
            if known.iter().any(|form| self.widen(form, &one, path, true)) {
                continue;
            }
            let key = self.records[into].fields[position].key.clone();
            let called = kind_word(kind);
            let form = self.form(kind, if key.is_empty() { "value" } else { &key }, path);
            if !was_empty {
                self.tell(path, format!("also {called}"));
            }
            let number = self.next_number(into);
            let name = self.alternative_name(into, position, &form);
            self.records[into].fields[position].alternatives.push(Alternative {
                number,
                name,
                form,
            });
        }
    }

    /// Whether a form takes these values; what it holds is widened until it does. `is_field` is
    /// false for the payload itself, which has no rest around it.
    fn widen(&mut self, form: &Form, value: &Value, path: &str, is_field: bool) -> bool {
        if let Form::Record(record) = form
            && self.records[*record].is_value
        {
            self.fill(*record, 0, value, path);
            self.add_beside(*record);
            return true;
        }
        let [kind] = &value.kinds[..] else { return *form == Form::Json };
        match (form, kind) {
            (Form::Json, _)
            | (Form::Null, Kind::Null)
            | (Form::Bool, Kind::Bool)
            | (Form::Double, Kind::Double)
            | (Form::NumberText, Kind::NumberText | Kind::Double | Kind::Integer(_))
            | (Form::Double, Kind::Integer(Width::Narrow))
            | (Form::Text | Form::Bytes | Form::Enum(_), Kind::Text) => true,
            (Form::Integer(integer), Kind::Integer(width)) => match width {
                Width::Narrow => !matches!(integer, Integer::I8 | Integer::I16),
                Width::Wide => matches!(
                    integer,
                    Integer::I64 | Integer::S64 | Integer::Sfixed64 | Integer::U64
                ),
                Width::Unsigned => matches!(integer, Integer::U64 | Integer::Fixed64),
            },
            (Form::Record(record), Kind::Record(of_model)) => {
                self.merge(*of_model, *record, path);
                true
            }
            // Keys that the record lacks go into its rest; as a map it was never written.
            (Form::Record(_), Kind::Map(_)) | (Form::Map(_), Kind::Record(_)) => is_field,
            (Form::List(element), Kind::List(value)) => {
                self.widen(element, value, &format!("{path}[]"), true)
            }
            (Form::Map(element), Kind::Map(value)) => {
                self.widen(element, value, &format!("{path}.*"), true)
            }
            _ => false,
        }
    }

    /// A name for an alternative: that of the key for the first that is not null.
    fn alternative_name(&self, into: usize, position: usize, form: &Form) -> String {
        let record = &self.records[into];
        let mut names = Namer::new();
        for name in [REST_NAME, EMPTIES_NAME] {
            names.reserve(name);
        }
        for (_, known) in alternatives(record) {
            names.reserve(&known.name);
        }
        let field = &record.fields[position];
        for other in record.fields.iter().filter(|other| other.key != field.key) {
            names.reserve(&other.key);
        }
        if record.is_value {
            return names.field_name(&format!("{}_value", word(form)));
        }
        let others = field.alternatives.iter().filter(|known| known.form != Form::Null).count();
        if *form != Form::Null && others == 0 {
            return names.field_name(&field.key);
        }
        names.field_name(&format!("{}_{}", field.key, word(form)))
    }

    fn next_number(&self, into: usize) -> u32 {
        let record = &self.records[into];
        let highest = alternatives(record).map(|(_, known)| known.number).max().unwrap_or(0);
        let mut number = highest + 1;
        let (low, high) = self.flavor.reserved;
        let is_reserved = |number: u32| (low..=high).contains(&number);
        let beside = [Some(self.flavor.rest), self.flavor.empties, record.rest, record.empties];
        while beside.contains(&Some(number)) || is_reserved(number) {
            number += 1;
        }
        number
    }

    fn tell(&mut self, path: &str, what: String) {
        if !self.is_new {
            self.changes.push(Change { path: path.to_owned(), what, breaks: false });
        }
    }

    fn kind_names(&self, value: &Value) -> String {
        let names: Vec<&str> = value.kinds.iter().map(kind_word).collect();
        names.join(" or ")
    }
}

/// The kinds of a value. Null comes last, so that what is more frequent has the lower number.
fn null_last(value: &Value) -> impl Iterator<Item = &Kind> {
    let of_null =
        |is_null: bool| value.kinds.iter().filter(move |kind| (**kind == Kind::Null) == is_null);
    of_null(false).chain(of_null(true))
}

/// All alternatives of a record, with the position of their field.
pub(crate) fn alternatives(record: &Record) -> impl Iterator<Item = (usize, &Alternative)> {
    let fields = record.fields.iter().enumerate();
    fields.flat_map(|(position, field)| field.alternatives.iter().map(move |a| (position, a)))
}

fn numbers(record: &Record) -> BTreeSet<u32> {
    let beside = record.rest.into_iter().chain(record.empties);
    alternatives(record).map(|(_, known)| known.number).chain(beside).collect()
}

/// What a form is called in the names of fields.
pub(crate) fn word(form: &Form) -> &'static str {
    match form {
        Form::Null => "null",
        Form::Bool => "bool",
        Form::Integer(_) => "int",
        Form::Double | Form::Float => "double",
        Form::NumberText => "number",
        Form::Json => "json",
        Form::Text | Form::Bytes | Form::Enum(_) => "text",
        Form::List(_) => "list",
        Form::Map(_) => "map",
        Form::Record(_) => "object",
    }
}

/// What a kind is called in messages.
pub(crate) fn kind_word(kind: &Kind) -> &'static str {
    match kind {
        Kind::Null => "null",
        Kind::Bool => "boolean",
        Kind::Integer(Width::Narrow) => "integer",
        Kind::Integer(_) => "long integer",
        Kind::Double => "number",
        Kind::NumberText => "number of any length",
        Kind::Text => "string",
        Kind::List(_) => "list",
        Kind::Map(_) => "map",
        Kind::Record(_) => "object",
        Kind::Json => "anything",
    }
}
