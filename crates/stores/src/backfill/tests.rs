//! A backfill among writers: between any two of its calls the application writes, removes, expires
//! and gives times to live, as a seed decides, and a model says what must be there afterwards.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicUsize;

use cinch_core::codec::CodecChoice;
use cinch_rollout::decoders::Decoders;
use cinch_rollout::gate::Gate;
use cinch_rollout::settings::Sources;
use cinch_rollout::state::NamespaceState;
use cinch_rollout::{Metadata, Stamp};
use proptest::prelude::*;

use super::*;
use crate::error::StoreError;
use crate::faults::{Fault, FaultyStore};
use crate::memory::MemoryStore;
use crate::store::{Page, Shape, Slots};

fn live(settings: &str) -> Arc<Live> {
    let text = format!("[namespaces.carts]\nkeys = [\"cart:*\"]\n{settings}");
    let sources = Sources { text, ..Sources::default() };
    Arc::new(Live::new(sources.configuration().unwrap()))
}

fn cart(number: u64) -> Vec<u8> {
    let item = r#"{"sku":"SKU-1","title":"A thing","price":12.50,"quantity":1},"#;
    format!(r#"{{"number":{number},"items":[{}{{}}]}}"#, item.repeat(9)).into_bytes()
}

fn key(number: u64) -> Vec<u8> {
    format!("cart:{number}").into_bytes()
}

async fn attempt(
    store: &Arc<dyn Store>,
    live: &Arc<Live>,
    options: &BackfillOptions,
) -> Result<BackfillReport, WalkError> {
    let stop = AtomicBool::new(false);
    backfill(Arc::clone(store), Arc::clone(live), options, &stop, &mut |_| {}).await
}

async fn run(store: &Arc<dyn Store>, live: &Arc<Live>, options: &BackfillOptions) -> Counts {
    let report = attempt(store, live, options).await.unwrap();
    assert!(report.is_complete);
    report.counts
}

fn to(target: Target) -> BackfillOptions {
    BackfillOptions { target, ..BackfillOptions::default() }
}

const DUAL: &str = "write_mode = \"DUAL\"\n";
const LEAN: &str = "write_mode = \"COMPRESS_ONLY\"\nread_mode = \"COMPRESS_ONLY\"\n";
const PACKED: &str = "write = \"packed\"\n";

/// A store whose application does something before each call of the backfill.
struct Busy {
    inner: Arc<MemoryStore>,
    application: Mutex<Application>,
}

/// What the application does, and what it believes is stored.
struct Application {
    random: fastrand::Rng,
    keys: u64,
    written: u64,
    now_ms: u64,
    /// The payload and when it expires.
    model: BTreeMap<Vec<u8>, (Vec<u8>, Option<u64>)>,
    gates: Vec<(Arc<Gate>, Plan)>,
}

impl Application {
    /// Anything that a client of any age does to one key.
    async fn act(&mut self, store: &MemoryStore) {
        let key = key(self.random.u64(0..self.keys));
        let had = self.model.get(&key).and_then(|(_, expires)| *expires);
        match self.random.u32(0..12) {
            0 => {
                store.delete(&key, &Condition::Always).await.unwrap();
                self.model.remove(&key);
            }
            1 => {
                let step = self.random.u64(1..40_000);
                store.advance_ms(step);
                self.now_ms += step;
                let now_ms = self.now_ms;
                self.model.retain(|_, (_, expires)| expires.is_none_or(|at| at > now_ms));
            }
            2..=4 => {}
            _ => {
                self.written += 1;
                let payload = cart(self.written);
                let (expiry, expires) = match self.random.u32(0..3) {
                    0 => (Expiry::Keep, had),
                    1 => (Expiry::Never, None),
                    _ => {
                        let left = self.random.u64(1..200_000);
                        (Expiry::InMs(left), Some(self.now_ms + left))
                    }
                };
                let (gate, plan) = &self.gates[self.random.usize(0..self.gates.len())];
                let mut record =
                    gate.write(plan, &payload.clone().into(), Some(Stamp(1)), 0).unwrap().record;
                // Some are clients that know nothing of packed copies and leave them there.
                if matches!(plan, Plan::Two(_)) && self.random.bool() {
                    let old = store.get(&key).await.unwrap().map(|found| found.record.packed);
                    record = Record { packed: old.flatten(), ..Record::single(payload.clone()) };
                }
                store.put(&key, &record, &Condition::Always, expiry).await.unwrap();
                self.model.insert(key, (payload, expires));
            }
        }
    }
}

impl Busy {
    async fn interrupt(&self) {
        // Nothing in here waits, so that the lock is never held over another task.
        let mut application = self.application.lock().unwrap();
        for _ in 0..application.random.u32(0..3) {
            pollster(application.act(&self.inner));
        }
    }
}

/// Runs a future that is ready at once.
fn pollster(future: impl Future<Output = ()>) {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(std::pin::pin!(future).poll(&mut context).is_ready());
}

#[async_trait]
impl Store for Busy {
    fn shape(&self) -> Shape {
        self.inner.shape()
    }

    fn name(&self) -> &str {
        "busy:"
    }

    async fn get(&self, key: &[u8]) -> Result<Option<Found>, StoreError> {
        self.interrupt().await;
        self.inner.get(key).await
    }

    async fn put(
        &self,
        key: &[u8],
        record: &Record,
        condition: &Condition,
        expiry: Expiry,
    ) -> Result<PutOutcome, StoreError> {
        self.interrupt().await;
        self.inner.put(key, record, condition, expiry).await
    }

    async fn delete(&self, key: &[u8], condition: &Condition) -> Result<PutOutcome, StoreError> {
        self.inner.delete(key, condition).await
    }

    async fn scan(&self, from: Option<&[u8]>, limit: usize) -> Result<Page, StoreError> {
        self.interrupt().await;
        self.inner.scan(from, limit.min(5)).await
    }
}

/// A client that reads everything.
fn reader(slots: Slots) -> (Arc<Live>, Plan) {
    let live = live(if slots == Slots::Two { LEAN } else { PACKED });
    let plan = live.snapshot().namespaces()[0].plans()[0].clone();
    (live, plan)
}

async fn nothing_is_lost(seed: u64, slots: Slots, settings: &str, target: Target) {
    let inner = Arc::new(MemoryStore::new(slots));
    let all = match slots {
        Slots::Two => ["", DUAL, LEAN],
        Slots::One => ["write = \"plain\"\n", "write = \"shadow\"\n", PACKED],
    };
    let gates = all.map(|settings| {
        let live = live(settings);
        let snapshot = live.snapshot();
        let ready = &snapshot.namespaces()[0];
        (Arc::clone(&ready.gate), ready.plans()[0].clone())
    });
    let mut application = Application {
        random: fastrand::Rng::with_seed(seed),
        keys: 12,
        written: 0,
        now_ms: 0,
        model: BTreeMap::new(),
        gates: gates.to_vec(),
    };
    for _ in 0..60 {
        application.act(&inner).await;
    }
    let busy = Arc::new(Busy { inner: Arc::clone(&inner), application: Mutex::new(application) });
    let live = live(settings);
    let store = Arc::clone(&busy) as Arc<dyn Store>;
    let options = BackfillOptions { skip_expiring_below_ms: 20_000, ..to(target) };
    let counts = run(&store, &live, &options).await;
    assert_eq!(counts.left, 0, "{:?}", counts.problems);
    let application = busy.application.lock().unwrap();
    let (readers, plan) = reader(slots);
    let gate = Arc::clone(&readers.snapshot().namespaces()[0].gate);
    for number in 0..application.keys {
        let key = key(number);
        let mut there = None;
        pollster(async { there = inner.get(&key).await.unwrap() });
        let read = there.as_ref().map(|found| {
            let payload = gate.read(&plan, &found.record).unwrap().payload.unwrap();
            (payload, found.expires_in_ms.map(|left| left + application.now_ms))
        });
        assert_eq!(
            read.map(|(payload, stamp)| (payload.to_vec(), stamp)).as_ref(),
            application.model.get(&key),
            "seed {seed}, {number}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Every payload that the application wrote last is there, with the time to live that the
    /// application gave it, and nothing that it removed or that expired has come back.
    #[test]
    fn a_backfill_among_writers_loses_nothing(seed: u64) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            nothing_is_lost(seed, Slots::Two, DUAL, Target::Policy).await;
            nothing_is_lost(seed, Slots::Two, LEAN, Target::Policy).await;
            nothing_is_lost(seed, Slots::Two, LEAN, Target::Plain).await;
            nothing_is_lost(seed, Slots::One, PACKED, Target::Policy).await;
            nothing_is_lost(seed, Slots::One, PACKED, Target::Plain).await;
        });
    }
}

