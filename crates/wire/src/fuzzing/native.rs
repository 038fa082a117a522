//! Bodies for the native protocol: either end takes any bytes the same however they are cut, and
//! what one end sends the other takes, whatever is put off on the way.

use super::{Ending, Feed, same_in_pieces};
use crate::native::{
    BatchCodec, Client, Durability, Event, Hello, NativeError, Server, ServerLimits, finish,
    push_record, split_records,
};

/// The limits of the targets: small, so that few bytes pass them.
const LIMITS: ServerLimits = ServerLimits { batch_bytes_max: 64, window_batches: 3 };

/// The longest frame with those limits, in bytes: a control frame and its header.
const FRAME_BYTES_MAX: usize = 8 + 1024;

/// Any bytes mean the same to a server, and to a client, however they are cut. The first byte is
/// the cut.
pub fn native_any(bytes: &[u8]) {
    let Some((&cut, bytes)) = bytes.split_first() else { return };
    let cut = usize::from(cut);
    let served = same_in_pieces(bytes, cut, |lengths| native_server(LIMITS, bytes, lengths));
    assert!(served.batches.windows(2).all(|pair| pair[1].0 == pair[0].0 + 1));
    let (events, ending) = same_in_pieces(bytes, cut, |lengths| native_client(bytes, lengths));
    assert!(events.len() <= bytes.len() && ending.is_ok_and(|rest| rest.len() <= bytes.len()));
}

/// What a server made of a connection.
#[derive(Debug, PartialEq)]
pub(crate) struct Served {
    /// What the client said it is.
    pub(crate) hello: Option<Hello>,
    /// Number and body of every new batch.
    pub(crate) batches: Vec<(u64, Vec<u8>)>,
    /// How many were passed over.
    pub(crate) duplicates: u64,
    /// How it ended.
    pub(crate) ending: Ending,
    /// What was answered.
    pub(crate) answer: Vec<u8>,
}

/// A server that welcomes whoever comes and acknowledges every batch at once.
pub(crate) fn native_server(
    limits: ServerLimits,
    bytes: &[u8],
    lengths: &mut dyn Iterator<Item = usize>,
) -> Served {
    let (mut server, mut taken, mut answer) = (Server::new(limits), Vec::new(), Vec::new());
    let needed_max = FRAME_BYTES_MAX.max(64 + limits.batch_bytes_max as usize);
    let ending = Feed::new(bytes, needed_max).in_pieces(lengths, |buffer| {
        let mut consumed = 0;
        loop {
            let (rest, mut batches) = (&buffer[consumed..], Vec::new());
            let scan = server.scan(rest, &mut batches);
            for batch in batches {
                assert!(batch.plain_bytes <= limits.batch_bytes_max);
                taken.push((batch.sequence, batch.body.of(rest).to_vec()));
                server.acknowledge(batch.sequence, &mut answer);
            }
            let mut scan = scan?;
            consumed += scan.consumed;
            if server.hello().is_none() || server.is_welcomed() {
                scan.consumed = consumed;
                return Ok::<_, NativeError>(scan);
            }
            server.welcome(Durability::Written, 0, &mut answer);
        }
    });
    let (hello, duplicates) = (server.hello().cloned(), server.duplicates());
    Served { hello, batches: taken, duplicates, ending, answer }
}

/// The events that a client reads from what its server sends; an error is an event in words.
pub(crate) fn native_client(
    bytes: &[u8],
    lengths: &mut dyn Iterator<Item = usize>,
) -> (Vec<String>, Ending) {
    let mut client = Client::connect(&hello(), &mut Vec::new());
    let mut said = Vec::new();
    let mut has_failed = false;
    let ending = Feed::new(bytes, FRAME_BYTES_MAX).in_pieces(lengths, |buffer| {
        let mut events = Vec::new();
        let scan = client.scan(buffer, &mut events);
        if !has_failed {
            said.extend(events.iter().map(|event| format!("{event:?}")));
        }
        // A client stops at the first error; here what follows is only not looked at.
        scan.or_else(|error| {
            if !has_failed {
                said.push(error.to_string());
            }
            has_failed = true;
            Ok::<_, NativeError>(crate::Scan { consumed: buffer.len(), needed: 1 })
        })
    });
    // After an error the rest is of no meaning.
    let ending = if has_failed { Ok(Vec::new()) } else { ending };
    (said, ending)
}

