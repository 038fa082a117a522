//! The JSON form of a request. Keys are in lower camel case, 64-bit numbers may be strings, and ids
//! are hexadecimal already, as the protocol says. Keys that are unknown are passed over.
//!
//! Only borders are kept at first, so that a body of many empty records costs a few times its size
//! and not a hundred times.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{OTLP_DEPTH_MAX, OtlpError};
use crate::json_text::{JsonFault, Lines, Object, push_display, push_float, push_string};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request<'a> {
    #[serde(borrow, default)]
    resource_logs: Vec<ResourceLogs<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResourceLogs<'a> {
    #[serde(borrow, default)]
    resource: Option<Resource<'a>>,
    #[serde(borrow, default)]
    scope_logs: Vec<ScopeLogs<'a>>,
}

#[derive(Deserialize)]
struct Resource<'a> {
    #[serde(borrow, default)]
    attributes: Vec<KeyValue<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ScopeLogs<'a> {
    #[serde(borrow, default)]
    scope: Option<Scope<'a>>,
    #[serde(borrow, default)]
    log_records: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct Scope<'a> {
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    version: Cow<'a, str>,
    #[serde(borrow, default)]
    attributes: Vec<KeyValue<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LogRecord<'a> {
    #[serde(default)]
    time_unix_nano: Number,
    #[serde(default)]
    observed_time_unix_nano: Number,
    #[serde(default)]
    severity_number: u64,
    #[serde(borrow, default)]
    severity_text: Cow<'a, str>,
    #[serde(borrow, default)]
    event_name: Cow<'a, str>,
    #[serde(borrow, default)]
    body: Option<&'a RawValue>,
    #[serde(borrow, default)]
    attributes: Vec<KeyValue<'a>>,
    #[serde(borrow, default)]
    trace_id: Cow<'a, str>,
    #[serde(borrow, default)]
    span_id: Cow<'a, str>,
    #[serde(default)]
    flags: u32,
}

#[derive(Deserialize)]
struct KeyValue<'a> {
    #[serde(borrow, default)]
    key: Cow<'a, str>,
    #[serde(borrow, default)]
    value: Option<&'a RawValue>,
}

/// One of the keys is there.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AnyValue<'a> {
    #[serde(borrow)]
    string_value: Option<Cow<'a, str>>,
    bool_value: Option<bool>,
    int_value: Option<Signed>,
    #[serde(borrow)]
    double_value: Option<&'a RawValue>,
    #[serde(borrow)]
    array_value: Option<Values<'a>>,
    #[serde(borrow)]
    kvlist_value: Option<Pairs<'a>>,
    #[serde(borrow)]
    bytes_value: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Values<'a> {
    #[serde(borrow, default)]
    values: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct Pairs<'a> {
    #[serde(borrow, default)]
    values: Vec<KeyValue<'a>>,
}

/// A number, or a string of one.
#[derive(Default, Deserialize)]
#[serde(try_from = "NumberText")]
struct Number(u64);

#[derive(Deserialize)]
#[serde(try_from = "NumberText")]
struct Signed(i64);

#[derive(Deserialize)]
#[serde(untagged)]
enum NumberText {
    Unsigned(u64),
    Signed(i64),
    Text(String),
}

impl TryFrom<NumberText> for Number {
    type Error = &'static str;

    fn try_from(number: NumberText) -> Result<Number, &'static str> {
        let number = match number {
            NumberText::Unsigned(number) => Some(number),
            NumberText::Signed(_) => None,
            NumberText::Text(text) => text.parse().ok(),
        };
        number.map(Number).ok_or("a time is no number")
    }
}

impl TryFrom<NumberText> for Signed {
    type Error = &'static str;

    fn try_from(number: NumberText) -> Result<Signed, &'static str> {
        let number = match number {
            NumberText::Unsigned(number) => i64::try_from(number).ok(),
            NumberText::Signed(number) => Some(number),
            NumberText::Text(text) => text.parse().ok(),
        };
        number.map(Signed).ok_or("an integer is none")
    }
}

fn parse<'a, T: Deserialize<'a>>(text: &'a [u8]) -> Result<T, OtlpError> {
    serde_json::from_slice(text).map_err(|error| OtlpError::Json {
        fault: JsonFault::of(&error),
        detail: error.to_string(),
    })
}

pub(super) fn write_response(rejected: u64, message: &str, out: &mut Vec<u8>) {
    let mut response = Object::begin(out);
    if rejected > 0 || !message.is_empty() {
        let mut partial = Object::begin(response.key(b"partialSuccess"));
        // 64-bit numbers are strings in the JSON form of protobuf.
        partial.text("rejectedLogRecords", rejected.to_string().as_bytes());
        partial.text("errorMessage", message.as_bytes());
        partial.end();
    }
    response.end();
}

