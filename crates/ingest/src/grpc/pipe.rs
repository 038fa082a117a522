//! The way of one gRPC connection to its reader: requests of HTTP/1.1, one after the other, and
//! their answers in the same order.

use std::collections::VecDeque;
use std::io;
use std::os::unix::net::UnixStream as StdStream;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{Mutex as AsyncMutex, oneshot};

/// The most headers of an answer of ours.
const HEADERS_MAX: usize = 16;

/// The longest answer that is read, in bytes; those to OTLP have a few dozen.
const ANSWER_BYTES_MAX: usize = 64 << 10;

/// An answer of the ingress.
pub(super) struct Answer {
    /// The code of HTTP.
    pub(super) code: u16,
    pub(super) body: Vec<u8>,
}

/// The way to the reader.
pub(super) struct Pipe {
    /// Who holds it writes one request whole. A request that was begun and is not ended leaves
    /// none, and the reader closes.
    pub(super) writer: AsyncMutex<Option<OwnedWriteHalf>>,
    waiting: Mutex<VecDeque<oneshot::Sender<Answer>>>,
}

impl Pipe {
    /// Over this socket; the answers are read from the other half.
    pub(super) fn new(stream: StdStream) -> io::Result<(Arc<Pipe>, OwnedReadHalf)> {
        stream.set_nonblocking(true)?;
        let (reader, writer) = UnixStream::from_std(stream)?.into_split();
        let (writer, waiting) = (AsyncMutex::new(Some(writer)), Mutex::new(VecDeque::new()));
        Ok((Arc::new(Pipe { writer, waiting }), reader))
    }

    /// The answer to the request that is written now.
    pub(super) fn expects(&self) -> oneshot::Receiver<Answer> {
        let (sender, receiver) = oneshot::channel();
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).push_back(sender);
        receiver
    }
}

/// Hands answers to those who wait for them, until the reader closes.
pub(super) async fn deliver(pipe: Arc<Pipe>, mut reader: OwnedReadHalf) {
    let mut bytes = Vec::new();
    loop {
        while let Some((answer, length)) = parse(&bytes) {
            bytes.drain(..length);
            let waiting = pipe.waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            // Whoever waited may have gone.
            let _delivered = waiting.map(|waiting| waiting.send(answer));
        }
        let is_sound = bytes.len() < ANSWER_BYTES_MAX;
        if !is_sound || !matches!(reader.read_buf(&mut bytes).await, Ok(1..)) {
            break;
        }
    }
    // Those who still wait hear that nothing comes.
    pipe.waiting.lock().unwrap_or_else(PoisonError::into_inner).clear();
    pipe.writer.lock().await.take();
}

/// The answer at the front and its length, once it is whole.
fn parse(bytes: &[u8]) -> Option<(Answer, usize)> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut response = httparse::Response::new(&mut headers);
    let Ok(httparse::Status::Complete(start)) = response.parse(bytes) else { return None };
    let length = response
        .headers
        .iter()
        .find(|header| header.name.eq_ignore_ascii_case("content-length"))
        .and_then(|header| std::str::from_utf8(header.value).ok()?.parse::<usize>().ok())
        .unwrap_or(0);
    let body = bytes.get(start..start + length)?.to_vec();
    Some((Answer { code: response.code?, body }, start + length))
}
