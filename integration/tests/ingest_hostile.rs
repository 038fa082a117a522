//! No connection has an effect on another: at every listener somebody behaves while others send
//! bytes that are wrong in every place, break off, or come in the middle of its own records. What
//! the one sent is there, whole, once and in its order.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};

use cinch_integration::{FILER, Folder, Ingress, gzip, listener, logs, noise, pool_listener};

/// Records of each client that behaves.
const RECORDS: usize = 120;

/// Bytes of a hostile connection.
const HOSTILE_BYTES: usize = 3_000;

/// Frames a record as a client of the protocol does.
type Frame = fn(&str) -> Vec<u8>;

/// A protocol, what its connections begin with, and a record in it.
struct Speaker {
    protocol: &'static str,
    greeting: fn() -> Vec<u8>,
    frame: Frame,
}

const SPEAKERS: [Speaker; 6] = [
    Speaker {
        protocol: "cal",
        greeting: || cal_message(b"SQLLog for cal:host\r\nEnvironment: test\r\n\r\n"),
        frame: |text| cal_message(format!("E11:51:18.67\tVID\t{text}\t0\tn=1&\r\n").as_bytes()),
    },
    Speaker {
        protocol: "lines",
        greeting: Vec::new,
        frame: |text| format!("{text}\n").into_bytes(),
    },
    Speaker {
        protocol: "length-prefixed",
        greeting: Vec::new,
        frame: |text| [&(text.len() as u32).to_be_bytes(), text.as_bytes()].concat(),
    },
    Speaker {
        protocol: "syslog",
        greeting: Vec::new,
        frame: |text| {
            let message = format!("<13>1 2026-11-22T01:00:00Z host app - - - {text}");
            format!("{} {message}", message.len()).into_bytes()
        },
    },
    Speaker {
        protocol: "forward",
        greeting: Vec::new,
        frame: |text| {
            // [tag, time, {"log": text}]
            let mut bytes = b"\x93\xa3app\xce\x65\x00\x00\x00\x81\xa3log\xd9".to_vec();
            bytes.push(text.len() as u8);
            bytes.extend_from_slice(text.as_bytes());
            bytes
        },
    },
    Speaker {
        protocol: "http",
        greeting: Vec::new,
        frame: |text| {
            let body = format!(
                "{{\"streams\":[{{\"stream\":{{}},\"values\":[[\"1795175478000000000\",\
                 \"{text}\"]]}}]}}"
            );
            format!(
                "POST /loki/api/v1/push HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
                 Content-Length: {}\r\n\r\n{body}",
                body.len()
            )
            .into_bytes()
        },
    },
];

fn cal_message(body: &[u8]) -> Vec<u8> {
    let numbers = [0, 1_795_175_478, body.len() as u32].map(u32::to_be_bytes).concat();
    [&numbers, body].concat()
}

/// A record that no noise resembles.
fn record(number: usize) -> String {
    format!("good-{number:06}-whole")
}

/// The numbers of the records of the client that behaves, in the order in which they are there; of
/// one that is not whole, a number that none has.
fn found(text: &[u8]) -> Vec<usize> {
    let text = String::from_utf8_lossy(text);
    let number = |piece: &str| {
        let (digits, rest) = piece.split_at_checked(6)?;
        digits.parse().ok().filter(|_| rest.starts_with("-whole"))
    };
    text.split("good-").skip(1).map(|piece| number(piece).unwrap_or(usize::MAX)).collect()
}

/// Sends what it can: a listener may close the connection before all of it is taken.
fn send(ingress: &Ingress, name: &str, bytes: &[u8]) -> TcpStream {
    let mut stream = ingress.connect(name);
    let _sent = stream.write_all(bytes);
    stream
}

#[test]
fn hostile_connections_beside_good_ones_of_the_same_listener_cost_them_nothing() {
    let folder = Folder::new();
    // Answers come when a batch is written, so it is not kept open for long.
    let mut config =
        format!("{FILER}[pool.default]\nlinger_ms = 5\n{}", listener("cal", "cal", ""));
    for speaker in &SPEAKERS[1..] {
        config += &pool_listener(speaker.protocol, speaker.protocol, speaker.protocol);
    }
    let ingress = Ingress::start(&folder, &config);
    let noise = noise(HOSTILE_BYTES * RECORDS);
    let mut good: Vec<TcpStream> =
        SPEAKERS.iter().map(|one| send(&ingress, one.protocol, &(one.greeting)())).collect();
    let mut kept_open = Vec::new();
    for (number, noise) in noise.chunks_exact(HOSTILE_BYTES).enumerate() {
        for (speaker, good) in SPEAKERS.iter().zip(&mut good) {
            let bytes = (speaker.frame)(&record(number));
            // The good one is in the middle of a record while the others do what they do.
            let (first, second) = bytes.split_at(1 + number % (bytes.len() - 1));
            good.write_all(first).unwrap();
            // Wrong from the start; wrong in one bit; broken off, and left open in a record.
            let name = speaker.protocol;
            let sound = [(speaker.greeting)(), (speaker.frame)("a sound one")].concat();
            let mut flipped = sound.clone();
            flipped[number * 7 % sound.len()] ^= 1 << (number % 8);
            flipped.extend_from_slice(&noise[..number * 20]);
            drop(send(&ingress, name, noise));
            drop(send(&ingress, name, &flipped));
            let cut = &sound[..number % sound.len()];
            let broken_off = send(&ingress, name, cut);
            let _ended = broken_off.shutdown(Shutdown::Write);
            if number % 4 == 0 {
                kept_open.push(send(&ingress, name, &[cut, &gzip(noise)].concat()));
            }
            good.write_all(second).unwrap();
            if name == "http" {
                // Who sends request after request without reading answers is told to come again.
                assert!(good.read(&mut [0; 4 << 10]).unwrap() > 0, "no answer");
            }
        }
    }
    drop(good);
    drop(kept_open);
    let (_, said) = ingress.stop();
    assert!(said.last().unwrap().contains("dropped 0"), "{said:?}");
    for speaker in &SPEAKERS {
        let text = logs(&folder, &["--pool", speaker.protocol]);
        let expected: Vec<usize> = (0..RECORDS).collect();
        assert_eq!(found(&text), expected, "{}", speaker.protocol);
    }
}
