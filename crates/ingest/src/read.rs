//! Reads batches back from a file of the filer, one after the other. A file may be torn, written
//! by something else, or hostile: sizes are looked at before anything is allocated.

use std::io::{self, Read};

use xxhash_rust::xxh64::Xxh64;
use zstd_safe::DCtx;

use crate::columns::{ColumnsError, content_bytes_max, read_columns};
use crate::format::{
    FLAG_SECTIONS_PACKED, Filter, HEAD_FIXED_BYTES, Head, ReadRun, SKIPPABLE_BYTES, SectionsError,
    read_sections,
};
use crate::limits::{HEAD_BYTES_MAX, TEXT_BYTES_MAX};

/// A batch as it lies in a file.
#[derive(Debug, Clone)]
pub struct StoredBatch {
    /// What is said of it.
    pub head: Head,
    sections: Vec<u8>,
    frame: Vec<u8>,
}

/// Why a batch that is whole can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    /// Its text, or what is said of it, can't be decompressed.
    #[error("it can't be decompressed: {0}")]
    Zstd(String),
    /// Its sections are damaged.
    #[error(transparent)]
    Sections(#[from] SectionsError),
    /// Its columns can't be turned into its text.
    #[error(transparent)]
    Columns(#[from] ColumnsError),
    /// It is written in a way that this version does not know.
    #[error("a later version of cinch wrote it; read it with that one")]
    Later,
    /// Its text has another length than its head says.
    #[error("its text has not the length that its head says")]
    Length,
}

/// What comes next in a file.
#[derive(Debug, Clone)]
pub enum Next {
    /// A batch.
    Whole(Box<StoredBatch>),
    /// A batch that was passed over.
    Skipped(Head),
    /// The end, the index, or what is torn or damaged.
    End,
}

/// The batches of a file.
pub struct Batches<R> {
    input: R,
}

impl<R: Read> Batches<R> {
    /// The batches from here on.
    pub fn new(input: R) -> Batches<R> {
        Batches { input }
    }

    /// The next batch; `None` at the end, at the index, and at what is torn or damaged.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn next_whole(&mut self) -> io::Result<Option<StoredBatch>> {
        match self.next_if(|_| true)? {
            Next::Whole(batch) => Ok(Some(*batch)),
            Next::Skipped(_) | Next::End => Ok(None),
        }
    }

    /// The same, without the batches whose filter this does not want. The text of those is not
    /// looked at.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn next_if(&mut self, wants: impl FnOnce(&Filter) -> bool) -> io::Result<Next> {
        let mut start = [0; SKIPPABLE_BYTES + HEAD_FIXED_BYTES];
        if !self.fill(&mut start)? {
            return Ok(Next::End);
        }
        let Some(head) = Head::read(&start) else { return Ok(Next::End) };
        let Some((own_bytes, _)) = head.split_sections() else { return Ok(Next::End) };
        let sizes = [head.sections_bytes, head.text_bytes, head.frame_bytes].map(|n| n as usize);
        let frame_max = zstd_safe::compress_bound(TEXT_BYTES_MAX);
        if sizes[0] > HEAD_BYTES_MAX || sizes[1] > TEXT_BYTES_MAX || sizes[2] > frame_max {
            return Ok(Next::End);
        }
        let (mut sections, mut frame) = (vec![0; sizes[0]], vec![0; sizes[2]]);
        if !self.fill(&mut sections)? {
            return Ok(Next::End);
        }
        if Filter::read(&sections[own_bytes..]).is_some_and(|filter| !wants(&filter)) {
            let frame = u64::from(head.frame_bytes);
            let passed = io::copy(&mut Read::by_ref(&mut self.input).take(frame), &mut io::sink())?;
            return Ok(if passed == frame { Next::Skipped(head) } else { Next::End });
        }
        if !self.fill(&mut frame)? {
            return Ok(Next::End);
        }
        let mut checksum = Xxh64::new(0);
        checksum.update(&sections);
        checksum.update(&frame);
        if checksum.digest() != head.checksum {
            return Ok(Next::End);
        }
        sections.truncate(own_bytes);
        Ok(Next::Whole(Box::new(StoredBatch { head, sections, frame })))
    }

    fn fill(&mut self, buffer: &mut [u8]) -> io::Result<bool> {
        match self.input.read_exact(buffer) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(error),
        }
    }
}

impl StoredBatch {
    /// Decompresses the text into this buffer.
    ///
    /// # Errors
    /// Those of [`text_of`].
    pub fn text(&self, context: &mut DCtx, text: &mut Vec<u8>) -> Result<(), BatchError> {
        text_of(&self.head, &self.frame, context, text)
    }

    /// Where the text is from.
    ///
    /// # Errors
    /// [`BatchError::Zstd`] and [`BatchError::Sections`]; not for a batch that the filer wrote.
    pub fn runs(&self, context: &mut DCtx) -> Result<Vec<ReadRun>, BatchError> {
        let (text_bytes, records) = (self.head.text_bytes as usize, self.head.records as usize);
        if self.head.flags & FLAG_SECTIONS_PACKED == 0 {
            return Ok(read_sections(&self.sections, text_bytes, records)?);
        }
        let mut sections = Vec::new();
        let length = zstd_safe::get_frame_content_size(&self.sections).ok().flatten();
        let length = length.and_then(|length| usize::try_from(length).ok());
        let length = length.filter(|&length| length <= HEAD_BYTES_MAX).ok_or(BatchError::Length)?;
        sections.reserve_exact(length);
        unpack(context, &self.sections, &mut sections)?;
        Ok(read_sections(&sections, text_bytes, records)?)
    }
}

/// Decompresses the text of a batch with this head and these frames, and turns columns into it.
///
/// # Errors
/// [`BatchError::Zstd`], [`BatchError::Length`], [`BatchError::Columns`] and [`BatchError::Later`];
/// only the last for a batch that the filer wrote.
pub fn text_of(
    head: &Head,
    frames: &[u8],
    context: &mut DCtx,
    text: &mut Vec<u8>,
) -> Result<(), BatchError> {
    let text_bytes = head.text_bytes as usize;
    text.clear();
    if head.is_of_later_version() {
        return Err(BatchError::Later);
    }
    if head.is_columnar() {
        let mut columns = Vec::with_capacity(content_bytes_max(text_bytes));
        unpack(context, frames, &mut columns)?;
        return Ok(read_columns(&columns, text_bytes, text)?);
    }
    text.reserve_exact(text_bytes);
    unpack(context, frames, text)?;
    if text.len() == text_bytes { Ok(()) } else { Err(BatchError::Length) }
}

fn unpack(context: &mut DCtx, packed: &[u8], out: &mut Vec<u8>) -> Result<(), BatchError> {
    let failed = |code| BatchError::Zstd(zstd_safe::get_error_name(code).to_owned());
    context.decompress(out, packed).map_err(failed)?;
    Ok(())
}
