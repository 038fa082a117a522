//! `cinch inspect`: what the header of an envelope says, without unpacking its body, and what a
//! dictionary holds.
//!
//! Damage is what one inspects for, so it is shown as a finding and not as a failure.

mod dictionary;

use cinch_core::codec::decoder_of;
use cinch_core::dictionary::looks_like_dictionary;
use cinch_core::encoding::encoding_of;
use cinch_core::envelope::{
    FIELD_BASE, FIELD_SCHEMA, Field, Header, UnpackError, looks_like_envelope,
};
use cinch_core::limits::PAYLOAD_BYTES_MAX;
use cinch_core::pack::{INTEROP_MAGIC, looks_like_interop};
use serde::Serialize;

use crate::Done;
use crate::arguments::InspectArguments;
use crate::failure::Failure;
use crate::inputs::Input;
use crate::output::{Output, Place};
use crate::records;
use crate::unpack::PACKED_EXTRA_BYTES;

/// What is said of one value.
#[derive(Debug, Serialize)]
struct Found {
    name: String,
    form: &'static str,
    bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    header: Option<HeaderFound>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

#[derive(Debug, Serialize)]
struct HeaderFound {
    version: u8,
    header_bytes: usize,
    codec: String,
    codec_id: u8,
    encoding: String,
    encoding_id: Option<u8>,
    payload_bytes: u32,
    body_bytes: usize,
    dictionary: Option<String>,
    /// What a delta is against; absent for all other envelopes.
    #[serde(skip_serializing_if = "Option::is_none")]
    base: Option<String>,
    /// The start of the SHA-256 of the schema's file; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<String>,
    checksum: Option<String>,
    fields: Vec<FieldFound>,
}

#[derive(Debug, Serialize)]
struct FieldFound {
    kind: u8,
    hex: String,
}

/// Shows every input.
pub fn run(arguments: &InspectArguments) -> Result<Done, Failure> {
    let mut output = Output::open(&Place::Stdout, true)?;
    let mut done = Done::Whole;
    let mut show = |found: &Found, output: &mut Output| {
        if found.error.is_some() {
            done = Done::Partly;
        }
        let text = if arguments.json {
            serde_json::to_string(found).unwrap_or_default() + "\n"
        } else {
            for_people(found)
        };
        output.write(text.as_bytes())
    };
    let limit_bytes = PAYLOAD_BYTES_MAX + PACKED_EXTRA_BYTES;
    for input in Input::all(&arguments.files) {
        if arguments.records {
            let mut stream = input.open()?;
            let mut record = Vec::new();
            let mut number = 0u64;
            while records::next(&mut stream, limit_bytes, &mut record, &input.name())? {
                number += 1;
                show(&found(format!("{}: record {number}", input.name()), &record), &mut output)?;
            }
        } else {
            let value = input.read_whole(limit_bytes, "; is it a file of records (--records)?")?;
            if arguments.contents || looks_like_dictionary(&value) {
                let name = input.name();
                let text = dictionary::shown(&name, value, arguments.contents, arguments.json)?;
                output.write(text.as_bytes())?;
                continue;
            }
            show(&found(input.name(), &value), &mut output)?;
        }
    }
    output.finish()?;
    Ok(done)
}

/// What is said to people of one value.
pub(crate) fn told(name: &str, value: &[u8]) -> String {
    for_people(&found(name.to_owned(), value))
}

fn found(name: String, value: &[u8]) -> Found {
    let bytes = value.len();
    let (form, header) = if looks_like_interop(value) {
        // The header stands behind the magic and the length of the skippable frame.
        let at = INTEROP_MAGIC.len() + 4;
        ("interop", Some((at, Header::read(value.get(at..).unwrap_or_default()))))
    } else if looks_like_envelope(value) {
        ("envelope", Some((0, Header::read(value))))
    } else {
        ("plain", None)
    };
    let (header, error): (_, Option<UnpackError>) = match header {
        Some((at, Ok((header, length)))) => {
            (Some(header_found(header, length, bytes.saturating_sub(at + length))), None)
        }
        Some((_, Err(error))) => (None, Some(error)),
        None => (None, None),
    };
    let message = error.as_ref().map(ToString::to_string);
    Found { name, form, bytes, header, error: error.map(|error| error.code()), message }
}

fn header_found(header: Header, header_bytes: usize, body_bytes: usize) -> HeaderFound {
    let unknown = || "unknown".to_owned();
    HeaderFound {
        version: cinch_core::envelope::VERSION,
        header_bytes,
        codec: decoder_of(header.codec).map_or_else(unknown, |codec| codec.info().name.to_owned()),
        codec_id: header.codec.0,
        encoding: header.encoding.map_or("verbatim".to_owned(), |id| {
            encoding_of(id).map_or_else(unknown, |encoding| encoding.name.to_owned())
        }),
        encoding_id: header.encoding.map(|id| id.0),
        payload_bytes: header.payload_bytes,
        body_bytes,
        dictionary: header.dictionary.map(|id| format!("{id:#010x}")),
        base: header.base().map(|id| format!("{id:#018x}")),
        schema: header.fields.iter().find(|field| field.kind == FIELD_SCHEMA).map(hex),
        checksum: header.checksum.map(|checksum| format!("{checksum:#010x}")),
        fields: header
            .fields
            .iter()
            .map(|field| FieldFound { kind: field.kind, hex: hex(field) })
            .collect(),
    }
}

fn hex(field: &Field) -> String {
    field.value.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn for_people(found: &Found) -> String {
    let mut text = format!("{}\n", found.name);
    let mut line = |name: &str, value: String| text.push_str(&format!("  {name:<12} {value}\n"));
    line("form", found.form.to_owned());
    line("bytes", found.bytes.to_string());
    if let Some(header) = &found.header {
        line("version", header.version.to_string());
        line("codec", format!("{} ({:#04x})", header.codec, header.codec_id));
        let id = header.encoding_id.map_or(String::new(), |id| format!(" ({id:#04x})"));
        line("encoding", format!("{}{id}", header.encoding));
        line("payload", format!("{} bytes", header.payload_bytes));
        line("header", format!("{} bytes", header.header_bytes));
        line("body", format!("{} bytes", header.body_bytes));
        line("dictionary", header.dictionary.clone().unwrap_or("none".to_owned()));
        if let Some(base) = &header.base {
            line("base", base.clone());
        }
        if let Some(schema) = &header.schema {
            line("schema", format!("{schema} (its SHA-256 starts so)"));
        }
        line("checksum", header.checksum.clone().unwrap_or("none".to_owned()));
        // The fields of a base and a schema are those lines already.
        let is_told = |kind| (kind == FIELD_BASE && header.base.is_some()) || kind == FIELD_SCHEMA;
        for field in header.fields.iter().filter(|field| !is_told(field.kind)) {
            line(&format!("field {:#04x}", field.kind), field.hex.clone());
        }
    }
    if let (Some(code), Some(message)) = (found.error, &found.message) {
        line("error", format!("{code}: {message}"));
    }
    text
}
