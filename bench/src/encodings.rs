//! `encodings`: every binary encoding of the registry, encoding from and decoding to our document,
//! against the library of the same form from and to a `serde_json::Value`; and every encoding of
//! JSON text, from and to that text.
//!
//! Where we have a peer, each side must read what the other wrote before either is timed. An
//! encoding of text has none. It does what the others need a parser and a writer of JSON for.

use std::hint::black_box;

use cinch_core::document::Document;
use cinch_core::encoding::{DocumentEncoding, ENCODINGS, Encoding, Engine, Parser, TextEncoding};
use cinch_core::json;
use serde_json::Value;

use crate::contest::{Contestant, contest};
use crate::corpora::{self, Corpus};
use crate::failure::Outcome;
use crate::machine;
#[cfg(feature = "peers")]
use crate::peers::PEERS;
use crate::random::Random;
use crate::table::Table;

const CORPUS_BYTES_MAX: usize = 2 << 20;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How often everybody runs
    #[arg(long, default_value_t = 21)]
    rounds: usize,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    print!("{}", machine::description());
    print!("{}", measure(&corpora::generated(CORPUS_BYTES_MAX), arguments.rounds)?.text());
    println!(
        "\nMB/s of the JSON text that the value has; the ratio is the speed relative to the peer \
         of the same encoding, or to ourselves where there is none. Encodings of text start from \
         JSON and end in it; the others start from a parsed value and end in one"
    );
    Ok(())
}

/// A corpus in one binary encoding.
struct Encoded<'a> {
    corpus: &'a Corpus,
    encoding: &'static Encoding,
    engine: &'static dyn DocumentEncoding,
    documents: Vec<Document>,
    values: Vec<Value>,
    bytes: Vec<Vec<u8>>,
}

fn measure(corpora: &[Corpus], rounds: usize) -> Outcome<Table> {
    let mut random = Random::new(1);
    let mut table =
        Table::new(["corpus", "encoding", "job", "by", "MB/s", "ratio", "95 % of ratio"]);
    for corpus in corpora {
        for encoding in ENCODINGS {
            let (binary, text);
            let jobs = match encoding.engine {
                Engine::Document(engine) if !encoding.is_json_text => {
                    binary = Encoded::new(corpus, encoding, engine)?;
                    [("encode", binary.encoders()), ("decode", binary.decoders())]
                }
                Engine::Text(engine) => {
                    text = EncodedText::new(corpus, encoding, engine)?;
                    [("encode", text.encoders()), ("decode", text.decoders())]
                }
                Engine::Document(_) | Engine::Verbatim | Engine::Schema(_) => continue,
            };
            for (job, mut contestants) in jobs {
                // The peer stands last; where there is none we are our own reference.
                let reference = contestants.len() - 1;
                let bytes = corpus.bytes();
                for standing in contest(&mut contestants, reference, bytes, rounds, &mut random)? {
                    let [speed, ratio, interval] = standing.cells();
                    table.row([
                        corpus.name.clone(),
                        encoding.name.to_owned(),
                        job.to_owned(),
                        standing.name.to_owned(),
                        speed,
                        ratio,
                        interval,
                    ]);
                }
            }
        }
        eprintln!("measured {}", corpus.name);
    }
    Ok(table)
}

