//! Clearing flags by proof: what is cleared, and everything that keeps a flag where it is. A flag
//! that is cleared wrongly lets a reader ask for a copy that is not there.

use std::sync::atomic::AtomicBool;

use cinch_rollout::{Metadata, PackedField};

use super::super::proof::{ProofError, ProofOptions, Seal};
use super::*;
use crate::verify::{VerifyReport, verify};
use crate::walk::WalkOptions;

const AUDIT: &str = "write_mode = \"DUAL\"\nread_mode = \"VERIFY_COMPRESS\"\n";

/// A store with some plain records, and a control plane whose state has both flags.
struct Proving {
    site: Site,
    store: Arc<dyn Store>,
    settings: String,
}

impl Proving {
    async fn new(slots: Slots, settings: &str) -> Proving {
        let site = Site::new();
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new(slots));
        for number in 0..3 {
            let key = format!("cart:{number}");
            let record = Record::single(b"{\"cart\":[]}".to_vec());
            let put = store.put(key.as_bytes(), &record, &Condition::Always, Expiry::Keep);
            put.await.unwrap();
        }
        let flags = |state: &NamespaceState| {
            Some(state.next(|next| {
                (next.may_lack_raw, next.may_be_packed) = (slots == Slots::Two, true);
            }))
        };
        site.control().change_state("carts", flags).await.unwrap();
        Proving { site, store, settings: settings.to_owned() }
    }

    fn options(&self) -> ProofOptions {
        ProofOptions { settle_ms: 1_000, clock: self.site.clock() }
    }

    async fn seal(&self) -> Result<Option<Seal>, ProofError> {
        let configuration = configuration("operator", &self.settings);
        let namespace = &configuration.namespaces["carts"];
        self.site.control().seal(&configuration, namespace, &self.options()).await
    }

    async fn look(&self) -> VerifyReport {
        let live = live("operator", &self.settings);
        let stop = AtomicBool::new(false);
        let options = WalkOptions::default();
        verify(self.store.clone(), live, &options, &stop, &mut |_, _| {}).await.unwrap()
    }

    async fn clear(&self, seal: Seal, report: &VerifyReport) -> Result<NamespaceState, ProofError> {
        let configuration = configuration("operator", &self.settings);
        let control = self.site.control();
        control.clear(&configuration, seal, report, self.store.as_ref(), &self.options()).await
    }

    async fn state(&self) -> NamespaceState {
        self.site.control().state("carts").await.unwrap().state
    }
}

#[track_caller]
fn why<T: std::fmt::Debug>(refused: Result<T, ProofError>) -> String {
    refused.unwrap_err().to_string()
}

#[tokio::test(start_paused = true)]
async fn a_clean_verification_under_a_seal_clears_the_flag() {
    let proving = Proving::new(Slots::Two, MANAGED).await;
    let (a, b) = (live("a", MANAGED), live("b", MANAGED));
    let _fleet = (proving.site.join(&a).await.unwrap(), proving.site.join(&b).await.unwrap());
    assert_eq!(does(&a), (WriteMode::NoCompress, ReadMode::CompressOnly));
    let seal = proving.seal().await.unwrap().unwrap();
    let report = proving.look().await;
    let cleared = proving.clear(seal, &report).await.unwrap();
    assert!(!cleared.may_lack_raw && !cleared.sealed);
    let proof = cleared.proof.unwrap();
    assert_eq!((proof.records, proof.sealed_epoch, &*proof.store), (3, 2, "memory:"));
    settle().await;
    // Nothing can lack its raw copy any more, so that it alone is read.
    assert_eq!(does(&a), (WriteMode::NoCompress, ReadMode::NoCompress));
    assert!(proving.seal().await.unwrap().is_none(), "there is nothing left to clear");
}

#[tokio::test(start_paused = true)]
async fn one_slot_forgets_what_its_packed_values_needed() {
    let one = "managed = true\nslots = \"one\"\n";
    let proving = Proving::new(Slots::One, one).await;
    let named = |state: &NamespaceState| {
        Some(state.next(|next| {
            next.stored.codecs.insert(0x12);
        }))
    };
    proving.site.control().change_state("carts", named).await.unwrap();
    let (a, b) = (live("a", one), live("b", one));
    let _fleet = (proving.site.join(&a).await.unwrap(), proving.site.join(&b).await.unwrap());
    let seal = proving.seal().await.unwrap().unwrap();
    let report = proving.look().await;
    let cleared = proving.clear(seal, &report).await.unwrap();
    assert!(!cleared.may_be_packed && cleared.stored.codecs.is_empty());
}

