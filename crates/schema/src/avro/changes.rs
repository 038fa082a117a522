//! What is different between two Avro schemas, and what of it readers of the older one can't read.
//!
//! Avro resolves the writer's schema against the reader's: a field that the reader lacks is passed
//! over, but a branch of a union or a wider number that it does not have is an error.

use std::collections::BTreeSet;

use cinch_core::schema::avro::{Field, Plan, Type};

use crate::number::Change;

/// The changes from one plan to another.
pub(super) fn between(old: &Plan, new: &Plan) -> Vec<Change> {
    let mut comparison = Comparison { old, new, met: BTreeSet::new(), changes: Vec::new() };
    comparison.types(old.root(), new.root(), "$");
    comparison.changes
}

struct Comparison<'a> {
    old: &'a Plan,
    new: &'a Plan,
    met: BTreeSet<(usize, usize)>,
    changes: Vec<Change>,
}

impl Comparison<'_> {
    fn tell(&mut self, path: &str, what: impl Into<String>, breaks: bool) {
        self.changes.push(Change { path: path.to_owned(), what: what.into(), breaks });
    }

    fn records(&mut self, old: usize, new: usize, path: &str) {
        if !self.met.insert((old, new)) {
            return;
        }
        let (old, new) = (&self.old.records()[old], &self.new.records()[new]);
        let find = |fields: &[Field], key: &str| fields.iter().position(|field| field.key == key);
        for field in &new.fields {
            let path = format!("{path}.{}", field.key);
            match find(&old.fields, &field.key) {
                None => self.tell(&path, "new", false),
                Some(before) => self.types(&old.fields[before].of, &field.of, &path),
            }
        }
        for field in &old.fields {
            if find(&new.fields, &field.key).is_none() {
                let path = format!("{path}.{}", field.key);
                self.tell(&path, "gone", field.absent.is_none());
            }
        }
    }

    fn types(&mut self, old: &Type, new: &Type, path: &str) {
        match (old, new) {
            (Type::Record(old), Type::Record(new)) => self.records(*old, *new, path),
            (Type::List(old), Type::List(new)) => self.types(old, new, &format!("{path}[]")),
            (Type::Map(old), Type::Map(new)) => self.types(old, new, &format!("{path}.*")),
            (Type::Union(before), Type::Union(after)) => {
                for branch in after {
                    match before.iter().find(|other| is_kin(other, branch)) {
                        Some(known) => self.types(known, branch, path),
                        None => self.tell(path, format!("also {}", word(branch)), true),
                    }
                }
            }
            (Type::Union(before), one) => match before.iter().find(|other| is_kin(other, one)) {
                Some(known) => self.types(known, one, path),
                None => self.tell(path, format!("now {}", word(one)), true),
            },
            (one, Type::Union(after)) => {
                for branch in after {
                    match is_kin(one, branch) {
                        true => self.types(one, branch, path),
                        false => self.tell(path, format!("also {}", word(branch)), true),
                    }
                }
            }
            (old, new) if old == new => {}
            (Type::Long | Type::Float | Type::Double, Type::Int)
            | (Type::Float | Type::Double, Type::Long)
            | (Type::Double, Type::Float) => {
                self.tell(path, format!("now {}, narrower", word(new)), false);
            }
            (old, new) => {
                self.tell(path, format!("{} instead of {}", word(new), word(old)), true);
            }
        }
    }
}

/// Whether two types are the same branch of a union, as far as their kind goes.
fn is_kin(one: &Type, other: &Type) -> bool {
    let is_number = |of: &Type| {
        matches!(of, Type::Int | Type::Long | Type::Float | Type::Double | Type::NumberText)
    };
    std::mem::discriminant(one) == std::mem::discriminant(other)
        || (is_number(one) && is_number(other))
}

fn word(of: &Type) -> &'static str {
    match of {
        Type::Null => "null or absent",
        Type::JsonNull => "null",
        Type::Bool => "boolean",
        Type::Int => "int",
        Type::Long => "long",
        Type::Float => "float",
        Type::Double => "double",
        Type::Text => "string",
        Type::Bytes(_) => "bytes",
        Type::Enum(_) => "an enumeration",
        Type::NumberText => "a number of any length",
        Type::Json => "anything",
        Type::List(_) => "a list",
        Type::Map(_) => "a map",
        Type::Record(_) => "an object",
        Type::Union(_) => "a union",
    }
}
