//! A brotli stream of uncompressed meta-blocks (RFC 7932, section 9.2), for payloads that brotli
//! would make longer. Its length is the codec's bound; the library promises its own bound only for
//! a function that allocates.

/// The most content of one meta-block.
const BLOCK_BYTES_MAX: usize = 1 << 24;

/// A window of 2^10 bytes and an empty meta-block, so that the next one starts on a byte.
const START: [u8; 2] = [0x21, 0x03];

/// The last, empty meta-block.
const END: u8 = 0x03;

/// A block's header has three bytes, or four when its content needs 24 bits.
const HEADER_BYTES_MAX: usize = 4;

/// How many bytes such a stream has at most.
pub(super) fn stream_bytes(length: usize) -> usize {
    length + HEADER_BYTES_MAX * length.div_ceil(BLOCK_BYTES_MAX) + START.len() + 1
}

/// Writes the stream and returns its length; `output` has at least `stream_bytes` of room.
pub(super) fn write(input: &[u8], output: &mut [u8]) -> usize {
    let mut length = START.len();
    output[..length].copy_from_slice(&START);
    for block in input.chunks(BLOCK_BYTES_MAX) {
        // Not last; how many nibbles the size has beyond four; the size less one; uncompressed.
        let size = block.len() as u32 - 1;
        let nibbles = if size < 1 << 16 { 0 } else { 1 + u32::from(size >= 1 << 20) };
        let header = (nibbles << 1 | size << 3 | 1 << (19 + 4 * nibbles)).to_le_bytes();
        let header = &header[..if nibbles == 2 { 4 } else { 3 }];
        output[length..length + header.len()].copy_from_slice(header);
        length += header.len();
        output[length..length + block.len()].copy_from_slice(block);
        length += block.len();
    }
    output[length] = END;
    length + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::codec_named;

    #[test]
    fn is_read_at_every_width_of_the_length() {
        let codec = codec_named("brotli").unwrap();
        let mut decompressor = codec.decompressor(None).unwrap();
        let long: Vec<u8> =
            (0..(2 << 24) + 5).map(|n: u32| (n.wrapping_mul(n) >> 7) as u8).collect();
        let widths = [16, 20, 24, 25].map(|bits| 1_usize << bits);
        let lengths = widths.iter().flat_map(|width| [width - 1, *width, width + 1]);
        for length in lengths.chain([0, 1, 2, 300, long.len()]) {
            let payload = &long[..length];
            let mut stream = vec![0; stream_bytes(length)];
            let written = write(payload, &mut stream);
            let mut back = vec![0; length];
            decompressor.decompress_exact(&stream[..written], &mut back).unwrap();
            assert!(back == payload, "{length} bytes");
        }
    }
}
