//! Bodies for the protocols of records in a row: cal, lines, syslog. What they compare with each
//! other is what the unit tests compare with expected records.

use super::{Ending, Feed, same_in_pieces};
use crate::cal::{Cal, HEADER_BYTES, Record};
use crate::lines::{Framing, LENGTH_BYTES, Lines, Overlong};
use crate::syslog::{Message, Syslog, unescape};

/// The longest record that the targets allow, in bytes: short, so that few bytes pass it.
const RECORD_BYTES_MAX: usize = 64;

/// Any bytes are the same CAL messages however they are cut, and every body can be looked at.
pub fn cal_any(bytes: &[u8]) {
    let Some((&cut, bytes)) = bytes.split_first() else { return };
    let cut = usize::from(cut);
    let (_, bodies, _) =
        same_in_pieces(bytes, cut, |lengths| cal(bytes, RECORD_BYTES_MAX, lengths));
    assert!(bodies.iter().all(|body| body.len() <= RECORD_BYTES_MAX));
}

/// The label's pool and the bodies that a CAL connection comes to, and how it ends.
pub(crate) fn cal(
    bytes: &[u8],
    body_bytes_max: usize,
    lengths: &mut dyn Iterator<Item = usize>,
) -> (Option<String>, Vec<Vec<u8>>, Ending) {
    let (mut machine, mut bodies) = (Cal::new(body_bytes_max), Vec::new());
    let feed = Feed::new(bytes, HEADER_BYTES + body_bytes_max);
    let ending = feed.in_pieces(lengths, |buffer| {
        let mut messages = Vec::new();
        let scan = machine.scan(buffer, &mut messages);
        for message in messages {
            let body = message.body.of(buffer);
            look_at(body);
            bodies.push(body.to_vec());
        }
        scan
    });
    if let Ok(rest) = &ending {
        assert_eq!(machine.finish(rest).is_ok(), rest.is_empty());
    }
    (machine.label().map(|label| label.pool.clone()), bodies, ending)
}

/// Every field of a record is inside its text and has no TAB, but for the data.
fn look_at(body: &[u8]) {
    let Ok(record) = Record::parse(body) else { return };
    let pairs_bytes: usize = record.pairs().map(|(name, value)| name.len() + value.len()).sum();
    assert!(pairs_bytes <= record.data().map_or(0, <[u8]>::len));
    for field in [record.type_name(), record.name()] {
        assert!(memchr::memchr(b'\t', field).is_none());
    }
    assert!(record.duration_ms().is_none_or(|duration_ms| duration_ms >= 0.0));
    assert!(record.time().is_none_or(|time| time.hour < 24));
    assert!(record.text().len() <= body.len() && record.status().is_none_or(|_| !body.is_empty()));
}

/// Any bytes are the same lines however they are cut, in either framing. The first byte picks the
/// options, the second the cut.
pub fn lines_any(bytes: &[u8]) {
    let &[options, cut, ref bytes @ ..] = bytes else { return };
    let framing = if options & 1 == 0 { Framing::Newline } else { Framing::LengthPrefixed };
    let overlong = if options & 2 == 0 { Overlong::Split } else { Overlong::Refuse };
    let machine = Lines::new(framing, RECORD_BYTES_MAX, overlong);
    let (records, ending) =
        same_in_pieces(bytes, usize::from(cut), |lengths| lines(machine, bytes, lengths));
    assert!(records.iter().all(|record| record.len() <= RECORD_BYTES_MAX));
    // Without looking at the records there are as many, up to the same border.
    let block = machine.scan_block(bytes);
    let mut spans = Vec::new();
    let scan = machine.scan(bytes, &mut spans);
    assert_eq!(block.clone().map(|block| block.scan), scan);
    assert!(block.is_err() || block.is_ok_and(|block| block.records == spans.len()));
    if framing == Framing::Newline && ending.is_ok() {
        no_byte_is_lost(bytes, &records);
    }
}

