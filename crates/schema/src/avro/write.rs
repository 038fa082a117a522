//! A model as an `.avsc` file. A type is defined where it is used first, and named from then on.
//! The same model gives the same text, so that a schema has one SHA-256.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::{JSON_NULL, JSON_NUMBER, JSON_TEXT, KEY, MEMBER, NAMESPACE, REST};
use crate::model::{Field, Kind, Model, Value, Width};
use crate::names::Namer;
use crate::plan::REST_NAME;

/// The text of the file.
pub(super) fn write(model: &Model) -> String {
    let mut writer = Writer { model, defined: BTreeSet::new(), text: String::new(), indent: 0 };
    writer.value(&model.root, false);
    writer.text + "\n"
}

struct Writer<'a> {
    model: &'a Model,
    /// The names of the types that are defined by now.
    defined: BTreeSet<String>,
    text: String,
    indent: usize,
}

impl Writer<'_> {
    fn line(&mut self) {
        self.text.push('\n');
        for _ in 0..self.indent {
            self.text.push(' ');
        }
    }

    /// A type for these values; one that may be absent is a union whose first branch says so.
    fn value(&mut self, value: &Value, may_be_absent: bool) {
        if let ([kind], false) = (&value.kinds[..], may_be_absent) {
            return self.kind(kind, false);
        }
        self.text.push('[');
        if may_be_absent {
            self.text.push_str("\"null\", ");
        }
        for (index, kind) in value.kinds.iter().enumerate() {
            if index > 0 {
                self.text.push_str(", ");
            }
            self.kind(kind, may_be_absent);
        }
        self.text.push(']');
    }

    fn kind(&mut self, kind: &Kind, null_is_absent: bool) {
        match kind {
            Kind::Null if null_is_absent => self.own(JSON_NULL, "enum", "\"symbols\": [\"null\"]"),
            Kind::Null => self.text.push_str("\"null\""),
            Kind::Bool => self.text.push_str("\"boolean\""),
            Kind::Integer(Width::Narrow) => self.text.push_str("\"int\""),
            Kind::Integer(Width::Wide) => self.text.push_str("\"long\""),
            Kind::Double => self.text.push_str("\"double\""),
            Kind::Text => self.text.push_str("\"string\""),
            Kind::Integer(Width::Unsigned) | Kind::NumberText => self.text_record(JSON_NUMBER),
            Kind::Json => self.text_record(JSON_TEXT),
            Kind::List(element) => {
                self.text.push_str("{\"type\": \"array\", \"items\": ");
                self.value(element, false);
                self.text.push('}');
            }
            Kind::Map(element) => {
                self.text.push_str("{\"type\": \"map\", \"values\": ");
                self.value(element, false);
                self.text.push('}');
            }
            Kind::Record(index) => self.record(*index),
        }
    }

    /// A type of ours.
    fn own(&mut self, name: &str, of: &str, rest: &str) {
        let full = format!("{NAMESPACE}.{name}");
        if !self.defined.insert(full.clone()) {
            let _ = write!(self.text, "\"{full}\"");
            return;
        }
        let _ = write!(
            self.text,
            "{{\"type\": \"{of}\", \"name\": \"{name}\", \"namespace\": \"{NAMESPACE}\", {rest}}}"
        );
    }

    /// A string that is no string in JSON: a record of one, which takes no more bytes and may stand
    /// beside a string in a union.
    fn text_record(&mut self, name: &str) {
        self.own(name, "record", "\"fields\": [{\"name\": \"text\", \"type\": \"string\"}]");
    }

    fn record(&mut self, index: usize) {
        let model = self.model;
        let record = &model.records[index];
        if !self.defined.insert(record.name.clone()) {
            let _ = write!(self.text, "\"{}\"", record.name);
            return;
        }
        let _ = write!(
            self.text,
            "{{\"type\": \"record\", \"name\": \"{}\", \"fields\": [",
            record.name
        );
        self.indent += 2;
        let mut names = Namer::new();
        names.reserve(REST_NAME);
        for field in &record.fields {
            self.line();
            self.field(field, &mut names);
            self.text.push(',');
        }
        self.line();
        let _ = write!(self.text, "{{\"name\": \"{REST_NAME}\", \"type\": [\"null\", ");
        let strings = "{\"name\": \"key\", \"type\": \"string\"}, {\"name\": \"json\", \"type\": \
                       \"string\"}";
        let member = format!(
            "{{\"type\": \"record\", \"name\": \"{MEMBER}\", \"namespace\": \"{NAMESPACE}\", \
             \"fields\": [{strings}]}}"
        );
        let fields = format!(
            "\"fields\": [{{\"name\": \"order\", \"type\": {{\"type\": \"array\", \"items\": \
             \"int\"}}}}, {{\"name\": \"members\", \"type\": {{\"type\": \"array\", \"items\": \
             {member}}}}}]"
        );
        self.own(REST, "record", &fields);
        self.text.push_str("], \"default\": null}");
        self.indent -= 2;
        self.line();
        self.text.push_str("]}");
    }

    fn field(&mut self, field: &Field, names: &mut Namer) {
        let name = names.field_name(&field.key);
        let _ = write!(self.text, "{{\"name\": \"{name}\", \"type\": ");
        self.value(&field.value, !field.is_always);
        if !field.is_always {
            self.text.push_str(", \"default\": null");
        }
        if name != field.key {
            let key = serde_json::Value::from(field.key.as_str());
            let _ = write!(self.text, ", \"{KEY}\": {key}");
        }
        self.text.push('}');
    }
}
