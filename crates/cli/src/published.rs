//! `cinch evaluate --published NAME`: what four articles measured, measured again.
//!
//! Each row is what its authors tried, as far as this release has it. What the user says himself
//! goes before it.

use std::sync::Arc;

use cinch_core::codec::CodecChoice;
use cinch_core::schema::Schema;
use cinch_evaluate::candidate::{Candidate, parse_encodings};
use cinch_evaluate::corpus::Corpus;
use cinch_evaluate::schemas::Schemas;

use crate::arguments::{EvaluateArguments, FromChoice, SplitChoice};
use crate::failure::Failure;

/// How one article measured.
struct Preset {
    name: &'static str,
    /// The generated corpus.
    corpus: &'static str,
    encodings: &'static str,
    codecs: &'static str,
    goal: &'static str,
    from: FromChoice,
    baseline: Option<&'static str>,
    /// What is larger or slower than the baseline is out.
    beat_baseline: bool,
    /// A bound that the authors kept.
    budget: Option<&'static str>,
}

const PRESETS: &[Preset] = &[
    Preset {
        name: "uber",
        corpus: "uber",
        encodings: "thrift-binary,thrift-compact,protobuf,avro,json,json-simd,cbor,bson,msgpack",
        codecs: "stored,snappy,zlib:6,bzip2:9,zstd:3",
        goal: "archive",
        from: FromChoice::Value,
        baseline: Some("json+zlib:6"),
        beat_baseline: true,
        budget: None,
    },
    Preset {
        name: "ebay",
        corpus: "ebay",
        encodings: "verbatim",
        codecs: "SNAPPY,LZ4_FAST,LZ4_HIGH,GZIP",
        goal: "cache",
        from: FromChoice::Text,
        baseline: Some("verbatim+gzip:6"),
        beat_baseline: false,
        budget: None,
    },
    Preset {
        name: "doordash",
        corpus: "doordash",
        encodings: "verbatim",
        codecs: "snappy,lz4:1,zlib:6,zstd:3,brotli:4",
        goal: "cache",
        from: FromChoice::Text,
        baseline: Some("verbatim+snappy"),
        beat_baseline: false,
        budget: None,
    },
    Preset {
        name: "expedia",
        corpus: "expedia",
        encodings: "verbatim",
        codecs: "gzip:1-9,lzma2:1-9,bzip2:1-9,snappy,lz4:1-12,zstd:1-19,brotli:1-11",
        goal: "api",
        from: FromChoice::Text,
        baseline: Some("verbatim+gzip:6"),
        beat_baseline: false,
        budget: Some("compress_p95=20ms"),
    },
    // The same article's table of sizes. Its LZMA2 is the level that it chose.
    Preset {
        name: "expedia-formats",
        corpus: "expedia",
        encodings: "json,protobuf",
        codecs: "stored,gzip:6,lzma2:3",
        goal: "api",
        from: FromChoice::Value,
        baseline: Some("json+gzip:6"),
        beat_baseline: false,
        budget: None,
    },
];

/// The arguments with what the article did wherever the user said nothing.
pub fn fill_in(arguments: &EvaluateArguments) -> Result<EvaluateArguments, Failure> {
    let mut filled = arguments.clone();
    let Some(name) = &arguments.published else { return Ok(filled) };
    let preset = preset(name)?;
    if filled.codecs.is_none() {
        // Every level of the list is timed, whatever stage 1 thinks of it.
        filled.all = true;
    }
    filled.encodings.get_or_insert(preset.encodings.to_owned());
    filled.codecs.get_or_insert(preset.codecs.to_owned());
    filled.goal.get_or_insert(preset.goal.to_owned());
    filled.from.get_or_insert(preset.from);
    filled.split_by.get_or_insert(SplitChoice::None);
    filled.no_dictionary = true;
    filled.beat_baseline |= preset.beat_baseline && arguments.baseline.is_none();
    filled.baseline = filled.baseline.or(preset.baseline.map(str::to_owned));
    if filled.budgets.is_empty() {
        filled.budgets.extend(preset.budget.map(str::to_owned));
    }
    Ok(filled)
}

fn preset(name: &str) -> Result<&'static Preset, Failure> {
    PRESETS.iter().find(|preset| preset.name == name).ok_or_else(|| unknown(name))
}

/// The generated payloads of an article's sizes.
pub fn corpus(name: &str, seed: u64) -> Result<(Corpus, String), Failure> {
    let published = cinch_generate::published(preset(name)?.corpus).ok_or_else(|| unknown(name))?;
    let title = format!("{name}: {}", published.summary);
    let payloads = published.payloads(seed).map(String::into_bytes);
    Ok((Corpus::from_payloads(&title, payloads), title))
}

/// The schemas that the authors wrote by hand, for those of the encodings that need one and have
/// none among `given`. They are inferred from other payloads than those that are measured.
pub fn schemas(
    name: &str,
    seed: u64,
    encodings: &str,
    given: &[Arc<Schema>],
) -> Result<Vec<Arc<Schema>>, Failure> {
    let codec = CodecChoice::parse("stored")?;
    let of_encoding = |encoding| Candidate::plain(encoding, codec);
    let candidates: Vec<Candidate> =
        parse_encodings(encodings)?.into_iter().map(of_encoding).collect();
    if !candidates.iter().any(|candidate| candidate.encoding.needs_schema) {
        return Ok(given.to_vec());
    }
    let (others, _) = corpus(name, seed.wrapping_add(1))?;
    let all: Vec<usize> = (0..others.payloads.len()).collect();
    Ok(Schemas::of(&others, &all, &candidates, given).found)
}

fn unknown(name: &str) -> Failure {
    let names: Vec<_> = PRESETS.iter().map(|preset| preset.name).collect();
    Failure::Argument(format!(
        "nothing published is called {name:?}; there are {}",
        names.join(", ")
    ))
}