/// Only bytes of line ends are missing between the records.
fn no_byte_is_lost(bytes: &[u8], records: &[Vec<u8>]) {
    let mut rest = bytes;
    for record in records {
        rest = rest.strip_prefix(record.as_slice()).unwrap_or_else(|| panic!("a record is off"));
        rest = rest.strip_prefix(b"\r\n").or_else(|| rest.strip_prefix(b"\n")).unwrap_or(rest);
    }
    assert!(rest.is_empty() || rest == b"\r", "{rest:?} is in no record");
}

/// The lines that a connection comes to, the last one without a line end included, and how it
/// ends.
pub(crate) fn lines(
    machine: Lines,
    bytes: &[u8],
    lengths: &mut dyn Iterator<Item = usize>,
) -> (Vec<Vec<u8>>, Ending) {
    let mut records = Vec::new();
    let feed = Feed::new(bytes, LENGTH_BYTES + RECORD_BYTES_MAX);
    let ending = feed.in_pieces(lengths, |buffer| {
        let mut spans = Vec::new();
        let scan = machine.scan(buffer, &mut spans);
        records.extend(spans.iter().map(|span| span.of(buffer).to_vec()));
        scan
    });
    let Ok(rest) = ending else { return (records, ending) };
    let ending = match machine.finish(&rest) {
        Ok(last) => {
            records.extend(last.map(|span| span.of(&rest).to_vec()));
            Ok(Vec::new())
        }
        Err(error) => Err(error.to_string()),
    };
    (records, ending)
}

/// The bytes that may stand around a syslog message while it is not complete: a count with its
/// space, or a line end.
const SYSLOG_AROUND_BYTES: usize = 12;

/// Any bytes are the same syslog messages however they are cut, and each can be read. The first
/// byte picks the options, the second the cut.
pub fn syslog_any(bytes: &[u8]) {
    let &[options, cut, ref bytes @ ..] = bytes else { return };
    let overlong = if options & 1 == 0 { Overlong::Split } else { Overlong::Refuse };
    let machine = Syslog::new(RECORD_BYTES_MAX, overlong);
    let (messages, _) =
        same_in_pieces(bytes, usize::from(cut), |lengths| syslog(machine.clone(), bytes, lengths));
    for message in messages {
        assert!((1..=RECORD_BYTES_MAX).contains(&message.len()));
        read_message(&message);
    }
}

/// The fields of a message are parts of it, and together no longer.
fn read_message(frame: &[u8]) {
    let message = Message::parse(frame);
    let fields = [
        message.hostname,
        message.app_name,
        message.process_id,
        message.message_id,
        message.structured_data,
        Some(message.text),
    ];
    let fields_bytes: usize = fields.iter().flatten().map(|field| field.len()).sum();
    assert!(fields_bytes <= frame.len());
    let data_bytes = message.structured_data.map_or(0, <[u8]>::len);
    let mut elements_bytes = 0;
    for element in message.elements() {
        // Brackets around it.
        elements_bytes += element.id.len() + 2;
        for (name, value) in element.parameters() {
            assert!(unescape(value).len() <= value.len());
            // A space, an equals sign and quotes.
            elements_bytes += name.len() + value.len() + 4;
        }
    }
    assert_eq!(elements_bytes, data_bytes);
}

/// The messages that a syslog connection comes to, and how it ends.
pub(crate) fn syslog(
    mut machine: Syslog,
    bytes: &[u8],
    lengths: &mut dyn Iterator<Item = usize>,
) -> (Vec<Vec<u8>>, Ending) {
    let mut messages = Vec::new();
    let limit_bytes = crate::limits::SYSLOG_MESSAGE_BYTES_MAX;
    let feed = Feed::new(bytes, limit_bytes + SYSLOG_AROUND_BYTES);
    let ending = feed.in_pieces(lengths, |buffer| {
        let mut spans = Vec::new();
        let scan = machine.scan(buffer, &mut spans);
        messages.extend(spans.iter().map(|span| span.of(buffer).to_vec()));
        scan
    });
    let Ok(rest) = ending else { return (messages, ending) };
    let ending = match machine.finish(&rest) {
        Ok(last) => {
            messages.extend(last.map(|span| span.of(&rest).to_vec()));
            Ok(Vec::new())
        }
        Err(error) => Err(error.to_string()),
    };
    (messages, ending)
}
