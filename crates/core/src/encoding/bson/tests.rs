//! Tests of `bson`: the examples of bsonspec.org byte by byte, what is refused, and what hostile
//! bytes may do.
//!
//! Bytes are written out by hand from the specification; a test that compares only with our own
//! decoder would pass with both of them wrong.

use super::Bson;
use crate::document::{Document, DocumentError};
use crate::encoding::cursor::testing::*;
use crate::encoding::{DecodeError, DocumentEncoding, Refusal};
use crate::limits::NESTING_DEPTH_MAX;

const SAMPLE: &str = r#"{"a":[1,-1,3000000000,1.5,"text",null,true],"é":{"b":"c","d":[]}}"#;

fn encoded(json: &str) -> String {
    encode_hex(&Bson, json).unwrap()
}

fn decoded(hex: &str) -> String {
    decode_hex(&Bson, hex).unwrap()
}

/// A document of one element.
fn document_of(element: &str) -> String {
    let length = bytes_of_hex(element).len() as u32 + 5;
    let length: String = length.to_le_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{length}{element}00")
}

#[test]
fn the_examples_of_the_specification_are_written_and_read() {
    for (json, hex) in [
        (r#"{"hello":"world"}"#, "16000000 02 68656c6c6f00 06000000 776f726c6400 00"),
        (
            r#"{"BSON":["awesome",5.05,1986]}"#,
            "31000000 04 42534f4e00 26000000 02 3000 08000000 617765736f6d6500 \
             01 3100 3333333333331440 10 3200 c2070000 00 00",
        ),
        ("{}", "05000000 00"),
    ] {
        let hex: String = hex.split_whitespace().collect();
        assert_eq!(encoded(json), hex, "{json}");
        assert_eq!(decoded(&hex), json);
    }
}

#[test]
fn every_value_takes_its_smallest_type() {
    for (json, element) in [
        ("null", "0a6100"),
        ("false", "08610000"),
        ("true", "08610001"),
        ("0", "10610000000000"),
        ("-1", "106100ffffffff"),
        ("2147483647", "106100ffffff7f"),
        ("-2147483648", "10610000000080"),
        ("2147483648", "1261000000008000000000"),
        ("-2147483649", "126100ffffff7fffffffff"),
        ("9223372036854775807", "126100ffffffffffffff7f"),
        ("-9223372036854775808", "1261000000000000000080"),
        ("1.0", "016100000000000000f03f"),
        ("-0", "0161000000000000000080"),
        (r#""""#, "0261000100000000"),
        (r#""\u0000""#, "026100020000000000"),
        (r#""é""#, "02610003000000c3a900"),
        ("{}", "0361000500000000"),
        ("[]", "0461000500000000"),
        ("[[]]", "0461000d0000000430000500000000 00"),
    ] {
        let json = format!("{{\"a\":{json}}}");
        let element: String = element.split_whitespace().collect();
        assert_eq!(encoded(&json), document_of(&element), "{json}");
        round_trip(&Bson, &json).unwrap();
    }
}

#[test]
fn keys_of_arrays_are_counted_and_not_believed() {
    let many = format!("{{\"a\":[{}]}}", vec!["null"; 1001].join(","));
    let hex = encoded(&many);
    assert!(hex.contains("0a31303000"), "100");
    assert!(hex.ends_with("0a39393900 0a3130303000 00 00".replace(' ', "").as_str()));
    assert_eq!(decoded(&document_of("0461000a0000000a78000a0000")), r#"{"a":[null,null]}"#);
}

#[test]
fn what_all_encodings_carry_survives() {
    for text in carried_by_all() {
        round_trip(&Bson, &text).unwrap();
    }
    round_trip(&Bson, SAMPLE).unwrap();
}

#[test]
fn what_it_can_not_hold_is_refused_by_name() {
    for text in [
        "1e400",
        "0.1234567890123456789",
        "123456789012345678901234567890",
        "9223372036854775808",
        "18446744073709551615",
    ] {
        let refusal = round_trip(&Bson, &format!("{{\"a\":[{text}]}}")).unwrap_err();
        assert_eq!(refusal, Refusal::Number { text: text.into() });
    }
    for text in [r#"{"a":"\ud800"}"#, r#"{"\udfff":1}"#] {
        assert_eq!(round_trip(&Bson, text), Err(Refusal::LoneSurrogate));
    }
    assert_eq!(round_trip(&Bson, r#"{"a\u0000":1}"#), Err(Refusal::NulInKey));
    for text in ["[]", "1", r#""a""#, "null"] {
        assert_eq!(round_trip(&Bson, text), Err(Refusal::TopIsNotAnObject));
    }
}

#[test]
fn what_json_has_no_word_for_is_refused_by_name() {
    for (element, what) in [
        ("05610001000000 00ff", "binary data"),
        ("066100", "undefined"),
        ("076100000000000000000000000000", "an ObjectId"),
        ("0961000000000000000000", "a date"),
        ("0b610061000000", "a regular expression"),
        ("0c61000100000000", "a DBPointer"),
        ("0d61000100000000", "JavaScript code"),
        ("0e61000100000000", "a symbol"),
        ("0f6100", "JavaScript code"),
        ("1161000000000000000000", "a timestamp"),
        ("13610000000000000000000000000000000000", "a decimal128"),
        ("7f6100", "a minimum or maximum key"),
        ("ff6100", "a minimum or maximum key"),
    ] {
        let error = decode_hex(&Bson, &document_of(element)).unwrap_err();
        let expected = DecodeError::NotJson { encoding: "bson", what, offset: 4 };
        assert_eq!(error, expected, "{element}");
    }
    for bits in ["000000000000f87f", "000000000000f0ff"] {
        let error = decode_hex(&Bson, &document_of(&format!("016100{bits}"))).unwrap_err();
        let what = "NaN or an infinity";
        assert_eq!(error, DecodeError::NotJson { encoding: "bson", what, offset: 7 });
    }
}

#[test]
fn broken_bytes_are_refused_with_their_place() {
    let ends = "the end of the input within a value";
    let short = "a document shorter than its length field";
    let early = "a document that ends before its length";
    let past = "a value that reaches past its document";
    let around = "a document that reaches past the one around it";
    let terminator = "a string without a terminator";
    for (hex, what, offset) in [
        ("", ends, 0),
        ("05000000", ends, 4),
        ("0400000000", short, 0),
        ("ffffffff00", short, 0),
        ("0600000000", ends, 5),
        ("060000000000", early, 4),
        ("050000000000", "bytes after the value", 5),
        ("ffffff7f00", ends, 5),
        ("0d000000 10 6100 00000000 00 00", early, 11),
        ("08000000026100 00", ends, 8),
        ("0c000000 14 6100 0000000000", "an unknown type of element", 4),
        ("0a000000 0a ff00 000000", "a key that is not UTF-8", 5),
        ("08000000 08 6100 02", "a boolean that is neither 0 nor 1", 7),
        ("0e000000 02 6100 00000000 0000 00", terminator, 7),
        ("0e000000 02 6100 ffffffff 0000 00", terminator, 7),
        ("0e000000 02 6100 01000000 0100 00", terminator, 11),
        ("0e000000 02 6100 02000000 ff00 00", "a string that is not UTF-8", 11),
        ("0e000000 02 6100 ffffff7f 0000 00", ends, 14),
        // A document inside whose length reaches to the end of the one around it, or past it.
        ("0d000000 03 6100 06000000 00 00", around, 7),
        ("0d000000 03 6100 07000000 00 00", ends, 13),
        ("0d000000 03 6100 04000000 00 00", short, 7),
        ("0c000000 03 6100 05000000 00", around, 7),
        ("0b000000 10 6100 00000000", past, 10),
    ] {
        let hex: String = hex.split_whitespace().collect();
        let error = decode_hex(&Bson, &hex).unwrap_err();
        assert_eq!(error, DecodeError::Corrupt { encoding: "bson", what, offset }, "{hex}");
    }
}

#[test]
fn every_part_of_a_value_is_refused() {
    let bytes = round_trip(&Bson, SAMPLE).unwrap();
    truncations_are_refused(&Bson, &bytes);
}

#[test]
fn damaged_bytes_never_panic_and_never_cost_memory() {
    let bytes = round_trip(&Bson, SAMPLE).unwrap();
    damage_is_survived(&Bson, &bytes, 40_000);
}

#[test]
fn nesting_is_bounded_by_the_limit_and_not_by_the_stack() {
    round_trip_document(&Bson, &nested(100_000, true)).unwrap();
    let limit = NESTING_DEPTH_MAX;
    let mut deep = Vec::new();
    for level in 0..=limit {
        let length = ((limit - level) * 8 + 5) as i32;
        deep.extend_from_slice(&length.to_le_bytes());
        if level < limit {
            deep.extend_from_slice(&[0x03, b'a', 0]);
        }
    }
    deep.extend(vec![0; limit + 1]);
    let too_deep = DecodeError::Document(DocumentError::TooDeep { limit });
    assert_eq!(Bson.decode(&deep, &mut Document::new()), Err(too_deep));
}
