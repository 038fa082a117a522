//! Vectors of bodies: every codec id and every encoding id, with what they hold and with damage.
//!
//! They follow the registries, so that an id that is added gets its vectors from the same lines, in
//! a set of a new name.

use std::ops::RangeInclusive;

use cinch_core::codec::{CODECS, CodecId, CodecInfo};
use cinch_core::encoding::{Encoding, EncodingId};
use cinch_core::envelope::{Header, checksum};

use crate::Vector;
use crate::forge::{
    SMALL, codec_id, compressed, document_encodings, encoded, envelope, header, invalid, medium,
    valid,
};

/// The last codec id of the sets that were written first. Later ids have sets of their own, so
/// that a set stays the same for ever.
const FIRST_SETS_END: CodecId = CodecId(0x1A);

/// The registry rows whose ids are in a range.
fn rows(ids: RangeInclusive<CodecId>) -> impl Iterator<Item = &'static CodecInfo> {
    CODECS.iter().map(|codec| codec.info()).filter(move |info| ids.contains(&info.id))
}

/// The first registry row of each codec id in a range.
fn codec_rows(ids: RangeInclusive<CodecId>) -> Vec<(&'static str, CodecId)> {
    let mut rows: Vec<(&str, CodecId)> = Vec::new();
    for info in self::rows(ids) {
        if rows.iter().all(|(_, id)| *id != info.id) {
            rows.push((info.name, info.id));
        }
    }
    rows
}

pub(crate) fn codecs() -> Vec<Vector> {
    valid_bodies(CodecId(0)..=FIRST_SETS_END)
}

fn valid_bodies(ids: RangeInclusive<CodecId>) -> Vec<Vector> {
    let medium = medium();
    let mut vectors = Vec::new();
    for info in rows(ids.clone()) {
        for (size, payload) in [("empty", ""), ("small", SMALL), ("medium", &medium)] {
            let payload = payload.as_bytes();
            let header = Header { codec: info.id, ..header(payload) };
            let body = compressed(info.name, payload, None);
            vectors.push(valid(format!("{}, {size}", info.name), &header, &body, payload));
        }
    }
    for (name, id) in codec_rows(ids) {
        let payload = SMALL.as_bytes();
        let header = Header { codec: id, checksum: None, ..header(payload) };
        let body = compressed(name, payload, None);
        vectors.push(valid(format!("{name}, without checksum"), &header, &body, payload));
    }
    vectors
}

pub(crate) fn codecs_invalid() -> Vec<Vector> {
    let mut vectors = invalid_bodies(CodecId(0)..=FIRST_SETS_END);
    vectors.extend(other_formats());
    vectors
}

fn invalid_bodies(ids: RangeInclusive<CodecId>) -> Vec<Vector> {
    let mut vectors = Vec::new();
    for (name, id) in codec_rows(ids) {
        let payload = SMALL.as_bytes();
        let header = Header { codec: id, ..header(payload) };
        let body = compressed(name, payload, None);
        let mut damaged = |what: &str, header: &Header, body: &[u8]| {
            vectors.push(invalid(format!("{name}, {what}"), "damaged", &envelope(header, body)));
        };
        damaged("no body", &header, b"");
        damaged("last byte cut off", &header, &body[..body.len() - 1]);
        damaged("half of the body", &header, &body[..body.len() / 2]);
        damaged("a byte after the end", &header, &[&body[..], b"\0"].concat());
        damaged("the body twice", &header, &body.repeat(2));
        let (more, less) = (header.payload_bytes + 1, header.payload_bytes - 1);
        damaged("longer than announced", &Header { payload_bytes: less, ..header.clone() }, &body);
        damaged("shorter than announced", &Header { payload_bytes: more, ..header.clone() }, &body);
        let nothing = Header { payload_bytes: 0, ..header.clone() };
        damaged("longer than an empty payload", &nothing, &body);
        let noise: Vec<u8> = (0..37_u8).map(|n| n.wrapping_mul(167) ^ 0xA5).collect();
        damaged("noise", &header, &noise);
    }
    vectors
}

/// The id of LZ4 frames, which came after the first sets were written.
const LZ4_FRAME: CodecId = CodecId(0x1C);

/// An LZ4 frame made by hand: its header after the magic, then its blocks and what ends them.
fn lz4_frame(header: &[u8], blocks: &[&[u8]]) -> Vec<u8> {
    [&b"\x04\x22\x4D\x18"[..], header, &blocks.concat()].concat()
}

