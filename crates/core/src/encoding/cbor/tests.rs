//! Tests of `cbor`: appendix A of RFC 8949 where JSON has the value, what is refused, and what
//! hostile bytes may do.
//!
//! Bytes are written out by hand from the RFC; a test that compares only with our own decoder would
//! pass with both of them wrong.

use super::Cbor;
use crate::document::DocumentError;
use crate::encoding::cursor::testing::*;
use crate::encoding::{DecodeError, DocumentEncoding, Refusal};
use crate::limits::{NESTING_DEPTH_MAX, NUMBER_DIGITS_MAX};

const SAMPLE: &str = r#"{"a":[1,-1,200,70000,1.5,0.1,100000.0,"text",null,true,1e400,
    123456789012345678901234567890],"é":{"b":"c","d":[]}}"#;

/// Forms that our encoder does not write.
const OTHER_FORMS: &str =
    "9fbf7f61616162ff1801ffc25f4101ffc49f0102fff93c00fa3fc000003bffffffffffffffffff";

fn encoded(json: &str) -> String {
    encode_hex(&Cbor, json).unwrap()
}

fn decoded(hex: &str) -> String {
    decode_hex(&Cbor, hex).unwrap()
}

fn error(hex: &str) -> DecodeError {
    decode_hex(&Cbor, hex).unwrap_err()
}

