//! What a profile would save, before it is switched on: every payload packed, unpacked and
//! compared, through the same packer that a service would use.
//!
//! spec/evaluation.md documents the JSON form.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use cinch_core::codec::SetupError;
use cinch_core::document::{Document, Fidelity, first_difference};
use cinch_core::encoding::Parser;
use cinch_core::json;
use cinch_core::pack::{NotEncoded, Outcome, Packer, Unpacker};
use cinch_core::profile::Profile;
use serde::{Deserialize, Serialize};

use crate::corpus::{Corpus, Payload};
use crate::statistics::{P99_COUNT_MIN, percentile};

/// What a profile would do to a corpus.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Estimate {
    /// The profile's name.
    pub profile: String,
    /// How many payloads.
    pub payloads: u64,
    /// Their bytes.
    pub bytes_in: u64,
    /// What would be stored, envelopes included.
    pub bytes_out: u64,
    /// `bytes_in / bytes_out`.
    pub ratio: f64,
    /// How many stay plain.
    pub plain: u64,
    /// Why they stay plain, with counts.
    pub plain_reasons: BTreeMap<String, u64>,
    /// How many are wrapped because they start like an envelope.
    pub wrapped: u64,
    /// How many are packed verbatim because the profile's encoding can't carry them.
    pub not_encoded: u64,
    /// How many do not come back as the profile promises.
    pub failures: u64,
    /// The first failure, naming its payload.
    pub failure: Option<String>,
    /// Time to pack one payload.
    pub pack_ns: Percentiles,
    /// Time to unpack one payload.
    pub unpack_ns: Percentiles,
    /// Whether the p99 are the maximum, for want of 299 payloads.
    pub p99_is_max: bool,
    /// Whether the run was cut short.
    pub interrupted: bool,
}

/// Percentiles over payloads, in nanoseconds, of one call each.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Percentiles {
    /// Half take at most this.
    pub p50: f64,
    /// 95 % take at most this.
    pub p95: f64,
    /// 99 % take at most this.
    pub p99: f64,
}

impl Percentiles {
    fn of(mut values: Vec<f64>) -> Percentiles {
        values.sort_by(f64::total_cmp);
        let share = if values.len() < P99_COUNT_MIN { 1.0 } else { 0.99 };
        Percentiles {
            p50: percentile(&values, 0.5),
            p95: percentile(&values, 0.95),
            p99: percentile(&values, share),
        }
    }
}

/// Packs, unpacks and compares every payload. `advance` is told after each.
///
/// # Errors
/// Where the profile's codec can't be set up.
pub fn estimate(
    corpus: &Corpus,
    profile: &Profile,
    stop: &AtomicBool,
    mut advance: impl FnMut(),
) -> Result<Estimate, SetupError> {
    let mut packer = Packer::new(profile)?;
    let mut unpacker = Unpacker::new(profile.dictionaries().cloned());
    let (mut packed, mut unpacked) = (Vec::new(), Vec::new());
    let (mut pack_ns, mut unpack_ns) = (Vec::new(), Vec::new());
    let mut found = Estimate {
        profile: profile.name.clone(),
        payloads: 0,
        bytes_in: 0,
        bytes_out: 0,
        ratio: 0.0,
        plain: 0,
        plain_reasons: BTreeMap::new(),
        wrapped: 0,
        not_encoded: 0,
        failures: 0,
        failure: None,
        pack_ns: Percentiles::default(),
        unpack_ns: Percentiles::default(),
        p99_is_max: false,
        interrupted: false,
    };
    for (index, payload) in corpus.payloads.iter().enumerate() {
        if stop.load(Ordering::Relaxed) {
            found.interrupted = true;
            break;
        }
        let start = Instant::now();
        let outcome = packer.pack(&payload.bytes, &mut packed);
        pack_ns.push(start.elapsed().as_nanos() as f64);
        let start = Instant::now();
        let read = unpacker.read(&packed, &mut unpacked);
        unpack_ns.push(start.elapsed().as_nanos() as f64);
        found.payloads += 1;
        found.bytes_in += payload.bytes.len() as u64;
        found.bytes_out += packed.len() as u64;
        let failure = match (&outcome, &read) {
            (Err(error), _) => Some(error.to_string()),
            (_, Err(error)) => Some(error.to_string()),
            (Ok(outcome), Ok(_)) => {
                found.count(outcome);
                failure_of(profile, payload, outcome, &unpacked)
            }
        };
        if let Some(reason) = failure {
            found.failures += 1;
            found.failure.get_or_insert_with(|| format!("{}: {reason}", corpus.describe(index)));
        }
        advance();
    }
    found.ratio = found.bytes_in as f64 / (found.bytes_out as f64).max(1.0);
    found.p99_is_max = pack_ns.len() < P99_COUNT_MIN;
    found.pack_ns = Percentiles::of(pack_ns);
    found.unpack_ns = Percentiles::of(unpack_ns);
    Ok(found)
}

