//! Both ends of the native protocol with each other, each with hostile bytes, and the worked
//! example of the specification.

use proptest::prelude::*;

use super::*;
use crate::fuzzing::{self, Served, native_client, native_server, same_at_every_cut};

fn hello() -> Hello {
    Hello {
        client_id: *b"0123456789abcdef",
        durability: Durability::Written,
        first_sequence: 5,
        pool: "carts".to_owned(),
        host: "h".to_owned(),
    }
}

fn limits() -> ServerLimits {
    ServerLimits { batch_bytes_max: 1000, window_batches: 3 }
}

fn plain(records: &[&str]) -> Vec<u8> {
    let mut plain = Vec::new();
    records.iter().for_each(|record| push_record(record.as_bytes(), &mut plain));
    plain
}

/// A hello and these batches of one record each.
fn session(records: &[&str]) -> (Client, Vec<u8>) {
    let mut bytes = Vec::new();
    let mut client = Client::connect(&hello(), &mut bytes);
    for record in records {
        let plain = plain(&[record]);
        client.send(BatchCodec::Stored, 1, plain.len() as u32, &plain, &mut bytes);
    }
    (client, bytes)
}

fn served(bytes: &[u8]) -> Served {
    same_at_every_cut(bytes, |lengths| native_server(limits(), bytes, lengths))
}

fn error_of(bytes: &[u8], error: &NativeError) {
    assert_eq!(served(bytes).ending, Err(error.to_string()));
}

/// A server that has read this and welcomed the client.
fn welcomed(bytes: &[u8], acknowledged: u64, out: &mut Vec<u8>) -> (Server, Vec<Batch>) {
    let mut server = Server::new(limits());
    let mut batches = Vec::new();
    let consumed = server.scan(bytes, &mut batches).unwrap().consumed;
    server.welcome(Durability::Written, acknowledged, out);
    server.scan(&bytes[consumed..], &mut batches).unwrap();
    (server, batches)
}

fn events(client: &mut Client, bytes: &[u8]) -> Vec<Event> {
    let mut events = Vec::new();
    let scan = client.scan(bytes, &mut events).unwrap();
    assert_eq!(finish(&bytes[scan.consumed..]), Ok(()));
    events
}

#[test]
fn batches_are_taken_and_acknowledged() {
    let (client, mut bytes) = session(&["one", "two"]);
    client.end(&mut bytes);
    let Served { hello: said, batches, duplicates, ending, answer } = served(&bytes);
    assert_eq!((said, ending, duplicates), (Some(hello()), Ok(Vec::new()), 0));
    assert_eq!(batches, [(5, plain(&["one"])), (6, plain(&["two"]))]);
    let welcome = Welcome {
        durability: Durability::Written,
        acknowledged: 4,
        window_batches: 3,
        batch_bytes_max: 1000,
    };
    // The welcome sets the client back to what is not acknowledged: here, to the first batch.
    let mut client = Client::connect(&hello(), &mut Vec::new());
    assert!(!client.may_send());
    let welcome_bytes = answer.len() - 2 * 16;
    assert_eq!(events(&mut client, &answer[..welcome_bytes]), [Event::Welcome(welcome)]);
    for _ in 0..2 {
        assert!(client.may_send());
        client.send(BatchCodec::Stored, 0, 0, b"", &mut Vec::new());
    }
    let said = events(&mut client, &answer[welcome_bytes..]);
    let acknowledged = |sequence| Event::Acknowledged { sequence };
    assert_eq!(said, [acknowledged(5), acknowledged(6)]);
}

#[test]
fn the_records_of_a_batch_are_found() {
    let plain = plain(&["one", "", "three"]);
    let mut records = Vec::new();
    split_records(&plain, 3, &mut records).unwrap();
    let texts: Vec<&[u8]> = records.iter().map(|span| span.of(&plain)).collect();
    assert_eq!(texts, [&b"one"[..], b"", b"three"]);
    for (plain, count) in [(&plain[..], 2), (&plain[..plain.len() - 1], 3), (&[0, 0], 0)] {
        let mut records = Vec::new();
        let result = split_records(plain, count, &mut records);
        assert!(matches!(result, Err(NativeError::Malformed(_))) && records.is_empty());
    }
}

#[test]
fn what_came_before_is_passed_over_after_a_reconnect() {
    let (_, bytes) = session(&["one", "two", "three"]);
    let mut out = Vec::new();
    // The server knows that 5 and 6 have come to stay; the client had not heard.
    let (server, batches) = welcomed(&bytes, 6, &mut out);
    assert_eq!(batches.iter().map(|batch| batch.sequence).collect::<Vec<_>>(), [7]);
    assert_eq!(server.duplicates(), 2);
    let (mut client, _) = session(&[]);
    events(&mut client, &out);
    assert_eq!(client.next_sequence(), 7);
}

