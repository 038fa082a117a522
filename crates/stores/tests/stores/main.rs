//! The conformance suite over every store: memory, a SQLite file, and the real servers, which the
//! tests start themselves. One binary, because each would link all the clients anew.
//!
//! Run it with `cargo test -p cinch-stores --features all`; a client that is not built is not
//! tested.

#[cfg(all(feature = "redis", feature = "sql"))]
mod failure_modes;
#[cfg(feature = "kafka")]
mod kafka;
#[cfg(all(feature = "redis", feature = "sql"))]
mod load;
mod memory;
#[cfg(feature = "mongodb")]
mod mongodb;
#[cfg(all(feature = "redis", feature = "sql"))]
mod own_process;
#[cfg(feature = "redis")]
mod redis;
#[cfg(all(feature = "redis", feature = "sql"))]
mod resources;
#[cfg(feature = "sql")]
mod sql;

use std::sync::Arc;

use cinch_rollout::{Metadata, PackedField, Record};
use cinch_stores::conformance::Subject;
use cinch_stores::faults::countdown;
use cinch_stores::{Condition, Expiry, PutOutcome, Slots, Store, StoreError};

/// A store by its address, twice: connections of its own are another process to the server.
async fn subject(address: &str) -> Subject {
    let open = async || -> Arc<dyn Store> {
        match cinch_stores::open(address).await {
            Ok(store) => Arc::from(store),
            Err(error) => panic!("{error}"),
        }
    };
    Subject::new(open().await, open().await)
}

/// The error of an address that can't be opened, which shows no secret.
async fn failure(address: &str, secret: &str) -> String {
    match cinch_stores::open(address).await {
        Ok(store) => panic!("{} was opened", store.name()),
        Err(error) => {
            let said = error.to_string();
            assert!(secret.is_empty() || !said.contains(secret), "{said}");
            said
        }
    }
}

/// A record that was packed, in the slots that the store has.
fn packed_form(store: &dyn Store) -> Record {
    let bytes = b"\xc1\x9epacked".to_vec();
    if store.shape().slots == Slots::One {
        return Record::single(bytes);
    }
    let metadata = Metadata {
        codec: Metadata::ENVELOPE.to_owned(),
        compressed_size: bytes.len() as u64,
        uncompressed_size: 2,
        last_updated_ms: 1,
        raw_checksum: None,
        raw_nulled: Some(true),
    };
    Record { raw: None, packed: Some(PackedField { bytes: bytes.into(), metadata }), stamp: None }
}

/// Fails every call of the two things that are done beside an application's own traffic, before and
/// after its effect: a rewrite of what was read, and the removal of what is damaged. The record is
/// whole afterwards, old or new, and doing it again is enough.
async fn check_faults(subject: &Subject, is_binary: bool) {
    let key = b"faults".as_slice();
    let old = Record::single(b"{}".to_vec());
    let new = match is_binary {
        true => packed_form(subject.store.as_ref()),
        false => Record::single(b"{\"packed\":true}".to_vec()),
    };
    let prepare = async |store: &dyn Store| {
        store.put(key, &old, &Condition::Always, Expiry::Never).await.expect("it answers");
    };
    let rewrite = async |store: &dyn Store| -> Result<(), StoreError> {
        let Some(found) = store.get(key).await? else { return Ok(()) };
        store.put(key, &new, &Condition::Is(found.version), Expiry::Keep).await?;
        Ok(())
    };
    let runs = countdown(subject.store.clone(), prepare, rewrite, async |store, outcome| {
        let record = store.get(key).await.expect("it answers").expect("it is there").record;
        assert!(record == old || record == new, "half-written: {record:?}");
        assert!(outcome.is_err() || record == new, "it was said to be written: {record:?}");
        rewrite(store).await.expect("it answers");
        assert_eq!(store.get(key).await.expect("it answers").expect("it is there").record, new);
    });
    assert_eq!(runs.await, 5, "a get and a put, each broken in two ways, and one whole run");
    let remove = async |store: &dyn Store| -> Result<(), StoreError> {
        let Some(found) = store.get(key).await? else { return Ok(()) };
        store.delete(key, &Condition::Is(found.version)).await?;
        Ok(())
    };
    let runs = countdown(subject.store.clone(), prepare, remove, async |store, outcome| {
        let found = store.get(key).await.expect("it answers");
        assert!(outcome.is_err() || found.is_none(), "it was said to be gone: {found:?}");
        assert!(found.is_none_or(|found| found.record == old), "half-removed");
        remove(store).await.expect("it answers");
        assert_eq!(store.get(key).await.expect("it answers"), None);
    });
    assert_eq!(runs.await, 5);
}

/// Puts a record as an application does.
async fn put(store: &dyn Store, key: &[u8], record: &Record) {
    let put = store.put(key, record, &Condition::Always, Expiry::Keep).await;
    assert!(matches!(put, Ok(PutOutcome::Written)), "{put:?}");
}
