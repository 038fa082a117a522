//! Tests of `ion`: the forms of the specification byte by byte, tables of symbols, what is refused,
//! and what hostile bytes may do.
//!
//! Bytes are written out by hand from the specification; a test that compares only with our own
//! decoder would pass with both of them wrong. The version marker is left out of all of them.

use super::Ion;
use crate::document::{Document, DocumentError};
use crate::encoding::cursor::testing::*;
use crate::encoding::{DecodeError, DocumentEncoding, Refusal};
use crate::limits::{NESTING_DEPTH_MAX, NUMBER_DIGITS_MAX};

const MARKER: &str = "e00100ea";

const SAMPLE: &str = r#"{"a":[1,-1,200,70000,1.5,"text",null,true,1e99],"é":{"b":"c","d":[]}}"#;

fn encoded(json: &str) -> String {
    let hex = encode_hex(&Ion, json).unwrap();
    hex.strip_prefix(MARKER).expect("a version marker").to_owned()
}

fn decoded(hex: &str) -> String {
    decode_hex(&Ion, &format!("{MARKER}{hex}")).unwrap()
}

/// The error, with its place counted from behind the marker.
fn error(hex: &str) -> (String, usize) {
    match decode_hex(&Ion, &format!("{MARKER}{hex}")).unwrap_err() {
        DecodeError::Corrupt { what, offset, .. } => (format!("corrupt: {what}"), offset - 4),
        DecodeError::NotJson { what, offset, .. } => (format!("not JSON: {what}"), offset - 4),
        other => panic!("{other}"),
    }
}

