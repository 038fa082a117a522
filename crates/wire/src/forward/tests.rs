//! The forward protocol in its four forms as the senders write them, the handshake with digests
//! that Python computed, and hostile senders.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::fuzzing::{self, Read, events, forward_any, same_at_every_cut};

fn pack(value: &Value) -> Vec<u8> {
    rmp_serde::to_vec(value).unwrap()
}

/// An array of these values, already packed.
fn array(values: &[&[u8]]) -> Vec<u8> {
    [&[0x90 | values.len() as u8][..], &values.concat()].concat()
}

fn binary(bytes: &[u8]) -> Vec<u8> {
    [&[0xC5][..], &(bytes.len() as u16).to_be_bytes(), bytes].concat()
}

/// 21 November 2026, 22:00:00.5, as the extension of the protocol.
const EVENT_TIME: &[u8] = b"\xD7\x00\x6B\x02\x14\x60\x1D\xCD\x65\x00";

fn read(bytes: &[u8]) -> Vec<Read> {
    let (read, ending) = same_at_every_cut(bytes, |lengths| fuzzing::forward(bytes, lengths));
    assert_eq!(ending, Ok(Vec::new()));
    read
}

fn refused(bytes: &[u8]) -> String {
    same_at_every_cut(bytes, |lengths| fuzzing::forward(bytes, lengths)).1.unwrap_err()
}

#[test]
fn every_form_is_read() {
    let record = pack(&json!({"log": "one", "n": 1}));
    let event = array(&[EVENT_TIME, &record]);
    let plain_event = array(&[&pack(&json!(7)), &record]);
    let with_metadata = array(&[&array(&[EVENT_TIME, &pack(&json!({"m": 1}))]), &record]);
    let tag = pack(&json!("app.web"));
    let bytes = [
        array(&[&tag, EVENT_TIME, &record]),
        array(&[&tag, &pack(&json!(7)), &record, &pack(&json!({"chunk": "c1"}))]),
        array(&[&tag, &array(&[&event, &plain_event]), &pack(&json!({"size": 2}))]),
        b"\xC0".to_vec(),
        array(&[
            &tag,
            &binary(&[&event[..], &with_metadata].concat()),
            &pack(&json!({"chunk": "c2"})),
        ]),
        array(&[&tag, &binary(b"gz"), &pack(&json!({"compressed": "gzip", "size": 9}))]),
        array(&[&tag, &binary(b"z"), &pack(&json!({"x": [1, {}], "compressed": "zstd"}))]),
        array(&[&tag, &binary(&event), &pack(&json!(null))]),
    ]
    .concat();
    let precise = r#"1795298400.500000000 {"log":"one","n":1}"#.to_owned();
    let plain = r#"7.000000000 {"log":"one","n":1}"#.to_owned();
    let tag = || b"app.web".to_vec();
    let gzip = Form::Compressed(StreamCodec::Gzip);
    let zstd = Form::Compressed(StreamCodec::Zstd);
    let expected: Vec<Read> = vec![
        (tag(), Form::Message, vec![precise.clone()], None, None),
        (tag(), Form::Message, vec![plain.clone()], Some(b"c1".to_vec()), None),
        (tag(), Form::Events, vec![precise.clone(), plain], None, Some(2)),
        (tag(), Form::Events, vec![precise.clone(), precise.clone()], Some(b"c2".to_vec()), None),
        (tag(), gzip, vec!["2 bytes".to_owned()], None, Some(9)),
        (tag(), zstd, vec!["1 bytes".to_owned()], None, None),
        (tag(), Form::Events, vec![precise], None, None),
    ];
    assert_eq!(read(&bytes), expected);
}

#[test]
fn a_chunk_is_acknowledged_by_its_name() {
    let mut out = Vec::new();
    acknowledge(b"p8n9gmxTQVC8/nh2wlKKeQ==", &mut out);
    let answer: Value = rmp_serde::from_slice(&out).unwrap();
    assert_eq!(answer, json!({"ack": "p8n9gmxTQVC8/nh2wlKKeQ=="}));
    out.clear();
    acknowledge(&[b'x'; 300], &mut out);
    let answer: Value = rmp_serde::from_slice(&out).unwrap();
    assert_eq!(answer["ack"].as_str().map(str::len), Some(300));
}

#[test]
fn what_is_no_message_is_refused() {
    assert_eq!(refused(b"{\"json\":1}"), ForwardError::NoMessage(b'{').to_string());
    let malformed = |value: Value, what| {
        assert_eq!(refused(&pack(&value)), ForwardError::Malformed(what).to_string());
    };
    malformed(json!([]), "it has too few elements");
    malformed(json!(["tag"]), "it has too few elements");
    malformed(json!([1, 2, 3]), "the tag is no text");
    malformed(json!(["tag", 1]), "it has no record");
    malformed(json!(["tag", {}, {}]), "it has neither a time nor events");
    malformed(json!(["tag", [], 1]), "the options are no map");
    malformed(json!(["tag", "", {"compressed": "lzma"}]), "the compression is unknown");
}

#[test]
fn events_that_are_none_are_said_to_be_so_and_end_the_message() {
    let good = array(&[EVENT_TIME, b"\x80"]);
    let plain = [&good[..], &pack(&json!([1])), &good].concat();
    let read = events(Form::Events, &plain);
    assert_eq!((read.len(), read[1].as_str()), (2, "an event is no pair"));
    assert_eq!(events(Form::Events, &good[..5]), ["the bytes end inside a value"]);
    let early = pack(&json!([-1, {}]));
    assert_eq!(events(Form::Events, &early), ["the time of an event is no time"]);
}

