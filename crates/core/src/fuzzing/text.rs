//! The bodies of the fuzz targets for encodings of JSON text, and for the models that dictionaries
//! hold for them.
//!
//! Every target goes over all of these encodings, so that no byte of the input is spent on a
//! choice. Contexts are met twice, because a decoder that remembers is worse than one that fails.

use std::sync::Arc;

use crate::dictionary::{Dictionary, FileContent, write_file};
use crate::encoding::columnar::learn;
use crate::encoding::{ENCODINGS, Engine, TextDecoder, TextEncoder, TextEncoding};

/// The longest text that a decoder is told to give, in bytes.
const TEXT_BYTES_MAX: usize = 1 << 16;

/// The longest text that is encoded, in bytes.
const INPUT_BYTES_MAX: usize = 64 << 10;

/// What the limits of a model allow a decoder to hold beside what it is given, in bytes.
const DECODER_BYTES_MAX: usize = 32 << 20;

/// What a decoder may hold for each byte that it reads or writes.
const DECODER_BYTES_PER_BYTE: usize = 64;

/// A text that meets a context after another one.
const PROBE: &[u8] = br#"[{"a":1,"b":["x","y"]},{"b":[],"a":2.50},{"c":[[1,2],[3,4]]}]"#;

/// Any bytes decode to exactly the length that is announced, or are refused; the first two bytes
/// announce it.
pub fn text_decode_any(bytes: &[u8]) {
    let &[low, high, ref encoded @ ..] = bytes else { return };
    let announced = usize::from(u16::from_le_bytes([low, high]));
    for engine in engines() {
        decode_any(engine, None, encoded, announced);
    }
}

/// A JSON text is refused by name, or comes back byte by byte; a context that has met it does with
/// others what a new one does.
pub fn text_roundtrip(text: &[u8]) {
    if text.len() > INPUT_BYTES_MAX {
        return;
    }
    for engine in engines() {
        round_trips(engine, None, &[text]);
    }
}

/// The same with a model that was learned from the texts: each line is one. The first byte says
/// how many of them have to share something.
pub fn text_learned(bytes: &[u8]) {
    let Some((&shared_by, rest)) = bytes.split_first() else { return };
    if rest.len() > INPUT_BYTES_MAX {
        return;
    }
    let texts: Vec<&[u8]> = rest.split(|&byte| byte == b'\n').collect();
    let entities = (0u32..).map(|entity| entity / 2);
    let payloads: Vec<(&[u8], u32)> = texts.iter().copied().zip(entities).collect();
    let Some(learned) = learn(&payloads, u32::from(shared_by % 4) + 1) else { return };
    let model = learned.bytes;
    let dictionary = file_with(&model)
        .unwrap_or_else(|| panic!("a model that was learned is refused: {model:02x?}"));
    for engine in engines() {
        round_trips(engine, Some(&dictionary), &texts);
    }
}

/// Any bytes are a dictionary, or are refused; with one, any bytes decode to what is announced or
/// are refused, and any text comes back. The first two bytes say how long the dictionary is, the
/// lowest bit of the third whether it is all of a file or the model in one.
pub fn dictionary_any(bytes: &[u8]) {
    let &[low, high, kind, ref rest @ ..] = bytes else { return };
    let length = usize::from(u16::from_le_bytes([low, high])).min(rest.len());
    let (part, rest) = rest.split_at(length);
    let dictionary = match kind & 1 {
        0 => file_with(part),
        _ => Dictionary::new(part.to_vec()).ok(),
    };
    let Some(dictionary) = dictionary else { return };
    let announced = (usize::from(kind) << 4).min(TEXT_BYTES_MAX);
    for engine in engines() {
        decode_any(engine, Some(&dictionary), rest, announced);
        round_trips(engine, Some(&dictionary), &[rest]);
    }
}

fn engines() -> impl Iterator<Item = &'static dyn TextEncoding> {
    ENCODINGS.iter().filter_map(|encoding| match encoding.engine {
        Engine::Text(engine) => Some(engine),
        _ => None,
    })
}

/// A dictionary whose model is these bytes, if they are one.
fn file_with(model: &[u8]) -> Option<Arc<Dictionary>> {
    let content = FileContent {
        codec: b"content of a codec",
        model: Some(model),
        // Both orders of texts come to pass.
        texts_in_order: model.len() % 2 == 1,
        ..FileContent::default()
    };
    Dictionary::new(write_file(40_000, content)).ok()
}

fn decode_any(
    engine: &dyn TextEncoding,
    dictionary: Option<&Dictionary>,
    encoded: &[u8],
    announced: usize,
) {
    let mut decoder = engine.decoder(dictionary);
    let before = decoder.memory_bytes();
    let mut out = Vec::new();
    let verdict = decoder.decode(encoded, announced, &mut out);
    let bound = DECODER_BYTES_MAX + DECODER_BYTES_PER_BYTE * (announced + encoded.len());
    let held = decoder.memory_bytes();
    assert!(held <= before + bound, "{held} bytes are held, {before} before");
    assert!(out.capacity() <= bound, "{} bytes of room", out.capacity());
    if verdict.is_ok() {
        assert_eq!(out.len(), announced);
    }
    // The same decoder gives the same answer after this one and after something else.
    let mut again = Vec::new();
    assert_eq!(decoder.decode(encoded, announced, &mut again), verdict);
    assert!(verdict.is_err() || again == out);
    let mut encoder = engine.encoder(dictionary);
    round_trip(encoder.as_mut(), decoder.as_mut(), PROBE);
    again.clear();
    assert_eq!(decoder.decode(encoded, announced, &mut again), verdict);
    assert!(verdict.is_err() || again == out);
}

/// Each text comes back from contexts that all texts meet, or is refused, and is encoded as new
/// contexts do it.
fn round_trips(engine: &dyn TextEncoding, dictionary: Option<&Dictionary>, texts: &[&[u8]]) {
    let (mut encoder, mut decoder) = (engine.encoder(dictionary), engine.decoder(dictionary));
    let probed = round_trip(encoder.as_mut(), decoder.as_mut(), PROBE);
    for text in texts {
        let encoded = round_trip(encoder.as_mut(), decoder.as_mut(), text);
        let anew = round_trip(engine.encoder(dictionary).as_mut(), decoder.as_mut(), text);
        assert_eq!(encoded, anew);
        assert_eq!(round_trip(encoder.as_mut(), decoder.as_mut(), PROBE), probed);
    }
}

/// The encoded form, after a look at what it decodes to; nothing for a text that is refused.
fn round_trip(
    encoder: &mut dyn TextEncoder,
    decoder: &mut dyn TextDecoder,
    text: &[u8],
) -> Option<Vec<u8>> {
    let (mut encoded, mut decoded) = (Vec::new(), Vec::new());
    encoder.encode(text, &mut encoded).ok()?;
    let verdict = decoder.decode(&encoded, text.len(), &mut decoded);
    assert!(verdict.is_ok() && decoded == text, "{verdict:?}: {}", String::from_utf8_lossy(text));
    Some(encoded)
}
