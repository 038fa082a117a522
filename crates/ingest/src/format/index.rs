//! The index at the end of a closed file: where each batch starts and what its head says of time
//! and size, so that a reader of one hour's end need not walk through its start.

use xxhash_rust::xxh64::xxh64;

use super::{Head, SKIPPABLE_BYTES, u32_of, u64_of};

/// The magic of an index, another one of those that zstd skips.
pub const INDEX_MAGIC: u32 = 0x184D_2A5D;

const TAG: &[u8; 4] = b"cLI1";

/// The bytes of one row.
const ROW_BYTES: usize = 8 + 8 + 8 + 4 + 4;

/// The bytes behind the rows: their checksum, the length of the whole frame, and the tag again, so
/// that the index is found from the end of the file.
const TAIL_BYTES: usize = 8 + 4 + 4;

/// In the bytes of a text, which are fewer, says that the batch is columnar.
const COLUMNAR_BIT: u32 = 1 << 31;

/// A row of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexEntry {
    /// Where the batch starts in the file.
    pub offset: u64,
    /// When its first record was received, in Unix milliseconds.
    pub first_ms: u64,
    /// When its last record was received.
    pub last_ms: u64,
    /// How many records it has.
    pub records: u32,
    /// The bytes of its text.
    pub text_bytes: u32,
    /// Whether its text is stored as columns, which `zstd -dc` does not turn back.
    pub is_columnar: bool,
}

/// The batches of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Index {
    /// In the order of the file.
    pub entries: Vec<IndexEntry>,
}

impl Index {
    /// Adds a batch that starts there.
    pub fn add(&mut self, offset: u64, head: &Head) {
        self.entries.push(IndexEntry {
            offset,
            first_ms: head.first_ms,
            last_ms: head.last_ms,
            records: head.records,
            text_bytes: head.text_bytes,
            is_columnar: head.is_columnar(),
        });
    }

    /// The skippable frame.
    pub fn write(&self) -> Vec<u8> {
        let length = TAG.len() + self.entries.len() * ROW_BYTES + TAIL_BYTES;
        let mut out = Vec::with_capacity(SKIPPABLE_BYTES + length);
        out.extend_from_slice(&INDEX_MAGIC.to_le_bytes());
        out.extend_from_slice(&(length as u32).to_le_bytes());
        out.extend_from_slice(TAG);
        for entry in &self.entries {
            for number in [entry.offset, entry.first_ms, entry.last_ms] {
                out.extend_from_slice(&number.to_le_bytes());
            }
            out.extend_from_slice(&entry.records.to_le_bytes());
            let form = if entry.is_columnar { COLUMNAR_BIT } else { 0 };
            out.extend_from_slice(&(entry.text_bytes | form).to_le_bytes());
        }
        let check = xxh64(&out[SKIPPABLE_BYTES..], 0);
        out.extend_from_slice(&check.to_le_bytes());
        let whole = (SKIPPABLE_BYTES + length) as u32;
        out.extend_from_slice(&whole.to_le_bytes());
        out.extend_from_slice(TAG);
        out
    }

    /// The bytes of the frame that ends with these bytes, which are the last `TAIL_READ_BYTES` of a
    /// file; `None` where it does not end in an index.
    pub fn length_at_end(tail: &[u8]) -> Option<u64> {
        let (_, mut rest) = tail.split_at_checked(tail.len().checked_sub(8)?)?;
        let length = u32_of(&mut rest)?;
        (rest == TAG).then_some(u64::from(length))
    }

    /// Reads the whole frame; `None` where it is none or damaged.
    pub fn read(frame: &[u8]) -> Option<Index> {
        let rows_end = frame.len().checked_sub(TAIL_BYTES)?;
        let content = frame.get(SKIPPABLE_BYTES..rows_end)?;
        let mut tail = &frame[rows_end..];
        let mut start = frame;
        let is_index = u32_of(&mut start)? == INDEX_MAGIC
            && u32_of(&mut start)? as usize == frame.len() - SKIPPABLE_BYTES
            && u64_of(&mut tail)? == xxh64(content, 0);
        let mut rows = content.strip_prefix(TAG)?;
        if !is_index || rows.len() % ROW_BYTES != 0 {
            return None;
        }
        let mut entries = Vec::with_capacity(rows.len() / ROW_BYTES);
        while !rows.is_empty() {
            let (offset, first_ms) = (u64_of(&mut rows)?, u64_of(&mut rows)?);
            let (last_ms, records) = (u64_of(&mut rows)?, u32_of(&mut rows)?);
            let text_bytes = u32_of(&mut rows)?;
            entries.push(IndexEntry {
                offset,
                first_ms,
                last_ms,
                records,
                text_bytes: text_bytes & !COLUMNAR_BIT,
                is_columnar: text_bytes & COLUMNAR_BIT != 0,
            });
        }
        Some(Index { entries })
    }
}
