//! Replays every vector through every fuzz target, and every input that fuzzing has found, so that
//! a property that breaks fails here and not only where somebody fuzzes.
//!
//! The vectors are the seeds; `fuzz/corpus/` holds only what they do not. A target that expects
//! leading bytes (which row, which level) is given every row.

use std::collections::BTreeSet;
use std::path::PathBuf;

use cinch_core::codec::CODECS;
use cinch_core::encoding::ENCODINGS;
use cinch_core::envelope::Header;
use cinch_core::fuzzing::TARGETS;

#[path = "support/files.rs"]
mod files;

use files::{Vector, read_vectors, root};

/// Profiles as people write them.
const PROFILES: &[&str] = &[
    "[profile]\ncodec = \"zstd\"\n",
    "[profile]\nname = \"a\"\nencoding = \"cbor\"\ncodec = \"lz4\"\nlevel = \"high\"\n\
     dictionary = \"x.dict\"\nmin_size_bytes = 0\nmin_gain = 0.0\nverify_on_pack = \"sampled\"\n",
    "[profile]\ncodec = \"zstd\"\nlevel = -5\n",
    "[profile]\ncodec = \"zstd\"\nlevel = 99\n",
    "[profile]\ncodec = \"LZ4_HIGH\"\n",
    "[profile]\ncodec = \"gzip:1-9\"\n",
    "[profile]\ncodec = \"zstd\"\nmin_gain = nan\n",
    "no profile",
];

/// Payloads for the schema of the targets that go by one.
const SCHEMA_TEXTS: &[&str] = &[
    r#"{"b":true,"i":5,"n":1e400,"d":1.5,"t":"x","y":"Zm9v","e":"RED","j":[{}],"r":{"b":null}}"#,
    r#"{"t":"another order","b":false,"unknown":[1,2],"lv":[null,1.5,"x",{"i":1}],"md":{"k":2}}"#,
    r#"{"li":[],"lb":[true],"lt":["a"],"lr":[{},{"a":null}],"mr":{"k":{}},"i":"no integer"}"#,
];

/// Bytes that start as those of such payloads do, in each of the encodings.
fn schema_bytes() -> Vec<Vec<u8>> {
    vec![
        vec![0, 8, 1, 24, 5, 58, 1, b'x', 90, 2, 16, 1],
        vec![1, 2, 0, 1, 1, 8, 0, 3, 0, 0, 0, 5, 0],
        vec![2, 0x11, 0x25, 10, 0x48, 1, b'x', 0],
        vec![3, 2, 1, 2, 10, 0, 0, 2, 2, b'x', 0, 0, 0, 0, 0, 0, 0, 0, 0],
    ]
}

