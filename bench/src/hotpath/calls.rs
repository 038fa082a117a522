//! The calls that are compared: a client of a store with a codec, and the same through the policy.
//! Both sides work on the same connection's kind, the same key and the same payload, and every call
//! checks the length of what it got.
//!
//! The bare side is what a service would write: it hands out a payload of its own, and where the
//! codec is a bare block without a checksum it keeps one beside it, as frames of LZ4 and Zstandard
//! and gzip members do. A value from a store that nobody checks is nothing to compare with.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use cinch_core::codec::{Codec, Compressor, Decompressor};
use cinch_rollout::Record;
use cinch_rollout::live::Live;
use cinch_rollout::published::PublishedCodec;
use cinch_rollout::settings::Sources;
use cinch_stores::{Client, Condition, Expiry, MemoryStore, Slots, Store};
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use xxhash_rust::xxh64::xxh64;

use crate::failure::Outcome;

/// Many calls of one side; whether each gave what it should.
#[async_trait(?Send)]
pub(super) trait Call {
    async fn run(&mut self, calls: u32) -> Outcome<bool>;
}

/// A row of the table: what is called, of which both sides can be made anew.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) is_off: bool,
    /// Whether the target is about it.
    pub(super) counts: bool,
    redis: Option<String>,
    method: &'static Method,
    is_get: bool,
    /// Whether the bare client stands on both sides, which tells what the method itself is worth.
    is_null: bool,
}

/// Both sides of a row.
pub(super) struct Sides {
    pub(super) ours: Box<dyn Call>,
    pub(super) bare: Box<dyn Call>,
}

/// A codec by its published name, and the settings that choose it.
struct Method {
    name: &'static str,
    codec: Option<&'static str>,
    settings: &'static str,
}

const METHODS: &[Method] = &[
    Method { name: "off", codec: None, settings: "write = \"plain\"\n" },
    Method {
        name: "lz4",
        codec: Some("LZ4_FAST"),
        settings: "write = \"packed\"\ncompression_codec = \"LZ4_FAST\"\n",
    },
    Method {
        name: "snappy",
        codec: Some("SNAPPY"),
        settings: "write = \"packed\"\ncompression_codec = \"SNAPPY\"\n",
    },
    Method {
        name: "gzip",
        codec: Some("GZIP"),
        settings: "write = \"packed\"\ncompression_codec = \"GZIP\"\n",
    },
];

/// Every row: the store in memory, and a Redis server where there is one.
pub(super) fn cases(redis: Option<&str>) -> Vec<Case> {
    let mut cases = Vec::new();
    for method in METHODS {
        for is_get in [true, false] {
            cases.push(case(None, method, is_get, false));
            if let Some(address) = redis {
                cases.push(case(Some(address), method, is_get, false));
            }
        }
    }
    if let Some(address) = redis {
        cases.extend([true, false].map(|is_get| case(Some(address), &METHODS[0], is_get, true)));
    }
    cases
}

fn case(redis: Option<&str>, method: &'static Method, is_get: bool, is_null: bool) -> Case {
    let kind = if redis.is_some() { "redis" } else { "memory" };
    let what = if is_null { "bare against bare" } else { method.name };
    let call = if is_get { "get" } else { "put" };
    Case {
        name: format!("{kind} {what} {call}"),
        is_off: method.codec.is_none(),
        counts: redis.is_some() && !is_null,
        redis: redis.map(str::to_owned),
        method,
        is_get,
        is_null,
    }
}

impl Case {
    /// Both sides with connections of their own, which are made in the order that is asked for.
    pub(super) async fn open(&self, payload: &[u8], ours_first: bool) -> Outcome<Sides> {
        let memory: Option<Arc<dyn Store>> = match self.redis {
            Some(_) => None,
            None => Some(Arc::new(MemoryStore::new(Slots::One))),
        };
        let (ours, bare) = if ours_first {
            let ours = self.ours(memory.as_ref(), payload).await?;
            (ours, self.bare(memory.as_ref(), payload, "bare").await?)
        } else {
            let bare = self.bare(memory.as_ref(), payload, "bare").await?;
            (self.ours(memory.as_ref(), payload).await?, bare)
        };
        Ok(Sides { ours, bare })
    }

    async fn ours(
        &self,
        memory: Option<&Arc<dyn Store>>,
        payload: &[u8],
    ) -> Outcome<Box<dyn Call>> {
        if self.is_null {
            return self.bare(memory, payload, "ours").await;
        }
        let store: Arc<dyn Store> = match (&self.redis, memory) {
            (Some(address), _) => Arc::from(cinch_stores::open(address).await?),
            (None, Some(memory)) => Arc::clone(memory),
            (None, None) => return Err("there is no store".into()),
        };
        let method = self.method;
        let text = format!("[namespaces.bench]\nkeys = [\"ours:*\"]\n{}", method.settings);
        let mut sources = Sources { text, ..Sources::default() };
        if method.codec.is_none() {
            sources.text = format!("compression_enabled = false\n{}", sources.text);
        }
        let client = Client::new(store, Arc::new(Live::new(sources.configuration()?)));
        // Keys of their own: each holds what its method wrote.
        let key = format!("ours:{}", method.name);
        let payload = Bytes::copy_from_slice(payload);
        let ours = Ours { client, key, payload, is_get: self.is_get };
        ours.put().await?;
        Ok(Box::new(ours))
    }

