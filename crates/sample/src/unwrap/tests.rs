//! Every wrapping is undone to the same bytes, whatever is no wrapping is left alone, and hostile
//! bytes cost no more memory than the limit.

use cinch_core::codec::{CodecChoice, codec_named};
use cinch_core::encoding::encoding_named;
use cinch_core::pack::Packer;
use cinch_core::profile::Profile;
use proptest::prelude::*;

use super::*;

const PAYLOAD: &[u8] = br#"{"id":"cart-1","items":[{"sku":"A1","count":1,"price":"12.50"},
{"sku":"A2","count":1,"price":"12.50"},{"sku":"A3","count":1,"price":"12.50"}]}"#;

const LIMIT_BYTES: usize = 1 << 20;

fn compressed(codec: &str, payload: &[u8]) -> Vec<u8> {
    let codec = codec_named(codec).unwrap();
    let mut out = vec![0; codec.compress_bound(payload.len())];
    let level = codec.info().levels.default;
    let length = codec.compressor(level, None).unwrap().compress(payload, &mut out).unwrap();
    out.truncate(length);
    out
}

fn snappy_framed(payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    snap::read::FrameEncoder::new(payload).read_to_end(&mut out).unwrap();
    out
}

fn lz4_block(prefix: [u8; 4]) -> Vec<u8> {
    [&prefix[..], &compressed("lz4", PAYLOAD)].concat()
}

fn envelope(payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let codec = CodecChoice::parse("zstd:3").unwrap();
    let mut profile = Profile::new(encoding_named("verbatim").unwrap(), codec);
    (profile.min_size_bytes, profile.min_gain) = (0, 0.0);
    Packer::new(&profile).unwrap().pack(payload, &mut out).unwrap();
    assert!(looks_like_envelope(&out));
    out
}

fn unwrapped(value: &[u8]) -> Result<(Vec<u8>, Vec<Wrapping>), Refusal> {
    let mut unwrapper = Unwrapper::new(LIMIT_BYTES);
    unwrapper.unwrap(value).map(|(payload, wrappings)| (payload.to_vec(), wrappings))
}

#[test]
fn every_wrapping_is_undone() {
    let length = PAYLOAD.len() as u32;
    for (value, wrapping) in [
        (compressed("gzip", PAYLOAD), Wrapping::Gzip),
        (compressed("zlib", PAYLOAD), Wrapping::Zlib),
        (compressed("zstd", PAYLOAD), Wrapping::Zstd),
        (zstd::stream::encode_all(PAYLOAD, 3).unwrap(), Wrapping::Zstd),
        (compressed("lz4-frame", PAYLOAD), Wrapping::Lz4Frame),
        (lz4_block(length.to_le_bytes()), Wrapping::Lz4Block),
        (lz4_block(length.to_be_bytes()), Wrapping::Lz4Block),
        (snappy_framed(PAYLOAD), Wrapping::SnappyFramed),
        (envelope(PAYLOAD), Wrapping::Envelope),
    ] {
        let expected = Ok((PAYLOAD.to_vec(), vec![wrapping]));
        assert_eq!(unwrapped(&value), expected, "{}", wrapping.name());
    }
}

#[test]
fn layers_are_undone_from_the_outside_in() {
    let value = compressed("gzip", &compressed("zstd", &envelope(PAYLOAD)));
    let wrappings = vec![Wrapping::Gzip, Wrapping::Zstd, Wrapping::Envelope];
    assert_eq!(unwrapped(&value), Ok((PAYLOAD.to_vec(), wrappings)));
    assert_eq!(unwrapped(&compressed("gzip", &value)), Err(Refusal::TooDeep));
}

#[test]
fn what_is_not_wrapped_is_left_alone() {
    let plain: &[&[u8]] = &[
        PAYLOAD,
        b"x\x01 is how zlib may start, and this is text",
        b"x^2 + y^2",
        b"\x84\xa2id\x01",
        b"\x80",
        b"\x80\x04 without the stop",
        &[7; 100],
    ];
    for value in plain {
        assert_eq!(unwrapped(value), Ok((value.to_vec(), vec![])), "{value:?}");
    }
}

#[test]
fn objects_of_languages_are_refused_also_inside() {
    let pickle = b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00}\x94\x8c\x01a\x94K\x01s.";
    assert_eq!(unwrapped(pickle), Err(Refusal::Pickle));
    assert_eq!(unwrapped(&compressed("zlib", pickle)), Err(Refusal::Pickle));
    assert_eq!(unwrapped(b"\xAC\xED\x00\x05sr\x00\x01A"), Err(Refusal::JavaSerialization));
    assert_eq!(unwrapped(b"\x00\x00\x00\x02\x14\x01"), Err(Refusal::Igbinary));
    assert_eq!(unwrapped(b""), Err(Refusal::Empty));
}

#[test]
fn damage_is_refused_under_its_name() {
    for (codec, wrapping) in
        [("gzip", Wrapping::Gzip), ("zstd", Wrapping::Zstd), ("lz4-frame", Wrapping::Lz4Frame)]
    {
        let mut value = compressed(codec, PAYLOAD);
        value.truncate(value.len() - 6);
        assert_eq!(unwrapped(&value), Err(Refusal::Damaged(wrapping)), "{codec}");
    }
    let mut value = envelope(PAYLOAD);
    value.pop();
    assert_eq!(unwrapped(&value), Err(Refusal::Damaged(Wrapping::Envelope)));
}

#[test]
fn a_bomb_is_refused_and_costs_no_more_than_the_limit() {
    let content = vec![b'a'; 4 * LIMIT_BYTES];
    for codec in ["gzip", "zlib", "zstd", "lz4-frame"] {
        let value = compressed(codec, &content);
        let mut unwrapper = Unwrapper::new(LIMIT_BYTES);
        assert_eq!(unwrapper.unwrap(&value), Err(Refusal::TooLarge), "{codec}");
        assert!(unwrapper.next.capacity() <= 2 * LIMIT_BYTES, "{codec}");
    }
    assert_eq!(unwrapped(&snappy_framed(&content)), Err(Refusal::TooLarge));
    assert_eq!(unwrapped(&content), Err(Refusal::TooLarge));
}

proptest! {
    #[test]
    fn text_comes_back_as_it_is(text in "[a-zA-Z0-9{}\": ]{1,200}") {
        prop_assert_eq!(unwrapped(text.as_bytes()), Ok((text.into_bytes(), vec![])));
    }

    #[test]
    fn any_bytes_give_an_answer(
        start in 0usize..9,
        tail in prop::collection::vec(any::<u8>(), 0..80),
    ) {
        const STARTS: [&[u8]; 9] = [
            b"", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18", b"\x78\x9c",
            b"\xff\x06\x00\x00sNaPpY", b"\xc1\x9e\x90", b"\x40\x00\x00\x00", b"\x80\x04",
        ];
        let value = [STARTS[start], &tail].concat();
        if let Ok((payload, _)) = unwrapped(&value) {
            prop_assert!(!payload.is_empty() && payload.len() <= LIMIT_BYTES);
        }
    }
}
