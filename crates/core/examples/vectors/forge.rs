//! Envelopes made piece by piece, so that vectors can hold what the packer would never write: empty
//! payloads, headers of every shape, and lies.
//!
//! Everything here is deterministic: a set that is written again on the same libraries is the same.

use std::sync::Arc;

use cinch_core::codec::{CodecId, codec_named};
use cinch_core::dictionary::Dictionary;
use cinch_core::document::Document;
use cinch_core::encoding::{ENCODINGS, Encoding, Engine, encoding_named};
use cinch_core::envelope::{Header, checksum};
use cinch_core::json;

use crate::{HeaderRow, Vector};

/// The payload that most vectors hold.
pub(crate) const SMALL: &str = r#"{"cart":"c-1","total":12.50,"open":true}"#;

/// The dictionary's file below `vectors/`.
pub(crate) const DICTIONARY_FILE: &str = "dictionaries/carts.dict";

/// A payload of some hundred bytes in which much is repeated.
pub(crate) fn medium() -> String {
    let items: Vec<String> = (0..9)
        .map(|index| {
            let (sku, price) = (100 + index * 7, 5 + index * 3);
            format!(
                r#"{{"sku":"A-{sku}","quantity":{},"price":{price}.{index}5,"gift":{}}}"#,
                index % 3 + 1,
                index % 4 == 0,
            )
        })
        .collect();
    format!(r#"{{"cart":"c-12","currency":"EUR","items":[{}]}}"#, items.join(","))
}

/// A raw-content dictionary: what carts have in common.
pub(crate) fn dictionary_bytes() -> Vec<u8> {
    let mut text = String::new();
    for sku in ["A-100", "A-107", "A-114", "A-121"] {
        text += &format!(r#"{{"sku":"{sku}","quantity":1,"price":12.50,"gift":false}},"#);
    }
    text += r#"{"cart":"c-12","currency":"EUR","items":["#;
    text.into_bytes()
}

/// The dictionary itself.
pub(crate) fn dictionary() -> Arc<Dictionary> {
    Dictionary::new(dictionary_bytes()).expect("the dictionary has a usual size")
}

/// The bytes that a codec makes of `content` on its default level.
pub(crate) fn compressed(
    codec: &str,
    content: &[u8],
    dictionary: Option<&Arc<Dictionary>>,
) -> Vec<u8> {
    let codec = codec_named(codec).expect("the codec exists");
    let levels = codec.info().levels;
    let level = if codec.info().name == "lz4" && dictionary.is_some() { 9 } else { levels.default };
    let mut compressor = codec.compressor(level, dictionary).expect("the level exists");
    let mut body = vec![0; codec.compress_bound(content.len())];
    let length = compressor.compress(content, &mut body).expect("the bound is enough");
    body.truncate(length);
    body
}

/// The bytes that a codec makes of `content` after a prefix on its default level.
pub(crate) fn compressed_after(codec: &str, prefix: &[u8], content: &[u8]) -> Vec<u8> {
    let codec = codec_named(codec).expect("the codec exists");
    let level = codec.info().levels.default;
    let mut compressor = codec.compressor(level, None).expect("the level exists");
    let compressor = compressor.with_prefix().expect("the codec takes a prefix");
    let mut body = vec![0; codec.compress_bound(content.len())];
    let length = compressor.compress_after(prefix, content, &mut body).expect("there is room");
    body.truncate(length);
    body
}

/// The id of a codec.
pub(crate) fn codec_id(name: &str) -> CodecId {
    codec_named(name).expect("the codec exists").info().id
}

/// The first registry row of each encoding that has a decoder of its own.
pub(crate) fn document_encodings() -> impl Iterator<Item = &'static Encoding> {
    let is_binary = |encoding: &&Encoding| {
        matches!(encoding.engine, Engine::Document(_)) && !encoding.is_json_text
    };
    ENCODINGS.iter().filter(is_binary)
}

/// The encoded bytes of a JSON text, and the text that decoding them gives.
pub(crate) fn encoded(name: &str, text: &str) -> (Vec<u8>, String) {
    let encoding = encoding_named(name).expect("the encoding exists");
    let Engine::Document(engine) = encoding.engine else { panic!("{name} has no engine") };
    let mut document = Document::new();
    json::parse(encoding.parser, text.as_bytes(), &mut document).expect("the text is JSON");
    let mut bytes = Vec::new();
    engine.encode(&document, &mut bytes).expect("the encoding carries the value");
    (bytes.clone(), decoded(name, &bytes))
}

/// The text that encoded bytes decode to.
pub(crate) fn decoded(name: &str, bytes: &[u8]) -> String {
    let encoding = encoding_named(name).expect("the encoding exists");
    let Engine::Document(engine) = encoding.engine else { panic!("{name} has no engine") };
    let mut document = Document::new();
    engine.decode(bytes, &mut document).expect("the bytes decode");
    let mut text = Vec::new();
    json::write(&document, &mut text);
    String::from_utf8(text).expect("JSON text is UTF-8")
}

/// A header for a payload that is stored as it is, with a checksum.
pub(crate) fn header(payload: &[u8]) -> Header {
    Header {
        codec: codec_id("stored"),
        encoding: None,
        payload_bytes: payload.len() as u32,
        dictionary: None,
        checksum: Some(checksum(payload)),
        fields: Vec::new(),
    }
}

/// The bytes of a header with a body behind it.
pub(crate) fn envelope(header: &Header, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    header.write(&mut out).expect("the header is short enough");
    out.extend_from_slice(body);
    out
}

/// Sets the length and the check byte of a header that was written by hand, and adds a body.
pub(crate) fn sealed(mut header: Vec<u8>, body: &[u8]) -> Vec<u8> {
    header[3] = 0x80 | (header.len() + 1) as u8;
    mended(header, body)
}

/// Sets only the check byte.
pub(crate) fn mended(mut header: Vec<u8>, body: &[u8]) -> Vec<u8> {
    header.push(xxhash_rust::xxh64::xxh64(&header, 0) as u8);
    header.extend_from_slice(body);
    header
}

/// A vector that unpacks to a payload.
pub(crate) fn valid(
    name: impl Into<String>,
    header: &Header,
    body: &[u8],
    payload: &[u8],
) -> Vector {
    let fields = header.fields.iter().map(|field| (field.kind, hex(&field.value))).collect();
    let text = str::from_utf8(payload).ok().map(str::to_owned);
    Vector {
        name: name.into(),
        hex: hex(&envelope(header, body)),
        payload_hex: text.is_none().then(|| hex(payload)),
        payload_text: text,
        result: "valid",
        check: "decode",
        header: Some(HeaderRow {
            codec: header.codec.0,
            encoding: header.encoding.map(|encoding| encoding.0),
            payload_bytes: header.payload_bytes,
            dictionary: header.dictionary,
            checksum: header.checksum,
            fields,
        }),
        ..Vector::default()
    }
}

/// A vector that is refused.
pub(crate) fn invalid(name: impl Into<String>, error: &'static str, bytes: &[u8]) -> Vector {
    Vector {
        name: name.into(),
        hex: hex(bytes),
        result: "invalid",
        error: Some(error),
        check: "decode",
        ..Vector::default()
    }
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
