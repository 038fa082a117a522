//! The form for files, Kafka and object storage that stock tools read too: the envelope's header
//! in a zstd skippable frame, then one standard zstd frame (spec/interop.md).
//!
//! `zstd -dc` skips the header and prints the payload, as long as it is verbatim and no dictionary
//! is used, which is all that is written here.

use crate::codec::{Codec, CodecId, Compressor, SetupError, decoder_of};
use crate::envelope::{FIELD_BASE, FIELD_SCHEMA, Header, UnpackError, checksum};
use crate::limits::PAYLOAD_BYTES_MAX;
use crate::pack::PackError;

/// The magic number of our skippable frame: 0x184D2A5C, little endian, one of the sixteen that
/// RFC 8878 leaves to applications.
pub const INTEROP_MAGIC: [u8; 4] = [0x5C, 0x2A, 0x4D, 0x18];

/// The magic and the length of the skippable frame.
const FRAME_BYTES: usize = 8;

/// The decoder of standard zstd frames.
const ZSTD: CodecId = CodecId(0x16);

/// Whether bytes start like the interop form.
pub fn looks_like_interop(bytes: &[u8]) -> bool {
    bytes.starts_with(&INTEROP_MAGIC)
}

/// Packs payloads into the interop form.
pub struct InteropPacker {
    codec: &'static dyn Codec,
    compressor: Box<dyn Compressor>,
}

impl InteropPacker {
    /// A packer at a zstd level.
    ///
    /// # Errors
    /// Where zstd has no such level.
    pub fn new(level: i32) -> Result<InteropPacker, SetupError> {
        let codec = decoder_of(ZSTD).ok_or(SetupError::OutOfMemory { codec: "zstd" })?;
        Ok(InteropPacker { codec, compressor: codec.compressor(level, None)? })
    }

    /// Packs one payload into `out`, whose content is replaced.
    ///
    /// # Errors
    /// [`PackError`] above [`PAYLOAD_BYTES_MAX`] or where the codec fails.
    pub fn pack(&mut self, payload: &[u8], out: &mut Vec<u8>) -> Result<(), PackError> {
        out.clear();
        if payload.len() > PAYLOAD_BYTES_MAX {
            return Err(PackError::TooLarge { limit: PAYLOAD_BYTES_MAX, got: payload.len() });
        }
        out.extend_from_slice(&INTEROP_MAGIC);
        out.extend_from_slice(&[0; 4]);
        let header = Header {
            codec: ZSTD,
            encoding: None,
            payload_bytes: payload.len() as u32,
            dictionary: None,
            checksum: Some(checksum(payload)),
            fields: Vec::new(),
        };
        let header_bytes = header.write(out).unwrap_or_default();
        out[4..FRAME_BYTES].copy_from_slice(&(header_bytes as u32).to_le_bytes());
        let start = out.len();
        out.resize(start + self.codec.compress_bound(payload.len()), 0);
        let length = self.compressor.compress(payload, &mut out[start..])?;
        out.truncate(start + length);
        Ok(())
    }
}

/// Unpacks the interop form into `out`, whose content is replaced, and returns its header.
///
/// # Errors
/// Every [`UnpackError`]; `out` is then empty.
pub fn unpack_interop(
    bytes: &[u8],
    limit_bytes: usize,
    out: &mut Vec<u8>,
) -> Result<Header, UnpackError> {
    out.clear();
    let result = unpack_into(bytes, limit_bytes, out);
    if result.is_err() {
        out.clear();
    }
    result
}

