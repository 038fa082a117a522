//! A client of the log ingress (`cinch ingest`) for applications: records go into a buffer of a
//! fixed size, and a thread sends them in batches and keeps each until the server has acknowledged
//! it. A server that goes away is connected to again, and gets the same batches with the same
//! numbers, so that it stores none twice that it knows.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use cinch_ingest_client::{Client, Settings};
//!
//! let client = Client::start(Settings::new("127.0.0.1:1119", "carts"))?;
//! if client.send(b"took 12 ms").is_err() {
//!     // The buffer is full: the record is dropped, and counted.
//! }
//! client.flush(Duration::from_secs(5))?;
//! let counters = client.counters();
//! assert_eq!(counters.acknowledged_records + counters.dropped_records, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What is kept is kept in memory: a process that ends without [`Client::close`] loses it. The
//! protocol is in `spec/ingest-native.md`.

mod backoff;
mod buffer;
mod session;
mod settings;

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

pub use buffer::Counters;
pub use cinch_wire::native::Durability;
pub use settings::{BATCH_BYTES, BUFFER_BYTES, LINGER, RECORD_BYTES_MAX, Settings, SettingsError};

use buffer::Buffer;

/// Why a record was not taken. It is counted among the dropped ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Dropped {
    /// What was not acknowledged fills the buffer.
    #[error("the buffer is full: the ingress is too slow, or away")]
    Full,
    /// It is longer than [`RECORD_BYTES_MAX`], or than a batch may be.
    #[error("the record is longer than a batch may be")]
    TooLong,
}

/// Not everything was acknowledged in time. It is kept, and sent further on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{records} records are not acknowledged yet: {problem}")]
pub struct Unacknowledged {
    /// How many records wait.
    pub records: u64,
    /// What was last wrong with the connection, if anything was.
    pub problem: String,
}

/// A client. It can be used from many threads at once.
#[derive(Debug)]
pub struct Client {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// What the caller's threads and the sending one share.
#[derive(Debug)]
struct Shared {
    settings: Settings,
    client_id: [u8; 16],
    buffer: Mutex<Buffer>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Buffer> {
        self.buffer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something changes, or a time is over.
    fn wait<'a>(&self, buffer: MutexGuard<'a, Buffer>, most: Duration) -> MutexGuard<'a, Buffer> {
        self.changed.wait_timeout(buffer, most).unwrap_or_else(PoisonError::into_inner).0
    }
}

impl Client {
    /// Starts the thread that sends. It connects when there is something to send.
    ///
    /// # Errors
    /// [`SettingsError`] for settings that can't be used, and where the system has no random
    /// numbers or no thread.
    pub fn start(settings: Settings) -> Result<Client, SettingsError> {
        settings.check()?;
        let mut client_id = [0; 16];
        getrandom::fill(&mut client_id).map_err(|error| SettingsError::System(error.into()))?;
        let (buffer, changed) = (Mutex::new(Buffer::default()), Condvar::new());
        let shared = Arc::new(Shared { settings, client_id, buffer, changed });
        let sending = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("cinch-ingest".to_owned())
            .spawn(move || session::run(&sending))
            .map_err(SettingsError::System)?;
        Ok(Client { shared, thread: Some(thread) })
    }

    /// Puts a record into the buffer. It never waits.
    ///
    /// # Errors
    /// [`Dropped`], and then the record is counted as dropped.
    pub fn send(&self, record: &[u8]) -> Result<(), Dropped> {
        self.send_within(record, Duration::ZERO)
    }

    /// The same, but waits for room for at most this long.
    ///
    /// # Errors
    /// [`Dropped`], and then the record is counted as dropped.
    pub fn send_within(&self, record: &[u8], most: Duration) -> Result<(), Dropped> {
        let deadline = Instant::now() + most;
        let mut buffer = self.shared.lock();
        loop {
            match buffer.push(record, &self.shared.settings) {
                Ok(is_news) => {
                    drop(buffer);
                    if is_news {
                        self.shared.changed.notify_all();
                    }
                    return Ok(());
                }
                Err(Dropped::Full) if Instant::now() < deadline => {
                    buffer = self.shared.wait(buffer, deadline - Instant::now());
                }
                Err(dropped) => {
                    buffer.counters.dropped_records += 1;
                    return Err(dropped);
                }
            }
        }
    }

    /// Sends what is in the buffer now, and waits until all of it is acknowledged.
    ///
    /// # Errors
    /// [`Unacknowledged`] when that took longer than `deadline`.
    pub fn flush(&self, deadline: Duration) -> Result<(), Unacknowledged> {
        let until = Instant::now() + deadline;
        let mut buffer = self.shared.lock();
        let last = buffer.seal(&self.shared.settings);
        self.shared.changed.notify_all();
        while buffer.acknowledged < last {
            let now = Instant::now();
            if now >= until {
                return Err(buffer.unacknowledged());
            }
            buffer = self.shared.wait(buffer, until - now);
        }
        Ok(())
    }

    /// What became of the records so far.
    pub fn counters(&self) -> Counters {
        self.shared.lock().counters
    }

    /// What is wrong with the connection, if it is not sound at present.
    pub fn problem(&self) -> Option<String> {
        let problem = self.shared.lock().problem.clone();
        (!problem.is_empty()).then_some(problem)
    }

    /// Flushes and ends. What was not acknowledged by then is lost and counted as dropped.
    ///
    /// # Errors
    /// [`Unacknowledged`], with what was lost.
    pub fn close(mut self, deadline: Duration) -> Result<Counters, Unacknowledged> {
        let flushed = self.flush(deadline);
        self.end();
        let mut buffer = self.shared.lock();
        buffer.counters.dropped_records += buffer.waiting_records();
        flushed.map(|()| buffer.counters)
    }

    fn end(&mut self) {
        self.shared.lock().is_over = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // It has panicked at worst, and then there is nothing to wait for.
            let _ended = thread.join();
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests;