#[tokio::test(start_paused = true)]
async fn who_wants_to_write_it_after_all_takes_the_seal_off_and_voids_the_proof() {
    let proving = Proving::new(Slots::Two, AUDIT).await;
    let (a, b) = (live("a", AUDIT), live("b", AUDIT));
    let _fleet = (proving.site.join(&a).await.unwrap(), proving.site.join(&b).await.unwrap());
    let seal = proving.seal().await.unwrap().unwrap();
    let report = proving.look().await;
    let text = "process = \"a\"\n[fleet]\nexpected = [\"a\", \"b\"]\nlease_ms = 3000\n\
                [namespaces.carts]\nkeys = [\"*\"]\nwrite_mode = \"COMPRESS_ONLY\"\n\
                read_mode = \"COMPRESS_ONLY\"\n";
    a.reload(&Sources { text: text.to_owned(), ..Sources::default() }).unwrap();
    assert_eq!(does(&a).0, WriteMode::Dual, "the seal holds until it is off");
    settle().await;
    assert_eq!(does(&a).0, WriteMode::CompressOnly);
    assert!(!proving.state().await.sealed);
    let said = why(proving.clear(seal, &report).await);
    assert!(said.contains("a writes COMPRESS_ONLY"), "{said}");
    assert!(proving.state().await.may_lack_raw);
    let said = why(proving.seal().await);
    assert!(said.contains("a writes COMPRESS_ONLY"), "{said}");
}

#[tokio::test(start_paused = true)]
async fn a_state_that_was_changed_since_is_another_one() {
    let proving = Proving::new(Slots::Two, MANAGED).await;
    let (a, b) = (live("a", MANAGED), live("b", MANAGED));
    let _fleet = (proving.site.join(&a).await.unwrap(), proving.site.join(&b).await.unwrap());
    let seal = proving.seal().await.unwrap().unwrap();
    let report = proving.look().await;
    settle().await;
    let controller = proving.site.controller(MANAGED);
    controller.advance("carts", &Request::default(), None).await.unwrap();
    settle().await;
    let said = why(proving.clear(seal, &report).await);
    assert!(said.contains("changed since it was sealed"), "{said}");
    assert!(proving.state().await.may_lack_raw);
}

#[tokio::test(start_paused = true)]
async fn a_record_that_lacks_its_raw_copy_or_can_not_be_read_proves_nothing() {
    let metadata = Metadata {
        codec: "GZIP".to_owned(),
        compressed_size: 4,
        uncompressed_size: 9,
        last_updated_ms: 0,
        raw_checksum: None,
        raw_nulled: Some(true),
    };
    let packed = Some(PackedField { bytes: b"junk".to_vec().into(), metadata });
    let proving = Proving::new(Slots::Two, MANAGED).await;
    let (a, b) = (live("a", MANAGED), live("b", MANAGED));
    let _fleet = (proving.site.join(&a).await.unwrap(), proving.site.join(&b).await.unwrap());
    let record = Record { raw: None, packed, stamp: None };
    let put = proving.store.put(b"cart:9", &record, &Condition::Always, Expiry::Keep);
    put.await.unwrap();
    let seal = proving.seal().await.unwrap().unwrap();
    let report = proving.look().await;
    let said = why(proving.clear(seal, &report).await);
    assert!(said.contains("1 records are not as they should be"), "{said}");
    let state = proving.state().await;
    assert!(state.may_lack_raw && !state.sealed, "the seal is off again");
    // An empty store is more likely the wrong one than a proof.
    let seal = proving.seal().await.unwrap().unwrap();
    let nothing = VerifyReport {
        is_complete: true,
        namespaces: [("carts".to_owned(), crate::verify::Facts::default())].into(),
        ..VerifyReport::default()
    };
    let said = why(proving.clear(seal, &nothing).await);
    assert!(said.contains("no record was found"), "{said}");
    // Nor does a part of one.
    let seal = proving.seal().await.unwrap().unwrap();
    let said = why(proving.clear(seal, &VerifyReport { is_complete: false, ..nothing }).await);
    assert!(said.contains("did not come to its end"), "{said}");
}

#[tokio::test(start_paused = true)]
async fn a_process_that_is_missing_or_keeps_no_seal_stands_against_it() {
    let proving = Proving::new(Slots::Two, MANAGED).await;
    let a = live("a", MANAGED);
    let _first = proving.site.join(&a).await.unwrap();
    let said = why(proving.seal().await);
    assert!(said.contains("b is expected and does not announce"), "{said}");
    // A release before seals: it follows every epoch and knows nothing of them.
    let control = proving.site.control();
    let clock = proving.site.clock();
    let old = tokio::spawn(async move {
        let incarnation = Incarnation::new();
        control.register("b").await.unwrap();
        for round in 0.. {
            let epoch = control.state("carts").await.unwrap().state.epoch;
            let mut announcement = Announcement::of_this_release("b", 3_000);
            announcement.renewed_at_ms = clock();
            let practice = cinch_rollout::fleet::Practice {
                write: Some(WriteMode::Dual),
                read: Some(ReadMode::VerifyCompress),
                epoch,
                ..Default::default()
            };
            announcement.namespaces.insert("carts".to_owned(), practice);
            control.publish(&announcement, incarnation, round == 0).await.unwrap();
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    });
    settle().await;
    let said = why(proving.seal().await);
    assert!(said.contains("b runs a release that keeps no seal"), "{said}");
    let state = proving.state().await;
    assert!(state.may_lack_raw && !state.sealed);
    old.abort();
    let step =
        |state: &NamespaceState| Some(state.next(|next| next.progress.step = Step::PackedOnly));
    proving.site.control().change_state("carts", step).await.unwrap();
    let said = why(proving.seal().await);
    assert!(said.contains("packed-only writes records without a raw copy"), "{said}");
}
