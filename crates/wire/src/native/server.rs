//! The server's end of a native connection: which batches are new, which came before, which are
//! missing. It answers through the caller, who knows when something has come to stay.

use std::fmt::Display;

use super::NativeError;
use super::frame::{
    self, ACKNOWLEDGED, BATCH, BATCH_HEAD_BYTES, BatchCodec, DRAIN, Durability, END, Fields,
    HEADER_BYTES, HELLO, Hello, NOT_NOW, Refusal, Welcome,
};
use crate::limits::{NATIVE_BATCH_BYTES_MAX, NATIVE_WINDOW_BATCHES};
use crate::scan::{Scan, Span};

/// What a server allows its clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerLimits {
    /// The longest batch, compressed and not, in bytes.
    pub batch_bytes_max: u32,
    /// The most batches without an acknowledgement, at least 1.
    pub window_batches: u32,
}

impl Default for ServerLimits {
    fn default() -> ServerLimits {
        ServerLimits {
            batch_bytes_max: NATIVE_BATCH_BYTES_MAX as u32,
            window_batches: NATIVE_WINDOW_BATCHES,
        }
    }
}

/// A batch that is to be taken. Its checksum holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Batch {
    /// Its number: one more than that of the batch before.
    pub sequence: u64,
    /// How its records are compressed.
    pub codec: BatchCodec,
    /// How many records it holds.
    pub record_count: u32,
    /// How long they are together with their lengths when decompressed, in bytes: at most the
    /// limit. Decompress with exactly this room, then call
    /// [`split_records`](super::split_records).
    pub plain_bytes: u32,
    /// Where the compressed records lie.
    pub body: Span,
}

/// The state of one connection.
#[derive(Debug, Clone)]
pub struct Server {
    limits: ServerLimits,
    hello: Option<Hello>,
    /// The next batch that is new, once the client was welcomed.
    expected: Option<u64>,
    acknowledged: u64,
    /// A batch was put off: those behind it are passed over until it comes again.
    is_waiting: bool,
    has_ended: bool,
    duplicates: u64,
}

impl Server {
    /// A connection that has sent nothing yet.
    pub fn new(limits: ServerLimits) -> Server {
        Server {
            limits: ServerLimits { window_batches: limits.window_batches.max(1), ..limits },
            hello: None,
            expected: None,
            acknowledged: 0,
            is_waiting: false,
            has_ended: false,
            duplicates: 0,
        }
    }

    /// Who the client is, once it has said so. Answer with [`welcome`](Server::welcome).
    pub fn hello(&self) -> Option<&Hello> {
        self.hello.as_ref()
    }

    /// Whether the client was welcomed.
    pub fn is_welcomed(&self) -> bool {
        self.expected.is_some()
    }

    /// Whether the client has said that it sends no more. Acknowledge what is left, then close.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// How many batches were passed over because they had come before or stood behind one that was
    /// put off.
    pub fn duplicates(&self) -> u64 {
        self.duplicates
    }

    /// Appends the new batches that are complete in `input`, which begins where the last scan
    /// stopped. A scan stops behind the hello: call [`welcome`](Server::welcome), then scan what is
    /// left before reading on.
    ///
    /// # Errors
    /// Any [`NativeError`]: answer with [`refuse`](Server::refuse) and close. The
    /// batches before are in `batches` all the same.
    pub fn scan(&mut self, input: &[u8], batches: &mut Vec<Batch>) -> Result<Scan, NativeError> {
        let mut consumed = 0;
        loop {
            let rest = &input[consumed..];
            if self.hello.is_some() && !self.is_welcomed() {
                return Ok(Scan { consumed, needed: rest.len() + 1 });
            }
            // The first byte shows who is no client at all.
            if let Some(&kind) = rest.first() {
                self.check_type(kind)?;
            }
            let Some((kind, length_bytes)) = frame::header(rest) else {
                return Ok(Scan { consumed, needed: HEADER_BYTES });
            };
            self.check_length(kind, length_bytes)?;
            let needed = HEADER_BYTES + length_bytes as usize;
            let Some(body) = rest.get(HEADER_BYTES..needed) else {
                return Ok(Scan { consumed, needed });
            };
            let start = consumed + HEADER_BYTES;
            match kind {
                HELLO => self.hello = Some(Hello::read(body)?),
                BATCH => batches.extend(self.batch(body, start)?),
                _ => self.has_ended = true,
            }
            consumed += needed;
        }
    }

