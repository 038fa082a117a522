//! Bodies for the protocols of records in a row: cal and lines. What they compare with each other is
//! what the unit tests compare with expected records.

use super::{Ending, Feed, same_in_pieces};
use crate::cal::{Cal, HEADER_BYTES, Record};
use crate::lines::{Framing, LENGTH_BYTES, Lines, Overlong};

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
