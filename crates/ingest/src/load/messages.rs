//! What a load sends: bunches that are made before the clock runs, from log lines that are given or
//! from lines of our own. With CAL every tenth message is a VID event and every fiftieth a
//! heartbeat, so that metrics have something to count.

use std::cell::Cell;

use cinch_wire::cal;

use crate::config::Protocol;

/// Different bunches; more would not be in any cache, which is what a network's are not either.
const BUNCHES: usize = 256;

/// The seconds of CAL's headers and times: any will do, but the same ones make runs comparable.
const CONNECT_SECONDS: u32 = 1_795_175_478;

/// What was made.
#[derive(Debug)]
pub struct Messages {
    protocol: Protocol,
    pool: String,
    bunches: Vec<ReadyBunch>,
    next: Cell<usize>,
}

/// A bunch.
#[derive(Debug)]
pub struct ReadyBunch {
    /// As it goes over the wire.
    pub bytes: Vec<u8>,
    /// How many messages it holds.
    pub messages: u64,
}

impl Messages {
    /// Bunches of at most this many bytes of whole messages, from these lines in turn.
    pub fn new(protocol: Protocol, pool: &str, bunch_bytes: usize, lines: &[Vec<u8>]) -> Messages {
        let mut number = 0u64;
        let bunches = (0..BUNCHES).map(|_| bunch(protocol, bunch_bytes, lines, &mut number));
        let (pool, bunches) = (pool.to_owned(), bunches.collect());
        Messages { protocol, pool, bunches, next: Cell::new(0) }
    }

    /// What a connection sends first.
    pub fn greeting(&self, connection: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        if self.protocol == Protocol::Cal {
            let pool = &self.pool;
            let label = format!(
                "SQLLog for {pool}:host{connection}\r\nEnvironment: load\r\n\
                 Label: {pool}-1.0-1\r\nStart: 2026-11-20 11:51:18\r\n\r\n"
            );
            cal::write(0, CONNECT_SECONDS, label.as_bytes(), &mut bytes);
        }
        bytes
    }

    /// All bunches, one after the other, as they go over the wire.
    pub fn stream(&self) -> Vec<u8> {
        self.bunches.iter().flat_map(|bunch| &bunch.bytes).copied().collect()
    }

    /// The number of the next bunch to send.
    pub(super) fn next(&self) -> usize {
        let number = self.next.get();
        self.next.set((number + 1) % self.bunches.len());
        number
    }

    /// A bunch.
    pub(super) fn bunch(&self, number: usize) -> &ReadyBunch {
        &self.bunches[number]
    }
}

fn bunch(
    protocol: Protocol,
    bunch_bytes: usize,
    lines: &[Vec<u8>],
    number: &mut u64,
) -> ReadyBunch {
    let (mut bytes, mut messages) = (Vec::with_capacity(bunch_bytes), 0);
    let mut message = Vec::new();
    loop {
        message.clear();
        write(protocol, lines, *number, &mut message);
        if messages > 0 && bytes.len() + message.len() > bunch_bytes {
            return ReadyBunch { bytes, messages };
        }
        bytes.extend_from_slice(&message);
        messages += 1;
        *number += 1;
    }
}

fn write(protocol: Protocol, lines: &[Vec<u8>], number: u64, out: &mut Vec<u8>) {
    let text = match lines.len() as u64 {
        0 => format!("took {} of {} rows for user {}", number % 97, number % 1_013, number * 7)
            .into_bytes(),
        count => lines[(number % count) as usize].clone(),
    };
    match protocol {
        Protocol::LengthPrefixed => {
            out.extend_from_slice(&(text.len() as u32).to_be_bytes());
            out.extend_from_slice(&text);
        }
        Protocol::Cal => cal_message(number, &text, out),
        // A load of another protocol would need its handshake; lines are what is left.
        _ => {
            out.extend_from_slice(&text);
            out.push(b'\n');
        }
    }
}

fn cal_message(number: u64, text: &[u8], out: &mut Vec<u8>) {
    let (minute, second, hundredth) = (number / 6_000 % 60, number / 100 % 60, number % 100);
    let time = format!("11:{minute:02}:{second:02}.{hundredth:02}");
    let head = match number {
        n if n % 50 == 7 => {
            format!("H{time}\tHEARTBEAT\tcpu\t0\tload={}&threads={}&", n % 400, n % 64)
        }
        n if n % 10 == 3 => {
            format!("E{time}\tVID\tvid_{}\t0\tvid={}&n=1&", n % 20, n * 31 % 9_973)
        }
        n => format!("A{time}\tLOG\tline\t0\t{}.0\t", n % 300),
    };
    let mut body = head.into_bytes();
    body.extend_from_slice(text);
    body.extend_from_slice(b"\r\n");
    let lane = (number / 4 % 128) as u32;
    cal::write(lane, CONNECT_SECONDS, &body, out);
}