    /// Answers the hello. `acknowledged` is the last batch of this client id that is known to have
    /// come to stay, 0 if none is.
    pub fn welcome(&mut self, durability: Durability, acknowledged: u64, out: &mut Vec<u8>) {
        let first = self.hello.as_ref().map_or(1, |hello| hello.first_sequence);
        // What the client no longer holds was acknowledged, by another server perhaps.
        self.acknowledged = acknowledged.max(first - 1);
        self.expected = Some(self.acknowledged.saturating_add(1));
        let ServerLimits { batch_bytes_max, window_batches } = self.limits;
        let acknowledged = self.acknowledged;
        Welcome { durability, acknowledged, window_batches, batch_bytes_max }.write(out);
    }

    /// Tells the client that all batches up to this one have come to stay. A number that is not
    /// above the last one is not sent, nor one above what has come.
    pub fn acknowledge(&mut self, sequence: u64, out: &mut Vec<u8>) {
        let last = self.expected.map_or(0, |expected| expected - 1);
        let sequence = sequence.min(last);
        if sequence > self.acknowledged {
            self.acknowledged = sequence;
            frame::push(ACKNOWLEDGED, out, |out| out.extend_from_slice(&sequence.to_be_bytes()));
        }
    }

    /// Tells the client that this batch, which `scan` has just handed out, and those behind it are
    /// not taken now, and to send them again after a while. The caller drops those behind it that
    /// the same scan handed out. Batches that were acknowledged can't be put off.
    pub fn not_now(&mut self, sequence: u64, retry_after_ms: u32, out: &mut Vec<u8>) {
        if sequence <= self.acknowledged || self.expected.is_none_or(|next| sequence >= next) {
            return;
        }
        self.expected = Some(sequence);
        self.is_waiting = true;
        frame::push(NOT_NOW, out, |out| {
            out.extend_from_slice(&sequence.to_be_bytes());
            out.extend_from_slice(&retry_after_ms.to_be_bytes());
        });
    }

    /// Tells the client to finish here and connect again: this server is about to stop.
    pub fn drain(&self, out: &mut Vec<u8>) {
        frame::push(DRAIN, out, |_| {});
    }

    /// Tells the client why the connection is closed.
    pub fn refuse(&self, reason: &impl Display, out: &mut Vec<u8>) {
        Refusal { reason: reason.to_string() }.write(out);
    }

    fn check_type(&self, kind: u8) -> Result<(), NativeError> {
        let is_known = match kind {
            HELLO => self.hello.is_none(),
            BATCH | END => self.is_welcomed() && !self.has_ended,
            _ => false,
        };
        if is_known { Ok(()) } else { Err(NativeError::FrameType(kind)) }
    }

    fn check_length(&self, kind: u8, length_bytes: u32) -> Result<(), NativeError> {
        if kind != BATCH {
            return frame::check_control_length(length_bytes);
        }
        let limit_bytes = BATCH_HEAD_BYTES + self.limits.batch_bytes_max as usize;
        if length_bytes as usize > limit_bytes {
            return Err(NativeError::FrameTooLong { length_bytes, limit_bytes });
        }
        Ok(())
    }

    /// The batch if it is new, `None` if it is to be passed over.
    fn batch(&mut self, body: &[u8], start: usize) -> Result<Option<Batch>, NativeError> {
        let mut fields = Fields(body);
        let checksum = fields.u64()?;
        let sequence = fields.u64()?;
        let (record_count, plain_bytes) = (fields.u32()?, fields.u32()?);
        let [codec, ..] = fields.array::<4>()?;
        if checksum != frame::checksum(body) {
            return Err(NativeError::Checksum { sequence });
        }
        let expected = self.expected.unwrap_or(1);
        if sequence < expected || (self.is_waiting && sequence > expected) {
            self.duplicates += 1;
            return Ok(None);
        }
        if sequence > expected {
            return Err(NativeError::Gap { sequence, expected });
        }
        let ServerLimits { batch_bytes_max, window_batches } = self.limits;
        if sequence - self.acknowledged > u64::from(window_batches) {
            return Err(NativeError::Window { sequence, window_batches });
        }
        if plain_bytes > batch_bytes_max {
            let limit_bytes = batch_bytes_max as usize;
            return Err(NativeError::FrameTooLong { length_bytes: plain_bytes, limit_bytes });
        }
        let codec = BatchCodec::of(codec)?;
        let body = Span::new(start + BATCH_HEAD_BYTES, start + body.len());
        if codec == BatchCodec::Stored && body.len() != plain_bytes as usize {
            return Err(NativeError::Malformed("a stored batch is not as long as it announces"));
        }
        let next = sequence.checked_add(1);
        self.expected = Some(next.ok_or(NativeError::Malformed("sequence numbers ran out"))?);
        self.is_waiting = false;
        Ok(Some(Batch { sequence, codec, record_count, plain_bytes, body }))
    }
}
