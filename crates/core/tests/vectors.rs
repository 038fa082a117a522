//! Runs every test vector of `vectors/`, as the reference decoder of `spec/` does, and checks that
//! the vectors cover what the formats promise: every error code, every codec and every encoding.
//!
//! A file that is missing or misread must fail and never be skipped: the counts are compared with
//! those of the Python run, and a folder without vectors is an error.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cinch_core::codec::CODECS;
use cinch_core::dictionary::Dictionary;
use cinch_core::document::Document;
use cinch_core::encoding::{DecodeError, ENCODINGS, Encoding, Engine, Refusal, encoding_named};
use cinch_core::envelope::{Field, Header, UnpackError};
use cinch_core::json;
use cinch_core::limits::PAYLOAD_BYTES_MAX;
use cinch_core::pack::{Found, Outcome, Packer, Unpacker, unpack_interop};
use cinch_core::profile::Profile;
use serde_json::Value;

#[path = "support/files.rs"]
mod files;
#[path = "support/python.rs"]
mod python;

use files::{Vector, read_vectors, root};

/// The folders of vectors, which both implementations read.
const FOLDERS: [&str; 3] = ["envelope", "interop", "encodings"];

fn header(row: &Value) -> Header {
    let number = |name: &str| row[name].as_u64();
    let field = |field: &Value| Field {
        kind: field[0].as_u64().unwrap() as u8,
        value: files::bytes(field[1].as_str().unwrap()),
    };
    Header {
        codec: cinch_core::codec::CodecId(number("codec").unwrap() as u8),
        encoding: number("encoding").map(|id| cinch_core::encoding::EncodingId(id as u8)),
        payload_bytes: number("payload_bytes").unwrap() as u32,
        dictionary: number("dictionary").map(|id| id as u32),
        checksum: number("checksum").map(|checksum| checksum as u32),
        fields: row["fields"].as_array().unwrap().iter().map(field).collect(),
    }
}

fn unpacker(vector: &Vector) -> Unpacker {
    let dictionary = vector.text("dictionary").map(|file| {
        let path = root().join("vectors").join(file);
        let content = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        Dictionary::new(content).unwrap()
    });
    let limit = vector.row["limit_bytes"].as_u64().map_or(PAYLOAD_BYTES_MAX, |n| n as usize);
    Unpacker::new(dictionary).with_limit(limit)
}

#[test]
fn every_envelope_gives_its_result() {
    for vector in read_vectors("envelope") {
        let value = vector.bytes("hex");
        let mut payload = Vec::new();
        let base = vector.base();
        let result = unpacker(&vector).read_against(|_| base.as_deref(), &value, &mut payload);
        match vector.member("result") {
            "invalid" => {
                let error = result.expect_err(&vector.name);
                assert_eq!(error.code(), vector.member("error"), "{}: {error}", vector.name);
                assert!(payload.is_empty(), "{}", vector.name);
            }
            "plain" => {
                assert_eq!(result, Ok(Found::Plain), "{}", vector.name);
                assert_eq!(payload, value, "{}", vector.name);
                let error = unpacker(&vector).unpack(&value, &mut payload).unwrap_err();
                assert_eq!(error.code(), vector.member("error"), "{}", vector.name);
            }
            "valid" => {
                let expected = header(&vector.row["header"]);
                assert_eq!(result, Ok(Found::Envelope(expected)), "{}", vector.name);
                assert!(payload == vector.payload(), "{}", vector.name);
            }
            other => panic!("{}: the result is {other:?}", vector.name),
        }
    }
}

#[test]
fn every_interop_form_gives_its_result() {
    for vector in read_vectors("interop") {
        let mut payload = Vec::new();
        let result = unpack_interop(&vector.bytes("hex"), PAYLOAD_BYTES_MAX, &mut payload);
        if vector.member("result") == "valid" {
            assert_eq!(result, Ok(header(&vector.row["header"])), "{}", vector.name);
            assert!(payload == vector.payload(), "{}", vector.name);
        } else {
            let error = result.expect_err(&vector.name);
            assert_eq!(error.code(), vector.member("error"), "{}: {error}", vector.name);
            assert!(payload.is_empty(), "{}", vector.name);
        }
    }
}

