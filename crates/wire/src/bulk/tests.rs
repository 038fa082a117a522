//! Bodies as the clients of Elasticsearch and Loki send them, the answers they read, and hostile
//! ones. The protobuf of Loki is made by `prost` from the fields of its `push.proto`.

use proptest::prelude::*;
use prost::Message;
use serde_json::{Value, json};

use super::elastic::{Action, ElasticError, Item, Outcome, read_bulk, write_response};
use super::loki::{LokiError, read_json, read_protobuf};
use crate::fuzzing::{elastic_any, loki_any};
use crate::limits::LINES_BYTES_MAX;

fn item<'a>(action: Action, index: Option<&'a str>, document: &'a str) -> Item<'a> {
    let index = index.map(Into::into);
    Item { action, index, id: None, document: document.as_bytes() }
}

#[test]
fn a_bulk_request_is_read_and_answered() {
    let body = b"{\"create\":{\"_index\":\"logs-a\"}}\n{\"m\":1}\r\n\n\
        {\"index\":{}}\r\n{\"m\":\"2\\n\"}\n\
        {\"delete\":{\"_index\":\"b\",\"_id\":\"7\"}}\n\
        {\"update\":{\"_index\":\"a\\u0062\",\"retry_on_conflict\":3}}\n{\"doc\":{}}\n\
        {\"index\":{\"_id\":\"x\"}}\n[1]";
    let mut items = Vec::new();
    read_bulk(body, &mut items).unwrap();
    let expected = [
        item(Action::Create, Some("logs-a"), "{\"m\":1}"),
        item(Action::Index, None, "{\"m\":\"2\\n\"}"),
        Item { id: Some("7".into()), ..item(Action::Delete, Some("b"), "") },
        item(Action::Update, Some("ab"), "{\"doc\":{}}"),
        Item { id: Some("x".into()), ..item(Action::Index, None, "[1]") },
    ];
    assert_eq!(items, expected);
    let mut outcomes: Vec<Outcome> = items.iter().map(Outcome::of).collect();
    let (created, refused) = (Outcome::Created, Outcome::Refused);
    assert_eq!(outcomes, [created, created, refused, refused, refused]);
    outcomes[1] = Outcome::NotNow;
    let mut answer = Vec::new();
    write_response(3, &items, &outcomes, "logs", &mut answer);
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    assert_eq!((&answer["took"], &answer["errors"]), (&json!(3), &json!(true)));
    let taken = json!({"create": {"_index": "logs-a", "status": 201, "result": "created"}});
    assert_eq!(answer["items"][0], taken);
    assert_eq!(answer["items"][1]["index"]["_index"], "logs");
    assert_eq!(answer["items"][1]["index"]["status"], 429);
    let kind = &answer["items"][1]["index"]["error"]["type"];
    assert_eq!(kind, "es_rejected_execution_exception");
    assert_eq!(answer["items"][2]["delete"]["status"], 400);
    assert_eq!(answer["items"][4]["index"]["_id"], "x");
}

#[test]
fn a_bulk_request_that_went_well_says_so() {
    let mut items = Vec::new();
    read_bulk(b"{\"index\":{\"_index\":\"a\"}}\n{}\n", &mut items).unwrap();
    let mut answer = Vec::new();
    write_response(0, &items, &[Outcome::Created], "logs", &mut answer);
    let expected = r#"{"took":0,"errors":false,"items":[{"index":{"_index":"a","status":201,"#;
    assert!(answer.starts_with(expected.as_bytes()));
}

#[test]
fn a_bulk_request_that_makes_no_sense_is_refused_whole() {
    let error = |body: &str| {
        let mut items = Vec::new();
        let error = read_bulk(body.as_bytes(), &mut items).unwrap_err();
        assert!(items.is_empty());
        error
    };
    let cut = error("{\"index\":{}}\n{}\n{\"create\":{}}");
    assert_eq!(cut, ElasticError::NoDocument { line: 3 });
    for body in ["{}\n{}\n", "{\"index\":{}}\n{}\nno JSON\n", "{\"drop\":{}}\n", "[]\n"] {
        assert!(matches!(error(body), ElasticError::Action { .. }), "{body}");
    }
    assert!(matches!(error(&"{\"index\":".repeat(10_000)), ElasticError::Action { line: 1, .. }));
}

#[derive(Clone, PartialEq, Message)]
struct Push {
    #[prost(message, repeated, tag = "1")]
    streams: Vec<Stream>,
}

#[derive(Clone, PartialEq, Message)]
struct Stream {
    #[prost(string, tag = "1")]
    labels: String,
    #[prost(message, repeated, tag = "2")]
    entries: Vec<Entry>,
    #[prost(uint64, tag = "3")]
    hash: u64,
}

#[derive(Clone, PartialEq, Message)]
struct Entry {
    #[prost(message, optional, tag = "1")]
    timestamp: Option<Timestamp>,
    #[prost(string, tag = "2")]
    line: String,
    #[prost(message, repeated, tag = "3")]
    metadata: Vec<Pair>,
}

#[derive(Clone, PartialEq, Message)]
struct Timestamp {
    #[prost(int64, tag = "1")]
    seconds: i64,
    #[prost(int32, tag = "2")]
    nanos: i32,
}

#[derive(Clone, PartialEq, Message)]
struct Pair {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    value: String,
}

