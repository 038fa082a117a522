//! What the records of a run are, by the texts that are hard to cut and by lengths that somebody
//! has damaged.

use super::records;
use crate::format::{ReadRun, RunKind};

fn run(kind: RunKind, text: &[u8], lengths: &[usize]) -> ReadRun {
    ReadRun {
        connection: 1,
        peer: String::new(),
        host: String::new(),
        kind,
        text_bytes: text.len(),
        records: 0,
        lanes: Vec::new(),
        lengths: lengths.to_vec(),
    }
}

fn texts<'a>(run: &'a ReadRun, text: &'a [u8]) -> Vec<&'a [u8]> {
    records(run, text).map(|record| record.text).collect()
}

#[test]
fn an_added_newline_is_taken_away_again_and_no_other() {
    let text = b"one\ntwo\n";
    assert_eq!(texts(&run(RunKind::Lines, text, &[]), text), [b"one\n", b"two\n"]);
    let unended = run(RunKind::LinesUnended, text, &[]);
    assert_eq!(texts(&unended, text), [&b"one\n"[..], b"two"]);
    let prefixed = run(RunKind::LengthPrefixed, text, &[7]);
    assert_eq!(texts(&prefixed, text), [b"one\ntwo"]);
    let own = run(RunKind::Syslog, text, &[4, 3]);
    assert_eq!(texts(&own, text), [&b"one\n"[..], b"two"]);
}

#[test]
fn lengths_that_lead_out_of_the_text_do_not() {
    let text = b"one\n";
    for length in [5, 100, usize::MAX] {
        let damaged = run(RunKind::Cal, text, &[length]);
        assert_eq!(texts(&damaged, text), [b"one\n"]);
        let damaged = run(RunKind::LengthPrefixed, text, &[length]);
        assert_eq!(texts(&damaged, text), [b"one\n"]);
    }
}
