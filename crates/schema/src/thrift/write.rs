//! A plan as a `.thrift` file. Thrift wants a struct before those that use it, except where it is
//! recursive, so structs stand in the order in which they are needed.

use std::fmt::Write;

use cinch_core::schema::tagged::{Alternative, Form, Integer, Plan, Record};

use super::{AS, JSON, KEY, MEMBER, NULL, NUMBER, REST, ROOT, ROOT_VALUE, VALUE};
use crate::plan::{REST_NAME, alternatives};

/// The text of the file.
pub(crate) fn write(plan: &Plan) -> String {
    let mut text = String::from(
        "// Written by cinch; spec/schema.md says what the annotations mean.\n\n\
         // A member that the schema has no place for.\n",
    );
    let _ = writeln!(
        text,
        "struct {MEMBER} {{\n  1: optional string key\n  2: optional string json\n  3: optional \
         i32 place\n}}"
    );
    for index in ordered(plan) {
        write_struct(plan, index, &mut text);
    }
    text
}

/// The records that the payload leads to, each after those that it uses as far as that can be.
fn ordered(plan: &Plan) -> Vec<usize> {
    let mut order = Vec::new();
    let mut is_met = vec![false; plan.records().len()];
    // A stack of records and how many of their uses were followed, since shapes may nest deep.
    let mut stack: Vec<(usize, Vec<usize>)> = Vec::new();
    is_met[plan.root()] = true;
    stack.push((plan.root(), uses(&plan.records()[plan.root()])));
    while let Some((index, rest)) = stack.last_mut() {
        match rest.pop() {
            Some(next) if !is_met[next] => {
                is_met[next] = true;
                stack.push((next, uses(&plan.records()[next])));
            }
            Some(_) => {}
            None => {
                order.push(*index);
                stack.pop();
            }
        }
    }
    order
}

fn uses(record: &Record) -> Vec<usize> {
    fn of(form: &Form) -> Option<usize> {
        match form {
            Form::List(inner) | Form::Map(inner) => of(inner),
            Form::Record(index) => Some(*index),
            _ => None,
        }
    }
    let mut found: Vec<usize> =
        alternatives(record).filter_map(|(_, alternative)| of(&alternative.form)).collect();
    found.reverse();
    found
}

fn write_struct(plan: &Plan, index: usize, text: &mut String) {
    let record = &plan.records()[index];
    let _ = writeln!(text, "\nstruct {} {{", record.name);
    for field in &record.fields {
        for alternative in &field.alternatives {
            write_field(plan, record, &field.key, alternative, text);
        }
    }
    if let Some(number) = record.rest {
        let _ =
            writeln!(text, "  {number}: optional list<{MEMBER}> {REST_NAME} ({AS} = \"{REST}\")");
    }
    let says = match (index == plan.root(), record.is_value) {
        (true, true) => Some(ROOT_VALUE),
        (true, false) => Some(ROOT),
        (false, true) => Some(VALUE),
        (false, false) => None,
    };
    let says = says.map(|says| format!(" ({AS} = \"{says}\")")).unwrap_or_default();
    let _ = writeln!(text, "}}{says}");
}

fn write_field(
    plan: &Plan,
    record: &Record,
    key: &str,
    alternative: &Alternative,
    text: &mut String,
) {
    let mut says = Vec::new();
    if !record.is_value && alternative.name != key {
        says.push(format!("{KEY} = {}", quoted(key)));
    }
    let mut inner = &alternative.form;
    while let Form::List(element) | Form::Map(element) = inner {
        inner = element;
    }
    let how = match inner {
        Form::Null => Some(NULL),
        Form::NumberText => Some(NUMBER),
        Form::Json => Some(JSON),
        _ => None,
    };
    says.extend(how.map(|how| format!("{AS} = \"{how}\"")));
    let says = match says.is_empty() {
        true => String::new(),
        false => format!(" ({})", says.join(", ")),
    };
    let (number, name) = (alternative.number, &alternative.name);
    let of = type_name(plan, &alternative.form);
    let _ = writeln!(text, "  {number}: optional {of} {name}{says}");
}

fn type_name(plan: &Plan, form: &Form) -> String {
    let name = match form {
        Form::Null | Form::Bool => "bool",
        Form::Integer(Integer::I8) => "i8",
        Form::Integer(Integer::I16) => "i16",
        Form::Integer(Integer::I32) => "i32",
        Form::Integer(_) => "i64",
        Form::Double | Form::Float => "double",
        Form::Bytes => "binary",
        // An enumeration of a file that was given is written as its numbers.
        Form::Enum(_) => "i32",
        Form::NumberText | Form::Json | Form::Text => "string",
        Form::Record(record) => &plan.records()[*record].name,
        Form::List(inner) => return format!("list<{}>", type_name(plan, inner)),
        Form::Map(inner) => return format!("map<string, {}>", type_name(plan, inner)),
    };
    name.to_owned()
}

/// A string as the language writes it, which knows no escape for a quote in all versions of its
/// compiler: what is not plain stands as percent signs and hexadecimal digits.
fn quoted(key: &str) -> String {
    let mut text = "\"".to_owned();
    for &byte in key.as_bytes() {
        match byte {
            b'"' | b'\\' | b'%' | b'\'' | 0..0x20 | 0x7F => {
                let _ = write!(text, "%{byte:02x}");
            }
            0x80.. => {
                let _ = write!(text, "%{byte:02x}");
            }
            _ => text.push(byte as char),
        }
    }
    text + "\""
}