async fn filled(slots: Slots, count: u64) -> Arc<dyn Store> {
    let store = Arc::new(MemoryStore::new(slots));
    for number in 0..count {
        let record = Record { stamp: Some(Stamp(number)), ..Record::single(cart(number)) };
        store.put(&key(number), &record, &Condition::Always, Expiry::Keep).await.unwrap();
    }
    store.put(b"menu:1", &Record::single(cart(0)), &Condition::Always, Expiry::Keep).await.unwrap();
    store
}

async fn records(store: &dyn Store) -> Vec<Record> {
    let keys = store.scan(None, 10_000).await.unwrap().keys;
    let mut records = Vec::new();
    for key in keys {
        records.push(store.get(&key).await.unwrap().unwrap().record);
    }
    records
}

#[tokio::test(start_paused = true)]
async fn there_and_back_is_where_it_was_and_twice_is_once() {
    for (slots, settings) in [(Slots::Two, DUAL), (Slots::Two, LEAN), (Slots::One, PACKED)] {
        let store = filled(slots, 300).await;
        let before = records(store.as_ref()).await;
        let live = live(settings);
        let counts = run(&store, &live, &to(Target::Policy)).await;
        assert_eq!((counts.rewritten, counts.outside), (300, 1));
        assert_eq!(counts.bytes_after < counts.bytes_before / 2, settings != DUAL);
        let packed = records(store.as_ref()).await;
        let again = run(&store, &live, &to(Target::Policy)).await;
        assert_eq!((again.rewritten, again.already), (0, 300));
        assert_eq!(records(store.as_ref()).await, packed);
        let counts = run(&store, &live, &to(Target::Plain)).await;
        assert_eq!(counts.rewritten, 300);
        assert_eq!(records(store.as_ref()).await, before, "with their stamps");
    }
}

