//! Tests of the corpus reader from the outside: sources go in, payloads and problems come out.
//!
//! What the parts promise alone is tested beside them. Nothing here sleeps or measures time; what
//! would be large is generated while it is read.

mod broken;
mod huge;
mod layout;
mod picking;
mod property;
mod sources;

use std::io::{self, Read};

use super::*;

/// Reads `text` from the standard input.
fn read_with(text: &[u8], options: &ReadOptions) -> Result<Corpus, CorpusError> {
    read_from(&mut &text[..], options)
}

/// Reads the standard input.
fn read_from(stdin: &mut dyn Read, options: &ReadOptions) -> Result<Corpus, CorpusError> {
    read(&["-".to_owned()], stdin, options, &mut |_| ControlFlow::Continue(()))
}

/// Options for JSON, everything else as it is by default.
fn json_options() -> ReadOptions {
    ReadOptions { format: Format::Json, ..ReadOptions::default() }
}

/// The payloads as `line: text`.
fn listed(corpus: &Corpus) -> Vec<String> {
    let text = |payload: &Payload| String::from_utf8_lossy(&payload.bytes).into_owned();
    let list = |payload: &Payload| format!("{}: {}", payload.origin.line, text(payload));
    corpus.payloads.iter().map(list).collect()
}

/// The lines of the problems.
fn problem_lines(problems: &Problems) -> Vec<u64> {
    assert_eq!(problems.count, problems.first.len() as u64);
    problems.first.iter().map(|problem| problem.line).collect()
}

/// Reads JSON and returns payloads and the lines of problems, also where there is no payload.
fn json_of(text: &str) -> (Vec<String>, Vec<u64>) {
    outcome(text.as_bytes(), &json_options())
}

fn outcome(text: &[u8], options: &ReadOptions) -> (Vec<String>, Vec<u64>) {
    match read_with(text, options) {
        Ok(corpus) => {
            assert_eq!(corpus.seen, corpus.payloads.len() as u64);
            assert_eq!(corpus.seen_bytes, corpus.total_bytes());
            (listed(&corpus), problem_lines(&corpus.problems))
        }
        Err(CorpusError::NoPayloads { problems, .. }) => (Vec::new(), problem_lines(&problems)),
        Err(error) => panic!("{error}"),
    }
}

/// Hands out at most so many bytes at a time.
struct Dribble<'a> {
    rest: &'a [u8],
    at_once: usize,
}

impl Read for Dribble<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.rest.len().min(self.at_once).min(buffer.len());
        let (now, rest) = self.rest.split_at(count);
        buffer[..count].copy_from_slice(now);
        self.rest = rest;
        Ok(count)
    }
}

/// Repeats `unit` up to `left` bytes, generated while it is read.
struct Repeat<'a> {
    unit: &'a [u8],
    left: u64,
    at: usize,
}

impl<'a> Repeat<'a> {
    fn new(unit: &'a [u8], bytes: u64) -> Repeat<'a> {
        Repeat { unit, left: bytes, at: 0 }
    }
}

impl Read for Repeat<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = (buffer.len() as u64).min(self.left) as usize;
        // A gigabyte of one byte is what tests ask for most.
        if let [only] = *self.unit {
            buffer[..count].fill(only);
        } else {
            for byte in &mut buffer[..count] {
                *byte = self.unit[self.at];
                self.at = (self.at + 1) % self.unit.len();
            }
        }
        self.left -= count as u64;
        Ok(count)
    }
}
