//! Redis and Valkey, one server or a cluster: a key holds one value, plain or an envelope.
//!
//! The plain path sends GET, PTTL and SET and nothing else, so that it passes proxies such as
//! twemproxy. A write over exactly what was read is one script, because WATCH needs a connection
//! of its own. A command that may have been carried out is never sent again on the quiet: a
//! conditional write that is repeated would find its own value and report that it failed.

mod connection;
mod failure;
mod inside;
mod scan;

use async_trait::async_trait;
use bytes::Bytes;
use cinch_rollout::Record;
use redis::{Cmd, Value, cmd};

use crate::address::Address;
use crate::error::StoreError;
use crate::store::{Condition, Expiry, Found, Page, PutOutcome, Shape, Slots, Store, Version};
use connection::Link;
use failure::explain;
pub(crate) use inside::look_inside;

/// Writes where the value is exactly the one that was read. KEYS: the key. ARGV: the old value,
/// the new one, and the options of SET. A missing key is `false`, which equals no string.
const REPLACE: &str = "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end \
    redis.call('SET', KEYS[1], ARGV[2], unpack(ARGV, 3)) return 1";

/// Removes where the value is exactly the one that was read.
const REMOVE: &str = "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end \
    return redis.call('DEL', KEYS[1])";

/// Redis adds the time to live to its clock, and refuses a sum of more than 63 bits.
const EXPIRY_MS_MAX: u64 = 1 << 53;

/// Our parameters of an address.
const OURS: [&str; 4] = ["cluster", "expiry", "match", "timeout_ms"];
/// Those of the client that are handed on.
const CLIENTS: [&str; 2] = ["protocol", "db"];

/// How long a command may take unless the address says so.
const TIMEOUT_MS: u64 = 10_000;

/// The keys of a server or cluster.
pub struct RedisStore {
    name: String,
    link: Link,
    /// Whether reading a record asks for its time to live.
    reads_expiry: bool,
    /// The glob pattern of the keys that a scan shows.
    pattern: Option<String>,
}

impl RedisStore {
    /// Opens the keys of an address. `cluster=true` or several hosts make it a cluster,
    /// `expiry=unread` spares the second command of a read, `match=cart:*` restricts scans, and
    /// `protocol=resp3` speaks that.
    ///
    /// # Errors
    /// [`StoreError::Address`] where the address is wrong; [`StoreError::Unreachable`] and
    /// [`StoreError::Refused`] from the server.
    pub async fn open(mut address: Address) -> Result<RedisStore, StoreError> {
        let timeout_ms = address.take_number("timeout_ms", TIMEOUT_MS)?;
        let is_cluster = match address.take("cluster").as_deref() {
            None => address.hosts().contains(','),
            Some("true") => true,
            Some("false") => false,
            Some(_) => return Err(address.bad("cluster is true or false")),
        };
        let reads_expiry = match address.take("expiry").as_deref() {
            None | Some("read") => true,
            Some("unread") => false,
            Some(_) => return Err(address.bad("expiry is read or unread")),
        };
        let pattern = address.take("match");
        address.only_known(&OURS, &CLIENTS)?;
        let name = address.shown();
        let link = Link::open(&address, is_cluster, timeout_ms);
        let link = link.await.map_err(|error| explain(&name, b"", &error))?;
        Ok(RedisStore { name, link, reads_expiry, pattern })
    }

    async fn ask(&self, key: &[u8], command: Cmd) -> Result<Value, StoreError> {
        self.link.ask(&command).await.map_err(|error| explain(&self.name, key, &error))
    }

    /// Runs one of the scripts; whether it did anything.
    async fn run(&self, key: &[u8], script: &str, more: &[&[u8]]) -> Result<bool, StoreError> {
        let mut command = cmd("EVAL");
        command.arg(script).arg(1).arg(key);
        for argument in more {
            command.arg(*argument);
        }
        let answer = self.ask(key, command).await?;
        Ok(matches!(answer, Value::Int(done) if done > 0))
    }

    fn value(&self, key: &[u8], value: Value) -> Result<Option<Bytes>, StoreError> {
        match value {
            Value::BulkString(value) => Ok(Some(value.into())),
            Value::Nil => Ok(None),
            other => {
                let message = format!("an answer that is no string: {other:?}");
                Err(StoreError::shape(&self.name, key, message))
            }
        }
    }