#[tokio::test(start_paused = true)]
async fn another_codec_is_brought_in_and_another_level_when_asked() {
    let store = filled(Slots::Two, 50).await;
    let fast = live("write_mode = \"DUAL\"\ncompression_codec = \"LZ4_FAST\"\n");
    let gzip = live("write_mode = \"DUAL\"\ncompression_codec = \"GZIP\"\n");
    assert_eq!(run(&store, &fast, &to(Target::Policy)).await.rewritten, 50);
    assert_eq!(run(&store, &gzip, &to(Target::Policy)).await.rewritten, 50);
    let exact = BackfillOptions { is_exact: true, ..to(Target::Policy) };
    assert_eq!(run(&store, &gzip, &exact).await.already, 50);
    let folder = tempfile::tempdir().unwrap();
    let profile = |level: i32| {
        let verbatim = cinch_core::encoding::encoding_named("verbatim").unwrap();
        let codec = CodecChoice::parse(&format!("zstd:{level}")).unwrap();
        let profile = cinch_core::profile::Profile::new(verbatim, codec);
        let path = folder.path().join(format!("{level}.toml"));
        std::fs::write(&path, profile.to_toml(|_| String::new(), |_| String::new())).unwrap();
        live(&format!("write = \"packed\"\nprofile = {:?}\n", path.display().to_string()))
    };
    let store = filled(Slots::One, 50).await;
    assert_eq!(run(&store, &profile(1), &to(Target::Policy)).await.rewritten, 50);
    assert_eq!(run(&store, &profile(19), &to(Target::Policy)).await.already, 50);
    assert_eq!(run(&store, &profile(19), &exact).await.rewritten, 50);
}

