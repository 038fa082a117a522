//! RESP in both directions: cut anywhere, beside another parser, and hostile. The limits are those
//! of the fuzz target, small enough to be passed by a line.

use proptest::prelude::*;
use redis_protocol::resp3;

use super::*;
use crate::fuzzing::{self, RESP_LIMITS, resp_any, same_at_every_cut};

fn said(machine: &Resp, bytes: &[u8]) -> (Vec<String>, fuzzing::Ending) {
    same_at_every_cut(bytes, |lengths| fuzzing::resp(machine.clone(), bytes, lengths))
}

fn requests(bytes: &[u8]) -> Vec<String> {
    let (said, ending) = said(&Resp::requests(RESP_LIMITS), bytes);
    assert_eq!(ending, Ok(Vec::new()));
    said
}

fn replies(bytes: &[u8]) -> Vec<String> {
    let (said, ending) = said(&Resp::replies(RESP_LIMITS), bytes);
    assert_eq!(ending, Ok(Vec::new()));
    said
}

fn refused(machine: Resp, bytes: &[u8], error: &RespError) {
    assert_eq!(said(&machine, bytes).1, Err(error.to_string()), "{}", bytes.escape_ascii());
}

#[test]
fn requests_of_a_pipeline_are_found() {
    let bytes = b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n*1\r\n$4\r\nPING\r\nPING\r\n\r\n*0\r\n*-1\r\n\
        set k \"a b\\x41\"\n";
    let expected = [
        "Aggregate(Array, Some(2))",
        "String GET",
        "String k",
        "Complete",
        "Aggregate(Array, Some(1))",
        "String PING",
        "Complete",
        "inline Ok([[80, 73, 78, 71]])",
        "Complete",
        "inline Ok([[115, 101, 116], [107], [97, 32, 98, 65]])",
        "Complete",
    ];
    assert_eq!(requests(bytes), expected);
}

#[test]
fn a_bulk_above_the_limit_comes_in_parts_and_one_at_it_whole() {
    let bytes = b"*3\r\n$3\r\nSET\r\n$10\r\n0123456789\r\n$11\r\n0123\r\n56789\r\n";
    let expected = [
        "Aggregate(Array, Some(3))",
        "String SET",
        "String 0123456789",
        "BulkBegins(String, Some(11))",
        "ends 0123\\r\\n56789",
        "Complete",
    ];
    assert_eq!(requests(bytes), expected);
    assert_eq!(replies(b"$0\r\n\r\n"), ["String ", "Complete"]);
}

#[test]
fn every_kind_of_reply_is_found() {
    let bytes = b"+OK\r\n-ERR no\r\n:-7\r\n$-1\r\n*-1\r\n_\r\n#t\r\n,1.5\r\n(99\r\n!3\r\nERR\r\n\
        =6\r\ntxt:ab\r\n%1\r\n+a\r\n*0\r\n~1\r\n:1\r\n>2\r\n+x\r\n+y\r\n";
    let expected = [
        "Simple OK",
        "Complete",
        "Error ERR no",
        "Complete",
        "Integer -7",
        "Complete",
        "Bulk(String, None)",
        "Complete",
        "Aggregate(Array, None)",
        "Complete",
        "Null ",
        "Complete",
        "Boolean t",
        "Complete",
        "Double 1.5",
        "Complete",
        "BigNumber 99",
        "Complete",
        "Error ERR",
        "Complete",
        "Verbatim txt:ab",
        "Complete",
        "Aggregate(Map, Some(1))",
        "Simple a",
        "Aggregate(Array, Some(0))",
        "Complete",
        "Aggregate(Set, Some(1))",
        "Integer 1",
        "Complete",
        "Aggregate(Push, Some(2))",
        "Simple x",
        "Simple y",
        "Complete",
    ];
    assert_eq!(replies(bytes), expected);
}