impl<'a> Encoded<'a> {
    /// Encodes every payload, and checks that we and the peer get its value back.
    fn new(
        corpus: &'a Corpus,
        encoding: &'static Encoding,
        engine: &'static dyn DocumentEncoding,
    ) -> Outcome<Encoded<'a>> {
        let mut encoded = Encoded {
            corpus,
            encoding,
            engine,
            documents: Vec::new(),
            values: Vec::new(),
            bytes: Vec::new(),
        };
        for payload in &corpus.payloads {
            let mut document = Document::new();
            json::parse(Parser::Simd, payload, &mut document)?;
            let mut bytes = Vec::new();
            engine.encode(&document, &mut bytes)?;
            let value: Value = serde_json::from_slice(payload)?;
            encoded.check(&bytes, &value)?;
            #[cfg(feature = "peers")]
            for peer in PEERS.iter().filter(|peer| peer.encoding == encoding.name) {
                if !corpora::is_same_value(&(peer.decode)(&bytes)?, &value) {
                    return Err(format!("{} reads our bytes differently", peer.name).into());
                }
                let mut theirs = Vec::new();
                (peer.encode)(&value, &mut theirs)?;
                encoded.check(&theirs, &value)?;
            }
            encoded.documents.push(document);
            encoded.values.push(value);
            encoded.bytes.push(bytes);
        }
        Ok(encoded)
    }

    /// Fails unless we decode these bytes to this value.
    fn check(&self, bytes: &[u8], value: &Value) -> Outcome {
        let mut document = Document::new();
        self.engine.decode(bytes, &mut document)?;
        let mut text = Vec::new();
        json::write(&document, &mut text);
        if corpora::is_same_value(&serde_json::from_slice(&text)?, value) {
            return Ok(());
        }
        Err(format!("{}: {} gave another value", self.corpus.name, self.encoding.name).into())
    }

    fn encoders(&self) -> Vec<Contestant<'_>> {
        let mut out = Vec::new();
        let ours = move || -> Outcome {
            for document in &self.documents {
                out.clear();
                self.engine.encode(black_box(document), &mut out)?;
            }
            Ok(())
        };
        #[allow(unused_mut, reason = "without the feature `peers` nothing is added")]
        let mut contestants = vec![Contestant { name: "cinch", work: Box::new(ours) }];
        #[cfg(feature = "peers")]
        for peer in PEERS.iter().filter(|peer| peer.encoding == self.encoding.name) {
            let mut out = Vec::new();
            let theirs = move || -> Outcome {
                for value in &self.values {
                    out.clear();
                    (peer.encode)(black_box(value), &mut out)?;
                }
                Ok(())
            };
            contestants.push(Contestant { name: peer.name, work: Box::new(theirs) });
        }
        contestants
    }

    fn decoders(&self) -> Vec<Contestant<'_>> {
        let mut document = Document::new();
        let ours = move || -> Outcome {
            for bytes in &self.bytes {
                self.engine.decode(black_box(bytes), &mut document)?;
            }
            Ok(())
        };
        #[allow(unused_mut, reason = "without the feature `peers` nothing is added")]
        let mut contestants = vec![Contestant { name: "cinch", work: Box::new(ours) }];
        #[cfg(feature = "peers")]
        for peer in PEERS.iter().filter(|peer| peer.encoding == self.encoding.name) {
            let theirs = move || -> Outcome {
                for bytes in &self.bytes {
                    black_box((peer.decode)(bytes)?);
                }
                Ok(())
            };
            contestants.push(Contestant { name: peer.name, work: Box::new(theirs) });
        }
        contestants
    }
}

/// A corpus in one encoding of text.
struct EncodedText<'a> {
    engine: &'static dyn TextEncoding,
    /// The payloads and their encoded forms.
    texts: Vec<&'a [u8]>,
    bytes: Vec<Vec<u8>>,
}

impl<'a> EncodedText<'a> {
    /// Encodes every payload, and checks that it comes back.
    fn new(
        corpus: &'a Corpus,
        encoding: &'static Encoding,
        engine: &'static dyn TextEncoding,
    ) -> Outcome<EncodedText<'a>> {
        let (mut encoder, mut decoder) = (engine.encoder(None), engine.decoder(None));
        let mut encoded = EncodedText { engine, texts: Vec::new(), bytes: Vec::new() };
        for payload in &corpus.payloads {
            let (mut bytes, mut text) = (Vec::new(), Vec::new());
            encoder.encode(payload, &mut bytes)?;
            decoder.decode(&bytes, payload.len(), &mut text)?;
            if text != *payload {
                let what = format!("{}: {} gave another text", corpus.name, encoding.name);
                return Err(what.into());
            }
            encoded.texts.push(payload);
            encoded.bytes.push(bytes);
        }
        Ok(encoded)
    }

    fn encoders(&self) -> Vec<Contestant<'_>> {
        let (mut encoder, mut out) = (self.engine.encoder(None), Vec::new());
        let ours = move || -> Outcome {
            for text in &self.texts {
                out.clear();
                encoder.encode(black_box(text), &mut out)?;
            }
            Ok(())
        };
        vec![Contestant { name: "cinch", work: Box::new(ours) }]
    }

    fn decoders(&self) -> Vec<Contestant<'_>> {
        let (mut decoder, mut out) = (self.engine.decoder(None), Vec::new());
        let ours = move || -> Outcome {
            for (text, bytes) in self.texts.iter().zip(&self.bytes) {
                out.clear();
                decoder.decode(black_box(bytes), text.len(), &mut out)?;
            }
            Ok(())
        };
        vec![Contestant { name: "cinch", work: Box::new(ours) }]
    }
}

#[cfg(test)]
pub(crate) fn smoke() -> Outcome {
    measure(&corpora::generated(30_000), 1).map(drop)
}
