//! The client before a server that is not there, and before one that is made here of the protocol's
//! other end: limits hold, counts agree, and what was not acknowledged comes again.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use cinch_wire::native::{Server, ServerLimits, split_records};

use super::*;

const SOON: Duration = Duration::from_secs(30);

fn settings(address: String) -> Settings {
    let level = None;
    let backoff_most = Duration::from_millis(20);
    Settings {
        level,
        linger: Duration::from_millis(1),
        backoff_most,
        ..Settings::new(address, "p")
    }
}

/// Takes batches on a connection until `count` more came: their numbers and records.
fn serve(stream: &mut TcpStream, acknowledged: u64, count: usize) -> (Server, Vec<(u64, Vec<u8>)>) {
    let mut server = Server::new(ServerLimits::default());
    let (mut bytes, mut taken, mut room) = (Vec::new(), Vec::new(), [0; 4_096]);
    while taken.len() < count {
        let read = stream.read(&mut room).unwrap();
        assert!(read > 0, "the client has gone");
        bytes.extend_from_slice(&room[..read]);
        loop {
            let (mut batches, mut answer) = (Vec::new(), Vec::new());
            let scan = server.scan(&bytes, &mut batches).unwrap();
            for batch in batches {
                let (plain, mut records) = (batch.body.of(&bytes), Vec::new());
                split_records(plain, batch.record_count, &mut records).unwrap();
                let records: Vec<u8> =
                    records.iter().flat_map(|span| span.of(plain).to_vec()).collect();
                taken.push((batch.sequence, records));
            }
            bytes.drain(..scan.consumed);
            if server.hello().is_none() || server.is_welcomed() {
                break;
            }
            server.welcome(Durability::Written, acknowledged, &mut answer);
            stream.write_all(&answer).unwrap();
        }
    }
    (server, taken)
}

fn acknowledge(stream: &mut TcpStream, server: &mut Server, sequence: u64) {
    let mut answer = Vec::new();
    server.acknowledge(sequence, &mut answer);
    stream.write_all(&answer).unwrap();
}

#[test]
fn a_full_buffer_drops_and_counts_and_a_flush_keeps_its_deadline() {
    // Nobody listens on a port that was just given back.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let mut settings = settings(address);
    (settings.buffer_bytes, settings.batch_bytes) = (100, 50);
    let client = Client::start(settings).unwrap();
    let taken = (0..100).filter(|_| client.send(b"sixteen letters.").is_ok()).count() as u64;
    // Twenty bytes each, with their lengths.
    assert_eq!(taken, 5);
    assert_eq!(client.send(&[b'x'; 47]), Err(Dropped::TooLong));
    let left = client.flush(Duration::from_millis(50)).unwrap_err();
    assert_eq!(left.records, taken);
    let counters = client.counters();
    assert_eq!((counters.buffered_records, counters.dropped_records), (taken, 96));
    assert_eq!(client.close(Duration::ZERO).unwrap_err().records, taken);
}

#[test]
fn what_was_not_acknowledged_comes_again_with_the_same_numbers() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = Client::start(settings(listener.local_addr().unwrap().to_string())).unwrap();
    client.send(b"one").unwrap();
    let (mut stream, _) = listener.accept().unwrap();
    let (mut server, first) = serve(&mut stream, 0, 1);
    assert_eq!(first, [(1, b"one".to_vec())]);
    acknowledge(&mut stream, &mut server, 1);
    client.flush(SOON).unwrap();
    client.send(b"two").unwrap();
    // It comes, and the server goes away without a word.
    let mut bytes = [0; 200];
    assert!(stream.read(&mut bytes).unwrap() > 0);
    drop(stream);
    let (mut stream, _) = listener.accept().unwrap();
    let (mut server, again) = serve(&mut stream, 0, 1);
    assert_eq!(again, [(2, b"two".to_vec())]);
    acknowledge(&mut stream, &mut server, 2);
    client.flush(SOON).unwrap();
    let counters = client.close(SOON).unwrap();
    assert_eq!((counters.acknowledged_records, counters.dropped_records), (2, 0));
    assert_eq!((counters.connections, counters.resent_batches), (2, 1));
}

#[test]
fn a_server_that_says_not_now_gets_the_batch_again_on_the_same_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = Client::start(settings(listener.local_addr().unwrap().to_string())).unwrap();
    client.send(b"one").unwrap();
    let (mut stream, _) = listener.accept().unwrap();
    let (mut server, _) = serve(&mut stream, 0, 1);
    let mut answer = Vec::new();
    server.not_now(1, 1, &mut answer);
    stream.write_all(&answer).unwrap();
    let (mut bytes, mut batches) = (vec![0; 4_096], Vec::new());
    let mut filled = 0;
    while batches.is_empty() {
        filled += stream.read(&mut bytes[filled..]).unwrap();
        server.scan(&bytes[..filled], &mut batches).unwrap();
    }
    assert_eq!(batches[0].sequence, 1);
    acknowledge(&mut stream, &mut server, 1);
    assert_eq!(client.close(SOON).unwrap().resent_batches, 1);
}

#[test]
fn settings_that_can_not_be_used_are_told() {
    let wrong = |change: fn(&mut Settings)| {
        let mut settings = Settings::new("127.0.0.1:1", "p");
        change(&mut settings);
        Client::start(settings).is_err()
    };
    assert!(wrong(|settings| settings.pool.clear()));
    assert!(wrong(|settings| settings.pool = "two words".to_owned()));
    assert!(wrong(|settings| settings.batch_bytes = 1 << 20));
    assert!(wrong(|settings| settings.buffer_bytes = 10));
}
