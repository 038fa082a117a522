//! Vectors of whole envelopes: headers of every shape, look-alikes, every error code, dictionaries.
//!
//! The invalid ones carry the reason in their name. A header is sealed (its length and check byte
//! made right) unless the vector is about those, so that each vector is wrong in one way only.

use cinch_core::codec::CodecId;
use cinch_core::dictionary::Dictionary;
use cinch_core::encoding::EncodingId;
use cinch_core::envelope::{FIELD_BASE, FIELD_SCHEMA, FIELD_VERSION, FIELD_WRITER, Field, Header};

use crate::Vector;
use crate::forge::{
    DICTIONARY_FILE, SMALL, codec_id, compressed, dictionary as carts, encoded, envelope, header,
    hex, invalid, medium, mended, sealed, valid,
};

const HELLO: &[u8] = b"hello";

fn field(kind: u8, value: &[u8]) -> Field {
    Field { kind, value: value.to_vec() }
}

/// A stored envelope with a changed header.
fn stored(change: impl FnOnce(&mut Header)) -> Vec<u8> {
    let mut header = header(HELLO);
    change(&mut header);
    envelope(&header, HELLO)
}

pub(crate) fn headers() -> Vec<Vector> {
    let exact = |name: &str, payload: &[u8], change: &dyn Fn(&mut Header)| {
        let mut header = header(payload);
        change(&mut header);
        Vector { check: "encode_exact", ..valid(name, &header, payload, payload) }
    };
    let long = "x".repeat(128);
    vec![
        exact("checksum", HELLO, &|_| {}),
        exact("no checksum", HELLO, &|h| h.checksum = None),
        exact("empty payload", b"", &|_| {}),
        exact("empty payload, no checksum", b"", &|h| h.checksum = None),
        exact("encoding verbatim, named", HELLO, &|h| h.encoding = Some(EncodingId(0x10))),
        exact("length 127, one byte", &[b'x'; 127], &|_| {}),
        exact("length 128, two bytes", long.as_bytes(), &|_| {}),
        exact("payload that is no text", b"\x00\xFF\xC1", &|_| {}),
        exact("a writer", HELLO, &|h| h.fields = vec![field(FIELD_WRITER, b"cinch 0.1.0")]),
        exact("a version stamp", HELLO, &|h| h.fields = vec![field(FIELD_VERSION, &[7, 0])]),
        exact("an empty field value", HELLO, &|h| h.fields = vec![field(FIELD_WRITER, b"")]),
        exact("two fields", HELLO, &|h| {
            h.fields = vec![field(FIELD_VERSION, &[1]), field(FIELD_WRITER, b"w")];
        }),
        exact("an unknown field, skipped", HELLO, &|h| h.fields = vec![field(0x7F, b"later")]),
        exact("the same field twice", HELLO, &|h| {
            h.fields = vec![field(FIELD_WRITER, b"a"), field(FIELD_WRITER, b"b")];
        }),
        exact("fields without a checksum", HELLO, &|h| {
            (h.checksum, h.fields) = (None, vec![field(FIELD_WRITER, b"w")]);
        }),
        exact("the longest header, 64 bytes", HELLO, &|h| {
            h.fields = vec![field(FIELD_WRITER, &[b'w'; 50])];
        }),
    ]
}

