//! A reader: owns connections and reads from them, and does nothing else. What it reads goes into
//! chunks, and those to workers; it waits for none of them, only for sockets.
//!
//! Events are edge-triggered: a connection that became readable stays in a queue until a read finds
//! it empty, and every turn takes at most one read of each. So the time between two reads of a
//! connection is bounded by one read of every other one.

use std::collections::{HashMap, VecDeque};
use std::io::{self, ErrorKind};
use std::num::NonZeroU64;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;
use mio::{Events, Interest, Poll, Token, Waker};

use crate::chunk::{Chunk, Event};
use crate::config::{Address, Config, Protocol};
use crate::connection::{Connection, Mailbox, Peer, Request};
use crate::ingress::Shared;
use crate::limits::{ACCEPTS_PER_TURN, READ_BYTES_MAX, READ_BYTES_MIN};
use crate::rate::Rate;

mod datagrams;
mod ending;
mod pace;
mod ports;
mod transport;

use pace::PACE;
use ports::{Accepted, Port};
use transport::{Got, Transport};

const WAKER: Token = Token(0);

/// The tokens of listeners start here, those of connections behind them.
const FIRST_LISTENER: usize = 1;

/// Events that are taken from the system at once.
const EVENTS: usize = 1_024;

/// How long a chunk that is not full waits for its worker to have nothing else to do.
const PATIENCE: Duration = Duration::from_millis(1);

/// How long a reader without memory waits before it looks for some again, if nobody wakes it.
const STARVED_WAIT: Duration = Duration::from_millis(5);

/// How long an idle reader waits for events. It is woken for everything that matters.
const IDLE_WAIT: Duration = Duration::from_millis(500);

/// How long accepting rests when the process has no more file descriptors.
const ACCEPT_REST: Duration = Duration::from_millis(100);

struct Client {
    transport: Transport,
    connection: Arc<Connection>,
    /// What its client has sent, where that is limited.
    rate: Option<(NonZeroU64, Arc<Rate>)>,
    opened: Instant,
    last_read: Instant,
    /// When it was last read, or could not be because its pool had to wait.
    active: Instant,
    is_queued: bool,
    /// The other side has ended it: it is read to its end, since no further event will come.
    is_ending: bool,
    /// It was told what is wrong: what it still sends is thrown away, until then.
    discarded_until: Option<Instant>,
}

/// A reader.
pub struct Reader {
    shared: Arc<Shared>,
    number: usize,
    poll: Poll,
    mailbox: Arc<Mailbox>,
    ports: Vec<Port>,
    clients: Vec<Option<Client>>,
    vacant: Vec<usize>,
    by_id: HashMap<u64, usize>,
    ready: VecDeque<usize>,
    held: Vec<usize>,
    /// Those that are above a limit of bytes in a second, and when they were looked at last.
    paced: Vec<usize>,
    paced_looked: Instant,
    workers: Vec<Sender<Chunk>>,
    filling: Vec<Option<Chunk>>,
    accepting_rests_until: Option<Instant>,
    is_starved: bool,
    /// Somebody was read in this turn who may wait for an answer.
    is_awaited: bool,
    /// Datagrams wait for room.
    is_waiting: bool,
    /// Where bytes are taken to that are not records as they come: encrypted ones, datagrams whose
    /// sender is not known yet, and those that are thrown away.
    scratch: Box<[u8]>,
    swept: Instant,
}

/// A reader before the rest of the ingress exists: its sockets listen, nobody reads yet.
pub struct Bound {
    poll: Poll,
    /// Where it finds requests.
    pub mailbox: Arc<Mailbox>,
    ports: Vec<Port>,
}