/// A stored block of an LZ4 frame, its end mark, and the XXH32 of the same bytes.
const LZ4_HELLO: &[u8] = b"\x05\0\0\x80hello";
const LZ4_END: &[u8] = b"\0\0\0\0";
const LZ4_CHECKSUM: &[u8] = b"\xF9\x77\0\xFB";

/// Two blocks, of which the second has a match that begins in the first.
const LZ4_LINKED: [&[u8]; 3] = [b"\x06\0\0\x80hello ", b"\x09\0\0\0\x08\x06\0\x50hello", LZ4_END];

pub(crate) fn lz4_frames() -> Vec<Vector> {
    let mut vectors = valid_bodies(LZ4_FRAME..=LZ4_FRAME);
    let mut foreign = |what: &str, payload: &[u8], frame: Vec<u8>| {
        let header = Header { codec: LZ4_FRAME, ..header(payload) };
        vectors.push(valid(format!("lz4-frame, {what}"), &header, &frame, payload));
    };
    let one = [LZ4_HELLO, LZ4_END];
    foreign("without a content size", b"hello", lz4_frame(b"\x60\x40\x82", &one));
    foreign("blocks of up to 4 MiB", b"hello", lz4_frame(b"\x60\x70\x73", &one));
    let sized = b"\x68\x40\x05\0\0\0\0\0\0\0\x61";
    foreign("a content size", b"hello", lz4_frame(sized, &one));
    let unknown = b"\x68\x40\0\0\0\0\0\0\0\0\x05";
    foreign("a content size of 0, which is unknown", b"hello", lz4_frame(unknown, &one));
    let checked = [LZ4_HELLO, LZ4_CHECKSUM, LZ4_END, LZ4_CHECKSUM];
    foreign("both checksums", b"hello", lz4_frame(b"\x74\x40\xBD", &checked));
    let linked = lz4_frame(b"\x40\x40\xC0", &LZ4_LINKED);
    foreign("linked blocks", b"hello hello hello hello", linked);
    let with_empty = [b"\0\0\0\x80", LZ4_HELLO, b"\x01\0\0\0\0", LZ4_END];
    foreign("blocks without content", b"hello", lz4_frame(b"\x60\x40\x82", &with_empty));
    let nobody = b"\x61\x40\0\0\0\0\xA0";
    foreign("dictionary 0, which is none", b"hello", lz4_frame(nobody, &one));
    vectors
}

