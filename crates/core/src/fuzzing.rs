//! The bodies of the fuzz targets: one function for each property, from any bytes, which panics
//! when the property does not hold and returns when the bytes are merely refused.
//!
//! They live here and not in `fuzz/`, so that the ordinary tests replay them on every vector
//! (tests/replay.rs) and a property is written once. A row of `TARGETS` without a file of its name
//! in `fuzz/fuzz_targets/` fails a test.

use crate::codec::{CODECS, Codec};
use crate::dictionary::Dictionary;
use crate::document::{Document, Fidelity, first_difference};
use crate::encoding::{DocumentEncoding, ENCODINGS, Encoding, Engine, Parser};
use crate::envelope::{Header, UnpackError, looks_like_envelope};
use crate::json;
use crate::pack::{Found, Packer, Unpacker};
use crate::profile::{Profile, ProfileError};

pub use delta::{delta_any, delta_roundtrip};
pub use schema::{schema_decode_any, schema_roundtrip};
pub use text::{dictionary_any, text_decode_any, text_learned, text_roundtrip};

mod delta;
mod schema;
mod text;

/// The most that a target decompresses or unpacks to, in bytes.
const OUTPUT_BYTES_MAX: usize = 1 << 20;

/// The most that a target compresses, in bytes: the slow levels take long for more.
const INPUT_BYTES_MAX: usize = 8 << 10;

