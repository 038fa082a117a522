//! `json`: our two parsers and our writer against serde_json, simd-json and sonic-rs.
//!
//! Ours keep what the peers drop (number texts, duplicate keys, lone surrogates) and refill one
//! document; the peers make a new value of their own type each time. serde_json is the reference of
//! every ratio, because it is what most programs use.

use std::hint::black_box;
use std::path::PathBuf;

use cinch_core::document::Document;
use cinch_core::encoding::Parser;
use cinch_core::json;
use serde_json::Value;

#[cfg(feature = "peers")]
use crate::contest::able;
use crate::contest::{Contestant, contest};
use crate::corpora::{self, Corpus};
use crate::failure::Outcome;
use crate::machine;
use crate::random::Random;
use crate::table::Table;

const CORPUS_BYTES_MAX: usize = 4 << 20;

/// The place of serde_json among the contestants.
const REFERENCE: usize = 0;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Measure the .ndjson files of this folder too
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// How often everybody runs
    #[arg(long, default_value_t = 21)]
    rounds: usize,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    print!("{}", machine::description());
    let mut corpora = corpora::generated(CORPUS_BYTES_MAX);
    if let Some(folder) = &arguments.folder {
        corpora.extend(corpora::of_folder(folder, CORPUS_BYTES_MAX)?);
    }
    print!("{}", measure(&corpora, arguments.rounds)?.text());
    println!(
        "\nMB/s of JSON text; the ratio is the speed relative to serde_json's, higher is faster"
    );
    Ok(())
}

fn measure(corpora: &[Corpus], rounds: usize) -> Outcome<Table> {
    let mut random = Random::new(1);
    let mut table =
        Table::new(["corpus", "job", "by", "MB/s", "ratio to serde_json", "95 % of ratio"]);
    for corpus in corpora {
        verify(corpus)?;
        for (job, mut contestants) in [("parse", parsers(corpus)), ("write", writers(corpus)?)] {
            let bytes = corpus.bytes();
            for standing in contest(&mut contestants, REFERENCE, bytes, rounds, &mut random)? {
                let [speed, ratio, interval] = standing.cells();
                let name = standing.name.to_owned();
                table.row([corpus.name.clone(), job.to_owned(), name, speed, ratio, interval]);
            }
        }
        eprintln!("measured {}", corpus.name);
    }
    Ok(table)
}

/// Both parsers must make a document that our writer writes as the same value.
fn verify(corpus: &Corpus) -> Outcome {
    let mut document = Document::new();
    let mut text = Vec::new();
    for payload in &corpus.payloads {
        for parser in [Parser::Ordinary, Parser::Simd] {
            json::parse(parser, payload, &mut document)?;
            text.clear();
            json::write(&document, &mut text);
            if !corpora::is_same(payload, &text)? {
                return Err(format!("{}: {parser:?} made another value", corpus.name).into());
            }
        }
    }
    Ok(())
}

fn ours(parser: Parser, payloads: &[Vec<u8>]) -> impl FnMut() -> Outcome {
    let mut document = Document::new();
    move || {
        for payload in payloads {
            json::parse(parser, black_box(payload), &mut document)?;
        }
        black_box(document.nodes().len());
        Ok(())
    }
}

fn parsers(corpus: &Corpus) -> Vec<Contestant<'_>> {
    let payloads = &corpus.payloads;
    let serde = move || -> Outcome {
        for payload in payloads {
            black_box(serde_json::from_slice::<Value>(payload)?);
        }
        Ok(())
    };
    #[allow(unused_mut, reason = "without the feature `peers` nothing is added")]
    let mut contestants = vec![
        Contestant { name: "serde_json", work: Box::new(serde) },
        Contestant { name: "cinch simd", work: Box::new(ours(Parser::Simd, payloads)) },
        Contestant { name: "cinch ordinary", work: Box::new(ours(Parser::Ordinary, payloads)) },
    ];
    #[cfg(feature = "peers")]
    contestants.extend(able(crate::peers::parsers(corpus), &corpus.name));
    contestants
}

fn writers(corpus: &Corpus) -> Outcome<Vec<Contestant<'_>>> {
    let mut documents = Vec::new();
    let mut values = Vec::new();
    for payload in &corpus.payloads {
        let mut document = Document::new();
        json::parse(Parser::Simd, payload, &mut document)?;
        documents.push(document);
        values.push(serde_json::from_slice::<Value>(payload)?);
    }
    let (mut serde_out, mut our_out) = (Vec::new(), Vec::new());
    let serde = move || -> Outcome {
        for value in &values {
            serde_out.clear();
            serde_json::to_writer(&mut serde_out, value)?;
            black_box(serde_out.len());
        }
        Ok(())
    };
    let ours = move || -> Outcome {
        for document in &documents {
            our_out.clear();
            json::write(document, &mut our_out);
            black_box(our_out.len());
        }
        Ok(())
    };
    #[allow(unused_mut, reason = "without the feature `peers` nothing is added")]
    let mut contestants = vec![
        Contestant { name: "serde_json", work: Box::new(serde) },
        Contestant { name: "cinch", work: Box::new(ours) },
    ];
    #[cfg(feature = "peers")]
    contestants.extend(able(crate::peers::writers(corpus), &corpus.name));
    Ok(contestants)
}

#[cfg(test)]
pub(crate) fn smoke() -> Outcome {
    measure(&corpora::generated(30_000), 1).map(drop)
}