pub(crate) fn lz4_frames_invalid() -> Vec<Vector> {
    let mut vectors = invalid_bodies(LZ4_FRAME..=LZ4_FRAME);
    let of =
        |codec, payload: &[u8], body: &[u8]| envelope(&Header { codec, ..header(payload) }, body);
    let mut refused = |what: &str, error, body: Vec<u8>| {
        let value = of(LZ4_FRAME, b"hello", &body);
        vectors.push(invalid(format!("lz4-frame, {what}"), error, &value));
    };
    let one = [LZ4_HELLO, LZ4_END];
    let plain = lz4_frame(b"\x60\x40\x82", &one);
    let mut damaged = |what: &str, body: Vec<u8>| refused(what, "damaged", body);
    damaged("a bare block", compressed("lz4", b"hello", None));
    damaged("a skippable frame before", [&b"\x50\x2A\x4D\x18\x01\0\0\0x"[..], &plain].concat());
    damaged("a skippable frame after", [&plain[..], b"\x50\x2A\x4D\x18\x01\0\0\0x"].concat());
    damaged("a skippable frame alone", b"\x50\x2A\x4D\x18\x05\0\0\0hello".to_vec());
    damaged("a legacy frame", b"\x02\x21\x4C\x18\x06\0\0\0\x50hello".to_vec());
    damaged("a zstd frame", compressed("zstd", b"hello", None));
    damaged("version 0", lz4_frame(b"\x20\x40\x03", &one));
    damaged("version 2", lz4_frame(b"\xA0\x40\x0F", &one));
    damaged("the reserved flag", lz4_frame(b"\x62\x40\xF0", &one));
    damaged("a reserved bit of the block size", lz4_frame(b"\x60\x41\xBD", &one));
    damaged("block size 3", lz4_frame(b"\x60\x30\xD4", &one));
    damaged("a wrong header checksum", lz4_frame(b"\x60\x40\x83", &one));
    let of_six = b"\x68\x40\x06\0\0\0\0\0\0\0\x59";
    damaged("a content size of 6", lz4_frame(of_six, &one));
    let enormous = b"\x68\x40\0\0\0\0\0\0\0\x40\x0A";
    damaged("a content size of 4 EiB", lz4_frame(enormous, &one));
    let wrong: &[u8] = b"\xF8\x77\0\xFB";
    let block = [LZ4_HELLO, wrong, LZ4_END, LZ4_CHECKSUM];
    damaged("a wrong block checksum", lz4_frame(b"\x74\x40\xBD", &block));
    let content = [LZ4_HELLO, LZ4_CHECKSUM, LZ4_END, wrong];
    damaged("a wrong content checksum", lz4_frame(b"\x74\x40\xBD", &content));
    let unchecked = [LZ4_HELLO, LZ4_CHECKSUM, LZ4_END];
    damaged("no content checksum", lz4_frame(b"\x74\x40\xBD", &unchecked));
    let large = [&b"\x01\0\x01\x80"[..], &[b'x'; 20], LZ4_END];
    damaged("a block of 64 KiB and a byte", lz4_frame(b"\x60\x40\x82", &large));
    let names = lz4_frame(b"\x61\x40\x70\x11\x01\0\xF5", &one);
    refused("dictionary 70,000", "missing-dictionary", names);
    let unlinked = lz4_frame(b"\x60\x40\x82", &LZ4_LINKED);
    vectors.push(invalid(
        "lz4-frame, a match into another block",
        "damaged",
        &of(LZ4_FRAME, b"hello hello hello hello", &unlinked),
    ));
    let frame = compressed("lz4-frame", SMALL.as_bytes(), None);
    let framed = of(codec_id("lz4"), SMALL.as_bytes(), &frame);
    vectors.push(invalid("lz4-frame as lz4", "damaged", &framed));
    vectors
}

/// Bodies in a framing that is like that of the id, but is not it.
fn other_formats() -> Vec<Vector> {
    let payload = b"hello";
    let of = |name: &str, codec: &str, error, body: &[u8]| {
        let header = Header { codec: codec_id(codec), ..header(payload) };
        invalid(name, error, &envelope(&header, body))
    };
    let zstd = compressed("zstd", payload, None);
    let bare = compressed("zstd-bare", payload, None);
    let skippable = [&b"\x50\x2A\x4D\x18\x01\0\0\0x"[..], &zstd].concat();
    let raw_block = b"\x29\0\0hello";
    vec![
        of("a bare frame as zstd", "zstd", "damaged", &bare),
        of("a standard frame as zstd-bare", "zstd-bare", "damaged", &zstd),
        of("a skippable frame before a frame", "zstd", "damaged", &skippable),
        of(
            "a zstd frame that names a dictionary",
            "zstd",
            "missing-dictionary",
            &[&b"\x28\xB5\x2F\xFD\x21\x07\x05"[..], raw_block].concat(),
        ),
        of(
            "a bare frame that names a dictionary",
            "zstd-bare",
            "missing-dictionary",
            &[&b"\x21\x07\x05"[..], raw_block].concat(),
        ),
        of(
            "a zstd frame with its reserved bit set",
            "zstd-bare",
            "damaged",
            &[&b"\x28\x05"[..], raw_block].concat(),
        ),
        of("a zstd frame of 4 EiB", "zstd-bare", "damaged", b"\xE0\0\0\0\0\0\0\0\x40\x01\0\0"),
        of("a gzip member as zlib", "zlib", "damaged", &compressed("gzip", payload, None)),
        of("a zlib stream as deflate", "deflate", "damaged", &compressed("zlib", payload, None)),
        of(
            "a zlib stream with a preset dictionary",
            "zlib",
            "damaged",
            b"\x78\xBB\0\0\0\x01\x03\0",
        ),
        of(
            "a Snappy frame",
            "snappy",
            "damaged",
            b"\xFF\x06\0\0sNaPpY\x01\x09\0\0\xBB\x1F\x1C\x19hello",
        ),
        of("a Snappy block of 4 GiB", "snappy", "damaged", b"\xFF\xFF\xFF\xFF\x0F\0"),
        of("a Snappy copy from before the start", "snappy", "damaged", b"\x05\x05\x09"),
        of(
            "an LZ4 frame",
            "lz4",
            "damaged",
            b"\x04\x22\x4D\x18\x60\x40\x82\x05\0\0\x80hello\0\0\0\0",
        ),
        of("an LZ4 match from before the start", "lz4", "damaged", b"\x10h\x05\0\x50hello"),
        of("an LZMA2 size code of 41", "lzma2", "damaged", b"\x29\x01\0\x04hello\0"),
        of("LZMA2 without an end mark", "lzma2", "damaged", b"\0\x01\0\x04hello"),
        of("an xz file", "lzma2", "damaged", b"\xFD7zXZ\0\0\x04\xE6\xD6\xB4\x46"),
        of("brotli with a large window", "brotli", "damaged", b"\x11\x1A\x03"),
        of("a checksum of bzip2 that is wrong", "bzip2", "damaged", &{
            let mut body = compressed("bzip2", payload, None);
            body[12] ^= 1;
            body
        }),
    ]
}

