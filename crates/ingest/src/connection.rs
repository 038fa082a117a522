//! What reader and worker both know of a connection. Its bytes pass between them in chunks; what
//! goes the other way, requests to close it or to answer, goes through its reader's mailbox.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use mio::Waker;

use crate::pool::Pool;

/// Who is at the other end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Peer {
    /// Somebody in the network.
    Network(SocketAddr),
    /// Somebody on this machine, who uses this socket in the file system.
    Local(Arc<Path>),
}

impl Peer {
    /// Its address, by which connections of one client are counted.
    pub fn client(&self) -> Option<IpAddr> {
        match self {
            Peer::Network(address) => Some(address.ip()),
            Peer::Local(_) => None,
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Peer::Network(address) => address.fmt(f),
            Peer::Local(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

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
    pub peer: Peer,
    /// Whether its client is told what became of what it sent, and can send it again.
    pub is_answered: bool,
    /// The pool of its records, once that is known: its reader stops while that pool is held.
    pub pool: OnceLock<Arc<Pool>>,
    /// Answers that its reader has not sent yet.
    pub outbox: Mutex<Vec<u8>>,
    /// Requests that were not answered yet: a connection with one is not idle.
    pub waits: AtomicUsize,
}

/// What workers ask of a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// Close this connection: what it sends is not what its listener speaks.
    Close(u64),
    /// Send what is in the outbox of this connection.
    Answer(u64),
    /// Send what is in the outbox, say that nothing more comes, and throw away what still arrives.
    Finish(u64),
}

/// A connection that another thread accepted and turned into the protocol of its listener's worker.
#[derive(Debug)]
pub struct Adopted {
    /// What is read and answered.
    pub stream: UnixStream,
    /// The listener's place in the configuration.
    pub listener: usize,
    /// Whose it is.
    pub peer: Peer,
}

/// Where a reader finds requests. Its length is bounded by the connections, each of which is
/// closed once, and by the answers, which are as many as the batches that a window allows.
#[derive(Debug)]
pub struct Mailbox {
    requests: Mutex<Vec<Request>>,
    adopted: Mutex<Vec<Adopted>>,
    resume: AtomicBool,
    waker: Waker,
}

impl Mailbox {
    /// The mailbox of the reader that this wakes.
    pub fn new(waker: Waker) -> Mailbox {
        let (requests, adopted) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
        Mailbox { requests, adopted, resume: AtomicBool::new(false), waker }
    }

    /// Hands the reader a connection that it did not accept itself.
    pub fn adopt(&self, adopted: Adopted) {
        self.adopted.lock().unwrap_or_else(PoisonError::into_inner).push(adopted);
        self.wake();
    }

    /// Takes the connections that were handed over.
    pub fn take_adopted(&self) -> Vec<Adopted> {
        std::mem::take(&mut *self.adopted.lock().unwrap_or_else(PoisonError::into_inner))
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
