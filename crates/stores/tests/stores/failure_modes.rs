//! The failure modes that were seen in the field (spec/stores.md has the table), each against a
//! real server: what others did to somebody's data, and what must happen here instead.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cinch_core::codec::CodecChoice;
use cinch_core::dictionary::Dictionary;
use cinch_core::encoding::encoding_named;
use cinch_core::envelope::UnpackError;
use cinch_core::pack::Packer;
use cinch_core::profile::Profile;
use cinch_integration::{Postgres, Redis, gzip, repository};
use cinch_rollout::gate::DecodeError;
use cinch_rollout::live::Live;
use cinch_rollout::settings::Sources;
use cinch_rollout::{Record, Stamp};
use cinch_stores::tiered::{Fresh, Origin, Tiered, TieredOptions};
use cinch_stores::{Client, ClientError, Condition, Expiry, Store};

use crate::{put, subject};

const KEY: &[u8] = b"cart:1";

pub fn client(store: &Arc<dyn Store>, settings: &str) -> Client {
    let text = format!("[namespaces.carts]\nkeys = [\"cart:*\"]\n{settings}");
    let path = repository().join("cinch.toml");
    let sources = Sources { text, path, ..Sources::default() };
    let live = Live::new(sources.configuration().expect("it is valid"));
    Client::new(Arc::clone(store), Arc::new(live))
}

pub async fn redis(server: &Redis) -> Arc<dyn Store> {
    subject(&server.address()).await.store
}