#[test]
fn what_must_be_written_exactly_so_is() {
    let mut count = 0;
    for vector in read_vectors("envelope") {
        if vector.member("check") != "encode_exact" {
            continue;
        }
        count += 1;
        let header = header(&vector.row["header"]);
        let payload = vector.payload();
        let mut written = Vec::new();
        header.write(&mut written).unwrap();
        written.extend_from_slice(&payload);
        assert_eq!(written, vector.bytes("hex"), "{}", vector.name);
        if vector.has_flag("wrapped") {
            let choice = cinch_core::codec::CodecChoice::parse("zstd").unwrap();
            let profile = Profile::new(encoding_named("verbatim").unwrap(), choice);
            let mut packer = Packer::new(&profile).unwrap();
            assert_eq!(packer.pack(&payload, &mut written), Ok(Outcome::Wrapped));
            assert_eq!(written, vector.bytes("hex"), "{}", vector.name);
        }
    }
    assert!(count > 0);
}

#[test]
fn every_encoding_gives_its_result() {
    for vector in read_vectors("encodings") {
        let encoding = encoding_named(vector.member("encoding")).unwrap();
        if let Some(text) = vector.text("text") {
            match encode(encoding, text.as_bytes()) {
                Ok(encoded) => assert_eq!(encoded, vector.bytes("hex"), "{}", vector.name),
                Err(refusal) => {
                    assert_eq!(vector.member("result"), "refused", "{}", vector.name);
                    assert_eq!(name_of(&refusal), vector.member("error"), "{}", vector.name);
                    continue;
                }
            }
        }
        let is_valid = vector.member("result") == "valid";
        let text_bytes = if is_valid { vector.payload().len() } else { TEXT_BYTES };
        match (vector.member("result"), decode(encoding, &vector.bytes("hex"), text_bytes)) {
            ("valid", Ok(text)) => assert_eq!(text, vector.payload(), "{}", vector.name),
            ("invalid", Err(error)) => {
                let kind = match error {
                    DecodeError::Corrupt { .. } | DecodeError::Body { .. } => "corrupt",
                    DecodeError::NotJson { .. } => "not-json",
                    DecodeError::Document(_) => "limit",
                };
                assert_eq!(kind, vector.member("error"), "{}: {error}", vector.name);
            }
            (result, decoded) => panic!("{}: {decoded:?}, not {result}", vector.name),
        }
    }
}

/// The length that an envelope would announce for an encoded form that does not decode.
const TEXT_BYTES: usize = 1 << 10;

fn encode(encoding: &Encoding, text: &[u8]) -> Result<Vec<u8>, Refusal> {
    let mut encoded = Vec::new();
    match encoding.engine {
        Engine::Verbatim => encoded.extend_from_slice(text),
        Engine::Text(engine) => engine.encoder(None).encode(text, &mut encoded)?,
        Engine::Schema(_) => panic!("a vector has no schema"),
        Engine::Document(engine) => {
            let mut document = Document::new();
            json::parse(encoding.parser, text, &mut document).unwrap();
            engine.encode(&document, &mut encoded)?;
        }
    }
    Ok(encoded)
}

fn decode(encoding: &Encoding, bytes: &[u8], text_bytes: usize) -> Result<Vec<u8>, DecodeError> {
    let mut text = Vec::new();
    match encoding.engine {
        Engine::Verbatim => text.extend_from_slice(bytes),
        Engine::Text(engine) => engine.decoder(None).decode(bytes, text_bytes, &mut text)?,
        Engine::Schema(_) => panic!("a vector has no schema"),
        Engine::Document(engine) => {
            let mut document = Document::new();
            engine.decode(bytes, &mut document)?;
            json::write(&document, &mut text);
        }
    }
    Ok(text)
}

fn name_of(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::NotJson => "not-json",
        Refusal::WhiteSpace => "white-space",
        Refusal::TooManyKeys => "too-many-keys",
        Refusal::TopIsNotAnObject => "top-is-not-an-object",
        Refusal::Number { .. } => "number",
        Refusal::LoneSurrogate => "lone-surrogate",
        Refusal::NulInKey => "nul-in-key",
        Refusal::DuplicateKey { .. } => "duplicate-key",
        Refusal::TooLong { .. } => "too-long",
        Refusal::TooDeep { .. } => "too-deep",
        Refusal::OutsideSchema { .. } => "outside-schema",
    }
}

