//! `ratios`: how many bytes every codec at its lowest, default and highest usual level, and every
//! encoding, make of the generated payloads, compared with the committed bench/expected/ratios.csv.
//!
//! Sizes are exact and the same on every machine, so one byte more is a finding. An upgrade of a
//! library may change them: then `cargo xtask bench ratios --write` and the diff of the file are
//! part of the same commit.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use cinch_core::codec::{CODECS, Codec};
use cinch_core::document::Document;
use cinch_core::encoding::{ENCODINGS, Encoding, Engine};
use cinch_core::json;
use cinch_generate::{KINDS, Kind, Options};

use crate::corpora::SEED;
use crate::failure::Outcome;

const TITLES: &str = "kind,form,name,level,payload_bytes,result_bytes";

/// Payloads of each kind, but no more bytes than the slowest codecs take in a test.
const PAYLOADS: usize = 200;
const KIND_BYTES_MAX: usize = 1_000_000;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Replace the expected sizes by those of this run
    #[arg(long)]
    write: bool,
}

fn expected_file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("expected/ratios.csv")
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let measured = measure()?;
    let path = expected_file();
    if arguments.write {
        fs::write(&path, &measured)?;
        println!("{} sizes written to {}", measured.lines().count() - 1, path.display());
        return Ok(());
    }
    compare(&fs::read_to_string(&path)?, &measured)?;
    println!("{} sizes are as expected", measured.lines().count() - 1);
    Ok(())
}

/// Fails with a line for every size that changed, is new or is gone.
fn compare(expected: &str, measured: &str) -> Outcome {
    let by_name = |text: &str| -> BTreeMap<String, String> {
        let rows = text.lines().skip(1).filter_map(|line| {
            let (at, _) = line.match_indices(',').nth(3)?;
            Some((line[..at].to_owned(), line[at + 1..].to_owned()))
        });
        rows.collect()
    };
    let (expected, measured) = (by_name(expected), by_name(measured));
    let names: std::collections::BTreeSet<&String> =
        expected.keys().chain(measured.keys()).collect();
    let differences: Vec<String> = names
        .into_iter()
        .filter(|name| expected.get(*name) != measured.get(*name))
        .map(|name| {
            let cell = |sizes: Option<&String>| {
                sizes.map_or("nothing".to_owned(), |sizes| sizes.replace(',', " to "))
            };
            let (was, is) = (cell(expected.get(name)), cell(measured.get(name)));
            format!("  {name}: {was} was expected, {is} was measured")
        })
        .collect();
    if differences.is_empty() {
        return Ok(());
    }
    let (count, lines) = (differences.len(), differences.join("\n"));
    Err(format!(
        "{count} sizes changed; if they should, run `cargo xtask bench ratios --write`:\n{lines}"
    )
    .into())
}

/// The content of the file.
fn measure() -> Outcome<String> {
    let mut lines = vec![TITLES.to_owned()];
    for kind in KINDS {
        let payloads = payloads(kind);
        let payload_bytes: usize = payloads.iter().map(Vec::len).sum();
        let mut line = |form: &str, name: &str, level: &str, bytes: usize| {
            lines.push(format!("{},{form},{name},{level},{payload_bytes},{bytes}", kind.name));
        };
        // What a schema buys depends on the schema; `cinch schema` tells it.
        for encoding in ENCODINGS.iter().filter(|encoding| !encoding.needs_schema) {
            line("encoding", encoding.name, "", encoded_bytes(encoding, &payloads)?);
        }
        for &codec in CODECS {
            for level in usual_levels(codec) {
                let bytes = compressed_bytes(codec, level, &payloads)?;
                line("codec", codec.info().name, &level.to_string(), bytes);
            }
        }
    }
    Ok(lines.join("\n") + "\n")
}

fn payloads(kind: &Kind) -> Vec<Vec<u8>> {
    let options = Options { count: PAYLOADS, seed: SEED, median_bytes: None };
    let mut bytes = 0;
    let fits = |payload: &Vec<u8>| {
        bytes += payload.len();
        bytes <= KIND_BYTES_MAX
    };
    kind.payloads(options).map(String::into_bytes).take_while(fits).collect()
}

/// The lowest level, the default and the highest that an evaluation tries unasked.
fn usual_levels(codec: &dyn Codec) -> Vec<i32> {
    let levels = codec.info().levels;
    let mut usual = vec![levels.min, levels.default, levels.max.min(levels.slow_from - 1)];
    usual.dedup();
    usual
}

/// Compresses each payload alone, as envelopes do, and checks that it comes back.
fn compressed_bytes(codec: &dyn Codec, level: i32, payloads: &[Vec<u8>]) -> Outcome<usize> {
    let mut compressor = codec.compressor(level, None)?;
    let mut decompressor = codec.decompressor(None)?;
    let (mut compressed, mut decompressed) = (Vec::new(), Vec::new());
    let mut sum = 0;
    for payload in payloads {
        compressed.resize(codec.compress_bound(payload.len()), 0);
        decompressed.resize(payload.len(), 0);
        let length = compressor.compress(payload, &mut compressed)?;
        decompressor.decompress_exact(&compressed[..length], &mut decompressed)?;
        if decompressed != *payload {
            return Err(format!("{}:{level} does not give payloads back", codec.info().name).into());
        }
        sum += length;
    }
    Ok(sum)
}

fn encoded_bytes(encoding: &Encoding, payloads: &[Vec<u8>]) -> Outcome<usize> {
    let mut encoded = Vec::new();
    match encoding.engine {
        Engine::Verbatim => return Ok(payloads.iter().map(Vec::len).sum()),
        Engine::Document(engine) => {
            let mut document = Document::new();
            for payload in payloads {
                json::parse(encoding.parser, payload, &mut document)?;
                engine.encode(&document, &mut encoded)?;
            }
        }
        Engine::Schema(_) => return Err(format!("{} needs a schema", encoding.name).into()),
        Engine::Text(engine) => {
            let mut encoder = engine.encoder(None);
            for payload in payloads {
                encoder.encode(payload, &mut encoded)?;
            }
        }
    }
    Ok(encoded.len())
}

#[cfg(test)]
pub(crate) fn smoke() -> Outcome {
    compare(&fs::read_to_string(expected_file())?, &measure()?)
}

#[cfg(test)]
mod tests {
    use super::{TITLES, compare};

    #[test]
    fn every_difference_is_told() {
        let expected = format!("{TITLES}\ncarts,codec,zstd,3,100,40\ncarts,codec,gone,1,100,50\n");
        let measured = format!("{TITLES}\ncarts,codec,zstd,3,100,41\ncarts,codec,new,1,100,60\n");
        assert!(compare(&expected, &expected).is_ok());
        let error = compare(&expected, &measured).unwrap_err().to_string();
        assert!(error.starts_with("3 sizes changed"), "{error}");
        for name in ["carts,codec,zstd,3: 100 to 40", "carts,codec,gone,1", "carts,codec,new,1"] {
            assert!(error.contains(name), "{error}");
        }
    }
}
