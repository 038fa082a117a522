//! Compares the library with the reference decoder of `spec/`, which shares no code with it: what
//! we pack it unpacks, and on mutated envelopes both give the same verdict.
//!
//! One Python process serves all cases: a line of hexadecimal digits in, a verdict out. Where the
//! two disagree, one of them or the page is wrong; none of the three is right by definition.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::{Arc, LazyLock, Mutex};

use cinch_core::codec::{CODECS, CodecChoice, DictionaryUse, codec_named};
use cinch_core::dictionary::Dictionary;
use cinch_core::encoding::ENCODINGS;
use cinch_core::envelope::{FIELD_BASE, Field, Header, base_id, checksum};
use cinch_core::pack::{Found, Packer, Unpacker};
use cinch_core::profile::Profile;
use proptest::prelude::*;

#[path = "support/files.rs"]
mod files;
#[path = "support/python.rs"]
mod python;

/// Raw content, and a file with a model for the columnar encoding.
const DICTIONARIES: [&str; 2] =
    ["vectors/dictionaries/carts.dict", "vectors/dictionaries/orders.cinchdict"];

/// What both are asked to take at most.
const LIMIT_BYTES: usize = 1 << 20;

/// The reference decoder, waiting for lines.
struct Reference {
    _child: Child,
    lines: ChildStdin,
    verdicts: BufReader<ChildStdout>,
}

static REFERENCE: LazyLock<Mutex<Reference>> = LazyLock::new(|| {
    let mut command = python::command("envelope.py");
    command.args(["--serve", "--limit", &LIMIT_BYTES.to_string()]);
    for dictionary in DICTIONARIES {
        command.arg("--dictionary").arg(files::root().join(dictionary));
    }
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let lines = child.stdin.take().unwrap();
    let verdicts = BufReader::new(child.stdout.take().unwrap());
    Mutex::new(Reference { _child: child, lines, verdicts })
});

static KNOWN: LazyLock<[Arc<Dictionary>; 2]> = LazyLock::new(|| {
    DICTIONARIES
        .map(|file| Dictionary::new(std::fs::read(files::root().join(file)).unwrap()).unwrap())
});

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What the reference decoder says of a value, with a version at hand that may be its base.
fn reference(value: &[u8], base: Option<&[u8]>) -> String {
    let mut reference = REFERENCE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let base = base.map_or(String::new(), |base| format!("|{}", hex(base)));
    writeln!(reference.lines, "{}{base}", hex(value)).unwrap();
    let mut verdict = String::new();
    reference.verdicts.read_line(&mut verdict).unwrap();
    assert!(!verdict.is_empty(), "the reference decoder ended on {}", hex(value));
    verdict.trim_end().to_owned()
}

/// What the library says of it, in the same words.
fn library(value: &[u8], base: Option<&[u8]>) -> String {
    let mut unpacker = Unpacker::new(KNOWN.clone()).with_limit(LIMIT_BYTES);
    let mut payload = Vec::new();
    let word = match unpacker.read_against(|_| base, value, &mut payload) {
        Ok(Found::Plain) => "plain",
        Ok(Found::Envelope(_)) => "ok",
        Err(error) => return format!("error {}", error.code()),
    };
    format!("{word} {}", hex(&payload)).trim_end().to_owned()
}

fn string() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{0,3}".prop_map(|text| format!("\"{text}\"")),
        "\\PC{0,20}".prop_map(|text| serde_json::to_string(&text).unwrap()),
        any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap()),
        "[ -~]{60,70}".prop_map(|text| serde_json::to_string(&text).unwrap()),
    ]
}

/// Numbers, strings and literals as JSON texts have them.
fn scalar() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        (-300..300i64).prop_map(|number| number.to_string()),
        any::<u64>().prop_map(|number| number.to_string()),
        any::<f64>()
            .prop_filter("JSON has no NaN", |number| number.is_finite())
            .prop_map(|number| format!("{number:e}")),
        "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,25})?([eE][-+]?[0-9]{1,3})?",
    ];
    prop_oneof![
        3 => number,
        3 => string(),
        1 => prop::sample::select(vec!["null", "true", "false"]).prop_map(str::to_owned),
    ]
}

/// JSON texts of many shapes, with repeated keys and strings, as payloads have.
fn json_text() -> impl Strategy<Value = String> {
    let inner = scalar().prop_recursive(5, 80, 10, |value| {
        let pair = (string(), value.clone()).prop_map(|(key, value)| format!("{key}:{value}"));
        prop_oneof![
            prop::collection::vec(value, 0..10)
                .prop_map(|values| format!("[{}]", values.join(","))),
            prop::collection::vec(pair, 0..10).prop_map(|pairs| format!("{{{}}}", pairs.join(","))),
        ]
    });
    // An object at the top, so that BSON carries it too.
    inner.prop_map(|value| format!("{{\"value\": {value}}}"))
}