#[test]
fn an_attribute_is_no_value_of_its_own() {
    let bytes = b"|1\r\n+ttl\r\n:3\r\n*2\r\n|1\r\n+a\r\n*1\r\n:1\r\n:5\r\n|0\r\n:6\r\n";
    let expected = [
        "Aggregate(Attribute, Some(1))",
        "Simple ttl",
        "Integer 3",
        "Aggregate(Array, Some(2))",
        "Aggregate(Attribute, Some(1))",
        "Simple a",
        "Aggregate(Array, Some(1))",
        "Integer 1",
        "Integer 5",
        "Aggregate(Attribute, Some(0))",
        "Integer 6",
        "Complete",
    ];
    assert_eq!(replies(bytes), expected);
}

#[test]
fn values_of_unknown_length_are_found() {
    let bytes = b"*?\r\n:1\r\n$?\r\n;2\r\nab\r\n;1\r\nc\r\n;0\r\n%?\r\n.\r\n.\r\n";
    let expected = [
        "StreamBegins(Array)",
        "Integer 1",
        "BulkBegins(String, None)",
        "ends abc",
        "StreamBegins(Map)",
        "StreamEnds",
        "StreamEnds",
        "Complete",
    ];
    assert_eq!(replies(bytes), expected);
}

#[test]
fn what_breaks_the_protocol_is_refused() {
    let request = |bytes: &[u8], error: RespError| {
        refused(Resp::requests(RESP_LIMITS), bytes, &error);
    };
    request(b"*1\r\n:1\r\n", RespError::Kind(b':'));
    request(b"*1\r\n*1\r\n", RespError::Kind(b'*'));
    request(b"*1\r\n$-1\r\n", RespError::Length);
    request(b"*1\r\n$?\r\n", RespError::Length);
    request(b"*x\r\n", RespError::Length);
    request(b"*+1\r\n", RespError::Length);
    request(b"*1\n$1\r\na\r\n", RespError::LineEnd);
    request(b"*1\r\n$1\r\nab\r\n", RespError::LineEnd);
    request(b"*1\r\n$11\r\n01234567890xx", RespError::LineEnd);
    let reply = |bytes: &[u8], error: RespError| {
        refused(Resp::replies(RESP_LIMITS), bytes, &error);
    };
    reply(b"GET", RespError::Kind(b'G'));
    reply(b".\r\n", RespError::Kind(b'.'));
    reply(b"*1\r\n.\r\n", RespError::Kind(b'.'));
    reply(b"$?\r\n$1\r\n", RespError::Kind(b'$'));
    reply(b"%-2\r\n", RespError::Length);
    reply(b"+a\nb\r\n", RespError::LineEnd);
}

#[test]
fn absurd_lengths_are_refused_before_anything_waits_for_them() {
    let request = || Resp::requests(RESP_LIMITS);
    let reply = || Resp::replies(RESP_LIMITS);
    let too_long = RespError::BulkTooLong { length_bytes: 101, limit_bytes: 100 };
    refused(request(), b"*1\r\n$101\r\n", &too_long);
    refused(reply(), b"$?\r\n;101\r\n", &too_long);
    let too_many = RespError::TooManyElements { elements: u64::MAX, limit: 16 };
    refused(request(), b"*18446744073709551615\r\n", &too_many);
    refused(request(), b"*18446744073709551616\r\n", &RespError::Length);
    refused(reply(), &b"*1\r\n".repeat(5), &RespError::TooDeep { limit: 4 });
    // A line that never ends.
    refused(request(), &[b'x'; 70], &RespError::LineTooLong { limit_bytes: 64 });
    refused(reply(), &[b'+'; 70], &RespError::LineTooLong { limit_bytes: 64 });
    refused(
        reply(),
        &[b"*".as_slice(), &[b'1'; 30]].concat(),
        &RespError::LineTooLong { limit_bytes: 21 },
    );
}

#[test]
fn a_value_that_is_cut_off_is_not_complete() {
    let bytes = b"*2\r\n$3\r\nGET\r\n$11\r\n01234567890\r\n";
    for length in 1..bytes.len() {
        let mut machine = Resp::requests(RESP_LIMITS);
        let scan = machine.scan(&bytes[..length], &mut Vec::new()).unwrap();
        assert_eq!(machine.finish(&bytes[scan.consumed..length]), Err(RespError::CutOff));
    }
}

