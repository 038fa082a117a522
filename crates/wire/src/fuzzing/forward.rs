//! Bodies for MessagePack and the forward protocol: any bytes are walked the same however they are
//! cut, and what is walked is read.

use super::{Ending, Feed, same_in_pieces};
use crate::forward::{Entries, Form, Forward, ForwardError};
use crate::msgpack::{MsgpackError, Reader, Walk, Walker, write_json};

/// The longest message of the target, in bytes.
const MESSAGE_BYTES_MAX: usize = 4096;

/// Any bytes are a value with a text, or are refused; walking and reading find the same end.
pub fn msgpack_any(bytes: &[u8]) {
    let walked = Walker::default().walk(bytes, MESSAGE_BYTES_MAX);
    let read = Reader::new(bytes).value();
    match walked {
        Ok(Walk::Complete(length)) => {
            assert_eq!(read, Ok(&bytes[..length]));
            let mut text = Vec::new();
            match write_json(&bytes[..length], &mut text) {
                Ok(()) => assert!(str::from_utf8(&text).is_ok()),
                Err(error) => assert!(matches!(error, MsgpackError::Unexpected(_)), "{error:?}"),
            }
        }
        Ok(Walk::Needs(needed)) => assert!(needed > bytes.len() && read.is_err()),
        Err(MsgpackError::TooLong { .. }) => {}
        Err(error) => assert_eq!(read, Err(error)),
    }
}

/// Any bytes are the same forward messages however they are cut, and the events of each can be
/// read. The first byte is the cut.
pub fn forward_any(bytes: &[u8]) {
    let Some((&cut, bytes)) = bytes.split_first() else { return };
    let (messages, _) = same_in_pieces(bytes, usize::from(cut), |lengths| forward(bytes, lengths));
    assert!(messages.len() <= bytes.len());
}

/// A message as the tests compare it: tag, form, events as text, chunk, size.
pub(crate) type Read = (Vec<u8>, Form, Vec<String>, Option<Vec<u8>>, Option<u64>);

/// The messages that a forward connection comes to, and how it ends.
pub(crate) fn forward(
    bytes: &[u8],
    lengths: &mut dyn Iterator<Item = usize>,
) -> (Vec<Read>, Ending) {
    let (mut machine, mut read) = (Forward::new(MESSAGE_BYTES_MAX), Vec::new());
    let ending = Feed::new(bytes, MESSAGE_BYTES_MAX).in_pieces(lengths, |buffer| {
        let (mut messages, mut answer) = (Vec::new(), Vec::new());
        let scan = machine.scan(buffer, &mut messages, &mut answer);
        assert!(answer.is_empty());
        for message in messages {
            let entries = message.entries.of(buffer);
            let events = match message.form {
                Form::Compressed(_) => vec![format!("{} bytes", entries.len())],
                form => events(form, entries),
            };
            let chunk = message.chunk.map(|chunk| chunk.of(buffer).to_vec());
            read.push((message.tag.of(buffer).to_vec(), message.form, events, chunk, message.size));
        }
        scan
    });
    if let Ok(rest) = &ending {
        let is_cut_off = machine.finish(rest) == Err(ForwardError::CutOff);
        assert_eq!(is_cut_off, !rest.is_empty());
    }
    (read, ending)
}

/// Events as texts; an error is one too.
pub(crate) fn events(form: Form, plain: &[u8]) -> Vec<String> {
    Entries::new(form, plain)
        .map(|entry| {
            let entry = entry.map_err(|error| error.to_string());
            entry.map_or_else(std::convert::identity, |entry| {
                assert!(entry.time.nanosecond < 1_000_000_000);
                let mut text = Vec::new();
                match write_json(entry.record, &mut text) {
                    Ok(()) => format!(
                        "{}.{:09} {}",
                        entry.time.unix_seconds,
                        entry.time.nanosecond,
                        String::from_utf8_lossy(&text)
                    ),
                    Err(error) => error.to_string(),
                }
            })
        })
        .collect()
}