/// Binds the sockets of reader `number`. With several readers every one has its own socket for each
/// address, and the system spreads connections over them.
///
/// # Errors
/// What the system says, with the place of the listener that it is about.
pub fn bind(config: &Config, number: usize) -> Result<Bound, (usize, io::Error)> {
    let poll = Poll::new().map_err(|error| (0, error))?;
    let waker = Waker::new(poll.registry(), WAKER).map_err(|error| (0, error))?;
    let mut ports: Vec<Port> = Vec::new();
    for (listener, settings) in config.listeners.iter().enumerate() {
        // A path has one socket, which the first reader has; gRPC has a thread of its own.
        let is_elsewhere = settings.protocol == Protocol::OtlpGrpc
            || number > 0 && !matches!(settings.address, Address::Tcp(_) | Address::Udp(_));
        if is_elsewhere {
            continue;
        }
        let token = Token(FIRST_LISTENER + ports.len());
        let port = Port::open(&settings.address, listener, config.readers > 1)
            .and_then(|mut port| port.register(&poll, token).map(|()| port));
        ports.push(port.map_err(|error| (listener, error))?);
    }
    Ok(Bound { poll, mailbox: Arc::new(Mailbox::new(waker)), ports })
}

impl Bound {
    /// The listeners that are listened on, and where: where the configuration said port 0, the port
    /// that the system chose.
    pub fn addresses(&self) -> Vec<(usize, Address)> {
        self.ports.iter().map(|port| (port.listener, port.address())).collect()
    }
}

impl Reader {
    /// Reader `number`, which hands chunks to these workers.
    pub fn new(
        shared: Arc<Shared>,
        number: usize,
        bound: Bound,
        workers: Vec<Sender<Chunk>>,
    ) -> Reader {
        let filling = workers.iter().map(|_| None).collect();
        Reader {
            shared,
            number,
            poll: bound.poll,
            mailbox: bound.mailbox,
            ports: bound.ports,
            clients: Vec::new(),
            vacant: Vec::new(),
            by_id: HashMap::new(),
            ready: VecDeque::new(),
            held: Vec::new(),
            paced: Vec::new(),
            paced_looked: Instant::now(),
            workers,
            filling,
            accepting_rests_until: None,
            is_starved: false,
            is_awaited: false,
            is_waiting: false,
            scratch: vec![0; READ_BYTES_MAX + 1].into_boxed_slice(),
            swept: Instant::now(),
        }
    }

