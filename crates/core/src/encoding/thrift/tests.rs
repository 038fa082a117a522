//! Tests of `thrift-binary` and `thrift-compact`: bytes that the specifications show, what travels
//! in the rest, and what hostile bytes may do.

use super::protocol::{Protocol, Type};
use super::{Binary, Compact};
use crate::document::Document;
use crate::encoding::cursor::testing::*;
use crate::encoding::tagged::testing::{OUTSIDE, WITHIN, coder, every_form, field, record};
use crate::encoding::{DecodeError, Refusal};
use crate::schema::tagged::{Form, Integer};

const BOTH: [&str; 2] = ["thrift-binary", "thrift-compact"];

#[test]
fn bytes_are_those_of_the_specification() {
    let list = |form| Form::List(Box::new(form));
    let map = |form| Form::Map(Box::new(form));
    for (form, json, binary, compact) in [
        (Form::Integer(Integer::I8), r#"{"a":-1}"#, "030001ff00", "13ff00"),
        (Form::Integer(Integer::I16), r#"{"a":-1}"#, "060001ffff00", "140100"),
        (Form::Integer(Integer::I32), r#"{"a":150}"#, "0800010000009600", "15ac0200"),
        (Form::Integer(Integer::I64), r#"{"a":1}"#, "0a0001000000000000000100", "160200"),
        (Form::Double, r#"{"a":1}"#, "0400013ff000000000000000", "17000000000000f03f00"),
        (Form::Text, r#"{"a":"x"}"#, "0b0001000000017800", "18017800"),
        (Form::Bool, r#"{"a":true}"#, "0200010100", "1100"),
        (Form::Bool, r#"{"a":false}"#, "0200010000", "1200"),
        (list(Form::Bool), r#"{"a":[true,false]}"#, "0f00010200000002010000", "1921010200"),
        (list(Form::Text), r#"{"a":[]}"#, "0f00010b0000000000", "190800"),
        (
            map(Form::Integer(Integer::I32)),
            r#"{"a":{"k":1}}"#,
            "0d00010b0800000001000000016b0000000100",
            "1b0185016b0200",
        ),
        (map(Form::Text), r#"{"a":{}}"#, "0d00010b0b0000000000", "1b0000"),
    ] {
        for (name, hex) in BOTH.into_iter().zip([binary, compact]) {
            let records = vec![record("One", vec![field("a", vec![(1, form.clone())])])];
            let coder = coder(name, records);
            assert_eq!(encode_hex(coder.as_ref(), json).unwrap(), hex, "{name}: {json}");
            round_trip(coder.as_ref(), json).unwrap();
        }
    }
}

#[test]
fn field_numbers_far_apart_or_falling_take_the_long_form() {
    let fields = vec![
        field("a", vec![(1, Form::Bool)]),
        field("b", vec![(17, Form::Bool)]),
        field("c", vec![(300, Form::Bool)]),
    ];
    let coder = coder("thrift-compact", vec![record("Far", fields)]);
    for (json, hex) in [
        (r#"{"a":true,"b":true,"c":false}"#, "11012202d80400"),
        (r#"{"b":true,"a":true}"#, "0122010200"),
    ] {
        assert_eq!(encode_hex(coder.as_ref(), json).unwrap(), hex);
        round_trip(coder.as_ref(), json).unwrap();
    }
}

#[test]
fn payloads_come_back_within_the_schema_and_outside_it() {
    for name in BOTH {
        let coder = coder(name, every_form());
        for text in WITHIN {
            round_trip(coder.as_ref(), text).unwrap();
            let outside = coder.encode_counting(&document(text), &mut Vec::new()).unwrap();
            assert_eq!(outside, 0, "{name}: {text}");
        }
        for (text, count) in OUTSIDE {
            round_trip(coder.as_ref(), text).unwrap();
            let outside = coder.encode_counting(&document(text), &mut Vec::new()).unwrap();
            assert_eq!(outside, *count, "{name}: {text}");
        }
    }
}

#[test]
fn without_a_rest_a_payload_is_refused_with_its_path() {
    for name in BOTH {
        let mut records = every_form();
        records[0].rest = None;
        let coder = coder(name, records);
        for (text, path) in [
            (r#"{"r":{"lr":[{},{"x":1}]}}"#, "$.r.lr[1].x"),
            (r#"{"lt":["a",5]}"#, "$.lt[1]"),
            (r#"{"b":true,"b":true}"#, "$.b"),
            ("[]", "$"),
        ] {
            let refusal = encode_hex(coder.as_ref(), text).unwrap_err();
            assert!(
                matches!(&refusal, Refusal::OutsideSchema { path: found, .. } if found == path),
                "{name}: {text}: {refusal}"
            );
        }
    }
}

#[test]
fn counts_and_depths_are_not_believed() {
    for (name, hex) in [
        ("thrift-binary", "0f000d0a7fffffff"),
        ("thrift-binary", "0d00110b047fffffff"),
        ("thrift-binary", "0b0007ffffffff"),
        ("thrift-compact", "d9f6ffffffff0f"),
        ("thrift-compact", "0b22ffffffff0f87"),
        ("thrift-compact", "78ffffffffffffffffff01"),
        ("thrift-binary", "0200010002000101"),
        ("thrift-binary", "02004d0100"),
        ("thrift-binary", "0200010200"),
        ("thrift-compact", "1f00"),
        ("thrift-compact", "11"),
    ] {
        let error = decode_hex(coder(name, every_form()).as_ref(), hex).unwrap_err();
        assert!(matches!(error, DecodeError::Corrupt { .. }), "{name} {hex}: {error}");
    }
    for (name, head) in [("thrift-binary", &[12, 0, 11][..]), ("thrift-compact", &[0xBC])] {
        let bytes = head.repeat(10_000);
        let error = coder(name, every_form()).decode(&bytes, &mut Document::new()).unwrap_err();
        assert!(error.to_string().contains("too deep"), "{name}: {error}");
    }
}

#[test]
fn damaged_bytes_are_survived() {
    for name in BOTH {
        let coder = coder(name, every_form());
        for text in WITHIN.iter().chain(OUTSIDE.iter().map(|(text, _)| text)) {
            let bytes = round_trip(coder.as_ref(), text).unwrap();
            truncations_are_refused(coder.as_ref(), &bytes);
            damage_is_survived(coder.as_ref(), &bytes, 300);
        }
    }
}

/// What a field is in one go, and in parts.
fn check_fields<P: Protocol>() {
    for (number, last) in [(1, 0), (15, 0), (16, 0), (16, 1), (300, 299), (3, 7), (32_767, 0)] {
        for length in [0, 1, 127, 128, 16_384, u32::MAX] {
            let (mut whole, mut parts) = (Vec::new(), Vec::new());
            P::text_field(&mut whole, number, last, length);
            P::head(&mut parts, Type::Binary, number, last, None);
            P::length(&mut parts, length);
            assert_eq!(whole, parts, "{} {number} {last} {length}", P::NAME);
        }
        for of in [Type::I8, Type::I16, Type::I32, Type::I64] {
            for value in [0, -1, 63, 64, -64, -65, 127, -128] {
                let (mut whole, mut parts) = (Vec::new(), Vec::new());
                P::integer_field(&mut whole, of, number, last, value);
                P::head(&mut parts, of, number, last, None);
                P::integer(&mut parts, of, value);
                assert_eq!(whole, parts, "{} {number} {last} {value}", P::NAME);
            }
        }
        let (mut whole, mut parts) = (Vec::new(), Vec::new());
        P::double_field(&mut whole, number, last, -1.5);
        P::head(&mut parts, Type::Double, number, last, None);
        P::double(&mut parts, -1.5);
        assert_eq!(whole, parts, "{} {number} {last}", P::NAME);
    }
}

#[test]
fn a_field_in_one_go_has_the_bytes_of_its_parts() {
    check_fields::<Binary>();
    check_fields::<Compact>();
}
