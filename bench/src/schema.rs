//! `schema`: the encodings with a schema, from and to the in-memory value, against the crates that
//! everybody uses for these formats, from and to the structs that their compilers generate.
//!
//! The payloads are generated carts by a schema as one writes it by hand (`bench/schemas`). Each
//! side must read what the other wrote before either is timed. A generated struct knows at compile
//! time what our plan looks up, so this is what going without generated code costs.

#[cfg(feature = "peers")]
mod carts;

use std::hint::black_box;
use std::sync::Arc;

use cinch_core::document::{Document, first_difference};
use cinch_core::encoding::{ENCODINGS, Encoding, Parser, WithSchema};
use cinch_core::json;
use cinch_core::schema::{Language, Schema};
use cinch_generate::Options;

use crate::contest::{Contestant, contest};
use crate::corpora::SEED;
use crate::failure::Outcome;
use crate::machine;
use crate::random::Random;
use crate::table::Table;

/// How many carts are measured together: some 2 MB of JSON.
const PAYLOADS: usize = 1_000;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How often everybody runs
    #[arg(long, default_value_t = 41)]
    rounds: usize,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    print!("{}", machine::description());
    print!("{}", measure(PAYLOADS, arguments.rounds)?.text());
    println!(
        "\nMB/s of the JSON text that the value has; the ratio is the speed relative to the crate \
         of the same format: 0.33 is three times its time. Decoding ends in our in-memory value, \
         theirs in a struct of their own"
    );
    Ok(())
}

/// The schema of the carts in a language.
fn schema(language: Language) -> Outcome<Arc<Schema>> {
    let text = match language {
        Language::Protobuf => include_str!("../schemas/carts.proto"),
        Language::Thrift => include_str!("../schemas/carts.thrift"),
        Language::Avro => include_str!("../schemas/carts.avsc"),
    };
    Ok(cinch_schema::read(language, text.as_bytes())?)
}

/// The carts in one encoding.
struct Encoded {
    encoding: &'static Encoding,
    coder: Box<dyn WithSchema>,
    documents: Vec<Document>,
    bytes: Vec<Vec<u8>>,
}

impl Encoded {
    fn new(
        encoding: &'static Encoding,
        coder: Box<dyn WithSchema>,
        texts: &[String],
    ) -> Outcome<Encoded> {
        let (mut documents, mut all) = (Vec::new(), Vec::new());
        for text in texts {
            let mut document = Document::new();
            json::parse(Parser::Simd, text.as_bytes(), &mut document)?;
            let mut bytes = Vec::new();
            coder.encode(&document, &mut bytes)?;
            documents.push(document);
            all.push(bytes);
        }
        let encoded = Encoded { encoding, coder, documents, bytes: all };
        encoded.check(&encoded.bytes)?;
        Ok(encoded)
    }

    /// Fails unless we decode these to the carts.
    fn check(&self, encoded: &[Vec<u8>]) -> Outcome {
        let mut decoded = Document::new();
        for (document, bytes) in self.documents.iter().zip(encoded) {
            self.coder.decode(bytes, &mut decoded)?;
            if first_difference(document, &decoded, self.encoding.fidelity).is_some() {
                return Err(format!("{} gave another value", self.encoding.name).into());
            }
        }
        Ok(())
    }

    fn encode(&self) -> Contestant<'_> {
        let mut out = Vec::new();
        let work = move || -> Outcome {
            for document in &self.documents {
                out.clear();
                self.coder.encode(black_box(document), &mut out)?;
            }
            Ok(())
        };
        Contestant { name: "cinch", work: Box::new(work) }
    }

    fn decode(&self) -> Contestant<'_> {
        let mut document = Document::new();
        let work = move || -> Outcome {
            for bytes in &self.bytes {
                self.coder.decode(black_box(bytes), &mut document)?;
            }
            Ok(())
        };
        Contestant { name: "cinch", work: Box::new(work) }
    }
}

fn measure(count: usize, rounds: usize) -> Outcome<Table> {
    let mut random = Random::new(1);
    let mut table = Table::new(["encoding", "job", "by", "MB/s", "ratio", "95 % of ratio"]);
    let carts = cinch_generate::find("carts").ok_or("there are no carts")?;
    let options = Options { count, seed: SEED, median_bytes: None };
    // A field of a plain int32 can't be null.
    let has_no_null = |text: &String| !text.contains("null");
    let texts: Vec<String> = carts.payloads(options).filter(has_no_null).collect();
    let text_bytes: usize = texts.iter().map(String::len).sum();
    for language in Language::ALL {
        let schema = schema(language)?;
        for encoding in ENCODINGS {
            let Ok(Some(coder)) = encoding.with_schema(Some(&schema)) else { continue };
            let encoded = Encoded::new(encoding, coder, &texts)?;
            let mut jobs = [("encode", vec![encoded.encode()]), ("decode", vec![encoded.decode()])];
            #[cfg(feature = "peers")]
            {
                let peer = carts::peer(encoding.name, schema.bytes(), &encoded.bytes)?;
                encoded.check(&peer.encoded)?;
                jobs[0].1.push(peer.encode);
                jobs[1].1.push(peer.decode);
            }
            for (job, contestants) in &mut jobs {
                let reference = contestants.len() - 1;
                for standing in contest(contestants, reference, text_bytes, rounds, &mut random)? {
                    let [speed, ratio, interval] = standing.cells();
                    let name = standing.name.to_owned();
                    let row = [encoding.name.to_owned(), (*job).to_owned(), name];
                    let [encoding, job, name] = row;
                    table.row([encoding, job, name, speed, ratio, interval]);
                }
            }
        }
    }
    Ok(table)
}

#[cfg(test)]
pub(crate) fn smoke() -> Outcome {
    measure(20, 1).map(drop)
}
