//! Tests of the law, of every way an envelope can be wrong, and of what stays plain.
//!
//! The envelopes that are wrong on purpose are forged by changing one thing of a sound one.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::codec::{CODECS, CodecChoice, CodecId, SetupError};
use crate::dictionary::Dictionary;
use crate::document::{Document, Fidelity, first_difference};
use crate::encoding::{ENCODINGS, Encoding, EncodingId, Parser, Refusal, encoding_named};
use crate::envelope::{FIELD_BASE, FIELD_SCHEMA, Field, Header, UnpackError, checksum};
use crate::json;
use crate::profile::{Method, Profile, Rule, VerifyOnPack};

mod delta;
mod schema;

const CART: &[u8] = br#"{"cart":{"id":"c-1","items":[{"sku":"A1","quantity":1,"price":12.50},
 {"sku":"A2","quantity":2,"price":12.50},{"sku":"A3","quantity":1,"price":9.99}]}}"#;

fn profile(encoding: &str, codec: &str) -> Profile {
    Profile::new(encoding_named(encoding).unwrap(), CodecChoice::parse(codec).unwrap())
}

/// The encodings that need no schema; `schema.rs` has the others.
fn schemaless() -> Vec<&'static Encoding> {
    ENCODINGS.iter().filter(|encoding| !encoding.needs_schema).collect()
}

fn pack(profile: &Profile, payload: &[u8]) -> (Vec<u8>, Outcome) {
    let mut out = Vec::new();
    let outcome = Packer::new(profile).unwrap().pack(payload, &mut out).unwrap();
    (out, outcome)
}

fn read(value: &[u8]) -> Result<Vec<u8>, UnpackError> {
    let mut out = vec![1, 2, 3];
    let result = Unpacker::new([]).read(value, &mut out);
    assert!(result.is_ok() || out.is_empty(), "bytes handed out beside an error");
    result.map(|_| out)
}

fn packed_cart() -> Vec<u8> {
    let (out, outcome) = pack(&profile("verbatim", "zstd"), CART);
    assert_eq!(outcome, Outcome::Packed { not_encoded: None });
    out
}

/// An envelope around a stored body, its header changed by `change`.
fn forged(body: &[u8], change: impl FnOnce(&mut Header)) -> Vec<u8> {
    let mut header = Header {
        codec: CodecId(0x10),
        encoding: None,
        payload_bytes: body.len() as u32,
        dictionary: None,
        checksum: Some(checksum(body)),
        fields: Vec::new(),
    };
    change(&mut header);
    let mut out = Vec::new();
    header.write(&mut out).unwrap();
    out.extend_from_slice(body);
    out
}

#[test]
fn every_codec_packs_and_unpacks_the_very_bytes() {
    let payload = CART.repeat(20);
    for codec in CODECS {
        let (out, outcome) = pack(&profile("verbatim", codec.info().name), &payload);
        assert_eq!(read(&out).unwrap(), payload);
        let is_packed = matches!(outcome, Outcome::Packed { .. });
        assert_eq!(is_packed, codec.info().name != "stored", "{}", codec.info().name);
    }
}