#[test]
fn absurd_messages_are_refused_before_anything_waits_for_them() {
    let mut machine = Forward::default();
    let mut refused = |bytes: &[u8]| {
        machine = Forward::default();
        machine.scan(bytes, &mut Vec::new(), &mut Vec::new()).unwrap_err()
    };
    let limit_bytes = FORWARD_MESSAGE_BYTES_MAX;
    let too_long = ForwardError::Msgpack(MsgpackError::TooLong { limit_bytes });
    assert_eq!(refused(b"\xDD\xFF\xFF\xFF\xFF"), too_long);
    assert_eq!(refused(b"\x93\xA1t\xC6\xFF\xFF\xFF\xFF"), too_long);
    assert_eq!(refused(&[0x91; 200]), ForwardError::Msgpack(MsgpackError::TooDeep));
}

const NONCE: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

// SHA-512 by Python's hashlib of salt, host name, nonce and key.
const PING_DIGEST: &str = "fbfbae54ea8ccf71f546b1e3de6d9e8f18d9192157d295ea8b6f8f08d4868d2e\
     2152c7af2921607501406b617505635958b25d0323f15ff53687e4243c6f9a15";
const PONG_DIGEST: &str = "0477f61db9bf3d98b706b836af8285e9616599fbe03f72d1720377288e72f802\
     5965ab24afc2f581201f08e34c9e3ec10d184fd628061a494fec1c1000a8a7b8";
// … and of the first 16 bytes of the nonce's SHA-512, "ann" and "pass".
const PASSWORD_DIGEST: &str = "1554c71cb0d17277b10bf53c3313bc5427fe2de1693ac085d125efb9bef78a41\
     f88e2bc2690a7a3b43736e158da92aec65fe7227782434a271d7d10bf93ac91e";

fn handshake(users: &[(&str, &str)], ping: &Value) -> (Result<bool, ForwardError>, Value, Value) {
    let secrets = Secrets {
        shared_key: "secret".into(),
        server_hostname: "server.host".into(),
        users: Arc::new(
            users.iter().map(|(user, word)| ((*user).to_owned(), (*word).to_owned())).collect(),
        ),
    };
    let (mut hello, mut answer) = (Vec::new(), Vec::new());
    let mut machine = Forward::with_handshake(4096, secrets, NONCE, &mut hello);
    assert!(!machine.is_open());
    let mut text = Vec::new();
    crate::msgpack::write_json(&hello, &mut text).unwrap();
    let hello: Value = serde_json::from_slice(&text).unwrap();
    let mut messages = Vec::new();
    let scan = machine.scan(&pack(ping), &mut messages, &mut answer);
    assert!(messages.is_empty());
    (scan.map(|_| machine.is_open()), hello, rmp_serde::from_slice(&answer).unwrap_or_default())
}

#[test]
fn a_sender_that_knows_the_key_is_let_in() {
    let ping = json!(["PING", "client.host", "salt-of-client", PING_DIGEST, "", ""]);
    let (result, hello, answer) = handshake(&[], &ping);
    assert_eq!(result, Ok(true));
    let nonce = str::from_utf8(&NONCE).unwrap();
    let options = json!({"nonce": nonce, "auth": "", "keepalive": true});
    assert_eq!(hello, json!(["HELO", options]));
    assert_eq!(answer, json!(["PONG", true, "", "server.host", PONG_DIGEST]));
}

#[test]
fn a_user_and_password_may_be_asked_for() {
    let ping = |user: &str, digest: &str| {
        json!(["PING", "client.host", "salt-of-client", PING_DIGEST, user, digest])
    };
    let users = [("ann", "pass"), ("bob", "other")];
    assert_eq!(handshake(&users, &ping("ann", PASSWORD_DIGEST)).0, Ok(true));
    for (user, digest) in [("bob", PASSWORD_DIGEST), ("eve", PASSWORD_DIGEST), ("ann", "")] {
        let (result, _, answer) = handshake(&users, &ping(user, digest));
        assert_eq!(result, Err(HandshakeError::User.into()));
        assert_eq!(answer[1], json!(false));
    }
}

#[test]
fn a_sender_that_does_not_know_the_key_learns_nothing() {
    let digest = PING_DIGEST.replacen('0', "1", 1);
    let ping = json!(["PING", "client.host", "salt-of-client", digest, "", ""]);
    let (result, _, answer) = handshake(&[], &ping);
    assert_eq!(result, Err(HandshakeError::SharedKey.into()));
    let reason = "the sender does not know the shared key";
    assert_eq!(answer, json!(["PONG", false, reason, "", ""]));
    let (result, _, answer) = handshake(&[], &json!(["tag", 1, {}]));
    assert_eq!((result, answer), (Err(HandshakeError::NoPing.into()), Value::Null));
}

proptest! {
    #[test]
    fn any_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        forward_any(&bytes);
    }

    #[test]
    fn damaged_messages_do_no_harm(place in any::<prop::sample::Index>(), flip in any::<u8>()) {
        let record = pack(&json!({"log": "one", "n": 1}));
        let events = array(&[&array(&[EVENT_TIME, &record]), &array(&[EVENT_TIME, &record])]);
        let mut bytes = array(&[&pack(&json!("tag")), &events, &pack(&json!({"chunk": "c"}))]);
        let place = place.index(bytes.len());
        bytes[place] ^= flip;
        bytes.insert(0, flip);
        forward_any(&bytes);
    }
}