pub(crate) fn headers_invalid() -> Vec<Vector> {
    let whole = stored(|h| {
        h.encoding = Some(EncodingId(0x10));
        h.fields = vec![field(FIELD_WRITER, b"w")];
    });
    let header_bytes = whole.len() - HELLO.len();
    let mut vectors: Vec<Vector> = (2..header_bytes)
        .map(|length| invalid(format!("cut to {length} bytes"), "damaged", &whole[..length]))
        .collect();
    let mut damaged = |name: &str, bytes: Vec<u8>| vectors.push(invalid(name, "damaged", &bytes));
    damaged("body cut off", whole[..header_bytes].to_vec());
    for index in (4..header_bytes).chain([2]) {
        let mut flipped = whole.clone();
        flipped[index] ^= 0x04;
        damaged(&format!("a bit of byte {index} is wrong"), flipped);
    }
    // Header lengths: too short for any version, for this one, and too long for any.
    for length in [0, 1, 4] {
        let mut bytes = whole.clone();
        bytes[3] = 0x80 | length;
        damaged(&format!("a header of {length} bytes"), bytes);
    }
    damaged("a header of 5 bytes", mended(b"\xC1\x9E\x90\x85".to_vec(), HELLO));
    damaged("a header of 6 bytes", mended(b"\xC1\x9E\x90\x86\x10".to_vec(), HELLO));
    damaged("a header of 65 bytes", sealed([&b"\xC1\x9E\x90\0\x10"[..], &[0; 59]].concat(), HELLO));
    damaged(
        "a header of 127 bytes",
        mended([&b"\xC1\x9E\x90\xFF\x10"[..], &[0; 121]].concat(), b""),
    );
    // Numbers that are not minimal, or too large; the header says five bytes each time.
    for (name, varint) in [
        ("length 5 in two bytes", &b"\x85\0"[..]),
        ("length 5 in five bytes", b"\x85\x80\x80\x80\0"),
        ("length of 2^32", b"\x80\x80\x80\x80\x10"),
        ("length of six bytes", b"\x80\x80\x80\x80\x80\x01"),
        ("length without an end", b"\x85"),
    ] {
        damaged(name, sealed([&b"\xC1\x9E\x90\0\x10"[..], varint].concat(), HELLO));
    }
    // Flags that ask for more than is there, or less.
    for (name, head) in [
        ("a byte left over", &b"\xC1\x9E\x90\0\x10\x05\0"[..]),
        ("no room for the encoding and length", b"\xC1\x9E\x98\0\x10\x10"),
        ("no room for the checksum", b"\xC1\x9E\x92\0\x10\x05\x01\x02\x03"),
        ("no room for the dictionary", b"\xC1\x9E\x93\0\x10\x05\x01\x02\x03\x04\x05\x06\x07"),
        ("no room for the fields", b"\xC1\x9E\x94\0\x10\x05"),
        ("an empty list of fields", b"\xC1\x9E\x94\0\x10\x05\0"),
        ("a field without a length", b"\xC1\x9E\x94\0\x10\x05\x01\x04"),
        ("a field longer than its list", b"\xC1\x9E\x94\0\x10\x05\x03\x04\x02w"),
        ("a field longer than the header", b"\xC1\x9E\x94\0\x10\x05\x02\x04\x10"),
        ("a list longer than the header", b"\xC1\x9E\x94\0\x10\x05\x7F\x04\x01w"),
        ("a list of 4 GiB", b"\xC1\x9E\x94\0\x10\x05\xFF\xFF\xFF\xFF\x0F\x04\x01w"),
        ("a list length that is not minimal", b"\xC1\x9E\x94\0\x10\x05\x83\0\x04\x01w"),
        ("a field after the end of its list", b"\xC1\x9E\x94\0\x10\x05\x02\x04\x01w"),
        ("a dictionary without a checksum", b"\xC1\x9E\x91\0\x10\x05\x70\x11\x01\0"),
        ("a base without a checksum", b"\xC1\x9E\x94\0\x10\x05\x0A\x82\x08\0\0\0\0\0\0\0\0"),
    ] {
        damaged(name, sealed(head.to_vec(), HELLO));
    }
    for version in [0, 2, 3, 7] {
        let head = vec![0xC1, 0x9E, 0x80 | version << 4 | 2, 0, 1, 2, 3];
        let bytes = sealed(head, b"whatever it means");
        let name = format!("version {version}");
        vectors.push(invalid(name, "unsupported-version", &bytes));
    }
    let shortest = mended(b"\xC1\x9E\xFF\x85".to_vec(), b"");
    vectors.push(invalid("version 7, the shortest header", "unsupported-version", &shortest));
    vectors
}