#[test]
fn every_value_takes_its_smallest_form() {
    for (json, hex) in [
        ("null", "0f"),
        ("false", "10"),
        ("true", "11"),
        ("0", "20"),
        ("1", "2101"),
        ("255", "21ff"),
        ("256", "220100"),
        ("18446744073709551615", "28ffffffffffffffff"),
        ("18446744073709551616", "29010000000000000000"),
        ("-1", "3101"),
        ("-256", "320100"),
        ("-9223372036854775808", "388000000000000000"),
        ("-18446744073709551616", "39010000000000000000"),
        // Floats: those with an exponent.
        ("0e0", "40"),
        ("-0e0", "4480000000"),
        ("15e-1", "443fc00000"),
        ("1e-1", "483fb999999999999a"),
        // Decimals: those with a point, with all their digits, and what no float is.
        ("0.0", "51c1"),
        ("-0", "528080"),
        ("-0.0", "52c180"),
        ("1.5", "52c10f"),
        ("-1.5", "52c18f"),
        ("12.50", "53c204e2"),
        ("12.8", "53c10080"),
        ("-12.8", "53c18080"),
        ("1e400", "53039001"),
        (r#""""#, "80"),
        (r#""abc""#, "83616263"),
        ("[]", "b0"),
        ("[[],1]", "b3b02101"),
        ("{}", "d0"),
        // The names of Ion's own symbols need no table.
        (r#"{"name":1}"#, "d3842101"),
        (r#"{"a":1,"b":{"a":null}}"#, "e9 8183 d6 87 b4 8161 8162 d7 8a2101 8b d2 8a0f"),
    ] {
        assert_eq!(encoded(json), hex.replace(' ', ""), "{json}");
        round_trip(&Ion, json).unwrap();
    }
}

#[test]
fn lengths_take_their_smallest_form() {
    for (length, head) in [
        (13, "8d"),
        (14, "8e8e"),
        (127, "8eff"),
        (128, "8e0180"),
        (16_383, "8e7fff"),
        (16_384, "8e010080"),
    ] {
        let text = format!("\"{}\"", "x".repeat(length));
        assert!(encoded(&text).starts_with(&format!("{head}78")), "{length}");
        let zeros = vec!["0"; length].join(",");
        let list = head.replacen('8', "b", 1);
        assert!(encoded(&format!("[{zeros}]")).starts_with(&format!("{list}20")), "{length}");
        // A list in a list: the outer length counts the inner head.
        round_trip(&Ion, &format!("[[{zeros}],{{\"a\":[{zeros}]}}]")).unwrap();
    }
}

#[test]
fn forms_that_we_do_not_write_are_read() {
    let places = format!("0.{}7", "0".repeat(63));
    for (hex, json) in [
        // Heads with a length of their own, and padding in lengths and magnitudes.
        ("8e8161", r#""a""#),
        ("8e0000008161", r#""a""#),
        ("23000001", "1"),
        ("54c100000f", "1.5"),
        ("50", "0"),
        // Nulls with a type.
        ("1f", "null"),
        ("2f", "null"),
        ("8f", "null"),
        ("bf", "null"),
        ("df", "null"),
        ("7f", "null"),
        // Padding in front of values and among fields.
        ("00 2101", "1"),
        ("03ffffff 02ffff 2101", "1"),
        ("b4 00 2101 00", "[1]"),
        ("d8 8000 842101 8001ff", r#"{"name":1}"#),
        // A struct whose keys are sorted.
        ("d1 83 84 2101", r#"{"name":1}"#),
        // Symbols as strings.
        ("7104", r#""name""#),
        // Decimals with as many places as are written out, and with one more.
        ("53 40c0 07", &places),
        ("53 40c1 07", "7e-65"),
    ] {
        assert_eq!(decoded(hex), json, "{hex}");
    }
}

#[test]
fn tables_of_symbols_add_up_or_start_again() {
    let table = |content: &str| {
        let bytes = content.replace(' ', "").len() / 2;
        let (inner, outer) = (0x80 + bytes, 0x80 + bytes + 4);
        format!("ee {outer:x} 8183 de {inner:x} {content}")
    };
    let (a, b) = ("87 b2 8161", "87 b2 8162");
    let a_then = |more: &str, value: &str| format!("{} {} {value}", table(a), table(more));
    // A table in place of the other one.
    assert_eq!(decoded(&a_then(b, "710a")), r#""b""#);
    // One that adds to it: `imports` is the symbol $ion_symbol_table.
    let adding = format!("86 7103 {b}");
    assert_eq!(decoded(&a_then(&adding, "b4 710a 710b")), r#"["a","b"]"#);
    // The marker starts again.
    let again = format!("{} e00100ea {} 710a", table(a), table(b));
    assert_eq!(decoded(&again), r#""b""#);
    // Other fields, an empty list of imports, and what is no string among the symbols.
    let odd = "84 83616263 86 b0 87 b5 0f 8161 2101";
    assert_eq!(decoded(&format!("{} 710b", table(odd))), r#""a""#);
    let unknown = "not JSON: a symbol of unknown text".to_owned();
    assert_eq!(error(&format!("{} 710a", table(odd))).0, unknown);
    assert_eq!(error("7100"), (unknown.clone(), 0));
    assert_eq!(error("70"), (unknown, 0));
    assert_eq!(error("710a"), ("corrupt: a symbol that is in no table".to_owned(), 0));
    assert_eq!(error("d28a0f"), ("corrupt: a symbol that is in no table".to_owned(), 2));
    let imports = table("86 b3 d2 840f");
    let expected = "not JSON: an import of symbols from elsewhere";
    assert_eq!(error(&format!("{imports} 0f")).0, expected);
    let twice = table(&format!("{a} {b}"));
    let expected = "corrupt: a table with two lists of symbols";
    assert_eq!(error(&format!("{twice} 0f")).0, expected);
}

#[test]
fn what_all_encodings_carry_survives() {
    for text in carried_by_all() {
        round_trip(&Ion, &text).unwrap();
    }
    for text in [
        "12345678901234567890",
        "[[],{}]",
        r#"["a",{"a":1,"a":1}]"#,
        "1e400",
        "-1e-400",
        "0.1234567890123456789",
        "-123456789012345678901234567890",
        "123456789012345678900000000000000000000",
        "9007199254740993.5",
        "1e9223372036854775807",
        r#"{"$ion":1,"symbols":{"name":"$ion_1_0","imports":[]}}"#,
    ] {
        round_trip(&Ion, text).unwrap();
    }
}

#[test]
fn number_texts_without_an_exponent_come_back_as_they_were() {
    for text in ["12.50", "-0.0", "-0", "0.000", "1.0", "100.00", "1234567890123456.78"] {
        assert_eq!(decode_hex(&Ion, &encode_hex(&Ion, text).unwrap()).unwrap(), text);
    }
}

#[test]
fn what_it_can_not_hold_is_refused_by_name() {
    let long = "9".repeat(NUMBER_DIGITS_MAX + 1);
    let refusal = round_trip(&Ion, &long).unwrap_err();
    assert_eq!(refusal, Refusal::Number { text: "9".repeat(64) });
    for text in ["1e99999999999999999999", "0.5e-9223372036854775807"] {
        assert_eq!(round_trip(&Ion, text), Err(Refusal::Number { text: text.into() }));
    }
    for text in [r#"{"a":"\ud800"}"#, r#"{"\udfff":1}"#, r#"["\ude00\ud83d"]"#] {
        assert_eq!(round_trip(&Ion, text), Err(Refusal::LoneSurrogate));
    }
}

#[test]
fn what_json_has_no_word_for_is_refused_by_name() {
    for (hex, what, offset) in [
        ("67c00fd081818080", "a timestamp", 0),
        ("9161", "binary data", 0),
        ("b2a161", "binary data", 1),
        ("c20f0f", "an S-expression", 0),
        ("e3 8184 0f", "an annotation", 0),
        ("b4 e3 8184 0f", "an annotation", 1),
        ("44 7fc00000", "NaN or an infinity", 0),
        ("48 fff0000000000000", "NaN or an infinity", 0),
    ] {
        assert_eq!(error(hex), (format!("not JSON: {what}"), offset), "{hex}");
    }
    let huge = [&bytes_of_hex("e00100ea2e2080")[..], &[7; 4096]].concat();
    let what = "a number with more digits than the limit";
    let expected = DecodeError::NotJson { encoding: "ion", what, offset: 4 };
    assert_eq!(Ion.decode(&huge, &mut Document::new()), Err(expected));
}

#[test]
fn broken_bytes_are_refused_with_their_place() {
    let ends = "the end of the input within a value";
    for (hex, what, offset) in [
        ("", ends, 0),
        ("8261", ends, 2),
        ("8e", ends, 1),
        ("f0", "a type that there is not", 0),
        ("12", "a boolean that is neither", 0),
        ("30", "a negative zero", 0),
        ("3100", "a negative zero", 0),
        ("423fc0", "a float of another length than 0, 4 and 8", 0),
        ("d180", "a sorted struct without fields", 0),
        ("0f0f", "bytes after the value", 1),
        ("81ff", "a string that is not UTF-8", 1),
        ("b12101", "a value that reaches past the one around it", 1),
        ("5101", ends, 2),
        ("b3 5101 81", "a number that reaches past its value", 3),
        // Lengths that only a liar declares.
        ("be 7f7f7f7f7f7f7f7f7f ff", "a number of more than 63 bits", 10),
        ("be 7fffffffffff ff", ends, 8),
        ("8e 7fffffffffff ff", ends, 8),
        ("e1 81", "an annotation without a value", 0),
        ("e3 8183 20", "a table of symbols that is no struct", 3),
        ("e3 85830f", "an annotation without a value", 0),
    ] {
        assert_eq!(error(hex), (format!("corrupt: {what}"), offset), "{hex}");
    }
    for hex in ["", "e0", "e00100", "e00101ea0f", "0f"] {
        let what = "no version marker of Ion 1.0";
        let expected = DecodeError::Corrupt { encoding: "ion", what, offset: 0 };
        assert_eq!(decode_hex(&Ion, hex), Err(expected), "{hex}");
    }
}

#[test]
fn every_part_of_a_value_is_refused() {
    let bytes = round_trip(&Ion, SAMPLE).unwrap();
    truncations_are_refused(&Ion, &bytes);
}

#[test]
fn damaged_bytes_never_panic_and_never_cost_memory() {
    let bytes = round_trip(&Ion, SAMPLE).unwrap();
    damage_is_survived(&Ion, &bytes, 40_000);
    let forms = "e00100ea e9 8183 d6 87b481618162 dd 8a2101 8b52c10f 8400 8a53c204e2";
    damage_is_survived(&Ion, &bytes_of_hex(forms), 40_000);
}

#[test]
fn nesting_is_bounded_by_the_limit_and_not_by_the_stack() {
    for is_object in [false, true] {
        round_trip_document(&Ion, &nested(100_000, is_object)).unwrap();
    }
    // Every list claims all that is left: a length of five bytes, which no level can refute.
    let depth = NESTING_DEPTH_MAX + 2;
    let mut bytes = bytes_of_hex(MARKER);
    for level in 0..depth {
        let left = 6 * (depth - level - 1);
        let group = |shift: usize| (left >> shift) as u8 & 0x7F;
        bytes.extend([0xBE, group(28), group(21), group(14), group(7), group(0) | 0x80]);
    }
    let limit = NESTING_DEPTH_MAX;
    let too_deep = DecodeError::Document(DocumentError::TooDeep { limit });
    assert_eq!(Ion.decode(&bytes, &mut Document::new()), Err(too_deep));
}
