//! The events of a forward message: a time and a record each, read one by one from plain bytes.
//! Fluent Bit also writes the time with metadata beside it; both are taken.

use super::Form;
use crate::msgpack::{MsgpackError, Reader, Token};

/// When an event happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Time {
    /// Since 1970.
    pub unix_seconds: u64,
    /// 0 to 999,999,999.
    pub nanosecond: u32,
}

/// One event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<'a> {
    /// When it happened.
    pub time: Time,
    /// The record, a MessagePack value and usually a map;
    /// [`write_json`](crate::msgpack::write_json) makes a line of it.
    pub record: &'a [u8],
}

/// The events of a message, in order. After an error there is nothing more.
#[derive(Debug, Clone)]
pub struct Entries<'a> {
    reader: Reader<'a>,
    form: Form,
}

/// The type of the extension that says seconds and nanoseconds.
const EVENT_TIME: i8 = 0;

impl<'a> Entries<'a> {
    /// The events in the bytes of a message's entries. Compressed ones are decompressed before.
    pub fn new(form: Form, plain: &'a [u8]) -> Entries<'a> {
        Entries { reader: Reader::new(plain), form }
    }

    fn entry(&mut self) -> Result<Entry<'a>, MsgpackError> {
        if self.form != Form::Message {
            match self.reader.token()? {
                Token::Array(2) => {}
                _ => return Err(MsgpackError::Unexpected("an event is no pair")),
            }
        }
        let mut time = Reader::new(self.reader.value()?);
        let time = match time.token()? {
            // Time and metadata.
            Token::Array(1..) => time.token()?,
            token => token,
        };
        Ok(Entry { time: read_time(time)?, record: self.reader.value()? })
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Result<Entry<'a>, MsgpackError>;

    fn next(&mut self) -> Option<Result<Entry<'a>, MsgpackError>> {
        if self.reader.rest().is_empty() {
            return None;
        }
        let entry = self.entry();
        if entry.is_err() {
            self.reader = Reader::new(&[]);
        }
        Some(entry)
    }
}

fn read_time(token: Token<'_>) -> Result<Time, MsgpackError> {
    match token {
        Token::Unsigned(unix_seconds) => Ok(Time { unix_seconds, nanosecond: 0 }),
        Token::Float(seconds) if seconds >= 0.0 => {
            let nanosecond = (seconds.fract() * 1e9) as u32;
            Ok(Time { unix_seconds: seconds as u64, nanosecond: nanosecond.min(999_999_999) })
        }
        Token::Extension(EVENT_TIME, &[a, b, c, d, e, f, g, h]) => Ok(Time {
            unix_seconds: u32::from_be_bytes([a, b, c, d]).into(),
            nanosecond: u32::from_be_bytes([e, f, g, h]).min(999_999_999),
        }),
        _ => Err(MsgpackError::Unexpected("the time of an event is no time")),
    }
}
