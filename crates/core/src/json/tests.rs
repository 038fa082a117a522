//! Tests of both parsers and the writer: against each other, against serde_json, and on the
//! payloads that other parsers get wrong.

use proptest::prelude::*;

use super::*;
use crate::document::{Fidelity, Node, first_difference};

/// Parses with both parsers, which must agree, and writes the document again.
fn minify(text: &[u8]) -> Result<Vec<u8>, JsonError> {
    let (mut ordinary, mut simd) = (Document::new(), Document::new());
    let first = parse(Parser::Ordinary, text, &mut ordinary);
    let second = parse(Parser::Simd, text, &mut simd);
    assert_eq!(first.is_ok(), second.is_ok(), "{first:?} {second:?} {:?}", text.escape_ascii());
    first?;
    assert_eq!(first_difference(&ordinary, &simd, Fidelity::ValueAndText), None);
    let mut out = Vec::new();
    write(&ordinary, &mut out);
    Ok(out)
}

#[track_caller]
fn assert_exact(text: &str) {
    assert_eq!(minify(text.as_bytes()).unwrap(), text.as_bytes());
}

#[track_caller]
fn assert_refused(text: &[u8]) {
    assert!(minify(text).is_err(), "{:?}", text.escape_ascii());
}

#[test]
fn number_texts_are_kept() {
    for text in [
        "0",
        "-0",
        "-0.0",
        "1.0",
        "12.50",
        "1e400",
        "1E+2",
        "-1e-7",
        "9223372036854775807",
        "-9223372036854775808",
        "9223372036854775808",
        "-9223372036854775809",
        "12345678901234567890",
        "18446744073709551615",
        "18446744073709551616",
        "99999999999999999999",
        "123456789012345678901234567890.10",
    ] {
        assert_exact(text);
        assert_exact(&format!("[{text}]"));
    }
}

