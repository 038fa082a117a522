//! The body for compressed connections: what comes out does not depend on how the input is cut or
//! how much room there is, and memory stays within what the limit allows.

use crate::stream::{StreamCodec, StreamDecompressor, StreamError};

/// The limit on windows of the target, in bytes.
const WINDOW_BYTES_MAX: usize = 64 << 10;

/// The most that a decompressor may hold with that limit: two blocks or one window, and state.
const MEMORY_BYTES_MAX: usize = 512 << 10;

/// The most that the target decompresses, in bytes.
const OUTPUT_BYTES_MAX: usize = 1 << 20;

/// Any bytes decompress to the same bytes, or are refused, however they are cut. The first byte
/// picks the codec, the second the length of the pieces, the third that of the room.
pub fn stream_any(bytes: &[u8]) {
    let &[codec, piece, room, ref bytes @ ..] = bytes else { return };
    let codec = [StreamCodec::Gzip, StreamCodec::Zstd, StreamCodec::Lz4][usize::from(codec) % 3];
    let whole = decompressed(codec, WINDOW_BYTES_MAX, bytes, usize::MAX, OUTPUT_BYTES_MAX);
    if whole.0.len() == OUTPUT_BYTES_MAX {
        return;
    }
    let (piece, room) = (usize::from(piece) + 1, usize::from(room) + 1);
    let pieces = decompressed(codec, WINDOW_BYTES_MAX, bytes, piece, room);
    assert_eq!(pieces.1, whole.1);
    // What comes out before an error may end anywhere, since libraries check as they go.
    if whole.1.is_ok() {
        assert_eq!(pieces.0, whole.0);
    }
}

/// What a stream decompresses to, up to the limit of the target, and how it ends.
pub(crate) fn decompressed(
    codec: StreamCodec,
    window_bytes_max: usize,
    bytes: &[u8],
    piece_bytes: usize,
    room_bytes: usize,
) -> (Vec<u8>, Result<(), bool>) {
    let made = StreamDecompressor::new(codec, window_bytes_max);
    let Ok(mut decompressor) = made else { unreachable!("there is memory") };
    let mut all = Vec::new();
    let mut room = vec![0; room_bytes];
    for piece in bytes.chunks(piece_bytes.min(bytes.len().max(1))) {
        let mut rest = piece;
        loop {
            let progress = match decompressor.decompress(rest, &mut room) {
                Ok(progress) => progress,
                Err(error) => return (all, Err(matches!(error, StreamError::Corrupt { .. }))),
            };
            let memory_bytes = decompressor.memory_bytes();
            let memory_bytes_max = MEMORY_BYTES_MAX.max(3 * window_bytes_max);
            assert!(memory_bytes <= memory_bytes_max, "{codec:?} holds {memory_bytes} bytes");
            all.extend_from_slice(&room[..progress.written]);
            rest = &rest[progress.consumed..];
            if all.len() >= OUTPUT_BYTES_MAX {
                all.truncate(OUTPUT_BYTES_MAX);
                return (all, Ok(()));
            }
            if progress.written < room.len() {
                assert!(rest.is_empty(), "room and input are left, and nothing moves");
                break;
            }
        }
    }
    (all, decompressor.finish().map_err(|_| false))
}
