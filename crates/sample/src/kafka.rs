//! Reads payloads from topics of Apache Kafka and what speaks its protocol.
//!
//! Partitions are read by offset, without a consumer group: nothing is committed, no group appears
//! among the consumers, and no topic is made. Offsets are chosen at random over everything that is
//! stored, so a topic of a year costs no more than one of an hour.

mod connect;
mod offsets;

use rskafka::client::Client;
use rskafka::client::partition::{OffsetAt, PartitionClient, UnknownTopicHandling};
use rskafka::record::RecordAndOffset;

use crate::address::Address;
use crate::error::SampleError;
use crate::options::SampleOptions;
use crate::taker::Taker;
use connect::Answers;

/// How many more records are chosen than payloads are wanted, as a divisor: some are deleted, or
/// hold objects of a language.
const SPARE_DIVISOR: usize = 4;

/// How many bytes are asked for at once. A broker sends at least one whole batch, however long.
const FETCH_BYTES: std::ops::Range<i32> = 1..64 << 10;

/// How long a broker may wait for records, which are all there.
const FETCH_WAIT_MS: i32 = 100;

/// How many topics are named to a user who named none.
const TOPICS_SHOWN: usize = 10;

/// Offers what is stored to the taker.
pub(crate) fn read(
    address: &Address,
    options: &SampleOptions,
    taker: &mut Taker<'_>,
) -> Result<(), SampleError> {
    for (is_set, what) in [
        (options.query.is_some(), "Kafka has no queries; choose topics with --match 'orders-*'"),
        (options.replica, "partitions are read from their leaders; leave out --replica"),
    ] {
        if is_set {
            return Err(SampleError::Query {
                address: address.to_string(),
                reason: what.to_owned(),
            });
        }
    }
    let answers = Answers::new(address, options.timeout)?;
    let client = connect::connect(&answers, address, options)?;
    let mut partitions = Vec::new();
    for (topic, numbers) in topics(&answers, &client, address, options)? {
        for number in numbers {
            partitions.push(Partition::open(&answers, &client, &topic, number)?);
        }
    }
    let lengths: Vec<u64> = partitions.iter().map(Partition::length).collect();
    taker.stored(lengths.iter().sum());
    let wanted = options.count.saturating_add(options.count / SPARE_DIVISOR);
    let chosen = offsets::choose(&lengths, wanted, taker.random());
    for (partition, chosen) in partitions.iter().zip(chosen) {
        if taker.stopped() || !partition.read(&answers, &chosen, taker)? {
            break;
        }
    }
    Ok(())
}

/// The topics that the address or the pattern names, and their partitions.
fn topics(
    answers: &Answers<'_>,
    client: &Client,
    address: &Address,
    options: &SampleOptions,
) -> Result<Vec<(String, Vec<i32>)>, SampleError> {
    let found = answers.wait(client.list_topics())?;
    let named: Vec<&str> =
        address.path().trim_matches('/').split(',').filter(|name| !name.is_empty()).collect();
    let pattern = options.matching.as_deref().map(glob::Pattern::new).transpose();
    let pattern = pattern.map_err(|error| SampleError::Query {
        address: address.to_string(),
        reason: format!("--match is no pattern: {error}"),
    })?;
    let is_wanted = |name: &str| match (&pattern, named.is_empty()) {
        (None, _) => named.contains(&name),
        // What brokers keep for themselves is nobody's payload unless it is named.
        (Some(pattern), true) => !name.starts_with("__") && pattern.matches(name),
        (Some(pattern), false) => named.contains(&name) && pattern.matches(name),
    };
    let wanted: Vec<_> = found
        .iter()
        .filter(|topic| is_wanted(&topic.name))
        .map(|topic| (topic.name.clone(), topic.partitions.iter().copied().collect()))
        .collect();
    if wanted.is_empty() {
        let mut names: Vec<&str> = found.iter().map(|topic| topic.name.as_str()).collect();
        names.retain(|name| !name.starts_with("__"));
        names.sort_unstable();
        let more = if names.len() > TOPICS_SHOWN { " and more" } else { "" };
        names.truncate(TOPICS_SHOWN);
        let hint = match names.is_empty() {
            true => "there are no topics".to_owned(),
            false => format!(
                "name a topic, as in kafka://host:9092/TOPIC, or a pattern with --match; there are \
                 {}{more}",
                names.join(", ")
            ),
        };
        return Err(SampleError::NothingFound { address: address.to_string(), hint });
    }
    Ok(wanted)
}

/// A partition and the offsets of what it stores.
struct Partition {
    client: PartitionClient,
    name: String,
    first: i64,
    end: i64,
}

impl Partition {
    fn open(
        answers: &Answers<'_>,
        client: &Client,
        topic: &str,
        number: i32,
    ) -> Result<Partition, SampleError> {
        let client =
            answers.wait(client.partition_client(topic, number, UnknownTopicHandling::Error))?;
        let first = answers.wait(client.get_offset(OffsetAt::Earliest))?;
        let end = answers.wait(client.get_offset(OffsetAt::Latest))?;
        Ok(Partition { client, name: format!("{topic}:{number}"), first, end })
    }

    fn length(&self) -> u64 {
        u64::try_from(self.end - self.first).unwrap_or(0)
    }

    /// Offers the records at these places, counted from the first one and sorted; `false` where the
    /// taker wants no more. A place whose record was compacted away stands for the next record.
    fn read(
        &self,
        answers: &Answers<'_>,
        places: &[u64],
        taker: &mut Taker<'_>,
    ) -> Result<bool, SampleError> {
        let mut fetched: Vec<RecordAndOffset> = Vec::new();
        let mut offered_to = self.first;
        for place in places {
            let offset = (self.first + *place as i64).max(offered_to);
            if offset >= self.end {
                break;
            }
            if fetched.last().is_none_or(|last| last.offset < offset) {
                fetched =
                    answers.wait(self.client.fetch_records(offset, FETCH_BYTES, FETCH_WAIT_MS))?.0;
            }
            // Without a record here there is a mark of a transaction, which is no payload.
            let Some(found) = fetched.iter().find(|found| found.offset >= offset) else {
                continue;
            };
            offered_to = found.offset + 1;
            let flow = match &found.record.value {
                Some(value) => taker.offer(&format!("{}:{}", self.name, found.offset), value),
                None => taker.refuse("tombstone"),
            };
            if flow.is_break() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
