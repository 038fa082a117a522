//! Tests of `smile`: bytes that Jackson 2.18 writes, the tables of shared strings, what is refused,
//! and what hostile bytes may do.
//!
//! The expected bytes were printed by Jackson's own generator with both kinds of sharing on; a test
//! that compares only with our own decoder would pass with both of them wrong.

use super::Smile;
use crate::document::{Document, DocumentError};
use crate::encoding::cursor::testing::*;
use crate::encoding::{DecodeError, DocumentEncoding, Refusal};
use crate::limits::{NESTING_DEPTH_MAX, NUMBER_DIGITS_MAX};

const SAMPLE: &str = r#"{"a":[1,-1,200,70000,3000000000,1.5,"text","text",null,true,1e400,"",
    123456789012345678901234567890],"é":{"a":"é","d":[]},"":{}}"#;

/// What stands before every value: both kinds of sharing are on.
const HEADER: &str = "3a290a03";

fn encoded(json: &str) -> String {
    encode_hex(&Smile, json).unwrap()
}

fn decoded(hex: &str) -> String {
    decode_hex(&Smile, hex).unwrap()
}

fn error(hex: &str) -> DecodeError {
    decode_hex(&Smile, hex).unwrap_err()
}

#[test]
fn bytes_are_those_of_jackson() {
    for (json, hex) in [
        ("null", "21"),
        ("false", "22"),
        ("true", "23"),
        ("0", "c0"),
        ("-1", "c1"),
        ("15", "de"),
        ("-16", "df"),
        ("16", "24a0"),
        ("-17", "24a1"),
        ("31", "24be"),
        ("-32", "24bf"),
        ("32", "240180"),
        ("-33", "240181"),
        ("4095", "247fbe"),
        ("4096", "24010080"),
        ("2147483647", "241f7f7f7fbe"),
        ("-2147483648", "241f7f7f7fbf"),
        ("2147483648", "252000000080"),
        ("9223372036854775807", "25037f7f7f7f7f7f7f7fbe"),
        ("-9223372036854775808", "25037f7f7f7f7f7f7f7fbf"),
        ("18446744073709551615", "2689003f7f7f7f7f7f7f7f7f03"),
        ("-9223372036854775809", "26897f5f7f7f7f7f7f7f7f7f03"),
        ("123456789012345678901234567890", "268d00635d107f5b0673703b4963782b12"),
        ("-123456789012345678901234567890", "268d7f1c226f0024790c0f44361c07542e"),
        ("340282366920938463463374607431768211456", &format!("26910040{}", "00".repeat(18))),
        ("1.0", "29003f7800000000000000"),
        ("-0.0", "2901000000000000000000"),
        ("-0", "2901000000000000000000"),
        ("0.1", "29003f5c6633194c66331a"),
        ("12.50", "2900401440000000000000"),
        ("1e400", "2a0c9f810001"),
        ("-1.5e-400", "2a0ca2817801"),
        ("0.1234567890123456789", "2aa6880848420f237753010a01"),
        (r#""""#, "20"),
        (r#""a""#, "4061"),
        (r#""é""#, "80c3a9"),
        ("[]", "f8f9"),
        ("{}", "fafb"),
        (r#"[1,[2,{"a":[]}]]"#, "f8c2f8c4fa8061f8f9fbf9f9"),
        (r#"{"":1}"#, "fa20c2fb"),
        (r#"{"a":1,"b":2}"#, "fa8061c28062c4fb"),
        (r#"[{"a":"x"},{"a":"x"}]"#, "f8fa80614078fbfa4001fbf9"),
    ] {
        assert_eq!(encoded(json), format!("{HEADER}{hex}"), "{json}");
        round_trip(&Smile, json).unwrap();
    }
}

#[test]
fn strings_and_keys_become_long_where_jacksons_do() {
    let (k, e) = ("6b", "c3a9");
    for (text, key, value) in [
        ("k".repeat(32), format!("9f{}", k.repeat(32)), format!("5f{}", k.repeat(32))),
        ("k".repeat(33), format!("a0{}", k.repeat(33)), format!("60{}", k.repeat(33))),
        ("k".repeat(64), format!("bf{}", k.repeat(64)), format!("7f{}", k.repeat(64))),
        ("k".repeat(65), format!("34{}fc", k.repeat(65)), format!("e0{}fc", k.repeat(65))),
        ("é".repeat(16), format!("de{}", e.repeat(16)), format!("9e{}", e.repeat(16))),
        ("é".repeat(28), format!("f6{}", e.repeat(28)), format!("b6{}", e.repeat(28))),
        ("é".repeat(29), format!("34{}fc", e.repeat(29)), format!("b8{}", e.repeat(29))),
        ("é".repeat(32), format!("34{}fc", e.repeat(32)), format!("be{}", e.repeat(32))),
        ("é".repeat(33), format!("34{}fc", e.repeat(33)), format!("e4{}fc", e.repeat(33))),
    ] {
        assert_eq!(encoded(&format!("{{\"{text}\":1}}")), format!("{HEADER}fa{key}c2fb"));
        assert_eq!(encoded(&format!("\"{text}\"")), format!("{HEADER}{value}"));
        // Long keys are shared as short ones are; long values are not.
        let twice = format!("{{\"{text}\":1,\"{text}\":2}}");
        assert_eq!(encoded(&twice), format!("{HEADER}fa{key}c240c4fb"));
        round_trip(&Smile, &format!("{{\"{text}\":[\"{text}\",\"{text}\",\"b\",\"b\"]}}")).unwrap();
    }
}

#[test]
fn references_number_and_empty_their_table_as_jacksons_do() {
    let texts: Vec<String> = (0..1300).map(|index| format!("s{index}")).collect();
    let new = |index: usize, head: usize| {
        let hex: String = texts[index].bytes().map(|byte| format!("{byte:02x}")).collect();
        format!("{:02x}{hex}", head + texts[index].len())
    };
    for (count, again, value, key) in [
        (1, 0, "01".to_string(), "40".to_string()),
        (31, 30, "1f".into(), "5e".into()),
        (32, 31, "ec1f".into(), "5f".into()),
        (64, 63, "ec3f".into(), "7f".into()),
        (65, 64, "ec40".into(), "3040".into()),
        (254, 253, "ecfd".into(), "30fd".into()),
        // Bytes FE and FF are for framing.
        (255, 254, new(254, 0x3F), new(254, 0x7F)),
        (256, 255, new(255, 0x3F), new(255, 0x7F)),
        (257, 256, "ed00".into(), "3100".into()),
        (1024, 1021, "effd".into(), "33fd".into()),
        (1024, 0, "01".into(), "40".into()),
        // The table is emptied for the 1,025th, which becomes the first.
        (1025, 0, new(0, 0x3F), new(0, 0x7F)),
        (1025, 1024, "01".into(), "40".into()),
        (1100, 1099, "ec4b".into(), "304b".into()),
    ] {
        let mut list = texts[..count].to_vec();
        list.push(texts[again].clone());
        let quoted: Vec<String> = list.iter().map(|text| format!("\"{text}\"")).collect();
        let values = encoded(&format!("[{}]", quoted.join(",")));
        assert!(values.ends_with(&format!("{value}f9")), "{count} {again}: {value}");
        let pairs: Vec<String> = quoted.iter().map(|text| format!("{text}:0")).collect();
        let keys = encoded(&format!("{{{}}}", pairs.join(",")));
        assert!(keys.ends_with(&format!("{key}c0fb")), "{count} {again}: {key}");
    }
    let mut random = Random::new(5);
    let mut pick = || texts[random.below(1300)].clone();
    let pairs: Vec<String> =
        (0..30_000).map(|_| format!("{{\"{}\":\"{}\"}}", pick(), pick())).collect();
    round_trip(&Smile, &format!("[{}]", pairs.join(","))).unwrap();
}

#[test]
fn forms_that_other_writers_use_are_accepted() {
    for (hex, json) in [
        ("3a290a0024a0", "16"),
        ("3a290a0780c3a9", r#""é""#),
        ("3a290a00c2ff", "1"),
        ("3a290a01f828037e000000287b6e33194df9", "[1.5,-0.10000000149011612]"),
        // Nothing is shared, so that nothing is counted.
        ("3a290a00f8fa80614078fbfa80614078fbf9", r#"[{"a":"x"},{"a":"x"}]"#),
        ("3a290a02f84061fa80614061fb02f9", r#"["a",{"a":"a"},"a"]"#),
        // Integers in wider forms than they need.
        ("3a290a0324000081", "-1"),
        ("3a290a032581", "-1"),
        ("3a290a0325000000000000000080", "0"),
        ("3a290a0326814000", "-128"),
        ("3a290a032682000003", "3"),
        ("3a290a032a80810201", "5e0"),
        // Short Unicode may be ASCII, and may have 65 bytes and still be counted.
        ("3a290a03806161", r#""aa""#),
        (
            &format!("3a290a03f8bf{}01f9", "61".repeat(65)),
            &format!("[\"{0}\",\"{0}\"]", "a".repeat(65)),
        ),
        (&format!("3a290a03faf7{}c0fb", "61".repeat(57)), &format!("{{\"{}\":0}}", "a".repeat(57))),
        ("3a290a03e06161fc", r#""aa""#),
        ("3a290a03e4fc", r#""""#),
        ("3a290a03fa346161fcc0fb", r#"{"aa":0}"#),
    ] {
        let got = decode_hex(&Smile, hex);
        assert_eq!(got.as_deref(), Ok(json), "{hex}");
    }
    // References that end in FE or FF are never written, but say what they mean.
    let digits = |index: usize| format!("{index:04}").bytes().fold(String::new(), hex_of_byte);
    let strings: String = (0..256).map(|index| format!("43{}", digits(index))).collect();
    let json = decoded(&format!("3a290a03f8{strings}ecfeecfff9"));
    assert!(json.ends_with(r#""0255","0254","0255"]"#));
}

fn hex_of_byte(text: String, byte: u8) -> String {
    format!("{text}{byte:02x}")
}

#[test]
fn what_all_encodings_carry_survives() {
    for text in carried_by_all() {
        round_trip(&Smile, &text).unwrap();
    }
    for text in ["12345678901234567890", "[[],{}]", r#"["a",{"a":1,"a":1}]"#, "1.0", r#""é""#] {
        round_trip(&Smile, text).unwrap();
    }
    round_trip(&Smile, SAMPLE).unwrap();
    let longest = "7".repeat(NUMBER_DIGITS_MAX);
    for text in [&longest, &format!("-{longest}"), &format!("-0.{longest}"), "12345678901234567.0"]
    {
        round_trip(&Smile, text).unwrap();
    }
}

#[test]
fn what_it_can_not_hold_is_refused_by_name() {
    for text in [
        format!("1{}", "7".repeat(NUMBER_DIGITS_MAX)),
        "1e99999999999999999999".into(),
        "1e2147483649".into(),
        "1e-2147483648".into(),
        "1e-9223372036854775807".into(),
    ] {
        let refusal = round_trip(&Smile, &text).unwrap_err();
        assert_eq!(refusal, Refusal::Number { text: text[..text.len().min(64)].into() });
    }
    for scale in ["1e2147483648", "1e-2147483647"] {
        round_trip(&Smile, scale).unwrap();
    }
    let long = "x".repeat(100);
    for text in [
        r#"{"a":"\ud800"}"#.into(),
        r#"{"\udfff":1}"#.into(),
        format!("[\"{long}\\ud800\"]"),
        format!("{{\"{long}\\ud800\":1}}"),
    ] {
        assert_eq!(round_trip(&Smile, &text), Err(Refusal::LoneSurrogate));
    }
}

#[test]
fn what_json_has_no_word_for_is_refused_by_name() {
    for (hex, what, offset) in [
        ("e88300404003", "binary data", 4),
        ("f8fd8300404003", "binary data", 5),
        ("28077c000000", "NaN or an infinity", 4),
        ("29007f78000000000000 00", "NaN or an infinity", 4),
    ] {
        let expected = DecodeError::NotJson { encoding: "smile", what, offset };
        assert_eq!(error(&format!("{HEADER}{hex}")), expected, "{hex}");
    }
    let mut long = bytes_of_hex(&format!("{HEADER}262080"));
    let what = "a big number with more digits than the limit";
    // 2,048 bytes in seven bits each are 2,341; 4,096 are 4,682.
    long.extend(vec![1; 2341]);
    assert!(Smile.decode(&long[..4], &mut Document::new()).is_err());
    long.splice(5..7, [0x40, 0x80]);
    long.extend(vec![1; 4682 - 2341]);
    let expected = DecodeError::NotJson { encoding: "smile", what, offset: 4 };
    assert_eq!(Smile.decode(&long, &mut Document::new()), Err(expected));
}

#[test]
fn broken_bytes_are_refused_with_their_place() {
    let ends = "the end of the input within a value";
    let value = "a byte that starts no value";
    let key = "a byte that starts no key";
    let absent = "a reference to a string that was not there";
    let wide = "an integer that is wider than its type";
    let longer = "a reference in a longer form than it has";
    let ascii = "an ASCII string that is not ASCII";
    for (hex, what, offset) in [
        ("", ends, 0),
        ("3a290a", ends, 3),
        ("3a290a03", ends, 4),
        ("7b7d2020", "no Smile header", 0),
        ("3a290b03c0", "no Smile header", 0),
        ("3a290a13c0", "a version of Smile other than 0", 3),
        ("3a290a0300", value, 4),
        ("3a290a0327", value, 4),
        ("3a290a032b", value, 4),
        ("3a290a033a", value, 4),
        ("3a290a03e1", value, 4),
        ("3a290a03f0", value, 4),
        ("3a290a03f9", value, 4),
        ("3a290a03fb", value, 4),
        ("3a290a03f8fb", value, 5),
        ("3a290a03faf9", key, 5),
        ("3a290a03fa8061f9", value, 7),
        ("3a290a03fa8061fb", value, 7),
        ("3a290a03fe", value, 4),
        ("3a290a03ff", value, 4),
        ("3a290a03fa00", key, 5),
        ("3a290a03fa21", key, 5),
        ("3a290a03fa3a", key, 5),
        ("3a290a03fcc0", value, 4),
        ("3a290a0301", absent, 4),
        ("3a290a03fa40c0fb", absent, 5),
        ("3a290a03f84061 02f9", absent, 7),
        ("3a290a03ec1f", absent, 5),
        ("3a290a03fa3040c0fb", absent, 6),
        // References where the header says that nothing is shared.
        ("3a290a00f8406101f9", absent, 7),
        ("3a290a02fa8061c040c0fb", absent, 8),
        ("3a290a03f84061ec00f9", longer, 8),
        ("3a290a03fa8061c03000c0fb", longer, 9),
        ("3a290a0324c0", "an integer whose last byte has bit 6 set", 5),
        ("3a290a0324207f7f7fbf", wide, 9),
        ("3a290a0325047f7f7f7f7f7f7f7fbf", wide, 14),
        ("3a290a032900ff7800000000000000", "a float with a bit that is not used", 14),
        ("3a290a0329023f7800000000000000", "a float with a bit that is not used", 14),
        ("3a290a03280080000000", "a float with a bit that is not used", 9),
        ("3a290a032680", "a big number without bytes", 5),
        ("3a290a0326810180", "binary data with a bit that is not used", 7),
        ("3a290a0326810102", "binary data with a bit that is not used", 7),
        ("3a290a0340ff", ascii, 5),
        ("3a290a03fa80ffc0fb", ascii, 6),
        ("3a290a03e0c3a9fc", ascii, 4),
        ("3a290a0380ffff", "a string that is not UTF-8", 5),
        ("3a290a03e4c3fc", "a string that is not UTF-8", 5),
        ("3a290a03fac1eda080c0fb", "a string that is not UTF-8", 6),
        ("3a290a03fa34eda080fcc0fb", "a string that is not UTF-8", 6),
        ("3a290a03e46161", ends, 7),
        ("3a290a03c0c0", "bytes after the value", 5),
        ("3a290a03c0ffff", "bytes after the value", 6),
        ("3a290a03f8f9ffc0", "bytes after the value", 7),
        // A length that only a liar declares.
        ("3a290a03260f7f7f7fbf01", ends, 11),
    ] {
        assert_eq!(error(hex), DecodeError::Corrupt { encoding: "smile", what, offset }, "{hex}");
    }
}

#[test]
fn every_part_of_a_value_is_refused() {
    let bytes = round_trip(&Smile, SAMPLE).unwrap();
    truncations_are_refused(&Smile, &bytes);
}

#[test]
fn damaged_bytes_never_panic_and_never_cost_memory() {
    let bytes = round_trip(&Smile, SAMPLE).unwrap();
    damage_is_survived(&Smile, &bytes, 20_000);
    let forms =
        "3a290a03f828037e00000024000081268101012a8081000580616101e4c3a9fcfa346161fcc040c0fbf9";
    damage_is_survived(&Smile, &bytes_of_hex(forms), 20_000);
}

#[test]
fn nesting_is_bounded_by_the_limit_and_not_by_the_stack() {
    for is_object in [false, true] {
        round_trip_document(&Smile, &nested(100_000, is_object)).unwrap();
    }
    let limit = NESTING_DEPTH_MAX;
    let mut deep = bytes_of_hex(HEADER);
    deep.extend(vec![0xF8; limit + 1]);
    let too_deep = DecodeError::Document(DocumentError::TooDeep { limit });
    assert_eq!(Smile.decode(&deep, &mut Document::new()), Err(too_deep));
}

#[test]
fn no_number_or_reference_has_the_bytes_that_framing_uses() {
    for text in carried_by_all() {
        let bytes = round_trip(&Smile, &text).unwrap();
        assert!(!bytes.iter().any(|&byte| byte >= 0xFD), "{}", &text[..text.len().min(80)]);
    }
}
