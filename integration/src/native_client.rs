//! A client of the native ingest protocol, written from spec/ingest-native.md: it sends batches
//! and waits for what is acknowledged.

use std::io::{Read, Write};
use std::net::TcpStream;

use xxhash_rust::xxh64::xxh64;

/// A frame's type and length.
const HEADER_BYTES: usize = 8;

/// Durability: the sink has it.
const WRITTEN: u8 = 3;

/// A client that is connected.
pub struct NativeClient {
    stream: TcpStream,
    /// The last batch that was acknowledged.
    pub acknowledged: u64,
}

impl NativeClient {
    /// Says hello on this connection and waits for the welcome. Batches start at `first`.
    #[track_caller]
    pub fn hello(mut stream: TcpStream, id: [u8; 16], first: u64, pool: &str) -> NativeClient {
        let mut body = vec![1, WRITTEN];
        body.extend_from_slice(&id);
        body.extend_from_slice(&first.to_be_bytes());
        for text in [pool, "host"] {
            body.push(text.len() as u8);
            body.extend_from_slice(text.as_bytes());
        }
        stream.write_all(&frame(b'H', &body)).expect("a hello can be sent");
        let mut client = NativeClient { stream, acknowledged: 0 };
        let (kind, body) = client.read().expect("a welcome comes");
        assert_eq!(kind, b'W', "{body:?}");
        assert_eq!(body[..2], [1, WRITTEN], "another version or less durable");
        client.acknowledged = u64::from_be_bytes(body[2..10].try_into().unwrap());
        client
    }

    /// Sends a batch of these records; false if the connection is gone.
    pub fn send(&mut self, sequence: u64, records: &[Vec<u8>]) -> bool {
        let mut plain = Vec::new();
        for record in records {
            plain.extend_from_slice(&(record.len() as u32).to_be_bytes());
            plain.extend_from_slice(record);
        }
        let mut body = Vec::new();
        body.extend_from_slice(&sequence.to_be_bytes());
        body.extend_from_slice(&(records.len() as u32).to_be_bytes());
        body.extend_from_slice(&(plain.len() as u32).to_be_bytes());
        body.extend_from_slice(&[0; 4]);
        body.extend_from_slice(&plain);
        let mut batch = xxh64(&body, 0).to_be_bytes().to_vec();
        batch.extend_from_slice(&body);
        self.stream.write_all(&frame(b'B', &batch)).is_ok()
    }

    /// Waits until the batch of this sequence is acknowledged; false if the connection ends before.
    #[track_caller]
    pub fn wait_for(&mut self, sequence: u64) -> bool {
        while self.acknowledged < sequence {
            let Some((kind, body)) = self.read() else { return false };
            assert_eq!(kind, b'A', "no acknowledgement: {}", String::from_utf8_lossy(&body));
            self.acknowledged = u64::from_be_bytes(body[..8].try_into().unwrap());
        }
        true
    }

    /// The next frame that the server sends, whatever it is.
    pub fn read(&mut self) -> Option<(u8, Vec<u8>)> {
        let mut header = [0; HEADER_BYTES];
        self.stream.read_exact(&mut header).ok()?;
        let length = u32::from_be_bytes(header[4..].try_into().unwrap());
        let mut body = vec![0; length as usize];
        self.stream.read_exact(&mut body).ok()?;
        Some((header[0], body))
    }
}

fn frame(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut frame = vec![kind, 0, 0, 0];
    frame.extend_from_slice(&(body.len() as u32).to_be_bytes());
    frame.extend_from_slice(body);
    frame
}
