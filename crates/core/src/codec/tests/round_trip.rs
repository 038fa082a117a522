//! What goes in comes out, for every row, level and payload, and a context's past payloads leave
//! no trace in the next one's bytes.

use super::*;

#[test]
fn every_payload_at_telling_levels() {
    for (kind, payload) in samples::all() {
        for codec in CODECS {
            for level in telling_levels(*codec) {
                let name = codec.info().name;
                let body = compressed(*codec, level, &payload);
                let back = decompressed(*codec, &body, payload.len());
                assert!(
                    back.as_deref() == Ok(&payload),
                    "{name}:{level}, {kind}: {:?}",
                    back.err()
                );
            }
        }
    }
}

#[test]
fn every_level_on_a_medium_payload() {
    let payload = samples::json(20_000, 9);
    for codec in CODECS {
        let mut decompressor = codec.decompressor(None).unwrap();
        let mut back = vec![0; payload.len()];
        for level in codec.info().levels.min..=codec.info().levels.max {
            let body = compressed(*codec, level, &payload);
            decompressor.decompress_exact(&body, &mut back).unwrap();
            assert!(back == payload, "{}:{level}", codec.info().name);
        }
    }
}

#[test]
fn a_reused_context_writes_what_a_new_one_does() {
    let mut payloads: Vec<Vec<u8>> =
        samples::all().into_iter().map(|(_, payload)| payload).collect();
    payloads.retain(|payload| payload.len() < 1 << 18);
    payloads.extend((0..8).map(|seed| samples::json(100 + 700 * seed as usize, 20 + seed)));
    payloads.push(samples::json(70_000, 31));
    for codec in CODECS {
        for level in telling_levels(*codec) {
            let fresh: Vec<_> =
                payloads.iter().map(|payload| compressed(*codec, level, payload)).collect();
            let mut compressor = codec.compressor(level, None).unwrap();
            let mut decompressor = codec.decompressor(None).unwrap();
            let mut random = samples::Random::new(7);
            for _ in 0..60 {
                let index = random.below(payloads.len());
                let body = compressed_by(*codec, compressor.as_mut(), &payloads[index]);
                assert!(body == fresh[index], "{}:{level}, payload {index}", codec.info().name);
                let mut back = vec![0; payloads[index].len()];
                decompressor.decompress_exact(&body, &mut back).unwrap();
                assert!(back == payloads[index]);
            }
        }
    }
}

#[test]
fn fast_lz4_is_the_same_after_thousands_of_payloads() {
    // Its table is kept between calls until an index would overflow 16 bits.
    for name in ["lz4", "lz4-frame"] {
        let codec = codec_named(name).unwrap();
        let mut random = samples::Random::new(8);
        for level in [-3, 1, 2, 9] {
            let mut compressor = codec.compressor(level, None).unwrap();
            for seed in 0..2_000 {
                let payload = samples::json(50 + random.below(3_000), seed);
                let body = compressed_by(codec, compressor.as_mut(), &payload);
                let fresh = compressed(codec, level, &payload);
                assert!(body == fresh, "{name}:{level}, payload {seed}");
            }
        }
    }
}

#[test]
fn linked_lz4_blocks_are_the_same_after_many_payloads() {
    // Payloads of one block and of several, which use the fast compressor's table differently.
    let codec = codec_named("lz4-frame").unwrap();
    let mut random = samples::Random::new(9);
    let mut decompressor = codec.decompressor(None).unwrap();
    for level in [-3, 1, 2, 9, 12] {
        let mut compressor = codec.compressor(level, None).unwrap();
        for seed in 0..60 {
            let payload = samples::json(50 + random.below([3_000, 400_000][seed % 2]), seed as u64);
            let body = compressed_by(codec, compressor.as_mut(), &payload);
            assert!(body == compressed(codec, level, &payload), "{level}, payload {seed}");
            let mut back = vec![0; payload.len()];
            decompressor.decompress_exact(&body, &mut back).unwrap();
            assert!(back == payload);
        }
    }
}

#[test]
fn a_buffer_of_exactly_the_size_is_enough_for_an_lz4_frame() {
    let codec = codec_named("lz4-frame").unwrap();
    for (kind, payload) in samples::all() {
        let body = compressed(codec, 1, &payload);
        let mut room = vec![0; body.len()];
        let got = codec.compressor(1, None).unwrap().compress(&payload, &mut room);
        assert_eq!(got, Ok(body.len()), "{kind}");
        assert!(room == body, "{kind}");
    }
}

#[test]
fn the_bound_holds_for_what_never_shrinks() {
    // The upper half of the bytes: those that a fixed code of DEFLATE gives nine bits.
    let noise: Vec<u8> = samples::noise(70_000, 14).iter().map(|byte| byte | 0x80).collect();
    for codec in CODECS {
        for level in telling_levels(*codec) {
            let mut compressor = codec.compressor(level, None).unwrap();
            for length in (0..200).chain([255, 256, 257, 4_095, 16_384, 65_535, 65_536, 70_000]) {
                // This unwraps, with a buffer of the bound.
                compressed_by(*codec, compressor.as_mut(), &noise[..length]);
            }
        }
    }
}

