//! The sections of a head: which connection each part of a batch's text is from, and what was
//! around the text on the wire, so that every connection can be read back to the byte.
//!
//! A run is what one connection added at once. Lengths of records are stored only where the text
//! does not show them, and a CAL message's thread and connect time only where they change, so a run
//! of sixteen thousand bytes costs a few dozen.

use std::collections::HashMap;

use crate::connection::Connection;
use crate::varint;

/// What the text of a run was on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunKind {
    /// The same bytes; each record ends in its newline.
    Lines,
    /// Lines of which the last one came without its newline, which was added here.
    LinesUnended,
    /// Bodies of CAL messages, one after the other.
    Cal,
    /// Records that came with their lengths; a newline was added to each.
    LengthPrefixed,
    /// Messages of syslog, however they were framed; a newline was added to each.
    Syslog,
}

impl RunKind {
    fn number(self) -> u64 {
        self as u64
    }

    fn of(number: u64) -> Option<RunKind> {
        use RunKind::{Cal, LengthPrefixed, Lines, LinesUnended, Syslog};
        [Lines, LinesUnended, Cal, LengthPrefixed, Syslog]
            .get(usize::try_from(number).ok()?)
            .copied()
    }
}

/// Why sections can't be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the sections of a batch are damaged")]
pub struct SectionsError;

/// Collects the sections of one batch. Its buffers are reused from batch to batch.
#[derive(Debug, Default)]
pub struct SectionsWriter {
    connections: Vec<u8>,
    connection_count: u64,
    numbers: HashMap<u64, u64>,
    runs: Vec<u8>,
    run_count: u64,
    lanes: Vec<u8>,
    lane_count: u64,
    lane: Option<(u64, u32, u32)>,
    lengths: Vec<u8>,
    needs_lengths: bool,
}

impl SectionsWriter {
    /// The bytes that were collected so far.
    pub fn len(&self) -> usize {
        self.connections.len() + self.runs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.run_count == 0
    }

    /// Notes the two numbers of the header of one record of the run that is being made. Where the
    /// text does not show the lengths of all of them, [`record`](SectionsWriter::record) does.
    #[inline]
    pub fn cal_record(&mut self, thread: u32, seconds: u32) {
        match &mut self.lane {
            Some((count, lane, since)) if *lane == thread && *since == seconds => *count += 1,
            _ => {
                self.end_lane();
                self.lane = Some((1, thread, seconds));
            }
        }
    }

    /// Notes the length of one record of the run that is being made.
    pub fn record(&mut self, length: usize, shows: bool) {
        varint::write(length as u64, &mut self.lengths);
        self.needs_lengths |= !shows;
    }

    /// Ends a run of this connection.
    pub fn end_run(
        &mut self,
        connection: &Connection,
        host: &str,
        kind: RunKind,
        text_bytes: usize,
        records: usize,
    ) {
        let next = self.connection_count;
        let number = *self.numbers.entry(connection.id).or_insert(next);
        if number == next {
            self.connection_count += 1;
            varint::write(connection.id, &mut self.connections);
            text(&connection.peer.to_string(), &mut self.connections);
            text(host, &mut self.connections);
        }
        self.end_lane();
        for value in [number, kind.number(), text_bytes as u64, records as u64, self.lane_count] {
            varint::write(value, &mut self.runs);
        }
        self.runs.append(&mut self.lanes);
        let lengths_bytes = if self.needs_lengths { self.lengths.len() as u64 } else { 0 };
        varint::write(lengths_bytes, &mut self.runs);
        if self.needs_lengths {
            self.runs.extend_from_slice(&self.lengths);
        }
        self.lengths.clear();
        (self.lane_count, self.needs_lengths) = (0, false);
        self.run_count += 1;
    }

    fn end_lane(&mut self) {
        let Some((count, thread, seconds)) = self.lane.take() else { return };
        self.lane_count += 1;
        for value in [count, u64::from(thread), u64::from(seconds)] {
            varint::write(value, &mut self.lanes);
        }
    }

    /// Appends the sections and empties this for the next batch.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        varint::write(self.connection_count, out);
        out.append(&mut self.connections);
        varint::write(self.run_count, out);
        out.append(&mut self.runs);
        self.numbers.clear();
        (self.connection_count, self.run_count) = (0, 0);
    }
}

fn text(text: &str, out: &mut Vec<u8>) {
    varint::write(text.len() as u64, out);
    out.extend_from_slice(text.as_bytes());
}

/// A run that was read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadRun {
    /// The connection's number, unique among those of one instance.
    pub connection: u64,
    /// Whose it was.
    pub peer: String,
    /// The host that the client named; empty for protocols without.
    pub host: String,
    /// What the text was on the wire.
    pub kind: RunKind,
    /// The bytes of its text.
    pub text_bytes: usize,
    /// The records in it.
    pub records: usize,
    /// Thread, connect time in Unix seconds, and how many records in a row have them.
    pub lanes: Vec<(u32, u32, usize)>,
    /// The lengths of the records on the wire; empty where the text shows them.
    pub lengths: Vec<usize>,
}

/// Reads the sections of a batch whose text has this many bytes and which has this many records.
pub fn read_sections(
    input: &[u8],
    text_bytes: usize,
    records: usize,
) -> Result<Vec<ReadRun>, SectionsError> {
    let runs = runs(input).ok_or(SectionsError)?;
    let sum = |of: fn(&ReadRun) -> usize| {
        runs.iter().try_fold(0usize, |sum, run| sum.checked_add(of(run)))
    };
    let is_whole =
        sum(|run| run.text_bytes) == Some(text_bytes) && sum(|run| run.records) == Some(records);
    if is_whole { Ok(runs) } else { Err(SectionsError) }
}

fn runs(mut input: &[u8]) -> Option<Vec<ReadRun>> {
    let input = &mut input;
    let mut connections = Vec::new();
    for _ in 0..varint::read(input)? {
        let id = varint::read(input)?;
        connections.push((id, read_text(input)?, read_text(input)?));
    }
    let mut runs = Vec::new();
    for _ in 0..varint::read(input)? {
        let number = usize::try_from(varint::read(input)?).ok()?;
        let (connection, peer, host) = connections.get(number)?.clone();
        let kind = RunKind::of(varint::read(input)?)?;
        let text_bytes = usize::try_from(varint::read(input)?).ok()?;
        let records = usize::try_from(varint::read(input)?).ok()?;
        let mut lanes = Vec::new();
        for _ in 0..varint::read(input)? {
            let count = usize::try_from(varint::read(input)?).ok()?;
            let thread = u32::try_from(varint::read(input)?).ok()?;
            let seconds = u32::try_from(varint::read(input)?).ok()?;
            lanes.push((thread, seconds, count));
        }
        let lengths_bytes = varint::read(input)?;
        let mut rest = varint::take(input, lengths_bytes)?;
        let mut lengths = Vec::new();
        while !rest.is_empty() {
            lengths.push(usize::try_from(varint::read(&mut rest)?).ok()?);
        }
        runs.push(ReadRun { connection, peer, host, kind, text_bytes, records, lanes, lengths });
    }
    input.is_empty().then_some(runs)
}

fn read_text(input: &mut &[u8]) -> Option<String> {
    let length = varint::read(input)?;
    let bytes = varint::take(input, length)?;
    Some(String::from_utf8_lossy(bytes).into_owned())
}
