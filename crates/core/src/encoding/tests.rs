//! What every encoding of JSON text has to keep to, tried on each row of the registry: nothing here
//! names one, so that a new row is tested by being there.

use super::cursor::testing::{Random, carried_by_all};
use super::{ENCODINGS, Encoding, Engine, TextDecoder, TextEncoder, TextEncoding};

/// A text that every encoding of JSON text carries.
const PROBE: &str = r#"{"a":[1,{"b":"c"}],"d":[[1.50,"x"],[2.25,"y"]],"e":{}}"#;

/// Texts that are no JSON or ask for more than an encoding may carry.
fn odd() -> Vec<String> {
    let deep = "[".repeat(5_000) + &"]".repeat(5_000);
    let texts = ["", "{", "[1,2", "{\"a\":1,}", "\"a", "[1 ,2]", " 1", "[1,\r\n2]", "nul", "01"];
    texts.into_iter().map(str::to_owned).chain([deep]).collect()
}

fn engines() -> impl Iterator<Item = (&'static Encoding, &'static dyn TextEncoding)> {
    ENCODINGS.iter().filter_map(|encoding| match encoding.engine {
        Engine::Text(engine) => Some((encoding, engine)),
        _ => None,
    })
}

/// Encodes and decodes behind what stands in the buffers; the encoded form of what is carried.
fn round_trip(
    encoder: &mut dyn TextEncoder,
    decoder: &mut dyn TextDecoder,
    text: &str,
) -> Option<Vec<u8>> {
    let (mut encoded, mut decoded) = (b"before".to_vec(), b"before".to_vec());
    encoder.encode(text.as_bytes(), &mut encoded).ok()?;
    let bytes = encoded.strip_prefix(b"before").expect("what stood before").to_vec();
    decoder.decode(&bytes, text.len(), &mut decoded).expect("own bytes are decoded");
    assert!(decoded.strip_prefix(b"before") == Some(text.as_bytes()), "{text:.200}");
    Some(bytes)
}

#[test]
fn a_text_comes_back_or_is_refused_and_leaves_nothing_behind() {
    for (encoding, engine) in engines() {
        let (mut encoder, mut decoder) = (engine.encoder(None), engine.decoder(None));
        let mut round_trip = |text: &str| round_trip(encoder.as_mut(), decoder.as_mut(), text);
        let probe = round_trip(PROBE).expect("the probe is carried");
        let texts = carried_by_all();
        let mut carried = 0;
        for text in texts.iter().chain(&odd()) {
            carried += usize::from(round_trip(text).is_some());
            assert_eq!(round_trip(PROBE).as_ref(), Some(&probe), "{} {text:.200}", encoding.name);
        }
        assert!(carried * 10 > texts.len() * 9, "{} carries {carried}", encoding.name);
    }
}

#[test]
fn another_length_and_other_bytes_are_refused() {
    for (encoding, engine) in engines() {
        let (mut encoder, mut decoder) = (engine.encoder(None), engine.decoder(None));
        for text in carried_by_all().iter().filter(|text| text.len() < 500) {
            let Some(bytes) = round_trip(encoder.as_mut(), decoder.as_mut(), text) else {
                continue;
            };
            let mut is_refused = |bytes: &[u8], text_bytes: usize| {
                let (mut out, name) = (Vec::new(), encoding.name);
                assert!(decoder.decode(bytes, text_bytes, &mut out).is_err(), "{name}: {text}");
            };
            for length in [0, text.len() - 1, text.len() + 1, 2 * text.len()] {
                is_refused(&bytes, length);
            }
            (0..bytes.len()).for_each(|end| is_refused(&bytes[..end], text.len()));
            is_refused(&[&bytes[..], &[0]].concat(), text.len());
        }
    }
}

#[test]
fn damaged_bytes_give_the_announced_length_or_an_error_and_always_the_same() {
    for (encoding, engine) in engines() {
        let (mut encoder, mut used) = (engine.encoder(None), engine.decoder(None));
        let mut random = Random::new(7);
        let (mut accepted, mut refused) = (0, 0);
        for text in carried_by_all().iter().filter(|text| text.len() < 5_000) {
            let Some(bytes) = round_trip(encoder.as_mut(), used.as_mut(), text) else { continue };
            for _ in 0..30 {
                let mut damaged = bytes.clone();
                for _ in 0..=random.below(3) {
                    let at = random.below(damaged.len());
                    damaged[at] = random.next() as u8;
                }
                let (mut out, mut again) = (Vec::new(), Vec::new());
                let verdict = used.decode(&damaged, text.len(), &mut out);
                let anew = engine.decoder(None).decode(&damaged, text.len(), &mut again);
                assert_eq!(verdict, anew, "{}", encoding.name);
                if verdict.is_ok() {
                    assert_eq!((out.len(), &out), (text.len(), &again), "{}", encoding.name);
                    accepted += 1;
                } else {
                    refused += 1;
                }
                assert!(used.memory_bytes() < 32 << 20, "{}", encoding.name);
            }
        }
        assert!(accepted > 100 && refused > 100, "{}: {accepted}, {refused}", encoding.name);
    }
}
