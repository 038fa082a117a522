//! Tests of `avro`: bytes that the specification shows, the order of keys, what travels in the
//! rest, and what hostile bytes may do.

use std::sync::Arc;

use crate::document::Document;
use crate::encoding::cursor::testing::*;
use crate::encoding::{DecodeError, Refusal, WithSchema, encoding_named};
use crate::schema::avro::{Field, Plan, Record, Type};
use crate::schema::{Language, Schema};

fn coder(records: Vec<Record>, root: Type) -> Box<dyn WithSchema> {
    let plan = crate::schema::Plan::Avro(Arc::new(Plan::new(records, root).unwrap()));
    let schema = Schema::new(Language::Avro, b"a schema of the tests".to_vec(), plan);
    encoding_named("avro").unwrap().with_schema(Some(&schema)).unwrap().unwrap()
}

fn field(key: &str, of: Type) -> Field {
    Field { key: key.to_owned(), name: key.to_owned(), of, absent: None }
}

fn optional(key: &str, branches: Vec<Type>) -> Field {
    let branches = [Type::Null].into_iter().chain(branches).collect();
    Field { absent: Some(0), ..field(key, Type::Union(branches)) }
}

fn one(of: Type) -> Box<dyn WithSchema> {
    coder(Vec::new(), of)
}

/// A record with one field that is always there, and others.
fn every(has_rest: bool) -> Box<dyn WithSchema> {
    let list = |of| Type::List(Box::new(of));
    let value = Type::Union(vec![Type::Null, Type::Double, Type::Text, Type::Record(0)]);
    let fields = vec![
        field("a", Type::Int),
        optional("b", vec![Type::JsonNull, Type::Bool]),
        optional("n", vec![Type::NumberText]),
        optional("t", vec![Type::Text]),
        optional("j", vec![Type::Json]),
        optional("e", vec![Type::Enum(vec!["RED".to_owned(), "BLUE".to_owned()])]),
        optional("y", vec![Type::Bytes(None)]),
        optional("r", vec![Type::Record(0)]),
        optional("l", vec![list(value)]),
        optional("m", vec![Type::Map(Box::new(Type::Long))]),
    ];
    coder(vec![Record { name: "Payload".to_owned(), fields, has_rest }], Type::Record(0))
}