    fn no_stamp(&self) -> StoreError {
        let what = "keep or compare a version stamp: a key holds nothing beside its value";
        StoreError::unsupported(&self.name, what)
    }
}

/// The options of SET for a time to live.
fn life(expiry: Expiry) -> Vec<String> {
    match expiry {
        Expiry::Keep => vec!["KEEPTTL".to_owned()],
        Expiry::Never => Vec::new(),
        Expiry::InMs(milliseconds) => {
            vec!["PX".to_owned(), milliseconds.clamp(1, EXPIRY_MS_MAX).to_string()]
        }
    }
}

#[async_trait]
impl Store for RedisStore {
    fn shape(&self) -> Shape {
        Shape { kind: "redis", slots: Slots::One, has_expiry: true, has_stamp: false }
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn scans_all(&self) -> bool {
        self.pattern.is_none()
    }

    async fn get(&self, key: &[u8]) -> Result<Option<Found>, StoreError> {
        let mut commands = vec![cmd("GET")];
        commands.extend(self.reads_expiry.then(|| cmd("PTTL")));
        for command in &mut commands {
            command.arg(key);
        }
        let answers = self.link.ask_all(&commands).await;
        let mut answers = answers.map_err(|error| explain(&self.name, key, &error))?.into_iter();
        let value = answers.next().unwrap_or(Value::Nil);
        let expires_in_ms = match answers.next() {
            Some(Value::Int(left)) => u64::try_from(left).ok(),
            _ => None,
        };
        let found = self.value(key, value)?.map(|value| {
            let version = Version(value.clone());
            Found { record: Record::single(value), version, expires_in_ms }
        });
        Ok(found)
    }

    async fn record(&self, key: &[u8]) -> Result<Option<Record>, StoreError> {
        let mut command = cmd("GET");
        command.arg(key);
        let value = self.ask(key, command).await?;
        Ok(self.value(key, value)?.map(Record::single))
    }

    async fn put(
        &self,
        key: &[u8],
        record: &Record,
        condition: &Condition,
        expiry: Expiry,
    ) -> Result<PutOutcome, StoreError> {
        if record.stamp.is_some() {
            return Err(self.no_stamp());
        }
        let value = match (&record.raw, &record.packed) {
            (Some(value), None) => &value[..],
            (_, Some(_)) => {
                let what = "keep a packed copy beside the raw one under one key";
                return Err(StoreError::unsupported(&self.name, what));
            }
            (None, None) => {
                let what = "keep a record without a value under a key";
                return Err(StoreError::unsupported(&self.name, what));
            }
        };
        let options = life(expiry);
        let written = match condition {
            Condition::OlderThan(_) => return Err(self.no_stamp()),
            Condition::Is(Version(old)) => {
                let mut arguments = vec![&old[..], value];
                arguments.extend(options.iter().map(|option| option.as_bytes()));
                self.run(key, REPLACE, &arguments).await?
            }
            Condition::Always | Condition::Absent => {
                let mut command = cmd("SET");
                command.arg(key).arg(value);
                if *condition == Condition::Absent {
                    command.arg("NX");
                }
                // A key that is not there has no time to live to keep.
                let is_plain = *condition == Condition::Absent && expiry == Expiry::Keep;
                for option in options.iter().filter(|_| !is_plain) {
                    command.arg(option);
                }
                self.ask(key, command).await? != Value::Nil
            }
        };
        Ok(if written { PutOutcome::Written } else { PutOutcome::ConditionFailed })
    }

    async fn delete(&self, key: &[u8], condition: &Condition) -> Result<PutOutcome, StoreError> {
        let single = |name: &str| {
            let mut command = cmd(name);
            command.arg(key);
            command
        };
        let done = match condition {
            Condition::OlderThan(_) => return Err(self.no_stamp()),
            Condition::Always => {
                self.ask(key, single("DEL")).await?;
                true
            }
            Condition::Absent => self.ask(key, single("EXISTS")).await? == Value::Int(0),
            Condition::Is(Version(old)) => self.run(key, REMOVE, &[old]).await?,
        };
        Ok(if done { PutOutcome::Written } else { PutOutcome::ConditionFailed })
    }

    async fn scan(&self, from: Option<&[u8]>, limit: usize) -> Result<Page, StoreError> {
        scan::page(&self.link, &self.name, self.pattern.as_deref(), from, limit).await
    }
}

/// Without the connection, whose options hold a password.
impl std::fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RedisStore({})", self.name)
    }
}