#[test]
fn keys_strings_and_structure_are_kept() {
    for text in [
        r#"{}"#,
        r#"[]"#,
        r#"[[],{}]"#,
        r#"{"":{"":[]}}"#,
        r#"{"a":1,"a":2,"b":null}"#,
        r#"{"b":1,"a":[true,false,null]}"#,
        r#""\"\\/\b\f\n\r\t\u0000\u001f""#,
        r#""𝄞 €é\u007f""#,
    ] {
        let written = minify(text.as_bytes()).unwrap();
        let again = minify(&written).unwrap();
        assert_eq!(written, again);
    }
    assert_exact(r#"{"a":1,"a":2,"b":{"":[]}}"#);
}

#[test]
fn lone_surrogates_are_kept_and_pairs_are_joined() {
    assert_exact(r#"["\ud800","\udc00","\udc00\ud800","\ud800\ud800","x\udfffy"]"#);
    assert_eq!(minify(br#""\ud834\udd1e""#).unwrap(), "\"𝄞\"".as_bytes());
    assert_eq!(minify(br#""\ud800\ud834\udd1e""#).unwrap(), "\"\\ud800𝄞\"".as_bytes());
    assert_exact("\"\u{D7FF}\u{E000}\u{D000}\"");
}

#[test]
fn white_space_goes_and_nothing_else() {
    let pretty = b" {\n\t\"a b\" : [ 1 ,\r\n -2.0 , \"  \" ] , \"c\" : { } }\n";
    assert_eq!(minify(pretty).unwrap(), br#"{"a b":[1,-2.0,"  "],"c":{}}"#);
}

#[test]
fn what_is_no_json_is_refused() {
    let texts: [&[u8]; 52] = [
        b"",
        b" ",
        b"{",
        b"}",
        b"[",
        b"]",
        b"[1",
        b"[1,",
        b"[1,]",
        b"[,1]",
        b"[1 2]",
        b"{\"a\"",
        b"{\"a\":",
        b"{\"a\":1",
        b"{\"a\":1,",
        b"{\"a\":1,}",
        b"{\"a\" 1}",
        b"{a:1}",
        b"{1:1}",
        b"{\"a\":1 \"b\":2}",
        b"[1}",
        b"{\"a\":1]",
        b"1 2",
        b"1,",
        b"tru",
        b"truex",
        b"nul",
        b"True",
        b"NaN",
        b"Infinity",
        b"-",
        b"-a",
        b"+1",
        b"01",
        b"-01",
        b"1.",
        b".5",
        b"1e",
        b"1e+",
        b"1.e1",
        b"0x10",
        b"1a",
        b"\"a",
        b"\"a\\",
        b"\"\\x\"",
        b"\"\\u12\"",
        b"\"\\u12g4\"",
        b"\"a\x01b\"",
        b"\"a\nb\"",
        b"\"\xff\"",
        b"\\\"a\\\"",
        b"[\"a\"\"b\"]",
    ];
    for text in texts {
        assert_refused(text);
        assert_refused(&[b"[", text, b"x]"].concat());
    }
    assert_refused(b"\"\xed\xa0\x80\"");
    assert_refused("\u{FEFF}{}".as_bytes());
    assert_refused("\u{A0}1".as_bytes());
}

#[test]
fn a_hundred_thousand_levels_cost_no_stack() {
    let depth = 100_000;
    let text = [b"[".repeat(depth), b"]".repeat(depth)].concat();
    assert_eq!(minify(&text).unwrap(), text);
    let text = [b"{\"a\":".repeat(depth), b"1".to_vec(), b"}".repeat(depth)].concat();
    assert_eq!(minify(&text).unwrap(), text);
}

#[test]
fn nesting_beyond_the_limit_is_a_typed_error() {
    let text = b"[".repeat(crate::limits::NESTING_DEPTH_MAX + 1);
    let error = DocumentError::TooDeep { limit: crate::limits::NESTING_DEPTH_MAX };
    for parser in [Parser::Ordinary, Parser::Simd] {
        let parsed = parse(parser, &text, &mut Document::new());
        assert_eq!(parsed, Err(JsonError::Document(error)), "{parser:?}");
    }
}

#[test]
fn a_document_is_reused() {
    let mut document = Document::new();
    for parser in [Parser::Ordinary, Parser::Simd] {
        for (text, nodes) in [("[1,\"a\\n\"]", 3), ("{\"a\":{}}", 3), ("7", 1)] {
            parse(parser, text.as_bytes(), &mut document).unwrap();
            assert_eq!(document.nodes().len(), nodes);
        }
    }
    assert_eq!(document.nodes(), [Node::Int(7)]);
}

#[test]
fn a_text_that_is_too_long_is_given_up_before_it_takes_memory() {
    // A decoder may make many strings of the same few bytes.
    let mut document = Document::new();
    document.open(false).unwrap();
    let span = document.push_text(&[1; 64]).unwrap();
    (0..100_000).for_each(|_| document.push(Node::String(span)));
    document.close(100_000);
    let mut out = Vec::new();
    assert!(!write_at_most(&document, 1_000, &mut out));
    // Each of the last string's 64 bytes may have become an escape of six.
    assert!(out.len() <= 1_000 + 6 * 64 && out.capacity() < 10_000, "{}", out.len());
    let all = minify(b"[1,\"a\",{}]").unwrap();
    parse(Parser::Simd, &all, &mut document).unwrap();
    for limit in 0..20 {
        let mut out = Vec::new();
        assert_eq!(write_at_most(&document, limit, &mut out), limit >= all.len(), "{limit}");
    }
}

#[test]
fn a_document_takes_no_more_nodes_than_it_is_told_to() {
    let mut document = Document::new();
    document.limit_nodes(3);
    parse(Parser::Ordinary, b"[1,2]", &mut document).unwrap();
    assert!(!document.is_overfull());
    parse(Parser::Ordinary, b"[1,2,3]", &mut document).unwrap();
    assert!(document.is_overfull() && document.nodes().len() == 3);
    let deep = parse(Parser::Simd, b"[[[[]]]]", &mut document);
    assert_eq!(deep, Err(JsonError::Document(DocumentError::TooManyNodes { limit: 3 })));
}

/// Values with the shapes, texts and escapes that tell parsers apart.
fn any_json() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|b| b.to_string()),
        any::<i64>().prop_map(|n| n.to_string()),
        any::<u64>().prop_map(|n| n.to_string()),
        "-?(0|[1-9][0-9]{0,22})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?",
        any_string(),
    ];
    scalar.prop_recursive(6, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6)
                .prop_map(|values| format!("[{}]", values.join(","))),
            prop::collection::vec((any_string(), inner), 0..6).prop_map(|pairs| {
                let pairs: Vec<_> = pairs.iter().map(|(k, v)| format!("{k} :\t{v}")).collect();
                format!("{{ {} }}", pairs.join("\n, "))
            }),
        ]
    })
}

fn any_string() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[ -!#-\\[\\]-~]{0,40}",
        1 => any::<char>().prop_filter("raw", |&c| c >= ' ' && c != '"' && c != '\\')
            .prop_map(String::from),
        1 => any::<u16>().prop_map(|unit| format!("\\u{unit:04x}")),
        1 => prop::sample::select(vec!["\\\\", "\\\"", "\\n", "\\/", "\\b"]).prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

proptest! {
    #[test]
    fn written_text_parses_to_the_same_document(text in any_json()) {
        let written = minify(text.as_bytes()).unwrap();
        prop_assert_eq!(minify(&written).unwrap(), written);
    }

    #[test]
    fn the_verdict_is_serde_json_s(
        text in any_json(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
    ) {
        let mut bytes = text.into_bytes();
        for (index, byte) in changes {
            let index = index.index(bytes.len());
            bytes[index] = byte;
        }
        let ours = minify(&bytes).is_ok();
        // serde_json refuses lone surrogates and numbers beyond a double where it makes values;
        // both are valid JSON, so it is asked to ignore values, and then UTF-8 is our question.
        let theirs = str::from_utf8(&bytes).is_ok()
            && serde_json::from_slice::<serde::de::IgnoredAny>(&bytes).is_ok();
        prop_assert_eq!(ours, theirs, "{}", bytes.escape_ascii());
    }

    #[test]
    fn any_bytes_get_the_same_verdict_from_both(bytes in any::<Vec<u8>>()) {
        let _ = minify(&bytes);
    }
}