#[test]
fn a_batch_that_is_put_off_is_sent_again_and_those_behind_it_too() {
    let (mut client, mut bytes) = session(&[]);
    let mut out = Vec::new();
    let (mut server, _) = welcomed(&bytes, 0, &mut out);
    events(&mut client, &out);
    let send = |client: &mut Client, bytes: &mut Vec<u8>| {
        let body = plain(&["x"]);
        client.send(BatchCodec::Stored, 1, body.len() as u32, &body, bytes)
    };
    (bytes, out) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        send(&mut client, &mut bytes);
    }
    assert!(!client.may_send(), "the window is 3");
    let mut batches = Vec::new();
    server.scan(&bytes, &mut batches).unwrap();
    assert_eq!(batches.len(), 3);
    server.acknowledge(5, &mut out);
    server.not_now(6, 250, &mut out);
    // What is under way behind a batch that was put off is no gap.
    let mut late = Vec::new();
    let mut other = client.clone();
    events(&mut other, &out[..16]);
    assert_eq!(send(&mut other, &mut late), 8);
    batches.clear();
    server.scan(&late, &mut batches).unwrap();
    assert!(batches.is_empty());

    let said = events(&mut client, &out);
    let put_off = Event::NotNow { sequence: 6, retry_after_ms: 250 };
    assert_eq!(said, [Event::Acknowledged { sequence: 5 }, put_off]);
    let mut again = Vec::new();
    assert_eq!((send(&mut client, &mut again), send(&mut client, &mut again)), (6, 7));
    server.scan(&again, &mut batches).unwrap();
    assert_eq!(batches.iter().map(|batch| batch.sequence).collect::<Vec<_>>(), [6, 7]);
}

#[test]
fn acknowledgements_only_move_forward_and_never_past_what_came() {
    let mut out = Vec::new();
    let (mut server, _) = welcomed(&session(&["one", "two"]).1, 0, &mut out);
    out.clear();
    server.acknowledge(99, &mut out);
    server.acknowledge(6, &mut out);
    server.acknowledge(5, &mut out);
    server.not_now(6, 1, &mut out);
    let (mut client, _) = session(&["one", "two"]);
    let mut welcome = Vec::new();
    Server::new(limits()).welcome(Durability::Received, 4, &mut welcome);
    events(&mut client, &welcome);
    for _ in 0..2 {
        client.send(BatchCodec::Stored, 0, 0, b"", &mut Vec::new());
    }
    assert_eq!(events(&mut client, &out), [Event::Acknowledged { sequence: 6 }]);
    // A server that acknowledges what was never sent is not believed.
    let mut liar = Vec::new();
    frame::push(frame::ACKNOWLEDGED, &mut liar, |out| out.extend(7_u64.to_be_bytes()));
    let error = client.scan(&liar, &mut Vec::new()).unwrap_err();
    assert_eq!(error, NativeError::NeverSent { sequence: 7 });
}

#[test]
fn drain_and_refusal_are_told() {
    let (mut client, bytes) = session(&[]);
    let mut out = Vec::new();
    let (server, _) = welcomed(&bytes, 0, &mut out);
    server.drain(&mut out);
    server.refuse(&NativeError::Gap { sequence: 9, expected: 5 }, &mut out);
    let said = events(&mut client, &out);
    let reason = "batch 9 came where 5 was expected".to_owned();
    assert_eq!(said[1..], [Event::Drain, Event::Refused(Refusal { reason })]);
}

#[test]
fn a_client_that_breaks_the_rules_is_refused() {
    error_of(b"GET / HTTP/1.1\r\n", &NativeError::FrameType(b'G'));
    let batch_first = &session(&["one"]).1[session(&[]).1.len()..];
    error_of(batch_first, &NativeError::FrameType(b'B'));
    let (client, hello_bytes) = session(&[]);
    error_of(&hello_bytes.repeat(2), &NativeError::FrameType(b'H'));
    let mut ended = hello_bytes.clone();
    client.end(&mut ended);
    error_of(&[&ended[..], batch_first].concat(), &NativeError::FrameType(b'B'));

    let mut other_version = hello_bytes.clone();
    other_version[8] = 2;
    error_of(&other_version, &NativeError::Version(2));

    let (mut client, _) = session(&["one"]);
    let mut skipping = hello_bytes.clone();
    client.send(BatchCodec::Stored, 0, 0, b"", &mut skipping);
    error_of(&skipping, &NativeError::Gap { sequence: 6, expected: 5 });

    let mut flipped = session(&["one"]).1;
    *flipped.last_mut().unwrap() ^= 1;
    error_of(&flipped, &NativeError::Checksum { sequence: 5 });
}

