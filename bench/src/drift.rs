//! `drift`: old dictionaries under today's encoder.
//!
//! A dictionary stays in use for years, and its codec's part was trained on what the encoder of its
//! day made of payloads. An encoder that chooses better on its own can choose worse under them, so
//! each dictionary here keeps the size that it made on the day it was trained, which is never
//! written again, and may not make payloads larger by more than [`GROWTH_MAX`].

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cinch_core::codec::codec_named;
use cinch_core::dictionary::Dictionary;
use cinch_core::encoding::{Engine, encoding_named};
use cinch_generate::{Options, find};

use crate::corpora::SEED;
use crate::failure::Outcome;

/// How much larger payloads may become, as a share: below what anybody would train again for.
const GROWTH_MAX: f64 = 0.02;

const PAYLOADS: usize = 200;

const TITLES: &str = "dictionary,encoder,bytes";

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Keep the sizes of dictionaries that have none yet
    #[arg(long)]
    add: bool,
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let path = folder("expected/drift.csv");
    let mut kept = fs::read_to_string(&path).unwrap_or_else(|_| format!("{TITLES}\n"));
    for (name, dictionary) in dictionaries()? {
        let bytes = packed_bytes(&name, &dictionary)?;
        let was = kept_bytes(&kept, &name);
        match was {
            Some(was) => {
                let change = (bytes as f64 / was as f64 - 1.0) * 100.0;
                println!("{name}: {was} bytes when it was trained, {bytes} today ({change:+.2} %)");
            }
            None if arguments.add => {
                kept.push_str(&format!("{name},{},{bytes}\n", encoder_of(&dictionary)));
            }
            None => return Err(format!("{name} has no size yet: --add keeps it").into()),
        }
    }
    fs::write(&path, &kept)?;
    check(&kept)
}

/// The dictionaries, by the names of their files: a kind of payloads, `-`, and a number.
fn dictionaries() -> Outcome<Vec<(String, Arc<Dictionary>)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder("dictionaries"))? {
        let path = entry?.path();
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        found.push((name.to_owned(), Dictionary::new(fs::read(&path)?)?));
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    if found.is_empty() { Err("bench/dictionaries is empty".into()) } else { Ok(found) }
}

fn kept_bytes(kept: &str, name: &str) -> Option<u64> {
    let row = kept.lines().find(|row| row.split(',').next() == Some(name))?;
    row.rsplit(',').next()?.parse().ok()
}

/// The version of the encoder that a dictionary was trained under.
fn encoder_of(dictionary: &Dictionary) -> String {
    let description = dictionary.description().and_then(cinch_learn::Description::from_json);
    description.map_or("?".to_owned(), |description| description.encoder.to_string())
}

/// Generated payloads of the dictionary's kind, in columns and zstd:3.
fn packed_bytes(name: &str, dictionary: &Arc<Dictionary>) -> Outcome<u64> {
    let kind = name.split('-').next().unwrap_or_default();
    let kind = find(kind).ok_or_else(|| format!("nothing generates {kind}"))?;
    let columnar = encoding_named("columnar").ok_or("no encoding is called columnar")?;
    let Engine::Text(engine) = columnar.engine else {
        return Err("columnar is no encoding of text".into());
    };
    let zstd = codec_named("zstd-bare").ok_or("no codec is called zstd-bare")?;
    let mut compressor = zstd.compressor(3, Some(dictionary))?;
    let mut encoder = engine.encoder(Some(dictionary));
    let (mut encoded, mut out, mut total) = (Vec::new(), Vec::new(), 0);
    for payload in kind.payloads(Options { count: PAYLOADS, seed: SEED, median_bytes: None }) {
        encoded.clear();
        encoder.encode(payload.as_bytes(), &mut encoded)?;
        out.resize(zstd.compress_bound(encoded.len()), 0);
        total += compressor.compress(&encoded, &mut out)? as u64;
    }
    Ok(total)
}

fn check(kept: &str) -> Outcome {
    for (name, dictionary) in dictionaries()? {
        let was = kept_bytes(kept, &name).ok_or_else(|| format!("{name} has no size yet"))?;
        let bytes = packed_bytes(&name, &dictionary)?;
        if bytes as f64 > was as f64 * (1.0 + GROWTH_MAX) {
            return Err(format!(
                "payloads under {name} take {bytes} bytes, they took {was} when it was trained: \
                 what the encoder chooses must suit old dictionaries too"
            )
            .into());
        }
    }
    Ok(())
}

#[cfg(test)]
pub(crate) fn smoke() -> Outcome {
    check(&fs::read_to_string(folder("expected/drift.csv"))?)
}

#[cfg(test)]
mod tests {
    use super::{check, dictionaries};

    #[test]
    fn growth_is_told_with_the_dictionary() {
        let (name, _) = dictionaries().unwrap().remove(0);
        let rows: String = dictionaries()
            .unwrap()
            .iter()
            .map(|(other, _)| {
                let bytes = if *other == name { 10 } else { 1_000_000_000 };
                format!("{other},1,{bytes}\n")
            })
            .collect();
        let error = check(&rows).unwrap_err().to_string();
        assert!(error.starts_with(&format!("payloads under {name} take ")), "{error}");
    }
}
