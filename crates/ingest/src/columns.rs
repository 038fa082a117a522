//! The columnar form of a batch's text: lines that were made by the same statement of a program
//! share a template, and what varies stands column by column, where it compresses best. Batches of
//! JSON lines use the columnar encoding of payloads instead, over the array of the lines.
//!
//! The form is described in spec/ingest.md. It comes back to the byte or is not used: the writer
//! reads what it wrote before it lets it take the text's place, which is the only copy.

use cinch_core::encoding::DecodeError;

use crate::varint;

mod column;
mod lines;
mod objects;
mod read;
mod template;
#[cfg(test)]
mod tests;

use lines::LinesWriter;
use objects::ObjectsWriter;

/// The first byte of lines by templates.
const LINES: u8 = 1;

/// The first byte of objects, one a line, between which a comma stands in the array.
const OBJECTS: u8 = 2;

/// The same with a comma and a space, as in the objects themselves.
const OBJECTS_SPACED: u8 = 3;

/// The most templates of a batch. Text that needs more is not of one shape.
const TEMPLATES_MAX: usize = 1 << 16;

/// The most columns of a batch: a reader keeps a place for each.
const COLUMNS_MAX: usize = 1 << 16;

/// How much longer than the text its columns may be before they are compressed, in bytes, so that a
/// reader knows what room they take.
const EXCESS_BYTES_MAX: usize = 4 << 10;

/// Why columns can't be turned into text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ColumnsError {
    /// They break the rules of the form.
    #[error("its columns are damaged: {0}")]
    Damaged(&'static str),
    /// They hold an array of JSON that can't be read.
    #[error("its columns are damaged: {0}")]
    Objects(#[from] DecodeError),
}

/// The end comes within something.
const END: ColumnsError = ColumnsError::Damaged("the end inside a column");

/// What was written: parts of one kind of bytes each, which are compressed apart from each other
/// and read as one.
#[derive(Debug, Default)]
struct Parts {
    /// Templates, and how each column is written.
    structure: Vec<u8>,
    /// Numbers and places in tables.
    numbers: Vec<u8>,
    /// Texts.
    texts: Vec<u8>,
}

impl Parts {
    fn clear(&mut self) {
        self.structure.clear();
        self.numbers.clear();
        self.texts.clear();
    }
}

/// Writes texts as columns. Its buffers are reused from batch to batch.
#[derive(Default)]
pub struct ColumnsWriter {
    lines: LinesWriter,
    objects: ObjectsWriter,
    parts: Parts,
    content: Vec<u8>,
    check: Vec<u8>,
}

impl ColumnsWriter {
    /// The columns of a text, in parts that are best compressed one by one; `None` where the text
    /// is not of a kind that has them.
    pub fn write(&mut self, text: &[u8]) -> Option<Vec<&[u8]>> {
        let ends = match self.write_objects(text) {
            Some(end) => vec![end],
            None => self.write_lines(text)?,
        };
        let starts = std::iter::once(0).chain(ends.iter().copied());
        Some(starts.zip(&ends).map(|(start, &end)| &self.content[start..end]).collect())
    }

    fn write_objects(&mut self, text: &[u8]) -> Option<usize> {
        self.content.clear();
        self.objects.write(text, &mut self.content)?;
        self.comes_back(text).then_some(self.content.len())
    }

    fn write_lines(&mut self, text: &[u8]) -> Option<Vec<usize>> {
        self.content.clear();
        self.parts.clear();
        self.lines.write(text, &mut self.parts)?;
        let ends = self.join();
        self.comes_back(text).then_some(ends)
    }

    /// Whether what was written is this text to its readers.
    fn comes_back(&mut self, text: &[u8]) -> bool {
        self.content.len() <= content_bytes_max(text.len())
            && read_columns(&self.content, text.len(), &mut self.check).is_ok()
            && self.check == text
    }

    /// One part after the other, in front of which their lengths stand; returns where each ends.
    fn join(&mut self) -> Vec<usize> {
        let Parts { structure, numbers, texts } = &self.parts;
        self.content.push(LINES);
        varint::write(structure.len() as u64, &mut self.content);
        varint::write(numbers.len() as u64, &mut self.content);
        [structure, numbers, texts]
            .map(|part| {
                self.content.extend_from_slice(part);
                self.content.len()
            })
            .into()
    }
}

/// The most bytes that the columns of a text of that many bytes have.
pub fn content_bytes_max(text_bytes: usize) -> usize {
    text_bytes + EXCESS_BYTES_MAX
}

/// Turns columns into the text that they are of, which has that many bytes.
///
/// # Errors
/// [`ColumnsError`] for what no writer wrote. Then `text` may hold a part.
pub fn read_columns(
    content: &[u8],
    text_bytes: usize,
    text: &mut Vec<u8>,
) -> Result<(), ColumnsError> {
    text.clear();
    let (&form, mut rest) = content.split_first().ok_or(END)?;
    match form {
        LINES => {
            let structure = varint::read(&mut rest).ok_or(END)?;
            let numbers = varint::read(&mut rest).ok_or(END)?;
            let structure = varint::take(&mut rest, structure).ok_or(END)?;
            let numbers = varint::take(&mut rest, numbers).ok_or(END)?;
            read::lines(column::Streams { structure, numbers, texts: rest }, text_bytes, text)?;
        }
        OBJECTS | OBJECTS_SPACED => objects::read(rest, form, text_bytes, text)?,
        _ => return Err(ColumnsError::Damaged("a form that is not known")),
    }
    match text.len() == text_bytes {
        true => Ok(()),
        false => Err(ColumnsError::Damaged("another length than announced")),
    }
}
