//! The ring before a sink: compressed batches that wait, in memory of a fixed size. The workers
//! put in, one writer takes out; what happens when it is full is the pool's choice.
//!
//! A batch is copied in and copied out under a lock, which at a quarter of the incoming bytes costs
//! little, and needs no memory of its own. While the ring is empty it starts again from its front,
//! so that a fast sink leaves most of it untouched.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::acknowledge::Receipt;
use crate::config::WhenSlow;
use crate::connection::Mailbox;
use crate::format::Head;
use crate::pool::{DropReason, Pool};

/// A batch that was made, without its bytes.
#[derive(Debug, Clone)]
pub struct Batch {
    /// Whose it is.
    pub pool: Arc<Pool>,
    /// What is said of it.
    pub head: Head,
    /// Who is told what becomes of it.
    pub receipts: Arc<[Receipt]>,
}

#[derive(Debug)]
struct Waiting {
    batch: Batch,
    start: usize,
    length: usize,
    since: Instant,
}

/// A batch with its bytes, as a writer gets it.
#[derive(Debug, Clone)]
pub struct Taken {
    /// What it is.
    pub batch: Batch,
    /// Head, sections and frame.
    pub bytes: Bytes,
}

/// How many batches a writer wants at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group {
    /// It gets them when they have so many bytes, and no more than these; but one batch always.
    pub bytes: usize,
    /// The most batches.
    pub batches: usize,
    /// It gets fewer when the oldest has waited so long.
    pub linger: Duration,
}

/// What became of a batch that was put in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Put {
    /// It waits for the writer.
    Waits,
    /// There is no room for it, and it is to be dropped.
    Dropped(DropReason),
    /// It is to wait on disk, until all that were put in before it have left.
    Spill {
        /// How many those are.
        barrier: u64,
    },
}

#[derive(Debug)]
struct State {
    memory: Box<[u8]>,
    waiting: VecDeque<Waiting>,
    /// Where the next batch starts.
    end: usize,
    used: usize,
    is_closed: bool,
    /// A pool comes near its quota: no group is waited for.
    is_urgent: bool,
    held: Vec<Arc<Pool>>,
    /// How many batches were put in, and how many were taken away.
    put: u64,
    done: u64,
}

/// The ring of one sink.
#[derive(Debug)]
pub struct Ring {
    state: Mutex<State>,
    filled: Condvar,
    freed: Condvar,
    readers: Vec<Arc<Mailbox>>,
}

/// How long a worker waits at most for room before it looks whether the ring was closed.
const ROOM_WAIT: Duration = Duration::from_millis(50);

impl State {
    fn capacity(&self) -> usize {
        self.memory.len()
    }

    fn copy_in(&mut self, part: &[u8]) {
        let first = part.len().min(self.capacity() - self.end);
        self.memory[self.end..self.end + first].copy_from_slice(&part[..first]);
        self.memory[..part.len() - first].copy_from_slice(&part[first..]);
        self.end = (self.end + part.len()) % self.capacity();
    }

    fn copy_out(&self, start: usize, length: usize, out: &mut Vec<u8>) {
        let first = length.min(self.capacity() - start);
        out.extend_from_slice(&self.memory[start..start + first]);
        out.extend_from_slice(&self.memory[..length - first]);
    }
}