#[test]
fn a_window_is_not_passed() {
    let (_, bytes) = session(&["1", "2", "3", "4"]);
    let mut server = Server::new(limits());
    let mut batches = Vec::new();
    let consumed = server.scan(&bytes, &mut batches).unwrap().consumed;
    server.welcome(Durability::Written, 0, &mut Vec::new());
    let error = server.scan(&bytes[consumed..], &mut batches).unwrap_err();
    assert_eq!(error, NativeError::Window { sequence: 8, window_batches: 3 });
    assert_eq!(batches.len(), 3);
}

#[test]
fn absurd_lengths_are_refused_before_anything_waits_for_them() {
    let too_long =
        |length_bytes, limit_bytes| NativeError::FrameTooLong { length_bytes, limit_bytes };
    error_of(b"H\0\0\0\xFF\xFF\xFF\xFF", &too_long(u32::MAX, 1024));
    let (mut client, mut bytes) = session(&[]);
    let batch = [&bytes[..], b"B\0\0\0\x7F\xFF\xFF\xFF"].concat();
    error_of(&batch, &too_long(0x7FFF_FFFF, 1028));
    // A few bytes that claim to become many.
    client.send(BatchCodec::Zstd, 1, 1001, b"bomb", &mut bytes);
    error_of(&bytes, &too_long(1001, 1000));
}

#[test]
fn a_hello_that_makes_no_sense_is_refused() {
    let mut bytes = Vec::new();
    Client::connect(&Hello { pool: String::new(), ..hello() }, &mut bytes);
    error_of(&bytes, &NativeError::Malformed("the pool has no name"));
    bytes.clear();
    Client::connect(&Hello { first_sequence: 0, ..hello() }, &mut bytes);
    error_of(&bytes, &NativeError::Malformed("sequence numbers begin at 1"));
    bytes.clear();
    Client::connect(&Hello { pool: "a b".to_owned(), ..hello() }, &mut bytes);
    assert!(served(&bytes).ending.is_err());
    error_of(
        b"H\0\0\0\0\0\0\x02\x01\x01",
        &NativeError::Malformed("a frame is shorter than its fields"),
    );
}

/// What `spec/ingest-native.md` shows.
#[test]
fn the_worked_example_of_the_specification_is_what_is_sent() {
    let (mut client, bytes) = session(&[]);
    let hello = "48000000 00000022 01 03 30313233343536373839616263646566 0000000000000005 \
                 05 6361727473 01 68";
    assert_eq!(hex(&bytes), hello.replace(' ', ""));
    let mut batch = Vec::new();
    let body = plain(&["one", "two"]);
    client.send(BatchCodec::Stored, 2, body.len() as u32, &body, &mut batch);
    let specification = include_str!("../../../../spec/ingest-native.md");
    let shown: String = specification.split_whitespace().collect();
    assert!(shown.contains(&hex(&bytes)), "the hello {} is not there", hex(&bytes));
    assert!(shown.contains(&hex(&batch)), "the batch {} is not there", hex(&batch));
    let mut answer = Vec::new();
    let mut server = Server::new(ServerLimits::default());
    server.scan(&bytes, &mut Vec::new()).unwrap();
    server.welcome(Durability::Written, 0, &mut answer);
    server.scan(&batch, &mut Vec::new()).unwrap();
    server.acknowledge(5, &mut answer);
    assert!(shown.contains(&hex(&answer)), "the answer {} is not there", hex(&answer));
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

proptest! {
    #[test]
    fn any_bytes_are_the_same_however_they_are_cut(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        fuzzing::native_any(&bytes);
    }

    #[test]
    fn damaged_sessions_do_no_harm(
        place in any::<prop::sample::Index>(), flip in any::<u8>(), cut in any::<u8>(),
    ) {
        let mut bytes = session(&["one", "two"]).1;
        let place = place.index(bytes.len());
        bytes[place] ^= flip;
        bytes.insert(0, cut);
        fuzzing::native_any(&bytes);
    }

    #[test]
    fn a_client_reads_the_same_however_it_is_cut(cut in 0_usize..60) {
        let answer = native_server(limits(), &session(&["one", "two"]).1, &mut std::iter::empty());
        let whole = native_client(&answer.answer, &mut std::iter::empty());
        prop_assert_eq!(native_client(&answer.answer, &mut std::iter::once(cut)), whole);
    }

    #[test]
    fn nothing_is_lost_whatever_is_put_off(steps in prop::collection::vec(any::<u8>(), 0..200)) {
        fuzzing::native_roundtrip(&steps);
    }
}
