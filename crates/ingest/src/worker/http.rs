//! HTTP/1.1 as log senders speak it: OTLP (`POST /v1/logs`), the bulk forms of Elasticsearch and
//! Loki, and lines (`POST /lines`, NDJSON among them). A request is answered when its records have
//! come as far as its pool's `ack_when` says, in the order of the requests; one whose records were
//! dropped is told to come again.
//!
//! It is a machine like the others, fed by the reader: a slow sender holds a part of a request and
//! nothing else.

use std::io::Write;
use std::sync::Arc;

use cinch_wire::native::Durability;
use cinch_wire::stream::{StreamCodec, StreamDecompressor};

use super::Filling;
use super::client::Client;
use crate::acknowledge::{HttpPeer, Receipt, Recipient};
use crate::connection::Connection;
use crate::ingress::Shared;
use crate::limits::{HTTP_BODY_BYTES_MAX, HTTP_HEAD_BYTES_MAX, HTTP_HEADERS_MAX};

mod bodies;

use bodies::Route;

/// The machine of an HTTP connection.
pub(super) struct Http {
    peer: Arc<HttpPeer>,
    sequence: u64,
    plain: Vec<u8>,
    lines: Vec<u8>,
    has_promised: bool,
}

/// What ends an HTTP connection. It was answered with the status.
#[derive(Debug, thiserror::Error)]
#[error("{status}: {reason}")]
pub(super) struct HttpError {
    status: &'static str,
    reason: String,
}

/// The head of a request, as far as it matters here.
struct Head {
    bytes: usize,
    is_post: bool,
    path: String,
    length: usize,
    codec: Option<StreamCodec>,
    is_json: bool,
    waits_for_promise: bool,
}

const BAD_REQUEST: &str = "400 Bad Request";
const TOO_LARGE: &str = "413 Content Too Large";
const NOT_IMPLEMENTED: &str = "501 Not Implemented";

fn refused(status: &'static str, reason: impl ToString) -> HttpError {
    HttpError { status, reason: reason.to_string() }
}

impl Http {
    pub(super) fn new(connection: &Arc<Connection>, pool: &str, shared: &Shared) -> Http {
        let mailbox = Arc::clone(&shared.mailboxes[connection.reader]);
        let least = shared.pools.named(pool).settings.load().ack_when.durability();
        let peer = Arc::new(HttpPeer::new(Arc::clone(connection), mailbox, least));
        let (plain, lines) = (Vec::new(), Vec::new());
        Http { peer, sequence: 0, plain, lines, has_promised: false }
    }

    /// Takes all whole requests of these bytes and returns how far they go and what is needed next.
    pub(super) fn cut(
        &mut self,
        client: &Client,
        bytes: &[u8],
        filling: &mut Filling,
    ) -> Result<(usize, usize), HttpError> {
        let mut consumed = 0;
        loop {
            let rest = &bytes[consumed..];
            let next = self.request(client, rest, filling);
            match next {
                Ok(Ok(taken)) => consumed += taken,
                Ok(Err(needed)) => return Ok((consumed, needed)),
                Err(error) => {
                    self.sequence += 1;
                    self.peer.expects(self.sequence, Vec::new());
                    let text = format!("{}\n", error.reason);
                    let answer = response(error.status, "text/plain", text.as_bytes(), true);
                    self.peer.answer(self.sequence, answer);
                    return Err(error);
                }
            }
        }
    }

