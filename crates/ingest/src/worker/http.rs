//! HTTP/1.1 as log senders speak it: OTLP (`POST /v1/logs`), the bulk forms of Elasticsearch and
//! Loki, and lines (`POST /lines`, NDJSON among them). A request is answered when its records have
//! come as far as its pool's `ack_when` says, in the order of the requests; one whose records were
//! dropped is told to come again.
//!
//! It is a machine like the others, fed by the reader: a slow sender holds a part of a request and
//! nothing else. What can't be cut into requests ends the connection; a request that is only wrong
//! itself is answered, and the next one is read.

use std::sync::Arc;

use cinch_wire::chunked::{Chunked, ChunkedError};
use cinch_wire::native::Durability;
use cinch_wire::stream::{StreamCodec, StreamDecompressor};

use super::Filling;
use super::client::{Client, ClientError, Keeper};
use super::forward::{ChunkError, grow};
use crate::acknowledge::{HttpPeer, Receipt, Recipient};
use crate::connection::Connection;
use crate::ingress::Shared;
use crate::limits::{HTTP_BODY_BYTES_MAX, HTTP_PIPELINED_MAX};

mod answers;
mod bodies;
mod head;

use answers::Refusal;
use bodies::Route;
use head::{Coding, Head, Length};

/// The machine of an HTTP connection.
pub(super) struct Http {
    peer: Arc<HttpPeer>,
    sequence: u64,
    plain: Vec<u8>,
    lines: Vec<u8>,
    state: State,
    has_promised: bool,
}

/// Where in a request the connection is.
enum State {
    /// Before a head, or in one, or in a body whose length is known.
    Head,
    /// In a chunked body.
    Chunks(Box<InChunks>),
    /// Behind the last request that is read.
    Over,
}

/// A request whose body comes in chunks.
struct InChunks {
    head: Head,
    chunked: Chunked,
    body: Vec<u8>,
}

/// What ends an HTTP connection. It was answered.
#[derive(Debug, thiserror::Error)]
#[error("{}: {}", .0.status, .0.reason)]
pub(super) struct HttpError(Refusal);

impl Http {
    pub(super) fn new(connection: &Arc<Connection>, pool: &str, shared: &Shared) -> Http {
        let mailbox = Arc::clone(&shared.mailboxes[connection.reader]);
        let least = shared.pools.named(pool).settings.load().ack_when.durability();
        let peer = Arc::new(HttpPeer::new(Arc::clone(connection), mailbox, least));
        let (plain, lines, state) = (Vec::new(), Vec::new(), State::Head);
        Http { peer, sequence: 0, plain, lines, state, has_promised: false }
    }

    /// Takes what it can of these bytes: how far it came, and how many more bytes are needed if
    /// there is nothing more to do with them.
    fn step(
        &mut self,
        client: &Client,
        bytes: &[u8],
        filling: &mut Filling,
    ) -> Result<(usize, Option<usize>), Refusal> {
        match std::mem::replace(&mut self.state, State::Head) {
            State::Over => {
                self.state = State::Over;
                Ok((bytes.len(), Some(0)))
            }
            State::Chunks(mut request) => {
                let used = request.chunked.decode(bytes, &mut request.body);
                let used = used.map_err(|error| match error {
                    ChunkedError::TooLong { .. } => Refusal::too_large(error),
                    _ => Refusal::bad(error),
                })?;
                if request.chunked.is_done() {
                    self.request(client, &request.head, &request.body, filling);
                    return Ok((used, None));
                }
                self.state = State::Chunks(request);
                Ok((used, Some(0)))
            }
            State::Head => {
                let Some(head) = head::read(bytes)? else { return Ok((0, Some(bytes.len() + 1))) };
                let start = head.bytes;
                let Length::Bytes(length) = head.length else {
                    self.promise(&head);
                    self.has_promised = false;
                    let chunked = Chunked::new(HTTP_BODY_BYTES_MAX);
                    self.state =
                        State::Chunks(Box::new(InChunks { head, chunked, body: Vec::new() }));
                    return Ok((start, None));
                };
                let Some(body) = bytes.get(start..start + length) else {
                    self.promise(&head);
                    return Ok((0, Some(start + length)));
                };
                self.has_promised = false;
                self.request(client, &head, body, filling);
                Ok((start + length, None))
            }
        }
    }

