//! Time to live: kept by a rewrite, taken away or set by a write that says so, and over for every
//! operation alike when it is over.

use cinch_rollout::Stamp;

use super::Subject;
use crate::error::StoreError;
use crate::store::{Condition, Expiry, PutOutcome};

/// Far more than the suite takes.
const LONG_MS: u64 = 3_600_000;
/// Little enough to wait for, and more than a put takes on a busy machine.
const SHORT_MS: u64 = 1_500;
/// After which what was to expire has expired; Redis counts in milliseconds and MongoDB's check
/// compares two clocks of one machine.
const AFTER_MS: u64 = 1_800;

async fn put(subject: &Subject, key: &[u8], number: u64, condition: &Condition, expiry: Expiry) {
    let put = subject.store.put(key, &subject.record(number), condition, expiry).await;
    assert!(matches!(put, Ok(PutOutcome::Written)), "{condition:?}, {expiry:?}: {put:?}");
}

pub(super) async fn a_rewrite_neither_drops_nor_revives(subject: &Subject) {
    let key = b"expiry-kept";
    if !subject.store.shape().has_expiry {
        let record = subject.record(1);
        let put = subject.store.put(key, &record, &Condition::Always, Expiry::InMs(LONG_MS)).await;
        assert!(matches!(put, Err(StoreError::Unsupported { .. })), "{put:?}");
        return;
    }
    put(subject, key, 1, &Condition::Always, Expiry::InMs(LONG_MS)).await;
    for kind in 0..3 {
        let condition = match kind {
            0 => Condition::Always,
            1 => Condition::Is(subject.get(key).await.version),
            _ if subject.has_stamp() => Condition::OlderThan(Stamp(9)),
            _ => continue,
        };
        put(subject, key, 2 + kind, &condition, Expiry::Keep).await;
        let left = subject.get(key).await.expires_in_ms;
        let left = left.unwrap_or_else(|| panic!("{condition:?} dropped the time to live"));
        assert!((1..=LONG_MS).contains(&left), "{condition:?}: {left} ms are left");
    }
    let version = subject.get(key).await.version;
    put(subject, key, 5, &Condition::Is(version), Expiry::Never).await;
    assert_eq!(subject.get(key).await.expires_in_ms, None);
    put(subject, key, 6, &Condition::Always, Expiry::Keep).await;
    assert_eq!(subject.get(key).await.expires_in_ms, None, "a time to live came from nowhere");
    let version = subject.get(key).await.version;
    put(subject, key, 7, &Condition::Is(version), Expiry::InMs(LONG_MS)).await;
    assert!(subject.get(key).await.expires_in_ms.is_some());
    put(subject, key, 8, &Condition::Always, Expiry::Never).await;
    assert_eq!(subject.get(key).await.expires_in_ms, None);
}

pub(super) async fn what_expired_is_absent(subject: &Subject) {
    if !subject.store.shape().has_expiry {
        return;
    }
    let keys: [&[u8]; 5] =
        [b"expiry-get", b"expiry-absent", b"expiry-is", b"expiry-keep", b"expiry-delete"];
    for key in keys {
        put(subject, key, 1, &Condition::Absent, Expiry::InMs(SHORT_MS)).await;
    }
    // Read before it expires where the machine is not that slow; a version of then is stale.
    let version = subject.store.get(b"expiry-is").await.expect("it answers");
    (subject.pass_ms)(subject.store.as_ref(), AFTER_MS).await;
    assert!(matches!(subject.store.get(b"expiry-get").await, Ok(None)));
    put(subject, b"expiry-absent", 2, &Condition::Absent, Expiry::Keep).await;
    assert_eq!(subject.get(b"expiry-absent").await.expires_in_ms, None, "an old time revived");
    if let Some(found) = version {
        let condition = Condition::Is(found.version);
        let record = subject.record(2);
        let put = subject.store.put(b"expiry-is", &record, &condition, Expiry::Keep).await;
        assert_eq!(put.expect("it answers"), PutOutcome::ConditionFailed, "it was revived");
    }
    put(subject, b"expiry-keep", 2, &Condition::Always, Expiry::Keep).await;
    assert_eq!(subject.get(b"expiry-keep").await.expires_in_ms, None, "it expires at once");
    let delete = subject.store.delete(b"expiry-delete", &Condition::Absent).await;
    assert_eq!(delete.expect("it answers"), PutOutcome::Written);
    let mut keys = Vec::new();
    let mut from = None;
    loop {
        let page = subject.store.scan(from.as_deref(), 100).await.expect("it answers");
        keys.extend(page.keys);
        match page.next {
            Some(next) => from = Some(next),
            None => break,
        }
    }
    assert!(!keys.contains(&b"expiry-get".to_vec()), "a scan shows what has expired");
}
