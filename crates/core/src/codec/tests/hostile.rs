//! Damaged, cut, extended and hostile bodies: every one is an error of the right kind, none
//! panics, none allocates by what it says of itself, and the context is as good as before.

use super::*;

/// A decompressor that must still read `body` after whatever was done to it.
struct Survivor {
    decompressor: Box<dyn Decompressor>,
    body: Vec<u8>,
    payload: Vec<u8>,
}

impl Survivor {
    fn new(codec: &dyn Codec) -> Survivor {
        let payload = samples::small();
        let body = compressed(codec, codec.info().levels.default, &payload);
        Survivor { decompressor: codec.decompressor(None).unwrap(), body, payload }
    }
}

impl Drop for Survivor {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let mut back = vec![0; self.payload.len()];
            self.decompressor.decompress_exact(&self.body, &mut back).unwrap();
            assert!(back == self.payload);
        }
    }
}

#[test]
fn content_longer_than_the_buffer() {
    for (kind, payload) in samples::all() {
        for codec in CODECS {
            for level in telling_levels(*codec) {
                if level >= codec.info().levels.slow_from && payload.len() > 1 << 18 {
                    continue;
                }
                let mut survivor = Survivor::new(*codec);
                let body = compressed(*codec, level, &payload);
                for capacity in [0, 1, payload.len() / 2, payload.len().saturating_sub(1)] {
                    if capacity >= payload.len() {
                        continue;
                    }
                    // What lies behind the buffer must stay as it is.
                    let mut memory = vec![0x5A; capacity + 64];
                    let got = survivor.decompressor.decompress(&body, &mut memory[..capacity]);
                    let name = codec.info().name;
                    let expected = DecompressError::OutputTooSmall { codec: name, capacity };
                    assert_eq!(got, Err(expected), "{name}:{level}, {kind}, {capacity}");
                    assert!(memory[capacity..].iter().all(|&byte| byte == 0x5A));
                }
            }
        }
    }
}

#[test]
fn every_truncation() {
    for codec in CODECS {
        let name = codec.info().name;
        let mut survivor = Survivor::new(*codec);
        let body = survivor.body.clone();
        let mut back = vec![0; survivor.payload.len()];
        for length in 0..body.len() {
            let cut = &body[..length];
            let got = survivor.decompressor.decompress_exact(cut, &mut back);
            assert!(got.is_err(), "{name}: {length} of {} bytes were enough", body.len());
            if marks_its_end(*codec) {
                assert_eq!(got, Err(DecompressError::Corrupt { codec: name }), "{length}");
            }
            // The same with room to spare, where "too small" cannot hide the cut.
            let mut roomy = vec![0; back.len() + 100];
            let got = survivor.decompressor.decompress_exact(cut, &mut roomy[..back.len() + 1]);
            assert!(got.is_err(), "{name}: {length}");
            if marks_its_end(*codec) {
                assert!(survivor.decompressor.decompress(cut, &mut roomy).is_err(), "{name}");
            }
        }
    }
}

#[test]
fn an_empty_body_is_damage() {
    for codec in CODECS.iter().filter(|codec| codec.info().name != "stored") {
        let name = codec.info().name;
        for capacity in [0, 1, 100] {
            let got = codec.decompressor(None).unwrap().decompress(&[], &mut vec![0; capacity]);
            assert_eq!(got, Err(DecompressError::Corrupt { codec: name }));
        }
    }
}

#[test]
fn bytes_after_the_end() {
    for codec in CODECS.iter().filter(|codec| codec.info().name != "stored") {
        let name = codec.info().name;
        let mut survivor = Survivor::new(*codec);
        let second = survivor.body.clone();
        let skippable = [0x50, 0x2A, 0x4D, 0x18, 0, 0, 0, 0];
        for extra in [&[0][..], &[1], &[0xFF], &[0; 100], &skippable, &second] {
            let mut body = second.clone();
            body.extend_from_slice(extra);
            for spare in [0, 1, 1000] {
                let mut back = vec![0; survivor.payload.len() + spare];
                let got = survivor.decompressor.decompress(&body, &mut back);
                if marks_its_end(*codec) {
                    let count = extra.len();
                    assert_eq!(got, Err(DecompressError::TrailingBytes { codec: name, count }));
                } else {
                    assert!(got != Ok(survivor.payload.len()), "{name}: {extra:?}");
                }
            }
        }
    }
}

#[test]
fn random_damage_never_panics() {
    for codec in CODECS {
        let mut survivor = Survivor::new(*codec);
        let mut random = samples::Random::new(11);
        let long = samples::json(5_000, 12);
        let bodies = [
            (survivor.body.clone(), survivor.payload.len()),
            (compressed(*codec, codec.info().levels.default, &long), long.len()),
        ];
        for round in 0..1_500 {
            let (body, length) = &bodies[round % 2];
            let mut damaged = body.clone();
            for _ in 0..1 + random.below(3) {
                let at = random.below(damaged.len());
                damaged[at] ^= 1 << random.below(8);
            }
            if round % 5 == 0 {
                damaged.truncate(random.below(damaged.len()));
            }
            let capacity = [*length, length + 100, length / 2, 0][random.below(4)];
            let mut memory = vec![0x5A; capacity + 64];
            if let Ok(written) = survivor.decompressor.decompress(&damaged, &mut memory[..capacity])
            {
                assert!(written <= capacity);
            }
            assert!(memory[capacity..].iter().all(|&byte| byte == 0x5A));
        }
    }
}

#[test]
fn random_bytes_never_panic() {
    for codec in CODECS {
        let mut survivor = Survivor::new(*codec);
        let mut random = samples::Random::new(13);
        let starts: &[&[u8]] = &[&[], &survivor.body.clone()[..4], &survivor.body.clone()[..12]];
        for seed in 0..600 {
            let mut body = starts[random.below(3)].to_vec();
            body.extend(samples::noise(1 + random.below(200), seed));
            let mut memory = vec![0x5A; 500 + 64];
            let _ = survivor.decompressor.decompress(&body, &mut memory[..500]);
            assert!(memory[500..].iter().all(|&byte| byte == 0x5A));
        }
    }
}
