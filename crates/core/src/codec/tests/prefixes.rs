//! Prefixes: what was compressed after one is decompressed after it, whatever the prefix looks
//! like, and a context that had one is as good as new for the next payload without.

use super::*;

/// The codecs that take a prefix.
fn takers() -> impl Iterator<Item = &'static dyn Codec> {
    CODECS.iter().copied().filter(|codec| codec.info().takes_prefix)
}

/// Compresses after a prefix into a buffer of exactly the codec's bound.
fn after(codec: &dyn Codec, compressor: &mut dyn Compressor, [old, new]: [&[u8]; 2]) -> Vec<u8> {
    let mut body = vec![0xA5; codec.compress_bound(new.len())];
    let prefixed = compressor.with_prefix().unwrap();
    let length = prefixed.compress_after(old, new, &mut body).unwrap();
    body.truncate(length);
    body
}

/// The same with a context made for it.
fn fresh(codec: &dyn Codec, level: i32, versions: [&[u8]; 2]) -> Vec<u8> {
    after(codec, codec.compressor(level, None).unwrap().as_mut(), versions)
}

fn back(
    decompressor: &mut dyn Decompressor,
    prefix: &[u8],
    body: &[u8],
    length: usize,
) -> Result<Vec<u8>, DecompressError> {
    let mut payload = vec![0x5A; length];
    let prefixed = decompressor.with_prefix().unwrap();
    prefixed.decompress_exact_after(prefix, body, &mut payload)?;
    Ok(payload)
}

/// A document with a few of its bytes changed and some put in.
fn next_version(document: &[u8], seed: u64) -> Vec<u8> {
    let mut random = samples::Random::new(seed);
    let mut next = document.to_vec();
    for _ in 0..4 {
        let at = random.below(next.len());
        next[at] = b'0' + random.below(10) as u8;
    }
    let at = random.below(next.len());
    next.splice(at..at, *b"something else");
    next
}

/// Pairs of versions: alike, unlike, empty, long, and with a prefix that looks like something.
fn pairs() -> Vec<[Vec<u8>; 2]> {
    let mut pairs: Vec<[Vec<u8>; 2]> = [9, 300, 3_000, 40_000, 300_000]
        .into_iter()
        .map(|length| samples::json(length, 50))
        .map(|old| [next_version(&old, 51), old])
        .map(|[new, old]| [old, new])
        .collect();
    let small = samples::small();
    pairs.push([small.clone(), small.clone()]);
    pairs.push([small.clone(), Vec::new()]);
    pairs.push([Vec::new(), small.clone()]);
    pairs.push([b"{".to_vec(), small.clone()]);
    pairs.push([samples::noise(70_000, 52), samples::noise(70_000, 53)]);
    // In zstd's own format a dictionary starts so, and a skippable frame so; to a prefix these are
    // bytes like any other.
    for start in [&[0x37, 0xA4, 0x30, 0xEC][..], &[0x50, 0x2A, 0x4D, 0x18]] {
        let old = [start, &samples::json(2_000, 54)].concat();
        pairs.push([old.clone(), next_version(&old, 55)]);
    }
    pairs
}

#[test]
fn the_registry_says_who_takes_one() {
    for codec in CODECS {
        let takes = codec.info().takes_prefix;
        let level = codec.info().levels.default;
        let name = codec.info().name;
        assert_eq!(codec.compressor(level, None).unwrap().with_prefix().is_some(), takes, "{name}");
        let mut decompressor = codec.decompressor(None).unwrap();
        assert_eq!(decompressor.with_prefix().map(|found| found.name()), takes.then_some(name));
    }
    assert!(takers().count() > 0);
}

#[test]
fn round_trips_on_every_level_by_contexts_old_and_new() {
    for codec in takers() {
        let mut decompressor = codec.decompressor(None).unwrap();
        for level in codec.info().levels.min..=codec.info().levels.max {
            let mut compressor = codec.compressor(level, None).unwrap();
            let is_telling = telling_levels(codec).contains(&level);
            let pairs = pairs().into_iter().filter(|[old, _]| is_telling || old.len() < 5_000);
            for [old, new] in pairs {
                let body = after(codec, compressor.as_mut(), [&old, &new]);
                let payload = back(decompressor.as_mut(), &old, &body, new.len());
                assert_eq!(payload.as_deref(), Ok(&new[..]), "{}:{level}", codec.info().name);
                if is_telling {
                    assert!(body == fresh(codec, level, [&old, &new]), "{level}, {}", old.len());
                }
            }
        }
    }
}

#[test]
fn a_version_costs_little_more_than_its_changes() {
    let old = samples::json(30_000, 56);
    let new = next_version(&old, 57);
    for codec in takers() {
        for level in telling_levels(codec) {
            let against = fresh(codec, level, [&old, &new]).len();
            let alone = compressed(codec, level, &new).len();
            let name = codec.info().name;
            assert!(against * 10 < alone, "{name}:{level}: {against} and {alone}");
        }
    }
}

#[test]
fn all_of_a_long_prefix_is_reached() {
    // The longest has parts that moved further than the window of every fast level.
    for length in [100 << 10, 900 << 10, 5 << 20] {
        let old = samples::noise(length, 58);
        let (first, second) = old.split_at(length / 5 * 3);
        let new = [second, b"something else", first].concat();
        for codec in takers() {
            let levels = codec.info().levels;
            for level in [levels.min, 1, levels.default, 6, 9] {
                let body = fresh(codec, level, [&old, &new]);
                let name = codec.info().name;
                assert!(body.len() < 20_000, "{name}:{level}: {} of {length}", body.len());
                let mut decompressor = codec.decompressor(None).unwrap();
                assert!(back(decompressor.as_mut(), &old, &body, new.len()).unwrap() == new);
            }
        }
    }
}

