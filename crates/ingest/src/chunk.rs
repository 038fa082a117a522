//! Chunks: the fixed buffers that readers fill and workers empty. All of them are made once, out of
//! the memory budget; when none is free, nothing is read.
//!
//! A chunk holds the reads of many connections one after the other, so that a thousand connections
//! with a few bytes each do not hold a thousand buffers.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use crate::connection::Connection;
use crate::limits::CHUNK_BYTES;
use crate::pool::{DropReason, Pool};

/// What happened on a connection, in the order in which it happened.
#[derive(Debug)]
pub enum Event {
    /// It was accepted.
    Opened(Arc<Connection>),
    /// These bytes of the chunk were read from it.
    Read {
        /// The connection.
        connection: u64,
        /// Where they start in the chunk.
        start: u32,
        /// Where they end.
        end: u32,
        /// Whose they are, where that was known: they count against its part of the first queue.
        pool: Option<Arc<Pool>>,
        /// Why records that end here are for the pool's choice, if they are.
        over: Option<DropReason>,
    },
    /// It is gone, or was given up.
    Closed(u64),
}

/// What a reader hands to a worker at once.
#[derive(Debug)]
pub struct Chunk {
    /// The bytes of all reads; those after `used` are of an earlier use.
    pub bytes: Box<[u8]>,
    /// How many bytes were read into it.
    pub used: usize,
    /// What was read and what else happened, in order.
    pub events: Vec<Event>,
    /// When the first event of it happened.
    pub since: Instant,
}

impl Chunk {
    fn new() -> Chunk {
        let bytes = vec![0; CHUNK_BYTES].into_boxed_slice();
        Chunk { bytes, used: 0, events: Vec::new(), since: Instant::now() }
    }

    /// The bytes that are free.
    pub fn room(&self) -> usize {
        self.bytes.len() - self.used
    }

    /// Notes that this many bytes were read behind the others, and counts them for their pool.
    pub fn add_read(&mut self, connection: &Connection, count: usize) {
        let (start, end) = (self.used as u32, (self.used + count) as u32);
        self.used += count;
        let pool = connection.pool.get();
        let over = pool.and_then(|pool| pool.queued(count, connection.is_answered));
        let (connection, pool) = (connection.id, pool.cloned());
        self.events.push(Event::Read { connection, start, end, pool, over });
    }

    /// The bytes of a read.
    pub fn read(&self, start: u32, end: u32) -> &[u8] {
        &self.bytes[start as usize..end as usize]
    }
}

/// The chunks that are free. The one that was used last is taken first, because its bytes are
/// likely to be in the processor's cache still.
#[derive(Debug)]
pub struct Chunks {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    free: Vec<Chunk>,
    /// How many may still be made; memory that is never needed is never touched.
    unmade: usize,
}

impl Chunks {
    /// As many chunks as fit these bytes, and at least `least`.
    pub fn new(bytes: usize, least: usize) -> Chunks {
        let unmade = (bytes / CHUNK_BYTES).max(least);
        Chunks { state: Mutex::new(State { free: Vec::new(), unmade }) }
    }

    /// How many chunks are free.
    pub fn free(&self) -> usize {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.free.len() + state.unmade
    }

    /// A free chunk, if there is one.
    pub fn take(&self) -> Option<Chunk> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(mut chunk) = state.free.pop() {
            chunk.since = Instant::now();
            return Some(chunk);
        }
        state.unmade = state.unmade.checked_sub(1)?;
        Some(Chunk::new())
    }

    /// Gives a chunk back.
    pub fn give_back(&self, mut chunk: Chunk) {
        chunk.used = 0;
        chunk.events.clear();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.free.push(chunk);
    }
}