/// Payloads such as one of the dictionaries knows, and others that differ a little.
fn order() -> impl Strategy<Value = Vec<u8>> {
    let city = prop::sample::select(vec!["\"Berlin\"", "\"Rome\"", "\"Oslo\"", "null"]);
    let time = prop::sample::select(vec!["2026-11-21T10:11:12Z", "1970-02-30T10:11:12Z", "now"]);
    let item = ("[AB]-[0-9]{2,5}", 0..300i64)
        .prop_map(|(sku, count)| format!("{{\"sku\":\"{sku}\",\"n\":{count}}}"));
    let items = prop::collection::vec(item, 0..20);
    let key = prop_oneof!["[0-9a-f]{16}", "[0-9A-F]{16}"];
    let extra = prop::option::of(scalar());
    (any::<i32>(), city, time, 0..99_999i64, key, items, extra).prop_map(
        |(id, city, time, total, key, items, extra)| {
            let items = items.join(",");
            let extra = extra.map_or(String::new(), |value| format!(",\"extra\":{value}"));
            let total = format!("{}.{:02}", total / 100, total % 100);
            format!(
                "{{\"id\":{id},\"city\":{city},\"at\":\"{time}\",\"total\":{total},\
                 \"key\":\"{key}\",\"items\":[{items}]{extra}}}"
            )
            .into_bytes()
        },
    )
}

fn payload() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => json_text().prop_map(String::into_bytes),
        2 => order(),
        1 => prop::collection::vec(any::<u8>(), 0..200),
        1 => (json_text(), 1..30usize).prop_map(|(text, times)| text.repeat(times).into_bytes()),
        1 => prop::collection::vec(any::<u8>(), 0..20)
            .prop_map(|rest| [&b"\xC1\x9E\x92"[..], &rest].concat()),
    ]
}

/// What is stored under a profile that packs whatever it can. Without a dictionary of that number,
/// none is used.
fn packed(codec: usize, encoding: usize, dictionary: usize, payload: &[u8]) -> Vec<u8> {
    let info = CODECS[codec].info();
    let mut choice = CodecChoice::parse(info.name).unwrap();
    let takes_one = info.dictionary_use != DictionaryUse::None;
    let dictionary = KNOWN.get(dictionary).filter(|_| takes_one).cloned();
    if dictionary.is_some() && info.dictionary_use == DictionaryUse::HighLevels {
        choice.level = info.levels.max;
    }
    let profile = Profile {
        min_size_bytes: 0,
        // Also what grows is packed, which a stored value never is.
        min_gain: -100.0,
        dictionary,
        ..Profile::new(&ENCODINGS[encoding], choice)
    };
    let mut out = Vec::new();
    Packer::new(&profile).unwrap().pack(payload, &mut out).unwrap();
    out
}

/// A delta, whether it pays or not.
fn delta(level: i32, is_standard: bool, previous: &[u8], payload: &[u8]) -> Vec<u8> {
    let name = if is_standard { "zstd" } else { "zstd-bare" };
    let codec = codec_named(name).unwrap();
    let mut compressor = codec.compressor(level, None).unwrap();
    let mut body = vec![0; codec.compress_bound(payload.len())];
    let prefixed = compressor.with_prefix().unwrap();
    let length = prefixed.compress_after(previous, payload, &mut body).unwrap();
    let header = Header {
        codec: codec.info().id,
        encoding: None,
        payload_bytes: payload.len() as u32,
        dictionary: None,
        checksum: Some(checksum(payload)),
        fields: vec![Field { kind: FIELD_BASE, value: base_id(previous).to_le_bytes().into() }],
    };
    let mut out = Vec::new();
    header.write(&mut out).unwrap();
    out.extend_from_slice(&body[..length]);
    out
}

