//! The form for files, Kafka and object storage that stock tools read too: the envelope's header
//! in a zstd skippable frame, then one standard zstd or LZ4 frame (spec/interop.md).
//!
//! LZ4 has the same skippable frames. So `zstd -dc` or `lz4 -dc` skips the header and prints the
//! payload, as long as it is verbatim and no dictionary is used, which is all that is written here.

use crate::codec::{Codec, CodecChoice, Compressor, SetupError, codec_named, decoder_of};
use crate::envelope::{FIELD_BASE, FIELD_SCHEMA, Header, UnpackError, checksum};
use crate::limits::PAYLOAD_BYTES_MAX;
use crate::pack::PackError;

/// The magic number of our skippable frame: 0x184D2A5C, little endian, one of the sixteen that
/// RFC 8878 leaves to applications.
pub const INTEROP_MAGIC: [u8; 4] = [0x5C, 0x2A, 0x4D, 0x18];

/// The magic and the length of the skippable frame.
const FRAME_BYTES: usize = 8;

/// What may be chosen, and the codec that this form then uses: the one whose frames are standard.
/// Their ids are those that a reader takes.
const FRAMES: [(&str, &str); 3] =
    [("zstd", "zstd"), ("lz4", "lz4-frame"), ("lz4-frame", "lz4-frame")];

/// Why there is no packer for a choice of codec.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InteropError {
    /// No stock program reads what the codec makes.
    #[error("the interop form takes codec zstd or lz4, not {codec}")]
    Codec {
        /// The codec's name.
        codec: &'static str,
    },
    /// The codec does not have the level, or could not allocate.
    #[error(transparent)]
    Setup(#[from] SetupError),
}

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
    /// A packer for a level of `zstd`, or of `lz4`, which stands for `lz4-frame` here.
    ///
    /// # Errors
    /// Another codec, or a level that the codec does not have.
    pub fn new(choice: &CodecChoice) -> Result<InteropPacker, InteropError> {
        let name = choice.name();
        let frame = FRAMES.iter().find(|(chosen, _)| *chosen == name);
        let codec = frame
            .and_then(|(_, frame)| codec_named(frame))
            .ok_or(InteropError::Codec { codec: name })?;
        Ok(InteropPacker { codec, compressor: codec.compressor(choice.level, None)? })
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
            codec: self.codec.info().id,
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
    let unknown = UnpackError::UnknownCodec { id: header.codec.0 };
    let codec = decoder_of(header.codec)
        .filter(|codec| FRAMES.iter().any(|(_, frame)| *frame == codec.info().name))
        .ok_or(unknown.clone())?;
    if let Some(id) = header.encoding {
        return Err(UnpackError::UnknownEncoding { id: id.0 });
    }
    if let Some(id) = header.dictionary {
        return Err(UnpackError::MissingDictionary { id });
    }
    for field in &header.fields {
        match field.kind {
            FIELD_SCHEMA => return Err(UnpackError::MissingSchema),
            FIELD_BASE => return Err(UnpackError::MissingBase { id: field.base() }),
            _ => {}
        }
    }
    let payload_bytes = header.payload_bytes as usize;
    if payload_bytes > limit_bytes {
        return Err(UnpackError::TooLarge { limit: limit_bytes, got: payload_bytes });
    }
    let mut decompressor = codec.decompressor(None).map_err(|_| unknown)?;
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
    use crate::codec::CodecId;
    use crate::envelope::Field;

    fn packed(choice: &str, payload: &[u8]) -> Vec<u8> {
        let mut packed = Vec::new();
        let choice = CodecChoice::parse(choice).unwrap();
        InteropPacker::new(&choice).unwrap().pack(payload, &mut packed).unwrap();
        packed
    }

    #[test]
    fn the_interop_form_round_trips() {
        for choice in ["zstd:3", "zstd:-5", "lz4:1", "lz4:9", "lz4-frame:12"] {
            for payload in [b"{\"a\":1}".repeat(50), Vec::new(), b"abcdefgh".repeat(40_000)] {
                let packed = packed(choice, &payload);
                assert!(looks_like_interop(&packed));
                let mut out = Vec::new();
                let header = unpack_interop(&packed, payload.len(), &mut out).unwrap();
                let expected = if choice.starts_with("zstd") { 0x16 } else { 0x1C };
                assert_eq!(header.codec, CodecId(expected), "{choice}");
                assert_eq!(out, payload, "{choice}");
            }
        }
    }

    #[test]
    fn the_second_part_is_a_stock_frame() {
        let payload = b"{\"a\":1}".repeat(50);
        let zstd = packed("zstd:3", &payload);
        let mut stock = vec![0; payload.len()];
        let frame = &zstd[FRAME_BYTES + usize::from(zstd[4])..];
        assert_eq!(zstd_safe::decompress(&mut stock[..], frame), Ok(payload.len()));
        assert_eq!(stock, payload);
        // What `lz4 -dc` makes of the other is checked with the program itself, elsewhere.
        let lz4 = packed("lz4:9", &payload);
        assert!(lz4[FRAME_BYTES + usize::from(lz4[4])..].starts_with(b"\x04\x22\x4D\x18"));
    }

    #[test]
    fn other_codecs_are_refused() {
        for name in ["gzip", "zstd-bare", "snappy", "stored"] {
            let choice = CodecChoice::parse(name).unwrap();
            let error = InteropPacker::new(&choice).err();
            assert_eq!(error, Some(InteropError::Codec { codec: choice.name() }));
        }
        let choice = CodecChoice { level: 13, ..CodecChoice::parse("lz4").unwrap() };
        assert!(matches!(InteropPacker::new(&choice).err(), Some(InteropError::Setup(_))));
    }

    #[test]
    fn a_frame_of_the_other_kind_is_damage() {
        let payload = b"{\"a\":1}".repeat(20);
        for (head, body) in [("zstd", "lz4"), ("lz4", "zstd")] {
            let (head, body) = (packed(head, &payload), packed(body, &payload));
            let part = |packed: &[u8]| FRAME_BYTES + usize::from(packed[4]);
            let forged = [&head[..part(&head)], &body[part(&body)..]].concat();
            let error = unpack_interop(&forged, 1_000, &mut Vec::new()).unwrap_err();
            assert_eq!(error.code(), "damaged");
        }
    }

    #[test]
    fn what_needs_a_schema_or_a_base_is_not_handed_out() {
        for (kind, error) in [
            (FIELD_SCHEMA, UnpackError::MissingSchema),
            (FIELD_BASE, UnpackError::MissingBase { id: Some(0x0807_0605_0403_0201) }),
        ] {
            let packed = packed("zstd:3", &b"{\"a\":1}".repeat(20));
            let (mut header, length) = Header::read(&packed[FRAME_BYTES..]).unwrap();
            header.fields = vec![Field { kind, value: (1..=8).collect() }];
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
        for choice in ["zstd", "lz4"] {
            let packed = packed(choice, &b"abc".repeat(30));
            for length in 0..packed.len() {
                let cut = unpack_interop(&packed[..length], 1_000, &mut Vec::new());
                assert!(cut.is_err(), "{choice}: {length}");
            }
            let small = unpack_interop(&packed, 89, &mut Vec::new());
            assert_eq!(small, Err(UnpackError::TooLarge { limit: 89, got: 90 }));
        }
    }
}
