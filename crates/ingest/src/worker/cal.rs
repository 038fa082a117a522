//! What a CAL connection sends, kept: bodies go into the batch one after the other, and what stood
//! around them into its sections.

use cinch_wire::Scan;
use cinch_wire::cal::{Cal, HEADER_BYTES, Message};

use super::Filling;
use super::client::{Client, ClientError};
use crate::batch::OpenBatch;
use crate::format::{RunKind, SectionsWriter};
use crate::ingress::Shared;

/// The bytes that a processor takes from memory at once.
const CACHE_LINE_BYTES: usize = 64;

/// The messages of one read. A worker has one list for all of its connections: a list of each
/// would be out of the processor's cache whenever its turn comes.
#[derive(Debug, Default)]
pub(crate) struct CalRun {
    messages: Vec<Message>,
    /// The newlines that the bodies have if each is one line.
    newlines: usize,
    is_each_ended: bool,
}

impl CalRun {
    /// Begins the next read.
    fn clear(&mut self) {
        self.messages.clear();
        (self.newlines, self.is_each_ended) = (0, true);
    }

    /// Notes a message with this body.
    #[inline]
    fn add(&mut self, message: Message, body: &[u8]) {
        self.messages.push(message);
        // The start of a root transaction has an empty line before it.
        let empty_lines = usize::from(body.starts_with(b"\r\n"));
        self.newlines += empty_lines + 1;
        self.is_each_ended &= body.ends_with(b"\n") && body.len() > empty_lines * 2;
    }

    /// Whether a reader of this text, which is all the bodies, finds their ends without their
    /// lengths: each is one line, which may have an empty one before it. Counting newlines once
    /// over all of them is quicker than looking for each one's first.
    fn shows_lengths(&self, text: &[u8]) -> bool {
        self.is_each_ended && memchr::memchr_iter(b'\n', text).count() == self.newlines
    }

    /// Adds bodies that stand in no read, as a test has them.
    #[cfg(test)]
    pub(crate) fn of<'a>(bodies: impl Iterator<Item = &'a [u8]>) -> CalRun {
        let mut run = CalRun::default();
        run.clear();
        for body in bodies {
            let span = cinch_wire::Span { start: 0, end: body.len() as u32 };
            run.add(Message { thread: 0, connect_seconds: 0, body: span }, body);
        }
        run
    }

    /// Notes the lengths of the messages, if the text of all of them does not show them.
    pub(crate) fn note_lengths(&self, text: &[u8], sections: &mut SectionsWriter) {
        if !self.shows_lengths(text) {
            self.messages.iter().for_each(|message| sections.record(message.body.len(), false));
        }
    }
}

impl Client {
    /// Keeps the messages of these bytes, those before a mistake included.
    pub(super) fn keep_cal(
        &mut self,
        cal: &mut Cal,
        bytes: &[u8],
        filling: &mut Filling,
        shared: &Shared,
    ) -> Result<Scan, ClientError> {
        fetch(bytes);
        let mut run = std::mem::take(&mut filling.cal);
        run.clear();
        let result = self.keep_cal_run(cal, bytes, &mut run, filling, shared);
        filling.cal = run;
        result
    }

    fn keep_cal_run(
        &mut self,
        cal: &mut Cal,
        bytes: &[u8],
        run: &mut CalRun,
        filling: &mut Filling,
        shared: &Shared,
    ) -> Result<Scan, ClientError> {
        // Whose they are is known for all reads but the first, and where nothing has to be refused
        // a body is copied as soon as it is found.
        if let Some(pool) = self.pool.as_ref().filter(|_| filling.over.is_none()) {
            let batch = filling.batch(pool);
            let before = batch.text.len();
            let result = cal.scan_each(bytes, |message| {
                let body = add_body(batch, &message, bytes);
                run.add(message, body);
            });
            self.end_cal(before, bytes, run, filling);
            return Ok(result?);
        }
        let result = cal.scan_each(bytes, |message| run.add(message, message.body.of(bytes)));
        if self.pool.is_none()
            && let Some(label) = cal.label()
        {
            let (pool, host) = (shared.pools.named(&label.pool), label.host.clone());
            self.set_pool(pool, host)?;
            self.keep_label(bytes, filling);
        }
        self.keep_found_cal(bytes, run, filling);
        Ok(result?)
    }

    /// The label is a record of several lines, kept as it came.
    fn keep_label(&self, bytes: &[u8], filling: &mut Filling) {
        let (Some(pool), Some(header)) = (&self.pool, bytes.first_chunk::<HEADER_BYTES>()) else {
            return;
        };
        let number =
            |at: usize| header[at..].first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes));
        let body = &bytes[HEADER_BYTES..][..number(8) as usize];
        if self.is_refused(1, body.len(), None, filling) {
            return;
        }
        let batch = filling.batch(pool);
        batch.text.extend_from_slice(body);
        batch.sections.cal_record(number(0), number(4));
        batch.sections.record(body.len(), false);
        batch.sections.end_run(&self.connection, &self.host, RunKind::Cal, body.len(), 1);
        self.kept(pool, body.len(), 1, filling);
    }

    /// Keeps the messages that were found in these bytes, unless their pool drops them.
    fn keep_found_cal(&self, bytes: &[u8], run: &CalRun, filling: &mut Filling) {
        let Some(pool) = &self.pool else { return };
        let messages = &run.messages;
        let bytes_of_all = messages.iter().map(|message| message.body.len()).sum();
        if messages.is_empty() || self.is_refused(messages.len(), bytes_of_all, None, filling) {
            return;
        }
        let batch = filling.batch(pool);
        let before = batch.text.len();
        for message in messages {
            add_body(batch, message, bytes);
        }
        self.end_cal(before, bytes, run, filling);
    }

    /// The messages that were found are in the batch, whose text had this length before them.
    fn end_cal(&self, before: usize, bytes: &[u8], run: &CalRun, filling: &mut Filling) {
        let Some(pool) = self.pool.as_ref().filter(|_| !run.messages.is_empty()) else { return };
        let OpenBatch { text, sections, .. } = filling.batch(pool);
        let (added, records) = (text.len() - before, run.messages.len());
        run.note_lengths(&text[before..], sections);
        sections.end_run(&self.connection, &self.host, RunKind::Cal, added, records);
        for message in &run.messages {
            filling.rules.cal(&pool.name, &self.host, message.body.of(bytes));
        }
        self.kept(pool, added, records, filling);
    }
}

/// Adds a message of these bytes to a batch, and returns its body.
#[inline]
fn add_body<'a>(batch: &mut OpenBatch, message: &Message, bytes: &'a [u8]) -> &'a [u8] {
    let body = message.body.of(bytes);
    batch.text.extend_from_slice(body);
    batch.sections.cal_record(message.thread, message.connect_seconds);
    body
}

/// Has bytes that another processor wrote brought to this one. A header says where the next one
/// lies, so a scan would wait for each of them in turn; these reads wait for nothing.
fn fetch(bytes: &[u8]) {
    let lines = bytes.chunks(CACHE_LINE_BYTES);
    std::hint::black_box(lines.fold(0, |all, line| all ^ line[0]));
}