pub(crate) fn plain() -> Vec<Vector> {
    let mut vectors = Vec::new();
    for (name, value) in [
        ("nothing", &b""[..]),
        ("the first byte of the magic", b"\xC1"),
        ("another second byte", b"\xC1\x9F\x92\x8B"),
        ("byte 2 without its top bit", b"\xC1\x9Eab"),
        ("byte 3 without its top bit", b"\xC1\x9E\x92\x0Bhello"),
        ("JSON", b"{\"a\":1}"),
        ("a gzip header", b"\x1F\x8B\x08\0\0\0\0\0\0\xFF"),
        ("a zstd frame", b"\x28\xB5\x2F\xFD\x20\x05\x29\0\0hello"),
        ("a number", b"42"),
    ] {
        let text = str::from_utf8(value).ok().map(str::to_owned);
        vectors.push(Vector {
            name: name.to_owned(),
            hex: hex(value),
            payload_hex: text.is_none().then(|| hex(value)),
            payload_text: text,
            result: "plain",
            error: Some("not-an-envelope"),
            check: "decode",
            ..Vector::default()
        });
    }
    let inner = stored(|_| {});
    for (name, payload) in [
        ("the magic alone", &b"\xC1\x9E"[..]),
        ("the magic and one byte", b"\xC1\x9E\x92"),
        ("the frozen bytes", b"\xC1\x9E\x92\x8B"),
        ("the frozen bytes of a later version", b"\xC1\x9E\xF0\xFF and more"),
        ("a whole envelope", &inner),
    ] {
        let row = valid(format!("wrapped: {name}"), &header(payload), payload, payload);
        vectors.push(Vector { check: "encode_exact", flags: vec!["wrapped"], ..row });
    }
    vectors
}

pub(crate) fn errors() -> Vec<Vector> {
    let with = |change: fn(&mut Header)| stored(change);
    let critical = |kind: u8, value: &[u8]| stored(|h| h.fields = vec![field(kind, value)]);
    let mut vectors = vec![
        invalid("codec 0x00", "unknown-codec", &with(|h| h.codec = CodecId(0))),
        invalid("codec 0x0F", "unknown-codec", &with(|h| h.codec = CodecId(0x0F))),
        invalid("codec 0x1B", "unknown-codec", &with(|h| h.codec = CodecId(0x1B))),
        invalid("codec 0xFF", "unknown-codec", &with(|h| h.codec = CodecId(0xFF))),
        invalid("encoding 0x00", "unknown-encoding", &with(|h| h.encoding = Some(EncodingId(0)))),
        invalid(
            "encoding 0x7F",
            "unknown-encoding",
            &with(|h| h.encoding = Some(EncodingId(0x7F))),
        ),
        invalid(
            "encoding 0xFF",
            "unknown-encoding",
            &with(|h| h.encoding = Some(EncodingId(0xFF))),
        ),
        invalid("critical field 0x80", "unknown-field", &critical(0x80, b"")),
        invalid("critical field 0x83", "unknown-field", &critical(0x83, b"12345678")),
        invalid("critical field 0xFF", "unknown-field", &critical(0xFF, b"x")),
        invalid("a schema", "missing-schema", &critical(FIELD_SCHEMA, b"12345678")),
        invalid("an empty schema", "missing-schema", &critical(FIELD_SCHEMA, b"")),
        invalid("a base", "missing-base", &critical(FIELD_BASE, b"12345678")),
        invalid("a dictionary", "missing-dictionary", &with(|h| h.dictionary = Some(70_000))),
        invalid("dictionary 0", "missing-dictionary", &with(|h| h.dictionary = Some(0))),
        invalid("checksum 0", "checksum-mismatch", &with(|h| h.checksum = Some(0))),
        invalid(
            "a checksum in the other byte order",
            "checksum-mismatch",
            &with(|h| h.checksum = h.checksum.map(u32::swap_bytes)),
        ),
        invalid("another body", "checksum-mismatch", &envelope(&header(HELLO), b"hallo")),
        invalid("4 GiB", "too-large", &with(|h| h.payload_bytes = u32::MAX)),
        invalid("256 MiB and a byte", "too-large", &with(|h| h.payload_bytes = (256 << 20) + 1)),
    ];
    let limited = |row: Vector, limit| Vector { limit_bytes: Some(limit), ..row };
    let at_limit = valid("a payload as long as the limit", &header(HELLO), HELLO, HELLO);
    vectors.push(limited(at_limit, HELLO.len()));
    vectors.push(limited(invalid("a limit of 4", "too-large", &with(|_| {})), HELLO.len() - 1));
    vectors.push(limited(invalid("a plain value", "too-large", b"hello"), HELLO.len() - 1));
    // The order in which errors are told when there are several.
    for (name, error, bytes) in [
        ("critical field before a leftover", "unknown-field", {
            sealed(b"\xC1\x9E\x94\0\x10\x05\x02\x85\0\0".to_vec(), HELLO)
        }),
        ("schema before base", "missing-schema", {
            stored(|h| h.fields = vec![field(FIELD_SCHEMA, b"s"), field(FIELD_BASE, b"b")])
        }),
        ("base before schema", "missing-base", {
            stored(|h| h.fields = vec![field(FIELD_BASE, b"b"), field(FIELD_SCHEMA, b"s")])
        }),
        ("schema before encoding", "missing-schema", {
            stored(|h| {
                h.encoding = Some(EncodingId(0x7F));
                h.fields = vec![field(FIELD_SCHEMA, b"s")];
            })
        }),
        ("encoding before length", "unknown-encoding", {
            stored(|h| {
                h.encoding = Some(EncodingId(0x7F));
                h.payload_bytes = u32::MAX;
            })
        }),
        ("length before codec", "too-large", {
            stored(|h| {
                h.codec = CodecId(0x7F);
                h.payload_bytes = u32::MAX;
            })
        }),
        ("codec before dictionary", "unknown-codec", {
            stored(|h| {
                h.codec = CodecId(0x7F);
                h.dictionary = Some(70_000);
            })
        }),
        ("dictionary before body", "missing-dictionary", {
            stored(|h| {
                h.codec = CodecId(0x16);
                h.dictionary = Some(70_000);
            })
        }),
        ("body before checksum", "damaged", {
            stored(|h| {
                h.payload_bytes = 6;
                h.checksum = Some(0);
            })
        }),
    ] {
        vectors.push(invalid(format!("order: {name}"), error, &bytes));
    }
    vectors
}

