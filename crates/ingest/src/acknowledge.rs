//! Acknowledgements: how a client hears that its batch has come as far as it asked for, or that it
//! has to send it again. What was acknowledged is never dropped; what is dropped was not
//! acknowledged, and its client is told.

use std::collections::{HashMap, VecDeque};
use std::fmt::{Debug, Display};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cinch_wire::forward;
use cinch_wire::native::{Durability, Server};

use crate::connection::{Connection, Mailbox, Request};
use crate::limits::{CLIENTS_KNOWN_MAX, HTTP_ANSWER_BYTES_MAX, OUTBOX_BYTES_MAX};

/// When a client whose batch was dropped is to send it again, in milliseconds.
const RETRY_AFTER_MS: u32 = 500;

/// A client that waits for word of what it sent, in the words of its protocol.
pub trait Recipient: Debug + Send + Sync {
    /// Its batches up to this one have come this far.
    fn reached(&self, stage: Durability, sequence: u64);
    /// This batch was not taken, nor is what stands behind it.
    fn not_now(&self, sequence: u64);
    /// Whether its batches are acknowledged as soon as they are in memory.
    fn promises(&self) -> bool;
}

/// What a batch of the pipeline holds of one connection.
#[derive(Debug, Clone)]
pub struct Receipt {
    /// The connection.
    pub peer: Arc<dyn Recipient>,
    /// The first of its batches.
    pub first: u64,
    /// The last of them.
    pub last: u64,
}

impl Receipt {
    /// The batch has come this far.
    pub fn reached(&self, stage: Durability) {
        self.peer.reached(stage, self.last);
    }

    /// The batch was dropped.
    pub fn refuse(&self) {
        self.peer.not_now(self.first);
    }
}

/// The server's end of a native connection, which its worker and the writers share.
#[derive(Debug)]
pub struct NativePeer {
    connection: Arc<Connection>,
    mailbox: Arc<Mailbox>,
    state: Mutex<State>,
    known: Arc<KnownClients>,
}

#[derive(Debug)]
struct State {
    server: Server,
    durability: Durability,
    /// Tickets and sequences of the batches that were taken and not acknowledged, in order. A
    /// batch that was put off and comes again has another ticket, so that word of what was first
    /// taken of it does not stand for what was taken later. The window bounds their number.
    taken: VecDeque<(u64, u64)>,
    tickets: u64,
    /// A batch was put off since the worker last asked.
    was_put_off: bool,
}

impl State {
    /// The sequence of the batch that has this ticket, if it was not put off since.
    fn sequence(&self, ticket: u64) -> Option<u64> {
        let found = self.taken.iter().find(|(number, _)| *number == ticket);
        found.map(|(_, sequence)| *sequence)
    }
}

/// The last batch of each client that was acknowledged, so that one which comes again on a new
/// connection is not stored again.
#[derive(Debug, Default)]
pub struct KnownClients {
    acknowledged: Mutex<HashMap<[u8; 16], u64>>,
}

impl KnownClients {
    fn lock(&self) -> MutexGuard<'_, HashMap<[u8; 16], u64>> {
        self.acknowledged.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, client: [u8; 16], sequence: u64) {
        let mut known = self.lock();
        if known.len() >= CLIENTS_KNOWN_MAX && !known.contains_key(&client) {
            // Those who are forgotten are stored again at worst, which the protocol allows.
            known.clear();
        }
        let last = known.entry(client).or_insert(0);
        *last = sequence.max(*last);
    }
}

