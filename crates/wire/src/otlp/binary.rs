//! The protobuf form of a request. The numbers of fields are those of `logs.proto` and
//! `common.proto` of the OpenTelemetry protocol, version 1.

use super::{OTLP_DEPTH_MAX, OtlpError};
use crate::json_text::{
    Lines, Object, push_base64, push_display, push_float, push_hex, push_string,
};
use crate::protobuf::{Field, Fields};

pub(super) fn write_response(rejected: u64, message: &str, out: &mut Vec<u8>) {
    if rejected == 0 && message.is_empty() {
        return;
    }
    let mut partial = Vec::new();
    if rejected > 0 {
        partial.push(1 << 3);
        push_varint(rejected, &mut partial);
    }
    partial.push(2 << 3 | 2);
    push_varint(message.len() as u64, &mut partial);
    partial.extend_from_slice(message.as_bytes());
    out.push(1 << 3 | 2);
    push_varint(partial.len() as u64, out);
    out.extend_from_slice(&partial);
}

fn push_varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

pub(super) fn read(body: &[u8], lines: &mut Lines<'_>) -> Result<(), OtlpError> {
    let (mut resource_text, mut scope_text) = (Vec::new(), Vec::new());
    for resource_logs in messages(body, 1) {
        let resource_logs = resource_logs?;
        resource_text.clear();
        for resource in messages(resource_logs, 1) {
            // Of a field that comes again the last one counts.
            resource_text.clear();
            write_attributes(resource?, 1, 0, &mut resource_text)?;
        }
        for scope_logs in messages(resource_logs, 2) {
            let scope_logs = scope_logs?;
            scope_text.clear();
            for scope in messages(scope_logs, 1) {
                scope_text.clear();
                write_scope(scope?, &mut scope_text)?;
            }
            for record in messages(scope_logs, 2) {
                write_record(record?, &resource_text, &scope_text, lines.out)?;
                lines.end()?;
            }
        }
    }
    Ok(())
}

/// The messages in the field of this number; errors of the message around them as well.
fn messages(message: &[u8], number: u64) -> impl Iterator<Item = Result<&[u8], OtlpError>> {
    Fields::new(message).filter_map(move |field| match field {
        Ok((found, Field::Bytes(bytes))) if found == number => Some(Ok(bytes)),
        Ok(_) => None,
        Err(error) => Some(Err(error.into())),
    })
}

/// The fields of a log record but the attributes, each as it came last.
#[derive(Default)]
struct Record<'a> {
    time_unix_nano: u64,
    observed_time_unix_nano: u64,
    severity_number: u64,
    severity_text: &'a [u8],
    event_name: &'a [u8],
    body: Option<&'a [u8]>,
    trace_id: &'a [u8],
    span_id: &'a [u8],
    flags: u32,
}

fn write_record(
    message: &[u8],
    resource: &[u8],
    scope: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), OtlpError> {
    let mut record = Record::default();
    for field in Fields::new(message) {
        match field? {
            (1, Field::Fixed64(value)) => record.time_unix_nano = value,
            (2, Field::Varint(value)) => record.severity_number = value,
            (3, Field::Bytes(value)) => record.severity_text = value,
            (5, Field::Bytes(value)) => record.body = Some(value),
            (8, Field::Fixed32(value)) => record.flags = value,
            (9, Field::Bytes(value)) => record.trace_id = value,
            (10, Field::Bytes(value)) => record.span_id = value,
            (11, Field::Fixed64(value)) => record.observed_time_unix_nano = value,
            (12, Field::Bytes(value)) => record.event_name = value,
            _ => {}
        }
    }
    let mut line = Object::begin(out);
    line.number("time_unix_nano", record.time_unix_nano);
    line.number("observed_time_unix_nano", record.observed_time_unix_nano);
    line.number("severity_number", record.severity_number);
    line.text("severity_text", record.severity_text);
    line.text("event_name", record.event_name);
    if let Some(body) = record.body {
        write_value(body, 0, line.key(b"body"))?;
    }
    let mut attributes = Vec::new();
    write_attributes(message, 6, 0, &mut attributes)?;
    if !attributes.is_empty() {
        line.key(b"attributes").extend_from_slice(&attributes);
    }
    for (key, id) in [("trace_id", record.trace_id), ("span_id", record.span_id)] {
        if !id.is_empty() {
            push_hex(id, line.key(key.as_bytes()));
        }
    }
    line.number("flags", record.flags.into());
    for (key, text) in [("resource", resource), ("scope", scope)] {
        if !text.is_empty() {
            line.key(key.as_bytes()).extend_from_slice(text);
        }
    }
    line.end();
    Ok(())
}

fn write_scope(message: &[u8], out: &mut Vec<u8>) -> Result<(), OtlpError> {
    let (mut name, mut version) = (&[][..], &[][..]);
    for field in Fields::new(message) {
        match field? {
            (1, Field::Bytes(value)) => name = value,
            (2, Field::Bytes(value)) => version = value,
            _ => {}
        }
    }
    let mut attributes = Vec::new();
    write_attributes(message, 3, 0, &mut attributes)?;
    if name.is_empty() && version.is_empty() && attributes.is_empty() {
        return Ok(());
    }
    let mut scope = Object::begin(out);
    scope.text("name", name);
    scope.text("version", version);
    if !attributes.is_empty() {
        scope.key(b"attributes").extend_from_slice(&attributes);
    }
    scope.end();
    Ok(())
}

/// Appends the pairs in the field of this number as an object, or nothing if there are none.
fn write_attributes(
    message: &[u8],
    number: u64,
    depth: usize,
    out: &mut Vec<u8>,
) -> Result<(), OtlpError> {
    let mut pairs = messages(message, number).peekable();
    if pairs.peek().is_none() {
        return Ok(());
    }
    let mut object = Object::begin(out);
    for pair in pairs {
        let (mut key, mut value) = (&[][..], None);
        for field in Fields::new(pair?) {
            match field? {
                (1, Field::Bytes(bytes)) => key = bytes,
                (2, Field::Bytes(bytes)) => value = Some(bytes),
                _ => {}
            }
        }
        let out = object.key(key);
        match value {
            Some(value) => write_value(value, depth, out)?,
            None => out.extend_from_slice(b"null"),
        }
    }
    object.end();
    Ok(())
}

/// Appends an AnyValue. It calls itself for what is inside, at most as deep as the limit.
fn write_value(message: &[u8], depth: usize, out: &mut Vec<u8>) -> Result<(), OtlpError> {
    if depth == OTLP_DEPTH_MAX {
        return Err(OtlpError::TooDeep);
    }
    let mut last = None;
    for field in Fields::new(message) {
        let (number, field) = field?;
        if (1..=7).contains(&number) {
            last = Some((number, field));
        }
    }
    match last {
        Some((1, Field::Bytes(text))) => push_string(text, out),
        Some((2, Field::Varint(value))) => push_display(value != 0, out),
        Some((3, Field::Varint(value))) => push_display(value as i64, out),
        Some((4, Field::Fixed64(bits))) => push_float(f64::from_bits(bits), out),
        Some((5, Field::Bytes(array))) => {
            out.push(b'[');
            for (index, value) in messages(array, 1).enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_value(value?, depth + 1, out)?;
            }
            out.push(b']');
        }
        Some((6, Field::Bytes(list))) => {
            let before = out.len();
            write_attributes(list, 1, depth + 1, out)?;
            if out.len() == before {
                out.extend_from_slice(b"{}");
            }
        }
        Some((7, Field::Bytes(bytes))) => push_base64(bytes, out),
        _ => out.extend_from_slice(b"null"),
    }
    Ok(())
}