/// Changes a value in one of the ways in which values go wrong.
fn mutated(mut value: Vec<u8>, kind: u8, place: usize, byte: u8) -> Vec<u8> {
    if value.is_empty() {
        return value;
    }
    let at = place % value.len();
    let header_bytes = value.get(3).map_or(0, |length| usize::from(length & 0x7F));
    match kind {
        0 => value[at] ^= 1 << (byte & 7),
        1 => value[at] = byte,
        2 => value.truncate(at),
        3 => value.insert(at, byte),
        4 => value.push(byte),
        // The body only, where the check byte does not look.
        5 if header_bytes < value.len() => {
            let at = header_bytes + place % (value.len() - header_bytes);
            value[at] ^= 1 << (byte & 7);
        }
        // The header, with a check byte that holds.
        _ if (5..value.len()).contains(&header_bytes) => {
            value[2 + place % (header_bytes - 3)] ^= 1 << (byte & 7);
            let check = xxhash_rust::xxh64::xxh64(&value[..header_bytes - 1], 0) as u8;
            value[header_bytes - 1] = check;
        }
        _ => value.truncate(at),
    }
    value
}

/// Codec ids whose libraries read some bodies that no encoder writes (spec/envelope.md, "Bodies").
const LENIENT: [u8; 5] = [0x13, 0x14, 0x15, 0x17, 0x19];

/// Whether two verdicts on a damaged value are both right: they are the same, or one is that the
/// body is damaged and the other the very payload that was packed, which damage did not reach.
fn agree(value: &[u8], verdicts: [&str; 2], packed: &str) -> bool {
    let is_lenient = value.get(4).is_some_and(|codec| LENIENT.contains(codec));
    let is_harmless = verdicts.contains(&"error damaged") && verdicts.contains(&packed);
    verdicts[0] == verdicts[1] || (is_lenient && is_harmless)
}

/// The rows of the encodings that need no schema: the reference decoder reads no schema files.
fn schemaless() -> Vec<usize> {
    (0..ENCODINGS.len()).filter(|&row| !ENCODINGS[row].needs_schema).collect()
}

proptest! {
    #[test]
    fn what_we_pack_the_reference_decoder_unpacks(
        payload in payload(),
        codec in 0..CODECS.len(),
        encoding in prop::sample::select(schemaless()),
        dictionary in 0..KNOWN.len() + 1,
    ) {
        let value = packed(codec, encoding, dictionary, &payload);
        let expected = library(&value, None);
        prop_assert!(!expected.starts_with("error"), "{expected}: {}", hex(&value));
        prop_assert_eq!(reference(&value, None), expected, "{}", hex(&value));
    }

    #[test]
    fn both_give_the_same_verdict_on_what_went_wrong(
        payload in payload(),
        codec in 0..CODECS.len(),
        encoding in prop::sample::select(schemaless()),
        dictionary in 0..KNOWN.len() + 1,
        mutations in prop::collection::vec((0..7u8, any::<usize>(), any::<u8>()), 1..12),
    ) {
        let whole = packed(codec, encoding, dictionary, &payload);
        let packed = library(&whole, None);
        for (kind, place, byte) in mutations {
            let value = mutated(whole.clone(), kind, place, byte);
            let (theirs, ours) = (reference(&value, None), library(&value, None));
            let both = agree(&value, [&theirs, &ours], &packed);
            prop_assert!(both, "{}: {theirs} and {ours}", hex(&value));
        }
    }

    #[test]
    fn both_read_deltas_and_refuse_the_same_ones(
        previous in payload(),
        edits in prop::collection::vec((any::<usize>(), string()), 0..4),
        is_standard in any::<bool>(),
        level in -50..=22i32,
        mutations in prop::collection::vec((0..7u8, any::<usize>(), any::<u8>()), 0..12),
        other in any::<Option<(usize, u8)>>(),
    ) {
        let mut payload = previous.clone();
        for (at, text) in edits {
            let at = at % (payload.len() + 1);
            payload.splice(at..at, text.into_bytes());
        }
        let whole = delta(level, is_standard, &previous, &payload);
        let packed = library(&whole, Some(&previous));
        let expected = format!("ok {}", hex(&payload));
        prop_assert_eq!(packed.as_str(), expected.trim_end());
        prop_assert_eq!(reference(&whole, Some(&previous)), packed.as_str());
        prop_assert_eq!(reference(&whole, None), "error missing-base");
        for (kind, place, byte) in mutations {
            let value = mutated(whole.clone(), kind, place, byte);
            let theirs = reference(&value, Some(&previous));
            let ours = library(&value, Some(&previous));
            let both = agree(&value, [&theirs, &ours], &packed);
            prop_assert!(both, "{}, base {}: {theirs} and {ours}", hex(&value), hex(&previous));
        }
        if let Some((place, byte)) = other {
            let other = mutated(previous.clone(), 1, place, byte);
            let (theirs, ours) = (reference(&whole, Some(&other)), library(&whole, Some(&other)));
            prop_assert_eq!(theirs, ours);
        }
    }
}