pub fn cart(items: usize) -> Vec<u8> {
    let item = r#"{"sku":"SKU-1","title":"A thing","price":12.50,"quantity":1},"#;
    format!(r#"{{"items":[{}{{}}]}}"#, item.repeat(items)).into_bytes()
}

pub async fn write(client: &Client, payload: &[u8]) {
    let written = client.put(KEY, payload.to_vec(), None, &Condition::Always, Expiry::Keep).await;
    written.expect("it is written");
}

pub async fn read(client: &Client) -> Option<Vec<u8>> {
    client.get(KEY).await.expect("it is read").and_then(|got| got.payload.map(Vec::from))
}

/// Why a value can't be read; its bytes are never handed out.
async fn undecodable(client: &Client) -> DecodeError {
    match client.get(KEY).await {
        Err(ClientError::Undecodable { error, .. }) => error,
        other => panic!("it was read: {other:?}"),
    }
}

/// An envelope of a payload.
fn envelope(payload: &[u8], dictionary: Option<Arc<Dictionary>>) -> Vec<u8> {
    let verbatim = encoding_named("verbatim").expect("it is registered");
    let mut profile = Profile::new(verbatim, CodecChoice::parse("zstd").expect("it is a codec"));
    profile.dictionary = dictionary;
    let mut out = Vec::new();
    let mut packer = Packer::new(&profile).expect("there is memory");
    packer.pack(payload, &mut out).expect("it is packed");
    assert_eq!(out[..2], [0xC1, 0x9E]);
    out
}

/// Mode 1 and 2: a bomb is refused by its header, at exactly the limit and not before it, and a
/// value that is only too large for this reader stays, also in a cache.
#[tokio::test(flavor = "multi_thread")]
async fn mode_1_and_2_a_value_over_the_limit_is_refused_by_its_header_and_stays() {
    let server = Redis::start();
    let store = redis(&server).await;
    let writer = client(&store, "write = \"packed\"\n");
    let reader = client(&store, "cache = true\npayload_bytes_max = 10000\nwrite = \"packed\"\n");
    write(&writer, &vec![b'x'; 10_000]).await;
    assert_eq!(read(&reader).await, Some(vec![b'x'; 10_000]), "exactly the limit");
    for size in [10_001, 4 << 20] {
        write(&writer, &vec![b'x'; size]).await;
        let stored = store.get(KEY).await.unwrap().unwrap().record.raw.unwrap();
        assert!(stored.len() < 30_000, "it is a bomb: {} bytes", stored.len());
        let error = undecodable(&reader).await;
        let expected = UnpackError::TooLarge { limit: 10_000, got: size };
        assert_eq!(error, DecodeError::Envelope(expected));
        assert_eq!(store.get(KEY).await.unwrap().unwrap().record.raw, Some(stored));
    }
    let text = reader.live().metrics().text();
    assert!(text.contains("too-large"), "it is counted: {text}");
}

/// Mode 3, 4, 13 and 20: what a server or another client does inside a packed value is an error or
/// a miss, for every change and every cut; the value's bytes are never a payload.
#[tokio::test(flavor = "multi_thread")]
async fn mode_3_4_13_and_20_a_value_that_was_changed_inside_is_never_handed_out() {
    let server = Redis::start();
    let store = redis(&server).await;
    let source = client(&store, "write = \"packed\"\n");
    let cache = client(&store, "cache = true\nwrite = \"packed\"\n");
    let payload = cart(8);
    write(&source, &payload).await;
    let whole = store.get(KEY).await.unwrap().unwrap().record.raw.unwrap();
    let changes: [&[&str]; 3] = [
        &["APPEND", "cart:1", "x"],
        &["SETRANGE", "cart:1", "40", "junk"],
        &["SETBIT", "cart:1", "300", "1"],
    ];
    for change in changes {
        put(store.as_ref(), KEY, &Record::single(whole.clone())).await;
        server.run(change);
        let now = store.get(KEY).await.unwrap().unwrap().record.raw.unwrap();
        if now == whole {
            server.run(&["SETBIT", "cart:1", "300", "0"]);
        }
        assert!(undecodable(&source).await.is_damage(), "{change:?}");
        assert!(store.get(KEY).await.unwrap().is_some(), "what is no cache is left alone");
        // One miss in place of an error for its whole time to live, and then it is written anew.
        assert_eq!(read(&cache).await, None);
        assert!(store.get(KEY).await.unwrap().is_none());
    }
    for length in 4..whole.len() {
        put(store.as_ref(), KEY, &Record::single(whole[..length].to_vec())).await;
        undecodable(&source).await;
    }
}

/// Mode 4: what is removed is exactly what was damaged, and not what somebody wrote meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn mode_4_a_value_that_was_mended_meanwhile_is_not_removed() {
    let server = Redis::start();
    let store = redis(&server).await;
    write(&client(&store, "write = \"packed\"\n"), &cart(8)).await;
    server.run(&["APPEND", "cart:1", "x"]);
    let mended = Arc::new(Mended { inner: Arc::clone(&store), is_mended: AtomicBool::new(false) });
    let mended = mended as Arc<dyn Store>;
    let cache = client(&mended, "cache = true\nwrite = \"packed\"\n");
    assert_eq!(read(&cache).await, None);
    let left = store.get(KEY).await.unwrap().expect("the new value stays");
    assert_eq!(left.record.raw, Some("{\"new\":true}".into()));
}

/// A store in which somebody writes the key anew between a read and what follows it.
struct Mended {
    inner: Arc<dyn Store>,
    is_mended: AtomicBool,
}

#[async_trait::async_trait]
impl Store for Mended {
    fn shape(&self) -> cinch_stores::Shape {
        self.inner.shape()
    }

    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn get(
        &self,
        key: &[u8],
    ) -> Result<Option<cinch_stores::Found>, cinch_stores::StoreError> {
        let found = self.inner.get(key).await;
        if !self.is_mended.swap(true, Ordering::SeqCst) {
            put(self.inner.as_ref(), key, &Record::single(b"{\"new\":true}".to_vec())).await;
        }
        found
    }

    async fn put(
        &self,
        key: &[u8],
        record: &Record,
        condition: &Condition,
        expiry: Expiry,
    ) -> Result<cinch_stores::PutOutcome, cinch_stores::StoreError> {
        self.inner.put(key, record, condition, expiry).await
    }