impl NativePeer {
    /// A connection that has sent nothing yet.
    pub fn new(
        connection: Arc<Connection>,
        mailbox: Arc<Mailbox>,
        known: Arc<KnownClients>,
        server: Server,
    ) -> NativePeer {
        let state = State {
            server,
            durability: Durability::Received,
            taken: VecDeque::new(),
            tickets: 0,
            was_put_off: false,
        };
        NativePeer { connection, mailbox, state: Mutex::new(state), known }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the machine do something and sends what it answers.
    pub fn with_server<T>(&self, act: impl FnOnce(&mut Server, &mut Vec<u8>) -> T) -> T {
        let mut answer = Vec::new();
        let result = act(&mut self.lock().server, &mut answer);
        self.send(&answer);
        result
    }

    /// Welcomes the client, whose hello has come. Acknowledgements stand for what it asked for, or
    /// for `least` if that is more.
    pub fn welcome(&self, least: Durability) {
        let mut state = self.lock();
        let Some(hello) = state.server.hello().cloned() else { return };
        state.durability = hello.durability.max(least);
        let acknowledged = self.known.lock().get(&hello.client_id).copied().unwrap_or(0);
        let (durability, mut answer) = (state.durability, Vec::new());
        state.server.welcome(durability, acknowledged, &mut answer);
        drop(state);
        self.send(&answer);
    }

    /// A batch was taken: the number by which the pipeline speaks of it.
    pub fn takes(&self, sequence: u64) -> u64 {
        let mut state = self.lock();
        state.tickets += 1;
        let ticket = state.tickets;
        state.taken.push_back((ticket, sequence));
        ticket
    }

    /// Whether a batch was put off since this was last asked: what the same scan has handed out
    /// behind it is to be passed over.
    pub fn was_put_off(&self) -> bool {
        std::mem::take(&mut self.lock().was_put_off)
    }

    /// Tells the client why its connection is closed.
    pub fn refuse(&self, reason: &impl Display) {
        self.with_server(|server, answer| server.refuse(reason, answer));
    }

    fn send(&self, answer: &[u8]) {
        answer_with(&self.connection, &self.mailbox, answer);
    }
}

impl Recipient for NativePeer {
    fn reached(&self, stage: Durability, ticket: u64) {
        let mut state = self.lock();
        if stage < state.durability {
            return;
        }
        let Some(sequence) = state.sequence(ticket) else { return };
        // Batches of a connection come to stay in their order.
        state.taken.retain(|(_, other)| *other > sequence);
        let mut answer = Vec::new();
        state.server.acknowledge(sequence, &mut answer);
        let client = state.server.hello().map(|hello| hello.client_id);
        drop(state);
        if let Some(client) = client.filter(|_| !answer.is_empty()) {
            self.known.note(client, sequence);
        }
        self.send(&answer);
    }

    fn not_now(&self, ticket: u64) {
        let mut state = self.lock();
        state.was_put_off = true;
        let Some(sequence) = state.sequence(ticket) else { return };
        state.taken.retain(|(_, other)| *other < sequence);
        let mut answer = Vec::new();
        state.server.not_now(sequence, RETRY_AFTER_MS, &mut answer);
        drop(state);
        self.send(&answer);
    }

    fn promises(&self) -> bool {
        self.lock().durability == Durability::Received
    }
}

/// A sender of the forward protocol, which names its chunks and waits for each name.
#[derive(Debug)]
pub struct ForwardPeer {
    connection: Arc<Connection>,
    mailbox: Arc<Mailbox>,
    least: Durability,
    /// Numbers of ours, and the names of the chunks, oldest first.
    chunks: Mutex<VecDeque<(u64, Vec<u8>)>>,
}

impl ForwardPeer {
    /// A connection whose chunks are acknowledged when they have come this far.
    pub fn new(
        connection: Arc<Connection>,
        mailbox: Arc<Mailbox>,
        least: Durability,
    ) -> ForwardPeer {
        ForwardPeer { connection, mailbox, least, chunks: Mutex::new(VecDeque::new()) }
    }

    /// A chunk of this name has come, which is to be acknowledged.
    pub fn expects(&self, sequence: u64, chunk: &[u8]) {
        let mut chunks = self.chunks.lock().unwrap_or_else(PoisonError::into_inner);
        chunks.push_back((sequence, chunk.to_vec()));
    }

    /// A chunk without events has come to stay as far as it ever will.
    pub fn acknowledge(&self, chunk: &[u8]) {
        let mut answer = Vec::new();
        forward::acknowledge(chunk, &mut answer);
        self.send(&answer);
    }

    /// Sends what the machine answers.
    pub fn send(&self, answer: &[u8]) {
        answer_with(&self.connection, &self.mailbox, answer);
    }
}

impl Recipient for ForwardPeer {
    fn reached(&self, stage: Durability, sequence: u64) {
        if stage < self.least {
            return;
        }
        let mut chunks = self.chunks.lock().unwrap_or_else(PoisonError::into_inner);
        let mut answer = Vec::new();
        while let Some((_, chunk)) = chunks.pop_front_if(|(number, _)| *number <= sequence) {
            forward::acknowledge(&chunk, &mut answer);
        }
        drop(chunks);
        self.send(&answer);
    }

