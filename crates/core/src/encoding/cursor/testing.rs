//! What the tests of the binary encodings share: documents from JSON, seeded random numbers, and
//! the checks that every one of them must pass.
//!
//! The checks are here and not beside each encoding, so that a payload that broke one encoding is
//! tried on all.

use crate::document::{Document, Fidelity, first_difference};
use crate::encoding::{DecodeError, DocumentEncoding, Parser, Refusal};

/// A small generator of random numbers (splitmix64): the same seed gives the same tests.
pub(in crate::encoding) struct Random(u64);

impl Random {
    pub(in crate::encoding) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(in crate::encoding) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(in crate::encoding) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

/// The document of a JSON text.
pub(in crate::encoding) fn document(json: &str) -> Document {
    let mut document = Document::new();
    crate::json::parse(Parser::Ordinary, json.as_bytes(), &mut document).unwrap();
    document
}

/// The JSON text of a document.
pub(in crate::encoding) fn json(document: &Document) -> String {
    let mut out = Vec::new();
    crate::json::write(document, &mut out);
    String::from_utf8(out).unwrap()
}

/// The encoded form of a JSON text, in hexadecimal.
pub(in crate::encoding) fn encode_hex(
    encoding: &dyn DocumentEncoding,
    text: &str,
) -> Result<String, Refusal> {
    let mut out = Vec::new();
    encoding.encode(&document(text), &mut out)?;
    Ok(out.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The bytes that a hexadecimal text stands for.
pub(in crate::encoding) fn bytes_of_hex(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    let pair = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(pair).collect()
}

/// The JSON text of encoded bytes in hexadecimal.
pub(in crate::encoding) fn decode_hex(
    encoding: &dyn DocumentEncoding,
    hex: &str,
) -> Result<String, DecodeError> {
    let mut decoded = Document::new();
    encoding.decode(&bytes_of_hex(hex), &mut decoded)?;
    Ok(json(&decoded))
}

/// Encodes and decodes a document and compares; answers the encoded bytes. What stood in `out`
/// before must stay.
pub(in crate::encoding) fn round_trip_document(
    encoding: &dyn DocumentEncoding,
    original: &Document,
) -> Result<Vec<u8>, Refusal> {
    let mut out = b"before".to_vec();
    encoding.encode(original, &mut out)?;
    let bytes = out.strip_prefix(b"before").expect("what stood before the value").to_vec();
    let mut decoded = document("[1,[2,{\"left\":\"over\"}]]");
    encoding.decode(&bytes, &mut decoded).expect("own bytes are decoded");
    assert_eq!(first_difference(original, &decoded, Fidelity::Value), None);
    assert_eq!(decoded.depth(), 0);
    // Ends are no part of the comparison, and walking needs them.
    for (a, b) in original.nodes().iter().zip(decoded.nodes()) {
        if let crate::document::Node::Array { .. } | crate::document::Node::Object { .. } = a {
            assert_eq!(a, b);
        }
    }
    Ok(bytes)
}

/// [`round_trip_document`] of a JSON text.
pub(in crate::encoding) fn round_trip(
    encoding: &dyn DocumentEncoding,
    text: &str,
) -> Result<Vec<u8>, Refusal> {
    round_trip_document(encoding, &document(text))
}

/// Payloads that every binary encoding carries.
pub(in crate::encoding) fn carried_by_all() -> Vec<String> {
    let mut all: Vec<String> = [
        r#"{}"#,
        r#"{"a":{}}"#,
        r#"{"a":[]}"#,
        r#"{"a":[[],{},[[]],{"b":{}}],"c":[{"d":[]}]}"#,
        r#"{"a":null,"b":true,"c":false}"#,
        r#"{"a":-0,"b":1.0,"c":12.50,"d":-0.0,"e":1e22,"f":5e-324,"g":1.7976931348623157e308}"#,
        r#"{"a":0.1,"b":0.30000000000000004,"c":1e-7,"d":65504.0,"e":65505.5,"f":3.4028235e38}"#,
        r#"{"a":1,"a":2,"b":{"a":3,"a":3}}"#,
        r#"{"":1,"a":{"":""}}"#,
        r#"{"a":"\u0000","b":"x\u0000y"}"#,
        r#"{"a":"é","b":"日本語","c":"😀","d":"\ud83d\ude00","é":"ü","日本":[1]}"#,
        r#"{"a":"\u007f\u0080\u07ff\u0800\uffff"}"#,
    ]
    .map(String::from)
    .to_vec();
    let mut integers: Vec<String> = Vec::new();
    for power in 0..64 {
        for difference in [-1, 0, 1] {
            let value = (1_i128 << power) + difference;
            for value in [value, -value] {
                if i64::try_from(value).is_ok() {
                    integers.push(value.to_string());
                }
            }
        }
    }
    integers.push(i64::MIN.to_string());
    all.push(format!("{{\"all\":[{}]}}", integers.join(",")));
    all.extend(integers.iter().map(|value| format!("{{\"a\":{value}}}")));
    let lengths = [
        1, 7, 8, 9, 15, 16, 17, 22, 23, 24, 25, 30, 31, 32, 33, 55, 56, 57, 58, 63, 64, 65, 66, 67,
        127, 128, 129, 254, 255, 256, 257, 65534, 65535, 65536, 65537,
    ];
    for length in lengths {
        let ascii = "k".repeat(length);
        let other = format!("{}é", "k".repeat(length.saturating_sub(2)));
        for text in [ascii, other] {
            all.push(format!("{{\"{text}\":\"{text}\",\"a\":[\"{text}\",\"{text}\"]}}"));
        }
    }
    for count in [14, 15, 16, 17, 22, 23, 24, 25, 255, 256, 257, 65535, 65536] {
        all.push(format!("{{\"a\":[{}]}}", vec!["0"; count].join(",")));
        let pairs: Vec<String> = (0..count).map(|index| format!("\"{index}\":{index}")).collect();
        all.push(format!("{{{}}}", pairs.join(",")));
        all.push(format!("{{\"a\":[{{{}}},7]}}", pairs.join(",")));
    }
    all
}

/// Every start of the bytes that is not the whole must be refused.
pub(in crate::encoding) fn truncations_are_refused(encoding: &dyn DocumentEncoding, bytes: &[u8]) {
    let mut decoded = Document::new();
    for length in 0..bytes.len() {
        assert!(encoding.decode(&bytes[..length], &mut decoded).is_err(), "{length}");
    }
    let mut longer = bytes.to_vec();
    longer.push(0);
    assert!(encoding.decode(&longer, &mut decoded).is_err(), "a byte after the value");
}

/// Damaged bytes must give an error or some document, never a panic or a flood of memory. What
/// they give must be sound enough to be written as JSON and encoded again.
pub(in crate::encoding) fn damage_is_survived(
    encoding: &dyn DocumentEncoding,
    bytes: &[u8],
    rounds: usize,
) {
    let mut random = Random::new(bytes.len() as u64);
    let mut decoded = Document::new();
    let mut again = Vec::new();
    for _ in 0..rounds {
        let mut damaged = bytes.to_vec();
        for _ in 0..=random.below(4) {
            let index = random.below(damaged.len());
            match random.below(4) {
                0 => damaged[index] ^= 1 << random.below(8),
                1 => damaged[index] = random.next() as u8,
                2 => drop(damaged.remove(index)),
                _ => damaged.insert(index, random.next() as u8),
            }
            if damaged.is_empty() {
                damaged.push(0);
            }
        }
        if encoding.decode(&damaged, &mut decoded).is_ok() {
            assert_eq!(decoded.depth(), 0);
            json(&decoded);
            again.clear();
            if encoding.encode(&decoded, &mut again).is_ok() {
                let mut twice = Document::new();
                encoding.decode(&again, &mut twice).unwrap();
                assert_eq!(first_difference(&decoded, &twice, Fidelity::Value), None);
            }
        }
        assert!(decoded.memory_bytes() <= 4096 + damaged.len() * 128, "{}", damaged.len());
    }
}

/// Arrays in arrays, or objects in objects, `depth` levels deep.
pub(in crate::encoding) fn nested(depth: usize, is_object: bool) -> Document {
    let mut document = Document::new();
    for level in 0..depth {
        document.open(is_object).unwrap();
        if is_object && level + 1 < depth {
            document.push_string(b"a").unwrap();
        }
    }
    for level in 0..depth {
        document.close(u32::from(level > 0));
    }
    document
}
