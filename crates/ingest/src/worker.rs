//! A worker: takes chunks in the order in which its connections were read, cuts records, counts
//! metrics, fills batches, compresses them and puts them before their sink. A connection belongs to
//! one worker for its life, which is what keeps its order.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crossbeam_channel::{Receiver, RecvTimeoutError};

use crate::acknowledge::Receipt;
use crate::batch::{OpenBatch, Sealer};
use crate::chunk::{Chunk, Event};
use crate::connection::{Connection, Request};
use crate::ingress::Shared;
use crate::metric::Rules;
use crate::pool::DropReason;
use crate::ring::Batch;

mod cal;
mod client;
mod forward;
mod http;
mod native;

pub(crate) use cal::CalRun;
use client::Client;

/// How often a worker without chunks looks for batches that have waited long enough.
const TICK: Duration = Duration::from_millis(10);

/// The most connections that are forgotten at once, as a map's spare room is given back.
const SPARE_CLIENTS: usize = 1_024;

/// A worker.
pub struct Worker {
    shared: Arc<Shared>,
    number: usize,
    chunks: Receiver<Chunk>,
    clients: HashMap<u64, Client>,
    filling: Filling,
    part_bytes: usize,
}

/// The batches that are being filled, and what it takes to fill them.
pub(crate) struct Filling {
    shared: Arc<Shared>,
    pub(crate) rules: Rules,
    sealer: Sealer,
    /// By the pool's number.
    open: Vec<Option<OpenBatch>>,
    open_bytes: usize,
    pub(crate) cal: CalRun,
    /// Why what is being cut is above what its pool may have, if it is.
    pub(crate) over: Option<DropReason>,
    pub(crate) now: Instant,
    pub(crate) now_ms: u64,
}

impl Worker {
    /// Worker `number`, which takes the chunks from there.
    pub fn new(shared: Arc<Shared>, number: usize, chunks: Receiver<Chunk>) -> Worker {
        let workers = shared.config.workers;
        let rules = Rules::new(Arc::clone(&shared.windows));
        let filling = Filling {
            rules,
            sealer: Sealer::new(shared.instance, number, workers),
            open: Vec::new(),
            open_bytes: 0,
            cal: CalRun::default(),
            over: None,
            now: Instant::now(),
            now_ms: 0,
            shared: Arc::clone(&shared),
        };
        Worker { shared, number, chunks, clients: HashMap::new(), filling, part_bytes: 0 }
    }

