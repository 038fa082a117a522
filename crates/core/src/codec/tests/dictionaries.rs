//! Dictionaries: what was compressed with one is decompressed with it, by contexts that share its
//! prepared form, and the wrong one is noticed where the format names it.

use super::*;

/// A dictionary in zstd's own format, learned from payloads of this seed.
fn trained(seed: u64) -> Arc<Dictionary> {
    let samples: Vec<_> = (0..400).map(|n| samples::json(600, 1_000 * seed + n)).collect();
    let sizes: Vec<_> = samples.iter().map(Vec::len).collect();
    let mut bytes = vec![0; 8 << 10];
    let length = zstd_safe::train_from_buffer(&mut bytes[..], &samples.concat(), &sizes).unwrap();
    bytes.truncate(length);
    Dictionary::new(bytes).unwrap()
}

/// A dictionary of raw content.
fn raw(bytes: usize, seed: u64) -> Arc<Dictionary> {
    Dictionary::new(samples::json(bytes, seed)).unwrap()
}

/// The codecs that take dictionaries, with levels on which they do.
fn takers() -> Vec<(&'static dyn Codec, Vec<i32>)> {
    let levels = |codec: &dyn Codec| match codec.info().dictionary_use {
        DictionaryUse::None => Vec::new(),
        DictionaryUse::HighLevels => vec![2, 3, 9, 10, 12],
        DictionaryUse::EveryLevel => vec![-50, -1, 1, 3, 9, 19, 22],
    };
    let takers = CODECS.iter().map(|codec| (*codec, levels(*codec)));
    takers.filter(|(_, levels)| !levels.is_empty()).collect()
}

fn compressed_with(
    codec: &dyn Codec,
    level: i32,
    dictionary: &Arc<Dictionary>,
    payload: &[u8],
) -> Vec<u8> {
    let mut compressor = codec.compressor(level, Some(dictionary)).unwrap();
    compressed_by(codec, compressor.as_mut(), payload)
}

