//! Events of Fluentd and Fluent Bit: each is kept as a line of JSON with its tag and time. A chunk
//! is kept whole, so that its acknowledgement stands for all of it.

use std::io::Write;
use std::sync::Arc;

use cinch_wire::Span;
use cinch_wire::forward::{Entries, Form, Forward as Machine, Message};
use cinch_wire::msgpack::{MsgpackError, write_json};
use cinch_wire::native::Durability;
use cinch_wire::stream::{StreamCodec, StreamDecompressor, StreamError};

use super::Filling;
use super::client::{Client, ClientError};
use crate::acknowledge::{ForwardPeer, Receipt, Recipient};
use crate::connection::Connection;
use crate::ingress::Shared;
use crate::limits::{FORWARD_MESSAGE_BYTES_MAX, FORWARD_PLAIN_BYTES_MAX};

/// The machine of a forward connection.
pub(super) struct Forward {
    machine: Machine,
    peer: Arc<ForwardPeer>,
    messages: Vec<Message>,
    plain: Vec<u8>,
    text: Vec<u8>,
    spans: Vec<Span>,
    sequence: u64,
}

/// Why a chunk can't be kept.
#[derive(Debug, thiserror::Error)]
pub(super) enum ChunkError {
    #[error(transparent)]
    Msgpack(#[from] MsgpackError),
    #[error(transparent)]
    Stream(#[from] StreamError),
    #[error("there are more than {limit_bytes} bytes after decompression")]
    TooLong { limit_bytes: usize },
}

impl Forward {
    pub(super) fn new(connection: &Arc<Connection>, pool: &str, shared: &Shared) -> Forward {
        let mailbox = Arc::clone(&shared.mailboxes[connection.reader]);
        let least = shared.pools.named(pool).settings.load().ack_when.durability();
        let peer = Arc::new(ForwardPeer::new(Arc::clone(connection), mailbox, least));
        let machine = Machine::new(FORWARD_MESSAGE_BYTES_MAX);
        let (messages, plain, text, spans) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Forward { machine, peer, messages, plain, text, spans, sequence: 0 }
    }

    /// Takes all whole messages of these bytes and returns how far they go and what is needed next.
    pub(super) fn cut(
        &mut self,
        client: &Client,
        bytes: &[u8],
        filling: &mut Filling,
    ) -> Result<(usize, usize), ClientError> {
        self.messages.clear();
        let mut answer = Vec::new();
        let result = self.machine.scan(bytes, &mut self.messages, &mut answer);
        self.peer.send(&answer);
        for message in std::mem::take(&mut self.messages) {
            self.keep(client, &message, bytes, filling)?;
        }
        let scan = result?;
        Ok((scan.consumed, scan.needed))
    }

    fn keep(
        &mut self,
        client: &Client,
        message: &Message,
        bytes: &[u8],
        filling: &mut Filling,
    ) -> Result<(), ChunkError> {
        let entries = message.entries.of(bytes);
        let entries = match message.form {
            Form::Compressed(codec) => {
                unpack(codec, entries, &mut self.plain)?;
                &self.plain[..]
            }
            _ => entries,
        };
        self.text.clear();
        self.spans.clear();
        let tag = String::from_utf8_lossy(message.tag.of(bytes));
        let tag = serde_json::Value::from(tag.as_ref()).to_string();
        for entry in Entries::new(message.form, entries) {
            let entry = entry?;
            let start = self.text.len() as u32;
            let (seconds, nanos) = (entry.time.unix_seconds, entry.time.nanosecond);
            // Writing to a vector does not fail.
            let _written =
                write!(self.text, "{{\"tag\":{tag},\"time\":{seconds}.{nanos:09},\"record\":");
            write_json(entry.record, &mut self.text)?;
            self.text.push(b'}');
            self.spans.push(Span { start, end: self.text.len() as u32 });
        }
        let receipt = message.chunk.map(|chunk| {
            self.sequence += 1;
            self.peer.expects(self.sequence, chunk.of(bytes));
            let peer = Arc::clone(&self.peer) as Arc<dyn Recipient>;
            Receipt { peer, first: self.sequence, last: self.sequence }
        });
        if self.spans.is_empty() {
            // A chunk without events has come to stay as far as it ever will.
            receipt.iter().for_each(|receipt| receipt.reached(Durability::Written));
        } else {
            client.keep_records(&self.text, &self.spans, receipt.clone(), filling);
            receipt.iter().for_each(|receipt| receipt.reached(Durability::Received));
        }
        Ok(())
    }
}

fn unpack(codec: StreamCodec, packed: &[u8], plain: &mut Vec<u8>) -> Result<(), ChunkError> {
    let mut stream = StreamDecompressor::with_defaults(codec)?;
    grow(&mut stream, packed, plain, FORWARD_PLAIN_BYTES_MAX)
}

/// Decompresses all of this into a buffer that grows with it, up to a limit.
pub(super) fn grow(
    stream: &mut StreamDecompressor,
    packed: &[u8],
    plain: &mut Vec<u8>,
    limit_bytes: usize,
) -> Result<(), ChunkError> {
    let (mut consumed, mut written) = (0, 0);
    plain.clear();
    loop {
        let room = (plain.len() * 2).max(4 * packed.len()).clamp(1, limit_bytes);
        plain.resize(room, 0);
        let progress = stream.decompress(&packed[consumed..], &mut plain[written..])?;
        consumed += progress.consumed;
        written += progress.written;
        if written < plain.len() {
            stream.finish()?;
            plain.truncate(written);
            return Ok(());
        }
        if written >= limit_bytes {
            return Err(ChunkError::TooLong { limit_bytes });
        }
    }
}
