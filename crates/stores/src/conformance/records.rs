//! Records come back byte for byte, and a write replaces a record as a whole in one step: a reader
//! never sees a part of it, nor what an earlier one left behind.

use cinch_rollout::{Metadata, PackedField, Record, Stamp};

use super::{Subject, packed};
use crate::error::StoreError;
use crate::store::{Condition, Expiry, PutOutcome};

/// A large payload: what a menu or a day of trips may have.
const LARGE_BYTES: usize = 8 << 20;

/// How many writes run beside the readers that look for torn records.
const WRITES: u64 = 200;

/// Asserts that a record is written and read back.
async fn assert_kept(subject: &Subject, key: &[u8], record: &Record) {
    let store = &subject.store;
    let outcome = store.put(key, record, &Condition::Always, Expiry::Keep).await;
    let key_text = String::from_utf8_lossy(key);
    assert!(matches!(outcome, Ok(PutOutcome::Written)), "{key_text:?}: {outcome:?}");
    let found = subject.get(key).await.record;
    // A comparison of 8 MiB that fails is not to be printed.
    assert!(found == *record, "{key_text:?} came back changed");
}

pub(super) async fn come_back_as_they_were(subject: &Subject) {
    assert!(matches!(subject.store.get(b"records-nothing").await, Ok(None)));
    let noise = (0..LARGE_BYTES).map(|index| (index * 31 % 251) as u8);
    let large: Vec<u8> = match subject.has_binary_values {
        true => noise.clone().collect(),
        false => noise.clone().map(|byte| b'a' + byte % 26).collect(),
    };
    let mut values = vec![
        Vec::new(),
        b"{}".to_vec(),
        b" 12.50 ".to_vec(),
        b"null".to_vec(),
        "{\"name\":\"\u{e9}\u{1f600}\\u0000 'quoted' \\\\\"}\r\n\t".as_bytes().to_vec(),
        large,
    ];
    if subject.has_binary_values {
        values.push((0..=255).collect());
        values.push(b"\xc1\x9e\x90\x86\x10\x00".to_vec());
    }
    for (number, value) in values.into_iter().enumerate() {
        let key = format!("records-value-{number}");
        assert_kept(subject, key.as_bytes(), &Record::single(value)).await;
        // What is large makes every scan of a server without an index slow.
        let gone = subject.store.delete(key.as_bytes(), &Condition::Always).await;
        assert!(matches!(gone, Ok(PutOutcome::Written)), "{gone:?}");
    }
    if subject.has_stamp() {
        for stamp in [0, 1, u64::MAX >> 1] {
            let record = Record { stamp: Some(Stamp(stamp)), ..Record::single(b"{}".to_vec()) };
            assert_kept(subject, b"records-stamp", &record).await;
        }
    }
    if subject.has_two_slots() {
        let bare = Metadata {
            codec: "LZ4_HIGH".to_owned(),
            compressed_size: 0,
            uncompressed_size: 1 << 32,
            last_updated_ms: 0,
            raw_checksum: None,
            raw_nulled: None,
        };
        let empty = PackedField { bytes: Vec::new().into(), metadata: bare };
        let nulled = Metadata { raw_nulled: Some(true), ..packed(7).metadata };
        let large = PackedField { bytes: noise.collect(), metadata: packed(8).metadata };
        for packed in [empty, PackedField { metadata: nulled, ..packed(7) }, large] {
            let record = Record { raw: None, packed: Some(packed), stamp: None };
            assert_kept(subject, b"records-packed", &record).await;
        }
        assert_kept(subject, b"records-packed", &Record::default()).await;
    }
}

pub(super) async fn are_written_as_a_whole(subject: &Subject) {
    assert_kept(subject, b"whole", &subject.record(1)).await;
    if subject.has_two_slots() {
        // An old copy that stays beside a new one is read as if it were current.
        assert_kept(subject, b"whole", &Record { packed: None, ..subject.record(2) }).await;
        assert_kept(subject, b"whole", &subject.record(3)).await;
        assert_kept(subject, b"whole", &Record { raw: None, ..subject.record(4) }).await;
    }
    assert_kept(subject, b"whole", &Record { stamp: None, ..subject.record(5) }).await;
}

pub(super) async fn have_no_place_for_what_the_shape_denies(subject: &Subject) {
    let mut denied = Vec::new();
    if !subject.has_two_slots() {
        denied.push(Record { packed: Some(packed(1)), ..Record::single(b"{}".to_vec()) });
        denied.push(Record::default());
    }
    if !subject.has_stamp() {
        denied.push(Record { stamp: Some(Stamp(1)), ..Record::single(b"{}".to_vec()) });
    }
    if !subject.has_binary_values {
        denied.push(Record::single(b"\xff".to_vec()));
    }
    for record in denied {
        let put = subject.store.put(b"denied", &record, &Condition::Always, Expiry::Keep).await;
        assert!(matches!(put, Err(StoreError::Unsupported { .. })), "{record:?}: {put:?}");
        assert!(matches!(subject.store.get(b"denied").await, Ok(None)), "{record:?}");
    }
}

pub(super) async fn keys_are_bytes(subject: &Subject) {
    let texts = ["keys-a", "keys-A", "keys-a ", "keys-'\"`%_?*[]{}\\$1", "keys-\u{e9}\u{1f600}"];
    let mut keys: Vec<Vec<u8>> = texts.iter().map(|key| key.as_bytes().to_vec()).collect();
    if subject.has_binary_keys {
        keys.extend([b"keys-\0".to_vec(), b"keys-\xff\xfe\r\n".to_vec(), b"keys-".to_vec()]);
    }
    for (number, key) in keys.iter().enumerate() {
        assert_kept(subject, key, &subject.record(number as u64)).await;
    }
    for (number, key) in keys.iter().enumerate() {
        assert_eq!(subject.get(key).await.record, subject.record(number as u64), "{key:?}");
    }
}

pub(super) async fn are_never_torn(subject: &Subject) {
    assert_kept(subject, b"torn", &subject.record(0)).await;
    let writer = subject.clone();
    let writes = tokio::spawn(async move {
        for number in 1..=WRITES {
            let record = match number % 3 {
                1 => Record { raw: None, ..writer.record(number) },
                2 => Record { packed: None, ..writer.record(number) },
                _ => writer.record(number),
            };
            let record = if writer.has_two_slots() { record } else { writer.record(number) };
            let put = writer.store.put(b"torn", &record, &Condition::Always, Expiry::Keep).await;
            assert!(matches!(put, Ok(PutOutcome::Written)), "{put:?}");
        }
    });
    while !writes.is_finished() {
        let record = subject.fetched(subject.other.get(b"torn").await, b"torn").record;
        let number = match (&record.stamp, &record.packed) {
            (Some(Stamp(number)), _) => *number,
            (None, Some(packed)) => packed.metadata.uncompressed_size,
            (None, None) => continue,
        };
        let whole = subject.record(number);
        assert!(record.raw.is_none() || record.raw == whole.raw, "{number}: {record:?}");
        assert!(record.packed.is_none() || record.packed == whole.packed, "{number}: {record:?}");
        let copies = (record.raw.is_some(), record.packed.is_some());
        let expected = match (subject.has_two_slots(), number % 3) {
            (false, _) => (true, false),
            (true, 1) => (false, true),
            (true, 2) => (true, false),
            _ => (true, true),
        };
        assert_eq!(copies, expected, "record {number} is torn");
    }
    writes.await.expect("the writer does not panic");
}
