//! A topic of Kafka: every batch is a message, with the bytes that it would have in a file, so that
//! `zstd -dc` prints its text and `cinch logs` knows one that comes twice.
//!
//! The producer is idempotent and has no time limit: while a broker is gone, messages stay with
//! librdkafka, the batches stay in the ring, and what the ring has no room for goes where its pool
//! says. A batch is written when all replicas in sync have it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crossbeam_channel::{RecvTimeoutError, Sender};
use rdkafka::client::ClientContext;
use rdkafka::config::{ClientConfig, RDKafkaLogLevel};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::{Header, OwnedHeaders};
use rdkafka::producer::{
    BaseRecord, DeliveryResult, Producer as _, ProducerContext, PurgeConfig, ThreadedProducer,
};

use super::{SinkError, Target, Written, group_of};
use crate::config::{KafkaKey, KafkaSettings};
use crate::ingress::Shared;
use crate::limits::{FLIGHT_BYTES, MESSAGE_BYTES_MAX};
use crate::ring::{Batch, Group, Taken};

/// How often a wait for a broker looks whether it is over.
const TICK: Duration = Duration::from_millis(50);

/// The longest that librdkafka waits before it connects anew: a broker that comes back should not
/// be waited for.
const RECONNECT_MS_MAX: &str = "1000";

/// Takes the word of librdkafka and hands it on: of each message what became of it, and of the
/// brokers what the operator should know.
pub(crate) struct Context {
    shared: Arc<Shared>,
    number: usize,
    sink: String,
}

/// Where the outcome of a message goes: its place in its group, and the outcome.
pub(crate) type Delivery = (usize, Sender<(usize, Result<(), KafkaError>)>);

impl ClientContext for Context {
    /// What is worth telling comes through `error`.
    fn log(&self, _: RDKafkaLogLevel, _: &str, _: &str) {}

    fn error(&self, _: KafkaError, reason: &str) {
        self.shared.metrics.sinks[self.number].failures.fetch_add(1, Ordering::Relaxed);
        self.shared.tell(format_args!("sink {}: {reason}", self.sink));
    }
}

impl ProducerContext for Context {
    type DeliveryOpaque = Box<Delivery>;

    fn delivery(&self, result: &DeliveryResult<'_>, delivery: Box<Delivery>) {
        let (place, sender) = *delivery;
        let result = result.as_ref().map(|_| ()).map_err(|(error, _)| error.clone());
        // Whoever waited for it has given up; there is nobody to tell.
        let _told = sender.send((place, result));
    }
}

/// A message before it is sent.
pub(crate) struct Message<'a> {
    pub(crate) key: &'a str,
    pub(crate) value: &'a [u8],
    pub(crate) timestamp_ms: i64,
    pub(crate) headers: OwnedHeaders,
}

/// A producer of one topic, made anew when it has failed for good.
pub(crate) struct Producer {
    settings: KafkaSettings,
    shared: Arc<Shared>,
    number: usize,
    producer: ThreadedProducer<Context>,
}

impl Producer {
    /// Connects to nothing yet: brokers may be gone at the start as at any other time.
    pub(crate) fn open(
        settings: &KafkaSettings,
        shared: &Arc<Shared>,
        number: usize,
    ) -> Result<Producer, SinkError> {
        let producer = create(settings, shared, number)?;
        Ok(Producer { settings: settings.clone(), shared: Arc::clone(shared), number, producer })
    }

    pub(crate) fn place(&self) -> String {
        format!("topic {} at {}", self.settings.topic, self.settings.brokers)
    }

