//! The peers that our parsers, writer and encodings are compared with, each used as its own
//! documentation advises for speed: buffers reused where it can, its own value type.
//!
//! simd-json writes into its input, so it is handed a copy; the copy is part of its time, because
//! whoever has a payload to keep pays for it.

use simd_json::prelude::Writable;

use crate::contest::{Contestant, Work};
use crate::corpora::{self, Corpus};
use crate::failure::Outcome;

/// Parsers other than ours and serde_json's.
pub(crate) fn parsers(corpus: &Corpus) -> Vec<Contestant<'_>> {
    let payloads = &corpus.payloads;
    let mut owned_copy = Vec::new();
    let mut owned_buffers = simd_json::Buffers::default();
    let mut borrowed_copy = Vec::new();
    let mut borrowed_buffers = simd_json::Buffers::default();
    let mut tape_copy = Vec::new();
    let mut tape_buffers = simd_json::Buffers::default();
    let owned = move || -> Outcome {
        for payload in payloads {
            owned_copy.clone_from(payload);
            std::hint::black_box(simd_json::value::owned::to_value_with_buffers(
                &mut owned_copy,
                &mut owned_buffers,
            )?);
        }
        Ok(())
    };
    let borrowed = move || -> Outcome {
        for payload in payloads {
            borrowed_copy.clone_from(payload);
            std::hint::black_box(simd_json::value::borrowed::to_value_with_buffers(
                &mut borrowed_copy,
                &mut borrowed_buffers,
            )?);
        }
        Ok(())
    };
    let tape = move || -> Outcome {
        for payload in payloads {
            tape_copy.clone_from(payload);
            std::hint::black_box(simd_json::to_tape_with_buffers(
                &mut tape_copy,
                &mut tape_buffers,
            )?);
        }
        Ok(())
    };
    let sonic = move || -> Outcome {
        for payload in payloads {
            std::hint::black_box(sonic_rs::from_slice::<sonic_rs::Value>(payload)?);
        }
        Ok(())
    };
    vec![
        Contestant { name: "simd-json owned", work: Box::new(owned) },
        Contestant { name: "simd-json borrowed", work: Box::new(borrowed) },
        Contestant { name: "simd-json tape", work: Box::new(tape) },
        Contestant { name: "sonic-rs", work: Box::new(sonic) },
    ]
}

/// Writers other than ours and serde_json's. What they write is compared in their first run only.
pub(crate) fn writers(corpus: &Corpus) -> Vec<Contestant<'_>> {
    let simd = writer(
        corpus,
        |payload| Ok(simd_json::value::owned::to_value(&mut payload.to_vec())?),
        |value, out| Ok(value.write(out)?),
    );
    let sonic = writer(
        corpus,
        |payload| Ok(sonic_rs::from_slice::<sonic_rs::Value>(payload)?),
        |value, out| Ok(sonic_rs::to_writer(out, value)?),
    );
    vec![
        Contestant { name: "simd-json owned", work: simd },
        Contestant { name: "sonic-rs", work: sonic },
    ]
}

/// Parses the corpus and compares what is written of it in the first run, and only writes in all
/// later ones.
fn writer<'a, V: 'a>(
    corpus: &'a Corpus,
    parse: fn(&[u8]) -> Outcome<V>,
    write: fn(&V, &mut Vec<u8>) -> Outcome,
) -> Work<'a> {
    let mut values = Vec::new();
    let mut out = Vec::new();
    Box::new(move || {
        if values.is_empty() {
            for payload in &corpus.payloads {
                let value = parse(payload)?;
                out.clear();
                write(&value, &mut out)?;
                if !corpora::is_same(payload, &out)? {
                    return Err("it writes another value".into());
                }
                values.push(value);
            }
        }
        for value in &values {
            out.clear();
            write(value, &mut out)?;
        }
        Ok(())
    })
}

/// A library that writes and reads the form of one of our encodings.
pub(crate) struct Peer {
    /// The encoding's registry name.
    pub(crate) encoding: &'static str,
    pub(crate) name: &'static str,
    pub(crate) encode: fn(&serde_json::Value, &mut Vec<u8>) -> Outcome,
    pub(crate) decode: fn(&[u8]) -> Outcome<serde_json::Value>,
}

pub(crate) static PEERS: &[Peer] = &[
    Peer {
        encoding: "msgpack",
        name: "rmp-serde",
        encode: |value, out| Ok(rmp_serde::encode::write(out, value)?),
        decode: |bytes| Ok(rmp_serde::from_slice(bytes)?),
    },
    Peer {
        encoding: "cbor",
        name: "ciborium",
        encode: |value, out| Ok(ciborium::into_writer(value, out)?),
        decode: |bytes| Ok(ciborium::from_reader(bytes)?),
    },
];