#[tokio::test(start_paused = true)]
async fn foreign_formats_are_converted_and_what_is_broken_is_listed_and_left() {
    let store = filled(Slots::One, 1).await;
    let gzip = CodecChoice::parse("gzip").unwrap();
    let mut value = vec![0; gzip.codec.compress_bound(cart(7).len())];
    let length = gzip.codec.compressor(gzip.level, None).unwrap();
    let length = { length }.compress(&cart(7), &mut value).unwrap();
    value.truncate(length);
    let put = async |key: &[u8], value: &[u8]| {
        let record = Record::single(value.to_vec());
        store.put(key, &record, &Condition::Always, Expiry::Keep).await.unwrap();
    };
    put(b"cart:gzip", &value).await;
    // A payload that is itself compressed would be taken for the format once it is plain.
    put(b"cart:twice", &twice(&value)).await;
    let cut = value[..value.len() / 2].to_vec();
    put(b"cart:cut", &cut).await;
    let live = live("write = \"packed\"\nforeign_formats = [\"gzip\"]\n");
    for target in [Target::Policy, Target::Plain] {
        let counts = run(&store, &live, &to(target)).await;
        assert_eq!(counts.left, 2, "{:?}", counts.problems);
        assert_eq!(counts.problems["damaged"].examples[0].key, "cart:cut");
        assert_eq!(counts.problems["reads-differently"].examples[0].key, "cart:twice");
        assert_eq!(counts.was_foreign, u64::from(target == Target::Policy));
    }
    let found = async |key: &[u8]| store.get(key).await.unwrap().unwrap().record.raw.unwrap();
    assert_eq!(found(b"cart:gzip").await, cart(7));
    assert_eq!(found(b"cart:cut").await, cut);
    assert_eq!(found(b"cart:twice").await, twice(&value));
}

fn twice(value: &[u8]) -> Vec<u8> {
    let gzip = CodecChoice::parse("gzip").unwrap();
    let mut out = vec![0; gzip.codec.compress_bound(value.len())];
    let mut compressor = gzip.codec.compressor(gzip.level, None).unwrap();
    let length = compressor.compress(value, &mut out).unwrap();
    out.truncate(length);
    out
}