    async fn bare(
        &self,
        memory: Option<&Arc<dyn Store>>,
        payload: &[u8],
        keys: &str,
    ) -> Outcome<Box<dyn Call>> {
        let store = match (&self.redis, memory) {
            (Some(address), _) => Bare::Redis(connection(address).await?),
            (None, Some(memory)) => Bare::Memory(Arc::clone(memory)),
            (None, None) => return Err("there is no store".into()),
        };
        let mut bare = BareSide {
            store,
            key: format!("{keys}:{}", self.method.name),
            packer: self.method.codec.map(BareCodec::of).transpose()?,
            payload: payload.to_vec(),
            packed: Vec::new(),
            checksum: 0,
            is_get: self.is_get,
        };
        bare.put().await?;
        Ok(Box::new(bare))
    }
}

async fn connection(address: &str) -> Outcome<ConnectionManager> {
    let client = redis::Client::open(address)?;
    let config = ConnectionManagerConfig::new().set_number_of_retries(1);
    Ok(client.get_connection_manager_with_config(config).await?)
}

struct Ours {
    client: Client,
    key: String,
    payload: Bytes,
    is_get: bool,
}

impl Ours {
    async fn put(&self) -> Outcome {
        let key = self.key.as_bytes();
        self.client.put(key, self.payload.clone(), None, &Condition::Always, Expiry::Never).await?;
        Ok(())
    }
}

#[async_trait(?Send)]
impl Call for Ours {
    async fn run(&mut self, calls: u32) -> Outcome<bool> {
        for _ in 0..calls {
            if !self.is_get {
                self.put().await?;
                continue;
            }
            let got = self.client.get(self.key.as_bytes()).await?;
            let length = got.and_then(|got| got.payload).map(|payload| payload.len());
            if length != Some(self.payload.len()) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// A bare codec with its contexts, as a service would keep them.
struct BareCodec {
    compressor: Box<dyn Compressor>,
    decompressor: Box<dyn Decompressor>,
    of: &'static dyn Codec,
    has_checksum: bool,
}

impl BareCodec {
    fn of(name: &str) -> Outcome<BareCodec> {
        let published = PublishedCodec::named(name).ok_or("there is no such codec")?;
        Ok(BareCodec {
            compressor: published.compressor()?,
            decompressor: published.decompressor()?,
            of: published.choice().codec,
            has_checksum: name == "GZIP",
        })
    }
}

enum Bare {
    Memory(Arc<dyn Store>),
    Redis(ConnectionManager),
}

/// What a service would write without us: its client, and the codec.
struct BareSide {
    store: Bare,
    key: String,
    packer: Option<BareCodec>,
    payload: Vec<u8>,
    packed: Vec<u8>,
    /// What was noted at the last write.
    checksum: u64,
    is_get: bool,
}

impl BareSide {
    async fn put(&mut self) -> Outcome {
        if let Some(codec) = &mut self.packer {
            self.packed.resize(codec.of.compress_bound(self.payload.len()), 0);
            let length = codec.compressor.compress(&self.payload, &mut self.packed)?;
            self.packed.truncate(length);
            if !codec.has_checksum {
                self.checksum = xxh64(&self.payload, 0);
            }
        }
        let value = if self.packer.is_some() { &self.packed } else { &self.payload };
        match &mut self.store {
            Bare::Memory(store) => {
                let record = Record::single(Bytes::copy_from_slice(value));
                let key = self.key.as_bytes();
                store.put(key, &record, &Condition::Always, Expiry::Never).await?;
            }
            Bare::Redis(connection) => {
                let mut command = redis::cmd("SET");
                command.arg(&self.key).arg(value.as_slice());
                command.exec_async(connection).await?;
            }
        }
        Ok(())
    }

    async fn get(&mut self) -> Outcome<usize> {
        let value = match &mut self.store {
            Bare::Memory(store) => {
                let found = store.record(self.key.as_bytes()).await?;
                found.and_then(|record| record.raw).ok_or("it is gone")?
            }
            Bare::Redis(connection) => {
                let value: Vec<u8> =
                    redis::cmd("GET").arg(&self.key).query_async(connection).await?;
                Bytes::from(value)
            }
        };
        let Some(codec) = &mut self.packer else { return Ok(value.len()) };
        let mut unpacked = vec![0; self.payload.len()];
        codec.decompressor.decompress_exact(&value, &mut unpacked)?;
        if !codec.has_checksum && xxh64(&unpacked, 0) != self.checksum {
            return Err("the checksum is another".into());
        }
        Ok(unpacked.len())
    }
}

#[async_trait(?Send)]
impl Call for BareSide {
    async fn run(&mut self, calls: u32) -> Outcome<bool> {
        for _ in 0..calls {
            if !self.is_get {
                self.put().await?;
            } else if self.get().await? != self.payload.len() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