    /// Tells a client that waits for it to send the body.
    fn promise(&mut self, head: &Head) {
        if head.waits_for_promise && !std::mem::replace(&mut self.has_promised, true) {
            self.peer.promise();
        }
    }

    /// Answers a request, or keeps its records, which answers it later.
    fn request(&mut self, client: &Client, head: &Head, body: &[u8], filling: &mut Filling) {
        self.sequence += 1;
        if head.closes {
            self.state = State::Over;
        }
        if self.peer.waiting() >= HTTP_PIPELINED_MAX {
            self.peer.expects(self.sequence, Vec::new(), head.closes);
            return self.peer.not_now(self.sequence);
        }
        let kept = match Route::of(&head.path) {
            Some(route) if head.is_post => self.keep(client, route, head, body, filling),
            Some(_) => Err(Refusal::method()),
            None => Ok(Some(bodies::about(&head.path))),
        };
        let now = match kept {
            Ok(None) => return,
            Ok(Some(answer)) => answer,
            Err(refusal) => refusal.answer(Route::of(&head.path), head.kind, head.closes),
        };
        self.peer.expects(self.sequence, Vec::new(), head.closes);
        self.peer.answer(self.sequence, &now);
    }

    /// Keeps the records of a request; the answer, if there are none to wait for.
    fn keep(
        &mut self,
        client: &Client,
        route: Route,
        head: &Head,
        body: &[u8],
        filling: &mut Filling,
    ) -> Result<Option<Vec<u8>>, Refusal> {
        let body = match head.coding {
            Coding::Plain => body,
            Coding::Packed(codec) => {
                unpack(codec, body, &mut self.plain)?;
                &self.plain[..]
            }
            Coding::Snappy if route == Route::Loki => body,
            Coding::Snappy | Coding::Unknown => return Err(Refusal::coding()),
        };
        let found = bodies::read(route, &head.path, head.kind, body, &mut self.lines)?;
        if found.count == 0 {
            return Ok(Some(found.answer));
        }
        self.peer.expects(self.sequence, found.answer, head.closes);
        let peer = Arc::clone(&self.peer) as Arc<dyn Recipient>;
        let receipt = Receipt { peer, first: self.sequence, last: self.sequence };
        if client.keep_lines(&self.lines, found.count, Some(receipt.clone()), filling) {
            receipt.reached(Durability::Received);
        }
        Ok(None)
    }
}

impl Keeper for Http {
    fn cut(
        &mut self,
        client: &mut Client,
        bytes: &[u8],
        filling: &mut Filling,
        _: &Shared,
    ) -> Result<(usize, usize), ClientError> {
        let mut consumed = 0;
        loop {
            match self.step(client, &bytes[consumed..], filling) {
                Ok((used, None)) => consumed += used,
                Ok((used, Some(needed))) => return Ok((consumed + used, needed)),
                Err(refusal) => {
                    self.sequence += 1;
                    self.peer.expects(self.sequence, Vec::new(), true);
                    self.peer.answer(self.sequence, &refusal.answer(None, head::Kind::None, true));
                    return Err(HttpError(refusal).into());
                }
            }
        }
    }

    fn held_bytes(&self) -> usize {
        match &self.state {
            State::Chunks(request) => request.body.len(),
            _ => 0,
        }
    }
}

fn unpack(codec: StreamCodec, packed: &[u8], plain: &mut Vec<u8>) -> Result<(), Refusal> {
    let mut stream = StreamDecompressor::with_defaults(codec).map_err(Refusal::bad)?;
    grow(&mut stream, packed, plain, HTTP_BODY_BYTES_MAX).map_err(|error| match error {
        ChunkError::TooLong { .. } => Refusal::too_large(error),
        _ => Refusal::bad(error),
    })
}