    /// Sends messages and waits until each has been taken or refused: of how many, from the first
    /// on, that is so, and what became of the next one.
    pub(crate) fn send(
        &mut self,
        messages: &[Message],
        is_over: &dyn Fn() -> bool,
    ) -> (usize, Option<SinkError>) {
        let (sender, answers) = crossbeam_channel::bounded(messages.len());
        let mut outcomes: Vec<Option<Result<(), KafkaError>>> = vec![None; messages.len()];
        let mut waiting = 0;
        for (place, message) in messages.iter().enumerate() {
            match self.enqueue(message, Box::new((place, sender.clone())), is_over) {
                Ok(()) => waiting += 1,
                Err(error) => {
                    outcomes[place] = Some(Err(error));
                    break;
                }
            }
        }
        while waiting > 0 {
            match answers.recv_timeout(TICK) {
                Ok((place, outcome)) => {
                    outcomes[place] = Some(outcome);
                    waiting -= 1;
                }
                Err(RecvTimeoutError::Timeout) if is_over() => break,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let is_taken = |outcome: &&Option<Result<(), KafkaError>>| matches!(outcome, Some(Ok(())));
        let taken = outcomes.iter().take_while(is_taken).count();
        if taken == messages.len() {
            return (taken, None);
        }
        let failure = outcomes.swap_remove(taken).and_then(Result::err);
        // What is behind a failed message is sent again with it, in its order.
        self.producer.purge(PurgeConfig::default().queue().inflight());
        let error = self.explain(failure);
        if let Some((_, reason)) = self.producer.client().fatal_error() {
            self.shared.tell(format_args!("{}: begins anew: {reason}", self.place()));
            match create(&self.settings, &self.shared, self.number) {
                Ok(producer) => self.producer = producer,
                Err(error) => return (taken, Some(error)),
            }
        }
        (taken, Some(error))
    }

    /// Puts a message into librdkafka's queue, and waits while that is full.
    fn enqueue(
        &self,
        message: &Message,
        delivery: Box<Delivery>,
        is_over: &dyn Fn() -> bool,
    ) -> Result<(), KafkaError> {
        let mut record = BaseRecord::with_opaque_to(&self.settings.topic, delivery)
            .key(message.key)
            .payload(message.value)
            .timestamp(message.timestamp_ms)
            .headers(message.headers.clone());
        loop {
            match self.producer.send(record) {
                Ok(()) => return Ok(()),
                Err((error, unsent)) => {
                    let is_full = error.rdkafka_error_code() == Some(RDKafkaErrorCode::QueueFull);
                    if !is_full || is_over() {
                        return Err(error);
                    }
                    record = unsent;
                    self.producer.poll(TICK);
                }
            }
        }
    }

    fn explain(&self, failure: Option<KafkaError>) -> SinkError {
        use RDKafkaErrorCode::{
            InvalidMessage, InvalidMessageSize, InvalidRecord, MessageSizeTooLarge,
        };
        let place = self.place();
        let Some(failure) = failure else { return SinkError::Stopped { place } };
        let code = failure.rdkafka_error_code();
        let message = code.map_or_else(|| failure.to_string(), |code| code.to_string());
        match code {
            Some(InvalidMessage | InvalidMessageSize | InvalidRecord | MessageSizeTooLarge) => {
                SinkError::Refused { place, message }
            }
            _ => SinkError::Remote { place, message },
        }
    }
}

fn create(
    settings: &KafkaSettings,
    shared: &Arc<Shared>,
    number: usize,
) -> Result<ThreadedProducer<Context>, SinkError> {
    let mut config = ClientConfig::new();
    config
        .set("client.id", "cinch")
        // What Java's producers do with the same key.
        .set("partitioner", "murmur2_random")
        .set("linger.ms", "0")
        .set("reconnect.backoff.max.ms", RECONNECT_MS_MAX);
    for (key, value) in &settings.options {
        config.set(key, value);
    }
    let queue_kb = (2 * FLIGHT_BYTES.max(MESSAGE_BYTES_MAX)) >> 10;
    config
        .set("bootstrap.servers", &settings.brokers)
        .set("enable.idempotence", "true")
        // A time limit would take messages away that may have been written.
        .set("message.timeout.ms", "0")
        .set("message.max.bytes", MESSAGE_BYTES_MAX.to_string())
        .set("queue.buffering.max.kbytes", queue_kb.to_string());
    let sink = shared.config.sinks[number].name.clone();
    let context = Context { shared: Arc::clone(shared), number, sink };
    config.create_with_context(context).map_err(|error| SinkError::Remote {
        place: format!("kafka at {}", settings.brokers),
        message: error.to_string(),
    })
}

/// A topic of batches.
pub(super) struct Topic {
    producer: Producer,
    key: KafkaKey,
    workers: u64,
    group: Group,
}

impl Topic {
    pub(super) fn open(
        settings: &KafkaSettings,
        shared: &Arc<Shared>,
        number: usize,
    ) -> Result<Topic, SinkError> {
        let producer = Producer::open(settings, shared, number)?;
        let group = group_of(FLIGHT_BYTES, shared.budget.ring, Duration::ZERO);
        let workers = shared.config.workers.max(1) as u64;
        Ok(Topic { producer, key: settings.key, workers, group })
    }

    fn key(&self, batch: &Batch) -> String {
        let pool = &batch.pool.name;
        match self.key {
            KafkaKey::Pool => pool.clone(),
            // Sequences are dealt out to the workers in turn.
            KafkaKey::Worker => format!("{pool}#{}", batch.head.sequence % self.workers),
        }
    }
}

fn headers(batch: &Batch) -> OwnedHeaders {
    let head = &batch.head;
    let rows = [
        ("pool", batch.pool.name.clone()),
        ("instance", format!("{:016x}", head.instance)),
        ("sequence", head.sequence.to_string()),
        ("records", head.records.to_string()),
        ("text_bytes", head.text_bytes.to_string()),
        ("first_ms", head.first_ms.to_string()),
        ("last_ms", head.last_ms.to_string()),
        ("content-encoding", "zstd".to_owned()),
        ("form", if head.is_columnar() { "columnar" } else { "plain" }.to_owned()),
    ];
    let headers = OwnedHeaders::new_with_capacity(rows.len());
    rows.iter()
        .fold(headers, |headers, (key, value)| headers.insert(Header { key, value: Some(value) }))
}

impl Target for Topic {
    fn group(&self) -> Group {
        self.group
    }

    fn write(&mut self, batch: &Batch, bytes: &[u8]) -> Result<(), SinkError> {
        let taken = Taken { batch: batch.clone(), bytes: bytes.to_vec().into() };
        self.write_group(&[taken], &|| false).error.map_or(Ok(()), Err)
    }

    fn write_group(&mut self, group: &[Taken], is_over: &dyn Fn() -> bool) -> Written {
        let keys: Vec<String> = group.iter().map(|taken| self.key(&taken.batch)).collect();
        let mut messages = Vec::with_capacity(group.len());
        for (taken, key) in group.iter().zip(&keys) {
            let timestamp_ms = i64::try_from(taken.batch.head.last_ms).unwrap_or(i64::MAX);
            let headers = headers(&taken.batch);
            messages.push(Message { key, value: &taken.bytes, timestamp_ms, headers });
        }
        let (batches, error) = self.producer.send(&messages, is_over);
        Written { batches, error }
    }
}