pub(crate) fn dictionary() -> Vec<Vector> {
    let (carts, medium) = (carts(), medium());
    let with = |row: Vector| Vector { dictionary: Some(DICTIONARY_FILE), ..row };
    let of = |codec: &str, payload: &[u8]| Header {
        codec: codec_id(codec),
        dictionary: Some(carts.id()),
        ..header(payload)
    };
    let mut vectors = Vec::new();
    for codec in ["lz4", "zstd", "zstd-bare"] {
        for (size, payload) in [("empty", ""), ("small", SMALL), ("medium", &medium)] {
            let payload = payload.as_bytes();
            let body = compressed(codec, payload, Some(&carts));
            let row = valid(format!("{codec}, {size}"), &of(codec, payload), &body, payload);
            vectors.push(with(row));
        }
        let payload = medium.as_bytes();
        let whole = envelope(&of(codec, payload), &compressed(codec, payload, Some(&carts)));
        vectors.push(invalid(format!("{codec}, not at hand"), "missing-dictionary", &whole));
        let other = Header { dictionary: Some(carts.id() + 1), ..of(codec, payload) };
        let body = compressed(codec, payload, Some(&carts));
        let row =
            invalid(format!("{codec}, another id"), "missing-dictionary", &envelope(&other, &body));
        vectors.push(with(row));
        let cut = &whole[..whole.len() - 1];
        vectors.push(with(invalid(format!("{codec}, cut short"), "damaged", cut)));
    }
    let (bytes, payload) = encoded("msgpack", &medium);
    let header = Header { encoding: Some(EncodingId(0x12)), ..of("zstd-bare", payload.as_bytes()) };
    let body = compressed("zstd-bare", &bytes, Some(&carts));
    vectors.push(with(valid("msgpack and zstd-bare", &header, &body, payload.as_bytes())));
    // A body made with other bytes under the same id: only the checksum tells.
    let other: Vec<u8> = carts.bytes().iter().map(u8::to_ascii_uppercase).collect();
    let other = Dictionary::new(other).expect("the dictionary has a usual size");
    let payload = medium.to_ascii_uppercase();
    for codec in ["lz4", "zstd-bare"] {
        let body = compressed(codec, payload.as_bytes(), Some(&other));
        let forged = envelope(&of(codec, payload.as_bytes()), &body);
        let name = format!("{codec}, other bytes under the id");
        vectors.push(with(invalid(name, "checksum-mismatch", &forged)));
    }
    for codec in ["stored", "snappy", "gzip", "brotli", "lzma2", "bzip2"] {
        let payload = SMALL.as_bytes();
        let whole = envelope(&of(codec, payload), &compressed(codec, payload, None));
        vectors.push(with(invalid(format!("{codec} takes no dictionary"), "damaged", &whole)));
    }
    vectors
}