/// What each of these encodings makes of three payloads.
fn each_encoding<'a>(encodings: impl Iterator<Item = &'a Encoding>) -> Vec<Vector> {
    let medium = medium();
    let mut vectors = Vec::new();
    for encoding in encodings {
        for (size, text) in [("small", SMALL), ("medium", &medium), ("empty object", "{}")] {
            for codec in ["stored", "zstd-bare"] {
                let (bytes, payload) = encoded(encoding.name, text);
                let body = compressed(codec, &bytes, None);
                let header = Header {
                    codec: codec_id(codec),
                    encoding: Some(encoding.id),
                    ..header(payload.as_bytes())
                };
                let name = format!("{}, {size}, {codec}", encoding.name);
                vectors.push(valid(name, &header, &body, payload.as_bytes()));
            }
        }
    }
    vectors
}

/// Whether an encoding is one that the first sets cover; later ones have sets of their own.
fn is_first(encoding: &&Encoding) -> bool {
    encoding.id <= EncodingId(0x15)
}

pub(crate) fn more_encodings() -> Vec<Vector> {
    each_encoding(document_encodings().filter(|encoding| !is_first(encoding)))
}

pub(crate) fn encodings() -> Vec<Vector> {
    let mut vectors = each_encoding(document_encodings().filter(is_first));
    // Text encodings are returned as they stand.
    for (id, name) in [(0x10, "verbatim, named"), (0x11, "json, as it stands")] {
        let payload = b" { \"a\" : 1.0 } ";
        let header = Header { encoding: Some(EncodingId(id)), ..header(payload) };
        vectors.push(valid(name, &header, payload, payload));
    }
    let header = Header { encoding: Some(EncodingId(0x11)), ..header(b"no JSON") };
    vectors.push(valid("json, not looked at", &header, b"no JSON", b"no JSON"));
    // The bound on encoded bytes is 8 for each byte of the payload and 64: here it is reached.
    let (bytes, payload) = (vec![0xD9, 70], format!("\"{}\"", "x".repeat(70)));
    let bytes = [bytes, vec![b'x'; 70]].concat();
    let header = Header { encoding: Some(EncodingId(0x12)), ..self::header(payload.as_bytes()) };
    vectors.push(valid("msgpack, a string", &header, &bytes, payload.as_bytes()));
    vectors
}

/// Each of these encodings with a body that is cut, too long, or not what is announced.
fn each_encoding_invalid<'a>(encodings: impl Iterator<Item = &'a Encoding>) -> Vec<Vector> {
    let mut vectors = Vec::new();
    for encoding in encodings {
        let (bytes, payload) = encoded(encoding.name, SMALL);
        let mut of = |what: &str, payload: &str, body: &[u8]| {
            vectors.push(damaged(
                &format!("{}, {what}", encoding.name),
                encoding.id,
                payload,
                body,
            ));
        };
        of("nothing", &payload, b"");
        of("last byte cut off", &payload, &bytes[..bytes.len() - 1]);
        of("half of it", &payload, &bytes[..bytes.len() / 2]);
        of("a byte after the end", &payload, &[&bytes[..], b"\0"].concat());
        of("a shorter text than announced", &format!("{payload} "), &bytes);
        of("a longer text than announced", &payload[1..], &bytes);
        of("more encoded bytes than the bound", "0", &[b'0'; 8 + 64 + 1]);
    }
    vectors
}

