//! A reply written anew with its values unpacked. It is held until it is whole: a client that was
//! sent half of an array can't be told any more that a value in it can't be read.
//!
//! An error stands in place of the whole reply, or of one command's reply in that of `EXEC`: there
//! is no client that does not expect one there, and there are some that lose count when one stands
//! between values.

use std::sync::Arc;

use cinch_core::envelope::{Header, looks_like_envelope};
use cinch_rollout::live::Live;
use cinch_wire::resp::{AggregateKind, BulkKind, Event, LineKind, write_bulk, write_error};

use super::inside::Answer;
use super::owed::Transform;
use crate::values;

/// What is done with a reply.
pub(super) enum Plan {
    One(Transform),
    /// The elements of `EXEC`'s array, each with what its command's reply is.
    Each(Vec<Option<Transform>>),
}

/// An aggregate that is open.
struct Level {
    left: Option<u64>,
    /// How many elements are complete; an attribute is none.
    index: u64,
    is_attribute: bool,
}

pub(super) struct Rewriter {
    live: Arc<Live>,
    plan: Plan,
    levels: Vec<Level>,
    path: Vec<u64>,
    out: Vec<u8>,
    /// The bulk that comes in parts.
    parts: Option<(BulkKind, Vec<u8>)>,
    /// Why a value could not be read: in place of the reply, or of an element of `EXEC`'s.
    failed: Option<String>,
    element_start: usize,
    limit_bytes: usize,
    /// The first bytes of a value whose length is asked.
    head: Option<Vec<u8>>,
    /// How many values could not be read.
    pub(super) undecodable: u64,
    /// Keys and values that are damaged, in namespaces that are caches.
    pub(super) damaged: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Rewriter {
    pub(super) fn new(live: Arc<Live>, plan: Plan, limit_bytes: usize) -> Rewriter {
        Rewriter {
            live,
            plan,
            levels: Vec::new(),
            path: Vec::new(),
            out: Vec::new(),
            parts: None,
            failed: None,
            element_start: 0,
            limit_bytes,
            head: None,
            undecodable: 0,
            damaged: Vec::new(),
        }
    }

    /// Takes events of the reply. `buffer` is what they are of.
    pub(super) fn take(&mut self, events: &[Event], buffer: &[u8]) {
        for event in events {
            self.event(*event, buffer);
            let held = self.out.len() + self.parts.as_ref().map_or(0, |(_, bytes)| bytes.len());
            if held > self.limit_bytes && self.failed.is_none() {
                let limit = self.limit_bytes;
                self.fail(format!(
                    "CINCH TOOLARGE the reply is longer than reply_bytes_max, {limit} bytes"
                ));
            }
        }
    }

    /// The reply, once it is whole.
    pub(super) fn finish(mut self) -> Vec<u8> {
        if let (Some(error), Plan::One(_)) = (self.failed.take(), &self.plan) {
            self.out.clear();
            write_error(&error, &mut self.out);
        }
        self.out
    }

    fn event(&mut self, event: Event, buffer: &[u8]) {
        match event {
            Event::Line(kind, text) => self.line(kind, text.of(buffer)),
            Event::Bulk(kind, None) => {
                self.nothing(kind);
                self.complete();
            }
            Event::Bulk(kind, Some(body)) => {
                self.bulk(kind, body.of(buffer));
                self.complete();
            }
            Event::BulkBegins(kind, length) => {
                // A length in a head is a claim: memory follows what arrives.
                let expected = length.unwrap_or(0).min(self.limit_bytes as u64);
                let room = Vec::with_capacity((expected as usize).min(PARTS_START_BYTES));
                self.parts = Some((kind, room));
            }
            Event::BulkPart(part) => {
                if let (Some((_, bytes)), None) = (&mut self.parts, &self.failed) {
                    bytes.extend_from_slice(part.of(buffer));
                }
            }
            Event::BulkEnds => {
                if let Some((kind, bytes)) = self.parts.take() {
                    self.bulk(kind, &bytes);
                }
                self.complete();
            }
            Event::Aggregate(kind, count) => self.aggregate(kind, count),
            Event::StreamBegins(kind) => {
                let text = [kind_byte(kind), b'?', b'\r', b'\n'];
                self.write(&text);
                self.open(None, false);
            }
            Event::StreamEnds => {
                self.write(b".\r\n");
                self.close();
                self.complete();
            }
            Event::Inline(_) | Event::Complete => {}
        }
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.failed.is_none() {
            self.out.extend_from_slice(bytes);
        }
    }

    fn line(&mut self, kind: LineKind, text: &[u8]) {
        if self.is_head() {
            // What is wrong with the key is said again of its length.
            return self.complete();
        }
        let transform = self.transform();
        let is_null = kind == LineKind::Null;
        if is_null
            && let Some(question) = transform.and_then(|found| found.question)
            && self.value_key().is_some()
        {
            self.answer(question.of_nothing());
        } else if transform.is_some_and(|found| found.is_head_and_length)
            && kind == LineKind::Integer
            && let Some(head) = self.head.take()
        {
            self.length(&head, text);
        } else {
            let byte = match kind {
                LineKind::Simple => b'+',
                LineKind::Error => b'-',
                LineKind::Integer => b':',
                LineKind::Null => b'_',
                LineKind::Boolean => b'#',
                LineKind::Double => b',',
                LineKind::BigNumber => b'(',
            };
            self.write(&[byte]);
            self.write(text);
            self.write(b"\r\n");
        }
        self.complete();
    }

    /// Whether the first of a head and a length comes next.
    fn is_head(&self) -> bool {
        self.transform().is_some_and(|found| found.is_head_and_length) && self.path == [0]
    }

    fn nothing(&mut self, kind: BulkKind) {
        let question = self.transform().and_then(|found| found.question);
        match question {
            Some(question) if self.value_key().is_some() => self.answer(question.of_nothing()),
            _ => {
                self.write(&[bulk_byte(kind)]);
                self.write(b"-1\r\n");
            }
        }
    }

    fn bulk(&mut self, kind: BulkKind, body: &[u8]) {
        if self.failed.is_some() {
            return;
        }
        if kind != BulkKind::String {
            let head = format!("{}{}\r\n", char::from(bulk_byte(kind)), body.len());
            self.write(head.as_bytes());
            self.write(body);
            self.write(b"\r\n");
            return;
        }
        if self.transform().is_some_and(|found| found.is_head_and_length) {
            self.head = Some(body.to_vec());
            return;
        }
        let Some(key) = self.value_key().map(<[u8]>::to_vec) else {
            write_bulk(body, &mut self.out);
            return;
        };
        let question = self.transform().and_then(|found| found.question);
        let live = Arc::clone(&self.live);
        let snapshot = live.snapshot();
        let unpacked = match values::namespace_of(&snapshot, &key) {
            Some(ready) => values::unpack(ready, &key, body),
            None => Ok(None),
        };
        match unpacked {
            Err(error) => {
                self.undecodable += 1;
                if error.may_be_removed {
                    self.damaged.push((key, body.to_vec()));
                }
                let kind = error.error.kind();
                self.fail(format!("CINCH UNDECODABLE ({kind}) {error}"));
            }
            Ok(payload) => {
                let payload = payload.as_deref().unwrap_or(body);
                match question {
                    Some(question) => self.answer(question.ask(payload)),
                    None => write_bulk(payload, &mut self.out),
                }
            }
        }
    }

    fn answer(&mut self, answer: Answer<'_>) {
        match answer {
            Answer::Integer(number) => self.write(format!(":{number}\r\n").as_bytes()),
            Answer::Bytes(bytes) => {
                if self.failed.is_none() {
                    write_bulk(bytes, &mut self.out);
                }
            }
        }
    }

    /// The length of a payload, of the first bytes of its value and the value's own length.
    fn length(&mut self, head: &[u8], stored: &[u8]) {
        if !looks_like_envelope(head) {
            self.write(b":");
            self.write(stored);
            self.write(b"\r\n");
            return;
        }
        match Header::read(head) {
            Ok((header, _)) => {
                self.answer(Answer::Integer(i64::from(header.payload_bytes)));
            }
            Err(error) => {
                self.undecodable += 1;
                self.fail(format!("CINCH UNDECODABLE ({}) {error}", error.code()));
            }
        }
    }

    fn aggregate(&mut self, kind: AggregateKind, count: Option<u64>) {
        let is_hidden = matches!(&self.plan, Plan::One(found) if found.is_head_and_length);
        let Some(count) = count else {
            self.write(b"*-1\r\n");
            self.complete();
            return;
        };
        if !is_hidden {
            let head = format!("{}{count}\r\n", char::from(kind_byte(kind)));
            self.write(head.as_bytes());
        }
        let is_attribute = kind == AggregateKind::Attribute;
        let is_pairs = is_attribute || kind == AggregateKind::Map;
        match count * if is_pairs { 2 } else { 1 } {
            0 if is_attribute => {}
            0 => self.complete(),
            left => self.open(Some(left), is_attribute),
        }
    }

    fn open(&mut self, left: Option<u64>, is_attribute: bool) {
        self.levels.push(Level { left, index: 0, is_attribute });
        self.path.push(0);
        if self.levels.len() == 1 {
            self.element_start = self.out.len();
        }
    }

    fn close(&mut self) {
        self.levels.pop();
        self.path.pop();
    }

    /// Counts a value that is complete, and those that it is the last of.
    fn complete(&mut self) {
        while let Some(level) = self.levels.last_mut() {
            level.index += 1;
            let index = level.index;
            let is_last = level.left == Some(index);
            let is_attribute = level.is_attribute;
            if let Some(last) = self.path.last_mut() {
                *last = index;
            }
            if self.levels.len() == 1 {
                self.end_element();
            }
            if !is_last {
                return;
            }
            self.close();
            if is_attribute {
                return;
            }
        }
    }

    /// An element of the outermost array is whole; in `EXEC`'s an error takes its place.
    fn end_element(&mut self) {
        if matches!(self.plan, Plan::Each(_)) {
            if let Some(error) = self.failed.take() {
                self.out.truncate(self.element_start);
                write_error(&error, &mut self.out);
            }
            self.element_start = self.out.len();
        }
    }

    /// What is done with the value that comes next, and the path to it in its own command's reply.
    fn place(&self) -> Option<(&Transform, &[u64])> {
        if self.levels.iter().any(|level| level.is_attribute) {
            return None;
        }
        match &self.plan {
            Plan::One(transform) => Some((transform, &self.path)),
            Plan::Each(transforms) => {
                let (first, rest) = self.path.split_first()?;
                let transform = transforms.get(usize::try_from(*first).ok()?)?.as_ref()?;
                Some((transform, rest))
            }
        }
    }

    fn transform(&self) -> Option<&Transform> {
        self.place().map(|(transform, _)| transform)
    }

    /// The key of the value that comes next, if it is one.
    fn value_key(&self) -> Option<&[u8]> {
        let (transform, path) = self.place()?;
        transform.key_at(path)
    }

    fn fail(&mut self, error: String) {
        self.failed = Some(error);
        let keep = if matches!(self.plan, Plan::Each(_)) { self.element_start } else { 0 };
        self.out.truncate(keep);
        if let Some((_, bytes)) = &mut self.parts {
            *bytes = Vec::new();
        }
    }
}

/// How much room a long bulk is given before it has come, in bytes.
const PARTS_START_BYTES: usize = 64 << 10;

fn kind_byte(kind: AggregateKind) -> u8 {
    match kind {
        AggregateKind::Array => b'*',
        AggregateKind::Map => b'%',
        AggregateKind::Set => b'~',
        AggregateKind::Push => b'>',
        AggregateKind::Attribute => b'|',
    }
}

fn bulk_byte(kind: BulkKind) -> u8 {
    match kind {
        BulkKind::String => b'$',
        BulkKind::Error => b'!',
        BulkKind::Verbatim => b'=',
    }
}