/// An envelope that an application stored as its payload reads as an envelope; without the check it
/// would be unwrapped.
#[tokio::test(start_paused = true)]
async fn a_wrapped_envelope_stays_wrapped() {
    let store = Arc::new(MemoryStore::new(Slots::One));
    let wrap = live("write = \"packed\"\ninput_envelopes = \"wrap\"\n");
    let pass = live(PACKED);
    let client = crate::Client::new(Arc::clone(&store) as Arc<dyn Store>, Arc::clone(&wrap));
    let put = async |payload: &[u8]| {
        let condition = Condition::Always;
        client.put(b"cart:1", payload.to_vec(), None, &condition, Expiry::Keep).await.unwrap();
        store.get(b"cart:1").await.unwrap().unwrap().record.raw.unwrap()
    };
    let envelope = put(&cart(1)).await;
    let wrapped = put(&envelope).await;
    assert_ne!(wrapped, envelope);
    let dynamic = Arc::clone(&store) as Arc<dyn Store>;
    for target in [Target::Policy, Target::Plain] {
        run(&dynamic, &pass, &to(target)).await;
        let got = client.get(b"cart:1").await.unwrap().unwrap();
        assert_eq!(got.payload.as_ref(), Some(&envelope), "{target:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_raw_copy_wins_over_a_packed_one_that_is_stale_or_broken() {
    let store = filled(Slots::Two, 3).await;
    let live = live(DUAL);
    run(&store, &live, &to(Target::Policy)).await;
    let change = async |number: u64, change: fn(&mut Record)| {
        let mut record = store.get(&key(number)).await.unwrap().unwrap().record;
        change(&mut record);
        store.put(&key(number), &record, &Condition::Always, Expiry::Keep).await.unwrap();
    };
    change(0, |record| record.raw = Some(cart(70).into())).await;
    change(1, |record| record.packed.as_mut().unwrap().bytes.truncate(9)).await;
    change(2, |record| {
        record.packed.as_mut().unwrap().metadata.codec = "BROTLI_NEXT".to_owned();
    })
    .await;
    let counts = run(&store, &live, &to(Target::Policy)).await;
    assert_eq!((counts.rewritten, counts.was_wrong), (3, 3));
    for (number, payload) in [(0, 70), (1, 1), (2, 2)] {
        let record = store.get(&key(number)).await.unwrap().unwrap().record;
        assert_eq!(record.raw, Some(cart(payload).into()));
        assert_eq!(record.packed.unwrap().metadata.codec, "LZ4_HIGH");
    }
}

/// A store that is stopped after some pages, as by a signal.
#[tokio::test(start_paused = true)]
async fn it_goes_on_from_its_checkpoint_and_no_other_job_does() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(Slots::Two, 2_000).await;
    let live_dual = live(DUAL);
    let options =
        BackfillOptions { checkpoint: Some(folder.path().join("job")), ..to(Target::Policy) };
    let (stop, done) = (AtomicBool::new(false), AtomicUsize::new(0));
    let mut progress = |_: &Progress<'_>| {
        let is_enough = done.fetch_add(1, Ordering::Relaxed) == 700;
        stop.fetch_or(is_enough, Ordering::Relaxed);
    };
    let first =
        backfill(Arc::clone(&store), Arc::clone(&live_dual), &options, &stop, &mut progress)
            .await
            .unwrap();
    assert!(!first.is_complete && first.counts.rewritten >= 700);
    let other = BackfillOptions { target: Target::Plain, ..options.clone() };
    for (live, options) in [(&live_dual, &other), (&live(LEAN), &options)] {
        let refused = attempt(&store, live, options).await;
        assert!(matches!(refused, Err(WalkError::OtherJob { .. })));
    }
    let report = attempt(&store, &live_dual, &options).await.unwrap();
    assert!(report.is_complete && report.resumed);
    assert_eq!(report.counts.records(), 2_000, "each is counted once: {:?}", report.counts);
    assert!(report.counts.already < 300, "it did not begin again: {:?}", report.counts);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    assert_eq!(run(&store, &live_dual, &to(Target::Policy)).await.already, 2_000);
}

/// Every call is lost once, on the way there and on the way back.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_lost_changes_neither_the_records_nor_the_counts() {
    let live = live(LEAN);
    let mut runs = 0;
    let mut calls = 1;
    while runs < calls {
        for fault in [Fault::Before, Fault::After] {
            let inner = filled(Slots::Two, 12).await;
            let faulty = Arc::new(FaultyStore::new(Arc::clone(&inner)));
            faulty.plan(runs, fault);
            let store = Arc::clone(&faulty) as Arc<dyn Store>;
            let counts = run(&store, &live, &to(Target::Policy)).await;
            assert_eq!((counts.rewritten, counts.conflicts), (12, 0), "{runs} {fault:?}");
            assert!(counts.bytes_after < counts.bytes_before / 2);
            calls = faulty.calls();
            faulty.heal();
            assert_eq!(run(&store, &live, &to(Target::Policy)).await.already, 12);
        }
        runs += 1;
    }
    assert!(runs > 24, "each record is read and written: {runs}");
}

#[tokio::test(start_paused = true)]
async fn what_expires_soon_is_skipped_and_the_rest_keeps_its_time() {
    let store = filled(Slots::Two, 0).await;
    for (number, left) in [(1, 59_999), (2, 60_000), (3, 90_000)] {
        let record = Record::single(cart(number));
        let expiry = Expiry::InMs(left);
        store.put(&key(number), &record, &Condition::Always, expiry).await.unwrap();
    }
    let counts = run(&store, &live(DUAL), &to(Target::Policy)).await;
    assert_eq!((counts.expiring, counts.rewritten), (1, 2));
    let found = store.get(&key(3)).await.unwrap().unwrap();
    assert_eq!(found.expires_in_ms, Some(90_000));
}

