//! The payloads that report, packed and unpacked by each contender in turns.
//!
//! What is timed is what a service does: an envelope with its checksum, verified, and back to text.

use std::time::Instant;

use cinch_core::codec::SetupError;
use cinch_core::pack::{Outcome, PackError, Packer, Unpacker};
use cinch_core::profile::Profile;
use cinch_learn::SearchError;
use serde::Serialize;

use super::TrainingError;
use crate::measure::Watch;

/// Rounds, of which the least time of a payload counts.
const ROUNDS: usize = 7;

/// The most bytes of payloads that are timed, evenly spread.
const TIMED_BYTES_MAX: usize = 4_000_000;

/// What one contender made of the payloads that report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Contender {
    /// `no dictionary`, `current` or `new`.
    pub name: &'static str,
    /// The encoding.
    pub encoding: &'static str,
    /// The bytes of all that is stored, envelopes and plain payloads.
    pub bytes: u64,
    /// How many payloads are in envelopes; the others did not shrink enough and stay plain.
    pub packed: usize,
    /// The bytes of the texts by those of the envelopes.
    pub ratio: f64,
    /// The mean time to pack and verify a payload, in nanoseconds.
    pub pack_ns: f64,
    /// The mean time to unpack a payload, in nanoseconds.
    pub unpack_ns: f64,
}

pub(super) struct Contest<'a> {
    payloads: Vec<(&'a [u8], u32)>,
    entered: Vec<Entered>,
}

struct Entered {
    name: &'static str,
    profile: Profile,
    packer: Packer,
    unpacker: Unpacker,
    pack_ns: Vec<f64>,
    unpack_ns: Vec<f64>,
}

fn packer(profile: &Profile) -> Result<Packer, TrainingError> {
    Packer::new(profile).map_err(|error: SetupError| SearchError::from(error).into())
}

impl<'a> Contest<'a> {
    pub(super) fn new(payloads: Vec<(&'a [u8], u32)>) -> Contest<'a> {
        Contest { payloads, entered: Vec::new() }
    }

    pub(super) fn enter(
        &mut self,
        name: &'static str,
        profile: Profile,
    ) -> Result<(), TrainingError> {
        let unpacker = Unpacker::new(profile.dictionaries().map(std::sync::Arc::clone));
        let packer = packer(&profile)?;
        let (pack_ns, unpack_ns) = (Vec::new(), Vec::new());
        self.entered.push(Entered { name, profile, packer, unpacker, pack_ns, unpack_ns });
        Ok(())
    }

    /// The bytes of the payloads as text.
    pub(super) fn text_bytes(&self) -> u64 {
        self.payloads.iter().map(|(payload, _)| payload.len() as u64).sum()
    }

    /// The bytes that a profile makes of the payloads.
    pub(super) fn bytes_of(&self, profile: &Profile) -> Result<u64, TrainingError> {
        let (bytes, _) = packed_bytes(&mut packer(profile)?, &self.payloads)?;
        Ok(bytes)
    }

    pub(super) fn run(&mut self, watch: &Watch<'_>) -> Result<Vec<Contender>, TrainingError> {
        let stride = self.text_bytes() as usize / TIMED_BYTES_MAX + 1;
        let timed: Vec<&[u8]> = self.payloads.iter().step_by(stride).map(|p| p.0).collect();
        let (mut envelope, mut back) = (Vec::new(), Vec::new());
        for entered in &mut self.entered {
            entered.pack_ns = vec![f64::INFINITY; timed.len()];
            entered.unpack_ns = vec![f64::INFINITY; timed.len()];
        }
        for _ in 0..ROUNDS {
            for (at, payload) in timed.iter().enumerate() {
                for entered in &mut self.entered {
                    let start = Instant::now();
                    entered.packer.pack(payload, &mut envelope)?;
                    let packed = Instant::now();
                    // What was just packed and verified unpacks.
                    let _ = entered.unpacker.read(&envelope, &mut back);
                    let unpacked = packed.elapsed();
                    let least = |known: &mut f64, time: f64| *known = known.min(time);
                    least(&mut entered.pack_ns[at], (packed - start).as_nanos() as f64);
                    least(&mut entered.unpack_ns[at], unpacked.as_nanos() as f64);
                }
            }
            if watch.stopped() {
                return Err(TrainingError::Interrupted);
            }
        }
        let text_bytes = self.text_bytes();
        let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len().max(1) as f64;
        let payloads = &self.payloads;
        self.entered
            .iter_mut()
            .map(|entered| {
                let (bytes, packed) = packed_bytes(&mut entered.packer, payloads)?;
                Ok(Contender {
                    name: entered.name,
                    encoding: entered.profile.encoding.name,
                    bytes,
                    packed,
                    ratio: text_bytes as f64 / bytes.max(1) as f64,
                    pack_ns: mean(&entered.pack_ns),
                    unpack_ns: mean(&entered.unpack_ns),
                })
            })
            .collect()
    }
}

/// The bytes that are stored, and how many payloads are in envelopes.
fn packed_bytes(packer: &mut Packer, payloads: &[(&[u8], u32)]) -> Result<(u64, usize), PackError> {
    let mut envelope = Vec::new();
    let (mut bytes, mut packed) = (0, 0);
    for (payload, _) in payloads {
        let outcome = packer.pack(payload, &mut envelope)?;
        packed += usize::from(matches!(outcome, Outcome::Packed { .. }));
        bytes += envelope.len() as u64;
    }
    Ok((bytes, packed))
}