#[test]
fn round_trips_on_every_level_that_takes_one() {
    // The last is longer than the 64 KiB that LZ4 uses.
    let dictionaries = [trained(1), raw(8, 2), raw(5_000, 3), raw(150_000, 4)];
    let mut payloads: Vec<_> = samples::all().into_iter().map(|(_, payload)| payload).collect();
    payloads.retain(|payload| payload.len() <= 100_000);
    payloads.extend((0..5).map(|seed| samples::json(200 + 2_000 * seed as usize, 70 + seed)));
    for (codec, levels) in takers() {
        for dictionary in &dictionaries {
            let mut decompressor = codec.decompressor(Some(dictionary)).unwrap();
            for level in &levels {
                let mut compressor = codec.compressor(*level, Some(dictionary)).unwrap();
                for round in 0..2 {
                    for payload in &payloads {
                        let body = compressed_by(codec, compressor.as_mut(), payload);
                        let mut back = vec![0; payload.len()];
                        decompressor.decompress_exact(&body, &mut back).unwrap();
                        assert!(back == *payload, "{}:{level}", codec.info().name);
                        if round == 1 && payload.len() < 10_000 {
                            let fresh = compressed_with(codec, *level, dictionary, payload);
                            assert!(fresh == body, "{}:{level}", codec.info().name);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn a_dictionary_helps() {
    let dictionary = trained(1);
    let payload = samples::json(400, 555);
    for (codec, _) in takers() {
        let level = codec.info().levels.default.max(3);
        let with = compressed_with(codec, level, &dictionary, &payload).len();
        let without = compressed(codec, level, &payload).len();
        assert!(with * 5 < without * 4, "{}: {with} and {without}", codec.info().name);
    }
}

#[test]
fn a_standard_frame_names_its_dictionary() {
    let codec = codec_named("zstd").unwrap();
    let (right, wrong) = (trained(1), trained(2));
    assert_ne!(right.id(), wrong.id());
    let payload = samples::small();
    let body = compressed_with(codec, 3, &right, &payload);
    let expected = DecompressError::NeedsDictionary { codec: "zstd", id: right.id() };
    for given in [None, Some(&wrong)] {
        let mut decompressor = codec.decompressor(given).unwrap();
        let mut back = vec![0; payload.len()];
        assert_eq!(decompressor.decompress_exact(&body, &mut back), Err(expected.clone()));
    }
    // A frame that names none is read by a context that has one.
    let plain = compressed(codec, 3, &payload);
    let mut back = vec![0; payload.len()];
    codec.decompressor(Some(&right)).unwrap().decompress_exact(&plain, &mut back).unwrap();
    assert!(back == payload);
}

#[test]
fn elsewhere_only_a_checksum_tells_the_wrong_dictionary() {
    let (right, wrong) = (raw(5_000, 3), raw(5_000, 33));
    let payload = samples::json(700, 44);
    for (codec, _) in takers() {
        let body = compressed_with(codec, 9, &right, &payload);
        for given in [None, Some(&wrong)] {
            let mut decompressor = codec.decompressor(given).unwrap();
            let mut back = vec![0; payload.len()];
            if decompressor.decompress_exact(&body, &mut back).is_ok() {
                assert!(back != payload, "{}: the dictionary was not used", codec.info().name);
            }
        }
    }
}

#[test]
fn damage_with_a_dictionary_never_panics() {
    let dictionary = raw(5_000, 3);
    let payload = samples::json(700, 44);
    let mut random = samples::Random::new(17);
    for (codec, _) in takers() {
        let body = compressed_with(codec, 9, &dictionary, &payload);
        let mut decompressor = codec.decompressor(Some(&dictionary)).unwrap();
        let mut back = vec![0; payload.len()];
        for _ in 0..2_000 {
            let mut damaged = body.clone();
            let at = random.below(damaged.len());
            damaged[at] ^= 1 << random.below(8);
            let _ = decompressor.decompress(&damaged, &mut back);
        }
        for length in 0..body.len() {
            assert!(decompressor.decompress_exact(&body[..length], &mut back).is_err());
        }
        let capacity = payload.len() - 1;
        let got = decompressor.decompress(&body, &mut back[..capacity]);
        let name = codec.info().name;
        assert_eq!(got, Err(DecompressError::OutputTooSmall { codec: name, capacity }));
        decompressor.decompress_exact(&body, &mut back).unwrap();
        assert!(back == payload);
    }
}

#[test]
fn codecs_without_dictionaries_refuse_them() {
    let dictionary = raw(1_000, 1);
    for codec in CODECS {
        let info = codec.info();
        let refusal = |level| Some(SetupError::NoDictionary { codec: info.name, level });
        let compressor = codec.compressor(info.levels.default, Some(&dictionary)).err();
        let decompressor = codec.decompressor(Some(&dictionary)).err();
        match info.dictionary_use {
            DictionaryUse::None => {
                assert_eq!((compressor, decompressor), (refusal(None), refusal(None)));
            }
            DictionaryUse::HighLevels => {
                let expected = (refusal(Some(info.levels.default)), None);
                assert_eq!((compressor, decompressor), expected);
            }
            DictionaryUse::EveryLevel => assert_eq!((compressor, decompressor), (None, None)),
        }
    }
}

#[test]
fn a_damaged_zstd_dictionary_is_refused() {
    let mut bytes = trained(1).bytes().to_vec();
    bytes[8..60].fill(0xFF);
    let dictionary = Dictionary::new(bytes).unwrap();
    for name in ["zstd", "zstd-bare"] {
        let codec = codec_named(name).unwrap();
        let expected = Some(SetupError::BadDictionary { codec: name, id: dictionary.id() });
        assert_eq!(codec.compressor(3, Some(&dictionary)).err(), expected);
        assert_eq!(codec.decompressor(Some(&dictionary)).err(), expected);
    }
    // To LZ4, a dictionary is just bytes.
    assert!(codec_named("lz4").unwrap().compressor(9, Some(&dictionary)).is_ok());
}

#[test]
fn contexts_outlive_the_dictionary_they_were_given() {
    let payload = samples::small();
    for (codec, _) in takers() {
        let dictionary = raw(5_000, 3);
        let mut compressor = codec.compressor(9, Some(&dictionary)).unwrap();
        let mut decompressor = codec.decompressor(Some(&dictionary)).unwrap();
        drop(dictionary);
        let body = compressed_by(codec, compressor.as_mut(), &payload);
        let mut back = vec![0; payload.len()];
        decompressor.decompress_exact(&body, &mut back).unwrap();
        assert!(back == payload);
    }
}

#[test]
fn threads_share_a_prepared_dictionary() {
    let dictionary = raw(5_000, 3);
    for (codec, _) in takers() {
        let expected = compressed_with(codec, 9, &dictionary, &samples::small());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut compressor = codec.compressor(9, Some(&dictionary)).unwrap();
                    for _ in 0..200 {
                        let body = compressed_by(codec, compressor.as_mut(), &samples::small());
                        assert!(body == expected);
                    }
                });
            }
        });
    }
}
