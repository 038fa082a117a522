//! What one record should become: nothing here touches a store. That makes it a
//! function that a property test can call a million times.

use cinch_core::envelope::Header;
use cinch_core::pack::{Outcome, PlainReason};
use cinch_rollout::gate::{
    DecodeError, Finding, Gate, PackOutcome, Read, Source, Written, is_same_value,
};
use cinch_rollout::policy::Plan;
use cinch_rollout::{PackedField, Record};

use crate::stamp::{fitted, stamp_of};
use crate::store::Shape;

/// What to do with a record.
pub(super) enum Decision {
    Write(Write),
    Leave(Left),
}

/// A record to write in place of the one that was read.
pub(super) struct Write {
    pub record: Record,
    /// What the copies take before and after, in bytes.
    pub before: usize,
    pub after: usize,
    pub was_foreign: bool,
    pub was_wrong: bool,
}

/// Why a record is left as it is.
#[derive(Debug, PartialEq)]
pub(super) enum Left {
    /// It is as it should be.
    Already,
    /// It has no payload.
    Null,
    /// No copy can be read.
    Undecodable(DecodeError),
    /// The payload can't be packed, or not now.
    NotPacked(String),
    /// What would be written does not read as what was read.
    ReadsDifferently,
}

impl Left {
    /// The kind and what is said of a record that is left with a problem.
    pub(super) fn told(self) -> (&'static str, String) {
        match self {
            Left::Already => ("already", String::new()),
            Left::Null => ("null", String::new()),
            Left::Undecodable(error) => (error.kind(), error.to_string()),
            Left::NotPacked(message) => ("not-packed", message),
            Left::ReadsDifferently => {
                ("reads-differently", "the new record would read as another payload".to_owned())
            }
        }
    }
}

/// Decides by a plan that reads and compares every copy.
pub(super) fn decide(
    gate: &Gate,
    plan: &Plan,
    shape: &Shape,
    found: &Record,
    is_exact: bool,
    now_ms: i64,
) -> Decision {
    let read = match gate.read(plan, found) {
        Ok(read) => read,
        Err(error) => return Decision::Leave(Left::Undecodable(error.error)),
    };
    let Some(payload) = &read.payload else { return Decision::Leave(Left::Null) };
    let stamp = stamp_of(found, shape);
    let written = match gate.write(plan, payload, stamp, now_ms) {
        Ok(written) => written,
        Err(error) => return Decision::Leave(Left::NotPacked(error.to_string())),
    };
    if let Some(why) = failure_of(&written) {
        return Decision::Leave(Left::NotPacked(why));
    }
    let record = fitted(written.record, shape, Some(plan));
    let takes_value = gate.namespace().takes_value_fidelity;
    if is_sound(&read, takes_value) && is_same_form(found, &record, is_exact) {
        return Decision::Leave(Left::Already);
    }
    // The one check that everything else may be wrong about: the new record reads as the old one.
    // A payload that is an envelope or a foreign format itself may have no other form than its own.
    let again = gate.read(plan, &record).ok().and_then(|read| read.payload);
    let is_same = again
        .is_some_and(|again| again == *payload || takes_value && is_same_value(payload, &again));
    if !is_same {
        return Decision::Leave(Left::ReadsDifferently);
    }
    Decision::Write(Write {
        before: found.stored_bytes(),
        after: record.stored_bytes(),
        was_foreign: read.source == Source::Foreign,
        was_wrong: !read.findings.is_empty(),
        record,
    })
}

/// Packing that failed for no reason in the payload: what is packed must not be unpacked for that.
fn failure_of(written: &Written) -> Option<String> {
    match &written.outcome {
        Some(PackOutcome::Packer(Outcome::Plain(
            reason @ (PlainReason::CodecFailed(_) | PlainReason::VerificationFailed),
        ))) => Some(reason.name().to_owned()),
        Some(PackOutcome::ShadowMismatch) => Some("shadow mismatch".to_owned()),
        _ => None,
    }
}

/// Whether nothing is wrong with the copies. Where encodings may keep the value alone, a packed
/// copy reads as another text than the raw one beside it.
fn is_sound(read: &Read, takes_value: bool) -> bool {
    read.findings.iter().all(|finding| takes_value && *finding == Finding::Mismatch)
}

/// Whether a record has the form that another one has, but for the time in its metadata, and, where
/// that is not asked, for what leaves no trace in headers.
fn is_same_form(found: &Record, wanted: &Record, is_exact: bool) -> bool {
    let is_raw_same = match (&found.raw, &wanted.raw) {
        (Some(found), Some(wanted)) => is_same_packed(found, wanted, is_exact),
        (found, wanted) => found.is_none() && wanted.is_none(),
    };
    let is_packed_same = match (&found.packed, &wanted.packed) {
        (Some(found), Some(wanted)) => is_same_field(found, wanted, is_exact),
        (found, wanted) => found.is_none() && wanted.is_none(),
    };
    is_raw_same && is_packed_same
}

fn is_same_field(found: &PackedField, wanted: &PackedField, is_exact: bool) -> bool {
    let (ours, theirs) = (&wanted.metadata, &found.metadata);
    let is_described_same = ours.codec == theirs.codec
        && ours.uncompressed_size == theirs.uncompressed_size
        && ours.raw_checksum == theirs.raw_checksum
        && ours.raw_nulled == theirs.raw_nulled;
    // A bare block says nothing of itself; the reader has checked that it is one.
    let is_bare = Header::read(&wanted.bytes).is_err();
    let is_same = found.bytes == wanted.bytes
        || !is_exact && (is_bare || is_same_packed(&found.bytes, &wanted.bytes, false));
    is_described_same && is_same
}

/// The same bytes, or envelopes of one payload that differ in no more than the level.
fn is_same_packed(found: &[u8], wanted: &[u8], is_exact: bool) -> bool {
    if found == wanted {
        return true;
    }
    match (Header::read(found), Header::read(wanted)) {
        (Ok((found, _)), Ok((wanted, _))) => !is_exact && found == wanted,
        _ => false,
    }
}
