//! The version stamp of a value in a store that has no place for one beside the value, such as a
//! Redis key: it travels in the envelope, as the field that the format has for it.
//!
//! A plain value gets an envelope of codec `stored` for it, but only where the policy writes
//! packed: there every reader is known to read envelopes. Where plain values are promised, the
//! stamp is left out, and a value without one counts as older than every other.

use bytes::Bytes;
use cinch_core::codec::STORED;
use cinch_core::envelope::{FIELD_VERSION, Field, Header, checksum, looks_like_envelope};
use cinch_core::pack::looks_like_interop;
use cinch_rollout::modes::SingleWrite;
use cinch_rollout::policy::{OneSlotPlan, Plan};
use cinch_rollout::{Record, Stamp};

use crate::store::{Shape, Slots};

/// The stamp of a record, wherever the store keeps it.
pub(crate) fn stamp_of(record: &Record, shape: &Shape) -> Option<Stamp> {
    if shape.has_stamp || shape.slots == Slots::Two {
        return record.stamp;
    }
    record.raw.as_deref().and_then(stamp_in)
}

/// The record as the store can keep it: the stamp in its place, in the value, or nowhere.
pub(crate) fn fitted(mut record: Record, shape: &Shape, plan: Option<&Plan>) -> Record {
    if shape.has_stamp {
        return record;
    }
    let Some(stamp) = record.stamp.take() else { return record };
    let is_read_by_all =
        matches!(plan, Some(Plan::One(OneSlotPlan { write: SingleWrite::Packed, .. })));
    if is_read_by_all && shape.slots == Slots::One {
        record.raw = record.raw.map(|value| stamped(value, stamp));
    }
    record
}

/// The stamp in the header of an envelope.
fn stamp_in(value: &[u8]) -> Option<Stamp> {
    let (header, _) = Header::read(value).ok()?;
    let field = header.fields.iter().find(|field| field.kind == FIELD_VERSION)?;
    let bytes = field.value.as_slice().try_into().ok()?;
    Some(Stamp(u64::from_le_bytes(bytes)))
}

/// A value with the stamp in its header; as it was, where there is no room for one.
fn stamped(value: Bytes, stamp: Stamp) -> Bytes {
    let (mut header, body) = if looks_like_envelope(&value) {
        let Ok((header, header_bytes)) = Header::read(&value) else { return value };
        (header, &value[header_bytes..])
    } else if looks_like_interop(&value) {
        return value;
    } else {
        let Ok(payload_bytes) = u32::try_from(value.len()) else { return value };
        let header = Header {
            codec: STORED,
            encoding: None,
            payload_bytes,
            dictionary: None,
            checksum: Some(checksum(&value)),
            fields: Vec::new(),
        };
        (header, &value[..])
    };
    header.fields.retain(|field| field.kind != FIELD_VERSION);
    header.fields.push(Field { kind: FIELD_VERSION, value: stamp.0.to_le_bytes().to_vec() });
    let mut out = Vec::with_capacity(value.len() + 64);
    if header.write(&mut out).is_none() {
        return value;
    }
    out.extend_from_slice(body);
    out.into()
}

#[cfg(test)]
mod tests {
    use cinch_core::pack::{Found, Unpacker};

    use super::*;

    const REDIS: Shape =
        Shape { kind: "redis", slots: Slots::One, has_expiry: true, has_stamp: false };

    fn plan(write: SingleWrite) -> Plan {
        Plan::One(OneSlotPlan { write, write_obstacle: None })
    }

    fn record(value: &[u8], stamp: u64) -> Record {
        Record { raw: Some(value.to_vec().into()), packed: None, stamp: Some(Stamp(stamp)) }
    }

    #[test]
    fn a_stamp_travels_in_the_value_and_the_payload_stays() {
        for payload in [&b""[..], b"17", b"{\"cart\":[]}", b"\xff\x00"] {
            let packed = plan(SingleWrite::Packed);
            let first = fitted(record(payload, 7), &REDIS, Some(&packed));
            assert_eq!(first.stamp, None, "the store has no place for it");
            assert_eq!(stamp_of(&first, &REDIS), Some(Stamp(7)));
            let again = record(first.raw.as_deref().unwrap(), u64::MAX);
            let again = fitted(again, &REDIS, Some(&packed));
            assert_eq!(stamp_of(&again, &REDIS), Some(Stamp(u64::MAX)), "it is replaced");
            let mut out = Vec::new();
            let found = Unpacker::new([]).read(again.raw.as_deref().unwrap(), &mut out).unwrap();
            assert!(matches!(found, Found::Envelope(_)));
            assert_eq!(out, payload);
        }
    }

    #[test]
    fn plain_values_stay_plain_where_they_are_promised() {
        for write in [SingleWrite::Plain, SingleWrite::Shadow] {
            let kept = fitted(record(b"{}", 7), &REDIS, Some(&plan(write)));
            assert_eq!(kept, Record::single(b"{}".to_vec()));
            assert_eq!(stamp_of(&kept, &REDIS), None);
        }
    }
}