#[test]
fn a_larger_buffer_is_not_filled() {
    for (_, payload) in samples::all() {
        for codec in CODECS {
            let body = compressed(*codec, codec.info().levels.default, &payload);
            let mut back = vec![0x5A; payload.len() + 1000];
            let written = codec.decompressor(None).unwrap().decompress(&body, &mut back);
            assert_eq!(written, Ok(payload.len()), "{}", codec.info().name);
            assert!(back[..payload.len()] == payload);
            let name = codec.info().name;
            let got = codec.decompressor(None).unwrap().decompress_exact(&body, &mut back);
            let expected = back.len();
            let wrong = DecompressError::WrongLength { codec: name, expected, got: payload.len() };
            assert_eq!(got, Err(wrong));
        }
    }
}

#[test]
fn rows_of_one_id_read_each_other() {
    for writer in CODECS {
        for reader in CODECS.iter().filter(|reader| reader.info().id == writer.info().id) {
            for (kind, payload) in samples::all() {
                let body = compressed(*writer, writer.info().levels.default, &payload);
                let back = decompressed(*reader, &body, payload.len());
                let (from, to) = (writer.info().name, reader.info().name);
                assert!(back.as_deref() == Ok(&payload), "{from} to {to}, {kind}");
            }
        }
    }
}

#[test]
fn a_buffer_too_small_to_compress_into_is_an_error_and_no_more() {
    for (kind, payload) in samples::all() {
        for codec in CODECS {
            let name = codec.info().name;
            for level in telling_levels(*codec) {
                // The slowest levels on the largest payloads would show nothing new.
                if level >= codec.info().levels.slow_from && payload.len() > 1 << 18 {
                    continue;
                }
                let mut compressor = codec.compressor(level, None).unwrap();
                let body = compressed_by(*codec, compressor.as_mut(), &payload);
                for capacity in [0, body.len() / 2, body.len().saturating_sub(1)] {
                    if capacity >= body.len() {
                        continue;
                    }
                    let mut room = vec![0; capacity];
                    let got = compressor.compress(&payload, &mut room);
                    let expected = CompressError::OutputTooSmall { codec: name, capacity };
                    assert_eq!(got, Err(expected), "{name}:{level}, {kind}");
                }
                let again = compressed_by(*codec, compressor.as_mut(), &payload);
                assert!(again == body, "{name}:{level}, {kind}: an error left its mark");
            }
        }
    }
}

#[test]
fn a_buffer_short_by_a_byte_is_never_written_as_if_whole() {
    // A library once did; small payloads of every shape, at every level.
    let mut random = samples::Random::new(19);
    let payloads: Vec<Vec<u8>> = (0..16)
        .map(|seed| {
            let alphabet = 1 + random.below(255);
            let length = 1 + random.below(200);
            samples::noise(length, seed).iter().map(|byte| byte % alphabet as u8).collect()
        })
        .collect();
    for codec in CODECS {
        let info = codec.info();
        let mut decompressor = codec.decompressor(None).unwrap();
        for level in info.levels.min.max(-1)..=info.levels.max {
            let mut compressor = codec.compressor(level, None).unwrap();
            for payload in &payloads {
                let body = compressed_by(*codec, compressor.as_mut(), payload);
                for missing in 1..=4.min(body.len()) {
                    let mut room = vec![0; body.len() - missing];
                    if let Ok(length) = compressor.compress(payload, &mut room) {
                        // Other bytes of a smaller length would be welcome, if they were right.
                        let mut back = vec![0; payload.len()];
                        decompressor.decompress_exact(&room[..length], &mut back).unwrap();
                        assert!(back == *payload, "{}:{level}", info.name);
                    }
                }
            }
        }
    }
}

#[test]
fn contexts_work_on_other_threads() {
    let payload = samples::json(20_000, 4);
    for codec in CODECS {
        let level = codec.info().levels.default;
        let mut compressor = codec.compressor(level, None).unwrap();
        let mut decompressor = codec.decompressor(None).unwrap();
        let body = compressed_by(*codec, compressor.as_mut(), &payload);
        let moved = std::thread::scope(|scope| {
            let worker = scope.spawn(|| {
                let body = compressed_by(*codec, compressor.as_mut(), &payload);
                let mut back = vec![0; payload.len()];
                decompressor.decompress_exact(&body, &mut back).unwrap();
                assert!(back == payload);
                // The contexts are dropped on this thread.
                drop((compressor, decompressor));
                body
            });
            worker.join().unwrap()
        });
        assert!(moved == body, "{}", codec.info().name);
    }
}