impl Estimate {
    fn count(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Packed { not_encoded } => self.not_encoded += u64::from(not_encoded.is_some()),
            Outcome::Wrapped => self.wrapped += 1,
            Outcome::Plain(reason) => {
                self.plain += 1;
                *self.plain_reasons.entry(reason.name().to_owned()).or_default() += 1;
            }
        }
    }
}

/// Why what came back is not what the profile promises, if it is not.
fn failure_of(
    profile: &Profile,
    payload: &Payload,
    outcome: &Outcome,
    unpacked: &[u8],
) -> Option<String> {
    if let Outcome::Packed { not_encoded: Some(NotEncoded::NotTheSame) } = outcome {
        return Some("the encoding changed the value".to_owned());
    }
    let fidelity = match profile.encoding_for(payload.bytes.len()) {
        Some(encoding) if *outcome == Outcome::Packed { not_encoded: None } => encoding.fidelity,
        _ => Fidelity::Bytes,
    };
    if fidelity == Fidelity::Bytes {
        return (unpacked != &*payload.bytes).then(|| "other bytes came back".to_owned());
    }
    let (mut before, mut after) = (Document::new(), Document::new());
    let parsed = json::parse(Parser::Ordinary, &payload.bytes, &mut before)
        .and_then(|()| json::parse(Parser::Ordinary, unpacked, &mut after));
    match parsed {
        Err(error) => Some(error.to_string()),
        Ok(()) => first_difference(&before, &after, fidelity)
            .map(|_| format!("another value came back ({fidelity})")),
    }
}

#[cfg(test)]
mod tests {
    use cinch_core::codec::CodecChoice;
    use cinch_core::encoding::encoding_named;
    use cinch_core::profile::{Method, Rule};

    use super::*;

    fn estimate_of(encoding: &str, payloads: &[&str]) -> Estimate {
        let payloads = payloads.iter().map(|payload| payload.as_bytes().to_vec());
        let corpus = Corpus::from_payloads("test", payloads);
        let codec = CodecChoice::parse("zstd:3").unwrap();
        let profile = Profile::new(encoding_named(encoding).unwrap(), codec);
        let mut count = 0;
        let found = estimate(&corpus, &profile, &AtomicBool::new(false), || count += 1).unwrap();
        assert_eq!(count, found.payloads);
        found
    }

    #[test]
    fn what_stays_plain_is_counted_with_its_reason() {
        let long = "{\"a\":[".to_owned() + &"\"abc\",".repeat(50) + "1]}";
        let found = estimate_of("verbatim", &["{}", "[1]", &long]);
        assert_eq!((found.payloads, found.plain, found.failures), (3, 2, 0));
        assert_eq!(found.plain_reasons["below min size"], 2);
        assert!(found.bytes_out < found.bytes_in && found.ratio > 1.0 && found.p99_is_max);
    }

    #[test]
    fn a_rule_decides_what_must_come_back() {
        // The longer payload has a space, which only verbatim keeps; its rule is msgpack.
        let long = "{\"a\": [".to_owned() + &"\"abc\",".repeat(50) + "1]}";
        let longer = "{\"a\": [".to_owned() + &"\"abc\",".repeat(90) + "1]}";
        let codec = CodecChoice::parse("zstd:3").unwrap();
        let method = |encoding: &str| Method {
            encoding: encoding_named(encoding).unwrap(),
            codec,
            dictionary: None,
            schema: None,
        };
        let mut profile = Profile::new(encoding_named("verbatim").unwrap(), codec);
        profile.rules = vec![
            Rule { max_bytes: 100, method: None },
            Rule { max_bytes: 400, method: Some(method("verbatim")) },
            Rule { max_bytes: 1_000, method: Some(method("msgpack")) },
        ];
        let payloads = [&long, &longer, &long[..80], &longer.repeat(2)];
        let payloads = payloads.into_iter().map(|payload| payload.as_bytes().to_vec());
        let corpus = Corpus::from_payloads("test", payloads);
        let found = estimate(&corpus, &profile, &AtomicBool::new(false), || {}).unwrap();
        assert_eq!(found.failures, 0, "{:?}", found.failure);
        assert_eq!((found.payloads, found.plain, found.not_encoded), (4, 1, 0));
        assert_eq!(found.plain_reasons["rule"], 1);
    }

    #[test]
    fn a_payload_that_the_encoding_refuses_is_packed_verbatim_and_counted() {
        let refused = "[".to_owned() + &"\"abc\",".repeat(50) + "1e400]";
        let found = estimate_of("msgpack", &[&refused, &refused.replace("1e400", "1.50")]);
        assert_eq!((found.not_encoded, found.failures, found.plain), (1, 0, 0));
    }
}
