//! Where every reader of this folder puts what it found: payloads into the sample, damage into the
//! problems.
//!
//! The check that a payload is JSON is made here and nowhere else, by the parser that the
//! evaluation uses, so that no payload that is called JSON can fail there later.

use cinch_core::document::Document;
use cinch_core::encoding::Parser;
use cinch_core::json::{self, JsonError};

use super::error::Problems;
use super::meter::Meter;
use super::sample::Sampler;
use super::{Origin, ReadOptions, field};

/// Takes payloads and problems of the file that is being read.
pub(super) struct Sink<'a> {
    pub(super) options: &'a ReadOptions,
    pub(super) meter: Meter<'a>,
    limit_bytes: usize,
    sampler: Sampler,
    problems: Problems,
    document: Document,
    file: u32,
    file_name: String,
}

impl<'a> Sink<'a> {
    pub(super) fn new(
        options: &'a ReadOptions,
        limit_bytes: usize,
        sampler: Sampler,
        meter: Meter<'a>,
    ) -> Sink<'a> {
        Sink {
            options,
            meter,
            limit_bytes,
            sampler,
            problems: Problems::default(),
            document: Document::new(),
            file: 0,
            file_name: String::new(),
        }
    }

    /// Names the file that what follows is found in.
    pub(super) fn start_file(&mut self, file: u32, name: &str) {
        self.file = file;
        name.clone_into(&mut self.file_name);
    }

    /// What was found in all files.
    pub(super) fn finish(self) -> (Sampler, Problems) {
        (self.sampler, self.problems)
    }

    /// The longest payload that is taken, in bytes.
    pub(super) fn limit_bytes(&self) -> usize {
        self.limit_bytes
    }

    /// Counts damage.
    pub(super) fn problem(&mut self, line: u64, reason: String) {
        self.problems.add(&self.file_name, line, reason);
    }

    /// Counts a payload that is too long to be taken.
    pub(super) fn too_long(&mut self, line: u64, hint: &str) {
        self.problem(line, format!("longer than the limit of {} bytes{hint}", self.limit_bytes));
    }

    /// Whether `text` is one JSON value, and if not, why.
    #[inline]
    pub(super) fn check(&mut self, text: &[u8]) -> Result<(), JsonError> {
        json::parse(Parser::Simd, text, &mut self.document)
    }

    /// Takes a JSON value that [`Sink::check`] has accepted.
    pub(super) fn take_json(&mut self, text: &[u8], line: u64) {
        let Some(path) = &self.options.field else { return self.take(text, true, line) };
        let Some(member) = path.pick(text) else {
            return self.problem(line, format!("has no member {path}"));
        };
        // A service that stores JSON inside a string is measured on what it stores.
        let mut content = Vec::new();
        if member.first() == Some(&b'"') && self.check(member).is_ok() {
            content.extend_from_slice(field::string_content(&self.document));
        }
        let is_nested = matches!(content.trim_ascii_start().first(), Some(b'{' | b'['))
            && self.check(&content).is_ok();
        match is_nested {
            true => self.take(content.trim_ascii(), true, line),
            false => self.take(member, true, line),
        }
    }

    /// Takes a payload as it is.
    pub(super) fn take(&mut self, bytes: &[u8], is_json: bool, line: u64) {
        self.meter.add_payload();
        self.sampler.offer(bytes, is_json, Origin { file: self.file, line });
    }
}