#[test]
fn appendix_a_is_written_and_read() {
    for (json, hex) in [
        ("0", "00"),
        ("1", "01"),
        ("10", "0a"),
        ("23", "17"),
        ("24", "1818"),
        ("25", "1819"),
        ("100", "1864"),
        ("1000", "1903e8"),
        ("1000000", "1a000f4240"),
        ("1000000000000", "1b000000e8d4a51000"),
        ("18446744073709551615", "1bffffffffffffffff"),
        ("18446744073709551616", "c249010000000000000000"),
        ("-18446744073709551616", "3bffffffffffffffff"),
        ("-18446744073709551617", "c349010000000000000000"),
        ("-1", "20"),
        ("-10", "29"),
        ("-100", "3863"),
        ("-1000", "3903e7"),
        ("0.0", "f90000"),
        ("-0.0", "f98000"),
        ("1.0", "f93c00"),
        ("1.1", "fb3ff199999999999a"),
        ("1.5", "f93e00"),
        ("65504.0", "f97bff"),
        ("100000.0", "fa47c35000"),
        ("3.4028234663852886e+38", "fa7f7fffff"),
        ("1.0e+300", "fb7e37e43c8800759c"),
        ("5.960464477539063e-8", "f90001"),
        ("0.00006103515625", "f90400"),
        ("-4.0", "f9c400"),
        ("-4.1", "fbc010666666666666"),
        ("false", "f4"),
        ("true", "f5"),
        ("null", "f6"),
        (r#""""#, "60"),
        (r#""a""#, "6161"),
        (r#""IETF""#, "6449455446"),
        (r#""\"\\""#, "62225c"),
        (r#""\u00fc""#, "62c3bc"),
        (r#""\u6c34""#, "63e6b0b4"),
        (r#""\ud800\udd51""#, "64f0908591"),
        ("[]", "80"),
        ("[1,2,3]", "83010203"),
        ("[1,[2,3],[4,5]]", "8301820203820405"),
        (
            "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25]",
            "98190102030405060708090a0b0c0d0e0f101112131415161718181819",
        ),
        ("{}", "a0"),
        (r#"{"a":1,"b":[2,3]}"#, "a26161016162820203"),
        (r#"["a",{"b":"c"}]"#, "826161a161626163"),
        (
            r#"{"a":"A","b":"B","c":"C","d":"D","e":"E"}"#,
            "a56161614161626142616361436164614461656145",
        ),
    ] {
        assert_eq!(encoded(json), hex, "{json}");
        round_trip(&Cbor, json).unwrap();
    }
}

#[test]
fn appendix_a_of_indefinite_lengths_is_read() {
    for (hex, json) in [
        ("7f657374726561646d696e67ff", r#""streaming""#),
        ("7fff", r#""""#),
        ("9fff", "[]"),
        ("9f018202039f0405ffff", "[1,[2,3],[4,5]]"),
        ("9f01820203820405ff", "[1,[2,3],[4,5]]"),
        ("83018202039f0405ff", "[1,[2,3],[4,5]]"),
        ("83019f0203ff820405", "[1,[2,3],[4,5]]"),
        (
            "9f0102030405060708090a0b0c0d0e0f101112131415161718181819ff",
            "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25]",
        ),
        ("bf61610161629f0203ffff", r#"{"a":1,"b":[2,3]}"#),
        ("826161bf61626163ff", r#"["a",{"b":"c"}]"#),
        ("bf6346756ef563416d7421ff", r#"{"Fun":true,"Amt":-2}"#),
        ("bfff", "{}"),
        ("bf7f61616162ff01ff", r#"{"ab":1}"#),
        ("9fbfff9fffff", "[{},[]]"),
    ] {
        assert_eq!(decoded(hex), json, "{hex}");
    }
}

#[test]
fn longer_forms_than_needed_are_accepted() {
    for (hex, json) in [
        ("1801", "1"),
        ("190001", "1"),
        ("1a00000001", "1"),
        ("1b0000000000000001", "1"),
        ("3b0000000000000000", "-1"),
        ("3b7fffffffffffffff", "-9223372036854775808"),
        ("3b8000000000000000", "-9223372036854775809"),
        ("780161", r#""a""#),
        ("7b000000000000000161", r#""a""#),
        ("9b000000000000000101", "[1]"),
        ("bb0000000000000001616101", r#"{"a":1}"#),
        ("fa3fc00000", "1.5"),
        ("fb3ff8000000000000", "1.5"),
        ("c240", "0"),
        ("c24101", "1"),
        ("c2420001", "1"),
        ("d8024101", "1"),
        ("c340", "-1"),
        ("c341ff", "-256"),
        ("c2487fffffffffffffff", "9223372036854775807"),
        ("c248ffffffffffffffff", "18446744073709551615"),
        ("c349ffffffffffffffffff", "-4722366482869645213696"),
        ("c25f41014100ff", "256"),
        ("c25fff", "0"),
        ("c48221196ab3", "27315e-2"),
        ("c49f21196ab3ff", "27315e-2"),
        ("c482012a", "-11e1"),
        ("c4820000", "0e0"),
        ("c48221c24a0102030405060708090a", "4759477275222530853130e-2"),
        ("c48220c34101", "-2e-1"),
        ("c4823bffffffffffffffff1bffffffffffffffff", "18446744073709551615e-18446744073709551616"),
    ] {
        assert_eq!(decoded(hex), json, "{hex}");
    }
}

#[test]
fn numbers_that_no_double_holds_take_their_shortest_exact_form() {
    for (json, hex) in [
        ("-9223372036854775809", "3b8000000000000000"),
        ("12345678901234567.0", "1b002bdc545d6b4b87"),
        ("1e400", "c48219019001"),
        ("-1e400", "c48219019020"),
        ("1e-400", "c48239018f01"),
        ("0.1234567890123456789", "c482321b112210f47de98115"),
        ("123456789012345678901234567890", "c24d018ee90ff6c373e0ee4e3f0ad2"),
        ("-123456789012345678901234567890", "c34d018ee90ff6c373e0ee4e3f0ad1"),
        ("1e9223372036854775807", "c4821b7fffffffffffffff01"),
    ] {
        assert_eq!(encoded(json), hex, "{json}");
        round_trip(&Cbor, json).unwrap();
    }
    let longest = "7".repeat(NUMBER_DIGITS_MAX);
    round_trip(&Cbor, &longest).unwrap();
    round_trip(&Cbor, &format!("-0.{longest}")).unwrap();
}

#[test]
fn what_all_encodings_carry_survives() {
    for text in carried_by_all() {
        round_trip(&Cbor, &text).unwrap();
    }
    for text in ["12345678901234567890", "[[],{}]", r#"["a",{"a":1,"a":1}]"#, "1.0", r#""é""#] {
        round_trip(&Cbor, text).unwrap();
    }
    round_trip(&Cbor, SAMPLE).unwrap();
}

#[test]
fn what_it_can_not_hold_is_refused_by_name() {
    for text in [format!("1{}", "7".repeat(NUMBER_DIGITS_MAX)), "1e99999999999999999999".into()] {
        let refusal = round_trip(&Cbor, &text).unwrap_err();
        assert_eq!(refusal, Refusal::Number { text: text[..text.len().min(64)].into() });
    }
    for text in [r#"{"a":"\ud800"}"#, r#"{"\udfff":1}"#] {
        assert_eq!(round_trip(&Cbor, text), Err(Refusal::LoneSurrogate));
    }
}

#[test]
fn what_json_has_no_word_for_is_refused_by_name() {
    for (hex, what, offset) in [
        ("4161", "a byte string", 0),
        ("9f5f4161ffff", "a byte string", 1),
        ("f7", "undefined", 0),
        ("f0", "a simple value", 0),
        ("81f8ff", "a simple value", 1),
        ("c11a514b67b0", "a tag that is not of a number", 0),
        ("d9d9f700", "a tag that is not of a number", 0),
        ("c5822003", "a tag that is not of a number", 0),
        ("a10001", "a map key that is not a text string", 1),
        ("a1c24101", "a map key that is not a text string", 1),
        ("f97e00", "NaN or an infinity", 0),
        ("81f97c00", "NaN or an infinity", 1),
        ("faff800000", "NaN or an infinity", 0),
        ("fb7ff8000000000000", "NaN or an infinity", 0),
    ] {
        assert_eq!(error(hex), DecodeError::NotJson { encoding: "cbor", what, offset }, "{hex}");
    }
    let mut long = bytes_of_hex("c2591000");
    long.extend(vec![1; 0x1000]);
    let what = "a bignum with more digits than the limit";
    let mut document = crate::document::Document::new();
    for head in [0xC2, 0xC3] {
        long[0] = head;
        let refused = DecodeError::NotJson { encoding: "cbor", what, offset: 0 };
        assert_eq!(Cbor.decode(&long, &mut document), Err(refused));
    }
}

#[test]
fn broken_bytes_are_refused_with_their_place() {
    let ends = "the end of the input within a value";
    let reserved = "reserved additional information";
    let a_break = "a break where none may stand";
    let chunk = "a chunk that is not of its string's type";
    let fraction = "a decimal fraction that is not an array of two";
    for (hex, what, offset) in [
        ("", ends, 0),
        ("1c", reserved, 0),
        ("1f", reserved, 0),
        ("3f", reserved, 0),
        ("5c", "a byte string", 0),
        ("7c", reserved, 0),
        ("9d", reserved, 0),
        ("be", reserved, 0),
        ("df00", reserved, 0),
        ("fc", reserved, 0),
        ("81fe", reserved, 1),
        ("ff", a_break, 0),
        ("81ff", a_break, 1),
        ("a1ff00", a_break, 1),
        ("bf6161ff", a_break, 3),
        ("f814", "a simple value in a longer form than it has", 1),
        ("7f00ff", chunk, 1),
        ("7f4161ff", chunk, 1),
        ("7f7f6161ffff", reserved, 1),
        ("c25f6161ff", chunk, 2),
        ("7f61c361bcff", "a string that is not UTF-8", 2),
        ("62ffff", "a string that is not UTF-8", 1),
        ("a163eda08000", "a string that is not UTF-8", 2),
        ("c201", "a bignum that is not a byte string", 1),
        ("c401", fraction, 1),
        ("c48100", fraction, 1),
        ("c483000000", fraction, 1),
        ("c49f0000ff00", "bytes after the value", 5),
        ("c49f000000ff", fraction, 4),
        ("c482f60000", "a decimal fraction whose exponent is no integer", 2),
        ("c48200f6", "a decimal fraction whose mantissa is no integer", 3),
        ("c48200c401", "a decimal fraction whose mantissa is no integer", 3),
        ("0000", "bytes after the value", 1),
        ("9fff00", "bytes after the value", 2),
        // Counts and lengths that only a liar declares.
        ("9affffffff", ends, 5),
        ("9bffffffffffffffff", ends, 9),
        ("bb7fffffffffffffff", ends, 9),
        ("7bffffffffffffffff", ends, 9),
        ("c25bffffffffffffffff", ends, 10),
        ("a2616100", ends, 4),
    ] {
        let got = error(hex);
        let expected = if what == "a byte string" {
            DecodeError::NotJson { encoding: "cbor", what, offset }
        } else {
            DecodeError::Corrupt { encoding: "cbor", what, offset }
        };
        assert_eq!(got, expected, "{hex}");
    }
}

#[test]
fn every_part_of_a_value_is_refused() {
    let bytes = round_trip(&Cbor, SAMPLE).unwrap();
    truncations_are_refused(&Cbor, &bytes);
    truncations_are_refused(&Cbor, &bytes_of_hex(OTHER_FORMS));
}

#[test]
fn damaged_bytes_never_panic_and_never_cost_memory() {
    let bytes = round_trip(&Cbor, SAMPLE).unwrap();
    damage_is_survived(&Cbor, &bytes, 20_000);
    damage_is_survived(&Cbor, &bytes_of_hex(OTHER_FORMS), 20_000);
}

#[test]
fn nesting_is_bounded_by_the_limit_and_not_by_the_stack() {
    for is_object in [false, true] {
        round_trip_document(&Cbor, &nested(100_000, is_object)).unwrap();
    }
    let mut document = crate::document::Document::new();
    let limit = NESTING_DEPTH_MAX;
    for head in [0x81, 0x9F] {
        let deep = vec![head; limit + 2];
        let too_deep = DecodeError::Document(DocumentError::TooDeep { limit });
        assert_eq!(Cbor.decode(&deep, &mut document), Err(too_deep));
    }
}