    async fn delete(
        &self,
        key: &[u8],
        condition: &Condition,
    ) -> Result<cinch_stores::PutOutcome, cinch_stores::StoreError> {
        self.inner.delete(key, condition).await
    }

    async fn scan(
        &self,
        from: Option<&[u8]>,
        limit: usize,
    ) -> Result<cinch_stores::Page, cinch_stores::StoreError> {
        self.inner.scan(from, limit).await
    }
}

/// Mode 5: whatever an application stores comes back, also what starts like a format of somebody.
#[tokio::test(flavor = "multi_thread")]
async fn mode_5_a_payload_that_looks_like_another_format_comes_back_as_it_was() {
    let server = Redis::start();
    let store = redis(&server).await;
    let inner = envelope(&cart(4), None);
    let payloads: [&[u8]; 8] = [
        b"\xC1\x9E",
        b"\xC1\x9E\x92\x80",
        &inner[..inner.len() - 1],
        b"x\x9Ctext that begins like zlib",
        b"\x1F\x8B\x08 and like gzip",
        b"\x28\xB5\x2F\xFD and like zstd",
        b"\x00\x01\x02\x00\x01GLIDE",
        b"",
    ];
    for mode in ["plain", "shadow", "packed"] {
        let client = client(&store, &format!("write = \"{mode}\"\n"));
        for payload in payloads {
            write(&client, payload).await;
            assert_eq!(read(&client).await.as_deref(), Some(payload), "{mode}");
        }
    }
}

/// Mode 7: a reader without the dictionary says so; the value stays, also in a cache, and is read
/// as soon as the dictionary is there.
#[tokio::test(flavor = "multi_thread")]
async fn mode_7_a_missing_dictionary_is_named_and_costs_no_value() {
    let server = Redis::start();
    let store = redis(&server).await;
    let path = repository().join("vectors/dictionaries/carts.dict");
    let dictionary =
        Dictionary::new(std::fs::read(&path).expect("it is there")).expect("it is one");
    let id = dictionary.id();
    let payload = cart(6);
    put(store.as_ref(), KEY, &Record::single(envelope(&payload, Some(dictionary)))).await;
    let behind = client(&store, "cache = true\nwrite = \"packed\"\n");
    let expected = UnpackError::MissingDictionary { id };
    assert_eq!(undecodable(&behind).await, DecodeError::Envelope(expected));
    let settings = "write = \"packed\"\ndictionaries = [\"vectors/dictionaries/carts.dict\"]\n";
    assert_eq!(read(&client(&store, settings)).await, Some(payload));
}

/// Mode 8: with another dictionary under the same id a value looks damaged, and it is not. So what
/// names a dictionary is never removed, also in a cache.
#[tokio::test(flavor = "multi_thread")]
async fn mode_8_what_a_wrong_dictionary_makes_of_a_value_is_an_error_and_removes_nothing() {
    let server = Redis::start();
    let store = redis(&server).await;
    let path = repository().join("vectors/dictionaries/carts.dict");
    let dictionary =
        Dictionary::new(std::fs::read(&path).expect("it is there")).expect("it is one");
    let settings = "cache = true\nwrite = \"packed\"\n\
                    dictionaries = [\"vectors/dictionaries/carts.dict\"]\n";
    let cache = client(&store, settings);
    let mut value = envelope(&cart(6), Some(dictionary));
    // To a reader, other bytes behind a sound header are the same as another dictionary.
    *value.last_mut().expect("it has a body") ^= 0x55;
    put(store.as_ref(), KEY, &Record::single(value)).await;
    assert!(undecodable(&cache).await.is_damage());
    assert!(store.get(KEY).await.unwrap().is_some(), "the value is gone");
}

