//! A codec's part: what it gains, and that nothing of few is in it.
//! A name that seven payloads share stands for what must not get out.

use std::collections::HashSet;

use cinch_core::codec;

use super::*;

/// Payloads of one kind, each with values of its own and a name that seven of them share.
fn payloads(count: usize) -> Vec<Vec<u8>> {
    (0..count)
        .map(|number| {
            let hash = xxh3_64(&number.to_le_bytes());
            let (article, street) = (hash % 97, hash % 10_007);
            let name = number / 7;
            format!(r#"{{"order":{hash},"currency":"EUR","lines":[{{"article":"A{article}","#)
                + r#""quantity":2,"unit":"piece"}],"shipping":{"method":"parcel","#
                + &format!(r#""street":{street},"name":"Person {name} Ofhouse"}}}}"#)
        })
        .map(String::into_bytes)
        .collect()
}

fn samples(payloads: &[Vec<u8>]) -> Vec<Sample<'_>> {
    payloads
        .iter()
        .enumerate()
        .map(|(number, bytes)| Sample { bytes, entity: number as u32 })
        .collect()
}

fn trained(payloads: &[Vec<u8>], entities_min: u32, bytes: usize) -> CodecPart {
    let mut ground = Ground::of(&samples(payloads), entities_min).unwrap();
    ground.part(Parameters::default(), bytes, 3).unwrap()
}

/// The bytes of payloads after a codec, each of which must come back.
fn packed(
    name: &str,
    level: i32,
    dictionary: Option<&Arc<Dictionary>>,
    payloads: &[Vec<u8>],
) -> usize {
    let codec = codec::codec_named(name).unwrap();
    let mut compressor = codec.compressor(level, dictionary).unwrap();
    let mut decompressor = codec.decompressor(dictionary).unwrap();
    payloads
        .iter()
        .map(|payload| {
            let mut out = vec![0; codec.compress_bound(payload.len())];
            let length = compressor.compress(payload, &mut out).unwrap();
            let mut back = vec![0; payload.len()];
            assert_eq!(decompressor.decompress(&out[..length], &mut back).unwrap(), back.len());
            assert_eq!(&back, payload);
            length
        })
        .sum()
}

#[test]
fn a_dictionary_halves_new_payloads_of_the_same_kind() {
    let all = payloads(3_000);
    let (train_on, new) = all.split_at(2_500);
    let part = trained(train_on, 10, 4 << 10);
    assert!(part.content().len() <= 4 << 10);
    assert_eq!(part.sample_payloads, 2_500);
    assert_eq!(part.sample_bytes, train_on.iter().map(Vec::len).sum::<usize>());
    let with = packed("zstd", 3, Some(&part.dictionary), new);
    assert!(2 * with < packed("zstd", 3, None, new));
    let raw = part.raw().unwrap();
    assert!(part.dictionary.bytes().ends_with(raw.bytes()));
    assert!(2 * packed("lz4", 9, Some(&raw), new) < packed("lz4", 9, None, new));
}

#[test]
fn the_same_samples_give_the_same_bytes_and_another_level_another_id() {
    let payloads = payloads(600);
    let bytes = |level| {
        let mut ground = Ground::of(&samples(&payloads), 10).unwrap();
        let part = ground.part(Parameters::default(), 4 << 10, level).unwrap();
        (part.dictionary.id(), part.dictionary.bytes().to_vec())
    };
    let (id, dictionary) = bytes(3);
    assert!((32_768..1 << 31).contains(&id));
    assert_eq!((id, dictionary), bytes(3));
    assert_ne!(id, bytes(-5).0);
}

#[test]
fn no_text_of_a_payload_is_in_it_that_few_entities_had() {
    let payloads = payloads(400);
    let had_by = |text: &[u8]| {
        payloads.iter().filter(|payload| payload.windows(text.len()).any(|w| w == text)).count()
    };
    let part = trained(&payloads, 10, 8 << 10);
    let content = part.content();
    assert!(content.len() > 200, "there is something to look at");
    // Whatever stands in it and in some payload was had by ten. A name is shared by seven.
    for start in 0..content.len() - CHECKED_BYTES {
        let mut length = CHECKED_BYTES;
        while start + length <= content.len() {
            let text = &content[start..start + length];
            let had = had_by(text);
            if had == 0 {
                break;
            }
            assert!(had >= 10, "{:?} is of {had}", String::from_utf8_lossy(text));
            length += 1;
        }
    }
    let text = String::from_utf8_lossy(content);
    assert!(text.contains("Ofhouse") && !text.contains("Person 1 "), "{text}");
    let open = trained(&payloads, 1, 8 << 10);
    let open = String::from_utf8_lossy(open.content());
    assert!((0..57).any(|name| open.contains(&format!("Person {name} Ofhouse"))), "{open}");
}

#[test]
fn what_one_entity_repeats_is_not_learned() {
    let payload = |number: usize, secret: &str| {
        format!(r#"{{"number":{number},"kind":"an order like any other","note":"{secret}"}}"#)
            .into_bytes()
    };
    let payloads: Vec<Vec<u8>> = (0..300)
        .map(|number| match number % 3 {
            0 => payload(number, "the secret of customer seven"),
            _ => payload(number, ""),
        })
        .collect();
    let of = |entity: fn(usize) -> u32| {
        let samples: Vec<Sample<'_>> = payloads
            .iter()
            .enumerate()
            .map(|(number, bytes)| Sample { bytes, entity: entity(number) })
            .collect();
        let part = Ground::of(&samples, 10).unwrap().part(Parameters::default(), 2_048, 3).unwrap();
        String::from_utf8_lossy(part.content()).into_owned()
    };
    assert!(of(|number| number as u32).contains("secret of customer"));
    let one = of(|number| if number.is_multiple_of(3) { 0 } else { number as u32 });
    assert!(one.contains("an order like any other") && !one.contains("secret"), "{one}");
}

#[test]
fn segments_are_the_content_and_say_how_many_had_them() {
    let payloads = payloads(400);
    let part = trained(&payloads, 10, 8 << 10);
    let mut rest = part.content();
    let distinct: HashSet<&[u8]> = payloads.iter().map(Vec::as_slice).collect();
    for segment in &part.segments {
        let (text, after) = rest.split_at(segment.bytes);
        rest = after;
        let had = distinct.iter().filter(|p| p.windows(text.len()).any(|w| w == text)).count();
        if segment.entities > 0 {
            assert!(segment.entities <= had, "{:?}", String::from_utf8_lossy(text));
            assert!(had >= 10);
        }
    }
    assert!(rest.is_empty() && part.segments.iter().any(|segment| segment.entities > 0));
}

#[test]
fn too_few_samples_are_an_error_that_says_how_many_are_needed() {
    let error = |samples: &[Sample<'_>], bytes| {
        let part = Ground::of(samples, 1)
            .and_then(|mut ground| ground.part(Parameters::default(), bytes, 3));
        part.map(drop).unwrap_err()
    };
    assert_eq!(error(&[], 4_096), LearnError::TooFewSamples { got: 0, needed: 12 });
    let tiny = [Sample { bytes: b"[1,2,3]", entity: 1 }; 5_000];
    assert_eq!(error(&tiny, 4_096), LearnError::TooFewSamples { got: 0, needed: 12 });
    let few = payloads(20);
    let got = few.iter().map(Vec::len).sum();
    let expected = LearnError::TooFewBytes { dictionary_bytes: 4_096, got, needed: 32_768 };
    assert_eq!(error(&samples(&few), 4_096), expected);
    let huge = error(&samples(&few), usize::MAX);
    assert!(matches!(huge, LearnError::TooFewBytes { .. }));
    let nothing = Ground::of(&samples(&payloads(200)), 201);
    assert_eq!(nothing.err(), Some(LearnError::NothingShared { entities_min: 201 }));
}

#[test]
fn without_anything_shared_the_tables_are_left() {
    let noise: Vec<Vec<u8>> = (0..200u64)
        .map(|number| {
            let digits = |at: u64| xxh3_64(&[number, at].map(u64::to_le_bytes).concat());
            (0..400).map(|at| b'a' + (digits(at) % 7) as u8).collect()
        })
        .collect();
    let part = trained(&noise, 150, 1_000);
    assert!(part.segments.iter().all(|segment| segment.entities == 0), "{:?}", part.segments);
    // Whether they gain anything is for the payloads to say that are held out.
    packed("zstd", 3, Some(&part.dictionary), &noise);
}
