//! Vectors of the columnar encoding, alone and in envelopes, with a dictionary file and without.
//!
//! What the encoder chooses may get better, so most rows say only what must be read. A form that is
//! invalid is wrong in one way: without that it would decode to a text of just the length that the
//! tests announce.

use std::path::Path;
use std::sync::Arc;

use cinch_core::dictionary::{Dictionary, FileContent, write_file};
use cinch_core::encoding::columnar::learn;
use cinch_core::encoding::{EncodingId, Engine, encoding_named};
use cinch_core::envelope::Header;

use crate::Vector;
use crate::forge::{
    DICTIONARY_FILE, SMALL, codec_id, compressed, dictionary as carts, encoded as document_encoded,
    envelope, header, hex, invalid, medium, valid,
};
use rows::{EXACT, FORMS, REFUSED, TEXTS};

#[path = "columnar_rows.rs"]
mod rows;

const NAME: &str = "columnar";

const ID: EncodingId = EncodingId(0x16);

/// The dictionary's file below `vectors/`.
pub(crate) const FILE: &str = "dictionaries/orders.cinchdict";

/// The length that the tests announce for an encoded form that does not decode, in bytes.
const TEXT_BYTES: usize = 1 << 10;

/// Orders of a shop, of which no two are the same.
fn order(at: usize) -> String {
    let city = ["Berlin", "Paris", "Rome"][at % 3];
    let gift = if at.is_multiple_of(7) { ",\"gift\":true" } else { "" };
    let (day, minute) = (at % 28 + 1, at % 60);
    format!(
        r#"{{"id":{},"city":"{city}","at":"2026-11-{day:02}T10:{minute:02}:00Z","total":{}.{:02},"#,
        10_000 + at,
        at % 90,
        at % 100,
    ) + &format!(
        r#""key":"{:016x}","items":[{{"sku":"A-{:04}","n":1}},{{"sku":"A-{:04}","n":2}}]{gift}}}"#,
        (at as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15),
        at % 50,
        at % 13,
    )
}

/// The bytes of a dictionary for orders, as the first release learned it.
pub(crate) fn dictionary_bytes() -> Vec<u8> {
    let orders: Vec<String> = (0..200).map(order).collect();
    let payloads: Vec<(&[u8], u32)> =
        orders.iter().enumerate().map(|(at, text)| (text.as_bytes(), at as u32)).collect();
    let model = learn(&payloads, 5).expect("orders have much in common").bytes;
    let content = FileContent { codec: b"no codec", model: Some(&model), ..FileContent::default() };
    let without_codec = write_file(70_000, content);
    let dictionary = Dictionary::new(without_codec).expect("the file is sound");
    let codec: Vec<u8> =
        orders[..20].iter().flat_map(|text| encoded(text.as_bytes(), Some(&dictionary))).collect();
    let description = r#"{"what":"orders of the test vectors"}"#;
    let content =
        FileContent { codec: &codec, model: Some(&model), description, ..FileContent::default() };
    write_file(70_000, content)
}

/// The dictionary as it stands in the folder: a later release may learn another.
fn orders() -> Arc<Dictionary> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors").join(FILE);
    let content = std::fs::read(path).expect("the dictionary was written");
    Dictionary::new(content).expect("the dictionary is sound")
}

fn encoded(text: &[u8], dictionary: Option<&Dictionary>) -> Vec<u8> {
    let mut encoded = Vec::new();
    let Engine::Text(engine) = encoding_named(NAME).expect("it exists").engine else {
        panic!("{NAME} has no engine of text")
    };
    engine.encoder(dictionary).encode(text, &mut encoded).expect("the text is usual");
    let mut decoded = Vec::new();
    let mut decoder = engine.decoder(dictionary);
    decoder.decode(&encoded, text.len(), &mut decoded).expect("it comes back");
    assert_eq!(decoded, text);
    encoded
}

/// Whether an encoded form decodes to just this text.
fn is_form_of(bytes: &[u8], text: &[u8]) -> bool {
    let Engine::Text(engine) = encoding_named(NAME).expect("it exists").engine else {
        return false;
    };
    let mut decoded = Vec::new();
    engine.decoder(None).decode(bytes, text.len(), &mut decoded).is_ok() && decoded == text
}

