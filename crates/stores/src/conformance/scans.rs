//! Scans: every key that is there from start to end is seen, whatever comes and goes meanwhile, and
//! a cursor holds in another process.

use std::collections::BTreeSet;

use super::Subject;
use crate::error::StoreError;
use crate::store::{Condition, Expiry, Store};

/// How many keys stay, and how many come and go.
const STABLE: usize = 300;
const FLEETING: usize = 300;
/// A page that needs many.
const PAGE_KEYS: usize = 7;

async fn fill(subject: &Subject, name: &str, count: usize) -> BTreeSet<Vec<u8>> {
    let keys: BTreeSet<Vec<u8>> =
        (0..count).map(|number| format!("{name}-{number:04}").into_bytes()).collect();
    for key in &keys {
        let record = subject.record(1);
        let put = subject.store.put(key, &record, &Condition::Always, Expiry::Keep).await;
        put.expect("it answers");
    }
    keys
}

/// One page; returns the cursor of the next.
async fn page(
    store: &dyn Store,
    from: Option<Vec<u8>>,
    seen: &mut BTreeSet<Vec<u8>>,
) -> Option<Vec<u8>> {
    let page = store.scan(from.as_deref(), PAGE_KEYS).await.expect("it answers");
    seen.extend(page.keys);
    page.next
}

pub(super) async fn see_every_key_that_stays(subject: &Subject) {
    let stable = fill(subject, "scan-stable", STABLE).await;
    let fleeting = fill(subject, "scan-fleeting", FLEETING).await;
    let (mut seen, mut from) = (BTreeSet::new(), None);
    let mut leaving = fleeting.iter();
    let mut number = 0;
    loop {
        from = page(subject.store.as_ref(), from, &mut seen).await;
        // Keys leave, also those that a cursor stands on, and others come before and behind it.
        for key in leaving.by_ref().take(PAGE_KEYS) {
            subject.store.delete(key, &Condition::Always).await.expect("it answers");
        }
        let come = format!("scan-{}-{number}", if number % 2 == 0 { "a" } else { "z" });
        number += 1;
        let record = subject.record(1);
        let put =
            subject.store.put(come.as_bytes(), &record, &Condition::Always, Expiry::Keep).await;
        put.expect("it answers");
        if from.is_none() {
            break;
        }
    }
    let missed: Vec<_> = stable.difference(&seen).collect();
    assert!(missed.is_empty(), "{} keys were missed", missed.len());
}

pub(super) async fn go_on_after_a_restart(subject: &Subject) {
    let stable = fill(subject, "scan-restart", STABLE).await;
    let (mut seen, mut from) = (BTreeSet::new(), None);
    let mut pages = 0;
    loop {
        let store = if pages % 2 == 0 { &subject.store } else { &subject.other };
        from = page(store.as_ref(), from, &mut seen).await;
        pages += 1;
        if from.is_none() {
            break;
        }
    }
    assert!(pages > 1, "one page is no scan");
    assert!(stable.is_subset(&seen), "keys were missed");
}

pub(super) async fn refuse_cursors_of_others(subject: &Subject) {
    for cursor in [&b"\xff\x00 junk"[..], b"{}", b"17"] {
        let page = subject.store.scan(Some(cursor), 10).await;
        assert!(matches!(page, Err(StoreError::Address(_))), "{page:?}");
    }
}