/// A fuzz target: its name, which is that of its file, and its body.
pub type Target = (&'static str, fn(&[u8]));

/// Every fuzz target.
pub static TARGETS: &[Target] = &[
    ("unpack_any", unpack_any),
    ("read_any", read_any),
    ("header_roundtrip", header_roundtrip),
    ("pack_roundtrip", pack_roundtrip),
    ("codec_decode_any", codec_decode_any),
    ("codec_decode_dictionary", codec_decode_dictionary),
    ("codec_roundtrip", codec_roundtrip),
    ("encoding_decode_any", encoding_decode_any),
    ("encoding_roundtrip", encoding_roundtrip),
    ("text_decode_any", text_decode_any),
    ("text_roundtrip", text_roundtrip),
    ("text_learned", text_learned),
    ("dictionary_any", dictionary_any),
    ("delta_any", delta_any),
    ("delta_roundtrip", delta_roundtrip),
    ("schema_decode_any", schema_decode_any),
    ("schema_roundtrip", schema_roundtrip),
    ("json_differential", json_differential),
    ("profile_toml", profile_toml),
];

/// Any bytes unpack to what their header announces, or are refused with nothing handed out; once
/// as they are, and once with a check byte that holds, which chance does not find.
pub fn unpack_any(bytes: &[u8]) {
    unpack(bytes);
    let mut mended = bytes.to_vec();
    let length = bytes.get(3).map_or(0, |length| usize::from(length & 0x7F));
    if let Some((check, checked)) = mended.get_mut(..length).and_then(|h| h.split_last_mut()) {
        *check = xxhash_rust::xxh64::xxh64(checked, 0) as u8;
        unpack(&mended);
    }
}

fn unpack(bytes: &[u8]) {
    let mut unpacker = Unpacker::new([]).with_limit(OUTPUT_BYTES_MAX);
    let mut out = b"left over".to_vec();
    let verdict = unpacker.unpack(bytes, &mut out);
    match &verdict {
        Ok(header) => assert_eq!(out.len(), header.payload_bytes as usize),
        Err(error) => {
            assert!(out.is_empty(), "bytes handed out beside {error:?}");
            assert_eq!(*error == UnpackError::NotAnEnvelope, !looks_like_envelope(bytes));
        }
    }
    // A context that has met this envelope before gives the same answer.
    let mut again = Vec::new();
    assert_eq!(unpacker.unpack(bytes, &mut again), verdict);
    assert_eq!(out, again);
}

/// Any value is read as it is, or as an envelope, never as something between.
pub fn read_any(bytes: &[u8]) {
    let mut unpacker = Unpacker::new([]).with_limit(OUTPUT_BYTES_MAX);
    let mut out = Vec::new();
    match unpacker.read(bytes, &mut out) {
        Ok(Found::Plain) => assert!(out == bytes && !looks_like_envelope(bytes)),
        Ok(Found::Envelope(_)) => assert!(looks_like_envelope(bytes)),
        Err(_) => assert!(out.is_empty()),
    }
}

/// A header that is read is written with the same bytes: it has one spelling.
pub fn header_roundtrip(bytes: &[u8]) {
    let Ok((header, length)) = Header::read(bytes) else { return };
    let mut written = Vec::new();
    assert_eq!(header.write(&mut written), Some(length));
    assert_eq!(written, bytes[..length]);
}

/// What is packed with any codec and encoding unpacks to the same bytes or the same value. The
/// first two bytes pick them, the rest is the payload.
pub fn pack_roundtrip(bytes: &[u8]) {
    let &[codec, encoding, ref payload @ ..] = bytes else { return };
    if payload.len() > INPUT_BYTES_MAX {
        return;
    }
    let codec = pick(CODECS, codec).info();
    let encoding = pick(ENCODINGS, encoding);
    if encoding.needs_schema {
        return;
    }
    let Ok(choice) = crate::codec::CodecChoice::parse(codec.name) else {
        unreachable!("every codec can be named")
    };
    let profile = Profile { min_size_bytes: 0, min_gain: 0.0, ..Profile::new(encoding, choice) };
    let Ok(mut packer) = Packer::new(&profile) else { unreachable!("default levels exist") };
    let (mut packed, mut unpacked) = (Vec::new(), Vec::new());
    if packer.pack(payload, &mut packed).is_err() {
        return;
    }
    let read = Unpacker::new([]).read(&packed, &mut unpacked);
    assert!(read.is_ok(), "{}, {}: {read:?}", codec.name, encoding.name);
    if unpacked == payload {
        return;
    }
    // Only an encoding of values may change the text, and then not the value.
    let before = parsed(payload).unwrap_or_else(|| panic!("the payload changed and is no JSON"));
    let after = parsed(&unpacked).unwrap_or_else(|| panic!("the text that came back is no JSON"));
    assert_eq!(first_difference(&before, &after, encoding.fidelity), None, "{}", encoding.name);
}

/// Any bytes decompress within the room that there is, or are refused. The first byte picks the
/// row of `CODECS`.
pub fn codec_decode_any(bytes: &[u8]) {
    let Some((&row, body)) = bytes.split_first() else { return };
    decompress_any(*pick(CODECS, row), body, None);
}

/// The same with any bytes as a dictionary: the first byte picks the row, the next two say how
/// long the dictionary is.
pub fn codec_decode_dictionary(bytes: &[u8]) {
    let &[row, low, high, ref rest @ ..] = bytes else { return };
    let length = usize::from(u16::from_le_bytes([low, high])).min(rest.len());
    let (dictionary, body) = rest.split_at(length);
    let Ok(dictionary) = Dictionary::new(dictionary.to_vec()) else { return };
    decompress_any(*pick(CODECS, row), body, Some(&dictionary));
}

fn decompress_any(codec: &dyn Codec, body: &[u8], dictionary: Option<&std::sync::Arc<Dictionary>>) {
    let Ok(mut decompressor) = codec.decompressor(dictionary) else { return };
    let mut output = vec![0; OUTPUT_BYTES_MAX];
    let Ok(length) = decompressor.decompress(body, &mut output) else { return };
    // With exactly the room that is needed the same comes out, and with less nothing does.
    let mut exact = vec![0; length];
    let result = decompressor.decompress_exact(body, &mut exact);
    // LZ4 forbids a match near the end of a block, and its library means the end of the room.
    if result.is_err() && codec.info().name == "lz4" {
        return;
    }
    assert!(result.is_ok() && exact == output[..length], "{}", codec.info().name);
    if let Some(room) = length.checked_sub(1) {
        let result = decompressor.decompress(body, &mut output[..room]);
        assert!(result.is_err(), "{}", codec.info().name);
    }
}

/// What is compressed on any level decompresses to the same bytes. The first byte picks the row,
/// the second the level.
pub fn codec_roundtrip(bytes: &[u8]) {
    let &[row, level, ref payload @ ..] = bytes else { return };
    if payload.len() > INPUT_BYTES_MAX {
        return;
    }
    let codec = pick(CODECS, row);
    let levels = codec.info().levels;
    let level = levels.min + i32::from(level) % (levels.max - levels.min + 1);
    let Ok(mut compressor) = codec.compressor(level, None) else {
        unreachable!("the level is one of the codec's")
    };
    let mut body = vec![0; codec.compress_bound(payload.len())];
    let compressed = compressor.compress(payload, &mut body);
    let Ok(length) = compressed else { panic!("{}: {compressed:?}", codec.info().name) };
    let Ok(mut decompressor) = codec.decompressor(None) else {
        unreachable!("no dictionary is asked for")
    };
    let mut back = vec![0; payload.len()];
    let result = decompressor.decompress_exact(&body[..length], &mut back);
    assert!(result.is_ok() && back == payload, "{}: {result:?}", codec.info().name);
}

/// Any bytes are refused, or decode to a value that its text says again. The first byte picks the
/// row of `ENCODINGS`.
pub fn encoding_decode_any(bytes: &[u8]) {
    let Some((&row, encoded)) = bytes.split_first() else { return };
    let encoding = pick(ENCODINGS, row);
    let Some(engine) = engine_of(encoding) else { return };
    let mut document = Document::new();
    if engine.decode(encoded, &mut document).is_err() {
        return;
    }
    let mut text = Vec::new();
    json::write(&document, &mut text);
    let again = parsed(&text)
        .unwrap_or_else(|| panic!("{}: {}", encoding.name, String::from_utf8_lossy(&text)));
    assert_eq!(first_difference(&document, &again, Fidelity::Value), None, "{}", encoding.name);
}

/// A JSON value is refused by name, or comes back from its encoded form. The first byte picks the
/// row of `ENCODINGS`, the rest is JSON text.
pub fn encoding_roundtrip(bytes: &[u8]) {
    let Some((&row, text)) = bytes.split_first() else { return };
    let encoding = pick(ENCODINGS, row);
    let (Some(engine), Some(document)) = (engine_of(encoding), parsed(text)) else { return };
    let mut encoded = Vec::new();
    if engine.encode(&document, &mut encoded).is_err() {
        return;
    }
    let mut decoded = Document::new();
    let result = engine.decode(&encoded, &mut decoded);
    assert!(result.is_ok(), "{}: {result:?}", encoding.name);
    let difference = first_difference(&document, &decoded, encoding.fidelity);
    assert_eq!(difference, None, "{}", encoding.name);
}

/// Both JSON parsers give the same verdict on any bytes, and the same document.
pub fn json_differential(bytes: &[u8]) {
    let (mut ordinary, mut simd) = (Document::new(), Document::new());
    let first = json::parse(Parser::Ordinary, bytes, &mut ordinary);
    let second = json::parse(Parser::Simd, bytes, &mut simd);
    assert_eq!(first.is_ok(), second.is_ok(), "{first:?} and {second:?}");
    if first.is_err() {
        return;
    }
    assert_eq!(first_difference(&ordinary, &simd, Fidelity::ValueAndText), None);
    // The text of a value is that value, and is its own text.
    let (mut text, mut text_again) = (Vec::new(), Vec::new());
    json::write(&ordinary, &mut text);
    let again = parsed(&text).unwrap_or_else(|| panic!("the text of a value is no JSON"));
    assert_eq!(first_difference(&ordinary, &again, Fidelity::ValueAndText), None);
    json::write(&again, &mut text_again);
    assert_eq!(text, text_again);
}

/// Any text is refused, or is a profile that its own file says again.
pub fn profile_toml(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let dictionary = |_: &str| Dictionary::new(b"a dictionary".to_vec()).map_err(|_| Unreadable);
    let schema = |_: &str| Err(Unreadable);
    let Ok(profile) = Profile::from_toml::<Unreadable>(text, dictionary, schema) else { return };
    let written = profile.to_toml(|_| "a.dict".to_owned(), |_| String::new());
    let again = Profile::from_toml::<Unreadable>(&written, dictionary, schema)
        .unwrap_or_else(|_| panic!("the written profile is refused:\n{written}"));
    assert_eq!(again.to_toml(|_| "a.dict".to_owned(), |_| String::new()), written);
    assert_eq!(again.codec, profile.codec);
    assert_eq!(again.encoding, profile.encoding);
}

/// Why a profile of `profile_toml` was refused, which is of no interest.
struct Unreadable;

impl From<ProfileError> for Unreadable {
    fn from(_: ProfileError) -> Unreadable {
        Unreadable
    }
}

fn pick<T>(rows: &'static [T], byte: u8) -> &'static T {
    &rows[usize::from(byte) % rows.len()]
}

fn engine_of(encoding: &Encoding) -> Option<&'static dyn DocumentEncoding> {
    match encoding.engine {
        Engine::Verbatim | Engine::Text(_) | Engine::Schema(_) => None,
        Engine::Document(engine) => Some(engine),
    }
}

fn parsed(text: &[u8]) -> Option<Document> {
    let mut document = Document::new();
    json::parse(Parser::Ordinary, text, &mut document).ok().map(|()| document)
}