impl Ring {
    /// A ring of these bytes. When pools are held, or let go, their readers are told.
    pub fn new(bytes: usize, readers: Vec<Arc<Mailbox>>) -> Ring {
        let state = State {
            memory: vec![0; bytes.max(1)].into_boxed_slice(),
            waiting: VecDeque::new(),
            end: 0,
            used: 0,
            is_closed: false,
            is_urgent: false,
            held: Vec::new(),
            put: 0,
            done: 0,
        };
        let (filled, freed) = (Condvar::new(), Condvar::new());
        Ring { state: Mutex::new(state), filled, freed, readers }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The bytes that wait, and how many may.
    pub fn level(&self) -> (usize, usize) {
        let state = self.lock();
        (state.used, state.capacity())
    }

    /// Puts a batch in, whose bytes are these parts one after the other. A pool that drops may use
    /// three quarters of the ring; one that holds its connections is held from the middle on, so
    /// that what was read of it already has room.
    pub fn put(&self, batch: Batch, parts: &[&[u8]]) -> Put {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        let pool = Arc::clone(&batch.pool);
        let settings = pool.settings.load();
        let when_slow = settings.when_slow;
        let mut state = self.lock();
        let capacity = state.capacity();
        let waiting = pool.waiting_bytes.load(Ordering::Relaxed) + length;
        let is_over_quota = waiting > settings.quota_bytes;
        state.is_urgent |= waiting > settings.quota_bytes / 2;
        // What is on disk already must leave before what comes now.
        if pool.spilled_waiting.load(Ordering::Acquire) > 0 {
            return Put::Spill { barrier: state.put };
        }
        let reason = match when_slow {
            _ if length > capacity => Some(DropReason::Ring),
            WhenSlow::Drop | WhenSlow::Spill if is_over_quota => Some(DropReason::Quota),
            WhenSlow::Drop | WhenSlow::Spill if state.used + length > capacity / 4 * 3 => {
                Some(DropReason::Ring)
            }
            _ => None,
        };
        if let Some(reason) = reason {
            if when_slow == WhenSlow::Spill {
                return Put::Spill { barrier: state.put };
            }
            return Put::Dropped(reason);
        }
        let is_high = is_over_quota || state.used + length > capacity / 2;
        if when_slow == WhenSlow::Backpressure && is_high && !pool.is_held.load(Ordering::Relaxed) {
            pool.is_held.store(true, Ordering::Release);
            state.held.push(Arc::clone(&pool));
        }
        // Only what had been read before its pool was held can come here, and only text that does
        // not compress fills the other half. The worker waits then: nothing else is left to do.
        while state.used + length > capacity && !state.is_closed {
            let waited = self.freed.wait_timeout(state, ROOM_WAIT);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        if state.used + length > capacity {
            return Put::Dropped(DropReason::Shutdown);
        }
        if state.used == 0 {
            state.end = 0;
        }
        let start = state.end;
        for part in parts {
            state.copy_in(part);
        }
        state.used += length;
        state.put += 1;
        pool.waiting_bytes.fetch_add(length, Ordering::Relaxed);
        state.waiting.push_back(Waiting { batch, start, length, since: Instant::now() });
        drop(state);
        self.filled.notify_one();
        Put::Waits
    }

    /// Copies the oldest batch out, without taking it away: it stays until `done`. Waits for one at
    /// most that long. `Ok(None)` says that none came, `Err` that none will come any more.
    pub fn oldest(&self, wait: Duration, out: &mut Vec<u8>) -> Result<Option<Batch>, Closed> {
        let mut state = self.lock();
        if state.waiting.is_empty() && !state.is_closed {
            let waited = self.filled.wait_timeout(state, wait);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let Some(oldest) = state.waiting.front() else {
            return if state.is_closed { Err(Closed) } else { Ok(None) };
        };
        out.clear();
        state.copy_out(oldest.start, oldest.length, out);
        Ok(Some(oldest.batch.clone()))
    }

    /// Copies the oldest batches out, without taking them away: each stays until `done`. Waits at
    /// most that long for as many as the group is to have; nothing is added when there are fewer
    /// and they may wait for more. `Err` says that none will come any more.
    pub fn group(&self, wait: Duration, group: &Group, out: &mut Vec<Taken>) -> Result<(), Closed> {
        let mut state = self.lock();
        let missing = |state: &State| {
            let oldest = state.waiting.front()?;
            let is_due = state.used >= group.bytes || state.is_urgent || state.is_closed;
            if is_due { None } else { group.linger.checked_sub(oldest.since.elapsed()) }
        };
        if state.waiting.is_empty() && !state.is_closed {
            let waited = self.filled.wait_timeout(state, wait);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        } else if let Some(missing) = missing(&state).filter(|missing| !missing.is_zero()) {
            let waited = self.filled.wait_timeout(state, missing.min(wait));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        if state.waiting.is_empty() {
            return if state.is_closed { Err(Closed) } else { Ok(()) };
        }
        if missing(&state).is_some_and(|missing| !missing.is_zero()) {
            return Ok(());
        }
        state.is_urgent = false;
        let mut bytes = 0;
        for waiting in state.waiting.iter().take(group.batches.max(1)) {
            bytes += waiting.length;
            if bytes > group.bytes && !out.is_empty() {
                break;
            }
            let mut copy = Vec::with_capacity(waiting.length);
            state.copy_out(waiting.start, waiting.length, &mut copy);
            out.push(Taken { batch: waiting.batch.clone(), bytes: copy.into() });
        }
        Ok(())
    }

    /// How many batches were taken away so far.
    pub fn done_count(&self) -> u64 {
        self.lock().done
    }

    /// Takes the oldest batch away and lets pools go that were held for want of room.
    pub fn done(&self) {
        let mut state = self.lock();
        let Some(oldest) = state.waiting.pop_front() else { return };
        state.used -= oldest.length;
        state.done += 1;
        oldest.batch.pool.waiting_bytes.fetch_sub(oldest.length, Ordering::Relaxed);
        let is_low = state.used <= state.capacity() / 8 * 3;
        let before = state.held.len();
        if is_low && before > 0 {
            state.held.retain(|pool| {
                let waiting = pool.waiting_bytes.load(Ordering::Relaxed);
                let stays = waiting > pool.settings.load().quota_bytes / 4 * 3;
                pool.is_held.store(stays, Ordering::Release);
                stays
            });
        }
        let has_let_go = state.held.len() < before;
        drop(state);
        self.freed.notify_all();
        if has_let_go {
            self.readers.iter().for_each(|reader| reader.resume());
        }
    }

    /// Takes everything away, the oldest batch first, one after the other.
    pub fn abandon(&self) -> impl Iterator<Item = (Batch, Vec<u8>)> {
        let next = || {
            let mut bytes = Vec::new();
            let batch = self.oldest(Duration::ZERO, &mut bytes).ok().flatten()?;
            self.done();
            Some((batch, bytes))
        };
        std::iter::from_fn(next)
    }

    /// No batch will be put in any more.
    pub fn close(&self) {
        self.lock().is_closed = true;
        self.filled.notify_all();
        self.freed.notify_all();
    }
}

/// A ring that was closed and is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;
