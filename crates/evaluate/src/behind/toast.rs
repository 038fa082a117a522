//! PostgreSQL: rows in pages of 8 KiB, long values compressed one by one and moved out of the row
//! (TOAST).
//!
//! Modelled is a table of a bigint key and the payload in a column of type bytea, text or json with
//! storage EXTENDED, which is their default. Counted are the rows, with the four bytes that each
//! takes in its page's directory, and for values out of line the rows of their chunks and the
//! entries of the chunks' index. The payload's key index, page headers and what remains free in
//! pages are the same with and without packing, nearly, and are not counted.

use super::squeeze::Squeeze;
use super::{BehindError, Stored, pglz};

/// A row up to this many bytes is left as it is: TOAST_TUPLE_THRESHOLD, a quarter of a page.
const ROW_BYTES_MAX: usize = 2032;

/// The header of a row, and the key of eight bytes after it.
const ROW_HEADER_BYTES: usize = 24;
const KEY_BYTES: usize = 8;

/// The bytes of a row in its page's directory.
const LINE_POINTER_BYTES: usize = 4;

/// The header of a value in a row, and its form for short values, the longest of which has
/// [`SHORT_VALUE_BYTES_MAX`] bytes.
const VALUE_HEADER_BYTES: usize = 4;
const SHORT_VALUE_HEADER_BYTES: usize = 1;
const SHORT_VALUE_BYTES_MAX: usize = 126;

/// What a compressed value has beside its bytes: header, method and original length.
const COMPRESSED_HEADER_BYTES: usize = 8;

/// Compression has to win more than this many bytes over the bare value to be kept.
const GAIN_BYTES_MIN: usize = 2;

/// What remains in the row of a value out of line.
const POINTER_BYTES: usize = 18;

/// The data of a chunk: TOAST_MAX_CHUNK_SIZE.
const CHUNK_BYTES: usize = 1996;

/// What the row of a chunk has before its data: header, value id, chunk number, length.
const CHUNK_HEADER_BYTES: usize = ROW_HEADER_BYTES + 4 + 4 + VALUE_HEADER_BYTES;

/// The entry of a chunk in the chunks' index, with its line pointer.
const CHUNK_INDEX_BYTES: usize = 20;

/// How PostgreSQL keeps one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Value {
    /// What pg_column_size tells of it.
    column_bytes: usize,
    is_compressed: bool,
    is_out_of_line: bool,
}

impl Value {
    /// A value of this length, and the length that it is compressed to if it is.
    fn new(
        length: usize,
        compress: impl FnOnce() -> Result<Option<usize>, BehindError>,
    ) -> Result<Value, BehindError> {
        let plain = match length {
            0..=SHORT_VALUE_BYTES_MAX => length + SHORT_VALUE_HEADER_BYTES,
            _ => length + VALUE_HEADER_BYTES,
        };
        if row_bytes(plain) <= ROW_BYTES_MAX {
            return Ok(Value { column_bytes: plain, is_compressed: false, is_out_of_line: false });
        }
        let compressed = compress()?
            .map(|compressed| compressed + COMPRESSED_HEADER_BYTES)
            .filter(|&bytes| bytes + GAIN_BYTES_MIN < length);
        let bytes = compressed.unwrap_or(plain);
        let is_out_of_line = row_bytes(bytes) > ROW_BYTES_MAX;
        // Out of line the length stands in the pointer and not before the data.
        let column_bytes = if is_out_of_line { bytes - VALUE_HEADER_BYTES } else { bytes };
        Ok(Value { column_bytes, is_compressed: compressed.is_some(), is_out_of_line })
    }

    /// What it takes in the files of the table.
    fn bytes_at_rest(&self) -> usize {
        if !self.is_out_of_line {
            return LINE_POINTER_BYTES + aligned(row_bytes(self.column_bytes));
        }
        let chunk = |data: usize| {
            LINE_POINTER_BYTES + aligned(CHUNK_HEADER_BYTES + data) + CHUNK_INDEX_BYTES
        };
        let rest = self.column_bytes % CHUNK_BYTES;
        let chunks = self.column_bytes / CHUNK_BYTES * chunk(CHUNK_BYTES)
            + if rest > 0 { chunk(rest) } else { 0 };
        LINE_POINTER_BYTES + aligned(row_bytes(POINTER_BYTES)) + chunks
    }
}

fn row_bytes(value_bytes: usize) -> usize {
    ROW_HEADER_BYTES + KEY_BYTES + value_bytes
}

/// Rows start at multiples of eight bytes.
fn aligned(bytes: usize) -> usize {
    bytes.next_multiple_of(8)
}

/// What the store makes of payloads with default_toast_compression = pglz.
pub(super) fn with_pglz(payloads: &[&[u8]]) -> Result<Stored, BehindError> {
    stored(payloads, |payload| Ok(pglz::compress(payload).map(|bytes| bytes.len())))
}

/// What the store makes of payloads with default_toast_compression = lz4.
pub(super) fn with_lz4(payloads: &[&[u8]]) -> Result<Stored, BehindError> {
    let mut lz4 = Squeeze::new("lz4:1")?;
    stored(payloads, |payload| lz4.length(payload).map(Some))
}

fn stored(
    payloads: &[&[u8]],
    mut compress: impl FnMut(&[u8]) -> Result<Option<usize>, BehindError>,
) -> Result<Stored, BehindError> {
    let mut stored = Stored::default();
    for payload in payloads {
        let value = Value::new(payload.len(), || compress(payload))?;
        stored.network_bytes += payload.len() as u64;
        stored.at_rest_bytes += value.bytes_at_rest() as u64;
        stored.pieces += 1;
        stored.pieces_as_they_are += u64::from(!value.is_compressed);
    }
    Ok(stored)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(length: usize, compressed: Option<usize>) -> Value {
        Value::new(length, || Ok(compressed)).unwrap()
    }

    #[test]
    fn rows_up_to_a_quarter_of_a_page_are_left_as_they_are() {
        // 24 of header, 8 of key, 4 of length: 1,996 bytes make a row of 2,032.
        assert!(!value(1_996, Some(10)).is_compressed);
        assert_eq!(value(1_996, Some(10)).bytes_at_rest(), 2_036);
        assert!(value(1_997, Some(10)).is_compressed);
        assert_eq!(value(1_997, Some(10)).bytes_at_rest(), 4 + 56);
        assert_eq!(value(126, None).column_bytes, 127);
        assert_eq!(value(127, None).column_bytes, 131);
    }

    #[test]
    fn what_is_still_long_goes_out_of_line_in_chunks() {
        let long = value(10_000, Some(3_992));
        assert!(long.is_compressed && long.is_out_of_line);
        assert_eq!(long.column_bytes, 3_996);
        // Two whole chunks and one of 4 bytes; the row keeps 24 + 8 + 18 bytes.
        assert_eq!(long.bytes_at_rest(), (4 + 56) + 2 * (4 + 2_032 + 20) + (4 + 40 + 20));
        let plain = value(10_000, None);
        assert_eq!((plain.column_bytes, plain.is_compressed), (10_000, false));
        // A gain of two bytes is none.
        assert!(!value(10_000, Some(9_990)).is_compressed);
        assert!(value(10_000, Some(9_989)).is_compressed);
    }
}
