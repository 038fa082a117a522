//! An `.avsc` file as a plan. Aliases and logical types change nothing in the bytes and are passed
//! over.
//!
//! A field whose union has `null` and whose default is `null` is one whose key may be missing, and
//! then `null` stands for that; in any other place `null` is JSON's.

use std::collections::BTreeMap;

use cinch_core::schema::avro::{Field, Plan, Record, Type};
use serde_json::{Map, Value};

use super::{JSON_NULL, JSON_NUMBER, JSON_TEXT, KEY, NAMESPACE, REST};
use crate::ReadError;
use crate::plan::REST_NAME;

/// Reads a file.
pub(crate) fn read(text: &str) -> Result<Plan, ReadError> {
    let value: Value = serde_json::from_str(text)
        .map_err(|error| ReadError::Syntax { line: error.line(), what: error.to_string() })?;
    let mut reader = Reader { records: Vec::new(), named: BTreeMap::new() };
    let root = reader.read(&value, "")?;
    Ok(Plan::new(reader.records, root)?)
}

struct Reader {
    records: Vec<Record>,
    /// The types by their full names.
    named: BTreeMap<String, Type>,
}

impl Reader {
    fn read(&mut self, value: &Value, namespace: &str) -> Result<Type, ReadError> {
        match value {
            Value::String(name) => self.by_name(name, namespace),
            Value::Array(branches) => {
                let branches: Result<Vec<Type>, ReadError> =
                    branches.iter().map(|branch| self.read(branch, namespace)).collect();
                Ok(Type::Union(branches?))
            }
            Value::Object(of) => self.defined(of, namespace),
            other => Err(ReadError::unsupported(other.to_string(), "this is no type")),
        }
    }

    fn by_name(&self, name: &str, namespace: &str) -> Result<Type, ReadError> {
        let full = full_name(name, namespace);
        if let Some(of) = self.named.get(&full).or_else(|| self.named.get(name)) {
            return Ok(of.clone());
        }
        Ok(match name {
            "null" => Type::Null,
            "boolean" => Type::Bool,
            "int" => Type::Int,
            "long" => Type::Long,
            "float" => Type::Float,
            "double" => Type::Double,
            "bytes" => Type::Bytes(None),
            "string" => Type::Text,
            _ => return Err(ReadError::unsupported(name, "there is no type of this name")),
        })
    }

    fn defined(&mut self, of: &Map<String, Value>, namespace: &str) -> Result<Type, ReadError> {
        let lacks = |what: &str| ReadError::unsupported(Value::from(of.clone()).to_string(), what);
        let kind = of.get("type").ok_or_else(|| lacks("a type is missing"))?;
        let Some(kind) = kind.as_str() else { return self.read(kind, namespace) };
        match kind {
            "array" => {
                let items = of.get("items").ok_or_else(|| lacks("items are missing"))?;
                return Ok(Type::List(Box::new(self.read(items, namespace)?)));
            }
            "map" => {
                let values = of.get("values").ok_or_else(|| lacks("values are missing"))?;
                return Ok(Type::Map(Box::new(self.read(values, namespace)?)));
            }
            "record" | "error" | "enum" | "fixed" => {}
            name => return self.by_name(name, namespace),
        }
        let name = of.get("name").and_then(Value::as_str);
        let name = name.ok_or_else(|| lacks("a name is missing"))?;
        let inner = match (name.rsplit_once('.'), of.get("namespace").and_then(Value::as_str)) {
            (Some((inner, _)), _) => inner,
            (None, Some(inner)) => inner,
            (None, None) => namespace,
        }
        .to_owned();
        let full = full_name(name, &inner);
        if self.named.contains_key(&full) {
            return Err(ReadError::unsupported(full, "this name is defined twice"));
        }
        let short = name.rsplit('.').next().unwrap_or(name);
        let found = match kind {
            "fixed" => {
                let size = of.get("size").and_then(Value::as_u64);
                let size = size.and_then(|size| usize::try_from(size).ok());
                Type::Bytes(Some(size.ok_or_else(|| lacks("a size is missing"))?))
            }
            "enum" => {
                let symbols = of.get("symbols").and_then(Value::as_array);
                let symbols = symbols.ok_or_else(|| lacks("symbols are missing"))?;
                let symbol = |symbol: &Value| symbol.as_str().map(str::to_owned);
                let symbols: Option<Vec<String>> = symbols.iter().map(symbol).collect();
                let symbols = symbols.ok_or_else(|| lacks("a symbol is a string"))?;
                let is_ours = inner == NAMESPACE && short == JSON_NULL && symbols == ["null"];
                if is_ours { Type::JsonNull } else { Type::Enum(symbols) }
            }
            _ if inner == NAMESPACE && short == JSON_NUMBER => Type::NumberText,
            _ if inner == NAMESPACE && short == JSON_TEXT => Type::Json,
            _ => return self.record(of, &full, &inner),
        };
        self.named.insert(full, found.clone());
        Ok(found)
    }

    fn record(
        &mut self,
        of: &Map<String, Value>,
        full: &str,
        namespace: &str,
    ) -> Result<Type, ReadError> {
        let index = self.records.len();
        self.records.push(Record::default());
        self.named.insert(full.to_owned(), Type::Record(index));
        let fields = of.get("fields").and_then(Value::as_array);
        let fields = fields.ok_or_else(|| ReadError::unsupported(full, "it has no fields"))?;
        let mut record = Record { name: full.to_owned(), ..Record::default() };
        for field in fields {
            let name = field.get("name").and_then(Value::as_str);
            let (Some(name), Some(of)) = (name, field.get("type")) else {
                return Err(ReadError::unsupported(full, "a field has no name or no type"));
            };
            if record.has_rest {
                return Err(ReadError::unsupported(full, "the field of the rest is the last one"));
            }
            let of = self.read(of, namespace)?;
            if name == REST_NAME && self.is_rest(&of) {
                record.has_rest = true;
                continue;
            }
            let absent = match (&of, field.get("default")) {
                (Type::Union(branches), Some(Value::Null)) => {
                    branches.iter().position(|branch| *branch == Type::Null)
                }
                _ => None,
            };
            let key = field.get(KEY).and_then(Value::as_str).unwrap_or(name).to_owned();
            record.fields.push(Field { key, name: name.to_owned(), of, absent });
        }
        self.records[index] = record;
        Ok(Type::Record(index))
    }

    fn is_rest(&self, of: &Type) -> bool {
        let rest = self.named.get(&full_name(REST, NAMESPACE));
        matches!((of, rest), (Type::Union(branches), Some(rest))
            if matches!(&branches[..], [Type::Null, second] if second == rest))
    }
}

fn full_name(name: &str, namespace: &str) -> String {
    if name.contains('.') || namespace.is_empty() {
        name.to_owned()
    } else {
        format!("{namespace}.{name}")
    }
}
