//! Framing of syslog streams, cut anywhere, and hostile ones. What is in a frame is tested in
//! `tests/messages.rs`.

mod messages;

use proptest::prelude::*;

use super::*;
use crate::fuzzing;

fn scanned(machine: &Syslog, bytes: &[u8]) -> (Vec<String>, fuzzing::Ending) {
    let (messages, ending) = fuzzing::same_at_every_cut(bytes, |lengths| {
        fuzzing::syslog(machine.clone(), bytes, lengths)
    });
    (messages.iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect(), ending)
}

fn messages(bytes: &[u8]) -> Vec<String> {
    let (messages, ending) = scanned(&Syslog::new(40, Overlong::Split), bytes);
    assert_eq!(ending, Ok(Vec::new()));
    messages
}

#[test]
fn counted_and_ended_messages_may_be_mixed() {
    let bytes = b"9 <13>1 a\nb<14>line\r\n\n3 <1><15>x\n";
    assert_eq!(messages(bytes), ["<13>1 a\nb", "<14>line", "<1>", "<15>x"]);
}

#[test]
fn line_ends_and_zeros_behind_counted_messages_are_passed_over() {
    assert_eq!(messages(b"5 <13>a\n5 <13>b\r\n\0\0<13>c\n"), ["<13>a", "<13>b", "<13>c"]);
    assert!(messages(b"\n\r\n\0\n").is_empty());
}

#[test]
fn a_line_that_begins_with_digits_is_a_line() {
    assert_eq!(messages(b"2026-11-21 up\n"), ["2026-11-21 up"]);
    assert_eq!(messages(b"0 zero\n"), ["0 zero"]);
    assert_eq!(messages(b"12345678901234 x\n"), ["12345678901234 x"]);
    // A number above the limit without a priority behind it.
    assert_eq!(messages(b"20261121 up\n"), ["20261121 up"]);
    assert_eq!(messages(b"12345\n"), ["12345"]);
}

#[test]
fn the_last_message_needs_no_line_end() {
    assert_eq!(messages(b"<13>a\n<13>b"), ["<13>a", "<13>b"]);
    assert_eq!(messages(b"<13>b\r"), ["<13>b"]);
    assert_eq!(messages(b"2026"), ["2026"]);
}

#[test]
fn a_line_above_the_limit_is_split_or_refused() {
    let machine = |overlong| Syslog::new(8, overlong);
    // The rest of a line is never taken for a count.
    let (messages, ending) = scanned(&machine(Overlong::Split), b"<13>45673 abc\n3 abc<13>\n");
    assert_eq!(messages, ["<13>4567", "3 abc", "abc", "<13>"]);
    assert_eq!(ending, Ok(Vec::new()));
    let (messages, ending) = scanned(&machine(Overlong::Refuse), b"<13>4567\r\n<13>45678\n<1>\n");
    assert_eq!(messages, ["<13>4567"]);
    assert_eq!(ending, Err(SyslogError::LineTooLong { limit_bytes: 8 }.to_string()));
}

#[test]
fn an_absurd_count_is_refused_before_anything_waits_for_it() {
    let (messages, ending) = scanned(&Syslog::default(), b"3 <1>4000000000 <13>x");
    assert_eq!(messages, ["<1>"]);
    let error = SyslogError::MessageTooLong {
        length_bytes: 4_000_000_000,
        limit_bytes: SYSLOG_MESSAGE_BYTES_MAX,
    };
    assert_eq!(ending, Err(error.to_string()));
}

#[test]
fn a_connection_that_ends_inside_a_counted_message_says_how_much_is_missing() {
    let machine = Syslog::default();
    assert_eq!(machine.finish(b""), Ok(None));
    assert_eq!(machine.finish(b"9 <13>"), Err(SyslogError::CutOff { missing_bytes: 5 }));
}

#[test]
fn a_line_that_never_ends_leaves_no_more_than_the_limit() {
    let mut machine = Syslog::default();
    let (mut buffer, mut pieces) = (Vec::new(), Vec::new());
    for _ in 0..1_000 {
        buffer.extend_from_slice(&[b'7'; 1_000]);
        let scan = machine.scan(&buffer, &mut pieces).unwrap();
        buffer.drain(..scan.consumed);
        assert!(buffer.len() <= SYSLOG_MESSAGE_BYTES_MAX + 1 && scan.needed > buffer.len());
    }
}

proptest! {
    #[test]
    fn any_bytes_are_the_same_however_they_are_cut(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        fuzzing::syslog_any(&bytes);
    }

    #[test]
    fn any_text_is_the_same_however_it_is_cut(
        options in 0_u8..2, cut in any::<u8>(), text in "([0-9]{1,3} |<13>|[ab\r\n\0\\[\\]=\":-])*",
    ) {
        fuzzing::syslog_any(&[&[options, cut], text.as_bytes()].concat());
    }

    #[test]
    fn counted_messages_come_back(
        texts in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..40), 0..8),
    ) {
        let mut bytes = Vec::new();
        for text in &texts {
            bytes.extend(format!("{} ", text.len()).into_bytes());
            bytes.extend(text);
        }
        let machine = Syslog::default();
        let found = fuzzing::syslog(machine, &bytes, &mut std::iter::empty());
        prop_assert_eq!(found, (texts, Ok(Vec::new())));
    }
}
