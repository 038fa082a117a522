//! Records of a Kafka topic, whose values are single payloads: plain or an envelope.
//!
//! A topic is a log and no map: nothing can be read by key, replaced or compared there, so that
//! [`Store`](crate::Store) is not implemented. What is here is the boundary of values: appending
//! one, and reading a range of a partition. A header names an envelope to consumers that know
//! nothing of us; our own reader goes by the value, which says of itself what it is.

mod connect;

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use cinch_core::envelope::Header;
use rskafka::chrono::DateTime;
use rskafka::client::error::Error;
use rskafka::client::partition::{Compression, OffsetAt, PartitionClient, UnknownTopicHandling};

use crate::address::Address;
use crate::error::StoreError;
use connect::explain;

/// The header of a record whose value is an envelope; its value is the envelope's version.
pub const ENVELOPE_HEADER: &str = "cinch-envelope";

/// The version of envelopes that we write.
const ENVELOPE_VERSION: &[u8] = b"1";

/// The longest value that is appended: brokers take 1 MiB unless they are told otherwise, and this
/// is what they are usually told at most.
pub const VALUE_BYTES_MAX: usize = 64 << 20;

/// How many bytes are asked for at once. A broker sends at least one whole batch, however long.
const FETCH_BYTES: std::ops::Range<i32> = 1..1 << 20;

/// How long a broker may wait for records when there are none, in milliseconds.
const FETCH_WAIT_MS: i32 = 100;

/// Our parameters of an address.
const OURS: [&str; 3] = ["tls", "sasl", "timeout_ms"];

/// How long a call may take unless the address says so.
const TIMEOUT_MS: u64 = 10_000;

/// A record of a partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KafkaRecord {
    /// Its place in the partition.
    pub offset: i64,
    /// Its key, which decides what compaction keeps.
    pub key: Option<Vec<u8>>,
    /// Its value; `None` where it says that the key was deleted.
    pub value: Option<Vec<u8>>,
    /// Whether the header says that the value is an envelope. Others may have dropped or copied it.
    pub is_marked: bool,
}

/// A part of a partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KafkaRange {
    /// The records, by their offsets; compaction and transactions leave gaps.
    pub records: Vec<KafkaRecord>,
    /// Where to read on.
    pub next_offset: i64,
    /// The offset behind the last record of the partition.
    pub end_offset: i64,
}

/// A topic.
pub struct KafkaTopic {
    name: String,
    partitions: BTreeMap<i32, PartitionClient>,
    timeout: Duration,
}

impl KafkaTopic {
    /// Opens the topic of an address: `kafka://host:9092/topic`. `tls=true` encrypts, and a user
    /// with a password logs in by `sasl=plain|scram-sha-256|scram-sha-512`. The topic is not made.
    ///
    /// # Errors
    /// [`StoreError::Address`] where the address is wrong or there is no such topic;
    /// [`StoreError::Unreachable`] and [`StoreError::Refused`] from the brokers.
    pub async fn open(text: &str) -> Result<KafkaTopic, StoreError> {
        let mut address = Address::parse(text)?;
        let name = address.shown();
        if address.scheme() != "kafka" {
            return Err(address.bad("write kafka://HOST:9092/TOPIC"));
        }
        let timeout = Duration::from_millis(address.take_number("timeout_ms", TIMEOUT_MS)?);
        let topic = address.path().to_owned();
        let client = connect::connect(&mut address, timeout, &OURS).await?;
        let within = |error: Result<_, _>| flatten(&name, error);
        let topics = within(tokio::time::timeout(timeout, client.list_topics()).await)?;
        let Some(found) = topics.into_iter().find(|found| found.name == topic) else {
            return Err(address.bad(&format!("there is no topic called {topic:?}")));
        };
        let mut partitions = BTreeMap::new();
        for number in found.partitions {
            let opened = client.partition_client(&topic, number, UnknownTopicHandling::Error);
            let opened = tokio::time::timeout(timeout, opened).await;
            partitions.insert(number, flatten(&name, opened)?);
        }
        Ok(KafkaTopic { name, partitions, timeout })
    }

    /// Its name in messages: an address without secrets.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The numbers of its partitions.
    pub fn partitions(&self) -> impl Iterator<Item = i32> {
        self.partitions.keys().copied()
    }

