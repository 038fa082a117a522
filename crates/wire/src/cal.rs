//! CAL, the messages that application servers send to the log ingress
//! (`background/cal-wire-protocol.md`): a 12-byte header and a text body each, the first body of a
//! connection is its label, every other body is one record. The server sends nothing back.
//!
//! Borders come from the lengths in the headers, so a scan touches 12 bytes a message and never
//! looks into a body. [`Record`] finds the fields of one when a rule asks for them.

mod label;
mod record;

pub use label::{Label, LabelError};
pub use record::{Class, Pairs, Record, RecordError, Status, Time};

use crate::limits::CAL_BODY_BYTES_MAX;
use crate::scan::{Scan, Span};

/// The bytes in front of every body: thread, connect time and body length.
pub const HEADER_BYTES: usize = 12;

/// What ends a CAL connection.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CalError {
    /// A header announces a body above the limit. What follows can't be trusted.
    #[error("a message announces {length_bytes} bytes, which is above the limit of {limit_bytes}")]
    BodyTooLong {
        /// What the header says.
        length_bytes: u32,
        /// What is allowed.
        limit_bytes: usize,
    },
    /// The first message is no label, so nobody knows which pool this is.
    #[error("the first message is no label: {0}")]
    Label(#[from] LabelError),
    /// The connection ended inside a message. Its bytes are lost; the records before are whole.
    #[error("the connection ended {missing_bytes} bytes before the end of a message")]
    CutOff {
        /// How many bytes are known to be missing.
        missing_bytes: usize,
    },
}

/// One message, but for the label: a record and its header's two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// The swim lane of the client's process.
    pub thread: u32,
    /// When the client connected, in Unix seconds.
    pub connect_seconds: u32,
    /// Where the body lies: one record, with its line ends. Begins [`HEADER_BYTES`] behind the
    /// start of the message.
    pub body: Span,
}

/// The state of one connection: its limit, and its label once that has come.
#[derive(Debug, Clone)]
pub struct Cal {
    body_bytes_max: usize,
    label: Option<Label>,
}

impl Default for Cal {
    fn default() -> Cal {
        Cal::new(CAL_BODY_BYTES_MAX)
    }
}

impl Cal {
    /// A connection that has sent nothing yet and whose bodies may have `body_bytes_max` bytes.
    pub fn new(body_bytes_max: usize) -> Cal {
        Cal { body_bytes_max, label: None }
    }

    /// Who the client is. `None` until its first message is complete.
    pub fn label(&self) -> Option<&Label> {
        self.label.as_ref()
    }

    /// Appends the messages that are complete in `input`, which begins where the last scan stopped.
    /// The label is taken out and answers [`label`](Cal::label).
    ///
    /// # Errors
    /// [`CalError::BodyTooLong`] and [`CalError::Label`]: close the connection. The messages before
    /// are in `messages` all the same.
    pub fn scan(&mut self, input: &[u8], messages: &mut Vec<Message>) -> Result<Scan, CalError> {
        self.scan_each(input, |message| messages.push(message))
    }

    /// The same, but each message is handed over as soon as it is found: who copies bodies does it
    /// then, while the next header is on its way from memory.
    ///
    /// # Errors
    /// Those of [`scan`](Cal::scan); the messages before were handed over all the same.
    pub fn scan_each(
        &mut self,
        input: &[u8],
        mut found: impl FnMut(Message),
    ) -> Result<Scan, CalError> {
        let mut consumed = 0;
        loop {
            let rest = &input[consumed..];
            let Some(header) = rest.first_chunk::<HEADER_BYTES>() else {
                return Ok(Scan { consumed, needed: HEADER_BYTES });
            };
            let [thread, connect_seconds, length_bytes] = numbers(header);
            let length = length_bytes as usize;
            if length > self.body_bytes_max {
                let limit_bytes = self.body_bytes_max;
                return Err(CalError::BodyTooLong { length_bytes, limit_bytes });
            }
            let Some(body) = rest.get(HEADER_BYTES..HEADER_BYTES + length) else {
                return Ok(Scan { consumed, needed: HEADER_BYTES + length });
            };
            let start = consumed + HEADER_BYTES;
            consumed = start + length;
            if self.label.is_some() {
                let body = Span::new(start, consumed);
                found(Message { thread, connect_seconds, body });
            } else {
                self.label = Some(Label::parse(body)?);
            }
        }
    }

    /// Whether a connection may end here: `rest` is what the last scan left over.
    ///
    /// # Errors
    /// [`CalError::CutOff`] if it ended inside a message.
    pub fn finish(&self, rest: &[u8]) -> Result<(), CalError> {
        let needed = match rest.first_chunk::<HEADER_BYTES>() {
            Some(header) => HEADER_BYTES + numbers(header)[2] as usize,
            None if rest.is_empty() => return Ok(()),
            None => HEADER_BYTES,
        };
        Err(CalError::CutOff { missing_bytes: needed.saturating_sub(rest.len()) })
    }
}

/// Appends a message to `out`, as the client of a load generator sends it.
///
/// # Panics
/// If `body` has 4 GiB or more, which no header can say.
pub fn write(thread: u32, connect_seconds: u32, body: &[u8], out: &mut Vec<u8>) {
    let Ok(length_bytes) = u32::try_from(body.len()) else { panic!("a body of 4 GiB") };
    for number in [thread, connect_seconds, length_bytes] {
        out.extend_from_slice(&number.to_be_bytes());
    }
    out.extend_from_slice(body);
}

fn numbers(header: &[u8; HEADER_BYTES]) -> [u32; 3] {
    let &[a, b, c, d, e, f, g, h, i, j, k, l] = header;
    [[a, b, c, d], [e, f, g, h], [i, j, k, l]].map(u32::from_be_bytes)
}

#[cfg(test)]
mod tests;
