//! What cinch stores for a payload, envelope and thresholds included.
//!
//! It is asked for every payload that is sized, never inside a timed call.

use cinch_core::envelope::{FIELD_SCHEMA, Field, Header};
use cinch_core::pack::{Packer, is_worth_packing, reason_to_leave};
use cinch_core::profile::{Profile, VerifyOnPack};
use cinch_core::schema::Schema;

use crate::candidate::Candidate;
use crate::measure::runner::Run;

/// The packed sizes of one candidate.
pub(super) struct Stored {
    profile: Profile,
    /// Only where envelopes use another form of the codec: everything else is known from the run.
    packer: Option<Packer>,
    /// What names the schema in a header.
    schema_field: Vec<Field>,
    out: Vec<u8>,
}

/// The profile that packs as a candidate was measured.
pub(crate) fn profile_of(candidate: &Candidate) -> Profile {
    let mut profile = Profile::new(candidate.encoding, candidate.codec);
    profile.dictionary = candidate.dictionary().cloned();
    profile.schema = candidate.schema.clone();
    profile
}

impl Stored {
    /// Nothing where the codec has no packer of this kind.
    pub(super) fn new(candidate: &Candidate) -> Option<Stored> {
        let mut profile = profile_of(candidate);
        profile.verify_on_pack = VerifyOnPack::Never;
        let packer = match profile.codec.codec.bare_form() {
            Some(_) => Some(Packer::new(&profile).ok()?),
            None => None,
        };
        let name = |schema: &Schema| Field { kind: FIELD_SCHEMA, value: schema.prefix().to_vec() };
        let schema_field = profile.schema.as_deref().map(name).into_iter().collect();
        Some(Stored { profile, packer, schema_field, out: Vec::new() })
    }

    /// The bytes that are stored for a payload, given what a run of it left.
    pub(super) fn bytes(&mut self, payload: &[u8], run: &Run) -> usize {
        if let Some(packer) = &mut self.packer {
            return match packer.pack(payload, &mut self.out) {
                Ok(_) => self.out.len(),
                Err(_) => payload.len(),
            };
        }
        if reason_to_leave(&self.profile, payload).is_some() {
            return payload.len();
        }
        self.out.clear();
        let is_encoded = run.text_bytes.is_some();
        let header = Header {
            codec: self.profile.codec.codec.info().id,
            encoding: is_encoded.then_some(self.profile.encoding.id),
            payload_bytes: run.text_bytes.unwrap_or(payload.len()) as u32,
            dictionary: self.profile.dictionary.as_ref().map(|dictionary| dictionary.id()),
            // The value does not matter, only that there is one.
            checksum: Some(0),
            fields: if is_encoded { self.schema_field.clone() } else { Vec::new() },
        };
        let packed_bytes = header.write(&mut self.out).unwrap_or_default() + run.bytes_out;
        let is_packed = is_worth_packing(&self.profile, payload.len(), packed_bytes);
        if is_packed { packed_bytes } else { payload.len() }
    }
}
