//! WiredTiger, the engine of MongoDB: documents share leaf pages, and each page is compressed when
//! it is written.
//!
//! A page in memory may be up to four times as large as one on disk (memory_page_image_max). How
//! full it gets is steered by what the last pages became, so that they come out just below the
//! size on disk; that is followed here in steps of a tenth. What compression can't shrink by a
//! unit of allocation is written as it is. Documents are taken in the order of the corpus, as
//! inserts in the order of their keys are; what stands around a payload (record id, BSON) is not
//! counted.

use super::squeeze::Squeeze;
use super::{BehindError, Stored};

/// A leaf page on disk: leaf_page_max of MongoDB's collections.
const PAGE_BYTES: usize = 32 << 10;

/// A page in memory: four times as much.
const PAGE_IMAGE_BYTES_MAX: usize = 4 * PAGE_BYTES;

/// By how much the size of a page in memory is changed after a page is written.
const ADJUSTMENT_BYTES: usize = PAGE_BYTES / 10;

/// What is written is a multiple of this: allocation_size.
const ALLOCATION_BYTES: usize = 4 << 10;

/// The headers of page and block, which are never compressed.
const HEADER_BYTES: usize = 64;

/// Documents in pages that are compressed with zstd at level 6, MongoDB's default for it.
pub(super) fn with_zstd(payloads: &[&[u8]]) -> Result<Stored, BehindError> {
    stored(payloads, "zstd:6")
}

/// Documents in pages that are compressed with Snappy, MongoDB's default.
pub(super) fn with_snappy(payloads: &[&[u8]]) -> Result<Stored, BehindError> {
    stored(payloads, "snappy")
}

/// Documents in pages that are compressed with zlib at level 6, MongoDB's default for it.
pub(super) fn with_zlib(payloads: &[&[u8]]) -> Result<Stored, BehindError> {
    stored(payloads, "zlib:6")
}

fn stored(payloads: &[&[u8]], codec: &str) -> Result<Stored, BehindError> {
    let mut writer = Writer {
        squeeze: Squeeze::new(codec)?,
        page: Vec::new(),
        image_bytes: PAGE_IMAGE_BYTES_MAX,
        stored: Stored::default(),
    };
    for payload in payloads {
        // A document never straddles pages; one that is longer has a page of its own.
        if !writer.page.is_empty() && writer.page.len() + payload.len() > writer.image_bytes {
            writer.write_page()?;
        }
        writer.page.extend_from_slice(payload);
        writer.stored.network_bytes += payload.len() as u64;
    }
    if !writer.page.is_empty() {
        writer.write_page()?;
    }
    Ok(writer.stored)
}

struct Writer {
    squeeze: Squeeze,
    page: Vec<u8>,
    /// How large a page in memory may get now.
    image_bytes: usize,
    stored: Stored,
}

impl Writer {
    fn write_page(&mut self) -> Result<(), BehindError> {
        let allocated = |bytes: usize| (HEADER_BYTES + bytes).next_multiple_of(ALLOCATION_BYTES);
        let compressed = self.squeeze.length(&self.page)?;
        let (plain, packed) = (allocated(self.page.len()), allocated(compressed));
        let is_compressed = packed < plain;
        self.stored.at_rest_bytes += packed.min(plain) as u64;
        self.stored.pieces += 1;
        self.stored.pieces_as_they_are += u64::from(!is_compressed);
        let written = if is_compressed { compressed } else { self.page.len() };
        let image_bytes = if written > PAGE_BYTES {
            self.image_bytes - ADJUSTMENT_BYTES
        } else if written < PAGE_BYTES - ADJUSTMENT_BYTES {
            self.image_bytes + ADJUSTMENT_BYTES
        } else {
            self.image_bytes
        };
        self.image_bytes = image_bytes.clamp(PAGE_BYTES, PAGE_IMAGE_BYTES_MAX);
        self.page.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::noise;
    use super::*;

    #[test]
    fn what_does_not_shrink_is_written_as_it_is_in_whole_units() {
        let payloads: Vec<Vec<u8>> = (0..200).map(|seed| noise(seed, 3_000)).collect();
        let payloads: Vec<&[u8]> = payloads.iter().map(Vec::as_slice).collect();
        let found = with_zstd(&payloads).unwrap();
        assert_eq!(found.network_bytes, 600_000);
        assert_eq!(found.pieces_as_they_are, found.pieces);
        assert_eq!(found.at_rest_bytes % 4096, 0);
        // A unit is lost in each page at most, and the pages shrink to 32 KiB.
        assert!(found.at_rest_bytes > 600_000 && found.at_rest_bytes < 720_000, "{found:?}");
    }

    #[test]
    fn pages_grow_to_four_times_their_size_on_disk_where_they_shrink_well() {
        let document = br#"{"state":"delivered"}"#.as_slice();
        // As many as fill 16 pages of 128 KiB in memory.
        let payloads = vec![document; 16 * (PAGE_IMAGE_BYTES_MAX / document.len())];
        let found = with_snappy(&payloads).unwrap();
        assert_eq!(found.pieces, 16);
        assert_eq!(found.pieces_as_they_are, 0);
        // One document longer than a page has one of its own.
        let long = noise(1, 1_000_000);
        assert_eq!(with_zlib(&[&long, b"short"]).unwrap().pieces, 2);
    }
}
