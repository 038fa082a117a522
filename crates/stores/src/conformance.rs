//! One suite for every store: what is promised at the methods of [`Store`], as checks that fail
//! when an adapter forgets one of its protections.
//!
//! A check is handed a [`Subject`]: the store, what its keys and values may be, and how to let time
//! pass. Keys begin with a word of the check's own, so that checks may share a server.

mod concurrent;
mod conditions;
mod expiry;
mod records;
mod scans;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use cinch_rollout::{Metadata, PackedField, Record, Stamp};

use crate::store::{Found, Slots, Store};

/// Lets milliseconds pass by the clock of the store.
pub type PassMs = fn(&dyn Store, u64) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;

/// A store under test.
#[derive(Clone)]
pub struct Subject {
    /// The store.
    pub store: Arc<dyn Store>,
    /// The same data through connections of their own: another process, or this one started anew.
    pub other: Arc<dyn Store>,
    /// Whether keys may be any bytes, or texts alone.
    pub has_binary_keys: bool,
    /// Whether raw copies may be any bytes, or texts alone.
    pub has_binary_values: bool,
    /// Whether the server compares and writes in one step. FerretDB 1 reads first and writes later,
    /// and so it loses updates that MongoDB does not; what needs this is not checked there.
    pub compares_in_one_step: bool,
    /// How time passes.
    pub pass_ms: PassMs,
}

impl Subject {
    /// A subject whose clock is that of the world.
    pub fn new(store: Arc<dyn Store>, other: Arc<dyn Store>) -> Subject {
        let pass_ms: PassMs = |_, milliseconds| {
            Box::pin(tokio::time::sleep(std::time::Duration::from_millis(milliseconds)))
        };
        Subject {
            store,
            other,
            has_binary_keys: true,
            has_binary_values: true,
            compares_in_one_step: true,
            pass_ms,
        }
    }

    /// The same, over a server that reads first and writes later.
    pub fn without_one_step(mut self) -> Subject {
        self.compares_in_one_step = false;
        self
    }

    /// The same, with keys that are texts.
    pub fn with_text_keys(mut self) -> Subject {
        self.has_binary_keys = false;
        self
    }

    /// The same, with raw copies that are texts.
    pub fn with_text_values(mut self) -> Subject {
        self.has_binary_values = false;
        self
    }

    fn has_two_slots(&self) -> bool {
        self.store.shape().slots == Slots::Two
    }

    fn has_stamp(&self) -> bool {
        self.store.shape().has_stamp
    }

    /// A record with everything that this store has a place for, told apart by a number.
    fn record(&self, number: u64) -> Record {
        let raw = format!(r#"{{"cart":{number},"note":"größer"}}"#).into_bytes();
        Record {
            packed: self.has_two_slots().then(|| packed(number)),
            stamp: self.has_stamp().then_some(Stamp(number)),
            raw: Some(raw.into()),
        }
    }

    #[track_caller]
    fn fetched(&self, got: Result<Option<Found>, crate::StoreError>, key: &[u8]) -> Found {
        match got {
            Ok(Some(found)) => found,
            other => panic!("nothing under {:?}: {other:?}", String::from_utf8_lossy(key)),
        }
    }

    async fn get(&self, key: &[u8]) -> Found {
        self.fetched(self.store.get(key).await, key)
    }
}

/// A packed copy with all its metadata.
fn packed(number: u64) -> PackedField {
    let bytes = [b"\x00\xff\xc1\x9e".as_slice(), &number.to_le_bytes()].concat();
    PackedField {
        metadata: Metadata {
            codec: Metadata::ENVELOPE.to_owned(),
            compressed_size: bytes.len() as u64,
            uncompressed_size: number,
            last_updated_ms: 1_472_863_664_406,
            raw_checksum: Some(u64::MAX - number),
            raw_nulled: Some(false),
        },
        bytes: bytes.into(),
    }
}

/// Runs every check that the store's shape allows.
pub async fn check(subject: &Subject) {
    records::come_back_as_they_were(subject).await;
    records::are_written_as_a_whole(subject).await;
    records::have_no_place_for_what_the_shape_denies(subject).await;
    records::keys_are_bytes(subject).await;
    records::are_never_torn(subject).await;
    conditions::absent_is_for_new_records(subject).await;
    conditions::is_replaces_exactly_what_was_read(subject).await;
    conditions::older_than_goes_by_the_stamp(subject).await;
    conditions::deletes_have_conditions_too(subject).await;
    conditions::versions_of_others_are_refused(subject).await;
    if subject.compares_in_one_step {
        concurrent::increments_are_not_lost(subject).await;
        concurrent::the_largest_stamp_wins(subject).await;
    }
    concurrent::one_of_many_creates(subject).await;
    expiry::a_rewrite_neither_drops_nor_revives(subject).await;
    expiry::what_expired_is_absent(subject).await;
    scans::see_every_key_that_stays(subject).await;
    scans::go_on_after_a_restart(subject).await;
    scans::refuse_cursors_of_others(subject).await;
}