    /// Reads until the ingress stops, and then what had arrived by then.
    ///
    /// # Errors
    /// When the system's event queue fails, which ends the ingress.
    pub fn run(mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(EVENTS);
        let mut polled = Instant::now();
        while !self.shared.is_stopping() {
            let (wait, asked) = (self.wait(), Instant::now());
            match self.poll.poll(&mut events, Some(wait)) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                result => result?,
            }
            let before = std::mem::replace(&mut polled, Instant::now());
            self.sort(&events);
            self.requests();
            self.accept();
            self.is_waiting = false;
            self.datagrams();
            self.resume_paced();
            self.turn(before);
            self.hand_over(false);
            self.sweep();
            self.rest(asked, polled);
        }
        self.drain()
    }

    /// How long nothing has to be done unless something happens.
    fn wait(&self) -> Duration {
        if self.is_starved {
            return STARVED_WAIT;
        }
        let has_more =
            |port: &Port| port.may_have_more && !(self.is_waiting && port.is_of_datagrams());
        if !self.ready.is_empty() || self.ports.iter().any(has_more) {
            return match self.accepting_rests_until {
                Some(_) if self.ready.is_empty() => ACCEPT_REST,
                _ => Duration::ZERO,
            };
        }
        if self.is_waiting {
            return STARVED_WAIT;
        }
        match self.filling.iter().any(Option::is_some) {
            true => PATIENCE,
            false if self.paced.is_empty() => IDLE_WAIT,
            false => PACE,
        }
    }

    fn sort(&mut self, events: &Events) {
        for event in events {
            let token = event.token().0;
            if event.token() == WAKER {
                continue;
            }
            match token.checked_sub(FIRST_LISTENER + self.ports.len()) {
                None => self.ports[token - FIRST_LISTENER].may_have_more = true,
                Some(slot) => {
                    if event.is_writable() && !self.answer(slot) {
                        self.remove(slot);
                        continue;
                    }
                    if let Some(Some(client)) = self.clients.get_mut(slot) {
                        client.is_ending |= event.is_read_closed() || event.is_error();
                    }
                    self.queue(slot);
                }
            }
        }
    }

    /// Queues a connection for the next turn, unless it is there already.
    fn queue(&mut self, slot: usize) {
        let Some(Some(client)) = self.clients.get_mut(slot) else { return };
        if !client.is_queued {
            client.is_queued = true;
            self.ready.push_back(slot);
        }
    }

    fn requests(&mut self) {
        for adopted in self.mailbox.take_adopted() {
            let transport = Transport::Unix(mio::net::UnixStream::from_std(adopted.stream));
            self.add(adopted.listener, transport, adopted.peer);
        }
        for request in self.mailbox.take() {
            let (Request::Close(id) | Request::Answer(id) | Request::Finish(id)) = request;
            let Some(slot) = self.by_id.get(&id).copied() else { continue };
            let has_taken = self.answer(slot);
            if !has_taken || request == Request::Close(id) {
                self.remove(slot);
            } else if request == Request::Finish(id) {
                self.finish(slot);
            }
        }
        if self.mailbox.take_resume() {
            // Those whose pool is still held come back here in their turn.
            for slot in std::mem::take(&mut self.held) {
                self.queue(slot);
            }
        }
    }

    /// Sends what is in the outbox as far as the socket takes it; false if it is broken.
    fn answer(&mut self, slot: usize) -> bool {
        let Some(Some(client)) = self.clients.get_mut(slot) else { return true };
        let mut outbox = client.connection.outbox.lock().unwrap_or_else(PoisonError::into_inner);
        while !outbox.is_empty() {
            match client.transport.write(&outbox) {
                Ok(count) => drop(outbox.drain(..count)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
        if outbox.is_empty() && client.discarded_until.is_some() {
            client.transport.end();
        }
        client.transport.flush().is_ok()
    }

    fn accept(&mut self) {
        if self.accepting_rests_until.is_some_and(|until| Instant::now() < until) {
            return;
        }
        self.accepting_rests_until = None;
        for port in 0..self.ports.len() {
            if self.ports[port].is_of_datagrams() {
                continue;
            }
            let mut left = ACCEPTS_PER_TURN;
            while self.ports[port].may_have_more && left > 0 {
                left -= 1;
                match self.ports[port].accept() {
                    Ok(Accepted { stream, peer }) => {
                        let listener = self.ports[port].listener;
                        match Transport::new(stream, &self.shared.config.listeners[listener]) {
                            Ok(transport) => self.add(listener, transport, peer),
                            Err(error) => self.shared.tell(format_args!("{peer}: {error}")),
                        }
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {
                        self.ports[port].may_have_more = false;
                    }
                    // These are about one connection, which was gone before it was accepted.
                    Err(error) if is_of_one_connection(&error) => {}
                    Err(error) => {
                        self.shared.tell(format_args!("connections wait: {error}"));
                        self.accepting_rests_until = Some(Instant::now() + ACCEPT_REST);
                        return;
                    }
                }
            }
        }
    }

    fn add(&mut self, listener: usize, mut transport: Transport, peer: Peer) {
        let metrics = &self.shared.metrics.listeners[listener];
        metrics.accepted.fetch_add(1, Ordering::Relaxed);
        let settings = &self.shared.config.listeners[listener];
        let client = settings.counts(peer.client());
        let has_room = (metrics.open.load(Ordering::Relaxed) < settings.connections_max as u64)
            && client.is_none_or(|client| {
                metrics.clients.takes_one_more(client, settings.client_connections_max)
            });
        if !has_room {
            metrics.turned_away.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let rate = client.and_then(|client| metrics.clients.rate(client));
        let rate = settings.client_rate_limit.zip(rate);
        let slot = self.vacant.pop().unwrap_or(self.clients.len());
        let token = Token(FIRST_LISTENER + self.ports.len() + slot);
        // The others are not answered and need no event for that.
        let interest = match settings.protocol.answers() || settings.tls.is_some() {
            true => Interest::READABLE | Interest::WRITABLE,
            false => Interest::READABLE,
        };
        if let Err(error) = self.poll.registry().register(transport.source(), token, interest) {
            self.vacant.push(slot);
            client.iter().for_each(|client| metrics.clients.gave_one_back(*client));
            self.shared.tell(format_args!("{peer} was not taken: {error}"));
            return;
        }
        metrics.open.fetch_add(1, Ordering::Relaxed);
        let connection = self.shared.connection(listener, self.number, peer);
        let id = connection.id;
        if slot == self.clients.len() {
            self.clients.push(None);
        }
        self.clients[slot] = Some(Client {
            transport,
            connection: Arc::clone(&connection),
            rate,
            opened: Instant::now(),
            last_read: Instant::now(),
            active: Instant::now(),
            is_queued: false,
            is_ending: false,
            discarded_until: None,
        });
        self.by_id.insert(id, slot);
        self.note(id, Event::Opened(connection));
        self.queue(slot);
    }

    /// Adds what happened to the chunk of the connection's worker. Where no chunk is free, one is
    /// waited for: what opened and closed must be told, and workers always give chunks back.
    fn note(&mut self, id: u64, event: Event) {
        let worker = self.worker(id);
        while self.filling[worker].is_none() {
            self.filling[worker] = self.shared.chunks.take();
            if self.filling[worker].is_none() {
                self.shared.wait_for_chunk();
            }
        }
        if let Some(chunk) = &mut self.filling[worker] {
            chunk.events.push(event);
        }
    }

    fn worker(&self, id: u64) -> usize {
        (id % self.workers.len() as u64) as usize
    }

    fn remove(&mut self, slot: usize) {
        let Some(mut client) = self.clients.get_mut(slot).and_then(Option::take) else { return };
        client.transport.end();
        // It is closed in a moment, which takes it out of the event queue in any case.
        let _deregistered = self.poll.registry().deregister(client.transport.source());
        let (id, listener) = (client.connection.id, client.connection.listener);
        let metrics = &self.shared.metrics.listeners[listener];
        metrics.open.fetch_sub(1, Ordering::Relaxed);
        let counted =
            self.shared.config.listeners[listener].counts(client.connection.peer.client());
        counted.iter().for_each(|client| metrics.clients.gave_one_back(*client));
        self.by_id.remove(&id);
        self.vacant.push(slot);
        drop(client);
        self.note(id, Event::Closed(id));
    }

    /// One read of every connection that is ready.
    fn turn(&mut self, polled_before: Instant) {
        (self.is_starved, self.is_awaited) = (false, false);
        for _ in 0..self.ready.len() {
            let Some(slot) = self.ready.pop_front() else { break };
            let Some(Some(client)) = self.clients.get_mut(slot) else { continue };
            client.is_queued = false;
            if let Some(wait) = self.has_to_wait(slot) {
                self.put_off(slot, wait);
                continue;
            }
            match self.read(slot, polled_before) {
                Outcome::More => self.queue(slot),
                Outcome::Empty => {}
                Outcome::Gone => self.remove(slot),
                Outcome::Starved => {
                    self.ready.push_front(slot);
                    if let Some(Some(client)) = self.clients.get_mut(slot) {
                        client.is_queued = true;
                    }
                    self.is_starved = true;
                    self.shared.metrics.starved_turns.fetch_add(1, Ordering::Relaxed);
                    break;
                }
            }
        }
        // A pool may have been let go between the look at it and the note that it is held.
        if !self.held.is_empty() && self.ready.is_empty() {
            let clients = &self.clients;
            let is_free = |slot: &usize| {
                let client = clients.get(*slot).and_then(Option::as_ref);
                let pool = client.and_then(|client| client.connection.pool.get());
                pool.is_none_or(|pool| !pool.is_to_wait())
            };
            let (free, held) = std::mem::take(&mut self.held).into_iter().partition(is_free);
            self.held = held;
            let free: Vec<usize> = free;
            free.into_iter().for_each(|slot| self.queue(slot));
        }
    }

    /// The chunk of this worker, with at least so much room, if there is memory for one.
    fn chunk(&mut self, worker: usize, room: usize) -> Option<&mut Chunk> {
        if self.filling[worker].as_ref().is_some_and(|chunk| chunk.room() < room) {
            let full = self.filling[worker].take();
            send(&self.workers[worker], full);
        }
        if self.filling[worker].is_none() {
            self.filling[worker] = self.shared.chunks.take();
        }
        self.filling[worker].as_mut()
    }

    fn read(&mut self, slot: usize, polled_before: Instant) -> Outcome {
        let Some(Some(client)) = self.clients.get(slot) else { return Outcome::Empty };
        if client.discarded_until.is_some() {
            return self.discard(slot);
        }
        let worker = self.worker(client.connection.id);
        let least = client.transport.room_least().unwrap_or(READ_BYTES_MIN);
        if self.chunk(worker, least).is_none() {
            return Outcome::Starved;
        }
        let (Some(chunk), Some(Some(client))) =
            (&mut self.filling[worker], self.clients.get_mut(slot))
        else {
            return Outcome::Starved;
        };
        let room = chunk.room().min(READ_BYTES_MAX);
        let start = chunk.used;
        let listener = client.connection.listener;
        self.is_awaited |= client.connection.is_answered;
        let metrics = &self.shared.metrics.listeners[listener];
        let got = client.transport.read(&mut chunk.bytes[start..start + room], &mut self.scratch);
        let (count, is_dry) = match got {
            Ok(Got::Bytes { count, is_dry }) => (count, is_dry),
            Ok(Got::End) => return Outcome::Gone,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Outcome::Empty,
            Err(error) if error.kind() == ErrorKind::Interrupted => return Outcome::More,
            Err(error) => {
                if error.kind() == ErrorKind::InvalidData {
                    metrics.handshakes_failed.fetch_add(1, Ordering::Relaxed);
                    let peer = &client.connection.peer;
                    self.shared.tell(format_args!("{peer} was closed: {error}"));
                }
                return Outcome::Gone;
            }
        };
        let now = Instant::now();
        if count > 0 {
            chunk.add_read(&client.connection, count);
            if let Some((limit, rate)) = &client.rate {
                rate.take(*limit, count);
            }
            // The bytes may have lain there since the events before were asked for, unless the
            // connection was read after that.
            let since = now - client.last_read.max(polled_before);
            metrics.read_interval.add(since);
            metrics.reads.fetch_add(1, Ordering::Relaxed);
            metrics.read_bytes.fetch_add(count as u64, Ordering::Relaxed);
        }
        (client.last_read, client.active) = (now, now);
        // A socket that is empty gives an event for the next bytes; the system takes back the wish
        // for acknowledgements at once.
        if is_dry && !client.is_ending {
            client.transport.quick_acknowledgements();
            Outcome::Empty
        } else {
            Outcome::More
        }
    }

    /// Hands chunks over whose worker has nothing to do, or all of them.
    fn hand_over(&mut self, all: bool) {
        for (worker, chunk) in self.workers.iter().zip(&mut self.filling) {
            let waits = |chunk: &Chunk| chunk.since.elapsed() >= PATIENCE;
            if all || worker.is_empty() && chunk.as_ref().is_some_and(waits) {
                send(worker, chunk.take());
            }
        }
    }

    /// Reads what had arrived when the ingress was told to stop, and closes everything.
    fn drain(mut self) -> io::Result<()> {
        let deadline = Instant::now() + self.shared.drain_time;
        self.last_datagrams(deadline);
        self.ports.clear();
        let slots: Vec<usize> = (0..self.clients.len()).collect();
        slots.into_iter().for_each(|slot| self.queue(slot));
        while !self.ready.is_empty() && Instant::now() < deadline {
            self.requests();
            self.turn(Instant::now());
            self.hand_over(self.is_starved);
            if self.is_starved {
                self.shared.wait_for_chunk();
            }
        }
        for slot in 0..self.clients.len() {
            self.remove(slot);
        }
        self.hand_over(true);
        Ok(())
    }
}

/// What a read came to.
enum Outcome {
    /// There may be more.
    More,
    /// There is no more at present.
    Empty,
    /// The connection has ended.
    Gone,
    /// There is no memory to read into.
    Starved,
}

fn send(worker: &Sender<Chunk>, chunk: Option<Chunk>) {
    // The channel has room for every chunk there is, and its worker takes them until we are gone.
    if let Some(chunk) = chunk {
        let _sent = worker.send(chunk);
    }
}

fn is_of_one_connection(error: &io::Error) -> bool {
    use ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, PermissionDenied};
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted | PermissionDenied)
}
