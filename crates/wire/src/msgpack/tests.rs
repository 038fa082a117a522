//! MessagePack walked, read and written as JSON, against the encoder of `rmp-serde` and against
//! bytes made by hand.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::fuzzing::{msgpack_any, same_at_every_cut};

fn text_of(bytes: &[u8]) -> Result<String, MsgpackError> {
    let mut out = Vec::new();
    write_json(bytes, &mut out)?;
    Ok(String::from_utf8(out).unwrap())
}

#[test]
fn every_kind_has_its_text() {
    let cases: [(&[u8], &str); 25] = [
        (b"\xC0", "null"),
        (b"\xC2", "false"),
        (b"\xC3", "true"),
        (b"\x7F", "127"),
        (b"\xE0", "-32"),
        (b"\xCC\xFF", "255"),
        (b"\xCD\xFF\xFF", "65535"),
        (b"\xCE\xFF\xFF\xFF\xFF", "4294967295"),
        (b"\xCF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", "18446744073709551615"),
        (b"\xD0\x80", "-128"),
        (b"\xD1\x80\x00", "-32768"),
        (b"\xD2\x80\x00\x00\x00", "-2147483648"),
        (b"\xD3\x80\x00\x00\x00\x00\x00\x00\x00", "-9223372036854775808"),
        (b"\xCA\x3F\x00\x00\x00", "0.5"),
        (b"\xCB\x7F\xF0\x00\x00\x00\x00\x00\x00", "null"),
        (b"\xCB\x7E\x37\xE4\x3C\x88\x00\x75\x9C", "1e300"),
        (b"\xA3a\"\n", r#""a\"\n""#),
        (b"\xD9\x02\x01\xFF", "\"\\u0001\u{FFFD}\""),
        (b"\xC4\x01x", "\"x\""),
        (b"\xD4\x05\xAB", "\"ab\""),
        (b"\xC7\x02\x05\xAB\xCD", "\"abcd\""),
        (b"\x90", "[]"),
        (b"\x80", "{}"),
        (b"\x92\x90\x81\x01\x80", "[[],{\"1\":{}}]"),
        (b"\xDE\x00\x02\xA1a\xDC\x00\x01\xC0\xC0\xDF\x00\x00\x00\x00", r#"{"a":[null],"null":{}}"#),
    ];
    for (bytes, text) in cases {
        assert_eq!(text_of(bytes).as_deref(), Ok(text));
        let complete = Walker::default().walk(bytes, bytes.len());
        assert_eq!(complete, Ok(Walk::Complete(bytes.len())), "{text}");
    }
}

#[test]
fn what_is_no_value_is_refused_and_leaves_nothing_behind() {
    let error = |bytes: &[u8]| {
        let mut out = b"before".to_vec();
        let error = write_json(bytes, &mut out).unwrap_err();
        assert_eq!(out, b"before");
        error
    };
    assert_eq!(error(b""), MsgpackError::CutOff);
    assert_eq!(error(b"\x92\x01"), MsgpackError::CutOff);
    assert_eq!(error(b"\xDB\xFF\xFF\xFF\xFFx"), MsgpackError::CutOff);
    assert_eq!(error(b"\xC1"), MsgpackError::Reserved);
    assert!(matches!(error(b"\x01\x01"), MsgpackError::Unexpected(_)));
    assert!(matches!(error(b"\x81\x90\x01"), MsgpackError::Unexpected(_)));
    assert_eq!(error(&[0x91; 100]), MsgpackError::TooDeep);
}

#[test]
fn claims_are_refused_before_anything_waits_for_them() {
    let too_long = Err(MsgpackError::TooLong { limit_bytes: 100 });
    let claims: [&[u8]; 4] =
        [b"\xDD\xFF\xFF\xFF\xFF", b"\xDF\x7F\xFF\xFF\xFF", b"\xC6\xFF\xFF\xFF\xFF", b"\xD9\x63"];
    for claim in claims {
        assert_eq!(Walker::default().walk(claim, 100), too_long);
    }
    assert_eq!(Walker::default().walk(b"\xD9\x62", 100), Ok(Walk::Needs(100)));
    assert_eq!(Walker::default().walk(&[0x91; 1000], 10_000), Err(MsgpackError::TooDeep));
}

#[test]
fn a_walk_goes_on_where_it_stopped() {
    let value = json!({"a": [1, "two", {"three": [[], {}]}], "b": "x".repeat(300)});
    let bytes = rmp_serde::to_vec(&value).unwrap();
    let walked = same_at_every_cut(&bytes, |lengths| {
        let (mut walker, mut length, mut last) = (Walker::default(), 0_usize, None);
        for piece in lengths.chain([usize::MAX]) {
            length = bytes.len().min(length.saturating_add(piece));
            last = Some(walker.walk(&bytes[..length], 1000).unwrap());
            if let Some(Walk::Complete(_)) = last {
                break;
            }
        }
        last
    });
    assert_eq!(walked, Some(Walk::Complete(bytes.len())));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        // Quarters, which every parser reads exactly.
        any::<i32>().prop_map(|number| Value::from(f64::from(number) / 4.0)),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 60, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..20).prop_map(Value::from),
            prop::collection::btree_map(".*", inner, 0..20)
                .prop_map(|map| Value::from_iter(map.into_iter())),
        ]
    })
}

proptest! {
    #[test]
    fn any_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        msgpack_any(&bytes);
    }

    #[test]
    fn what_another_encoder_writes_is_read(value in any_json()) {
        let bytes = rmp_serde::to_vec(&value).unwrap();
        let text = text_of(&bytes).unwrap();
        prop_assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}
