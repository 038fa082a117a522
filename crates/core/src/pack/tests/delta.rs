//! Tests of deltas: what comes back, when there is none and why, and that no other base, no damage
//! and no lie in a header ever gives other bytes.

use std::sync::Arc;

use proptest::prelude::*;

use super::{CART, forged, profile, schemaless};
use crate::codec::{CODECS, CodecChoice, CodecId};
use crate::dictionary::Dictionary;
use crate::encoding::EncodingId;
use crate::envelope::{FIELD_BASE, FIELD_SCHEMA, Field, Header, UnpackError, base_id, checksum};
use crate::limits::{BASE_BYTES_MAX, BASE_BYTES_MIN};
use crate::pack::{DeltaOutcome, Found, NotDelta, Outcome, Packer, PlainReason, Unpacker};
use crate::profile::{Method, Profile, Rule, VerifyOnPack};

/// The cart after somebody put one more in.
fn next_cart() -> Vec<u8> {
    String::from_utf8_lossy(CART).replace("\"quantity\":2", "\"quantity\":3").into_bytes()
}

fn pack_against(profile: &Profile, previous: &[u8], payload: &[u8]) -> (Vec<u8>, DeltaOutcome) {
    let mut out = b"left over".to_vec();
    let outcome = Packer::new(profile).unwrap().pack_against(previous, payload, &mut out).unwrap();
    (out, outcome)
}

/// Reads a value with one version at hand.
fn read_against(base: &[u8], value: &[u8]) -> Result<Vec<u8>, UnpackError> {
    let mut out = vec![1, 2, 3];
    let result = Unpacker::new([]).read_against(|_| Some(base), value, &mut out);
    assert!(result.is_ok() || out.is_empty(), "bytes handed out beside an error");
    result.map(|_| out)
}

/// A delta of the cart, with its base.
fn delta() -> (Vec<u8>, &'static [u8]) {
    let (out, outcome) = pack_against(&profile("verbatim", "zstd"), CART, &next_cart());
    assert_eq!(outcome, DeltaOutcome::Delta { base: base_id(CART) });
    (out, CART)
}

/// The reason for which there is no delta, once the value is what packing alone gives.
fn reason(profile: &Profile, previous: &[u8], payload: &[u8]) -> NotDelta {
    let (out, outcome) = pack_against(profile, previous, payload);
    let mut alone = Vec::new();
    let expected = Packer::new(profile).unwrap().pack(payload, &mut alone).unwrap();
    assert_eq!(out, alone);
    let DeltaOutcome::Whole { outcome, reason } = outcome else { panic!("{outcome:?}") };
    assert_eq!(outcome, expected);
    reason
}

#[test]
fn a_delta_names_its_base_and_comes_back() {
    let (out, base) = delta();
    let mut alone = Vec::new();
    let zstd = profile("verbatim", "zstd");
    Packer::new(&zstd).unwrap().pack(&next_cart(), &mut alone).unwrap();
    assert!(out.len() * 2 < alone.len(), "{} and {} bytes", out.len(), alone.len());
    let (header, _) = Header::read(&out).unwrap();
    assert_eq!(header.base(), Some(base_id(base)));
    assert_eq!((header.encoding, header.dictionary), (None, None));
    assert_eq!(header.checksum, Some(checksum(&next_cart())));
    assert_eq!(read_against(base, &out), Ok(next_cart()));
    let mut payload = Vec::new();
    let found = Unpacker::new([]).read_against(|_| Some(base), &out, &mut payload);
    assert_eq!(found, Ok(Found::Envelope(header)));
}

#[test]
fn the_base_is_asked_for_by_its_id() {
    let (out, base) = delta();
    let versions = [b"an older version".to_vec(), base.to_vec(), next_cart()];
    let mut asked = Vec::new();
    let base_of = |id| {
        asked.push(id);
        versions.iter().map(Vec::as_slice).find(|version| base_id(version) == id)
    };
    let mut payload = Vec::new();
    Unpacker::new([]).unpack_against(base_of, &out, &mut payload).unwrap();
    assert_eq!(payload, next_cart());
    assert_eq!(asked, [base_id(base)]);
}

