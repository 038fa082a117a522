//! Lines in both framings, at and above the limit, cut anywhere. The limit is 8 bytes here, so that
//! a reader can count.

use proptest::prelude::*;

use super::*;
use crate::fuzzing;

const NEWLINE: Lines =
    Lines { framing: Framing::Newline, line_bytes_max: 8, overlong: Overlong::Split };
const STRICT: Lines = Lines { overlong: Overlong::Refuse, ..NEWLINE };
const PREFIXED: Lines = Lines { framing: Framing::LengthPrefixed, ..NEWLINE };

fn lines(machine: Lines, bytes: &[u8]) -> (Vec<String>, fuzzing::Ending) {
    let (records, ending) =
        fuzzing::same_at_every_cut(bytes, |lengths| fuzzing::lines(machine, bytes, lengths));
    (records.iter().map(|record| String::from_utf8_lossy(record).into_owned()).collect(), ending)
}

fn records(machine: Lines, bytes: &[u8]) -> Vec<String> {
    let (records, ending) = lines(machine, bytes);
    assert_eq!(ending, Ok(Vec::new()));
    records
}

#[test]
fn lines_end_in_lf_or_cr_lf_or_with_the_connection() {
    assert_eq!(records(NEWLINE, b"one\ntwo\r\n\n\r\nlast"), ["one", "two", "", "", "last"]);
    assert_eq!(records(NEWLINE, b"a\rb\n\rc\r\r\n"), ["a\rb", "\rc\r"]);
    assert_eq!(records(NEWLINE, b"last\r"), ["last"]);
    assert!(records(NEWLINE, b"").is_empty());
}

#[test]
fn a_line_at_the_limit_is_whole_and_one_above_it_is_split() {
    assert_eq!(records(NEWLINE, b"12345678\nx\n"), ["12345678", "x"]);
    assert_eq!(records(NEWLINE, b"12345678\r\nx\n"), ["12345678", "x"]);
    assert_eq!(records(NEWLINE, b"123456789\nx\n"), ["12345678", "9", "x"]);
    assert_eq!(records(NEWLINE, b"12345678\r9\nx\n"), ["12345678", "\r9", "x"]);
    assert_eq!(records(NEWLINE, b"1234567812345678\n"), ["12345678", "12345678"]);
    assert_eq!(records(NEWLINE, b"12345678123456781"), ["12345678", "12345678", "1"]);
}

#[test]
fn a_line_above_the_limit_is_refused_where_that_is_asked_for() {
    assert_eq!(records(STRICT, b"12345678\r\n12345678\n"), ["12345678", "12345678"]);
    let (before, ending) = lines(STRICT, b"one\n123456789\ntwo\n");
    assert_eq!(before, ["one"]);
    assert_eq!(ending, Err(LinesError::LineTooLong { limit_bytes: 8 }.to_string()));
    // It need not end: the limit is known to be passed one byte behind it.
    assert!(STRICT.scan(b"123456789", &mut Vec::new()).is_err());
    assert!(STRICT.scan_block(b"123456789").is_err());
}

#[test]
fn a_line_that_never_ends_leaves_no_more_than_the_limit() {
    let machine = Lines::default();
    let (mut buffer, mut pieces) = (Vec::new(), Vec::new());
    for _ in 0..1_000 {
        buffer.extend_from_slice(&[b'x'; 1_000]);
        let scan = machine.scan(&buffer, &mut pieces).unwrap();
        buffer.drain(..scan.consumed);
        assert!(buffer.len() <= LINE_BYTES_MAX && scan.needed > buffer.len());
    }
    let in_pieces: usize = pieces.iter().map(|span| span.len()).sum();
    assert_eq!(in_pieces + buffer.len(), 1_000_000);
}

#[test]
fn length_prefixed_records_may_hold_anything() {
    let bytes = b"\0\0\0\x03a\nb\0\0\0\0\0\0\0\x0812345678";
    assert_eq!(records(PREFIXED, bytes), ["a\nb", "", "12345678"]);
}

#[test]
fn an_absurd_length_is_refused_before_anything_waits_for_it() {
    let (before, ending) = lines(PREFIXED, b"\0\0\0\x01a\0\0\0\x09123456789");
    assert_eq!(before, ["a"]);
    let error = LinesError::RecordTooLong { length_bytes: 9, limit_bytes: 8 };
    assert_eq!(ending, Err(error.to_string()));
    let text = b"GET / HTTP/1.1\r\n";
    let error = LinesError::RecordTooLong { length_bytes: 0x4745_5420, limit_bytes: 8 };
    assert_eq!(PREFIXED.scan(text, &mut Vec::new()), Err(error));
}

#[test]
fn a_connection_that_ends_inside_a_record_says_how_much_is_missing() {
    assert_eq!(PREFIXED.finish(b""), Ok(None));
    assert_eq!(PREFIXED.finish(b"\0\0"), Err(LinesError::CutOff { missing_bytes: 2 }));
    assert_eq!(PREFIXED.finish(b"\0\0\0\x05ab"), Err(LinesError::CutOff { missing_bytes: 3 }));
}

#[test]
fn a_block_ends_where_the_last_whole_record_does() {
    let block = |machine: Lines, bytes: &[u8]| {
        let block = machine.scan_block(bytes).unwrap();
        (block.records, block.scan.consumed, block.scan.needed)
    };
    assert_eq!(block(Lines::default(), b"one\ntwo\r\nthr"), (2, 9, 4));
    assert_eq!(block(Lines::default(), b"one"), (0, 0, 4));
    assert_eq!(block(NEWLINE, b"123456781\nab"), (2, 10, 3));
    assert_eq!(block(PREFIXED, b"\0\0\0\x01a\0\0\0\x05bc"), (1, 5, 9));
}

proptest! {
    #[test]
    fn any_bytes_are_the_same_however_they_are_cut(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        fuzzing::lines_any(&bytes);
    }

    #[test]
    fn any_text_is_the_same_however_it_is_cut(
        options in 0_u8..4, cut in any::<u8>(), text in "[ab\r\n]{0,200}",
    ) {
        fuzzing::lines_any(&[&[options, cut], text.as_bytes()].concat());
    }

    #[test]
    fn lines_come_back(lines in prop::collection::vec("[a-z\t]{0,20}", 0..20)) {
        let ended = lines.iter().map(|line| format!("{line}\n"));
        let bytes = ended.collect::<String>().into_bytes();
        let mut spans = Vec::new();
        Lines::default().scan(&bytes, &mut spans).unwrap();
        let found: Vec<&[u8]> = spans.iter().map(|span| span.of(&bytes)).collect();
        prop_assert_eq!(found, lines.iter().map(String::as_bytes).collect::<Vec<_>>());
    }
}