/// An envelope for a payload with a body that is another's or nobody's.
fn damaged(name: &str, id: EncodingId, payload: &str, body: &[u8]) -> Vector {
    let header = Header { encoding: Some(id), ..header(payload.as_bytes()) };
    invalid(name, "damaged", &envelope(&header, body))
}

pub(crate) fn more_encodings_invalid() -> Vec<Vector> {
    let mut vectors =
        each_encoding_invalid(document_encodings().filter(|encoding| !is_first(encoding)));
    let mut of = |name: &str, id: u8, payload: &str, body: &[u8]| {
        vectors.push(damaged(name, EncodingId(id), payload, body));
    };
    of("flexbuffers, binary data", 0x1B, "\"\"", b"\x01a\0\x02\x64\x01");
    // Each element is three bytes, and 66 of text: the text must not be written to its end.
    let count: u8 = 40;
    let mut references = [&b"\x40"[..], &[b'x'; 64], b"\0", &[count]].concat();
    references.extend((0..count).map(|index| 66 + index));
    references.extend(vec![5 << 2; usize::from(count)]);
    references.extend([2 * count, 10 << 2, 1]);
    let text = format!("\"{}\"", "x".repeat(64));
    of("flexbuffers, a string in many places", 0x1B, &text, &references);
    let circle = b"\x02\x01\x01\x04\x28\x04\x28\x01";
    of("flexbuffers, a list in itself", 0x1B, "[1,[1,[1]]]", circle);
    of("ion, a timestamp", 0x1C, "\"2007-01-01\"", b"\xE0\x01\0\xEA\x65\xC0\x0F\xD7\x81\x81");
    of("ion, no marker", 0x1C, "1", b"\x21\x01");
    let symbol = b"\xE0\x01\0\xEA\x71\x0A";
    of("ion, a symbol in no table", 0x1C, "\"a\"", symbol);
    vectors
}

pub(crate) fn encodings_invalid() -> Vec<Vector> {
    let mut vectors = each_encoding_invalid(document_encodings().filter(is_first));
    let mut damaged = |name: String, id: u8, payload: &str, body: &[u8]| {
        vectors.push(self::damaged(&name, EncodingId(id), payload, body));
    };
    damaged("msgpack, binary data".to_owned(), 0x12, "\"\"", b"\xC4\x00");
    damaged("msgpack, NaN".to_owned(), 0x12, "0.0", b"\xCB\x7F\xF8\0\0\0\0\0\0");
    damaged("cbor, a byte string".to_owned(), 0x13, "\"\"", b"\x40");
    damaged("cbor, an unknown tag".to_owned(), 0x13, "0", b"\xC1\x00");
    damaged("bson, an ObjectId".to_owned(), 0x14, "{}", &bson_object_id());
    damaged("smile, binary data".to_owned(), 0x15, "\"\"", b":)\n\0\xFD\x80");
    // Each reference is one byte, and 66 of text: the text must not be written to its end.
    let references = [&b":)\n\x03\xF8\x7F"[..], &[b'x'; 64], &[0x01; 200], b"\xF9"].concat();
    damaged("smile, references".to_owned(), 0x15, &format!("\"{}\"", "x".repeat(64)), &references);
    damaged("verbatim, named, cut short".to_owned(), 0x10, "hello", b"hell");
    damaged("json, longer than announced".to_owned(), 0x11, "{}", b"{ }");
    let header = Header {
        encoding: Some(EncodingId(0x11)),
        checksum: Some(checksum(b"[1]")),
        ..header(b"[2]")
    };
    let mismatch = envelope(&header, b"[2]");
    vectors.push(invalid("json, another text", "checksum-mismatch", &mismatch));
    let (bytes, payload) = encoded("msgpack", SMALL);
    let header = Header {
        encoding: Some(EncodingId(0x12)),
        checksum: Some(checksum(SMALL.as_bytes())),
        ..self::header(payload.as_bytes())
    };
    // The checksum is of the text that comes out, not of the one that went in.
    let mismatch = envelope(&header, &bytes);
    vectors.push(invalid("msgpack, the checksum of 12.50", "checksum-mismatch", &mismatch));
    vectors
}

fn bson_object_id() -> Vec<u8> {
    [&b"\x14\0\0\0\x07a\0"[..], &[7; 12], b"\0"].concat()
}
