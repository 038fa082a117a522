//! One call: its message is passed on as it comes, so that a call holds no more than its window,
//! and the answer is translated into a status of gRPC.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, Bytes};
use h2::server::SendResponse;
use h2::{Reason, RecvStream};
use http::{HeaderMap, HeaderValue, Request, Response};
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;

use super::pipe::{Answer, Pipe};
use crate::limits::{GRPC_CALL_S, HTTP_BODY_BYTES_MAX};

const EXPORT: &str = "/opentelemetry.proto.collector.logs.v1.LogsService/Export";

/// What stands before a message: whether it is compressed, and its length.
const PREFIX_BYTES: usize = 5;

/// A status of gRPC that is no success.
struct Status {
    code: u8,
    message: &'static str,
}

impl Status {
    const CANCELLED: Status = Status { code: 1, message: "the call was cancelled" };
    const MALFORMED: Status = Status { code: 3, message: "the message is malformed" };
    const TOO_LARGE: Status = Status { code: 8, message: "the message is too long" };
    const UNKNOWN_METHOD: Status =
        Status { code: 12, message: "only LogsService/Export is served here" };
    const UNKNOWN_CODING: Status = Status { code: 12, message: "gzip and zstd are read" };
    const INTERNAL: Status = Status { code: 13, message: "the ingress refused it" };
    const AGAIN: Status = Status { code: 14, message: "not now: send it again" };
}

/// A call.
pub(super) struct Call {
    pipe: Arc<Pipe>,
    respond: SendResponse<Bytes>,
}

impl Call {
    pub(super) fn new(pipe: Arc<Pipe>, respond: SendResponse<Bytes>) -> Call {
        Call { pipe, respond }
    }

    /// Does what is asked for and answers it.
    pub(super) async fn run(mut self, request: Request<RecvStream>) {
        let patience = Duration::from_secs(GRPC_CALL_S);
        let outcome = match timeout(patience, pass_on(&self.pipe, request)).await {
            Ok(Ok(waiting)) => waiting.await.map_err(|_| Status::AGAIN).and_then(result),
            Ok(Err(status)) => Err(status),
            Err(_) => Err(Status::CANCELLED),
        };
        let answered = match outcome {
            Ok(message) => self.succeed(&message),
            Err(status) => self.fail(&status),
        };
        if answered.is_err() {
            self.respond.send_reset(Reason::CANCEL);
        }
    }

    fn succeed(&mut self, message: &[u8]) -> Result<(), h2::Error> {
        let mut framed = vec![0];
        framed.extend_from_slice(&(message.len() as u32).to_be_bytes());
        framed.extend_from_slice(message);
        let mut stream = self.respond.send_response(head(), false)?;
        stream.send_data(framed.into(), false)?;
        let mut trailers = HeaderMap::new();
        trailers.insert("grpc-status", HeaderValue::from_static("0"));
        stream.send_trailers(trailers)
    }

    fn fail(&mut self, status: &Status) -> Result<(), h2::Error> {
        let mut response = head();
        let headers = response.headers_mut();
        headers.insert("grpc-status", HeaderValue::from(u16::from(status.code)));
        headers.insert("grpc-message", HeaderValue::from_static(status.message));
        self.respond.send_response(response, true).map(|_| ())
    }
}

fn head() -> Response<()> {
    let mut response = Response::new(());
    let kind = HeaderValue::from_static("application/grpc");
    response.headers_mut().insert("content-type", kind);
    response
}

/// What an answer of the ingress means to a client of gRPC: 503 is to be tried again, which 14 says
/// here.
fn result(answer: Answer) -> Result<Vec<u8>, Status> {
    match answer.code {
        200 => Ok(answer.body),
        400 => Err(Status::MALFORMED),
        413 => Err(Status::TOO_LARGE),
        503 => Err(Status::AGAIN),
        _ => Err(Status::INTERNAL),
    }
}

type Waiting = tokio::sync::oneshot::Receiver<Answer>;

/// Passes the message on as the body of a request.
async fn pass_on(pipe: &Pipe, request: Request<RecvStream>) -> Result<Waiting, Status> {
    if request.uri().path() != EXPORT {
        return Err(Status::UNKNOWN_METHOD);
    }
    let coding = request.headers().get("grpc-encoding").map(|value| value.as_bytes().to_vec());
    let mut message = Message { stream: request.into_body(), arrived: Bytes::new() };
    let prefix = message.prefix().await?;
    let length = u32::from_be_bytes([prefix[1], prefix[2], prefix[3], prefix[4]]) as usize;
    if length > HTTP_BODY_BYTES_MAX {
        return Err(Status::TOO_LARGE);
    }
    let coding = match (prefix[0], coding.as_deref()) {
        (0, _) => "",
        (1, Some(b"gzip")) => "Content-Encoding: gzip\r\n",
        (1, Some(b"zstd")) => "Content-Encoding: zstd\r\n",
        (1, _) => return Err(Status::UNKNOWN_CODING),
        _ => return Err(Status::MALFORMED),
    };
    let mut head = Vec::new();
    // Writing to a vector does not fail.
    let _written = write!(
        head,
        "POST /v1/logs HTTP/1.1\r\nContent-Type: application/x-protobuf\r\n{coding}\
         Content-Length: {length}\r\n\r\n"
    );
    let mut held = pipe.writer.lock().await;
    // It is put back when the request is whole: what was begun can't be taken back.
    let mut writer = held.take().ok_or(Status::AGAIN)?;
    let waiting = pipe.expects();
    writer.write_all(&head).await.map_err(|_| Status::AGAIN)?;
    let mut left = length;
    while left > 0 {
        let piece = message.piece(left).await?;
        left -= piece.len();
        writer.write_all(&piece).await.map_err(|_| Status::AGAIN)?;
    }
    *held = Some(writer);
    Ok(waiting)
}

/// The bytes of a call as they arrive.
struct Message {
    stream: RecvStream,
    arrived: Bytes,
}

impl Message {
    async fn prefix(&mut self) -> Result<[u8; PREFIX_BYTES], Status> {
        let mut prefix = [0; PREFIX_BYTES];
        let mut filled = 0;
        while filled < PREFIX_BYTES {
            let piece = self.piece(PREFIX_BYTES - filled).await?;
            prefix[filled..filled + piece.len()].copy_from_slice(&piece);
            filled += piece.len();
        }
        Ok(prefix)
    }

    /// The next bytes, at most so many. The client may send as many more.
    async fn piece(&mut self, most: usize) -> Result<Bytes, Status> {
        while !self.arrived.has_remaining() {
            let next = self.stream.data().await.ok_or(Status::MALFORMED)?;
            self.arrived = next.map_err(|_| Status::CANCELLED)?;
        }
        let count = most.min(self.arrived.len());
        let piece = self.arrived.split_to(count);
        self.stream.flow_control().release_capacity(count).map_err(|_| Status::CANCELLED)?;
        Ok(piece)
    }
}