/// The interop form of a header and a body.
fn in_frame(head: &[u8], body: &[u8]) -> Vec<u8> {
    [b"\x5C\x2A\x4D\x18", &(head.len() as u32).to_le_bytes()[..], head, body].concat()
}

pub(crate) fn interop_lz4() -> Vec<Vector> {
    let medium = medium();
    let payload = medium.as_bytes();
    let of = |payload: &[u8]| Header { codec: codec_id("lz4-frame"), ..header(payload) };
    let body = compressed("lz4-frame", payload, None);
    let head = envelope(&of(payload), b"");
    let whole = in_frame(&head, &body);
    let mut vectors = Vec::new();
    for (name, payload) in [("empty", ""), ("small", SMALL), ("medium", &medium)] {
        let payload = payload.as_bytes();
        let body = compressed("lz4-frame", payload, None);
        let mut row = valid(format!("lz4, {name}"), &of(payload), &body, payload);
        row.hex = hex(&in_frame(&envelope(&of(payload), b""), &body));
        vectors.push(row);
    }
    let mut another = |name: String, error, bytes: Vec<u8>| {
        vectors.push(invalid(format!("lz4, {name}"), error, &bytes));
    };
    for length in [8 + head.len(), 9 + head.len(), whole.len() - 4, whole.len() - 1] {
        another(format!("cut to {length} bytes"), "damaged", whole[..length].to_vec());
    }
    let mut other = |name: &str, error, head: &Header, body: &[u8]| {
        another(name.to_owned(), error, in_frame(&envelope(head, b""), body));
    };
    let usual = of(payload);
    let zstd = compressed("zstd", payload, None);
    let skippable = &b"\x50\x2A\x4D\x18\x01\0\0\0x"[..];
    other("two frames", "damaged", &usual, &body.repeat(2));
    other("a byte after the frame", "damaged", &usual, &[&body[..], b"\0"].concat());
    other("a second skippable frame", "damaged", &usual, &[skippable, &body].concat());
    other("a skippable frame after", "damaged", &usual, &[&body[..], skippable].concat());
    other("a zstd frame after", "damaged", &usual, &[&body[..], &zstd].concat());
    other("a zstd frame", "damaged", &usual, &zstd);
    let of_zstd = Header { codec: codec_id("zstd"), ..usual.clone() };
    other("as zstd", "damaged", &of_zstd, &body);
    let bare = Header { codec: codec_id("lz4"), ..usual.clone() };
    other("a bare block", "unknown-codec", &bare, &compressed("lz4", payload, None));
    let encoded = Header { encoding: Some(EncodingId(0x10)), ..usual.clone() };
    other("encoding verbatim, named", "unknown-encoding", &encoded, &body);
    let needing = Header { dictionary: Some(70_000), ..usual.clone() };
    other("a dictionary", "missing-dictionary", &needing, &body);
    let longer = Header { payload_bytes: payload.len() as u32 + 1, ..usual.clone() };
    other("shorter than announced", "damaged", &longer, &body);
    let shorter = Header { payload_bytes: payload.len() as u32 - 1, ..usual.clone() };
    other("longer than announced", "damaged", &shorter, &body);
    let huge = Header { payload_bytes: u32::MAX, ..usual.clone() };
    other("4 GiB", "too-large", &huge, &body);
    let wrong = Header { checksum: Some(0), ..usual.clone() };
    other("checksum 0", "checksum-mismatch", &wrong, &body);
    vectors
}

