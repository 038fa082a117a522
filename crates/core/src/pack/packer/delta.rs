//! Packing against an earlier version: a delta, where that is smaller than packing alone.
//!
//! A delta is the payload's own text, compressed with the text of the earlier version before it. It
//! ignores the profile's encoding: other encoded forms of both need not be alike where the texts
//! are, and a reader would have to make the base's again, byte for byte, for ever. The base is a
//! payload and never an envelope, so that no delta depends on another.

use super::{Outcome, PackError, Packer, PlainReason, Way, Work};
use crate::codec::CompressError;
use crate::envelope::{Header, base_id, checksum, looks_like_envelope};
use crate::limits::{BASE_BYTES_MAX, BASE_BYTES_MIN};
use crate::pack::{is_worth_packing, looks_like_interop};
use crate::profile::Profile;

/// What became of a payload that was packed against an earlier version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeltaOutcome {
    /// It is in an envelope that only who has the base can read.
    Delta {
        /// The id of the base, which is that of the earlier version.
        base: u64,
    },
    /// It was packed alone, as [`Packer::pack`] does.
    Whole {
        /// What became of it.
        outcome: Outcome,
        /// Why it is no delta.
        reason: NotDelta,
    },
}

/// Why a payload was not packed as a delta.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotDelta {
    /// The payload was wrapped, or the profile leaves it plain whatever it would shrink to.
    #[error("the payload itself is not to be compressed")]
    NotCompressed,
    /// The earlier version is shorter than [`BASE_BYTES_MIN`] or longer than [`BASE_BYTES_MAX`].
    #[error("the base has {got} bytes, not {BASE_BYTES_MIN} to {BASE_BYTES_MAX}")]
    BaseLength {
        /// Its length in bytes.
        got: usize,
    },
    /// The earlier version starts like an envelope or the interop form: it has to be unpacked
    /// first, because a base is what readers have after unpacking.
    #[error("the base is packed itself")]
    BaseIsPacked,
    /// The profile's codec does not refer back to a base.
    #[error("the codec {codec} takes no base")]
    Codec {
        /// The codec's name.
        codec: &'static str,
    },
    /// The delta would not be smaller by the profile's minimum than the payload packed alone.
    #[error("a delta would not be smaller")]
    GainTooSmall,
    /// The codec failed.
    #[error(transparent)]
    CodecFailed(CompressError),
    /// The delta did not unpack to the payload. This is a bug: count it and report it.
    #[error("the delta did not unpack to the payload")]
    VerificationFailed,
}

impl Packer {
    /// Packs one payload into `out`, whose content is replaced, against an earlier version of it:
    /// as a delta if that is smaller, and otherwise as [`Packer::pack`] does, which is always tried
    /// too. `previous` is the earlier version as readers have it, which is what unpacking gave
    /// them: with an encoding that keeps the value only, that is not the text that was packed.
    ///
    /// # Errors
    /// As [`Packer::pack`]; `out` is then empty.
    pub fn pack_against(
        &mut self,
        previous: &[u8],
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<DeltaOutcome, PackError> {
        let outcome = self.pack(payload, out)?;
        let delta = check(&outcome, previous).and_then(|()| {
            let (profile, way, work) = self.parts_for(payload.len());
            work.pack_delta(profile, way, previous, payload, out)
        });
        Ok(match delta {
            Ok(base) => DeltaOutcome::Delta { base },
            Err(reason) => DeltaOutcome::Whole { outcome, reason },
        })
    }
}

/// Whether a delta is to be tried at all.
fn check(outcome: &Outcome, previous: &[u8]) -> Result<(), NotDelta> {
    if !matches!(outcome, Outcome::Packed { .. } | Outcome::Plain(PlainReason::GainTooSmall)) {
        return Err(NotDelta::NotCompressed);
    }
    if !(BASE_BYTES_MIN..=BASE_BYTES_MAX).contains(&previous.len()) {
        return Err(NotDelta::BaseLength { got: previous.len() });
    }
    if looks_like_envelope(previous) || looks_like_interop(previous) {
        return Err(NotDelta::BaseIsPacked);
    }
    Ok(())
}

impl Work {
    /// Puts a delta into `out` in place of what was packed alone, and returns the base's id.
    fn pack_delta(
        &mut self,
        profile: &Profile,
        way: &mut Way,
        previous: &[u8],
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<u64, NotDelta> {
        let info = way.codec.info();
        let no_prefix = NotDelta::Codec { codec: info.name };
        let compressor = way.compressor.with_prefix().ok_or(no_prefix)?;
        let base = base_id(previous);
        let mut fields = std::mem::take(&mut self.base_field);
        for field in &mut fields {
            field.value.copy_from_slice(&base.to_le_bytes());
        }
        let header = Header {
            codec: info.id,
            encoding: None,
            payload_bytes: payload.len() as u32,
            dictionary: None,
            checksum: Some(checksum(payload)),
            fields,
        };
        self.delta.clear();
        header.write(&mut self.delta);
        self.base_field = header.fields;

        let bound = way.codec.compress_bound(payload.len());
        if self.body.len() < bound {
            self.body.resize(bound, 0);
        }
        let body_bytes = compressor
            .compress_after(previous, payload, &mut self.body)
            .map_err(NotDelta::CodecFailed)?;
        let delta_bytes = self.delta.len() + body_bytes;
        if delta_bytes >= out.len() || !is_worth_packing(profile, out.len(), delta_bytes) {
            return Err(NotDelta::GainTooSmall);
        }
        self.delta.extend_from_slice(&self.body[..body_bytes]);
        if self.is_verified(profile) {
            let unpacked =
                self.unpacker.unpack_against(|_| Some(previous), &self.delta, &mut self.verified);
            if unpacked.is_err() || self.verified != payload {
                return Err(NotDelta::VerificationFailed);
            }
        }
        out.clear();
        out.extend_from_slice(&self.delta);
        Ok(base)
    }
}
