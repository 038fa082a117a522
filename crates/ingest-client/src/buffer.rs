//! What is kept: an open batch that records are added to, and closed ones in the order of their
//! numbers until the server says that it has them.

use std::collections::VecDeque;
use std::time::Instant;

use cinch_wire::native::{BatchCodec, Client as Machine, push_record};

use crate::settings::{LENGTH_BYTES, RECORD_BYTES_MAX, Settings};
use crate::{Dropped, Unacknowledged};

/// What became of records. Those that are in none of the sums wait in the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Records that were taken into the buffer.
    pub buffered_records: u64,
    /// Records that the server has acknowledged.
    pub acknowledged_records: u64,
    /// Records that were dropped: there was no room, they were too long, or the client was closed.
    pub dropped_records: u64,
    /// Batches that were sent more than once.
    pub resent_batches: u64,
    /// Connections that were made.
    pub connections: u64,
}

/// A batch that is closed.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) sequence: u64,
    pub(crate) codec: BatchCodec,
    pub(crate) records: u32,
    pub(crate) plain_bytes: u32,
    pub(crate) body: Vec<u8>,
    pub(crate) was_sent: bool,
}

/// The state of a client.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    open: Vec<u8>,
    open_records: u32,
    /// When the first record of the open batch came.
    pub(crate) opened: Option<Instant>,
    pub(crate) kept: VecDeque<Kept>,
    kept_bytes: usize,
    /// The number of the batch that was closed last.
    last: u64,
    /// All batches up to this one have come to stay.
    pub(crate) acknowledged: u64,
    pub(crate) counters: Counters,
    /// The machine of the connection, while there is one.
    pub(crate) machine: Option<Machine>,
    /// The connection is of no use any more.
    pub(crate) is_broken: bool,
    /// The server is about to stop.
    pub(crate) is_draining: bool,
    /// Nothing is sent before.
    pub(crate) rests_until: Option<Instant>,
    /// The client is to end.
    pub(crate) is_over: bool,
    /// What was last wrong.
    pub(crate) problem: String,
}

impl Buffer {
    /// Adds a record. `true` if the sending thread has to know.
    pub(crate) fn push(&mut self, record: &[u8], settings: &Settings) -> Result<bool, Dropped> {
        let needed = record.len() + LENGTH_BYTES;
        if record.len() > RECORD_BYTES_MAX || needed > settings.batch_bytes {
            return Err(Dropped::TooLong);
        }
        if self.open.len() + self.kept_bytes + needed > settings.buffer_bytes {
            return Err(Dropped::Full);
        }
        let is_full = self.open.len() + needed > settings.batch_bytes;
        if is_full {
            self.seal(settings);
        }
        let is_first = self.open.is_empty();
        if is_first {
            self.opened = Some(Instant::now());
        }
        push_record(record, &mut self.open);
        self.open_records += 1;
        self.counters.buffered_records += 1;
        Ok(is_full || is_first)
    }

    /// Closes the open batch, if it has anything. The number of the last one that is closed.
    pub(crate) fn seal(&mut self, settings: &Settings) -> u64 {
        if self.open.is_empty() {
            return self.last;
        }
        self.last += 1;
        let plain = std::mem::take(&mut self.open);
        let plain_bytes = plain.len() as u32;
        let packed = settings.level.and_then(|level| compress(&plain, level));
        let (codec, body) = match packed {
            Some(packed) => (BatchCodec::Zstd, packed),
            None => (BatchCodec::Stored, plain),
        };
        self.kept_bytes += body.len();
        let (sequence, records) = (self.last, std::mem::take(&mut self.open_records));
        let was_sent = false;
        self.kept.push_back(Kept { sequence, codec, records, plain_bytes, body, was_sent });
        self.opened = None;
        self.last
    }

    /// The first number that the next connection announces.
    pub(crate) fn first_sequence(&self) -> u64 {
        self.kept.front().map_or(self.last + 1, |kept| kept.sequence)
    }

    /// All batches up to this one have come to stay.
    pub(crate) fn acknowledge(&mut self, sequence: u64) {
        while let Some(kept) = self.kept.pop_front_if(|kept| kept.sequence <= sequence) {
            self.kept_bytes -= kept.body.len();
            self.counters.acknowledged_records += u64::from(kept.records);
            self.acknowledged = kept.sequence;
        }
    }

    /// Appends the next batch that may be sent now to `out`; whether there was one.
    pub(crate) fn next(&mut self, out: &mut Vec<u8>) -> bool {
        let Some(machine) = self.machine.as_mut().filter(|machine| machine.may_send()) else {
            return false;
        };
        let first = self.kept.front().map_or(0, |kept| kept.sequence);
        let place = machine.next_sequence().checked_sub(first);
        let place = place.and_then(|place| usize::try_from(place).ok());
        let Some(kept) = place.and_then(|place| self.kept.get_mut(place)) else { return false };
        machine.send(kept.codec, kept.records, kept.plain_bytes, &kept.body, out);
        self.counters.resent_batches += u64::from(std::mem::replace(&mut kept.was_sent, true));
        true
    }

    /// Whether all that was sent on this connection is acknowledged.
    pub(crate) fn is_settled(&self) -> bool {
        let next = self.machine.as_ref().map_or(0, Machine::next_sequence);
        self.kept.front().is_none_or(|kept| kept.sequence >= next)
    }

    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.kept.is_empty() && self.open.is_empty()
    }

    /// How many records wait.
    pub(crate) fn waiting_records(&self) -> u64 {
        let kept: u64 = self.kept.iter().map(|kept| u64::from(kept.records)).sum();
        kept + u64::from(self.open_records)
    }

    pub(crate) fn unacknowledged(&self) -> Unacknowledged {
        let problem = match &self.problem[..] {
            "" => "the server has not answered".to_owned(),
            problem => problem.to_owned(),
        };
        Unacknowledged { records: self.waiting_records(), problem }
    }
}

/// The batch as a zstd frame, where that is shorter.
fn compress(plain: &[u8], level: i32) -> Option<Vec<u8>> {
    let mut packed = Vec::with_capacity(zstd_safe::compress_bound(plain.len()));
    // A batch that can't be compressed is sent as it is.
    zstd_safe::compress(&mut packed, plain, level).ok()?;
    packed.shrink_to_fit();
    (packed.len() < plain.len()).then_some(packed)
}
