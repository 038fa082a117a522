//! What reader and worker both know of a connection. Its bytes pass between them in chunks; what
//! goes the other way, requests to close it or to answer, goes through its reader's mailbox.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use mio::Waker;

use crate::pool::Pool;

/// A connection of a client.
#[derive(Debug)]
pub struct Connection {
    /// Its number, which no other connection of this process has.
    pub id: u64,
    /// The listener's place in the configuration.
    pub listener: usize,
    /// Which reader reads it.
    pub reader: usize,
    /// Whose it is.
    pub peer: SocketAddr,
    /// The pool of its records, once that is known: its reader stops while that pool is held.
    pub pool: OnceLock<Arc<Pool>>,
    /// Answers that its reader has not sent yet.
    pub outbox: Mutex<Vec<u8>>,
}

/// What workers ask of a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// Close this connection: what it sends is not what its listener speaks.
    Close(u64),
    /// Send what is in the outbox of this connection.
    Answer(u64),
}

/// Where a reader finds requests. Its length is bounded by the connections, each of which is
/// closed once, and by the answers, which are as many as the batches that a window allows.
#[derive(Debug)]
pub struct Mailbox {
    requests: Mutex<Vec<Request>>,
    resume: AtomicBool,
    waker: Waker,
}

impl Mailbox {
    /// The mailbox of the reader that this wakes.
    pub fn new(waker: Waker) -> Mailbox {
        Mailbox { requests: Mutex::new(Vec::new()), resume: AtomicBool::new(false), waker }
    }

    /// Leaves a request and wakes the reader.
    pub fn send(&self, request: Request) {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request);
        self.wake();
    }

    /// Tells the reader that a pool which was held is not any more.
    pub fn resume(&self) {
        self.resume.store(true, Ordering::Release);
        self.wake();
    }

    /// Wakes the reader.
    pub fn wake(&self) {
        // It fails only when the event queue itself is broken, which its reader notices.
        let _woken = self.waker.wake();
    }

    /// Takes all requests.
    pub fn take(&self) -> Vec<Request> {
        std::mem::take(&mut *self.requests.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether a pool was resumed since the last time.
    pub fn take_resume(&self) -> bool {
        self.resume.swap(false, Ordering::AcqRel)
    }
}
