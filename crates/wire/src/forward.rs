//! The forward protocol of Fluentd and Fluent Bit: messages of MessagePack with a tag and one
//! event, an array of events, or a chunk of them, compressed or not; acknowledged by chunk where
//! the sender asks; with a shared-key handshake before it where the operator asks.
//!
//! A scan says where the events lie. A chunk that is compressed is decompressed by the caller
//! (`stream`), into its own room; [`Entries`] then reads events from plain bytes.

mod entries;
mod handshake;

pub use entries::{Entries, Entry, Time};
pub use handshake::{HandshakeError, Secrets};

use crate::limits::FORWARD_MESSAGE_BYTES_MAX;
use crate::msgpack::{MsgpackError, Reader, Token, Walk, Walker, push_text};
use crate::scan::{Scan, Span};
use crate::stream::StreamCodec;
use handshake::Handshake;

/// What ends a forward connection.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ForwardError {
    /// The bytes are no MessagePack, or beyond a limit.
    #[error(transparent)]
    Msgpack(#[from] MsgpackError),
    /// A message does not begin as one.
    #[error("a message begins with the byte 0x{0:02x} and not with an array")]
    NoMessage(u8),
    /// A message is none of the four forms.
    #[error("a message is malformed: {0}")]
    Malformed(&'static str),
    /// The sender did not prove that it knows the key. The answer that says so is written.
    #[error(transparent)]
    Handshake(#[from] HandshakeError),
    /// The connection ended inside a message.
    #[error("the connection ended inside a message")]
    CutOff,
}

/// How the events of a message are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One event: its time and its record.
    Message,
    /// Events in a row, each an array of time and record.
    Events,
    /// The same, compressed.
    Compressed(StreamCodec),
}

/// One message. Spans are of the buffer that was scanned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// The tag.
    pub tag: Span,
    /// The events.
    pub entries: Span,
    /// How they are laid out.
    pub form: Form,
    /// What to acknowledge once the events have come to stay, if the sender waits for it.
    pub chunk: Option<Span>,
    /// How many events the sender says these are.
    pub size: Option<u64>,
    /// What Fluent Bit says the events are: 0 logs, 1 metrics, 2 traces.
    pub signal: u64,
}

/// The server's end of one connection.
#[derive(Debug, Clone)]
pub struct Forward {
    message_bytes_max: usize,
    walker: Walker,
    handshake: Option<Handshake>,
}

impl Default for Forward {
    fn default() -> Forward {
        Forward::new(FORWARD_MESSAGE_BYTES_MAX)
    }
}

impl Forward {
    /// A connection without a handshake whose messages may have `message_bytes_max` bytes.
    pub fn new(message_bytes_max: usize) -> Forward {
        Forward { message_bytes_max, walker: Walker::default(), handshake: None }
    }

    /// A connection that begins with a handshake: appends the server's HELO to `answer`. `nonce`
    /// is random and of this connection alone.
    pub fn with_handshake(
        message_bytes_max: usize,
        secrets: Secrets,
        nonce: [u8; 16],
        answer: &mut Vec<u8>,
    ) -> Forward {
        let handshake = Handshake::begin(secrets, nonce, answer);
        Forward { handshake: Some(handshake), ..Forward::new(message_bytes_max) }
    }

    /// Whether the sender may send events: there is no handshake, or it is done.
    pub fn is_open(&self) -> bool {
        self.handshake.is_none()
    }

    /// Appends the messages that are complete in `input`, which begins where the last scan
    /// stopped, and to `answer` what is to be sent at once.
    ///
    /// # Errors
    /// Any [`ForwardError`]: send the answer, then close the connection. The messages before are
    /// in `messages` all the same.
    pub fn scan(
        &mut self,
        input: &[u8],
        messages: &mut Vec<Message>,
        answer: &mut Vec<u8>,
    ) -> Result<Scan, ForwardError> {
        let mut consumed = 0;
        loop {
            let rest = &input[consumed..];
            match rest.first() {
                None | Some(0x90..=0x9F | 0xDC | 0xDD | 0xC0) => {}
                Some(&other) => return Err(ForwardError::NoMessage(other)),
            }
            let length = match self.walker.walk(rest, self.message_bytes_max)? {
                Walk::Needs(needed) => return Ok(Scan { consumed, needed }),
                Walk::Complete(length) => length,
            };
            self.walker = Walker::default();
            let value = &rest[..length];
            if let Some(handshake) = &self.handshake {
                handshake.check(value, answer)?;
                self.handshake = None;
            } else if value != [0xC0] {
                // A nil is a heartbeat.
                messages.push(message(value, consumed)?);
            }
            consumed += length;
        }
    }

