//! The files of the filer, as spec/ingest.md has them: batches one after the other, each a
//! skippable frame that says what is in it (its head) and a zstd frame of its text. A closed file
//! ends in a skippable frame that lists them (its index). The stock `zstd -dc` prints the text.

use xxhash_rust::xxh64::xxh64;

mod filter;
mod index;
mod sections;
#[cfg(test)]
mod tests;

pub use filter::{Filter, FilterWriter, GRAM_BYTES};
pub use index::{INDEX_MAGIC, Index, IndexEntry};
pub use sections::{ReadRun, RunKind, SectionsError, SectionsWriter, read_sections};

/// The magic of a head, one of the sixteen that zstd reserves for frames that it skips.
pub const HEAD_MAGIC: u32 = 0x184D_2A5C;

/// The bytes of a skippable frame before its content.
pub const SKIPPABLE_BYTES: usize = 8;

/// What every head starts with.
const TAG: &[u8; 4] = b"cLB1";

/// The bytes of a head without its sections and without the frame around it.
pub const HEAD_FIXED_BYTES: usize = 72;

/// Sections are one zstd frame themselves.
pub const FLAG_SECTIONS_PACKED: u32 = 1;

/// The zstd frames hold the columns of the text and not the text itself.
pub const FLAG_COLUMNAR: u32 = 2;

/// The flags that say something. A batch with another one is of a later version.
const FLAGS_KNOWN: u32 = FLAG_SECTIONS_PACKED | FLAG_COLUMNAR | 0xFF << FILTER_SHIFT;

/// Where the flags have the logarithm of the filter's bits, in bytes; 0 is no filter.
const FILTER_SHIFT: u32 = 8;

/// What is said of a batch in front of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The run of the ingress that made it, a number drawn at its start.
    pub instance: u64,
    /// Its place among the batches of that run, so that one which was written twice is noticed.
    pub sequence: u64,
    /// When its first record was received, in Unix milliseconds.
    pub first_ms: u64,
    /// When its last record was received.
    pub last_ms: u64,
    /// How many records it has.
    pub records: u32,
    /// The bytes of its text.
    pub text_bytes: u32,
    /// The bytes of its zstd frame, or of all of them.
    pub frame_bytes: u32,
    /// The bytes of its sections and of the filter behind them.
    pub sections_bytes: u32,
    /// `FLAG_SECTIONS_PACKED` and `FLAG_COLUMNAR` where they hold, and the size of the filter.
    pub flags: u32,
    /// XXH64 of the sections and the zstd frame, one after the other.
    pub checksum: u64,
}

impl Head {
    /// Appends the skippable frame up to the sections, which follow.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&HEAD_MAGIC.to_le_bytes());
        let length = HEAD_FIXED_BYTES as u32 + self.sections_bytes;
        out.extend_from_slice(&length.to_le_bytes());
        let start = out.len();
        out.extend_from_slice(TAG);
        out.extend_from_slice(&self.flags.to_le_bytes());
        for number in [self.instance, self.sequence, self.first_ms, self.last_ms] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        for number in [self.records, self.text_bytes, self.frame_bytes, self.sections_bytes] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&self.checksum.to_le_bytes());
        let check = xxh64(&out[start..], 0);
        out.extend_from_slice(&check.to_le_bytes());
    }

    /// Reads the start of a batch: the skippable frame up to its sections. `None` for anything
    /// else, damaged heads included.
    pub fn read(input: &[u8]) -> Option<Head> {
        let mut rest = input.get(..SKIPPABLE_BYTES + HEAD_FIXED_BYTES)?;
        let content = &input[SKIPPABLE_BYTES..SKIPPABLE_BYTES + HEAD_FIXED_BYTES];
        let is_head = u32_of(&mut rest)? == HEAD_MAGIC;
        let length = u32_of(&mut rest)?;
        let (tag, after) = rest.split_at_checked(TAG.len())?;
        rest = after;
        let head = Head {
            flags: u32_of(&mut rest)?,
            instance: u64_of(&mut rest)?,
            sequence: u64_of(&mut rest)?,
            first_ms: u64_of(&mut rest)?,
            last_ms: u64_of(&mut rest)?,
            records: u32_of(&mut rest)?,
            text_bytes: u32_of(&mut rest)?,
            frame_bytes: u32_of(&mut rest)?,
            sections_bytes: u32_of(&mut rest)?,
            checksum: u64_of(&mut rest)?,
        };
        let check = u64_of(&mut rest)?;
        let is_sound = check == xxh64(&content[..HEAD_FIXED_BYTES - 8], 0)
            && length.checked_sub(HEAD_FIXED_BYTES as u32) == Some(head.sections_bytes);
        (is_head && tag == TAG && is_sound).then_some(head)
    }

    /// Whether its text is stored as columns.
    pub fn is_columnar(&self) -> bool {
        self.flags & FLAG_COLUMNAR != 0
    }

    /// Whether a later version wrote it, in a way that this one does not know.
    pub fn is_of_later_version(&self) -> bool {
        self.flags & !FLAGS_KNOWN != 0
    }

    /// Notes that the sections end in a filter of which the bits have this logarithm.
    pub fn flags_of_filter(log: u32) -> u32 {
        log << FILTER_SHIFT
    }

    /// The bytes of the sections without the filter, and of the filter; `None` where the two are
    /// at odds.
    pub fn split_sections(&self) -> Option<(usize, usize)> {
        let sections = self.sections_bytes as usize;
        match (self.flags >> FILTER_SHIFT) & 0xFF {
            0 => Some((sections, 0)),
            log => {
                let filter = filter::filter_bytes(log)?;
                Some((sections.checked_sub(filter)?, filter))
            }
        }
    }

    /// The bytes of the whole batch: head, sections and frame.
    pub fn batch_bytes(&self) -> u64 {
        (SKIPPABLE_BYTES + HEAD_FIXED_BYTES) as u64
            + u64::from(self.sections_bytes)
            + u64::from(self.frame_bytes)
    }
}

/// Takes a little-endian number from the front of the input.
fn u32_of(input: &mut &[u8]) -> Option<u32> {
    let (bytes, rest) = input.split_first_chunk()?;
    *input = rest;
    Some(u32::from_le_bytes(*bytes))
}

/// Takes a little-endian number from the front of the input.
fn u64_of(input: &mut &[u8]) -> Option<u64> {
    let (bytes, rest) = input.split_first_chunk()?;
    *input = rest;
    Some(u64::from_le_bytes(*bytes))
}