#[test]
fn where_the_prefix_lies_in_memory_changes_nothing() {
    let old = samples::json(3_000, 59);
    let new = next_version(&old, 60);
    let both = [&old[..], &new].concat();
    for codec in takers() {
        for level in telling_levels(codec) {
            let apart = fresh(codec, level, [&old, &new]);
            let (before, behind) = both.split_at(old.len());
            assert!(fresh(codec, level, [before, behind]) == apart, "{}", codec.info().name);
        }
    }
}

#[test]
fn the_next_payload_does_not_notice() {
    let dictionary = Dictionary::new(samples::json(5_000, 61)).unwrap();
    let (old, payload) = (samples::json(200_000, 62), samples::json(900, 63));
    let new = next_version(&old, 64);
    for codec in takers() {
        for dictionary in [None, Some(&dictionary)] {
            for level in telling_levels(codec) {
                let mut compressor = codec.compressor(level, dictionary).unwrap();
                let mut decompressor = codec.decompressor(dictionary).unwrap();
                let expected = compressed_by(codec, compressor.as_mut(), &payload);
                let body = after(codec, compressor.as_mut(), [&old, &new]);
                assert!(body == fresh(codec, level, [&old, &new]), "the dictionary was used");
                assert!(back(decompressor.as_mut(), &old, &body, new.len()).unwrap() == new);
                assert!(compressed_by(codec, compressor.as_mut(), &payload) == expected);
                // The same after a call that failed in the middle.
                let mut room = vec![0; body.len() - 1];
                let prefixed = compressor.with_prefix().unwrap();
                let capacity = room.len();
                let name = codec.info().name;
                assert_eq!(
                    prefixed.compress_after(&old, &new, &mut room),
                    Err(CompressError::OutputTooSmall { codec: name, capacity })
                );
                assert!(compressed_by(codec, compressor.as_mut(), &payload) == expected);
                assert!(back(decompressor.as_mut(), b"", &body, new.len()) != Ok(new.clone()));
                let mut plain = vec![0; payload.len()];
                decompressor.decompress_exact(&expected, &mut plain).unwrap();
                assert!(plain == payload);
            }
        }
    }
}

#[test]
fn another_prefix_never_gives_the_payload() {
    let old = samples::json(3_000, 65);
    let new = next_version(&old, 66);
    let mut random = samples::Random::new(67);
    for codec in takers() {
        let body = fresh(codec, 3, [&old, &new]);
        let mut decompressor = codec.decompressor(None).unwrap();
        let noise = samples::noise(3_000, 68);
        for other in [&b""[..], &old[1..], &old[..2_000], &noise] {
            if let Ok(payload) = back(decompressor.as_mut(), other, &body, new.len()) {
                assert!(payload != new, "the prefix was not used");
            }
        }
        for _ in 0..2_000 {
            let mut damaged = body.clone();
            let at = random.below(damaged.len());
            damaged[at] ^= 1 << random.below(8);
            // Anything but a panic, and nothing behind the room is written.
            let mut memory = vec![0x5A; new.len() + 64];
            let prefixed = decompressor.with_prefix().unwrap();
            let verdict = prefixed.decompress_after(&old, &damaged, &mut memory[..new.len()]);
            assert!(memory[new.len()..].iter().all(|&byte| byte == 0x5A));
            // The library once told a damaged frame by what its context had decoded before.
            let mut fresh = codec.decompressor(None).unwrap();
            let prefixed = fresh.with_prefix().unwrap();
            assert_eq!(
                prefixed.decompress_after(&old, &damaged, &mut memory[..new.len()]),
                verdict
            );
        }
        for length in 0..body.len() {
            assert!(back(decompressor.as_mut(), &old, &body[..length], new.len()).is_err());
        }
        let longer = [&body[..], b"x"].concat();
        let trailing = DecompressError::TrailingBytes { codec: codec.info().name, count: 1 };
        assert_eq!(back(decompressor.as_mut(), &old, &longer, new.len()), Err(trailing));
        assert!(back(decompressor.as_mut(), &old, &body, new.len()).unwrap() == new);
    }
}

#[test]
fn a_warm_context_does_not_grow() {
    let versions: Vec<Vec<u8>> = (0..20).map(|n| samples::json(1_000 + 400 * n, 69)).collect();
    for codec in takers() {
        let mut compressor = codec.compressor(codec.info().levels.default, None).unwrap();
        let mut decompressor = codec.decompressor(None).unwrap();
        let mut held = Vec::new();
        for round in 0..10 {
            for pair in versions.windows(2) {
                let body = after(codec, compressor.as_mut(), [&pair[0], &pair[1]]);
                let payload = back(decompressor.as_mut(), &pair[0], &body, pair[1].len());
                assert!(payload.unwrap() == pair[1]);
            }
            if round > 0 {
                held.push((compressor.memory_bytes(), decompressor.memory_bytes()));
            }
        }
        assert!(held.windows(2).all(|pair| pair[0] == pair[1]), "{}: {held:?}", codec.info().name);
    }
}