/// Every code. A new variant does not compile here until it is listed, and fails the tests below
/// until it has a vector and a line in spec/errors.md.
fn codes() -> BTreeSet<&'static str> {
    let every = [
        UnpackError::NotAnEnvelope,
        UnpackError::Damaged { what: "", offset: 0 },
        UnpackError::UnsupportedVersion { version: 2 },
        UnpackError::UnknownCodec { id: 0 },
        UnpackError::UnknownEncoding { id: 0 },
        UnpackError::UnknownField { field: 0x80 },
        UnpackError::MissingDictionary { id: 0 },
        UnpackError::MissingSchema,
        UnpackError::MissingBase { id: None },
        UnpackError::ChecksumMismatch { expected: 0, got: 1 },
        UnpackError::TooLarge { limit: 0, got: 1 },
    ];
    for error in &every {
        match error {
            UnpackError::NotAnEnvelope
            | UnpackError::Damaged { .. }
            | UnpackError::UnsupportedVersion { .. }
            | UnpackError::UnknownCodec { .. }
            | UnpackError::UnknownEncoding { .. }
            | UnpackError::UnknownField { .. }
            | UnpackError::MissingDictionary { .. }
            | UnpackError::MissingSchema
            | UnpackError::MissingBase { .. }
            | UnpackError::ChecksumMismatch { .. }
            | UnpackError::TooLarge { .. } => {}
        }
    }
    every.iter().map(UnpackError::code).collect()
}

#[test]
fn every_error_code_has_vectors_and_a_line_on_its_page() {
    let vectors = read_vectors("envelope");
    let found: BTreeSet<&str> = vectors.iter().filter_map(|vector| vector.text("error")).collect();
    assert_eq!(found, codes());
    let page = std::fs::read_to_string(root().join("spec/errors.md")).unwrap();
    for code in codes() {
        assert!(page.contains(&format!("`{code}`")), "spec/errors.md says nothing of {code}");
    }
}

/// The ids of all codecs or all encodings, and of those that some vector holds.
fn ids_in_vectors(member: &str, is_valid: bool) -> BTreeSet<u8> {
    let mut ids = BTreeSet::new();
    for vector in read_vectors("envelope") {
        if (vector.member("result") == "valid") != is_valid {
            continue;
        }
        let Ok((header, _)) = Header::read(&vector.bytes("hex")) else { continue };
        match member {
            "codec" => ids.insert(header.codec.0),
            _ => ids.insert(header.encoding.map_or(0x10, |id| id.0)),
        };
    }
    ids
}

#[test]
fn every_registry_row_has_vectors_and_a_place_in_the_specification() {
    let page = std::fs::read_to_string(root().join("spec/envelope.md")).unwrap();
    let codecs = CODECS.iter().map(|codec| ("codec", codec.info().id.0, codec.info().name));
    let encodings = ENCODINGS.iter().map(|row| ("encoding", row.id.0, row.name));
    let known: BTreeMap<&str, [BTreeSet<u8>; 2]> = ["codec", "encoding"]
        .map(|kind| (kind, [true, false].map(|is_valid| ids_in_vectors(kind, is_valid))))
        .into();
    for (kind, id, name) in codecs.chain(encodings) {
        let [valid, invalid] = &known[kind];
        let row = format!("| `0x{id:02X}` | {kind} |");
        assert!(page.contains(&row), "spec/envelope.md has no row {row:?} for {name}");
        // No room for a schema file; crates/schema/tests/official.rs has other readers for these.
        if kind == "encoding" && encoding_named(name).is_some_and(|row| row.needs_schema) {
            continue;
        }
        assert!(valid.contains(&id), "{kind} {name} has no valid vector");
        assert!(invalid.contains(&id), "{kind} {name} has no invalid vector");
    }
}

#[test]
fn names_are_unique_and_the_folder_is_small() {
    let mut names = BTreeSet::new();
    for vector in FOLDERS.into_iter().flat_map(read_vectors) {
        assert!(names.insert(vector.name.clone()), "{} stands twice", vector.name);
    }
    let bytes = folder_bytes(&root().join("vectors"));
    assert!(bytes < 600 << 10, "vectors/ has {bytes} bytes");
}

fn folder_bytes(folder: &Path) -> u64 {
    let entries: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries
        .iter()
        .map(|path| if path.is_dir() { folder_bytes(path) } else { path.metadata().unwrap().len() })
        .sum()
}

#[test]
fn the_reference_decoder_passes_as_many() {
    let count: usize = FOLDERS.into_iter().map(|folder| read_vectors(folder).len()).sum();
    println!("{count} vectors");
    let output = python::command("test_envelope.py").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let closing = text.lines().last().unwrap_or_default();
    assert_eq!(closing, format!("{count} passed, 0 failed"), "{text}");
}