#[test]
fn every_encoding_keeps_what_its_fidelity_says() {
    let mut payload = CART.to_vec();
    payload.splice(1..1, br#""a":-0,"a":1.0,"b":12345678901234567,"c":[null,true,""],"#.to_vec());
    // The columnar encoding takes only the usual white space, which no white space is.
    payload.retain(|byte| !byte.is_ascii_whitespace());
    // Twice, so that it is worth packing also where an encoding makes it longer.
    payload = [b"{\"first\":", &payload[..], b",\"second\":", &payload, b"}"].concat();
    for encoding in schemaless() {
        let (out, outcome) = pack(&profile(encoding.name, "zlib:6"), &payload);
        assert_eq!(outcome, Outcome::Packed { not_encoded: None }, "{}", encoding.name);
        let back = read(&out).unwrap();
        if encoding.fidelity == Fidelity::Bytes {
            assert_eq!(back, payload);
        }
        let (mut before, mut after) = (Document::new(), Document::new());
        json::parse(encoding.parser, &payload, &mut before).unwrap();
        json::parse(encoding.parser, &back, &mut after).unwrap();
        assert_eq!(first_difference(&before, &after, encoding.fidelity), None);
    }
}

#[test]
fn what_an_encoding_refuses_is_packed_verbatim_and_told() {
    let refused = format!("{{\"big\":1e400,\"text\":\"{}\"}}", "x".repeat(300));
    let (out, outcome) = pack(&profile("msgpack", "zstd"), refused.as_bytes());
    let Outcome::Packed { not_encoded: Some(reason) } = outcome else { panic!("{outcome:?}") };
    assert!(matches!(reason, NotEncoded::Refused(_)), "{reason:?}");
    assert_eq!(read(&out).unwrap(), refused.as_bytes());
    let text = "no JSON ".repeat(50);
    let (out, outcome) = pack(&profile("cbor", "zstd"), text.as_bytes());
    assert!(matches!(outcome, Outcome::Packed { not_encoded: Some(NotEncoded::NotJson(_)) }));
    assert_eq!(read(&out).unwrap(), text.as_bytes());
    let odd = format!("{{ \"a\":[{}] }}", "\"text\", ".repeat(60) + "1");
    let (out, outcome) = pack(&profile("columnar", "zstd"), odd.as_bytes());
    let not_encoded = Some(NotEncoded::Refused(Refusal::WhiteSpace));
    assert_eq!(outcome, Outcome::Packed { not_encoded });
    assert_eq!(read(&out).unwrap(), odd.as_bytes());
}

#[test]
fn what_is_not_worth_packing_stays_plain() {
    let zstd = profile("verbatim", "zstd");
    let gzip_start = [&[0x1F, 0x8B, 0x08][..], &[0; 200]].concat();
    let mut state = 1u64;
    let noise: Vec<u8> = (0..500)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8 | 0x20
        })
        .collect();
    for (payload, reason) in [
        (&b""[..], PlainReason::BelowMinSize),
        (b"{\"a\":1}", PlainReason::BelowMinSize),
        (&gzip_start, PlainReason::AlreadyCompressed),
        (&noise, PlainReason::GainTooSmall),
    ] {
        let (out, outcome) = pack(&zstd, payload);
        assert_eq!((out.as_slice(), outcome), (payload, Outcome::Plain(reason)));
        assert_eq!(read(&out).unwrap(), payload);
    }
    let number = Profile { min_size_bytes: 0, ..zstd };
    let (_, outcome) = pack(&number, b"11111111111111111111111111111111111111111111111111111111");
    assert_eq!(outcome, Outcome::Plain(PlainReason::Number));
}

#[test]
fn a_look_alike_is_wrapped_and_comes_back() {
    let envelope = packed_cart();
    let interop = [&INTEROP_MAGIC[..], CART].concat();
    let payloads =
        [&b"\xC1\x9E"[..], b"\xC1\x9E\x90", b"\xC1\x9E\x90\x8Bjunk", &envelope, &interop];
    for payload in payloads {
        let (out, outcome) = pack(&profile("verbatim", "zstd"), payload);
        assert_eq!(outcome, Outcome::Wrapped);
        assert_eq!(read(&out).unwrap(), payload);
    }
    for payload in [&b"\xC1"[..], b"\xC1\x9Eab", b"\xC1\x9F\x90\x8B"] {
        let (out, outcome) = pack(&profile("verbatim", "zstd"), payload);
        assert_eq!((out.as_slice(), outcome), (payload, Outcome::Plain(PlainReason::BelowMinSize)));
        assert_eq!(read(&out).unwrap(), payload);
    }
}

#[test]
fn no_truncation_and_no_flipped_bit_gives_other_bytes() {
    let envelope = packed_cart();
    for length in 2..envelope.len() {
        let error = read(&envelope[..length]).unwrap_err();
        assert!(matches!(error, UnpackError::Damaged { .. }), "{length}: {error:?}");
    }
    for bit in 0..envelope.len() * 8 {
        let mut flipped = envelope.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        // Without its magic or its two marks it is no envelope any more, whatever else it is.
        let marks = [0..16, 16..17, 24..25];
        let is_mark = marks.iter().any(|mark| mark.contains(&(bit / 8 * 8 + 7 - bit % 8)));
        let mut out = Vec::new();
        match Unpacker::new([]).unpack(&flipped, &mut out) {
            Err(error) => assert_eq!(error == UnpackError::NotAnEnvelope, is_mark, "bit {bit}"),
            // Some bits of a compressed body say nothing about its content.
            Ok(_) => assert_eq!(out, CART, "bit {bit}"),
        }
    }
    let trailing = [envelope.as_slice(), b"x"].concat();
    assert!(matches!(read(&trailing), Err(UnpackError::Damaged { .. })));
}

