//! Compressed streams: frames in a row as clients send them, written by other encoders than the
//! one that reads them where there is one, cut anywhere, and hostile ones.

use std::io::Write;

use proptest::prelude::*;

use super::*;
use crate::fuzzing::{decompressed, stream_any};

const CODECS: [StreamCodec; 3] = [StreamCodec::Gzip, StreamCodec::Zstd, StreamCodec::Lz4];

/// One frame or member of `codec`.
fn frame(codec: StreamCodec, text: &[u8]) -> Vec<u8> {
    match codec {
        StreamCodec::Gzip => {
            let mut writer =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            writer.write_all(text).unwrap();
            writer.finish().unwrap()
        }
        StreamCodec::Zstd => {
            let mut frame = vec![0; zstd_safe::compress_bound(text.len())];
            let length = zstd_safe::compress(&mut frame[..], text, 3).unwrap();
            frame.truncate(length);
            frame
        }
        StreamCodec::Lz4 => {
            let mut writer = lz4_flex::frame::FrameEncoder::new(Vec::new());
            writer.write_all(text).unwrap();
            writer.finish().unwrap()
        }
    }
}

fn text() -> Vec<u8> {
    (0..40).flat_map(|n| format!("line {n} of a log, status {}\n", n % 7).into_bytes()).collect()
}

#[test]
fn frames_in_a_row_are_one_stream_however_they_are_cut() {
    let text = text();
    for codec in CODECS {
        let frames = [&text[..500], b"", &text[500..]].map(|part| frame(codec, part)).concat();
        for cut in 0..frames.len() {
            let mut decompressor = StreamDecompressor::with_defaults(codec).unwrap();
            let (mut room, mut written) = (vec![0; text.len() + 1], 0);
            for part in [&frames[..cut], &frames[cut..]] {
                let progress = decompressor.decompress(part, &mut room[written..]).unwrap();
                assert_eq!(progress.consumed, part.len());
                written += progress.written;
            }
            assert_eq!((&room[..written], decompressor.finish()), (&text[..], Ok(())));
        }
        for (piece, room) in [(1, 1), (1, 7), (7, 1), (usize::MAX, 1), (3, 4096)] {
            let pieces = decompressed(codec, STREAM_WINDOW_BYTES_MAX, &frames, piece, room);
            assert_eq!(pieces, (text.clone(), Ok(())), "{codec:?}, {piece} to {room}");
        }
    }
}

#[test]
fn a_stream_that_is_cut_off_says_so_and_gives_what_it_had() {
    for codec in CODECS {
        let frame = frame(codec, &text());
        let mut decompressor = StreamDecompressor::with_defaults(codec).unwrap();
        let mut room = vec![0; 4096];
        assert_eq!(decompressor.finish(), Ok(()));
        for length in [1, 5, 6, 7, frame.len() - 1] {
            let mut decompressor = StreamDecompressor::with_defaults(codec).unwrap();
            decompressor.decompress(&frame[..length], &mut room).unwrap();
            assert_eq!(decompressor.finish(), Err(StreamError::CutOff), "{codec:?}, {length}");
        }
        decompressor.decompress(&frame, &mut room).unwrap();
        assert_eq!(decompressor.finish(), Ok(()));
    }
}

#[test]
fn what_is_something_else_is_refused() {
    for codec in CODECS {
        for bytes in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0; 32], &[0xFF; 32]] {
            let mut decompressor = StreamDecompressor::with_defaults(codec).unwrap();
            let error = decompressor.decompress(bytes, &mut [0; 64]).unwrap_err();
            assert!(matches!(error, StreamError::Corrupt { codec: found, .. } if found == codec));
        }
        // Behind a whole frame as well.
        let bytes = [&frame(codec, b"text")[..], b"and then something else"].concat();
        let mut decompressor = StreamDecompressor::with_defaults(codec).unwrap();
        assert!(decompressor.decompress(&bytes, &mut [0; 64]).is_err());
    }
}

#[test]
fn a_checksum_that_does_not_hold_is_refused() {
    let mut member = frame(StreamCodec::Gzip, &text());
    let length = member.len();
    member[length - 8] ^= 1;
    let mut decompressor = StreamDecompressor::with_defaults(StreamCodec::Gzip).unwrap();
    assert!(decompressor.decompress(&member, &mut [0; 4096]).is_err());
}

#[test]
fn a_window_above_the_limit_is_refused_before_it_is_allocated() {
    // A zstd frame without a content size whose window is 2^27 bytes, and an empty last block.
    let huge = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 17 << 3, 0x01, 0x00, 0x00];
    let mut decompressor = StreamDecompressor::with_defaults(StreamCodec::Zstd).unwrap();
    let error = decompressor.decompress(&huge, &mut [0; 64]).unwrap_err();
    assert_eq!(error, StreamError::WindowTooLarge { limit_bytes: STREAM_WINDOW_BYTES_MAX });
    assert!(decompressor.memory_bytes() < STREAM_WINDOW_BYTES_MAX);

    // LZ4 blocks of 4 MiB where 64 KiB are allowed.
    let huge = [0x04, 0x22, 0x4D, 0x18, 0x60, 0x70];
    let mut decompressor = StreamDecompressor::new(StreamCodec::Lz4, 64 << 10).unwrap();
    let error = decompressor.decompress(&huge, &mut [0; 64]).unwrap_err();
    assert_eq!(error, StreamError::WindowTooLarge { limit_bytes: 64 << 10 });
}

#[test]
fn a_small_input_that_stands_for_much_only_fills_the_room_it_is_given() {
    let zeros = vec![0; 64 << 20];
    for codec in CODECS {
        let bomb = frame(codec, &zeros);
        assert!(bomb.len() < 512 << 10);
        let mut decompressor = StreamDecompressor::with_defaults(codec).unwrap();
        let mut room = [1; 1000];
        let progress = decompressor.decompress(&bomb, &mut room).unwrap();
        assert_eq!((progress.written, room), (1000, [0; 1000]));
        assert!(decompressor.memory_bytes() < 3 * STREAM_WINDOW_BYTES_MAX);
    }
}

proptest! {
    #[test]
    fn any_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        stream_any(&bytes);
    }

    #[test]
    fn damaged_frames_do_no_harm(
        codec in 0_u8..3, piece in any::<u8>(), room in any::<u8>(),
        place in any::<prop::sample::Index>(), flip in any::<u8>(),
    ) {
        let mut bytes = vec![codec, piece, room];
        bytes.extend(frame(CODECS[usize::from(codec)], &text()));
        let place = 3 + place.index(bytes.len() - 3);
        bytes[place] ^= flip;
        stream_any(&bytes);
    }
}
