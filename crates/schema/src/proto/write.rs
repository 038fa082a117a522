//! A plan as a `.proto` file of version 3. The same plan gives the same text, so that a
//! schema has one SHA-256.

use std::fmt::Write;

use cinch_core::schema::tagged::{Alternative, Field, Form, Integer, Plan, Record};

use super::{JSON, MEMBER, NULL, NUMBER, json_name};
use crate::plan::{EMPTIES_NAME, REST_NAME, alternatives, word};

/// The text of the file. The payload's message is the first.
pub(crate) fn write(plan: &Plan) -> String {
    let mut text = String::from(
        "// Written by cinch; spec/schema.md says what the names behind an @ mean.\n\
         syntax = \"proto3\";\n",
    );
    for index in in_order(plan) {
        write_message(plan, &plan.records()[index], &mut text);
    }
    let _ = writeln!(text, "\n// A member that the schema has no place for.\nmessage {MEMBER} {{");
    text.push_str("  string key = 1;\n  string json = 2;\n}\n");
    text
}

/// The records that the payload leads to, in the order in which fields lead to them, so that a file
/// which is read and written again is the same.
fn in_order(plan: &Plan) -> Vec<usize> {
    let mut is_met = vec![false; plan.records().len()];
    is_met[plan.root()] = true;
    let mut order = vec![plan.root()];
    let mut next = 0;
    while let Some(&index) = order.get(next) {
        for (_, alternative) in alternatives(&plan.records()[index]) {
            let mut inner = &alternative.form;
            while let Form::List(element) | Form::Map(element) = inner {
                inner = element;
            }
            if let Form::Record(used) = inner
                && !std::mem::replace(&mut is_met[*used], true)
            {
                order.push(*used);
            }
        }
        next += 1;
    }
    order
}

fn write_message(plan: &Plan, record: &Record, text: &mut String) {
    let _ = writeln!(text, "\nmessage {} {{", record.name);
    for field in &record.fields {
        write_field(plan, record, field, text);
    }
    if let Some(number) = record.empties {
        let _ = writeln!(text, "  repeated uint32 {EMPTIES_NAME} = {number} [packed = false];");
    }
    if let Some(number) = record.rest {
        let _ = writeln!(text, "  repeated {MEMBER} {REST_NAME} = {number};");
    }
    text.push_str("}\n");
}

/// A key: a field, or several, of which those that can stand in a `oneof` do.
fn write_field(plan: &Plan, record: &Record, field: &Field, text: &mut String) {
    let is_plural =
        |alternative: &&Alternative| matches!(alternative.form, Form::List(_) | Form::Map(_));
    let (plural, single): (Vec<&Alternative>, Vec<&Alternative>) =
        field.alternatives.iter().partition(is_plural);
    if let [one, _, ..] = &single[..] {
        let _ = writeln!(text, "  oneof {}_oneof {{", one.name);
        for alternative in &single {
            line(plan, record, field, alternative, "    ", text);
        }
        text.push_str("  }\n");
    } else {
        for alternative in &single {
            line(plan, record, field, alternative, "  optional ", text);
        }
    }
    for alternative in plural {
        line(plan, record, field, alternative, "  ", text);
    }
}

fn line(
    plan: &Plan,
    record: &Record,
    field: &Field,
    alternative: &Alternative,
    start: &str,
    text: &mut String,
) {
    let first = field.alternatives.iter().find(|other| other.form != Form::Null);
    let is_first = !record.is_value && first == Some(alternative);
    let (mut words, is_needed) = how(alternative);
    let others = field.alternatives.iter().filter(|other| other.number < alternative.number);
    if others.map(how).any(|(other, _)| other == words) {
        words.push_str(&format!("-{}", alternative.number));
    }
    let words = (is_needed || !is_first).then_some(words);
    let json_name = json_name(&field.key, words.as_deref());
    let of = match &alternative.form {
        Form::List(element) => format!("repeated {}", type_name(plan, element)),
        Form::Map(value) => format!("map<string, {}>", type_name(plan, value)),
        form => type_name(plan, form),
    };
    let is_default = json_name == alternative.name && !json_name.contains('_');
    let options = match is_default {
        true => String::new(),
        false => format!(" [json_name = {}]", quoted(&json_name)),
    };
    let _ = writeln!(text, "{start}{of} {} = {}{options};", alternative.name, alternative.number);
}

/// What stands behind the `@` of a field, and whether it has to, because the type does not say it.
fn how(alternative: &Alternative) -> (String, bool) {
    match &alternative.form {
        Form::List(inner) | Form::Map(inner) => {
            let outer = word(&alternative.form);
            match **inner {
                Form::NumberText => (format!("{outer}-{NUMBER}"), true),
                Form::Json => (format!("{outer}-{JSON}"), true),
                _ => (outer.to_owned(), false),
            }
        }
        Form::Null => (NULL.to_owned(), true),
        Form::NumberText => (NUMBER.to_owned(), true),
        Form::Json => (JSON.to_owned(), true),
        form => (word(form).to_owned(), false),
    }
}

fn type_name(plan: &Plan, form: &Form) -> String {
    let name = match form {
        Form::Null | Form::Bool => "bool",
        Form::Double => "double",
        Form::Float => "float",
        Form::Bytes => "bytes",
        Form::NumberText | Form::Json | Form::Text => "string",
        // An enumeration of a file that was given is written as its names.
        Form::Enum(_) => "string",
        Form::Integer(integer) => integer_name(*integer),
        Form::Record(record) => &plan.records()[*record].name,
        Form::List(inner) | Form::Map(inner) => return type_name(plan, inner),
    };
    name.to_owned()
}

fn integer_name(integer: Integer) -> &'static str {
    match integer {
        Integer::I8 | Integer::I16 | Integer::I32 => "int32",
        Integer::I64 => "int64",
        Integer::U32 => "uint32",
        Integer::U64 => "uint64",
        Integer::S32 => "sint32",
        Integer::S64 => "sint64",
        Integer::Fixed32 => "fixed32",
        Integer::Fixed64 => "fixed64",
        Integer::Sfixed32 => "sfixed32",
        Integer::Sfixed64 => "sfixed64",
    }
}

/// A string as the language writes it.
fn quoted(key: &str) -> String {
    let mut text = "\"".to_owned();
    for c in key.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            c if c.is_control() && c.is_ascii() => {
                let _ = write!(text, "\\{:03o}", c as u32);
            }
            c => text.push(c),
        }
    }
    text + "\""
}