    /// Takes a request: how long it was, or how many bytes are needed.
    fn request(
        &mut self,
        client: &Client,
        bytes: &[u8],
        filling: &mut Filling,
    ) -> Result<Result<usize, usize>, HttpError> {
        let Some(head) = head(bytes)? else { return Ok(Err(bytes.len() + 1)) };
        let whole = head.bytes + head.length;
        let Some(body) = bytes.get(head.bytes..whole) else {
            if head.waits_for_promise && !std::mem::replace(&mut self.has_promised, true) {
                self.peer.promise();
            }
            return Ok(Err(whole));
        };
        self.has_promised = false;
        self.sequence += 1;
        let Some(route) = Route::of(&head.path).filter(|_| head.is_post) else {
            let (status, text) = match &head.path[..] {
                "/healthz" => ("200 OK", "ok\n"),
                _ => ("404 Not Found", "POST to /v1/logs, /_bulk, /loki/api/v1/push or /lines\n"),
            };
            self.peer.expects(self.sequence, Vec::new());
            let answer = response(status, "text/plain", text.as_bytes(), false);
            self.peer.answer(self.sequence, answer);
            return Ok(Ok(whole));
        };
        let body = match head.codec {
            None => body,
            Some(codec) => {
                unpack(codec, body, &mut self.plain)?;
                &self.plain[..]
            }
        };
        let found = bodies::read(route, &head.path, head.is_json, body, &mut self.lines)?;
        self.peer.expects(self.sequence, found.answer);
        let peer = Arc::clone(&self.peer) as Arc<dyn Recipient>;
        let receipt = Receipt { peer, first: self.sequence, last: self.sequence };
        if found.count == 0 {
            receipt.reached(Durability::Written);
        } else {
            client.keep_lines(&self.lines, found.count, Some(receipt.clone()), filling);
            receipt.reached(Durability::Received);
        }
        Ok(Ok(whole))
    }
}

/// Reads the head of a request; `None` while it is not whole.
fn head(bytes: &[u8]) -> Result<Option<Head>, HttpError> {
    let mut headers = [httparse::EMPTY_HEADER; HTTP_HEADERS_MAX];
    let mut request = httparse::Request::new(&mut headers);
    let start = &bytes[..bytes.len().min(HTTP_HEAD_BYTES_MAX)];
    let parsed = request.parse(start).map_err(|error| refused(BAD_REQUEST, error))?;
    let httparse::Status::Complete(length) = parsed else {
        if bytes.len() >= HTTP_HEAD_BYTES_MAX {
            return Err(refused(BAD_REQUEST, "the head of the request is too long"));
        }
        return Ok(None);
    };
    let mut head = Head {
        bytes: length,
        is_post: request.method == Some("POST"),
        path: request.path.unwrap_or_default().split('?').next().unwrap_or_default().to_owned(),
        length: 0,
        codec: None,
        is_json: false,
        waits_for_promise: false,
    };
    for header in request.headers.iter() {
        let value = std::str::from_utf8(header.value).unwrap_or_default().trim();
        match &header.name.to_ascii_lowercase()[..] {
            "content-length" => {
                head.length = value.parse().map_err(|error| refused(BAD_REQUEST, error))?;
            }
            "transfer-encoding" => {
                return Err(refused(NOT_IMPLEMENTED, "send a Content-Length, not chunks"));
            }
            "content-encoding" => {
                head.codec = match &value.to_ascii_lowercase()[..] {
                    "gzip" => Some(StreamCodec::Gzip),
                    "zstd" => Some(StreamCodec::Zstd),
                    "identity" | "" => None,
                    _ => return Err(refused(NOT_IMPLEMENTED, "gzip and zstd are read")),
                };
            }
            "content-type" => head.is_json = value.starts_with("application/json"),
            "expect" => head.waits_for_promise = value.eq_ignore_ascii_case("100-continue"),
            _ => {}
        }
    }
    if head.length > HTTP_BODY_BYTES_MAX {
        return Err(refused(TOO_LARGE, format!("a body has at most {HTTP_BODY_BYTES_MAX} bytes")));
    }
    Ok(Some(head))
}

fn unpack(codec: StreamCodec, packed: &[u8], plain: &mut Vec<u8>) -> Result<(), HttpError> {
    let damaged = |error| refused(BAD_REQUEST, error);
    let mut stream = StreamDecompressor::with_defaults(codec).map_err(damaged)?;
    super::forward::grow(&mut stream, packed, plain, HTTP_BODY_BYTES_MAX)
        .map_err(|error| refused(BAD_REQUEST, error))
}

fn response(status: &str, kind: &str, body: &[u8], closes: bool) -> Vec<u8> {
    let connection = if closes { "close" } else { "keep-alive" };
    let length = body.len();
    let mut out = Vec::new();
    // Writing to a vector does not fail.
    let _written = write!(
        out,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\
         Connection: {connection}\r\n\r\n"
    );
    out.extend_from_slice(body);
    out
}