/// Payloads that the schema takes, and how many members of each have no place in it.
const PAYLOADS: &[(&str, u64)] = &[
    (r#"{"a":1}"#, 0),
    (r#"{"a":-1,"b":null,"n":1e400,"t":"é","j":[1,{}],"e":"BLUE","y":"Zm9v"}"#, 0),
    (r#"{"a":1,"b":true,"r":{"a":2,"r":{"a":3}},"l":[null,1.5,"x",{"a":4}],"m":{"k":5}}"#, 0),
    (r#"{"a":1,"l":[],"m":{}}"#, 0),
    (r#"{"t":"keys in another order","b":false,"a":1}"#, 0),
    (r#"{"a":1,"unknown":[1,"\ud800"]}"#, 1),
    (r#"{"x":1,"b":true,"y":"no base64","a":1,"x":2}"#, 3),
    (r#"{"a":1,"r":{"lacks":"a"},"t":"\ud800"}"#, 2),
    (r#"{"a":1,"r":{"x":1,"a":2},"l":[{"b":true,"a":1}]}"#, 1),
    (r#"{"a":1,"a":2,"e":"GREEN","m":{"k":1,"k":2}}"#, 3),
];

#[test]
fn bytes_are_those_of_the_specification() {
    let list = |of| Type::List(Box::new(of));
    let union = || Type::Union(vec![Type::Null, Type::Text]);
    for (of, json, hex) in [
        (Type::Long, "0", "00"),
        (Type::Long, "-1", "01"),
        (Type::Long, "64", "8001"),
        (Type::Int, "-64", "7f"),
        (Type::Text, r#""foo""#, "06666f6f"),
        (Type::Double, "1.0", "000000000000f03f"),
        (Type::Float, "0.5", "0000003f"),
        (Type::Bool, "true", "01"),
        (list(Type::Long), "[3,27]", "04063600"),
        (list(Type::Long), "[]", "00"),
        (union(), "null", "00"),
        (union(), r#""a""#, "020261"),
        (Type::Bytes(Some(3)), r#""Zm9v""#, "666f6f"),
        (Type::Map(Box::new(Type::Bool)), r#"{"k":true}"#, "02026b0100"),
        (Type::Enum(vec!["A".to_owned(), "D".to_owned()]), r#""D""#, "02"),
    ] {
        assert_eq!(encode_hex(one(of.clone()).as_ref(), json).unwrap(), hex, "{json}");
        round_trip(one(of).as_ref(), json).unwrap();
    }
}

#[test]
fn lists_in_several_blocks_and_with_their_sizes_are_read() {
    let list = one(Type::List(Box::new(Type::Long)));
    for hex in ["0206023600", "0304063600", "010206023600"] {
        assert_eq!(decode_hex(list.as_ref(), hex).unwrap(), "[3,27]", "{hex}");
    }
}

#[test]
fn payloads_come_back_with_their_order_and_what_has_no_place() {
    for (text, count) in PAYLOADS {
        round_trip(every(true).as_ref(), text).unwrap();
        let outside = every(true).encode_counting(&document(text), &mut Vec::new()).unwrap();
        assert_eq!(outside, *count, "{text}");
    }
}

#[test]
fn a_payload_that_lacks_a_key_or_has_no_place_for_one_is_refused_with_its_path() {
    for (has_rest, text, path) in [
        (true, r#"{"b":true}"#, "$"),
        (true, r#"{"a":1.5}"#, "$.a"),
        (false, r#"{"a":1,"b":5}"#, "$.b"),
        (false, r#"{"a":1,"x":5}"#, "$.x"),
        (false, r#"{"b":true,"a":1}"#, "$"),
        (false, r#"{"a":1,"l":[{"a":1},{"a":"x"}]}"#, "$.l[1].a"),
        (true, "[]", "$"),
    ] {
        let refusal = encode_hex(every(has_rest).as_ref(), text).unwrap_err();
        assert!(
            matches!(&refusal, Refusal::OutsideSchema { path: found, .. } if found == path),
            "{text}: {refusal}"
        );
    }
}

#[test]
fn counts_branches_and_orders_are_not_believed() {
    let none = "feffffffffffffffff01";
    for (of, hex) in [
        (Type::List(Box::new(Type::Long)), format!("{none}00")),
        (Type::List(Box::new(Type::Null)), "feffffff0f00".to_owned()),
        (Type::List(Box::new(Type::Null)), "0200".to_owned()),
        (Type::Text, none.to_owned()),
        (Type::Text, "01".to_owned()),
        (Type::Union(vec![Type::Null]), "02".to_owned()),
        (Type::Union(vec![Type::Null]), "01".to_owned()),
        (Type::Int, "feffffffffffffffff01".to_owned()),
        (Type::Bool, "02".to_owned()),
        (Type::Enum(Vec::new()), "00".to_owned()),
    ] {
        let error = decode_hex(one(of.clone()).as_ref(), &hex).unwrap_err();
        assert!(matches!(error, DecodeError::Corrupt { .. }), "{of:?} {hex}: {error}");
    }
    // The field a, nine that are absent, and a rest with an order: of what is not there, of one key
    // twice, of a member that does not follow; and one without an order, which is sound.
    let start = "02000000000000000000";
    for order in ["0202", "040000", "0201", ""] {
        let hex = format!("{start}02{order}0000");
        let decoded = decode_hex(every(true).as_ref(), &hex);
        assert_eq!(decoded.is_err(), !order.is_empty(), "{order}: {decoded:?}");
    }
    let deep = [&[2, 0, 0, 0, 0, 0, 0, 2][..]; 10_000].concat();
    let error = every(true).decode(&deep, &mut Document::new()).unwrap_err();
    assert!(error.to_string().contains("too deep"), "{error}");
}

#[test]
fn damaged_bytes_are_survived() {
    for (text, _) in PAYLOADS {
        let bytes = round_trip(every(true).as_ref(), text).unwrap();
        truncations_are_refused(every(true).as_ref(), &bytes);
        damage_is_survived(every(true).as_ref(), &bytes, 300);
    }
}
