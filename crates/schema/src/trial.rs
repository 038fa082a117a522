//! A schema on payloads that did not teach it: how many it takes, and why it refuses the others.
//! What a schema costs shows only there.

use cinch_core::document::{Document, first_difference};
use cinch_core::encoding::{ENCODINGS, Encoding, Parser, WithSchema};
use cinch_core::json;
use cinch_core::schema::Schema;
use std::sync::Arc;

/// What became of payloads under one encoding.
#[derive(Debug, Clone, Default)]
pub struct Held {
    /// The encoding's name.
    pub encoding: &'static str,
    /// How many payloads were tried; what is no JSON is left out.
    pub payloads: u64,
    /// How many were refused.
    pub refused: u64,
    /// How many have members that travel as JSON text, because the schema has no place for them.
    pub outside: u64,
    /// The length of those that were not refused, in bytes.
    pub bytes_in: u64,
    /// Their encoded length, in bytes.
    pub bytes_out: u64,
    /// Why the first was refused.
    pub first_refusal: Option<String>,
    /// The first that did not come back, which is a bug.
    pub failure: Option<String>,
}

/// Tries every encoding of the schema's language on payloads, each of which is decoded again and
/// compared.
pub fn try_on<'a, I>(schema: &Arc<Schema>, payloads: impl Fn() -> I) -> Vec<Held>
where
    I: Iterator<Item = &'a [u8]>,
{
    let with_schema = |encoding: &'static Encoding| {
        let made = encoding.with_schema(Some(schema)).ok().flatten()?;
        Some((encoding, made))
    };
    ENCODINGS
        .iter()
        .filter_map(with_schema)
        .map(|(encoding, made)| try_one(encoding, made.as_ref(), payloads()))
        .collect()
}

fn try_one<'a>(
    encoding: &'static Encoding,
    made: &dyn WithSchema,
    payloads: impl Iterator<Item = &'a [u8]>,
) -> Held {
    let mut held = Held { encoding: encoding.name, ..Held::default() };
    let (mut document, mut decoded, mut bytes) = (Document::new(), Document::new(), Vec::new());
    for payload in payloads {
        if json::parse(Parser::Simd, payload, &mut document).is_err() {
            continue;
        }
        held.payloads += 1;
        bytes.clear();
        match made.encode_counting(&document, &mut bytes) {
            Err(refusal) => {
                held.refused += 1;
                held.first_refusal.get_or_insert_with(|| refusal.to_string());
                continue;
            }
            Ok(outside) => held.outside += u64::from(outside > 0),
        }
        held.bytes_in += payload.len() as u64;
        held.bytes_out += bytes.len() as u64;
        let failure = match made.decode(&bytes, &mut decoded) {
            Err(error) => Some(error.to_string()),
            Ok(()) => first_difference(&document, &decoded, encoding.fidelity)
                .map(|difference| format!("value {} came back changed", difference.node)),
        };
        if let Some(failure) = failure {
            held.failure.get_or_insert(failure);
        }
    }
    held
}