#[test]
fn a_base_that_is_missing_or_another_is_named() {
    let (out, base) = delta();
    let missing = UnpackError::MissingBase { id: Some(base_id(base)) };
    let mut payload = Vec::new();
    let mut unpacker = Unpacker::new([]);
    assert_eq!(unpacker.unpack(&out, &mut payload).unwrap_err(), missing);
    for other in [&b""[..], &base[1..], &next_cart(), &[base, b"\n"].concat()] {
        assert_eq!(read_against(other, &out).unwrap_err(), missing);
    }
    // The unpacker is none the worse for it.
    unpacker.unpack_against(|_| Some(base), &out, &mut payload).unwrap();
    assert_eq!(payload, next_cart());
    let message = UnpackError::MissingBase { id: Some(0x1234) }.to_string();
    assert_eq!(message, "the base 0x0000000000001234 of the delta is missing");
}

#[test]
fn where_there_is_no_delta_the_reason_is_told() {
    let zstd = profile("verbatim", "zstd");
    let next = next_cart();
    assert_eq!(reason(&zstd, b"", &next), NotDelta::BaseLength { got: 0 });
    let short = &CART[..BASE_BYTES_MIN - 1];
    assert_eq!(reason(&zstd, short, &next), NotDelta::BaseLength { got: BASE_BYTES_MIN - 1 });
    let long = vec![b' '; BASE_BYTES_MAX + 1];
    assert_eq!(reason(&zstd, &long, &next), NotDelta::BaseLength { got: BASE_BYTES_MAX + 1 });
    let (packed, _) = delta();
    assert_eq!(reason(&zstd, &packed, &next), NotDelta::BaseIsPacked);
    let interop = [&crate::pack::INTEROP_MAGIC[..], CART].concat();
    assert_eq!(reason(&zstd, &interop, &next), NotDelta::BaseIsPacked);
    let unlike = b"nothing that the cart has in it, not a word";
    assert_eq!(reason(&zstd, unlike, &next), NotDelta::GainTooSmall);
    // What is wrapped or left plain on purpose stays so.
    for payload in [&b"{}"[..], &packed, b"12.50", &[&b"\x1F\x8B\x08"[..], CART].concat()] {
        assert_eq!(reason(&zstd, payload, payload), NotDelta::NotCompressed);
    }
    let plain = Rule { max_bytes: 1_000, method: None };
    let ruled = Profile { rules: vec![plain], ..profile("verbatim", "zstd") };
    assert_eq!(reason(&ruled, CART, &next), NotDelta::NotCompressed);
}

#[test]
fn exactly_the_codecs_that_take_a_prefix_make_deltas() {
    for codec in CODECS {
        let info = codec.info();
        let profile = Profile { min_gain: 0.0, ..profile("verbatim", info.name) };
        let bare = codec.bare_form().unwrap_or(*codec).info();
        let (out, outcome) = pack_against(&profile, CART, &next_cart());
        match outcome {
            DeltaOutcome::Delta { base } => {
                assert!(bare.takes_prefix && base == base_id(CART), "{}", info.name);
                assert_eq!(Header::read(&out).unwrap().0.codec, bare.id);
            }
            DeltaOutcome::Whole { reason, .. } => {
                assert!(!bare.takes_prefix, "{}", info.name);
                assert_eq!(reason, NotDelta::Codec { codec: bare.name });
            }
        }
        assert_eq!(read_against(CART, &out), Ok(next_cart()), "{}", info.name);
    }
}

#[test]
fn a_delta_is_of_the_very_text_whatever_the_encoding() {
    // White space that no encoding keeps, and a number whose spelling most change.
    let texts = [CART.to_vec(), next_cart()];
    for encoding in schemaless() {
        let profile = profile(encoding.name, "zstd");
        let (out, outcome) = pack_against(&profile, &texts[0], &texts[1]);
        assert_eq!(outcome, DeltaOutcome::Delta { base: base_id(&texts[0]) }, "{}", encoding.name);
        assert_eq!(read_against(&texts[0], &out).as_ref(), Ok(&texts[1]), "{}", encoding.name);
    }
}

#[test]
fn a_payload_that_does_not_shrink_alone_may_be_a_delta() {
    let mut state = 1u64;
    let mut noise: Vec<u8> = (0..500)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8 | 0x20
        })
        .collect();
    let zstd = profile("verbatim", "zstd");
    let before = noise.clone();
    noise[250] ^= 1;
    let mut alone = Vec::new();
    let outcome = Packer::new(&zstd).unwrap().pack(&noise, &mut alone).unwrap();
    assert_eq!(outcome, Outcome::Plain(PlainReason::GainTooSmall));
    let (out, outcome) = pack_against(&zstd, &before, &noise);
    assert_eq!(outcome, DeltaOutcome::Delta { base: base_id(&before) });
    assert!(out.len() < 100, "{} bytes", out.len());
    assert_eq!(read_against(&before, &out), Ok(noise));
}