#[test]
fn each_error_has_its_cause() {
    let body = b"hello";
    let fields = |kind| vec![Field { kind, value: vec![1, 2] }];
    let cases = [
        (forged(body, |h| h.codec = CodecId(0x7F)), UnpackError::UnknownCodec { id: 0x7F }),
        (
            forged(body, |h| h.encoding = Some(EncodingId(0x7E))),
            UnpackError::UnknownEncoding { id: 0x7E },
        ),
        (forged(body, |h| h.fields = fields(0xC5)), UnpackError::UnknownField { field: 0xC5 }),
        (forged(body, |h| h.fields = fields(FIELD_SCHEMA)), UnpackError::MissingSchema),
        (forged(body, |h| h.fields = fields(FIELD_BASE)), UnpackError::MissingBase { id: None }),
        (
            forged(body, |h| h.dictionary = Some(70_000)),
            UnpackError::MissingDictionary { id: 70_000 },
        ),
        (
            forged(body, |h| h.checksum = Some(1)),
            UnpackError::ChecksumMismatch { expected: 1, got: checksum(body) },
        ),
        (
            forged(body, |h| h.payload_bytes = u32::MAX),
            UnpackError::TooLarge {
                limit: crate::limits::PAYLOAD_BYTES_MAX,
                got: u32::MAX as usize,
            },
        ),
        (b"{}".to_vec(), UnpackError::NotAnEnvelope),
        (Vec::new(), UnpackError::NotAnEnvelope),
    ];
    for (envelope, expected) in cases {
        let error = Unpacker::new([]).unpack(&envelope, &mut Vec::new()).unwrap_err();
        assert_eq!(error, expected);
    }
    // A field that need not be understood is skipped, with the payload intact.
    assert_eq!(read(&forged(body, |h| h.fields = fields(0x45))).unwrap(), body);
}

#[test]
fn a_newer_version_is_told_from_damage() {
    let mut newer = forged(b"hello", |_| {});
    newer[2] = 0x80 | 2 << 4;
    let length = usize::from(newer[3] & 0x7F);
    assert!(matches!(read(&newer), Err(UnpackError::Damaged { .. })));
    newer[length - 1] = xxhash_rust::xxh64::xxh64(&newer[..length - 1], 0) as u8;
    assert_eq!(read(&newer), Err(UnpackError::UnsupportedVersion { version: 2 }));
}

#[test]
fn the_wrong_dictionary_is_never_silent() {
    let samples = CART.repeat(10);
    let right = Dictionary::new(samples.clone()).unwrap();
    let profile = Profile { dictionary: Some(Arc::clone(&right)), ..profile("verbatim", "zstd") };
    let (out, _) = pack(&profile, CART);
    let mut payload = Vec::new();
    Unpacker::new([Arc::clone(&right)]).unpack(&out, &mut payload).unwrap();
    assert_eq!(payload, CART);
    let missing = Unpacker::new([]).unpack(&out, &mut payload).unwrap_err();
    assert_eq!(missing, UnpackError::MissingDictionary { id: right.id() });
    // Other bytes under the same id: forged by naming another dictionary in the header.
    let mut other_bytes = samples;
    other_bytes.iter_mut().for_each(|byte| *byte = byte.wrapping_add(1));
    let other = Dictionary::new(other_bytes).unwrap();
    let (mut header, length) = Header::read(&out).unwrap();
    header.dictionary = Some(other.id());
    let mut forged = Vec::new();
    header.write(&mut forged).unwrap();
    forged.extend_from_slice(&out[length..]);
    assert!(Unpacker::new([other]).unpack(&forged, &mut payload).is_err());
    assert!(payload.is_empty());
}

#[test]
fn the_header_is_as_short_as_the_format_says() {
    let all = Header {
        codec: CodecId(0x17),
        encoding: Some(EncodingId(0x12)),
        payload_bytes: 16_383,
        dictionary: Some(70_000),
        checksum: Some(1),
        fields: Vec::new(),
    };
    assert_eq!(all.write(&mut Vec::new()), Some(17));
    let implied = Header { encoding: None, ..all.clone() };
    assert_eq!(implied.write(&mut Vec::new()), Some(16));
    let least = Header { dictionary: None, checksum: None, payload_bytes: 0, ..implied };
    assert_eq!(least.write(&mut Vec::new()), Some(7));
    let long = Field { kind: 4, value: vec![b'w'; 60] };
    let mut out = vec![9];
    assert_eq!(Header { fields: vec![long], ..all }.write(&mut out), None);
    assert_eq!(out, [9]);
}

