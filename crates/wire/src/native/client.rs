//! The client's end of a native connection: what to send, and what the server's answers mean for
//! the batches that are kept. Whoever uses it keeps each batch until it is acknowledged, and on a
//! new connection sends again what was not.

use super::NativeError;
use super::frame::{
    self, ACKNOWLEDGED, BATCH, BatchCodec, DRAIN, END, Fields, HEADER_BYTES, Hello, NOT_NOW,
    REFUSED, Refusal, WELCOME, Welcome,
};
use crate::scan::Scan;

/// What the server said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Batches may be sent, from the one behind `acknowledged` on.
    Welcome(Welcome),
    /// All batches up to this one have come to stay and need not be kept.
    Acknowledged {
        /// The last of them.
        sequence: u64,
    },
    /// This batch and those behind it were not taken: send them again after a while.
    NotNow {
        /// The first of them.
        sequence: u64,
        /// How long to wait, in milliseconds.
        retry_after_ms: u32,
    },
    /// The server is about to stop: send no more, wait for acknowledgements, connect again.
    Drain,
    /// The server closes the connection.
    Refused(Refusal),
}

/// The state of one connection.
#[derive(Debug, Clone)]
pub struct Client {
    welcome: Option<Welcome>,
    acknowledged: u64,
    next: u64,
}

impl Client {
    /// Begins a connection: appends the hello to `out`.
    pub fn connect(hello: &Hello, out: &mut Vec<u8>) -> Client {
        hello.write(out);
        let acknowledged = hello.first_sequence.saturating_sub(1);
        Client { welcome: None, acknowledged, next: hello.first_sequence }
    }

    /// The number of the batch that [`send`](Client::send) takes next.
    pub fn next_sequence(&self) -> u64 {
        self.next
    }

    /// Whether the window allows another batch now. Before the welcome it does not.
    pub fn may_send(&self) -> bool {
        let window = self.welcome.map_or(0, |welcome| u64::from(welcome.window_batches));
        // The batch that the server has acknowledged may be one that this client never sent.
        self.next.saturating_sub(self.acknowledged) <= window
    }

    /// Appends the batch of the next number to `out`. `body` is what `codec` made of the
    /// `plain_bytes` bytes of `record_count` records
    /// ([`push_record`](super::push_record)).
    ///
    /// # Panics
    /// If `body` has 4 GiB or more; the server's `batch_bytes_max` is far below.
    pub fn send(
        &mut self,
        codec: BatchCodec,
        record_count: u32,
        plain_bytes: u32,
        body: &[u8],
        out: &mut Vec<u8>,
    ) -> u64 {
        assert!(body.len() < u32::MAX as usize / 2, "a batch of {} bytes", body.len());
        let sequence = self.next;
        self.next += 1;
        frame::push(BATCH, out, |out| {
            let start = out.len();
            out.extend_from_slice(&[0; 8]);
            out.extend_from_slice(&sequence.to_be_bytes());
            out.extend_from_slice(&record_count.to_be_bytes());
            out.extend_from_slice(&plain_bytes.to_be_bytes());
            out.extend_from_slice(&[codec as u8, 0, 0, 0]);
            out.extend_from_slice(body);
            let checksum = frame::checksum(&out[start..]);
            out[start..start + 8].copy_from_slice(&checksum.to_be_bytes());
        });
        sequence
    }

    /// Appends the frame that says that no more batches come. The server acknowledges what is left
    /// and closes.
    pub fn end(&self, out: &mut Vec<u8>) {
        frame::push(END, out, |_| {});
    }

    /// Appends what the server said in `input`, which begins where the last scan stopped. After a
    /// welcome or a `NotNow` the next batch to send is that of
    /// [`next_sequence`](Client::next_sequence).
    ///
    /// # Errors
    /// Any [`NativeError`]: close the connection. The events before are in `events` all the same.
    pub fn scan(&mut self, input: &[u8], events: &mut Vec<Event>) -> Result<Scan, NativeError> {
        let mut consumed = 0;
        loop {
            let rest = &input[consumed..];
            if let Some(&kind) = rest.first() {
                self.check_type(kind)?;
            }
            let Some((kind, length_bytes)) = frame::header(rest) else {
                return Ok(Scan { consumed, needed: HEADER_BYTES });
            };
            frame::check_control_length(length_bytes)?;
            let needed = HEADER_BYTES + length_bytes as usize;
            let Some(body) = rest.get(HEADER_BYTES..needed) else {
                return Ok(Scan { consumed, needed });
            };
            events.push(self.event(kind, body)?);
            consumed += needed;
        }
    }

    fn check_type(&self, kind: u8) -> Result<(), NativeError> {
        let is_known = match kind {
            WELCOME => self.welcome.is_none(),
            ACKNOWLEDGED | NOT_NOW | DRAIN => self.welcome.is_some(),
            REFUSED => true,
            _ => false,
        };
        if is_known { Ok(()) } else { Err(NativeError::FrameType(kind)) }
    }

    fn event(&mut self, kind: u8, body: &[u8]) -> Result<Event, NativeError> {
        let mut fields = Fields(body);
        Ok(match kind {
            WELCOME => {
                let welcome = Welcome::read(body)?;
                self.welcome = Some(welcome);
                // Never back: what was acknowledged once need not be kept.
                self.acknowledged = self.acknowledged.max(welcome.acknowledged);
                self.next = self.acknowledged.saturating_add(1);
                Event::Welcome(welcome)
            }
            ACKNOWLEDGED => {
                let sequence = fields.u64()?;
                if sequence >= self.next {
                    return Err(NativeError::NeverSent { sequence });
                }
                self.acknowledged = self.acknowledged.max(sequence);
                Event::Acknowledged { sequence }
            }
            NOT_NOW => {
                let (sequence, retry_after_ms) = (fields.u64()?, fields.u32()?);
                if sequence >= self.next || sequence <= self.acknowledged {
                    return Err(NativeError::NeverSent { sequence });
                }
                self.next = sequence;
                Event::NotNow { sequence, retry_after_ms }
            }
            DRAIN => Event::Drain,
            _ => Event::Refused(Refusal::read(body)?),
        })
    }
}
