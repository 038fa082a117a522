//! Vectors of deltas: payloads that were packed against an earlier version, which the reader has
//! where a vector has a base.
//!
//! The invalid ones are wrong in one way each: with the base that they name and without the lie
//! they would be read.

use cinch_core::codec::CodecId;
use cinch_core::encoding::EncodingId;
use cinch_core::envelope::{FIELD_BASE, FIELD_SCHEMA, Field, Header, base_id, checksum};

use crate::Vector;
use crate::forge::{codec_id, compressed, compressed_after, envelope, header, hex, invalid, valid};

/// A payload, and the version before it.
const LATER: &str = r#"{"cart":["tea","tea"]}"#;
const EARLIER: &str = r#"{"cart":["tea"]}"#;

fn base(earlier: &[u8]) -> Field {
    Field { kind: FIELD_BASE, value: base_id(earlier).to_le_bytes().into() }
}

/// The header of a payload that is a delta against an earlier version.
fn delta(codec: &str, earlier: &[u8], payload: &[u8]) -> Header {
    Header { codec: codec_id(codec), fields: vec![base(earlier)], ..header(payload) }
}

/// A vector whose reader has these bytes.
fn with(earlier: &[u8], row: Vector) -> Vector {
    match str::from_utf8(earlier) {
        Ok(text) => Vector { base_text: Some(text.to_owned()), ..row },
        Err(_) => Vector { base_hex: Some(hex(earlier)), ..row },
    }
}

pub(crate) fn deltas() -> Vec<Vector> {
    let (earlier, payload) = (EARLIER.as_bytes(), LATER.as_bytes());
    let mut vectors = Vec::new();
    let mut read = |name: &str, codec: &str, earlier: &[u8], payload: &[u8]| {
        let body = compressed_after(codec, earlier, payload);
        let header = delta(codec, earlier, payload);
        let row = valid(format!("{name}, {codec}"), &header, &body, payload);
        vectors.push(with(earlier, row));
    };
    for codec in ["zstd-bare", "zstd"] {
        read("small", codec, earlier, payload);
    }
    let two = format!("[{EARLIER},{LATER}]");
    let moved = format!("[{LATER},{EARLIER},{LATER}]");
    read("parts that moved", "zstd-bare", two.as_bytes(), moved.as_bytes());
    read("an empty payload", "zstd-bare", earlier, b"");
    // What zstd would take for a dictionary of its own format is a prefix like any other.
    let like_a_dictionary = [b"\x37\xA4\x30\xEC\x01\0\0\0", earlier].concat();
    read("a base like a dictionary", "zstd-bare", &like_a_dictionary, payload);
    // A body that refers to nothing is as good as any.
    let raw = [&b"\0\0\xB1\0\0"[..], payload].concat();
    let row = valid("a raw block", &delta("zstd-bare", earlier, payload), &raw, payload);
    vectors.push(with(earlier, row));
    vectors.extend(refused(earlier, payload));
    vectors
}

fn refused(earlier: &[u8], payload: &[u8]) -> Vec<Vector> {
    let usual = delta("zstd-bare", earlier, payload);
    let body = compressed_after("zstd-bare", earlier, payload);
    let whole = envelope(&usual, &body);
    let mut vectors = vec![
        invalid("no base at hand", "missing-base", &whole),
        with(payload, invalid("another base at hand", "missing-base", &whole)),
        with(earlier, invalid("a byte after the end", "damaged", &[&whole[..], b"\0"].concat())),
    ];
    let mut changed = |name: &str, error, body: &[u8], change: &dyn Fn(&mut Header)| {
        let mut header = usual.clone();
        change(&mut header);
        vectors.push(with(earlier, invalid(name, error, &envelope(&header, body))));
    };
    let fields = |fields: &[Field]| {
        let fields = fields.to_vec();
        move |header: &mut Header| header.fields.clone_from(&fields)
    };
    let id = base_id(earlier);
    let of = |value: &[u8]| Field { kind: FIELD_BASE, value: value.to_vec() };
    let swapped = of(&id.to_be_bytes());
    changed("the id in the other byte order", "missing-base", &body, &fields(&[swapped]));
    let short = of(&id.to_le_bytes()[..7]);
    changed("an id of seven bytes", "missing-base", &body, &fields(&[short]));
    changed("two bases", "damaged", &body, &fields(&[base(earlier), base(earlier)]));
    changed("a dictionary too", "damaged", &body, &|h| h.dictionary = Some(70_000));
    changed("an encoding too", "damaged", &body, &|h| h.encoding = Some(EncodingId(0x10)));
    let schema = Field { kind: FIELD_SCHEMA, value: b"12345678".to_vec() };
    let then_schema = [base(earlier), schema];
    changed("a base at hand, then a schema", "missing-schema", &body, &fields(&then_schema));
    changed("an unknown codec", "unknown-codec", &body, &|h| h.codec = CodecId(0x7F));
    for codec in ["stored", "lz4"] {
        let alone = compressed(codec, payload, None);
        let name = format!("{codec} takes no base");
        changed(&name, "damaged", &alone, &|h| h.codec = codec_id(codec));
    }
    let named = [&b"\x21\x07\x16\xB1\0\0"[..], payload].concat();
    changed("a frame that names a dictionary", "missing-dictionary", &named, &|_| ());
    // Bodies made with other bytes than those of the id.
    let [upper_earlier, upper] = [earlier, payload].map(<[u8]>::to_ascii_uppercase);
    let other = compressed_after("zstd-bare", &upper_earlier, &upper);
    let of_other = |header: &mut Header| header.checksum = Some(checksum(&upper));
    changed("other bytes under the id", "checksum-mismatch", &other, &of_other);
    let further = compressed_after("zstd-bare", &[payload, &[b' '; 100]].concat(), payload);
    changed("a match from before the base", "damaged", &further, &|_| ());
    vectors
}
