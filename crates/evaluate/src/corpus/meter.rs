//! Counts what was read and tells the caller, who may say stop.
//!
//! It is called from the one place that takes bytes from a source, so that a stop is heard also
//! while a long value is being skipped.

use std::ops::ControlFlow;

/// How far the reading has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Files that were read to their end.
    pub files_done: u64,
    /// Files to be read.
    pub files_total: u64,
    /// Payloads seen so far.
    pub payloads: u64,
    /// Bytes read so far, unpacked.
    pub bytes: u64,
}

/// The caller is told at least this often, in bytes.
const REPORT_EVERY_BYTES: u64 = 1 << 20;

/// Keeps the [`Progress`] and remembers whether the caller said stop.
pub(super) struct Meter<'a> {
    report: &'a mut dyn FnMut(Progress) -> ControlFlow<()>,
    progress: Progress,
    reported_bytes: u64,
    is_stopped: bool,
}

impl<'a> Meter<'a> {
    pub(super) fn new(
        report: &'a mut dyn FnMut(Progress) -> ControlFlow<()>,
        files_total: u64,
    ) -> Meter<'a> {
        let progress = Progress { files_total, ..Progress::default() };
        Meter { report, progress, reported_bytes: 0, is_stopped: false }
    }

    /// Counts a payload.
    #[inline]
    pub(super) fn add_payload(&mut self) {
        self.progress.payloads += 1;
    }

    /// Counts bytes; false when reading shall stop.
    pub(super) fn add_bytes(&mut self, bytes: usize) -> bool {
        self.progress.bytes += bytes as u64;
        if self.progress.bytes - self.reported_bytes >= REPORT_EVERY_BYTES {
            self.tell();
        }
        !self.is_stopped
    }

    /// Counts a file, unless it was left in the middle; false when reading shall stop.
    pub(super) fn finish_file(&mut self) -> bool {
        if !self.is_stopped {
            self.progress.files_done += 1;
            self.tell();
        }
        !self.is_stopped
    }

    fn tell(&mut self) {
        self.reported_bytes = self.progress.bytes;
        self.is_stopped |= (self.report)(self.progress).is_break();
    }
}
