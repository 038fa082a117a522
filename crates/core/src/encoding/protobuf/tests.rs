//! Tests of `protobuf`: bytes that the specification shows, what travels in the rest, and what
//! hostile bytes may do.
//!
//! Bytes are written out by hand from the specification; a test that compares only with our own
//! decoder would pass with both of them wrong.

use crate::document::Document;
use crate::encoding::cursor::testing::*;
use crate::encoding::tagged::testing::{OUTSIDE, WITHIN, coder, every_form, field, record};
use crate::encoding::{DecodeError, Refusal, WithSchema};
use crate::schema::tagged::{Form, Integer, Record};

fn every() -> Box<dyn WithSchema> {
    coder("protobuf", every_form())
}

fn one(form: Form) -> Box<dyn WithSchema> {
    numbered(1, form)
}

fn numbered(number: u32, form: Form) -> Box<dyn WithSchema> {
    coder("protobuf", vec![record("One", vec![field("a", vec![(number, form)])])])
}

#[test]
fn bytes_are_those_of_the_specification() {
    let list = |form| Form::List(Box::new(form));
    for (form, json, hex) in [
        (Form::Integer(Integer::I32), r#"{"a":150}"#, "089601"),
        (Form::Integer(Integer::I32), r#"{"a":-2}"#, "08feffffffffffffffff01"),
        (Form::Integer(Integer::U64), r#"{"a":18446744073709551615}"#, "08ffffffffffffffffff01"),
        (Form::Integer(Integer::S32), r#"{"a":-500}"#, "08e707"),
        (Form::Integer(Integer::Fixed32), r#"{"a":1}"#, "0d01000000"),
        (Form::Integer(Integer::Sfixed64), r#"{"a":-1}"#, "09ffffffffffffffff"),
        (Form::Double, r#"{"a":1.0}"#, "09000000000000f03f"),
        (Form::Float, r#"{"a":0.5}"#, "0d0000003f"),
        (Form::Text, r#"{"a":"testing"}"#, "0a0774657374696e67"),
        (Form::Bool, r#"{"a":false}"#, "0800"),
        (Form::Null, r#"{"a":null}"#, "0801"),
        (list(Form::Integer(Integer::I32)), r#"{"a":[3,270,86942]}"#, "0a06038e029ea705"),
        (list(Form::Text), r#"{"a":["x","y"]}"#, "0a01780a0179"),
        (Form::Map(Box::new(Form::Integer(Integer::I32))), r#"{"a":{"k":1}}"#, "0a050a016b1001"),
        (list(Form::Text), r#"{"a":[]}"#, "f07f01"),
        (Form::Text, r#"{"b":[1]}"#, "fa7f080a016212035b315d"),
    ] {
        let coder = one(form);
        assert_eq!(encode_hex(coder.as_ref(), json).unwrap(), hex, "{json}");
        round_trip(coder.as_ref(), json).unwrap();
    }
}

#[test]
fn bytes_of_other_writers_are_read() {
    let list = Form::List(Box::new(Form::Integer(Integer::I32)));
    let map = || Form::Map(Box::new(Form::Text));
    for (form, hex, json) in [
        (list.clone(), "0803088e02", r#"{"a":[3,270]}"#),
        (list.clone(), "0a01030a028e02", r#"{"a":[3,270]}"#),
        (list, "0a0103088e02", r#"{"a":[3,270]}"#),
        (map(), "0a00", r#"{"a":{"":""}}"#),
        (map(), "0a030a016b", r#"{"a":{"k":""}}"#),
        (Form::Text, "", "{}"),
    ] {
        assert_eq!(decode_hex(one(form).as_ref(), hex).unwrap(), json, "{hex}");
    }
}

#[test]
fn what_the_schema_has_a_place_for_needs_no_rest() {
    for text in WITHIN {
        round_trip(every().as_ref(), text).unwrap();
        let outside = every().encode_counting(&document(text), &mut Vec::new()).unwrap();
        assert_eq!(outside, 0, "{text}");
    }
}

#[test]
fn what_it_has_no_place_for_travels_in_the_rest_and_keeps_its_place() {
    for (text, count) in OUTSIDE {
        round_trip(every().as_ref(), text).unwrap();
        let outside = every().encode_counting(&document(text), &mut Vec::new()).unwrap();
        assert_eq!(outside, *count, "{text}");
    }
}

#[test]
fn without_a_rest_a_payload_is_refused_with_its_path() {
    let mut records = every_form();
    (records[0].rest, records[0].empties) = (None, None);
    let coder = coder("protobuf", records);
    for (text, path) in [
        (r#"{"r":{"lr":[{},{"x y":1}]}}"#, r#"$.r.lr[1]["x y"]"#),
        (r#"{"lt":["a",5]}"#, "$.lt[1]"),
        (r#"{"b":1}"#, "$.b"),
        (r#"{"lt":[]}"#, "$.lt"),
        (r#"{"b":true,"b":true}"#, "$.b"),
        (r#"{"mr":{"k":{"d":"x"}}}"#, "$.mr.k.d"),
        ("[]", "$"),
    ] {
        let refusal = encode_hex(coder.as_ref(), text).unwrap_err();
        assert!(
            matches!(&refusal, Refusal::OutsideSchema { path: found, .. } if found == path),
            "{text}: {refusal}"
        );
    }
}

#[test]
fn lengths_of_any_width_are_filled_in() {
    for length in [100, 126, 127, 128, 200, 16_380, 16_384, 70_000] {
        let text = "x".repeat(length);
        let json = format!(r#"{{"r":{{"r":{{"t":"{text}"}},"lr":[{{"t":"{text}"}},{{}}]}}}}"#);
        round_trip(every().as_ref(), &json).unwrap();
    }
}

#[test]
fn what_is_deeper_than_readers_take_travels_as_text() {
    let deep = |levels: usize| r#"{"r":"#.repeat(levels) + "{}" + &"}".repeat(levels);
    let count = |text: &str| every().encode_counting(&document(text), &mut Vec::new()).unwrap();
    assert_eq!((count(&deep(99)), count(&deep(100)), count(&deep(5_000))), (0, 1, 1));
    round_trip(every().as_ref(), &deep(5_000)).unwrap();
    // Bytes that nest deeper than that are not followed.
    let mut bytes = Vec::new();
    for _ in 0..10_000 {
        let mut outer = vec![11 << 3 | 2];
        let mut length = bytes.len();
        while length >= 0x80 {
            outer.push(length as u8 | 0x80);
            length >>= 7;
        }
        outer.push(length as u8);
        outer.extend_from_slice(&bytes);
        bytes = outer;
    }
    let error = every().decode(&bytes, &mut Document::new()).unwrap_err();
    assert!(matches!(error, DecodeError::Corrupt { .. }), "{error}");
}

#[test]
fn what_the_schema_does_not_say_is_an_error_and_no_loss() {
    for (hex, what) in [
        ("980101", "a field that the schema does not have"),
        ("08010801", "a field that stands twice"),
        ("08011001", "a field that stands twice"),
        ("0d00000000", "a wire type that is not the field's"),
        ("1880808080f0ffffffff01", "an integer out of the range of its type"),
        ("f27f00", "a wire type that is not the field's"),
        ("f07f01", "an empty list of a field that is none"),
        ("1000", "a null that is not set"),
        ("4805", "an unknown number of an enumeration"),
        ("3a05", "a length beyond what holds it"),
        ("5a033a0561", "a length beyond what holds it"),
        ("52017b", "a text that is no JSON"),
        ("2a0122", "a text that is no number"),
        ("2a047472756500", "a text that is no number"),
        ("820100", "a record for one value has none or two"),
        ("820104080110 01", "a record for one value has none or two"),
    ] {
        let error = decode_hex(every().as_ref(), hex).unwrap_err().to_string();
        assert!(error.contains(what), "{hex}: {error}");
    }
    let error = decode_hex(one(Form::Double).as_ref(), "09000000000000f07f").unwrap_err();
    assert!(matches!(error, DecodeError::NotJson { .. }), "{error}");
}

#[test]
fn damaged_bytes_are_survived() {
    let texts = WITHIN.iter().chain(OUTSIDE.iter().map(|(text, _)| text));
    for text in texts.filter(|text| text.len() > 2) {
        let bytes = round_trip(every().as_ref(), text).unwrap();
        damage_is_survived(every().as_ref(), &bytes, 300);
    }
}

#[test]
fn a_payload_that_is_no_object_is_a_value() {
    let value = every_form().remove(1);
    let records = vec![Record { name: "Root".to_owned(), ..value }, every_form().remove(1)];
    let mut records = records;
    // The objects of this schema are texts: there is no record to hold them.
    for record in &mut records {
        record.fields[0].alternatives.truncate(5);
    }
    let coder = coder("protobuf", records);
    for text in ["null", "true", "1.5", r#""x""#, "[]", r#"[null,["a",[]]]"#] {
        round_trip(coder.as_ref(), text).unwrap();
    }
    let refusal = encode_hex(coder.as_ref(), "{}").unwrap_err();
    assert!(matches!(refusal, Refusal::OutsideSchema { .. }));
    assert!(decode_hex(coder.as_ref(), "").is_err());
}

#[test]
fn numbers_and_lengths_on_either_side_of_a_byte_come_back() {
    let text = |length| "x".repeat(length);
    for number in [1, 15, 16, 2_000] {
        for length in [0, 1, 16, 17, 32, 33, 127, 128, 300] {
            let coder = numbered(number, Form::Text);
            let json = format!(r#"{{"a":"{}"}}"#, text(length));
            round_trip(coder.as_ref(), &json).unwrap();
        }
        for value in [0, 1, 127, 128, -1, 2_147_483_647] {
            let coder = numbered(number, Form::Integer(Integer::I32));
            round_trip(coder.as_ref(), &format!(r#"{{"a":{value}}}"#)).unwrap();
        }
        round_trip(numbered(number, Form::Double).as_ref(), r#"{"a":-1.5}"#).unwrap();
    }
    for (form, json, hex) in [
        (Form::Text, r#"{"a":"x"}"#, "82010178"),
        (Form::Integer(Integer::I32), r#"{"a":128}"#, "80018001"),
        (Form::Double, r#"{"a":1}"#, "8101000000000000f03f"),
    ] {
        assert_eq!(encode_hex(numbered(16, form).as_ref(), json).unwrap(), hex, "{json}");
    }
}
