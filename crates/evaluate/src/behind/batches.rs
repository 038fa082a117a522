//! Kafka: the producer compresses whole batches of records, and the broker keeps them as they came.
//!
//! A batch is closed when its size after compression is estimated at batch.size, by the ratio of
//! the batches before and five percent to be safe; the estimate falls slowly and rises quickly, as
//! the producer's does. Batches are taken to be full, which they are where records come faster
//! than linger.ms; with less to send, batches are smaller and compress less. Records are written
//! as they are in a batch of version 2, without key and headers.

use super::squeeze::Squeeze;
use super::{BehindError, Stored};

/// What a batch holds: batch.size of the producer.
const BATCH_BYTES: f64 = 16_384.0;

/// The header of a batch, which is not compressed.
const BATCH_HEADER_BYTES: usize = 61;

/// The estimate is raised by this factor before a batch is closed by it.
const ESTIMATE_FACTOR: f64 = 1.05;

/// The most that the estimated ratio falls after a batch that came out smaller …
const RATIO_STEP_DOWN: f64 = 0.005;

/// … and the least that it rises after one that came out larger.
const RATIO_STEP_UP: f64 = 0.05;

/// Java's Snappy stream: a header, and blocks of 32 KiB with their lengths.
const SNAPPY_HEADER_BYTES: usize = 16;
const SNAPPY_BLOCK_BYTES: usize = 32 << 10;
const SNAPPY_LENGTH_BYTES: usize = 4;

/// Batches with compression.type = gzip, at level 6.
pub(super) fn with_gzip(payloads: &[&[u8]]) -> Result<Stored, BehindError> {
    stored(payloads, "gzip:6")
}

/// Batches with compression.type = snappy.
pub(super) fn with_snappy(payloads: &[&[u8]]) -> Result<Stored, BehindError> {
    let mut snappy = Squeeze::new("snappy")?;
    batches(payloads, |records| {
        records.chunks(SNAPPY_BLOCK_BYTES).try_fold(SNAPPY_HEADER_BYTES, |bytes, block| {
            Ok(bytes + SNAPPY_LENGTH_BYTES + snappy.length(block)?)
        })
    })
}

/// Batches with compression.type = lz4, by its fast compressor.
pub(super) fn with_lz4(payloads: &[&[u8]]) -> Result<Stored, BehindError> {
    stored(payloads, "lz4-frame:1")
}

/// Batches with compression.type = zstd, at level 3.
pub(super) fn with_zstd(payloads: &[&[u8]]) -> Result<Stored, BehindError> {
    stored(payloads, "zstd:3")
}

fn stored(payloads: &[&[u8]], codec: &str) -> Result<Stored, BehindError> {
    let mut squeeze = Squeeze::new(codec)?;
    batches(payloads, |records| squeeze.length(records))
}

fn batches(
    payloads: &[&[u8]],
    mut compress: impl FnMut(&[u8]) -> Result<usize, BehindError>,
) -> Result<Stored, BehindError> {
    let mut stored = Stored::default();
    let mut ratio: f64 = 1.0;
    let (mut records, mut count) = (Vec::new(), 0);
    let mut close = |records: &mut Vec<u8>, ratio: &mut f64| -> Result<(), BehindError> {
        let compressed = compress(records)?;
        let bytes = (BATCH_HEADER_BYTES + compressed) as u64;
        stored.network_bytes += bytes;
        stored.at_rest_bytes += bytes;
        stored.pieces += 1;
        stored.pieces_as_they_are += u64::from(compressed >= records.len());
        let observed = compressed as f64 / records.len() as f64;
        *ratio = if observed > *ratio {
            observed.max(*ratio + RATIO_STEP_UP)
        } else {
            observed.max(*ratio - RATIO_STEP_DOWN)
        };
        records.clear();
        Ok(())
    };
    for payload in payloads {
        let estimated = (BATCH_HEADER_BYTES as f64)
            + (records.len() + payload.len()) as f64 * ratio * ESTIMATE_FACTOR;
        if !records.is_empty() && estimated > BATCH_BYTES {
            close(&mut records, &mut ratio)?;
            count = 0;
        }
        push_record(&mut records, count, payload);
        count += 1;
    }
    if !records.is_empty() {
        close(&mut records, &mut ratio)?;
    }
    Ok(stored)
}

/// Appends a record: length, attributes, time and place in the batch, no key, value, no headers.
fn push_record(records: &mut Vec<u8>, place: i64, payload: &[u8]) {
    let mut body = vec![0];
    push_varint(&mut body, 0);
    push_varint(&mut body, place);
    push_varint(&mut body, -1);
    push_varint(&mut body, payload.len() as i64);
    let headers = 1;
    push_varint(records, (body.len() + payload.len() + headers) as i64);
    records.extend_from_slice(&body);
    records.extend_from_slice(payload);
    push_varint(records, 0);
}

/// A signed number in zigzag form, seven bits a byte.
fn push_varint(bytes: &mut Vec<u8>, value: i64) {
    let mut rest = ((value << 1) ^ (value >> 63)) as u64;
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

#[cfg(test)]
mod tests {
    use super::super::tests::noise;
    use super::*;

    #[test]
    fn a_record_has_seven_bytes_around_a_short_payload() {
        let mut records = Vec::new();
        push_record(&mut records, 0, b"abc");
        // Length 9, attributes, time 0, place 0, no key (-1 is 1), length 3, …, no headers.
        assert_eq!(records, [18, 0, 0, 0, 1, 6, b'a', b'b', b'c', 0]);
        let mut bytes = Vec::new();
        push_varint(&mut bytes, 150);
        assert_eq!(bytes, [0xAC, 0x02]);
    }

    #[test]
    fn batches_grow_as_the_producer_learns_that_they_shrink() {
        let payloads = vec![b"{\"state\":\"delivered\",\"carrier\":\"bike\"}".as_slice(); 50_000];
        let found = with_zstd(&payloads).unwrap();
        assert_eq!(found.network_bytes, found.at_rest_bytes);
        let bytes: usize = payloads.iter().map(|payload| payload.len() + 8).sum();
        // The first batches hold 16 KB of records; later ones many times that.
        assert!(found.pieces < (bytes / 16_384) as u64, "{found:?}");
        assert_eq!(found.shrunk_share(), 1.0);
    }

    #[test]
    fn what_does_not_shrink_costs_headers_with_every_codec() {
        let payloads: Vec<Vec<u8>> = (0..100).map(|seed| noise(seed, 1_000)).collect();
        let payloads: Vec<&[u8]> = payloads.iter().map(Vec::as_slice).collect();
        for with in [with_gzip, with_snappy, with_lz4, with_zstd] {
            let found = with(&payloads).unwrap();
            assert!((100_000..103_000).contains(&found.network_bytes), "{found:?}");
        }
    }
}