    /// Works until no chunk will come any more.
    pub fn run(mut self) {
        let mut looked = Instant::now();
        loop {
            let chunk = self.chunks.recv_timeout(TICK);
            self.filling.set_time();
            match chunk {
                Ok(chunk) => {
                    self.shared.metrics.queue_time.add(self.filling.now - chunk.since);
                    self.take(&chunk);
                    self.shared.chunks.give_back(chunk);
                    self.shared.wake_if_starved();
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if looked.elapsed() >= TICK {
                looked = Instant::now();
                self.filling.seal_overdue();
            }
        }
        let left: Vec<u64> = self.clients.keys().copied().collect();
        left.into_iter().for_each(|id| self.close(id));
        self.filling.seal_all();
        self.filling.rules.finish();
    }

    fn take(&mut self, chunk: &Chunk) {
        for event in &chunk.events {
            match event {
                Event::Opened(connection) => {
                    self.open(connection);
                }
                Event::Read { connection, start, end, pool, over } => {
                    self.filling.over = *over;
                    self.read(*connection, chunk.read(*start, *end));
                    self.filling.over = None;
                    let length = (end - start) as usize;
                    if pool.as_ref().is_some_and(|pool| pool.dequeued(length)) {
                        self.shared.mailboxes.iter().for_each(|mailbox| mailbox.resume());
                    }
                }
                Event::Closed(connection) => self.close(*connection),
            }
        }
    }

    fn open(&mut self, connection: &Arc<Connection>) {
        let listener = &self.shared.config.listeners[connection.listener];
        let client = Client::new(Arc::clone(connection), listener, &self.shared);
        let opened = client.and_then(|mut client| {
            if let Some(name) = client.own_pool() {
                client.set_pool(self.shared.pools.named(&name), String::new())?;
            }
            Ok(client)
        });
        let client = match opened {
            Ok(client) => client,
            Err(error) => {
                let metrics = &self.shared.metrics.listeners[connection.listener];
                metrics.turned_away.fetch_add(1, Ordering::Relaxed);
                let peer = &connection.peer;
                self.shared.tell(format_args!("{peer} was closed: {error}"));
                let mailbox = &self.shared.mailboxes[connection.reader];
                return mailbox.send(Request::Close(connection.id));
            }
        };
        self.part_bytes += client.part_bytes();
        self.clients.insert(connection.id, client);
    }

    fn read(&mut self, id: u64, bytes: &[u8]) {
        // A connection that was given up is not there any more, but may have been read since.
        let Some(client) = self.clients.get_mut(&id) else { return };
        let before = client.part_bytes();
        let result = client.take(bytes, &mut self.filling, &self.shared);
        self.part_bytes = self.part_bytes + client.part_bytes() - before;
        let listener = &self.shared.metrics.listeners[client.connection.listener];
        if let Err(error) = result {
            listener.refused.fetch_add(1, Ordering::Relaxed);
            let peer = &client.connection.peer;
            self.shared.tell(format_args!("{peer} was closed: {error}"));
            self.give_up(id, error.was_answered());
        } else if self.part_bytes > self.shared.budget.parts {
            listener.starved.fetch_add(1, Ordering::Relaxed);
            let peer = &client.connection.peer;
            self.shared.tell(format_args!("{peer} was closed: no memory for incomplete records"));
            self.give_up(id, false);
        }
    }

    fn give_up(&mut self, id: u64, was_answered: bool) {
        let Some(client) = self.clients.remove(&id) else { return };
        self.part_bytes -= client.part_bytes();
        client.leave_pool();
        let reader = client.connection.reader;
        let request = if was_answered { Request::Finish(id) } else { Request::Close(id) };
        self.shared.mailboxes[reader].send(request);
    }

    fn close(&mut self, id: u64) {
        let Some(mut client) = self.clients.remove(&id) else { return };
        self.part_bytes -= client.part_bytes();
        if client.finish(&mut self.filling) {
            let listener = &self.shared.metrics.listeners[client.connection.listener];
            listener.cut_off.fetch_add(1, Ordering::Relaxed);
        }
        if self.clients.capacity() > self.clients.len() * 4 + SPARE_CLIENTS {
            self.clients.shrink_to(self.clients.len() * 2);
        }
        debug_assert!(self.number < self.shared.config.workers);
    }
}

impl Filling {
    fn set_time(&mut self) {
        self.now = Instant::now();
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.now_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        self.rules.at(since.as_secs());
    }

    /// The batch that records of this pool go to, with the time noted.
    pub(crate) fn batch(&mut self, pool: &Arc<crate::pool::Pool>) -> &mut OpenBatch {
        if self.open.len() <= pool.number {
            self.open.resize_with(pool.number + 1, || None);
        }
        let (now, now_ms) = (self.now, self.now_ms);
        let batch = self.open[pool.number].get_or_insert_with(|| OpenBatch::new(Arc::clone(pool)));
        if batch.records == 0 {
            (batch.opened, batch.first_ms) = (now, now_ms);
        }
        batch.last_ms = now_ms;
        batch
    }

    /// Notes that this many bytes were added to the batch of this pool, and seals it if it is full.
    /// Too much text in all batches seals the largest.
    pub(crate) fn added(&mut self, number: usize, bytes: usize) {
        self.open_bytes += bytes;
        let is_full = self.open[number]
            .as_ref()
            .is_some_and(|batch| batch.text.len() >= batch.pool.settings.load().batch_bytes);
        if is_full {
            self.seal(number);
        }
        while self.open_bytes > self.shared.budget.open {
            let length = |batch: &Option<OpenBatch>| batch.as_ref().map_or(0, |b| b.text.len());
            let largest = (0..self.open.len()).max_by_key(|&index| length(&self.open[index]));
            let Some(largest) = largest.filter(|&index| length(&self.open[index]) > 0) else {
                return;
            };
            self.seal(largest);
        }
    }

    fn seal_overdue(&mut self) {
        for number in 0..self.open.len() {
            let is_overdue = self.open[number].as_ref().is_some_and(|batch| {
                let linger = Duration::from_millis(batch.pool.settings.load().linger_ms);
                batch.records > 0 && self.now.duration_since(batch.opened) >= linger
            });
            if is_overdue {
                self.seal(number);
            }
        }
    }

    fn seal_all(&mut self) {
        (0..self.open.len()).for_each(|number| self.seal(number));
    }

    fn seal(&mut self, number: usize) {
        let Some(batch) = self.open[number].as_mut().filter(|batch| batch.records > 0) else {
            return;
        };
        self.open_bytes -= batch.text.len();
        let (records, bytes) = (batch.records as u64, batch.text.len() as u64);
        let pool = Arc::clone(&batch.pool);
        let receipts = std::mem::take(&mut batch.receipts);
        let (is_hurried, is_promised) = (batch.is_hurried, batch.is_promised);
        (batch.is_hurried, batch.is_promised) = (false, false);
        let head = match self.sealer.seal(batch) {
            Ok(head) => head,
            Err(error) => {
                pool.dropped(DropReason::Compressor, records, bytes);
                self.shared.tell(format_args!("pool {}: {error}", pool.name));
                batch.text.clear();
                batch.records = 0;
                receipts.iter().for_each(Receipt::refuse);
                return;
            }
        };
        let counters = &pool.counters;
        counters.batches.fetch_add(1, Ordering::Relaxed);
        counters.columnar_batches.fetch_add(u64::from(head.is_columnar()), Ordering::Relaxed);
        counters.compressed_bytes.fetch_add(u64::from(head.frame_bytes), Ordering::Relaxed);
        let parts = [&self.sealer.head[..], &self.sealer.frame[..]];
        let receipts = receipts.into();
        self.shared.put(Batch { pool, head, receipts, is_promised, is_hurried }, &parts);
    }
}