/// Mode 14: a rewrite neither drops nor revives a time to live.
#[tokio::test(flavor = "multi_thread")]
async fn mode_14_a_time_to_live_survives_a_rewrite_and_an_expired_key_stays_gone() {
    let server = Redis::start();
    let store = redis(&server).await;
    let client = client(&store, "write = \"packed\"\n");
    server.run(&["SET", "cart:1", "{}", "EX", "5000"]);
    write(&client, &cart(8)).await;
    let left: i64 = server.run(&["TTL", "cart:1"]).parse().expect("a number");
    assert!((4_900..=5_000).contains(&left), "{left} s are left");
    let found = store.get(KEY).await.unwrap().unwrap();
    server.run(&["DEL", "cart:1"]);
    let record = Record::single(b"{}".to_vec());
    let condition = Condition::Is(found.version);
    let outcome = store.put(KEY, &record, &condition, Expiry::Keep).await.unwrap();
    assert_eq!(outcome, cinch_stores::PutOutcome::ConditionFailed);
    assert_eq!(server.run(&["EXISTS", "cart:1"]), "0");
}

/// Mode 16: a copy with an older stamp than the caller knows of is never the answer, whichever of
/// the two stores has fallen behind, and it is replaced.
#[tokio::test(flavor = "multi_thread")]
async fn mode_16_a_store_that_has_fallen_behind_is_known_by_the_stamp() {
    let server = Redis::start();
    let postgres = Postgres::shared();
    postgres.run(
        "CREATE TABLE tiers (id text PRIMARY KEY, cart text, packed bytea, about jsonb,
            version bigint)",
    );
    let names = "table=tiers&key=id&raw=cart&compressed=packed&metadata=about&stamp=version";
    let behind = subject(&format!("{}?{names}", postgres.address())).await.store;
    let front = client(&redis(&server).await, "cache = true\nwrite = \"packed\"\n");
    let lean = "write_mode = \"COMPRESS_ONLY\"\nread_mode = \"COMPRESS_ONLY\"\n";
    let back = client(&behind, lean);
    let tiered = Tiered::new(front.clone(), back.clone(), TieredOptions::default()).unwrap();
    let never = || async { panic!("nothing had to be computed") };
    tiered.put(KEY, cart(2), Stamp(1)).await.unwrap();
    // Somebody else writes the persistent copy; the cache has fallen behind.
    let newer = Condition::OlderThan(Stamp(2));
    back.put(KEY, cart(3), Some(Stamp(2)), &newer, Expiry::Keep).await.unwrap();
    let got = tiered.get(KEY, Stamp(2), never).await.unwrap().unwrap();
    assert_eq!((&got.payload[..], got.origin), (&cart(3)[..], Origin::Persistent));
    // The database that answers is a replica that has fallen behind as well.
    let compute = || async { Ok(Some(Fresh { payload: cart(4).into(), stamp: Stamp(3) })) };
    let got = tiered.get(KEY, Stamp(3), compute).await.unwrap().unwrap();
    assert_eq!((&got.payload[..], got.origin), (&cart(4)[..], Origin::Recomputed));
    let got = tiered.get(KEY, Stamp(3), never).await.unwrap().unwrap();
    assert_eq!((&got.payload[..], got.origin), (&cart(4)[..], Origin::Cache));
    let stale = back.put(KEY, cart(9), Some(Stamp(2)), &newer, Expiry::Keep).await.unwrap();
    assert_eq!(stale, cinch_stores::PutOutcome::ConditionFailed, "an older write arrives late");
}

/// Mode 22: nothing is compressed twice.
#[tokio::test(flavor = "multi_thread")]
async fn mode_22_what_is_compressed_already_is_stored_as_it_is() {
    let server = Redis::start();
    let store = redis(&server).await;
    let client = client(&store, "write = \"packed\"\n");
    let stored = async || store.get(KEY).await.unwrap().unwrap().record.raw.unwrap();
    // So repetitive that its compressed form repeats itself: a second time would gain, and is not
    // tried all the same.
    let packed = gzip(&cart(40_000));
    write(&client, &packed).await;
    assert_eq!(stored().await, packed, "a gzip file stays one");
    let inner = envelope(&cart(40), None);
    write(&client, &inner).await;
    assert_eq!(stored().await, inner, "an envelope is passed on");
    assert_eq!(read(&client).await, Some(cart(40)));
}