#[test]
fn a_small_limit_is_kept_by_plain_values_too() {
    let mut unpacker = Unpacker::new([]).with_limit(10);
    let mut out = Vec::new();
    let plain = unpacker.read(b"12345678901", &mut out).unwrap_err();
    assert_eq!(plain, UnpackError::TooLarge { limit: 10, got: 11 });
    let packed = unpacker.read(&packed_cart(), &mut out).unwrap_err();
    assert_eq!(packed, UnpackError::TooLarge { limit: 10, got: CART.len() });
}

#[test]
fn verification_sees_that_packing_works() {
    let verified = Profile { verify_on_pack: VerifyOnPack::Always, ..profile("cbor", "brotli:5") };
    let (_, outcome) = pack(&verified, CART);
    assert_eq!(outcome, Outcome::Packed { not_encoded: None });
}

fn rule(max_bytes: usize, encoding: &str, codec: &str) -> Rule {
    let Profile { encoding, codec, dictionary, .. } = profile(encoding, codec);
    Rule { max_bytes, method: Some(Method { encoding, codec, dictionary, schema: None }) }
}

/// The codec and encoding in an envelope's header.
fn header(envelope: &[u8]) -> (u8, Option<u8>) {
    let (header, _) = Header::read(envelope).unwrap();
    (header.codec.0, header.encoding.map(|id| id.0))
}

#[test]
fn each_size_class_is_packed_as_its_rule_says() {
    let mut profile = profile("verbatim", "brotli:5");
    profile.rules = vec![
        Rule { max_bytes: 100, method: None },
        rule(CART.len(), "msgpack", "zlib:6"),
        Rule { max_bytes: 2 * CART.len(), method: None },
        rule(4 * CART.len(), "verbatim", "lz4:9"),
    ];
    let mut packer = Packer::new(&profile).unwrap();
    let mut out = Vec::new();
    let of = |name: &str| CodecChoice::parse(name).unwrap().codec.info().id.0;
    let msgpack = encoding_named("msgpack").unwrap().id.0;
    for (payload, expected) in [
        (CART.to_vec(), (of("zlib"), Some(msgpack))),
        (CART.repeat(3), (of("lz4"), None)),
        (CART.repeat(4), (of("lz4"), None)),
        (CART.repeat(5), (of("brotli"), None)),
        // The contexts of the rules before are still sound.
        (CART.to_vec(), (of("zlib"), Some(msgpack))),
    ] {
        let outcome = packer.pack(&payload, &mut out).unwrap();
        assert_eq!(outcome, Outcome::Packed { not_encoded: None }, "{}", payload.len());
        assert_eq!(header(&out), expected, "{}", payload.len());
        assert!(same_value(&payload, &read(&out).unwrap(), expected.1.is_none()));
    }
    for payload in [CART.repeat(2), vec![b'a'; 100], vec![b'a'; CART.len() + 1]] {
        let outcome = packer.pack(&payload, &mut out).unwrap();
        assert_eq!((&out, outcome), (&payload, Outcome::Plain(PlainReason::Rule)));
    }
    // What must be wrapped is wrapped, and what is too small is too small, whatever a rule says.
    assert_eq!(packer.pack(b"\xC1\x9E", &mut out).unwrap(), Outcome::Wrapped);
    let small = packer.pack(b"{}", &mut out).unwrap();
    assert_eq!(small, Outcome::Plain(PlainReason::BelowMinSize));
}

fn same_value(before: &[u8], after: &[u8], is_verbatim: bool) -> bool {
    let parsed = |text: &[u8]| {
        let mut document = Document::new();
        json::parse(Parser::Ordinary, text, &mut document).unwrap();
        document
    };
    before == after
        || (!is_verbatim
            && first_difference(&parsed(before), &parsed(after), Fidelity::Value).is_none())
}