/// What a target is given: all vectors in the form that it reads.
fn inputs(target: &str) -> Vec<Vec<u8>> {
    let envelopes = || read_vectors("envelope").into_iter().map(|vector| vector.bytes("hex"));
    let encoded = || read_vectors("encodings").into_iter();
    let texts = || encoded().filter_map(|vector| vector.text("text").map(str::to_owned));
    let bodies = || {
        envelopes().filter_map(|envelope| {
            let (_, length) = Header::read(&envelope).ok()?;
            Some(envelope[length..].to_vec())
        })
    };
    let codecs = 0..CODECS.len() as u8;
    let encodings = 0..ENCODINGS.len() as u8;
    let behind = |head: &[u8], rest: &[u8]| [head, rest].concat();
    match target {
        "unpack_any" | "read_any" | "header_roundtrip" => envelopes().collect(),
        "codec_decode_any" => {
            bodies().flat_map(|body| codecs.clone().map(move |row| behind(&[row], &body))).collect()
        }
        "codec_decode_dictionary" => {
            let dictionary = std::fs::read(root().join("vectors/dictionaries/carts.dict")).unwrap();
            let [low, high] = (dictionary.len() as u16).to_le_bytes();
            let with = |row, body: &[u8]| [&[row, low, high], &dictionary[..], body].concat();
            bodies()
                .flat_map(|body| codecs.clone().map(move |row| (row, body.clone())))
                .map(|(row, body)| with(row, &body))
                .collect()
        }
        "delta_any" => {
            let dictionary = std::fs::read(root().join("vectors/dictionaries/carts.dict")).unwrap();
            let with = |row: u8, vector: &Vector| {
                let envelope = vector.bytes("hex");
                let (header, length) = Header::read(&envelope).ok()?;
                let base = vector.base().unwrap_or_else(|| dictionary.clone());
                let [low, high] = (header.payload_bytes as u16).to_le_bytes();
                let [base_low, base_high] = (base.len() as u16).to_le_bytes();
                let head = [row, low, high, base_low, base_high];
                Some([&head[..], &base, &envelope[length..]].concat())
            };
            read_vectors("envelope")
                .iter()
                .flat_map(|vector| codecs.clone().filter_map(move |row| with(row, vector)))
                .collect()
        }
        "delta_roundtrip" => texts()
            .flat_map(|text| [3, 60].map(|level| behind(&[level, 20, 0], text.as_bytes())))
            .collect(),
        "codec_roundtrip" => texts()
            .flat_map(|text| codecs.clone().map(move |row| behind(&[row, 6], text.as_bytes())))
            .collect(),
        "pack_roundtrip" => texts()
            .flat_map(|text| {
                encodings.clone().map(move |row| behind(&[row + 7, row], text.as_bytes()))
            })
            .collect(),
        "encoding_decode_any" => encoded()
            .flat_map(|vector| {
                let bytes = vector.bytes("hex");
                encodings.clone().map(move |row| behind(&[row], &bytes))
            })
            .collect(),
        "encoding_roundtrip" => texts()
            .flat_map(|text| encodings.clone().map(move |row| behind(&[row], text.as_bytes())))
            .collect(),
        "schema_decode_any" => encoded()
            .flat_map(|vector| {
                let bytes = vector.bytes("hex");
                (0..4).map(move |row| behind(&[row], &bytes))
            })
            .chain(schema_bytes())
            .collect(),
        "schema_roundtrip" => texts()
            .chain(SCHEMA_TEXTS.iter().map(|text| (*text).to_owned()))
            .flat_map(|text| (0..4).map(move |row| behind(&[row], text.as_bytes())))
            .collect(),
        "text_roundtrip" => texts().map(String::into_bytes).collect(),
        "text_learned" => {
            let lines: Vec<String> = texts().map(|text| text.replace('\n', " ")).collect();
            let groups = lines.chunks(8).map(|lines| behind(&[1], lines.join("\n").as_bytes()));
            groups.chain([behind(&[0], [&lines[..1]; 4].concat().join("\n").as_bytes())]).collect()
        }
        "text_decode_any" => encoded()
            .map(|vector| {
                let length = vector.text("text").map_or(100, str::len) as u16;
                behind(&length.to_le_bytes(), &vector.bytes("hex"))
            })
            .collect(),
        // A model of one slot with any string, then what is read with it.
        "dictionary_any" => texts().map(|text| behind(&[2, 0, 0, 1, 1], text.as_bytes())).collect(),
        "json_differential" => {
            let invalid = encoded().map(|vector| vector.bytes("hex"));
            texts().map(String::into_bytes).chain(invalid).collect()
        }
        "profile_toml" => PROFILES.iter().map(|text| text.as_bytes().to_vec()).collect(),
        other => panic!("the fuzz target {other} gets no vectors here"),
    }
}

/// What fuzzing has found for a target.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = root().join("fuzz/corpus").join(target);
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| std::fs::read(file).unwrap()).collect()
}

/// Runs a body on each input and names the one on which it panics.
fn replay(name: &str, body: fn(&[u8]), inputs: &[Vec<u8>]) -> Result<(), String> {
    for input in inputs {
        if std::panic::catch_unwind(|| body(input)).is_err() {
            return Err(format!("{name} panics on {input:02x?}"));
        }
    }
    Ok(())
}

#[test]
fn every_property_holds_on_every_vector() {
    for (name, body) in TARGETS {
        let inputs = [inputs(name), corpus(name)].concat();
        assert!(!inputs.is_empty(), "{name}");
        println!("{name}: {} inputs", inputs.len());
        replay(name, *body, &inputs).unwrap();
    }
}

#[test]
fn a_property_that_breaks_is_noticed() {
    fn canary(bytes: &[u8]) {
        assert!(!bytes.ends_with(b"hello"), "the canary sings");
    }
    assert!(replay("canary", canary, &inputs("unpack_any")).is_err());
}

#[test]
fn every_body_has_a_target_and_every_target_a_body() {
    let folder = root().join("fuzz/fuzz_targets");
    let files: BTreeSet<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        // Other crates have targets of their own.
        .filter(|path| std::fs::read_to_string(path).unwrap().contains("cinch_core::"))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    let names: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(files, names);
    let manifest = std::fs::read_to_string(root().join("fuzz/Cargo.toml")).unwrap();
    for name in names {
        assert!(manifest.contains(&format!("name = \"{name}\"")), "fuzz/Cargo.toml lacks {name}");
    }
}