fn number(mut value: usize, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// An encoded form with these additions, where only the root is changed.
fn form(style: u8, additions: &[u8], rest: &[u8]) -> Vec<u8> {
    let mut encoded = vec![0x80 | style];
    number(additions.len() + 2, &mut encoded);
    [&encoded[..], &[1, 0], additions, rest].concat()
}

/// A form of a tuple of two: a value under test, and an array that makes the text long enough.
/// `value_bytes` is the length of the value's text.
fn beside(additions: &[u8], structure: &[u8], rest: &[u8], value_bytes: usize) -> Vec<u8> {
    // `[`, the value, `,[1`, `,1` again and again, `]]`, and a line feed where a byte is left.
    let left = TEXT_BYTES - value_bytes - 4;
    let mut length = Vec::new();
    number(left / 2, &mut length);
    let additions = [&[1, 0x0F, 2], additions, &[1, 5, 1, 0, b'1', 0]].concat();
    form((left as u8 % 2) << 4, &additions, &[structure, &length, rest].concat())
}

fn row(name: impl Into<String>, bytes: &[u8]) -> Vector {
    Vector {
        name: name.into(),
        encoding: Some(NAME),
        hex: hex(bytes),
        check: "decode",
        ..Vector::default()
    }
}

fn read(name: impl Into<String>, bytes: &[u8], text: &[u8]) -> Vector {
    let row = row(name, bytes);
    assert!(is_form_of(bytes, text), "{}", row.name);
    let payload_text = str::from_utf8(text).ok().map(str::to_owned);
    let payload_hex = payload_text.is_none().then(|| hex(text));
    Vector { payload_text, payload_hex, result: "valid", ..row }
}

pub(crate) fn encodings() -> Vec<Vector> {
    let mut vectors = Vec::new();
    for text in EXACT {
        let row =
            read(format!("exactly: {text}"), &encoded(text.as_bytes(), None), text.as_bytes());
        vectors.push(Vector { text: Some((*text).to_owned()), check: "encode_exact", ..row });
    }
    for text in TEXTS {
        vectors.push(read(*text, &encoded(text.as_bytes(), None), text.as_bytes()));
    }
    for (name, style, additions, rest, text) in FORMS {
        vectors.push(read(*name, &form(*style, additions, rest), text));
    }
    vectors.push(read(
        "as many slots as there may be",
        &many_slots(63),
        many_slots_text().as_bytes(),
    ));
    let deep = format!("{}1{}", "[".repeat(256), "]".repeat(256));
    vectors.push(read("256 levels", &encoded(deep.as_bytes(), None), deep.as_bytes()));
    let chains: Vec<String> =
        (0..64).map(|at| format!("\"{at}\":{}{}", "[".repeat(255), "]".repeat(255))).collect();
    let many = format!("{{{}}}", chains.join(","));
    let deep = format!("[{deep}]");
    let long = [("257 levels", "too-deep", &*deep), ("16,385 slots", "too-many-keys", &*many)];
    for (name, error, text) in REFUSED.iter().copied().chain(long) {
        vectors.push(Vector {
            text: Some(text.to_owned()),
            result: "refused",
            error: Some(error),
            check: "encode_exact",
            ..row(format!("refused: {name}"), b"")
        });
    }
    for (name, bytes) in corrupt() {
        let row = row(name, &bytes);
        vectors.push(Vector { result: "invalid", error: Some("corrupt"), ..row });
    }
    vectors
}

/// A text of 321 slots with values. 250 have a variant of a tuple of 64 that no value has, and one
/// has such a variant of `last`.
fn many_slots(last: u8) -> Vec<u8> {
    let mut additions = vec![1, 0x0F, 64];
    for at in 0..256 {
        if at % 4 == 0 {
            additions.extend([1, 0x0F, 4]);
        }
        let variants = if at <= 250 { 2 } else { 1 };
        let constant = "1".repeat(if at == 255 { TEXT_BYTES - 640 } else { 1 });
        additions.extend([&[variants, 0], constant.as_bytes(), &[0]].concat());
        match at {
            0..250 => additions.extend([0x0F, 64]),
            250 => additions.extend([0x0F, last]),
            _ => {}
        }
    }
    form(0, &additions, &[0; 251])
}

fn many_slots_text() -> String {
    let last = format!("[1,1,1,{}]", "1".repeat(TEXT_BYTES - 640));
    format!("[{},{last}]", ["[1,1,1,1]"; 63].join(","))
}

/// Lists that are copies of one of 2,048 keys, none of which is the list of an object.
fn many_keys(lists: usize) -> Vec<u8> {
    let mut additions = Vec::new();
    number(lists + 1, &mut additions);
    additions.extend([0x0C, 4, 0, 0x80, 0x10, 0, 0]);
    additions.extend([1; 2047]);
    for _ in 1..lists {
        additions.extend([4, 0x80, 0x10, 0]);
    }
    beside(&additions, &[0], &[], 4)
}

/// What breaks the rules, by hand.
fn corrupt() -> Vec<(String, Vec<u8>)> {
    // An array of integers and a string, and beside them an array of ones.
    let whole = beside(
        &[1, 0x0F, 2, 1, 5, 1, 6, 0, 0, 1, 1],
        &[8],
        &[0x20, 1, 2, 2, 0, 1, 0, 1, 0, 1, 0, 1, b'a', 0],
        23,
    );
    assert!(is_sound(&whole));
    let cut = |length| (format!("cut to {length} bytes"), whole[..length].to_vec());
    let mut rows: Vec<(String, Vec<u8>)> = (0..whole.len()).map(cut).collect();
    let mut add = |name: &str, bytes: Vec<u8>| {
        assert!(!is_sound(&bytes), "{name}");
        rows.push((name.to_owned(), bytes));
    };
    add("a byte after the texts", [&whole[..], &[0]].concat());
    add("a text after the texts", [&whole[..], b"a\0"].concat());
    add("bit 0x40 of the first byte", [&[whole[0] | 0x40], &whole[1..]].concat());
    add("no model", vec![0]);
    let one = [1, 0, b'1', 0];
    let sound = beside(&one, &[], &[], 1);
    assert!(is_sound(&sound));
    let [style, additions_bytes, _, _, ref rest @ ..] = sound[..] else { return rows };
    let with_head = |length: u8, head: &[u8]| [&[style, length], head, rest].concat();
    let end = usize::from(additions_bytes) + 2;
    add(
        "a byte after the additions",
        [&[style, additions_bytes + 1], &sound[2..end], &[0], &sound[end..]].concat(),
    );
    add("additions longer than the form", with_head(0x7F, &[1, 0]));
    add("an unknown changed slot", with_head(additions_bytes, &[1, 1]));
    add("more changed slots than slots", with_head(additions_bytes + 1, &[2, 0, 0]));
    add("a text a byte shorter than announced", beside(&one, &[], &[], 2));
    add("a text a byte longer than announced", beside(&one, &[], &[], 0));
    add("a slot without variants", beside(&[0], &[], &[], 0));
    for (name, additions, structure, rest, value_bytes) in rows::CORRUPT {
        add(name, beside(additions, structure, rest, *value_bytes));
    }
    let of_form = |code: u8| beside(&[1, 6, code, 0], &[], &[2], 1);
    assert!(is_sound(&of_form(0x70)));
    for code in rows::UNKNOWN_FORMS {
        add(&format!("form {code:#04x}"), of_form(*code));
    }
    let of_way = |way: u8| beside(&[1, 5, 1, 6, 0, 0], &[8], &[&[way], &[0; 8][..]].concat(), 17);
    assert!(is_sound(&of_way(0)));
    for way in rows::UNKNOWN_WAYS {
        add(&format!("way {way:#04x} of integers"), of_way(*way));
    }
    let of_tuple = |length: u8| {
        let additions = [&[1, 0x0F, length], &one.repeat(length.into())[..]].concat();
        beside(&additions, &[], &[], 2 * usize::from(length) + 1)
    };
    assert!(is_sound(&of_tuple(64)));
    add("a tuple of 65", of_tuple(65));
    let of_chain = |length: usize| {
        let additions = [&[1, 5].repeat(length)[..], &one].concat();
        beside(&additions, &vec![1; length], &[], 2 * length + 1)
    };
    assert!(is_sound(&of_chain(255)));
    add("257 slots above a slot", of_chain(256));
    assert!(is_sound(&many_keys(512)) && is_sound(&many_slots(63)));
    add("2^20 and 2,048 keys in lists", many_keys(513));
    add("16,385 slots", many_slots(64));
    rows
}

/// Whether a form of [`beside`] decodes to as many bytes as are announced.
fn is_sound(bytes: &[u8]) -> bool {
    let Engine::Text(engine) = encoding_named(NAME).expect("it exists").engine else {
        return false;
    };
    engine.decoder(None).decode(bytes, TEXT_BYTES, &mut Vec::new()).is_ok()
}

/// What envelopes hold that were packed with a dictionary file, and what they can't hold.
pub(crate) fn envelopes() -> Vec<Vector> {
    let (orders, carts, medium) = (orders(), carts(), medium());
    let of = |codec: &str, payload: &[u8]| Header {
        codec: codec_id(codec),
        encoding: Some(ID),
        ..header(payload)
    };
    let mut vectors = Vec::new();
    for (size, text) in [("small", SMALL), ("medium", &medium), ("null", "null")] {
        for codec in ["stored", "zstd-bare"] {
            let payload = text.as_bytes();
            let body = compressed(codec, &encoded(payload, None), None);
            vectors.push(valid(format!("{size}, {codec}"), &of(codec, payload), &body, payload));
        }
    }
    let no_text = form(0, &[1, 2], b"\xFF\xFE\0");
    vectors.push(valid("no text", &of("stored", b"\xFF\xFE"), &no_text, b"\xFF\xFE"));
    let with = |row: Vector| Vector { dictionary: Some(FILE), ..row };
    let of_orders = |codec: &str, payload: &[u8]| Header {
        dictionary: Some(orders.id()),
        ..of(codec, payload)
    };
    let known = order(1_000);
    let spaced = known.replace(",\"", ", \"").replace(":\"", ": \"");
    let spaced = spaced.replace("\":", "\": ").replace(":  ", ": ").replace("},{", "}, {");
    let new = known.replace("\"city\":", "\"country\":{\"code\":[1,\"x\"]},\"city\":");
    let other = known.replace("1},{", "1.5,\"note\":null},{").replace("Berlin", "Oslo");
    let several = format!("[{},{}]", order(1_001), order(1_002));
    let rows: [(&str, &str); 7] = [
        ("an order", &known),
        ("an order with spaces", &spaced),
        ("an order with new keys", &new),
        ("an order with new variants", &other),
        ("orders in an array", &several),
        ("a cart", &medium),
        ("null", "null"),
    ];
    for (name, text) in rows {
        let payload = text.as_bytes();
        let encoded = encoded(payload, Some(&orders));
        for codec in ["lz4", "zstd", "zstd-bare"] {
            let body = compressed(codec, &encoded, Some(&orders));
            let name = format!("{name}, {codec} with a dictionary file");
            vectors.push(with(valid(name, &of_orders(codec, payload), &body, payload)));
        }
    }
    // Other encodings and other dictionaries.
    let payload = known.as_bytes();
    for codec in ["lz4", "zstd-bare"] {
        let header = Header { encoding: None, ..of_orders(codec, payload) };
        let body = compressed(codec, payload, Some(&orders));
        let name = format!("verbatim, {codec} with a dictionary file");
        vectors.push(with(valid(name, &header, &body, payload)));
    }
    let (bytes, text) = document_encoded("msgpack", &known);
    let msgpack = of_orders("zstd-bare", text.as_bytes());
    let msgpack = Header { encoding: Some(EncodingId(0x12)), ..msgpack };
    let body = compressed("zstd-bare", &bytes, Some(&orders));
    let name = "msgpack, zstd-bare with a dictionary file";
    vectors.push(with(valid(name, &msgpack, &body, text.as_bytes())));
    let of_carts = Header { dictionary: Some(carts.id()), ..of("zstd-bare", medium.as_bytes()) };
    let body = compressed("zstd-bare", &encoded(medium.as_bytes(), None), Some(&carts));
    let row = valid("a dictionary without a model", &of_carts, &body, medium.as_bytes());
    vectors.push(Vector { dictionary: Some(DICTIONARY_FILE), ..row });

    let bytes = encoded(payload, None);
    let whole = of("stored", payload);
    let mut damaged = |name: &str, header: &Header, body: &[u8]| {
        vectors.push(invalid(name, "damaged", &envelope(header, body)));
    };
    damaged("nothing", &whole, b"");
    damaged("last byte cut off", &whole, &bytes[..bytes.len() - 1]);
    damaged("half of it", &whole, &bytes[..bytes.len() / 2]);
    damaged("a byte after the end", &whole, &[&bytes[..], b"\0"].concat());
    damaged("a shorter text", &of("stored", &[payload, b" "].concat()), &bytes);
    damaged("a longer text", &of("stored", &payload[1..]), &bytes);
    damaged("more bytes than the bound", &of("stored", b"0"), &[b'0'; 8 + 64 + 1]);
    let few = form(0, &[1, 5, 1, 0, 0], &[0xFF, 0xFF, 0xFF, 0xFF, 0x0F]);
    damaged("very many values of few bytes", &whole, &few);
    let learned = encoded(payload, Some(&orders));
    damaged("without the model", &whole, &learned);
    let takes_none = of_orders("stored", payload);
    vectors.push(with(invalid(
        "stored takes no dictionary",
        "damaged",
        &envelope(&takes_none, &learned),
    )));
    let body = compressed("zstd-bare", &learned, Some(&carts));
    let header = Header { dictionary: Some(carts.id()), ..of("zstd-bare", payload) };
    let row = invalid("another dictionary, without a model", "damaged", &envelope(&header, &body));
    vectors.push(Vector { dictionary: Some(DICTIONARY_FILE), ..row });
    let body = compressed("zstd-bare", &learned, Some(&orders));
    let header = of_orders("zstd-bare", payload);
    let value = envelope(&header, &body);
    vectors.push(invalid("not at hand", "missing-dictionary", &value));
    let row = invalid("another dictionary at hand", "missing-dictionary", &value);
    vectors.push(Vector { dictionary: Some(DICTIONARY_FILE), ..row });
    let cut = &value[..value.len() - 1];
    vectors.push(with(invalid("a body that is cut short", "damaged", cut)));
    let value = envelope(&Header { checksum: Some(0), ..header }, &body);
    vectors.push(with(invalid("checksum 0", "checksum-mismatch", &value)));
    vectors
}
