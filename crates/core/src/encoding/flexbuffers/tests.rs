//! Tests of `flexbuffers`: forms as the official writers lay them out, the order of keys, and what
//! offsets of hostile bytes may do.
//!
//! Bytes are those that the Python package `flatbuffers` writes, or are written out by hand; a test
//! that compares only with our own decoder would pass with both of them wrong.

use super::FlexBuffers;
use crate::document::{Document, DocumentError};
use crate::encoding::cursor::testing::*;
use crate::encoding::{DecodeError, DocumentEncoding, Refusal};
use crate::limits::{NESTING_DEPTH_MAX, PAYLOAD_BYTES_MAX};

const SAMPLE: &str = r#"{"b":[1,-1,200,70000,1.5,"text",null,true],"a":{"b":"c","a":[]}}"#;

fn encoded(json: &str) -> String {
    encode_hex(&FlexBuffers, json).unwrap()
}

fn decoded(hex: &str) -> String {
    decode_hex(&FlexBuffers, hex).unwrap()
}

fn error(hex: &str) -> DecodeError {
    decode_hex(&FlexBuffers, hex).unwrap_err()
}

#[test]
fn values_have_the_layout_of_the_official_writers() {
    for (json, hex) in [
        ("null", "000001"),
        ("true", "016801"),
        ("5", "050401"),
        ("-1", "ff0401"),
        ("-128", "800401"),
        ("128", "80000502"),
        ("300", "2c010502"),
        ("70000", "701101000604"),
        ("18446744073709551615", "ffffffffffffffff0b08"),
        ("1.5", "0000c03f0e04"),
        ("0.1", "9a9999999999b93f0f08"),
        (r#""a""#, "016100021401"),
        ("[]", "00002801"),
        ("{}", "00000100002401"),
        (r#"[1,"x"]"#, "0178000201040414042801"),
        (r#"{"b":1,"a":2}"#, "6200610002030602010202010404042401"),
        ("[1.5,2]", "020000000000c03f020000000e060a2a01"),
    ] {
        assert_eq!(encoded(json), hex, "{json}");
        round_trip(&FlexBuffers, json).unwrap();
    }
}

#[test]
fn numbers_and_booleans_of_one_type_stand_without_their_types() {
    for (json, hex) in [
        ("[1,2,3]", "03010203032c01"),
        ("[true,false]", "020100029001"),
        ("[0.5,-2.0]", "020000000000003f000000c0083601"),
    ] {
        assert_eq!(encoded(json), hex, "{json}");
        round_trip(&FlexBuffers, json).unwrap();
    }
}

#[test]
fn forms_that_we_do_not_write_are_read() {
    for (hex, json) in [
        // What the Python package writes: types beside each element, and a list of lists.
        ("03010203040404062801", "[1,2,3]"),
        ("0101040102040206042828042801", "[[1],[2]]"),
        // Indirect numbers, one in each of the widths that there are.
        ("07011801", "7"),
        ("2c01021901", "300"),
        ("0000c03f042201", "1.5"),
        // Two, three and four numbers without a length.
        ("0102024001", "[1,2]"),
        ("0102ff034c01", "[1,2,-1]"),
        ("01020304045801", "[1,2,3,4]"),
        // A key as a value, and a list of two.
        ("6100021001", r#""a""#),
        ("61006200020504023801", r#"["a","b"]"#),
    ] {
        assert_eq!(decoded(hex), json, "{hex}");
    }
}

#[test]
fn keys_come_back_in_their_order_and_as_often_as_they_stand() {
    for text in [
        r#"{"b":1,"a":2,"c":3}"#,
        r#"{"a":1,"a":2,"b":{"a":3,"a":3}}"#,
        // Another order each time, and the first one again.
        r#"[{"a":1,"b":2},{"b":1,"a":2},{"a":1,"b":2},{"b":1,"a":2},{"b":1},{"a":1}]"#,
        r#"[{"c":1,"b":2,"a":3},{"a":1,"b":2,"c":3},{"b":1,"c":2,"a":3},{"c":1,"a":2,"b":3}]"#,
        r#"{"b":{"b":{"a":1,"b":2},"a":1},"a":{"a":1,"b":2}}"#,
    ] {
        round_trip(&FlexBuffers, text).unwrap();
    }
}

#[test]
fn objects_with_the_same_keys_share_them_whatever_their_order() {
    let rows = |count: usize| {
        let row = |index: usize| match index % 2 {
            0 => r#"{"first name":1,"last name":2}"#,
            _ => r#"{"last name":1,"first name":2}"#,
        };
        let rows: Vec<&str> = (0..count).map(row).collect();
        round_trip(&FlexBuffers, &format!("[{}]", rows.join(","))).unwrap()
    };
    // Two bytes of values, two of types, three in front, and two in the list: no key, no key list.
    assert_eq!(rows(12).len() - rows(10).len(), 2 * 9);
}

#[test]
fn what_all_encodings_carry_survives() {
    for text in carried_by_all().iter().filter(|text| !text.contains(r#"\u0000":"#)) {
        round_trip(&FlexBuffers, text).unwrap();
    }
    for text in ["12345678901234567890", "[[],{}]", r#"["a",{"a":1,"a":1}]"#, "1.0", r#""é""#] {
        round_trip(&FlexBuffers, text).unwrap();
    }
}

#[test]
fn what_it_can_not_hold_is_refused_by_name() {
    for text in ["1e400", "0.1234567890123456789", "123456789012345678901234567890", "1e-400"] {
        let refusal = round_trip(&FlexBuffers, &format!("{{\"a\":{text}}}")).unwrap_err();
        assert_eq!(refusal, Refusal::Number { text: text.into() });
    }
    for text in [r#"{"a":"\ud800"}"#, r#"{"\udfff":1}"#, r#"["\ude00\ud83d"]"#] {
        assert_eq!(round_trip(&FlexBuffers, text), Err(Refusal::LoneSurrogate));
    }
    assert_eq!(round_trip(&FlexBuffers, r#"{"a\u0000b":1}"#), Err(Refusal::NulInKey));
}

#[test]
fn what_json_has_no_word_for_is_refused_by_name() {
    for (hex, what, offset) in [
        ("016100026401", "binary data", 3),
        ("0000c07f0e04", "NaN or an infinity", 0),
        ("000000000000f0ff0f08", "NaN or an infinity", 0),
        ("0000807f042201", "NaN or an infinity", 0),
    ] {
        let expected = DecodeError::NotJson { encoding: "flexbuffers", what, offset };
        assert_eq!(error(hex), expected, "{hex}");
    }
}

#[test]
fn broken_bytes_are_refused_with_their_place() {
    let ends = "the end of the input within a value";
    let nowhere = "an offset that leads nowhere";
    for (hex, what, offset) in [
        ("", ends, 0),
        ("01", ends, 1),
        ("0401", "a root of an impossible width", 1),
        ("050403", "a root of an impossible width", 2),
        ("05050408", "a root of an impossible width", 3),
        // A float of 8 bits, and a type that no value has.
        ("050c01", "a float of less than 32 bits", 0),
        ("00016c01", "a type that there is not", 0),
        // Offsets to themselves and to before the start.
        ("002801", "a length before the start", 0),
        ("052801", nowhere, 0),
        // A list of 255 and a string of as many; a string without its NUL, one that is no UTF-8.
        ("ff00012801", ends, 5),
        ("ff6100021401", ends, 6),
        ("016101021401", "a string without its NUL", 1),
        ("01ff00021401", "a string that is not UTF-8", 1),
        // A key of which there is no end.
        ("6101011001", ends, 5),
        // A map of two with a list of one key, and one whose keys have a width of three bytes.
        ("6100010301010201020404042401", "a map with more keys than values, or fewer", 2),
        ("610001030103010104022401", "keys of an impossible width", 5),
    ] {
        let expected = DecodeError::Corrupt { encoding: "flexbuffers", what, offset };
        assert_eq!(error(hex), expected, "{hex}");
    }
}

/// A list whose elements are all the list before it, and so on: without a bound on what is read,
/// `levels` levels are 16 to the power of as many values.
fn bomb(levels: usize) -> Vec<u8> {
    let mut bytes = vec![0];
    let mut inner = 1;
    for _ in 0..levels {
        let at = bytes.len() + 1;
        bytes.push(16);
        bytes.extend((0..16).map(|index| (at + index - inner) as u8));
        bytes.extend([10 << 2; 16]);
        inner = at;
    }
    let root = (bytes.len() - inner) as u8;
    bytes.extend([root, 10 << 2, 1]);
    bytes
}

#[test]
fn values_that_stand_in_many_places_are_paid_for_each_time() {
    let mut document = Document::new();
    FlexBuffers.decode(&bomb(1), &mut document).unwrap();
    let error = FlexBuffers.decode(&bomb(40), &mut document).unwrap_err();
    let what = "values that stand in more places than there are bytes";
    assert!(matches!(error, DecodeError::Corrupt { what: found, .. } if found == what), "{error}");
    assert!(document.memory_bytes() < 1 << 20);
    // A list that is its own second element.
    let circle = bytes_of_hex("0201010428042801");
    FlexBuffers.decode(&circle, &mut document).unwrap_err();
}

#[test]
fn long_keys_that_stand_in_many_places_are_paid_for_each_time() {
    // 64 Ki keys as values, all of them at the same text of 64 KiB: 4 GiB of text.
    let count: usize = 64 << 10;
    let mut bytes = vec![b'k'; count];
    bytes.push(0);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes.extend((count as u32).to_le_bytes());
    let at = bytes.len();
    for index in 0..count {
        bytes.extend(((at + 4 * index) as u32).to_le_bytes());
    }
    bytes.extend(((4 * count) as u32).to_le_bytes());
    bytes.extend([14 << 2 | 2, 4]);
    let mut document = Document::new();
    let error = FlexBuffers.decode(&bytes, &mut document).unwrap_err();
    let limit = PAYLOAD_BYTES_MAX;
    assert_eq!(error, DecodeError::Document(DocumentError::TextTooLarge { limit }));
}

#[test]
fn damaged_bytes_never_panic_and_never_cost_memory() {
    let bytes = round_trip(&FlexBuffers, SAMPLE).unwrap();
    damage_is_survived(&FlexBuffers, &bytes, 40_000);
    let rows = r#"[{"a":1,"b":"x"},{"b":"y","a":2},{"a":[1,2],"b":{"a":0.5}}]"#;
    let bytes = round_trip(&FlexBuffers, rows).unwrap();
    damage_is_survived(&FlexBuffers, &bytes, 40_000);
    damage_is_survived(&FlexBuffers, &bomb(3), 20_000);
}

#[test]
fn nesting_is_bounded_by_the_limit_and_not_by_the_stack() {
    for is_object in [false, true] {
        round_trip_document(&FlexBuffers, &nested(100_000, is_object)).unwrap();
    }
    // Behind an empty list, lists of one list: its length, the offset back and the type.
    let mut bytes = vec![0, 1, 1, 10 << 2];
    for _ in 0..NESTING_DEPTH_MAX + 2 {
        bytes.extend([1, 3, 10 << 2]);
    }
    bytes.extend([2, 10 << 2, 1]);
    let mut document = Document::new();
    let limit = NESTING_DEPTH_MAX;
    let too_deep = DecodeError::Document(DocumentError::TooDeep { limit });
    assert_eq!(FlexBuffers.decode(&bytes, &mut document), Err(too_deep));
}
