//! The gate, mode by mode and record by record: what is written, which copy is believed, and what
//! is said of it. Records of old clients and of other tools are written by hand.

use super::*;
use crate::modes::WriteMode;
use crate::record::{Metadata, PackedField, raw_checksum};
use crate::settings::Sources;

const LIMIT: usize = 100_000;

fn gate(settings: &str) -> Gate {
    let text =
        format!("[namespaces.carts]\nkeys = [\"*\"]\npayload_bytes_max = {LIMIT}\n{settings}");
    let sources = Sources { text, ..Sources::default() };
    Gate::new(Arc::clone(&sources.configuration().unwrap().namespaces["carts"]))
}

fn two(write: WriteMode, read: ReadMode) -> Plan {
    Plan::Two(TwoSlotPlan { write, read, write_obstacle: None, read_obstacle: None })
}

fn one(write: SingleWrite) -> Plan {
    Plan::One(OneSlotPlan { write, write_obstacle: None })
}

fn cart(items: usize) -> Bytes {
    let item = r#"{"sku":"SKU-1","title":"A thing","price":12.50,"quantity":1},"#;
    format!(r#"{{"items":[{}{{}}]}}"#, item.repeat(items)).into()
}

/// The same bytes but for one bit.
fn damaged(bytes: &Bytes, at: usize) -> Bytes {
    let mut bytes = bytes.to_vec();
    bytes[at] ^= 0x55;
    bytes.into()
}

fn write(gate: &Gate, mode: WriteMode, payload: &Bytes) -> Record {
    gate.write(&two(mode, ReadMode::CompressOnly), payload, Some(Stamp(7)), 1).unwrap().record
}

fn read(gate: &Gate, mode: ReadMode, record: &Record) -> Read {
    gate.read(&two(WriteMode::Dual, mode), record).unwrap()
}

const METHODS: &[&str] = &[
    "compression_codec = \"SNAPPY\"\n",
    "compression_codec = \"LZ4_HIGH\"\n",
    "compression_codec = \"LZ4_FAST\"\n",
    "compression_codec = \"GZIP\"\n",
];

#[test]
fn every_mode_reads_what_every_mode_wrote_where_the_pair_is_allowed() {
    for method in METHODS {
        let gate = gate(method);
        for payload in [cart(20), "{}".into(), "12345".into(), Bytes::new()] {
            for write_mode in WriteMode::ALL {
                let record = write(&gate, write_mode, &payload);
                let is_packed = record.packed.is_some();
                assert_eq!(is_packed, payload.len() > 100 && write_mode.writes_packed());
                assert_eq!(record.raw.is_none(), is_packed && !write_mode.writes_raw());
                for read_mode in ReadMode::ALL {
                    let found = read(&gate, read_mode, &record);
                    assert_eq!(found.payload.as_ref(), Some(&payload), "{method} {write_mode:?}");
                    assert_eq!(found.stamp, Some(Stamp(7)));
                    assert!(!found.findings.iter().any(Finding::is_critical));
                    let is_from_packed =
                        is_packed && (read_mode == ReadMode::CompressOnly || record.raw.is_none());
                    assert_eq!(found.source == Source::Packed, is_from_packed);
                }
            }
        }
    }
}

#[test]
fn an_old_client_that_rewrites_the_raw_field_never_loses_to_the_packed_copy() {
    let gate = gate("");
    for write_mode in [WriteMode::Dual, WriteMode::CompressOnly] {
        let mut record = write(&gate, write_mode, &cart(20));
        let newer = cart(21);
        record.raw = Some(newer.clone());
        for read_mode in ReadMode::ALL {
            let found = read(&gate, read_mode, &record);
            assert_eq!(found.payload.as_ref(), Some(&newer), "{write_mode:?} {read_mode:?}");
            assert_eq!(found.findings, [Finding::Stale]);
        }
    }
}

#[test]
fn an_old_client_that_empties_the_cart_is_believed() {
    let gate = gate("");
    let mut record = write(&gate, WriteMode::Dual, &cart(20));
    record.raw = None;
    for read_mode in ReadMode::ALL {
        let found = read(&gate, read_mode, &record);
        assert_eq!((found.payload, found.findings), (None, vec![Finding::Stale]));
    }
}

#[test]
fn a_document_of_the_published_system_is_read_without_our_additions() {
    let gate = gate("");
    let payload = cart(20);
    let mut record = write(&gate, WriteMode::CompressOnly, &payload);
    let packed = record.packed.as_mut().unwrap();
    packed.metadata.raw_checksum = None;
    packed.metadata.raw_nulled = None;
    let found = read(&gate, ReadMode::CompressOnly, &record);
    assert_eq!((found.payload.as_ref(), found.findings.as_slice()), (Some(&payload), &[][..]));
    // Beside another raw copy nobody knows which is newer, and the raw one is what all can read.
    record.raw = Some(cart(3));
    let found = read(&gate, ReadMode::CompressOnly, &record);
    assert_eq!(found.payload, Some(cart(3)));
    assert_eq!(found.findings, [Finding::Unproven]);
}

#[test]
fn a_packed_copy_that_is_wrong_is_critical_and_the_raw_copy_is_used() {
    let gate = gate("");
    let payload = cart(20);
    let mut record = write(&gate, WriteMode::Dual, &payload);
    let other = write(&gate, WriteMode::Dual, &cart(19));
    let packed = record.packed.as_mut().unwrap();
    packed.bytes = other.packed.as_ref().unwrap().bytes.clone();
    packed.metadata.uncompressed_size = cart(19).len() as u64;
    for read_mode in [ReadMode::VerifyCompress, ReadMode::CompressOnly] {
        let found = read(&gate, read_mode, &record);
        assert_eq!(found.payload.as_ref(), Some(&payload));
        assert!(found.findings.contains(&Finding::Mismatch), "{:?}", found.findings);
    }
    // Without auditing nobody looks at it.
    assert!(read(&gate, ReadMode::NoCompress, &record).findings.is_empty());
}

#[test]
fn damage_is_an_error_without_the_raw_copy_and_a_counter_with_it() {
    let gate = gate("compression_codec = \"GZIP\"\n");
    let payload = cart(20);
    for raw in [None, Some(payload.clone())] {
        let mut record = write(&gate, WriteMode::CompressOnly, &payload);
        record.raw = raw.clone();
        let packed = record.packed.as_mut().unwrap();
        packed.metadata.raw_checksum = Some(raw_checksum(&payload));
        let middle = packed.bytes.len() / 2;
        packed.bytes = damaged(&packed.bytes, middle);
        let found = gate.read(&two(WriteMode::Dual, ReadMode::CompressOnly), &record);
        match raw {
            None => assert!(!found.unwrap_err().may_be_removed),
            Some(raw) => {
                let found = found.unwrap();
                assert_eq!(found.payload, Some(raw));
                assert!(matches!(found.findings[..], [Finding::Undecodable(_)]));
            }
        }
    }
}

#[test]
fn sizes_in_the_metadata_that_lie_are_critical_or_an_error_and_allocate_nothing() {
    let gate = gate("compression_codec = \"GZIP\"\n");
    let payload = cart(20);
    let mut record = write(&gate, WriteMode::CompressOnly, &payload);
    record.packed.as_mut().unwrap().metadata.compressed_size += 1;
    let found = read(&gate, ReadMode::CompressOnly, &record);
    assert_eq!(found.payload.as_ref(), Some(&payload));
    assert!(found.findings[0].is_critical());
    for lie in [payload.len() as u64 - 1, LIMIT as u64 + 1, u64::MAX] {
        record.packed.as_mut().unwrap().metadata.uncompressed_size = lie;
        gate.read(&two(WriteMode::Dual, ReadMode::CompressOnly), &record).unwrap_err();
    }
}

#[test]
fn an_unknown_codec_is_no_damage() {
    let gate = gate("cache = true\n");
    let metadata = Metadata {
        codec: "OODLE".to_owned(),
        compressed_size: 1,
        uncompressed_size: 1,
        last_updated_ms: 0,
        raw_checksum: None,
        raw_nulled: None,
    };
    let packed = PackedField { bytes: vec![1].into(), metadata };
    let record = Record { raw: None, packed: Some(packed), stamp: None };
    let error = gate.read(&two(WriteMode::Dual, ReadMode::CompressOnly), &record).unwrap_err();
    assert!(!error.may_be_removed, "a reader that is behind must not remove what it can't read");
    assert_eq!(error.error.kind(), "unknown-codec");
}

#[test]
fn one_slot_gives_back_every_byte_string_in_every_mode() {
    let gate = gate("write = \"plain\"\ninput_envelopes = \"wrap\"\n");
    let envelope = gate.write(&one(SingleWrite::Packed), &cart(20), None, 0).unwrap().record;
    let envelope = envelope.raw.unwrap();
    assert!(envelope.len() < 200);
    let cut = envelope.slice(..20);
    let head = Bytes::from_static(&[0xC1, 0x9E, 0x80]);
    for payload in [cart(20), Bytes::new(), "7".into(), envelope, cut, head] {
        for mode in [SingleWrite::Plain, SingleWrite::Shadow, SingleWrite::Packed] {
            let written = gate.write(&one(mode), &payload, None, 0).unwrap();
            let found = gate.read(&one(SingleWrite::Plain), &written.record).unwrap();
            assert_eq!(found.payload.as_ref(), Some(&payload), "{mode:?}");
        }
    }
}

#[test]
fn an_envelope_from_the_application_is_passed_on_and_not_packed_twice() {
    let gate = gate("write = \"packed\"\n");
    let first = gate.write(&one(SingleWrite::Packed), &cart(20), None, 0).unwrap().record;
    let value = first.raw.clone().unwrap();
    let second = gate.write(&one(SingleWrite::Packed), &value, None, 0).unwrap();
    assert_eq!(second.outcome, Some(PackOutcome::PassedOn));
    assert_eq!(second.record.raw, first.raw);
    let found = gate.read(&one(SingleWrite::Packed), &second.record).unwrap();
    assert_eq!(found.payload, Some(cart(20)));
}

#[test]
fn the_shadow_packs_and_stores_the_payload_as_it_is() {
    let gate = gate("write = \"shadow\"\n");
    let payload = cart(20);
    let written = gate.write(&one(SingleWrite::Shadow), &payload, None, 0).unwrap();
    assert_eq!(written.record.raw.as_ref(), Some(&payload));
    assert!(written.packed_bytes.unwrap() < payload.len() / 2);
    assert!(matches!(written.outcome, Some(PackOutcome::Packer(Outcome::Packed { .. }))));
}

#[test]
fn damaged_values_of_a_cache_may_be_removed_and_others_not() {
    for (settings, is_cache) in [("cache = true\n", true), ("", false)] {
        let gate = gate(&format!("write = \"packed\"\n{settings}"));
        let written = gate.write(&one(SingleWrite::Packed), &cart(20), None, 0).unwrap();
        let mut record = written.record;
        record.raw = Some(damaged(&record.raw.unwrap(), 25));
        let error = gate.read(&one(SingleWrite::Packed), &record).unwrap_err();
        assert_eq!(error.may_be_removed, is_cache);
    }
}

#[test]
fn a_payload_over_the_limit_is_refused_before_anything_is_done() {
    let gate = gate("write = \"packed\"\n");
    let error = gate.write(&one(SingleWrite::Packed), &vec![b'a'; LIMIT + 1].into(), None, 0);
    assert_eq!(error.unwrap_err(), WriteError::TooLarge { limit: LIMIT, got: LIMIT + 1 });
}
