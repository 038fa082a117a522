//! Finds the end of a zstd frame from its header and block headers (RFC 8878, section 3.1.1),
//! without decoding: the library finds it only for frames with a magic, and we refuse what follows
//! either kind. It reads three bytes per block of up to 128 KiB and allocates nothing.

use super::Format;

const MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];
const CHECKSUM_BYTES: usize = 4;

/// A frame at the start of some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame {
    /// Its length in bytes, magic to checksum.
    pub(super) length: usize,
    /// The dictionary it names, or zero.
    pub(super) dictionary_id: u32,
}

/// The frame that `input` starts with; `None` when there is none, or it is cut short.
pub(super) fn first(input: &[u8], format: Format) -> Option<Frame> {
    let header = match format {
        Format::Standard => input.strip_prefix(&MAGIC)?,
        Format::Bare => input,
    };
    let (&descriptor, rest) = header.split_first()?;
    let single_segment = descriptor & 0x20 != 0;
    let window_bytes = usize::from(!single_segment);
    let id_bytes = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let size_bytes = match descriptor >> 6 {
        0 => usize::from(single_segment),
        flag => 1 << flag,
    };
    let mut id = [0; 4];
    id[..id_bytes].copy_from_slice(rest.get(window_bytes..window_bytes + id_bytes)?);
    let mut rest = rest.get(window_bytes + id_bytes + size_bytes..)?;
    loop {
        let (block, after) = rest.split_first_chunk::<3>()?;
        let block = u32::from_le_bytes([block[0], block[1], block[2], 0]);
        let size = match block >> 1 & 3 {
            // A run of one byte: the size is that of the content.
            1 => 1,
            _ => (block >> 3) as usize,
        };
        rest = after.get(size..)?;
        if block & 1 != 0 {
            break;
        }
    }
    if descriptor & 4 != 0 {
        rest = rest.get(CHECKSUM_BYTES..)?;
    }
    Some(Frame { length: input.len() - rest.len(), dictionary_id: u32::from_le_bytes(id) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_header_is_measured() {
        for descriptor in 0..=255_u8 {
            let single_segment = descriptor & 0x20 != 0;
            let mut frame = vec![descriptor];
            frame.extend_from_slice(if single_segment { &[] } else { &[0x58] });
            let id = [1, 2, 3, 4];
            let id = &id[..[0, 1, 2, 4][usize::from(descriptor & 3)]];
            frame.extend_from_slice(id);
            let size_bytes = match (descriptor >> 6, single_segment) {
                (0, single) => usize::from(single),
                (1, _) => 2,
                (2, _) => 4,
                _ => 8,
            };
            frame.extend_from_slice(&[0; 8][..size_bytes]);
            // A raw block of two bytes, a run of 1,000, and a last block that is empty.
            frame.extend_from_slice(&[0x10, 0, 0, b'a', b'b', 0x42, 0x1F, 0, b'c', 1, 0, 0]);
            frame.extend_from_slice(&[0; 4][..usize::from(descriptor & 4)]);
            let mut dictionary_id = [0; 4];
            dictionary_id[..id.len()].copy_from_slice(id);
            let dictionary_id = u32::from_le_bytes(dictionary_id);
            let expected = Some(Frame { length: frame.len(), dictionary_id });
            assert_eq!(first(&frame, Format::Bare), expected, "{descriptor:#x}");
            for length in 0..frame.len() {
                assert_eq!(first(&frame[..length], Format::Bare), None, "{descriptor:#x}");
            }
            let standard = [&MAGIC[..], &frame].concat();
            let expected = Some(Frame { length: standard.len(), dictionary_id });
            assert_eq!(first(&[&standard[..], b"more"].concat(), Format::Standard), expected);
        }
        assert_eq!(first(b"", Format::Bare), None);
        assert_eq!(first(b"not a frame at all", Format::Standard), None);
    }
}
