//! Conditions: a write that may not happen changes nothing, and one that may happens once. The old
//! state is compared byte for byte, in every field of a record.

use cinch_rollout::{Record, Stamp};

use super::Subject;
use crate::error::StoreError;
use crate::store::{Condition, Expiry, PutOutcome, Version};

/// Asserts what becomes of a write.
async fn assert_put(
    subject: &Subject,
    key: &[u8],
    record: &Record,
    condition: &Condition,
    expected: PutOutcome,
) {
    let before = subject.store.get(key).await.expect("a store that answers");
    let put = subject.store.put(key, record, condition, Expiry::Keep).await;
    assert_eq!(put.expect("a store that answers"), expected, "{condition:?}");
    let after = subject.store.get(key).await.expect("a store that answers");
    match expected {
        PutOutcome::Written => assert_eq!(after.map(|found| found.record).as_ref(), Some(record)),
        PutOutcome::ConditionFailed => assert_eq!(after, before, "{condition:?}"),
    }
}

async fn assert_delete(subject: &Subject, key: &[u8], condition: Condition, is_gone: bool) {
    let outcome = subject.store.delete(key, &condition).await.expect("a store that answers");
    let found = subject.store.get(key).await.expect("a store that answers");
    assert_eq!(found.is_none(), is_gone, "{condition:?}: {outcome:?}");
}

use PutOutcome::{ConditionFailed, Written};

pub(super) async fn absent_is_for_new_records(subject: &Subject) {
    let key = b"absent";
    assert_put(subject, key, &subject.record(1), &Condition::Absent, Written).await;
    assert_put(subject, key, &subject.record(2), &Condition::Absent, ConditionFailed).await;
    assert_delete(subject, key, Condition::Always, true).await;
    assert_put(subject, key, &subject.record(3), &Condition::Absent, Written).await;
}

pub(super) async fn is_replaces_exactly_what_was_read(subject: &Subject) {
    let key = b"is";
    let is = |version: &Version| Condition::Is(version.clone());
    let put = |record: Record| async move {
        assert_put(subject, b"is", &record, &Condition::Always, Written).await;
        subject.get(b"is").await.version
    };
    let first = put(subject.record(1)).await;
    assert_eq!(subject.get(key).await.version, first, "reading changes no version");
    let other = subject.fetched(subject.other.get(key).await, key).version;
    assert_eq!(other, first, "a version holds in every process");
    assert_put(subject, key, &subject.record(2), &is(&first), Written).await;
    assert_put(subject, key, &subject.record(3), &is(&first), ConditionFailed).await;
    // The old bytes may differ from what is there now in nothing but letters or blanks.
    for (old, new) in [("{\"a\":1}", "{\"A\":1}"), ("{}", "{} "), ("", " "), ("\u{e9}", "e\u{301}")]
    {
        let version = put(Record::single(old.as_bytes().to_vec())).await;
        put(Record::single(new.as_bytes().to_vec())).await;
        assert_put(subject, key, &subject.record(4), &is(&version), ConditionFailed).await;
    }
    if subject.has_two_slots() {
        let whole = subject.record(5);
        let mut changed = Vec::from([Record { raw: None, ..whole.clone() }]);
        changed.push(Record { packed: None, ..whole.clone() });
        let mut bytes = whole.clone();
        let packed = bytes.packed.as_mut().expect("two slots");
        packed.bytes = [&packed.bytes[..], b"\0"].concat().into();
        let mut metadata = whole.clone();
        metadata.packed.as_mut().expect("two slots").metadata.raw_checksum = None;
        changed.extend([bytes, metadata]);
        for change in changed {
            let version = put(whole.clone()).await;
            put(change).await;
            assert_put(subject, key, &subject.record(6), &is(&version), ConditionFailed).await;
        }
        for record in [Record::default(), Record { raw: None, ..whole }] {
            let version = put(record).await;
            assert_put(subject, key, &subject.record(6), &is(&version), Written).await;
        }
    }
    if subject.has_stamp() {
        let version = put(Record { stamp: None, ..subject.record(7) }).await;
        put(Record { stamp: Some(Stamp(0)), ..subject.record(7) }).await;
        assert_put(subject, key, &subject.record(8), &is(&version), ConditionFailed).await;
    }
    let last = put(subject.record(9)).await;
    assert_delete(subject, key, Condition::Always, true).await;
    assert_put(subject, key, &subject.record(10), &is(&last), ConditionFailed).await;
}

pub(super) async fn older_than_goes_by_the_stamp(subject: &Subject) {
    let key = b"older";
    let older = |stamp| Condition::OlderThan(Stamp(stamp));
    if !subject.has_stamp() {
        let record = Record::single(b"{}".to_vec());
        let put = subject.store.put(key, &record, &older(1), Expiry::Keep).await;
        assert!(matches!(put, Err(StoreError::Unsupported { .. })), "{put:?}");
        return;
    }
    assert_put(subject, key, &subject.record(5), &older(5), Written).await;
    assert_put(subject, key, &subject.record(5), &older(5), ConditionFailed).await;
    assert_put(subject, key, &subject.record(4), &older(4), ConditionFailed).await;
    assert_put(subject, key, &subject.record(6), &older(6), Written).await;
    let unstamped = Record { stamp: None, ..subject.record(7) };
    assert_put(subject, key, &unstamped, &Condition::Always, Written).await;
    assert_put(subject, key, &subject.record(0), &older(0), Written).await;
}

pub(super) async fn deletes_have_conditions_too(subject: &Subject) {
    let key = b"delete";
    let put = |number| async move {
        assert_put(subject, b"delete", &subject.record(number), &Condition::Always, Written).await;
        Condition::Is(subject.get(b"delete").await.version)
    };
    let old = put(1).await;
    let current = put(2).await;
    assert_delete(subject, key, old, false).await;
    assert_delete(subject, key, Condition::Absent, false).await;
    assert_delete(subject, key, current.clone(), true).await;
    let again = subject.store.delete(key, &current).await;
    assert_eq!(again.expect("a store that answers"), ConditionFailed, "it is not that any more");
    for condition in [Condition::Always, Condition::Absent] {
        let outcome = subject.store.delete(key, &condition).await;
        assert_eq!(outcome.expect("a store that answers"), Written, "{condition:?}");
    }
    if subject.has_stamp() {
        put(5).await;
        assert_delete(subject, key, Condition::OlderThan(Stamp(5)), false).await;
        assert_delete(subject, key, Condition::OlderThan(Stamp(6)), true).await;
    }
}

pub(super) async fn versions_of_others_are_refused(subject: &Subject) {
    let key = b"foreign";
    assert_put(subject, key, &subject.record(1), &Condition::Always, Written).await;
    let foreign = Condition::Is(Version(b"\x07junk".to_vec().into()));
    let put = subject.store.put(key, &subject.record(2), &foreign, Expiry::Keep).await;
    assert!(!matches!(put, Ok(Written)), "{put:?}");
    assert_eq!(subject.get(key).await.record, subject.record(1));
}