fn unpack_into(bytes: &[u8], limit_bytes: usize, out: &mut Vec<u8>) -> Result<Header, UnpackError> {
    let rest = bytes.strip_prefix(&INTEROP_MAGIC).ok_or(UnpackError::NotAnEnvelope)?;
    let (length, rest) = rest
        .split_first_chunk::<4>()
        .ok_or(UnpackError::damaged("the end inside the header", bytes.len()))?;
    let length = u32::from_le_bytes(*length) as usize;
    let header_bytes =
        rest.get(..length).ok_or(UnpackError::damaged("the end inside the header", bytes.len()))?;
    let (header, header_length) = Header::read(header_bytes)?;
    let body_at = FRAME_BYTES + length;
    if header_length != length {
        return Err(UnpackError::damaged("bytes left over in the header", body_at));
    }
    if header.codec != ZSTD {
        return Err(UnpackError::UnknownCodec { id: header.codec.0 });
    }
    if let Some(id) = header.encoding {
        return Err(UnpackError::UnknownEncoding { id: id.0 });
    }
    if let Some(id) = header.dictionary {
        return Err(UnpackError::MissingDictionary { id });
    }
    for field in &header.fields {
        match field.kind {
            FIELD_SCHEMA => return Err(UnpackError::MissingSchema),
            FIELD_BASE => return Err(UnpackError::MissingBase),
            _ => {}
        }
    }
    let payload_bytes = header.payload_bytes as usize;
    if payload_bytes > limit_bytes {
        return Err(UnpackError::TooLarge { limit: limit_bytes, got: payload_bytes });
    }
    let mut decompressor = decoder_of(ZSTD)
        .and_then(|codec| codec.decompressor(None).ok())
        .ok_or(UnpackError::UnknownCodec { id: ZSTD.0 })?;
    out.resize(payload_bytes, 0);
    decompressor
        .decompress_exact(&rest[length..], out)
        .map_err(|error| UnpackError::of_body(&error, body_at))?;
    match header.checksum {
        Some(expected) if checksum(out) != expected => {
            Err(UnpackError::ChecksumMismatch { expected, got: checksum(out) })
        }
        _ => Ok(header),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envelope::Field;

    #[test]
    fn the_interop_form_round_trips_and_its_second_part_is_a_stock_frame() {
        let payload = b"{\"a\":1}".repeat(50);
        let mut packed = Vec::new();
        InteropPacker::new(3).unwrap().pack(&payload, &mut packed).unwrap();
        let mut out = Vec::new();
        unpack_interop(&packed, payload.len(), &mut out).unwrap();
        assert_eq!(out, payload);
        let frame = &packed[FRAME_BYTES + usize::from(packed[4])..];
        let mut stock = vec![0; payload.len()];
        assert_eq!(zstd_safe::decompress(&mut stock[..], frame), Ok(payload.len()));
        assert_eq!(stock, payload);
    }

    #[test]
    fn what_needs_a_schema_or_a_base_is_not_handed_out() {
        for (kind, error) in
            [(FIELD_SCHEMA, UnpackError::MissingSchema), (FIELD_BASE, UnpackError::MissingBase)]
        {
            let payload = b"{\"a\":1}".repeat(20);
            let mut packed = Vec::new();
            InteropPacker::new(3).unwrap().pack(&payload, &mut packed).unwrap();
            let (mut header, length) = Header::read(&packed[FRAME_BYTES..]).unwrap();
            header.fields = vec![Field { kind, value: vec![1] }];
            let mut forged = packed[..FRAME_BYTES].to_vec();
            forged[4] = header.write(&mut forged).unwrap() as u8;
            forged.extend_from_slice(&packed[FRAME_BYTES + length..]);
            let mut out = Vec::new();
            assert_eq!(unpack_interop(&forged, 1_000, &mut out), Err(error));
            assert!(out.is_empty());
        }
    }

    #[test]
    fn no_truncation_is_read() {
        let mut packed = Vec::new();
        InteropPacker::new(3).unwrap().pack(&b"abc".repeat(30), &mut packed).unwrap();
        for length in 0..packed.len() {
            assert!(unpack_interop(&packed[..length], 1_000, &mut Vec::new()).is_err());
        }
        let small = unpack_interop(&packed, 89, &mut Vec::new());
        assert_eq!(small, Err(UnpackError::TooLarge { limit: 89, got: 90 }));
    }
}