#[test]
fn inline_arguments_are_those_of_redis() {
    let arguments = |text: &str| {
        let arguments = inline_arguments(text.as_bytes())?;
        Ok(arguments.iter().map(|bytes| bytes.escape_ascii().to_string()).collect::<Vec<_>>())
    };
    let expected = |words: &[&str]| Ok(words.iter().map(|word| (*word).to_owned()).collect());
    assert_eq!(arguments("  a  b\tc "), expected(&["a", "b", "c"]));
    assert_eq!(arguments(r#""\x00\n\q" '\'\n' """#), expected(&["\\x00\\nq", "\\'\\\\n", ""]));
    assert_eq!(arguments(r#"a"b c""#), expected(&["ab c"]));
    for text in ["\"a", "'a", "\"a\"b", "'a'b", "\"\\\""] {
        assert_eq!(arguments(text), Err(UnbalancedQuotes), "{text}");
    }
}

#[test]
fn what_is_written_is_read() {
    let mut out = Vec::new();
    write_array(3, &mut out);
    write_bulk(b"a\r\nb", &mut out);
    write_null(&mut out);
    write_error("ERR one\r\ntwo", &mut out);
    let expected = [
        "Aggregate(Array, Some(3))",
        "String a\\r\\nb",
        "Bulk(String, None)",
        "Error ERR one  two",
        "Complete",
    ];
    assert_eq!(replies(&out), expected);
}

/// A reply as bytes, at most three deep, within the limits.
fn any_reply() -> impl Strategy<Value = Vec<u8>> {
    let leaf = prop_oneof![
        "[a-z ]{0,20}".prop_map(|text| format!("+{text}\r\n")),
        "[A-Z]{1,4} [a-z]{0,9}".prop_map(|text| format!("-{text}\r\n")),
        any::<i64>().prop_map(|number| format!(":{number}\r\n")),
        any::<bool>().prop_map(|value| format!("#{}\r\n", if value { 't' } else { 'f' })),
        "[a-z\r\n]{0,40}".prop_map(|text| format!("${}\r\n{text}\r\n", text.len())),
        Just("_\r\n".to_owned()),
    ];
    let aggregate = |inner: BoxedStrategy<String>| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(|items| format!(
                "*{}\r\n{}",
                items.len(),
                items.concat()
            )),
            // Keys that differ: the other parser keeps maps in a table.
            prop::collection::vec(inner, 0..4).prop_map(|items| {
                let pair = |(index, item): (usize, &String)| format!(":{index}\r\n{item}");
                let pairs: String = items.iter().enumerate().map(pair).collect();
                format!("%{}\r\n{pairs}", items.len())
            }),
        ]
    };
    leaf.prop_recursive(3, 30, 5, move |inner| aggregate(inner.boxed()))
        .prop_map(String::into_bytes)
}

proptest! {
    #[test]
    fn any_bytes_are_the_same_however_they_are_cut(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        resp_any(&bytes);
    }

    #[test]
    fn any_tokens_are_the_same_however_they_are_cut(
        cut in any::<u8>(),
        tokens in "(([*$%~>|!=;][0-9?]{1,2}|[+:_#,(.-][ab1]?|[ab]{1,12})\r\n){0,20}",
    ) {
        resp_any(&[&[cut], tokens.as_bytes()].concat());
    }

    #[test]
    fn another_parser_finds_the_same_end(first in any_reply(), second in any_reply()) {
        let bytes = [first.clone(), second].concat();
        let frame = resp3::decode::complete::decode(&bytes).unwrap();
        prop_assert_eq!(frame.map(|(_, length)| length), Some(first.len()));
        let said = replies(&bytes);
        prop_assert_eq!(said.iter().filter(|event| *event == "Complete").count(), 2);
        prop_assert_eq!(replies(&first), &said[..replies(&first).len()]);
        // A reply without its last byte is not complete for either.
        let cut = &first[..first.len() - 1];
        prop_assert!(resp3::decode::complete::decode(cut).unwrap().is_none());
        let mut machine = Resp::replies(RESP_LIMITS);
        let mut events = Vec::new();
        machine.scan(cut, &mut events).unwrap();
        prop_assert!(!events.contains(&Event::Complete));
    }
}
