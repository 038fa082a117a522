//! Loki's push: streams of labelled lines, as JSON or as a snappy block of protobuf. Each entry
//! becomes one line of JSON with the keys `time_unix_nano`, `labels`, `line` and, if there is any,
//! `metadata`. The answer is status 204 without a body.

mod labels;

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json_text::{JsonFault, Lines, Object, TooLong, push_display, push_string};
use crate::protobuf::{Field, Fields, ProtobufError};

/// Why a request is refused as a whole, with status 400.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LokiError {
    /// It is no JSON of a push request.
    #[error("the body is no push request: {detail}")]
    Json {
        /// What kind of fault it is.
        fault: JsonFault,
        /// The same in words.
        detail: String,
    },
    /// It is no snappy block.
    #[error("the body is no snappy block")]
    Snappy,
    /// It would decompress to more than is allowed.
    #[error("the body stands for {length_bytes} bytes, which is above the limit of {limit_bytes}")]
    Decompressed {
        /// What it says.
        length_bytes: usize,
        /// What is allowed.
        limit_bytes: usize,
    },
    /// What was decompressed is no protobuf.
    #[error(transparent)]
    Protobuf(#[from] ProtobufError),
    /// The lines would be longer than the limit.
    #[error(transparent)]
    TooLong(#[from] TooLong),
}

/// Appends each entry of a JSON request to `lines` as a line that ends in LF, and answers how many
/// there were. Together they are no longer than `lines_bytes_max`.
///
/// # Errors
/// [`LokiError::Json`] and [`LokiError::TooLong`]; then `lines` is as it was.
pub fn read_json(
    body: &[u8],
    lines_bytes_max: usize,
    lines: &mut Vec<u8>,
) -> Result<usize, LokiError> {
    Lines::write(lines, lines_bytes_max, |lines| {
        let request: Request<'_> = parse(body)?;
        let mut labels = Vec::new();
        for stream in request.streams {
            labels.clear();
            push_labels(&stream.stream, &mut labels);
            for value in stream.values {
                let entry: Entry<'_> = parse(value.get().as_bytes())?;
                let time: u64 = entry.0.parse().map_err(|_| no_time())?;
                let mut line = begin(time, &labels, entry.1.as_bytes(), lines.out);
                if let Some(metadata) = entry.2.filter(|metadata| !metadata.is_empty()) {
                    push_labels(&metadata, line.key(b"metadata"));
                }
                line.end();
                lines.end()?;
            }
        }
        Ok(())
    })
}

/// The same for a snappy block of protobuf. It may stand for `lines_bytes_max` bytes too.
///
/// # Errors
/// Any [`LokiError`] but that of JSON; then `lines` is as it was.
pub fn read_protobuf(
    body: &[u8],
    lines_bytes_max: usize,
    lines: &mut Vec<u8>,
) -> Result<usize, LokiError> {
    let length_bytes = snap::raw::decompress_len(body).map_err(|_| LokiError::Snappy)?;
    if length_bytes > lines_bytes_max {
        return Err(LokiError::Decompressed { length_bytes, limit_bytes: lines_bytes_max });
    }
    let plain = snap::raw::Decoder::new().decompress_vec(body).map_err(|_| LokiError::Snappy)?;
    Lines::write(lines, lines_bytes_max, |lines| {
        for field in Fields::new(&plain) {
            if let (1, Field::Bytes(stream)) = field? {
                read_stream(stream, lines)?;
            }
        }
        Ok(())
    })
}

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    streams: Vec<Stream<'a>>,
}

#[derive(Deserialize)]
struct Stream<'a> {
    #[serde(borrow, default)]
    stream: BTreeMap<Cow<'a, str>, Cow<'a, str>>,
    #[serde(borrow, default)]
    values: Vec<&'a RawValue>,
}

/// Nanoseconds, line, metadata.
#[derive(Deserialize)]
struct Entry<'a>(
    #[serde(borrow)] Cow<'a, str>,
    #[serde(borrow)] Cow<'a, str>,
    #[serde(borrow, default)] Option<BTreeMap<Cow<'a, str>, Cow<'a, str>>>,
);

fn parse<'a, T: Deserialize<'a>>(text: &'a [u8]) -> Result<T, LokiError> {
    serde_json::from_slice(text).map_err(|error| LokiError::Json {
        fault: JsonFault::of(&error),
        detail: error.to_string(),
    })
}

fn no_time() -> LokiError {
    LokiError::Json { fault: JsonFault::Data, detail: "a time is no number".to_owned() }
}

fn begin<'a>(time: u64, labels: &[u8], text: &[u8], out: &'a mut Vec<u8>) -> Object<'a> {
    let mut line = Object::begin(out);
    push_display(time, line.key(b"time_unix_nano"));
    line.key(b"labels").extend_from_slice(labels);
    push_string(text, line.key(b"line"));
    line
}

fn push_labels(labels: &BTreeMap<Cow<'_, str>, Cow<'_, str>>, out: &mut Vec<u8>) {
    let mut object = Object::begin(out);
    for (name, value) in labels {
        push_string(value.as_bytes(), object.key(name.as_bytes()));
    }
    object.end();
}

fn read_stream(stream: &[u8], lines: &mut Lines<'_>) -> Result<(), LokiError> {
    let mut text = &[][..];
    for field in Fields::new(stream) {
        if let (1, Field::Bytes(bytes)) = field? {
            text = bytes;
        }
    }
    let mut labels = Vec::new();
    labels::push_selector(text, &mut labels);
    for field in Fields::new(stream) {
        if let (2, Field::Bytes(entry)) = field? {
            write_entry(entry, &labels, lines.out)?;
            lines.end()?;
        }
    }
    Ok(())
}

fn write_entry(entry: &[u8], labels: &[u8], out: &mut Vec<u8>) -> Result<(), LokiError> {
    let (mut seconds, mut nanoseconds, mut text) = (0, 0, &[][..]);
    let mut metadata = Vec::new();
    for field in Fields::new(entry) {
        match field? {
            (1, Field::Bytes(time)) => {
                for field in Fields::new(time) {
                    match field? {
                        (1, Field::Varint(value)) => seconds = value,
                        (2, Field::Varint(value)) => nanoseconds = value,
                        _ => {}
                    }
                }
            }
            (2, Field::Bytes(bytes)) => text = bytes,
            (3, Field::Bytes(pair)) => metadata.push(pair),
            _ => {}
        }
    }
    // Times before 1970 or after 2554 are no times of logs, but no reason to lose a line.
    let time = seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds);
    let mut line = begin(time, labels, text, out);
    if !metadata.is_empty() {
        let mut object = Object::begin(line.key(b"metadata"));
        for pair in metadata {
            let (mut name, mut value) = (&[][..], &[][..]);
            for field in Fields::new(pair) {
                match field? {
                    (1, Field::Bytes(bytes)) => name = bytes,
                    (2, Field::Bytes(bytes)) => value = bytes,
                    _ => {}
                }
            }
            push_string(value, object.key(name));
        }
        object.end();
    }
    line.end();
    Ok(())
}
