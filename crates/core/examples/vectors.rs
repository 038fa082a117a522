//! Writes the test vectors of `vectors/`, which every implementation of the formats reads.
//!
//! A file that exists is never written again: what was released must stay readable, whatever the
//! libraries of a later release would write. New vectors are a new set, with a name of its own in
//! `SETS`, written by `cargo run -p cinch-core --example vectors -- --new NAME`; without arguments
//! every set is written, which only an empty folder allows.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;

#[path = "vectors/bodies.rs"]
mod bodies;
#[path = "vectors/columnar.rs"]
mod columnar;
#[path = "vectors/deltas.rs"]
mod deltas;
#[path = "vectors/encodings.rs"]
mod encodings;
#[path = "vectors/envelopes.rs"]
mod envelopes;
#[path = "vectors/forge.rs"]
mod forge;

/// One vector; `vectors/README.md` says what each member means.
#[derive(Serialize, Default)]
struct Vector {
    name: String,
    hex: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    payload_text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    payload_hex: Option<String>,
    result: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'static str>,
    check: &'static str,
    flags: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    header: Option<HeaderRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dictionary: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    base_text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    base_hex: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit_bytes: Option<usize>,
}

/// A header as a vector tells it.
#[derive(Serialize, Clone)]
struct HeaderRow {
    codec: u8,
    encoding: Option<u8>,
    payload_bytes: u32,
    dictionary: Option<u32>,
    checksum: Option<u32>,
    fields: Vec<(u8, String)>,
}

/// A set of vectors: its file below `vectors/` without the ending, a note, and what is in it.
type Set = (&'static str, &'static str, fn() -> Vec<Vector>);

const SETS: &[Set] = &[
    ("envelope/codecs", "Every codec id: small, medium and empty payloads.", bodies::codecs),
    (
        "envelope/codecs-invalid",
        "Every codec id: bodies that are cut, too long, too short or of another format.",
        bodies::codecs_invalid,
    ),
    (
        "envelope/encodings",
        "Every encoding id in envelopes; the payload is the canonical text.",
        bodies::encodings,
    ),
    (
        "envelope/encodings-invalid",
        "Every encoding id: encoded bytes that do not decode to what the header announces.",
        bodies::encodings_invalid,
    ),
    ("envelope/header", "Headers of every shape, which have one spelling.", envelopes::headers),
    (
        "envelope/header-invalid",
        "Headers that are cut, damaged, newer, or of an impossible shape.",
        envelopes::headers_invalid,
    ),
    (
        "envelope/plain",
        "Values that are not envelopes, and payloads that look like one and are wrapped.",
        envelopes::plain,
    ),
    ("envelope/errors", "Every error code, with several causes each.", envelopes::errors),
    ("envelope/dictionary", "Bodies that refer to a dictionary.", envelopes::dictionary),
    (
        "interop/interop",
        "The interop form: a header in a skippable frame, then one zstd frame.",
        envelopes::interop,
    ),
    ("envelope/lz4-frame", "LZ4 frames: ours, and what other encoders write.", bodies::lz4_frames),
    (
        "envelope/lz4-frame-invalid",
        "LZ4 frames that are cut, damaged, too much, or of another kind.",
        bodies::lz4_frames_invalid,
    ),
    (
        "interop/lz4",
        "The interop form with an LZ4 frame in place of the zstd frame.",
        envelopes::interop_lz4,
    ),
    (
        "interop/fields",
        "The interop form with fields in its header, which may be critical.",
        envelopes::interop_fields,
    ),
    ("encodings/json", "Minified JSON text.", encodings::json),
    ("encodings/msgpack", "MessagePack.", encodings::msgpack),
    ("encodings/cbor", "CBOR (RFC 8949).", encodings::cbor),
    ("encodings/bson", "BSON 1.1.", encodings::bson),
    ("encodings/smile", "Smile 1.0 with shared keys and strings.", encodings::smile),
    ("encodings/columnar", "JSON text as columns.", columnar::encodings),
    (
        "envelope/columnar",
        "JSON text as columns, in envelopes, with a dictionary file and without.",
        columnar::envelopes,
    ),
    ("encodings/flexbuffers", "FlexBuffers.", encodings::flexbuffers),
    ("encodings/ion", "Amazon Ion 1.0.", encodings::ion),
    (
        "envelope/encodings-2",
        "FlexBuffers and Ion in envelopes; the payload is the canonical text.",
        bodies::more_encodings,
    ),
    (
        "envelope/encodings-2-invalid",
        "FlexBuffers and Ion that do not decode to what the header announces.",
        bodies::more_encodings_invalid,
    ),
    ("envelope/delta", "Deltas against a base that the reader has or has not.", deltas::deltas),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let names: Vec<&str> = match arguments.as_slice() {
        [] => SETS.iter().map(|(name, ..)| *name).collect(),
        [flag, name] if flag == "--new" => vec![name],
        _ => return fail("usage: vectors [--new NAME]"),
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors");
    for name in &names {
        if !SETS.iter().any(|(known, ..)| known == name) {
            return fail(&format!("no set is called {name:?}"));
        }
        if path(&folder, name).exists() {
            return fail(&format!("vectors/{name}.json exists; old vectors are never edited"));
        }
    }
    if let Err(error) = write_dictionaries(&folder) {
        return fail(&format!("vectors/dictionaries: {error}"));
    }
    for (name, note, vectors) in SETS.iter().filter(|(name, ..)| names.contains(name)) {
        let vectors = vectors();
        println!("{name}: {} vectors", vectors.len());
        if let Err(error) = write(&path(&folder, name), text(note, &vectors).as_bytes()) {
            return fail(&format!("vectors/{name}.json: {error}"));
        }
    }
    ExitCode::SUCCESS
}

fn path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.json"))
}

/// The file: one line for each vector, so that a diff shows which ones changed.
fn text(note: &str, vectors: &[Vector]) -> String {
    let mut text = format!("{{\"note\": {}, \"vectors\": [\n", json(&note));
    for (index, vector) in vectors.iter().enumerate() {
        let comma = if index + 1 < vectors.len() { "," } else { "" };
        let _ = writeln!(text, "{}{comma}", json(vector));
    }
    text + "]}\n"
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Dictionaries are written once. Raw content must be what it was; what is learned may get better,
/// and the file stays.
fn write_dictionaries(folder: &Path) -> std::io::Result<()> {
    let learned = folder.join(columnar::FILE);
    if !learned.exists() {
        write(&learned, &columnar::dictionary_bytes())?;
    }
    let path = folder.join(forge::DICTIONARY_FILE);
    let content = forge::dictionary_bytes();
    if path.exists() {
        return match std::fs::read(&path)? == content {
            true => Ok(()),
            false => Err(std::io::Error::other("raw content that would change")),
        };
    }
    write(&path, &content)
}

fn write(path: &Path, content: &[u8]) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, content)
}

fn fail(message: &str) -> ExitCode {
    eprintln!("{message}");
    ExitCode::FAILURE
}