#[test]
fn the_gain_over_the_payload_alone_is_what_counts() {
    let zstd = profile("verbatim", "zstd");
    let (out, _) = pack_against(&zstd, CART, &next_cart());
    let mut alone = Vec::new();
    Packer::new(&zstd).unwrap().pack(&next_cart(), &mut alone).unwrap();
    let gain = 1.0 - out.len() as f64 / alone.len() as f64;
    let alone_gain = 1.0 - alone.len() as f64 / next_cart().len() as f64;
    let (low, high) = (gain - 0.01, gain + 0.01);
    assert!(alone_gain < low, "the test needs a payload whose delta is the better part");
    let asking = |min_gain| Profile { min_gain, ..profile("verbatim", "zstd") };
    let (_, outcome) = pack_against(&asking(low), CART, &next_cart());
    // Alone it gains too little, and the delta is compared with the plain payload.
    assert!(matches!(outcome, DeltaOutcome::Delta { .. }));
    let middle = alone_gain - 0.01;
    assert!(matches!(
        pack_against(&asking(middle), CART, &next_cart()).1,
        DeltaOutcome::Delta { .. }
    ));
    assert!(high < 1.0);
    // However little is asked for, what is larger is no delta.
    let greedy = asking(-100.0);
    assert_eq!(reason(&greedy, b"nothing that the cart has", &next_cart()), NotDelta::GainTooSmall);
}

#[test]
fn rules_and_dictionaries_are_left_as_they_were() {
    let dictionary = Dictionary::new(CART.repeat(3)).unwrap();
    let mut profile = profile("verbatim", "zstd:9");
    profile.verify_on_pack = VerifyOnPack::Always;
    profile.min_gain = 0.0;
    profile.dictionary = Some(Arc::clone(&dictionary));
    let CodecChoice { codec, .. } = CodecChoice::parse("zstd").unwrap();
    let method = Method {
        encoding: profile.encoding,
        codec: CodecChoice { codec, level: 1 },
        dictionary: None,
        schema: None,
    };
    profile.rules = vec![Rule { max_bytes: 2 * CART.len(), method: Some(method) }];
    let mut packer = Packer::new(&profile).unwrap();
    let mut unpacker = Unpacker::new([dictionary]);
    let (mut first, mut out, mut back) = (Vec::new(), Vec::new(), Vec::new());
    // A cart that the dictionary does not hold, in its own rule and beyond it.
    for payload in [next_cart(), [next_cart(), CART.to_ascii_uppercase(), next_cart()].concat()] {
        let previous = payload.to_ascii_uppercase();
        let next = [&previous[..], b" and a word"].concat();
        packer.pack(&payload, &mut first).unwrap();
        let outcome = packer.pack_against(&previous, &next, &mut out).unwrap();
        assert_eq!(outcome, DeltaOutcome::Delta { base: base_id(&previous) });
        unpacker.unpack_against(|_| Some(&previous), &out, &mut back).unwrap();
        assert_eq!(back, next);
        packer.pack(&payload, &mut out).unwrap();
        assert_eq!(out, first, "a delta left its mark");
        unpacker.read(&out, &mut back).unwrap();
        assert_eq!(back, payload);
    }
}

/// An envelope around a stored body that claims to be a delta against the cart.
fn claiming(change: impl FnOnce(&mut Header)) -> Vec<u8> {
    forged(b"hello", |header| {
        header.fields = vec![Field { kind: FIELD_BASE, value: base_id(CART).to_le_bytes().into() }];
        change(header);
    })
}