    /// Appends a value, plain or an envelope, and returns its offset once all replicas in sync
    /// have it. The client tries again when an answer is lost, so that a value may be there twice.
    ///
    /// # Errors
    /// [`StoreError::TooLarge`] above [`VALUE_BYTES_MAX`]; [`StoreError`] otherwise.
    pub async fn append(
        &self,
        partition: i32,
        key: Option<&[u8]>,
        value: Option<&[u8]>,
    ) -> Result<i64, StoreError> {
        if let Some(got) = value.map(<[u8]>::len).filter(|got| *got > VALUE_BYTES_MAX) {
            return Err(StoreError::TooLarge { what: "a value", limit: VALUE_BYTES_MAX, got });
        }
        let mut headers = BTreeMap::new();
        if value.is_some_and(|value| Header::read(value).is_ok()) {
            headers.insert(ENVELOPE_HEADER.to_owned(), ENVELOPE_VERSION.to_vec());
        }
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let now_ms = since_1970.map_or(0, |since| since.as_millis() as i64);
        let record = rskafka::record::Record {
            key: key.map(<[u8]>::to_vec),
            value: value.map(<[u8]>::to_vec),
            headers,
            timestamp: DateTime::from_timestamp_millis(now_ms).unwrap_or_default(),
        };
        // Envelopes are compressed already, and a broker's recompression would be wasted on them.
        let produced = self.partition(partition)?.produce(vec![record], Compression::NoCompression);
        let offsets = self.wait(produced).await?;
        offsets.first().copied().ok_or_else(|| StoreError::Refused {
            store: self.name.clone(),
            message: "the broker named no offset".to_owned(),
        })
    }

    /// Reads records of a partition from an offset on: at least one batch, if there is one.
    ///
    /// # Errors
    /// [`StoreError`]; [`StoreError::Refused`] for an offset that is deleted or not there yet.
    pub async fn read(&self, partition: i32, offset: i64) -> Result<KafkaRange, StoreError> {
        let client = self.partition(partition)?;
        let fetched = self.wait(client.fetch_records(offset, FETCH_BYTES, FETCH_WAIT_MS)).await?;
        let (fetched, end_offset) = fetched;
        let records: Vec<KafkaRecord> = fetched
            .into_iter()
            // A batch is sent whole, also where it begins before the offset.
            .filter(|found| found.offset >= offset)
            .map(|found| KafkaRecord {
                offset: found.offset,
                is_marked: found.record.headers.contains_key(ENVELOPE_HEADER),
                key: found.record.key,
                value: found.record.value,
            })
            .collect();
        let next_offset = records.last().map_or(offset, |last| last.offset + 1);
        Ok(KafkaRange { records, next_offset, end_offset })
    }

    /// The offset of the first record that a partition still has, and the one behind its last.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn offsets(&self, partition: i32) -> Result<(i64, i64), StoreError> {
        let client = self.partition(partition)?;
        let first = self.wait(client.get_offset(OffsetAt::Earliest)).await?;
        Ok((first, self.wait(client.get_offset(OffsetAt::Latest)).await?))
    }

    fn partition(&self, number: i32) -> Result<&PartitionClient, StoreError> {
        self.partitions.get(&number).ok_or_else(|| {
            let count = self.partitions.len();
            let there = format!("there is no partition {number}; there are {count} from 0 on");
            StoreError::Address(format!("{}: {there}", self.name))
        })
    }

    /// Waits for an answer; the client itself would try without an end.
    async fn wait<T>(
        &self,
        answer: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, StoreError> {
        flatten(&self.name, tokio::time::timeout(self.timeout, answer).await)
    }
}

fn flatten<T>(
    name: &str,
    answer: Result<Result<T, Error>, tokio::time::error::Elapsed>,
) -> Result<T, StoreError> {
    match answer {
        Ok(answer) => answer.map_err(|error| explain(name, &error)),
        Err(_) => Err(explain(name, &Error::Timeout)),
    }
}

/// Without the connection, whose options hold a password.
impl std::fmt::Debug for KafkaTopic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "KafkaTopic({})", self.name)
    }
}