/// Interop forms whose header has fields, some of which a reader must understand.
pub(crate) fn interop_fields() -> Vec<Vector> {
    let payload = SMALL.as_bytes();
    let mut vectors = Vec::new();
    for (name, codec) in [("zstd", "zstd"), ("lz4", "lz4-frame")] {
        let body = compressed(codec, payload, None);
        let of = |fields: Vec<Field>| Header { codec: codec_id(codec), fields, ..header(payload) };
        let form = |head: &Header| in_frame(&envelope(head, b""), &body);
        let writer = of(vec![field(FIELD_WRITER, b"w"), field(FIELD_VERSION, &[1])]);
        let mut row = valid(format!("{name}, a writer and a version"), &writer, &body, payload);
        row.hex = hex(&form(&writer));
        vectors.push(row);
        let (schema, base) = (field(FIELD_SCHEMA, &[1; 8]), field(FIELD_BASE, &[2; 8]));
        for (what, error, fields) in [
            ("a schema", "missing-schema", vec![schema.clone()]),
            ("a base", "missing-base", vec![base.clone()]),
            ("a schema, then a base", "missing-schema", vec![schema.clone(), base.clone()]),
            ("a base, then a schema", "missing-base", vec![base, schema.clone()]),
            ("an unknown critical field", "unknown-field", vec![field(0x80, b"")]),
        ] {
            let name = format!("{name}, {what}");
            vectors.push(invalid(name, error, &form(&of(fields))));
        }
        // What else is wrong with it is found before the field, or is not looked at.
        let encoded = Header { encoding: Some(EncodingId(0x12)), ..of(vec![schema.clone()]) };
        let name_of = |what: &str| format!("{name}, a schema and {what}");
        vectors.push(invalid(name_of("an encoding"), "unknown-encoding", &form(&encoded)));
        let huge = Header { payload_bytes: u32::MAX, ..of(vec![schema]) };
        vectors.push(invalid(name_of("4 GiB"), "missing-schema", &form(&huge)));
    }
    vectors
}

pub(crate) fn interop() -> Vec<Vector> {
    let medium = medium();
    let payload = medium.as_bytes();
    let of = |payload: &[u8]| Header { codec: codec_id("zstd"), ..header(payload) };
    let body = compressed("zstd", payload, None);
    let head = envelope(&of(payload), b"");
    let whole = in_frame(&head, &body);
    let mut vectors = Vec::new();
    for (name, payload) in [("empty", ""), ("small", SMALL), ("medium", &medium)] {
        let payload = payload.as_bytes();
        let body = compressed("zstd", payload, None);
        let mut row = valid(name, &of(payload), &body, payload);
        row.hex = hex(&in_frame(&envelope(&of(payload), b""), &body));
        vectors.push(row);
    }
    for length in [3, 7, 8, 12, 8 + head.len(), 9 + head.len(), whole.len() - 1] {
        let error = if length < 4 { "not-an-envelope" } else { "damaged" };
        vectors.push(invalid(format!("cut to {length} bytes"), error, &whole[..length]));
    }
    let mut another = |name: &str, error, bytes: Vec<u8>| {
        vectors.push(invalid(name, error, &bytes));
    };
    another("an envelope", "not-an-envelope", envelope(&of(payload), &body));
    another("a frame alone", "not-an-envelope", body.clone());
    another("two frames", "damaged", in_frame(&head, &body.repeat(2)));
    another("a byte after the frame", "damaged", [&whole[..], b"\0"].concat());
    another("a byte after the header", "damaged", in_frame(&[&head[..], b"\0"].concat(), &body));
    another("a skippable frame of 4 GiB", "damaged", {
        [&b"\x5C\x2A\x4D\x18\xFF\xFF\xFF\xFF"[..], &head, &body].concat()
    });
    let stored = Header { codec: codec_id("stored"), ..of(payload) };
    another("codec stored", "unknown-codec", in_frame(&envelope(&stored, b""), payload));
    let bare = Header { codec: codec_id("zstd-bare"), ..of(payload) };
    another("codec zstd-bare", "unknown-codec", in_frame(&envelope(&bare, b""), &body));
    let encoded = Header { encoding: Some(EncodingId(0x12)), ..of(payload) };
    another("an encoding", "unknown-encoding", in_frame(&envelope(&encoded, b""), &body));
    let needing = Header { dictionary: Some(70_000), ..of(payload) };
    another("a dictionary", "missing-dictionary", in_frame(&envelope(&needing, b""), &body));
    let longer = Header { payload_bytes: payload.len() as u32 + 1, ..of(payload) };
    another("shorter than announced", "damaged", in_frame(&envelope(&longer, b""), &body));
    let huge = Header { payload_bytes: u32::MAX, ..of(payload) };
    another("4 GiB", "too-large", in_frame(&envelope(&huge, b""), &body));
    let wrong = Header { checksum: Some(0), ..of(payload) };
    another("checksum 0", "checksum-mismatch", in_frame(&envelope(&wrong, b""), &body));
    vectors
}