/// A push of one stream with these labels and two entries.
fn push(labels: &str) -> Vec<u8> {
    let timestamp = Some(Timestamp { seconds: 1_795_298_400, nanos: 123_456_789 });
    let pair = Pair { name: "trace".to_owned(), value: "a b".to_owned() };
    let entries = vec![
        Entry { timestamp, line: "GET /\t200".to_owned(), metadata: Vec::new() },
        Entry { timestamp: None, line: String::new(), metadata: vec![pair] },
    ];
    Push { streams: vec![Stream { labels: labels.to_owned(), entries, hash: 9 }] }.encode_to_vec()
}

fn snappy(plain: &[u8]) -> Vec<u8> {
    snap::raw::Encoder::new().compress_vec(plain).unwrap()
}

type Reader = fn(&[u8], usize, &mut Vec<u8>) -> Result<usize, LokiError>;

fn lines(read: Reader, body: &[u8]) -> Result<String, LokiError> {
    let mut lines = Vec::new();
    let count = read(body, LINES_BYTES_MAX, &mut lines)?;
    let text = String::from_utf8(lines).unwrap();
    assert_eq!(text.lines().count(), count);
    Ok(text)
}

const EXPECTED: &str = "{\"time_unix_nano\":1795298400123456789,\
    \"labels\":{\"app\":\"carts\",\"env\":\"p\\\"d\"},\"line\":\"GET /\\t200\"}\n\
    {\"time_unix_nano\":0,\"labels\":{\"app\":\"carts\",\"env\":\"p\\\"d\"},\"line\":\"\",\
    \"metadata\":{\"trace\":\"a b\"}}\n";

#[test]
fn both_forms_of_a_push_come_to_the_same_lines() {
    let body = snappy(&push(r#"{app="carts", env="p\"d"}"#));
    assert_eq!(lines(read_protobuf, &body).as_deref(), Ok(EXPECTED));
    let body = br#"{"streams":[{"stream":{"app":"carts","env":"p\"d"},"values":[
        ["1795298400123456789","GET /\t200"],["0","",{"trace":"a b"}]]}]}"#;
    assert_eq!(lines(read_json, body).as_deref(), Ok(EXPECTED));
}

#[test]
fn labels_that_are_written_differently_stay_as_they_are() {
    for (labels, expected) in [
        ("{}", "{}"),
        ("{a=\"\"}", r#"{"a":""}"#),
        ("app", "\"app\""),
        ("{a=b}", "\"{a=b}\""),
        ("{a=\"b\" c=\"d\"}", r#""{a=\"b\" c=\"d\"}""#),
        (r#"{a="\x41"}"#, r#""{a=\"\\x41\"}""#),
        ("{a=\"b", r#""{a=\"b""#),
    ] {
        let text = lines(read_protobuf, &snappy(&push(labels))).unwrap();
        assert!(text.contains(&format!("\"labels\":{expected},")), "{text}");
    }
}

#[test]
fn a_push_that_makes_no_sense_is_refused_whole() {
    assert_eq!(lines(read_protobuf, b""), Err(LokiError::Snappy));
    assert_eq!(lines(read_protobuf, b"\x05abc"), Err(LokiError::Snappy));
    let plain = push("{}");
    let cut = snappy(&plain[..plain.len() - 1]);
    assert!(matches!(lines(read_protobuf, &cut), Err(LokiError::Protobuf(_))));
    for body in [
        "",
        "{}",
        r#"{"streams":[{"values":[["x","line"]]}]}"#,
        r#"{"streams":[{"values":[["1","line"],["2"]]}]}"#,
        r#"{"streams":[{"values":[[1,"line"]]}]}"#,
        r#"{"streams":[{"stream":{"a":1}}]}"#,
    ] {
        assert!(matches!(lines(read_json, body.as_bytes()), Err(LokiError::Json { .. })), "{body}");
    }
}

#[test]
fn a_small_push_does_not_become_a_large_one() {
    // A snappy block that says it is 4 GiB.
    let claim = [0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 0, 0];
    let limit_bytes = LINES_BYTES_MAX;
    let length_bytes = u32::MAX as usize;
    let error = LokiError::Decompressed { length_bytes, limit_bytes };
    assert_eq!(lines(read_protobuf, &claim), Err(error));
    // Labels that every entry repeats.
    let labels = format!("{{a=\"{}\"}}", "x".repeat(10_000));
    let entries = vec![Entry::default(); 10_000];
    let plain = Push { streams: vec![Stream { labels, entries, hash: 0 }] }.encode_to_vec();
    let mut out = Vec::new();
    let result = read_protobuf(&snappy(&plain), 1 << 20, &mut out);
    assert_eq!(result, Err(crate::TooLong { limit_bytes: 1 << 20 }.into()));
    assert!(out.is_empty() && out.capacity() < 4 << 20);
}

proptest! {
    #[test]
    fn any_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        loki_any(&bytes);
        elastic_any(&bytes);
    }

    #[test]
    fn damaged_requests_do_no_harm(
        place in any::<prop::sample::Index>(), flip in any::<u8>(), form in 1_u8..3,
    ) {
        let plain = push(r#"{app="carts", env="prod"}"#);
        let mut bytes = if form == 1 { snappy(&plain) } else { plain };
        let place = place.index(bytes.len());
        bytes[place] ^= flip;
        bytes.insert(0, form);
        loki_any(&bytes);
        let mut body = b"{\"index\":{\"_index\":\"a\"}}\n{\"m\":1}\n{\"delete\":{}}\n".to_vec();
        let place = place % body.len();
        body[place] ^= flip;
        elastic_any(&body);
    }
}