#[test]
fn what_no_delta_may_be_is_damage() {
    let damaged = |value: &[u8]| {
        let error = read_against(CART, value).unwrap_err();
        assert!(matches!(error, UnpackError::Damaged { .. }), "{error:?}");
    };
    damaged(&claiming(|header| header.dictionary = Some(70_000)));
    damaged(&claiming(|header| header.encoding = Some(EncodingId(0x10))));
    damaged(&claiming(|header| header.fields.push(header.fields[0].clone())));
    damaged(&claiming(|header| header.checksum = None));
    for codec in CODECS.iter().filter(|codec| !codec.info().takes_prefix) {
        damaged(&claiming(|header| header.codec = codec.info().id));
    }
    let named =
        |value: Vec<u8>| claiming(|header| header.fields = vec![Field { kind: FIELD_BASE, value }]);
    let id = base_id(CART);
    let missing = |id| Err(UnpackError::MissingBase { id });
    for value in [&id.to_le_bytes()[..7], &[&id.to_le_bytes()[..], &[0]].concat(), b""] {
        assert_eq!(read_against(CART, &named(value.to_vec())), missing(None));
    }
    let swapped = id.swap_bytes();
    assert_eq!(read_against(CART, &named(swapped.to_le_bytes().into())), missing(Some(swapped)));
    let schema = Field { kind: FIELD_SCHEMA, value: b"12345678".to_vec() };
    let both = claiming(|header| header.fields.push(schema));
    assert_eq!(read_against(CART, &both), Err(UnpackError::MissingSchema));
    let unknown = claiming(|header| header.codec = CodecId(0x7F));
    assert_eq!(read_against(CART, &unknown), Err(UnpackError::UnknownCodec { id: 0x7F }));
}

#[test]
fn no_truncation_and_no_flipped_bit_gives_other_bytes() {
    let (out, base) = delta();
    for length in 2..out.len() {
        let error = read_against(base, &out[..length]).unwrap_err();
        assert!(matches!(error, UnpackError::Damaged { .. }), "{length}: {error:?}");
    }
    for bit in 0..out.len() * 8 {
        let mut flipped = out.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let mut payload = Vec::new();
        let read = Unpacker::new([]).unpack_against(|_| Some(base), &flipped, &mut payload);
        assert!(read.is_err() || payload == next_cart(), "bit {bit}");
    }
}

#[test]
fn a_context_that_is_reused_writes_what_a_new_one_does() {
    let profile = Profile { verify_on_pack: VerifyOnPack::Always, ..profile("columnar", "zstd") };
    let mut packer = Packer::new(&profile).unwrap();
    let mut out = Vec::new();
    for times in [1, 40, 2, 300, 1] {
        let (previous, payload) = (CART.repeat(times), next_cart().repeat(times));
        let outcome = packer.pack_against(&previous, &payload, &mut out).unwrap();
        assert!(matches!(outcome, DeltaOutcome::Delta { .. }), "{times}: {outcome:?}");
        assert_eq!(out, pack_against(&profile, &previous, &payload).0);
        assert_eq!(read_against(&previous, &out).unwrap(), payload);
    }
}

proptest! {
    #[test]
    fn what_was_packed_against_any_version_comes_back(
        previous in prop::collection::vec(any::<u8>(), 0..300),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        start in prop::sample::select(vec![&b""[..], b"\xC1\x9E\x9A\x90", b"{\"a\":"]),
        repeats in 1usize..20,
        encoding in prop::sample::select(schemaless()),
    ) {
        let previous = previous.repeat(repeats);
        let mut payload = previous.clone();
        for (at, byte) in edits {
            payload.insert(at.index(payload.len() + 1), byte);
        }
        payload.splice(0..0, start.iter().copied());
        let profile = profile(encoding.name, "zstd");
        let (out, outcome) = pack_against(&profile, &previous, &payload);
        let read = read_against(&previous, &out);
        if matches!(outcome, DeltaOutcome::Delta { .. }) || encoding.name == "verbatim" {
            prop_assert_eq!(read.unwrap(), payload);
        } else {
            prop_assert!(read.is_ok());
        }
    }

    #[test]
    fn another_base_or_damage_never_gives_other_bytes(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        of_base in any::<bool>(),
        is_named in any::<bool>(),
    ) {
        let (mut out, base) = delta();
        let mut base = base.to_vec();
        let header_bytes = usize::from(out[3] & 0x7F);
        for (at, byte) in edits {
            let target = if of_base { &mut base } else { &mut out };
            // The body only, when its header is to be sound.
            let start = if of_base || !is_named { 0 } else { header_bytes };
            let at = start + at.index(target.len() - start);
            target[at] ^= byte;
        }
        if of_base && is_named {
            // The header names the changed base, so that only the checksum is left to tell.
            let (mut header, length) = Header::read(&out).unwrap();
            header.fields[0].value = base_id(&base).to_le_bytes().into();
            let mut renamed = Vec::new();
            header.write(&mut renamed).unwrap();
            out.splice(..length, renamed);
        }
        let mut payload = b"left over".to_vec();
        match Unpacker::new([]).unpack_against(|_| Some(&base), &out, &mut payload) {
            Ok(_) => prop_assert_eq!(payload, next_cart()),
            Err(_) => prop_assert!(payload.is_empty()),
        }
    }
}
