//! Batches of native clients: unpacked, cut into records, and kept whole, so that a batch of the
//! pipeline holds all of one or nothing.

use std::sync::Arc;

use cinch_wire::Span;
use cinch_wire::native::{self, Batch, BatchCodec, Durability, NativeError, Server, ServerLimits};
use cinch_wire::stream::{StreamCodec, StreamDecompressor, StreamError};

use super::Filling;
use super::client::{Client, ClientError};
use crate::acknowledge::{NativePeer, Receipt, Recipient};
use crate::connection::Connection;
use crate::ingress::Shared;
use crate::limits::NATIVE_BATCH_BYTES_MAX;

/// The machine of a native connection.
pub(super) struct Native {
    pub(super) peer: Arc<NativePeer>,
    batches: Vec<Batch>,
    plain: Vec<u8>,
    spans: Vec<Span>,
}

impl Native {
    pub(super) fn new(connection: &Arc<Connection>, shared: &Shared) -> Native {
        let limits =
            ServerLimits { batch_bytes_max: NATIVE_BATCH_BYTES_MAX, ..ServerLimits::default() };
        let mailbox = Arc::clone(&shared.mailboxes[connection.reader]);
        let known = Arc::clone(&shared.known_clients);
        let peer = NativePeer::new(Arc::clone(connection), mailbox, known, Server::new(limits));
        let (batches, plain, spans) = (Vec::new(), Vec::new(), Vec::new());
        Native { peer: Arc::new(peer), batches, plain, spans }
    }

    /// Takes all whole frames of these bytes and returns how far they go and what is needed next.
    pub(super) fn cut(
        &mut self,
        client: &mut Client,
        bytes: &[u8],
        filling: &mut Filling,
        shared: &Shared,
    ) -> Result<(usize, usize), ClientError> {
        let mut consumed = 0;
        loop {
            self.batches.clear();
            let (result, hello, is_welcomed) = self.peer.with_server(|server, _| {
                let result = server.scan(&bytes[consumed..], &mut self.batches);
                (result, server.hello().cloned(), server.is_welcomed())
            });
            let kept = self.keep(client, &bytes[consumed..], filling);
            let scan = match (kept, result) {
                (Err(error), _) | (Ok(()), Err(error)) => {
                    self.peer.refuse(&error);
                    return Err(error.into());
                }
                (Ok(()), Ok(scan)) => scan,
            };
            consumed += scan.consumed;
            let Some(hello) = hello.filter(|_| !is_welcomed) else {
                return Ok((consumed, scan.needed));
            };
            if hello.durability == Durability::Replicated {
                let error = NativeError::Malformed("no sink of this server is replicated");
                self.peer.refuse(&error);
                return Err(error.into());
            }
            let pool = shared.pools.named(&hello.pool);
            self.peer.welcome(pool.settings.load().ack_when.durability());
            client.set_pool(pool, hello.host);
        }
    }

    fn keep(
        &mut self,
        client: &Client,
        bytes: &[u8],
        filling: &mut Filling,
    ) -> Result<(), NativeError> {
        for batch in &self.batches {
            let body = batch.body.of(bytes);
            let plain = match unpack(batch, body, &mut self.plain)? {
                Unpacked::Here => &self.plain[..],
                Unpacked::AsItIs => body,
            };
            self.spans.clear();
            native::split_records(plain, batch.record_count, &mut self.spans)?;
            self.peer.was_put_off();
            let (first, last) = (batch.sequence, batch.sequence);
            let peer = Arc::clone(&self.peer) as Arc<dyn Recipient>;
            let receipt = Receipt { peer, first, last };
            client.keep_records(plain, &self.spans, Some(receipt), filling);
            self.peer.reached(Durability::Received, batch.sequence);
            if self.peer.was_put_off() {
                break;
            }
        }
        Ok(())
    }
}

/// Where the records of a batch lie.
enum Unpacked {
    Here,
    AsItIs,
}

fn unpack(batch: &Batch, body: &[u8], plain: &mut Vec<u8>) -> Result<Unpacked, NativeError> {
    let codec = match batch.codec {
        BatchCodec::Stored => return Ok(Unpacked::AsItIs),
        BatchCodec::Zstd => StreamCodec::Zstd,
        BatchCodec::Lz4 => StreamCodec::Lz4,
        BatchCodec::Gzip => StreamCodec::Gzip,
    };
    // The machine has compared the announced length with the limit.
    plain.resize(batch.plain_bytes as usize, 0);
    let whole = |_: StreamError| NativeError::Malformed("a batch can't be decompressed");
    let mut stream = StreamDecompressor::with_defaults(codec).map_err(whole)?;
    let progress = stream.decompress(body, plain).map_err(whole)?;
    stream.finish().map_err(whole)?;
    if progress.consumed != body.len() || progress.written != plain.len() {
        return Err(NativeError::Malformed("a batch has not the length that it announces"));
    }
    Ok(Unpacked::Here)
}