    /// Whether a connection may end here: `rest` is what the last scan left over.
    ///
    /// # Errors
    /// [`ForwardError::CutOff`] if it ended inside a message.
    pub fn finish(&self, rest: &[u8]) -> Result<(), ForwardError> {
        if rest.is_empty() { Ok(()) } else { Err(ForwardError::CutOff) }
    }
}

/// Appends the acknowledgement of a message's chunk to `out`.
pub fn acknowledge(chunk: &[u8], out: &mut Vec<u8>) {
    out.push(0x81);
    push_text(b"ack", out);
    push_text(chunk, out);
}

fn message(value: &[u8], start: usize) -> Result<Message, ForwardError> {
    let mut reader = Reader::new(value);
    // Where the bytes that the reader has just read lie.
    let span = |bytes: &[u8], end: &Reader<'_>| {
        let end = start + value.len() - end.rest().len();
        Span::new(end - bytes.len(), end)
    };
    let Token::Array(mut left) = reader.token()? else {
        return Err(ForwardError::Malformed("it is no array"));
    };
    let Token::Text(tag) = element(&mut reader, &mut left)? else {
        return Err(ForwardError::Malformed("the tag is no text"));
    };
    let tag = span(tag, &reader);
    let (entries, mut form) = match element(&mut reader, &mut left)? {
        Token::Text(packed) | Token::Binary(packed) => (span(packed, &reader), Form::Events),
        Token::Array(count) => {
            let from = reader.rest();
            for _ in 0..count {
                reader.value()?;
            }
            (span(&from[..from.len() - reader.rest().len()], &reader), Form::Events)
        }
        Token::Unsigned(_) | Token::Float(_) | Token::Extension(..) => {
            // The time again, with the record behind it.
            let mut from = Reader::new(value);
            from.token()?;
            from.value()?;
            let from = from.rest();
            left = left.checked_sub(1).ok_or(ForwardError::Malformed("it has no record"))?;
            reader.value()?;
            (span(&from[..from.len() - reader.rest().len()], &reader), Form::Message)
        }
        _ => return Err(ForwardError::Malformed("it has neither a time nor events")),
    };
    let mut options = Options::default();
    if left > 0 {
        options = Options::read(&mut reader, &span)?;
    }
    if let Some(codec) = options.codec {
        form = Form::Compressed(codec);
    }
    let Options { chunk, size, signal, .. } = options;
    Ok(Message { tag, entries, form, chunk, size, signal })
}

fn element<'a>(reader: &mut Reader<'a>, left: &mut u32) -> Result<Token<'a>, ForwardError> {
    *left = left.checked_sub(1).ok_or(ForwardError::Malformed("it has too few elements"))?;
    Ok(reader.token()?)
}

/// What a message says beside its events.
#[derive(Default)]
struct Options {
    chunk: Option<Span>,
    size: Option<u64>,
    signal: u64,
    codec: Option<StreamCodec>,
}

impl Options {
    fn read(
        reader: &mut Reader<'_>,
        span: &impl Fn(&[u8], &Reader<'_>) -> Span,
    ) -> Result<Options, ForwardError> {
        let mut options = Options::default();
        let count = match reader.token()? {
            Token::Map(count) => count,
            Token::Nil => 0,
            _ => return Err(ForwardError::Malformed("the options are no map")),
        };
        for _ in 0..count {
            let key = reader.value()?;
            let mut value = *reader;
            reader.value()?;
            let Ok(Token::Text(key)) = Reader::new(key).token() else { continue };
            match (key, value.token()?) {
                (b"chunk", Token::Text(chunk) | Token::Binary(chunk)) => {
                    options.chunk = Some(span(chunk, &value));
                }
                (b"size", Token::Unsigned(size)) => options.size = Some(size),
                (b"fluent_signal", Token::Unsigned(signal)) => options.signal = signal,
                (b"compressed", Token::Text(name)) => {
                    options.codec = match name {
                        b"gzip" => Some(StreamCodec::Gzip),
                        b"zstd" => Some(StreamCodec::Zstd),
                        b"text" => None,
                        _ => return Err(ForwardError::Malformed("the compression is unknown")),
                    };
                }
                _ => {}
            }
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests;