    /// The protocol has no word for it: a sender whose connection ends sends again.
    fn not_now(&self, _: u64) {
        self.mailbox.send(Request::Close(self.connection.id));
    }

    fn promises(&self) -> bool {
        self.least == Durability::Received
    }
}

/// A client of HTTP, which waits for the answer to each of its requests, in their order.
#[derive(Debug)]
pub struct HttpPeer {
    connection: Arc<Connection>,
    mailbox: Arc<Mailbox>,
    least: Durability,
    requests: Mutex<VecDeque<HttpRequest>>,
}

#[derive(Debug)]
struct HttpRequest {
    sequence: u64,
    /// What is answered when all goes well.
    answer: Vec<u8>,
    is_ready: bool,
    /// The connection ends with the answer.
    is_last: bool,
}

/// What a client is told whose records were dropped.
const COME_AGAIN: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n";

impl HttpPeer {
    /// A connection whose requests are answered when their records have come this far.
    pub fn new(connection: Arc<Connection>, mailbox: Arc<Mailbox>, least: Durability) -> HttpPeer {
        HttpPeer { connection, mailbox, least, requests: Mutex::new(VecDeque::new()) }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<HttpRequest>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many requests wait for their answer.
    pub fn waiting(&self) -> usize {
        self.lock().len()
    }

    /// A request has come, which is to be answered with this in its turn. Whether it is the last.
    pub fn expects(&self, sequence: u64, answer: Vec<u8>, is_last: bool) {
        self.connection.waits.fetch_add(1, Ordering::AcqRel);
        self.lock().push_back(HttpRequest { sequence, answer, is_ready: false, is_last });
    }

    /// Answers a request with something else.
    pub fn answer(&self, sequence: u64, answer: &[u8]) {
        self.settle(|request| {
            if request.sequence == sequence {
                (request.answer, request.is_ready) = (answer.to_vec(), true);
            }
        });
    }

    /// Tells a client that waits for it to send the body.
    pub fn promise(&self) {
        answer_with(&self.connection, &self.mailbox, b"HTTP/1.1 100 Continue\r\n\r\n");
    }

    fn settle(&self, mut decide: impl FnMut(&mut HttpRequest)) {
        let mut requests = self.lock();
        requests.iter_mut().filter(|request| !request.is_ready).for_each(&mut decide);
        let (mut answer, mut is_over) = (Vec::new(), false);
        while let Some(mut request) = requests.pop_front_if(|request| request.is_ready) {
            answer.append(&mut request.answer);
            is_over |= request.is_last;
            self.connection.waits.fetch_sub(1, Ordering::AcqRel);
        }
        // The next to settle something must not send before this.
        answer_at_most(&self.connection, &self.mailbox, &answer, HTTP_ANSWER_BYTES_MAX);
        drop(requests);
        if is_over {
            self.mailbox.send(Request::Finish(self.connection.id));
        }
    }
}

impl Recipient for HttpPeer {
    fn reached(&self, stage: Durability, sequence: u64) {
        if stage >= self.least {
            self.settle(|request| request.is_ready |= request.sequence <= sequence);
        }
    }

    fn not_now(&self, sequence: u64) {
        self.answer(sequence, COME_AGAIN);
    }

    fn promises(&self) -> bool {
        self.least == Durability::Received
    }
}

fn answer_with(connection: &Connection, mailbox: &Mailbox, answer: &[u8]) {
    answer_at_most(connection, mailbox, answer, OUTBOX_BYTES_MAX);
}

fn answer_at_most(connection: &Connection, mailbox: &Mailbox, answer: &[u8], most: usize) {
    if answer.is_empty() {
        return;
    }
    let mut outbox = connection.outbox.lock().unwrap_or_else(PoisonError::into_inner);
    let has_room = outbox.is_empty() || outbox.len() + answer.len() <= most;
    if has_room {
        outbox.extend_from_slice(answer);
    }
    drop(outbox);
    let id = connection.id;
    // A client that does not read its answers sends again what it did not hear of.
    mailbox.send(if has_room { Request::Answer(id) } else { Request::Close(id) });
}
