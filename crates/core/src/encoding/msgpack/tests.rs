//! Tests of `msgpack`: the forms of the specification byte by byte, what is refused, and what
//! hostile bytes may do.
//!
//! Bytes are written out by hand from the specification; a test that compares only with our own
//! decoder would pass with both of them wrong.

use super::MessagePack;
use crate::document::DocumentError;
use crate::encoding::cursor::testing::*;
use crate::encoding::{DecodeError, DocumentEncoding, Refusal};
use crate::limits::NESTING_DEPTH_MAX;

const SAMPLE: &str = r#"{"a":[1,-1,200,70000,1.5,"text",null,true],"é":{"b":"c","d":[]}}"#;

fn encoded(json: &str) -> String {
    encode_hex(&MessagePack, json).unwrap()
}

fn decoded(hex: &str) -> String {
    decode_hex(&MessagePack, hex).unwrap()
}

fn error(hex: &str) -> DecodeError {
    decode_hex(&MessagePack, hex).unwrap_err()
}

#[test]
fn every_value_takes_its_smallest_form() {
    for (json, hex) in [
        ("null", "c0"),
        ("false", "c2"),
        ("true", "c3"),
        ("0", "00"),
        ("127", "7f"),
        ("128", "cc80"),
        ("255", "ccff"),
        ("256", "cd0100"),
        ("65535", "cdffff"),
        ("65536", "ce00010000"),
        ("4294967295", "ceffffffff"),
        ("4294967296", "cf0000000100000000"),
        ("9223372036854775807", "cf7fffffffffffffff"),
        ("9223372036854775808", "cf8000000000000000"),
        ("18446744073709551615", "cfffffffffffffffff"),
        ("-1", "ff"),
        ("-32", "e0"),
        ("-33", "d0df"),
        ("-128", "d080"),
        ("-129", "d1ff7f"),
        ("-32768", "d18000"),
        ("-32769", "d2ffff7fff"),
        ("-2147483648", "d280000000"),
        ("-2147483649", "d3ffffffff7fffffff"),
        ("-9223372036854775808", "d38000000000000000"),
        ("1.0", "cb3ff0000000000000"),
        ("12.50", "cb4029000000000000"),
        ("-0", "cb8000000000000000"),
        ("-0.0", "cb8000000000000000"),
        ("1e2", "cb4059000000000000"),
        (r#""""#, "a0"),
        (r#""a""#, "a161"),
        ("[]", "90"),
        ("{}", "80"),
        // The example on the front page of msgpack.org.
        (r#"{"compact":true,"schema":0}"#, "82a7636f6d70616374c3a6736368656d6100"),
    ] {
        assert_eq!(encoded(json), hex, "{json}");
        round_trip(&MessagePack, json).unwrap();
    }
}

#[test]
fn lengths_and_counts_take_their_smallest_form() {
    for (length, head) in [
        (31, "bf"),
        (32, "d920"),
        (255, "d9ff"),
        (256, "da0100"),
        (65535, "daffff"),
        (65536, "db00010000"),
    ] {
        let text = format!("\"{}\"", "x".repeat(length));
        assert!(encoded(&text).starts_with(&format!("{head}78")), "{length}");
    }
    for (count, array, map) in [
        (15, "9f", "8f"),
        (16, "dc0010", "de0010"),
        (65535, "dcffff", "deffff"),
        (65536, "dd00010000", "df00010000"),
    ] {
        let zeros = vec!["0"; count].join(",");
        assert!(encoded(&format!("[{zeros}]")).starts_with(&format!("{array}00")), "{count}");
        let pairs = vec![r#""":0"#; count].join(",");
        assert!(encoded(&format!("{{{pairs}}}")).starts_with(&format!("{map}a000")), "{count}");
    }
}

#[test]
fn longer_forms_than_needed_are_accepted() {
    for (hex, json) in [
        ("cc01", "1"),
        ("cd0001", "1"),
        ("ce00000001", "1"),
        ("cf0000000000000001", "1"),
        ("d001", "1"),
        ("d10001", "1"),
        ("d200000001", "1"),
        ("d30000000000000001", "1"),
        ("d3ffffffffffffffff", "-1"),
        ("ca3fc00000", "1.5"),
        ("ca3dcccccd", "0.10000000149011612"),
        ("d90161", r#""a""#),
        ("da000161", r#""a""#),
        ("db0000000161", r#""a""#),
        ("dc000101", "[1]"),
        ("dd0000000101", "[1]"),
        ("de0001a16101", r#"{"a":1}"#),
        ("df00000001d9016101", r#"{"a":1}"#),
    ] {
        assert_eq!(decoded(hex), json, "{hex}");
    }
}

#[test]
fn what_all_encodings_carry_survives() {
    for text in carried_by_all() {
        round_trip(&MessagePack, &text).unwrap();
    }
    for text in ["12345678901234567890", "[[],{}]", r#"["a",{"a":1,"a":1}]"#, "1.0", r#""é""#] {
        round_trip(&MessagePack, text).unwrap();
    }
}

#[test]
fn what_it_can_not_hold_is_refused_by_name() {
    for text in ["1e400", "0.1234567890123456789", "123456789012345678901234567890", "1e-400"] {
        let refusal = round_trip(&MessagePack, &format!("{{\"a\":{text}}}")).unwrap_err();
        assert_eq!(refusal, Refusal::Number { text: text.into() });
    }
    for text in [r#"{"a":"\ud800"}"#, r#"{"\udfff":1}"#, r#"["\ude00\ud83d"]"#] {
        assert_eq!(round_trip(&MessagePack, text), Err(Refusal::LoneSurrogate));
    }
}

#[test]
fn what_json_has_no_word_for_is_refused_by_name() {
    for (hex, what, offset) in [
        ("c40161", "binary data", 0),
        ("91c5000161", "binary data", 1),
        ("c600000000", "binary data", 0),
        ("d40100", "an extension type", 0),
        ("d6ff00000000", "an extension type", 0),
        ("c7000500", "an extension type", 0),
        ("81c001", "a map key that is not a string", 1),
        ("810101", "a map key that is not a string", 1),
        ("ca7f800000", "NaN or an infinity", 0),
        ("cb7ff8000000000000", "NaN or an infinity", 0),
        ("91cbfff0000000000000", "NaN or an infinity", 1),
    ] {
        assert_eq!(error(hex), DecodeError::NotJson { encoding: "msgpack", what, offset }, "{hex}");
    }
}

#[test]
fn broken_bytes_are_refused_with_their_place() {
    let ends = "the end of the input within a value";
    for (hex, what, offset) in [
        ("c1", "the unused byte C1", 0),
        ("9200c1", "the unused byte C1", 2),
        ("81c101", "the unused byte C1", 1),
        ("", ends, 0),
        ("a261", ends, 2),
        ("0000", "bytes after the value", 1),
        ("9000", "bytes after the value", 1),
        ("a1ff", "a string that is not UTF-8", 1),
        ("81a3eda08000", "a string that is not UTF-8", 2),
        // Counts and lengths that only a liar declares.
        ("ddffffffff", ends, 5),
        ("dfffffffff", ends, 5),
        ("dbffffffff", ends, 5),
        ("df00000002a0c0", ends, 7),
    ] {
        assert_eq!(error(hex), DecodeError::Corrupt { encoding: "msgpack", what, offset }, "{hex}");
    }
}

#[test]
fn every_part_of_a_value_is_refused() {
    let bytes = round_trip(&MessagePack, SAMPLE).unwrap();
    truncations_are_refused(&MessagePack, &bytes);
}

#[test]
fn damaged_bytes_never_panic_and_never_cost_memory() {
    let bytes = round_trip(&MessagePack, SAMPLE).unwrap();
    damage_is_survived(&MessagePack, &bytes, 20_000);
    let forms = "dd00000008cc01cd0001ce00000001cf0000000000000001d3ffffffffffffffffca3fc00000d90161\
                 df00000001d9016101";
    damage_is_survived(&MessagePack, &bytes_of_hex(forms), 20_000);
}

#[test]
fn nesting_is_bounded_by_the_limit_and_not_by_the_stack() {
    for is_object in [false, true] {
        round_trip_document(&MessagePack, &nested(100_000, is_object)).unwrap();
    }
    let mut document = crate::document::Document::new();
    let deep = vec![0x91; NESTING_DEPTH_MAX + 2];
    let limit = NESTING_DEPTH_MAX;
    let too_deep = DecodeError::Document(DocumentError::TooDeep { limit });
    assert_eq!(MessagePack.decode(&deep, &mut document), Err(too_deep));
}