#[test]
fn rules_with_dictionaries_of_their_own_are_verified_and_read() {
    let (small, large) = (CART.repeat(3), CART.repeat(30));
    let dictionaries = [Dictionary::new(small).unwrap(), Dictionary::new(large).unwrap()];
    let mut profile = profile("verbatim", "zstd");
    profile.verify_on_pack = VerifyOnPack::Always;
    profile.dictionary = Some(Arc::clone(&dictionaries[1]));
    let mut of_small = rule(CART.len(), "verbatim", "lz4:9");
    if let Some(method) = &mut of_small.method {
        method.dictionary = Some(Arc::clone(&dictionaries[0]));
    }
    profile.rules = vec![of_small];
    let mut packer = Packer::new(&profile).unwrap();
    let mut unpacker = Unpacker::new(profile.dictionaries().map(Arc::clone));
    let (mut out, mut back) = (Vec::new(), Vec::new());
    for (payload, dictionary) in
        [(CART.to_vec(), &dictionaries[0]), (CART.repeat(2), &dictionaries[1])]
    {
        let outcome = packer.pack(&payload, &mut out).unwrap();
        assert_eq!(outcome, Outcome::Packed { not_encoded: None });
        assert_eq!(unpacker.unpack(&out, &mut back).unwrap().dictionary, Some(dictionary.id()));
        assert_eq!(back, payload);
    }
}

#[test]
fn a_rule_whose_codec_takes_no_dictionary_is_refused() {
    let mut with_dictionary = rule(100, "verbatim", "gzip:6");
    if let Some(method) = &mut with_dictionary.method {
        method.dictionary = Some(Dictionary::new(CART.to_vec()).unwrap());
    }
    let profile = Profile { rules: vec![with_dictionary], ..profile("verbatim", "zstd") };
    let error = Packer::new(&profile).err().unwrap();
    assert_eq!(error, SetupError::NoDictionary { codec: "gzip", level: None });
}

proptest! {
    #[test]
    fn unpacking_under_rules_gives_every_byte_string_back(
        mut payload in prop::collection::vec(any::<u8>(), 0..300),
        start in prop::sample::select(vec![&b""[..], b"\xC1\x9E", b"\xC1\x9E\x9A\x90", b"{\"a\":"]),
        repeats in 1usize..20,
        rules in prop::collection::btree_map(
            1usize..6_000,
            prop::option::of(0..CODECS.len()),
            0..5,
        ),
    ) {
        payload.splice(0..0, start.iter().copied());
        let payload = payload.repeat(repeats);
        let rules = rules.into_iter().map(|(max_bytes, codec)| match codec {
            Some(codec) => rule(max_bytes, "verbatim", CODECS[codec].info().name),
            None => Rule { max_bytes, method: None },
        });
        let profile = Profile { rules: rules.collect(), ..profile("verbatim", "zstd") };
        let (out, outcome) = pack(&profile, &payload);
        prop_assert_eq!(read(&out).unwrap(), payload.as_slice());
        match profile.rule_for(payload.len()) {
            Some(Rule { method: None, .. }) => {
                prop_assert!(matches!(outcome, Outcome::Plain(_) | Outcome::Wrapped));
            }
            Some(Rule { method: Some(method), .. })
                if matches!(outcome, Outcome::Packed { .. }) =>
            {
                let codec = method.codec.codec.bare_form().unwrap_or(method.codec.codec);
                prop_assert_eq!(header(&out).0, codec.info().id.0);
            }
            _ => {}
        }
    }

    #[test]
    fn unpacking_what_was_packed_gives_every_byte_string_back(
        mut payload in prop::collection::vec(any::<u8>(), 0..300),
        start in prop::sample::select(vec![&b""[..], b"\xC1\x9E", b"\xC1\x9E\x9A\x90", b"{\"a\":"]),
        codec in 0..CODECS.len(),
        repeats in 1usize..20,
    ) {
        payload.splice(0..0, start.iter().copied());
        let payload = payload.repeat(repeats);
        let (out, _) = pack(&profile("verbatim", CODECS[codec].info().name), &payload);
        prop_assert_eq!(read(&out).unwrap(), payload);
    }

    #[test]
    fn any_bytes_are_read_or_refused(
        mut bytes in prop::collection::vec(any::<u8>(), 0..200),
        codec in any::<u8>(),
        fix in any::<bool>(),
    ) {
        if bytes.len() > 8 {
            bytes[..2].copy_from_slice(b"\xC1\x9E");
            bytes[2] |= 0x90;
            bytes[4] = codec;
            let length = 7 + usize::from(bytes[3] & 0x0F);
            bytes[3] = 0x80 | length as u8;
            if fix && bytes.len() > length {
                bytes[length - 1] = xxhash_rust::xxh64::xxh64(&bytes[..length - 1], 0) as u8;
            }
        }
        let _ = Unpacker::new([]).with_limit(1 << 20).read(&bytes, &mut Vec::new());
    }
}