#[tokio::test(start_paused = true)]
async fn a_policy_that_is_held_back_is_not_followed() {
    let store = filled(Slots::Two, 3).await;
    run(&store, &live(DUAL), &to(Target::Policy)).await;
    let packed = records(store.as_ref()).await;
    // The durable state does not say yet that records may lack their raw copy.
    let early = live(LEAN);
    let stored = Decoders::of_this_release(early.snapshot().namespaces()[0].namespace());
    early.set_state("carts", NamespaceState { epoch: 1, stored, ..NamespaceState::default() });
    let elsewhere = live(&format!("{DUAL}processes = [\"somebody-else\"]\n"));
    for held in [early, elsewhere] {
        let refused = attempt(&store, &held, &to(Target::Policy)).await;
        assert!(matches!(refused, Err(WalkError::HeldBack { .. })), "{refused:?}");
    }
    assert_eq!(records(store.as_ref()).await, packed);
    let one = filled(Slots::One, 1).await;
    let wrong = attempt(&one, &live(DUAL), &to(Target::Policy)).await;
    assert!(matches!(wrong, Err(WalkError::Slots { .. })));
}

#[tokio::test(start_paused = true)]
async fn an_estimate_writes_nothing_and_says_what_a_run_then_does() {
    let store = filled(Slots::Two, 900).await;
    let before = records(store.as_ref()).await;
    let live = live(LEAN);
    let options = to(Target::Policy);
    let how = EstimateOptions { sample: 200, seed: 3 };
    let stop = AtomicBool::new(false);
    let guess =
        estimate(store.clone(), live.clone(), &options, how, &stop, &mut |_, _| {}).await.unwrap();
    assert_eq!(records(store.as_ref()).await, before);
    assert_eq!((guess.keys, guess.sampled, guess.outside), (900, 200, 1));
    let counts = run(&store, &live, &options).await;
    let saved = (counts.bytes_before - counts.bytes_after) as f64;
    let (low, high) = (guess.saved_bytes.low.unwrap(), guess.saved_bytes.high.unwrap());
    assert!((low * 0.99..=high * 1.01).contains(&saved), "{saved} in {low}..{high}");
    assert_eq!(guess.rewrites.middle, 900.0);
}

#[tokio::test(start_paused = true)]
async fn a_verification_counts_what_is_there_and_proves_what_is_not() {
    use crate::verify::verify;
    let store = filled(Slots::Two, 30).await;
    let live = live(LEAN);
    let stop = AtomicBool::new(false);
    let options = WalkOptions::default();
    let look = async || {
        verify(store.clone(), live.clone(), &options, &stop, &mut |_, _| {}).await.unwrap()
    };
    let clean = look().await;
    assert!(clean.is_clean() && clean.has_raw_everywhere("carts"));
    assert!(clean.is_plain_everywhere("carts"));
    assert_eq!((clean.namespaces["carts"].plain, clean.outside), (30, 1));
    run(&store, &live, &to(Target::Policy)).await;
    let packed = look().await;
    assert!(packed.is_clean() && !packed.has_raw_everywhere("carts"));
    let mut record = store.get(&key(3)).await.unwrap().unwrap().record;
    record.packed.as_mut().unwrap().metadata.codec = Metadata::ENVELOPE.to_owned();
    store.put(&key(3), &record, &Condition::Always, Expiry::Keep).await.unwrap();
    let broken = look().await;
    let facts = &broken.namespaces["carts"];
    assert!(!broken.is_clean());
    assert_eq!((facts.unreadable, facts.lack_raw, facts.records), (1, 30, 30));
    assert_eq!(facts.problems["not-an-envelope"].examples[0].key, "cart:3");
    let counts = run(&store, &live, &to(Target::Plain)).await;
    assert_eq!((counts.rewritten, counts.left), (29, 1));
    let broken = look().await;
    assert!(!broken.has_raw_everywhere("carts"), "one record may be anything");
}