fn hello() -> Hello {
    Hello {
        client_id: *b"0123456789abcdef",
        durability: Durability::Written,
        first_sequence: 5,
        pool: "carts".to_owned(),
        host: "host-7".to_owned(),
    }
}

/// Whatever a server puts off and whenever the connection breaks, every record arrives in order,
/// and only batches without an acknowledgement arrive twice. Each byte is one step.
pub fn native_roundtrip(bytes: &[u8]) {
    let mut kept: Vec<(u64, Vec<u8>)> = Vec::new();
    let mut stored: Vec<u64> = Vec::new();
    let mut known = 4;
    let (mut to_server, mut to_client) = (Vec::new(), Vec::new());
    let mut client = Client::connect(&hello(), &mut to_server);
    let mut server = Server::new(LIMITS);
    for &step in bytes {
        match step % 5 {
            0 | 1 if client.may_send() => {
                let sequence = client.next_sequence();
                let again = kept.iter().find(|(number, _)| *number == sequence);
                let record = again.map_or_else(|| vec![step], |(_, record)| record.clone());
                let mut plain = Vec::new();
                push_record(&record, &mut plain);
                let length = plain.len() as u32;
                client.send(BatchCodec::Stored, 1, length, &plain, &mut to_server);
                if again.is_none() {
                    kept.push((sequence, record));
                }
            }
            2 => serve(&mut server, step, known, &mut to_server, &mut to_client, &mut stored),
            3 => hear(&mut client, &mut to_client, &mut kept, &mut known),
            4 if step > 200 => {
                // Whatever was on the way is lost.
                (to_server, to_client) = (Vec::new(), Vec::new());
                let first_sequence = kept.first().map_or(client.next_sequence(), |kept| kept.0);
                client = Client::connect(&Hello { first_sequence, ..hello() }, &mut to_server);
                server = Server::new(LIMITS);
            }
            _ => {}
        }
    }
    // Every acknowledged batch was stored, and a batch is stored for the first time in order.
    let mut last = 4;
    for sequence in stored {
        assert!(sequence <= last + 1, "{sequence} after {last}");
        last = last.max(sequence);
    }
    assert!(known <= last);
}

fn serve(
    server: &mut Server,
    step: u8,
    known: u64,
    to_server: &mut Vec<u8>,
    to_client: &mut Vec<u8>,
    stored: &mut Vec<u64>,
) {
    let mut batches = Vec::new();
    let scan = server.scan(to_server, &mut batches);
    let Ok(scan) = scan else { panic!("a client of ours is refused: {scan:?}") };
    for (index, batch) in batches.iter().enumerate() {
        let mut records = Vec::new();
        let plain = batch.body.of(to_server);
        assert_eq!(split_records(plain, batch.record_count, &mut records), Ok(()));
        // Now and then the second batch of a scan and those behind it are put off.
        if step > 128 && index == 1 {
            server.not_now(batch.sequence, 10, to_client);
            break;
        }
        stored.push(batch.sequence);
        if step & 1 == 0 {
            server.acknowledge(batch.sequence, to_client);
        }
    }
    to_server.drain(..scan.consumed);
    if server.hello().is_some() && !server.is_welcomed() {
        server.welcome(Durability::Written, known, to_client);
    }
}

fn hear(
    client: &mut Client,
    to_client: &mut Vec<u8>,
    kept: &mut Vec<(u64, Vec<u8>)>,
    known: &mut u64,
) {
    let mut events = Vec::new();
    let scan = client.scan(to_client, &mut events);
    assert!(scan.is_ok_and(|scan| scan.consumed == to_client.len()));
    assert_eq!(finish(&[]), Ok(()));
    to_client.clear();
    for event in events {
        if let Event::Acknowledged { sequence } = event {
            assert!(sequence > *known, "acknowledged twice");
            *known = sequence;
            kept.retain(|(number, _)| *number > sequence);
        }
    }
}