pub(super) fn read(body: &[u8], lines: &mut Lines<'_>) -> Result<(), OtlpError> {
    let request: Request<'_> = parse(body)?;
    let (mut resource_text, mut scope_text) = (Vec::new(), Vec::new());
    for resource_logs in &request.resource_logs {
        resource_text.clear();
        if let Some(resource) = &resource_logs.resource {
            write_attributes(&resource.attributes, 0, &mut resource_text)?;
        }
        for scope_logs in &resource_logs.scope_logs {
            scope_text.clear();
            if let Some(scope) = &scope_logs.scope {
                write_scope(scope, &mut scope_text)?;
            }
            for record in &scope_logs.log_records {
                let record = parse(record.get().as_bytes())?;
                write_record(&record, &resource_text, &scope_text, lines.out)?;
                lines.end()?;
            }
        }
    }
    Ok(())
}

fn write_record(
    record: &LogRecord<'_>,
    resource: &[u8],
    scope: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), OtlpError> {
    let mut line = Object::begin(out);
    line.number("time_unix_nano", record.time_unix_nano.0);
    line.number("observed_time_unix_nano", record.observed_time_unix_nano.0);
    line.number("severity_number", record.severity_number);
    line.text("severity_text", record.severity_text.as_bytes());
    line.text("event_name", record.event_name.as_bytes());
    if let Some(body) = record.body {
        write_value(body, 0, line.key(b"body"))?;
    }
    if !record.attributes.is_empty() {
        write_attributes(&record.attributes, 0, line.key(b"attributes"))?;
    }
    line.text("trace_id", record.trace_id.to_ascii_lowercase().as_bytes());
    line.text("span_id", record.span_id.to_ascii_lowercase().as_bytes());
    line.number("flags", record.flags.into());
    for (key, text) in [("resource", resource), ("scope", scope)] {
        if !text.is_empty() {
            line.key(key.as_bytes()).extend_from_slice(text);
        }
    }
    line.end();
    Ok(())
}

fn write_scope(scope: &Scope<'_>, out: &mut Vec<u8>) -> Result<(), OtlpError> {
    if scope.name.is_empty() && scope.version.is_empty() && scope.attributes.is_empty() {
        return Ok(());
    }
    let mut object = Object::begin(out);
    object.text("name", scope.name.as_bytes());
    object.text("version", scope.version.as_bytes());
    if !scope.attributes.is_empty() {
        write_attributes(&scope.attributes, 0, object.key(b"attributes"))?;
    }
    object.end();
    Ok(())
}

/// Appends pairs as an object, or nothing if there are none.
fn write_attributes(
    pairs: &[KeyValue<'_>],
    depth: usize,
    out: &mut Vec<u8>,
) -> Result<(), OtlpError> {
    if pairs.is_empty() {
        return Ok(());
    }
    let mut object = Object::begin(out);
    for pair in pairs {
        let out = object.key(pair.key.as_bytes());
        match pair.value {
            Some(value) => write_value(value, depth, out)?,
            None => out.extend_from_slice(b"null"),
        }
    }
    object.end();
    Ok(())
}

/// Appends an AnyValue. It calls itself for what is inside, at most as deep as the limit.
fn write_value(value: &RawValue, depth: usize, out: &mut Vec<u8>) -> Result<(), OtlpError> {
    if depth == OTLP_DEPTH_MAX {
        return Err(OtlpError::TooDeep);
    }
    let value: AnyValue<'_> = parse(value.get().as_bytes())?;
    if let Some(text) = value.string_value {
        push_string(text.as_bytes(), out);
    } else if let Some(value) = value.bool_value {
        push_display(value, out);
    } else if let Some(Signed(value)) = value.int_value {
        push_display(value, out);
    } else if let Some(text) = value.double_value {
        write_double(text.get(), out);
    } else if let Some(array) = value.array_value {
        out.push(b'[');
        for (index, value) in array.values.into_iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            write_value(value, depth + 1, out)?;
        }
        out.push(b']');
    } else if let Some(list) = value.kvlist_value {
        if list.values.is_empty() {
            out.extend_from_slice(b"{}");
        }
        write_attributes(&list.values, depth + 1, out)?;
    } else if let Some(base64) = value.bytes_value {
        push_string(base64.as_bytes(), out);
    } else {
        out.extend_from_slice(b"null");
    }
    Ok(())
}

/// A double is a number, or a string such as "NaN", which JSON has no number for.
fn write_double(text: &str, out: &mut Vec<u8>) {
    push_float(text.trim_matches('"').parse().unwrap_or(f64::NAN), out);
}
