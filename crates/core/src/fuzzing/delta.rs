//! The bodies of the fuzz targets about deltas: what a body and a base may be, and that a version
//! comes back.

use super::{INPUT_BYTES_MAX, OUTPUT_BYTES_MAX, pick};
use crate::codec::CODECS;
use crate::encoding::encoding_named;
use crate::envelope::{FIELD_BASE, Field, Header, UnpackError, base_id};
use crate::pack::{DeltaOutcome, Packer, Unpacker};
use crate::profile::Profile;

/// Any bytes as the body of a delta against any other bytes unpack to as many bytes as announced,
/// or are refused with nothing handed out. The first byte picks the row of `CODECS`, the next two
/// are the length of the payload, and the two after them that of the base.
pub fn delta_any(bytes: &[u8]) {
    let &[row, low, high, base_low, base_high, ref rest @ ..] = bytes else { return };
    let base_bytes = usize::from(u16::from_le_bytes([base_low, base_high])).min(rest.len());
    let (base, body) = rest.split_at(base_bytes);
    let codec = pick(CODECS, row).info();
    let mut header = Header {
        codec: codec.id,
        encoding: None,
        payload_bytes: u32::from(u16::from_le_bytes([low, high])),
        dictionary: None,
        checksum: Some(0),
        fields: vec![Field { kind: FIELD_BASE, value: base_id(base).to_le_bytes().into() }],
    };
    let error = match unpack(base, &header, body) {
        // Its checksum may be 0.
        Ok(()) => return,
        Err(error) => error,
    };
    if !codec.takes_prefix {
        assert!(matches!(error, UnpackError::Damaged { .. }), "{}: {error:?}", codec.name);
    }
    // With the checksum that it should have had, it is sound.
    if let UnpackError::ChecksumMismatch { got, .. } = error {
        header.checksum = Some(got);
        assert_eq!(unpack(base, &header, body), Ok(()), "{}", codec.name);
    }
    // Another base is never used.
    let other = [base, b"?"].concat();
    let missing = Err(UnpackError::MissingBase { id: Some(base_id(base)) });
    assert_eq!(unpack(&other, &header, body), missing);
}

fn unpack(base: &[u8], header: &Header, body: &[u8]) -> Result<(), UnpackError> {
    let mut envelope = Vec::new();
    let Some(_) = header.write(&mut envelope) else { unreachable!("the header is short") };
    envelope.extend_from_slice(body);
    let mut unpacker = Unpacker::new([]).with_limit(OUTPUT_BYTES_MAX);
    let mut out = b"left over".to_vec();
    let verdict = unpacker.unpack_against(|_| Some(base), &envelope, &mut out);
    match &verdict {
        Ok(_) => assert_eq!(out.len(), header.payload_bytes as usize),
        Err(error) => assert!(out.is_empty(), "bytes handed out beside {error:?}"),
    }
    // A context that has met this envelope before gives the same answer.
    let mut again = Vec::new();
    assert_eq!(unpacker.unpack_against(|_| Some(base), &envelope, &mut again), verdict);
    assert_eq!(out, again);
    verdict.map(drop)
}

/// A version in which a part has moved to the end comes back, as a delta or not. The first byte
/// picks the level, the next two say where the part starts.
pub fn delta_roundtrip(bytes: &[u8]) {
    let &[level, low, high, ref previous @ ..] = bytes else { return };
    if previous.len() > INPUT_BYTES_MAX {
        return;
    }
    let at = usize::from(u16::from_le_bytes([low, high])).min(previous.len());
    let (first, second) = previous.split_at(at);
    let payload = [second, first].concat();
    let (Some(encoding), Ok(mut choice)) =
        (encoding_named("verbatim"), crate::codec::CodecChoice::parse("zstd"))
    else {
        unreachable!("both are in their registries")
    };
    let levels = choice.codec.info().levels;
    choice.level = levels.min + i32::from(level) % (levels.max - levels.min + 1);
    let profile = Profile { min_size_bytes: 0, min_gain: 0.0, ..Profile::new(encoding, choice) };
    let Ok(mut packer) = Packer::new(&profile) else { unreachable!("the level is the codec's") };
    let (mut packed, mut unpacked) = (Vec::new(), Vec::new());
    let Ok(outcome) = packer.pack_against(previous, &payload, &mut packed) else { return };
    let mut unpacker = Unpacker::new([]);
    let read = unpacker.read_against(|_| Some(previous), &packed, &mut unpacked);
    assert!(read.is_ok() && unpacked == payload, "{outcome:?}: {read:?}");
    if let DeltaOutcome::Delta { base } = outcome {
        let alone = unpacker.read(&packed, &mut unpacked);
        assert_eq!(alone, Err(UnpackError::MissingBase { id: Some(base) }));
    }
}
