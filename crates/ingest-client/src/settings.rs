//! Settings of a client, and their defaults. Every one bounds something that an application would
//! otherwise pay for without knowing: memory, time, or the server's patience.

use std::io;
use std::time::Duration;

use cinch_wire::native::Durability;

/// What is kept of records that were not acknowledged, in bytes, unless the settings say otherwise.
pub const BUFFER_BYTES: usize = 16 << 20;

/// A batch is sent when it has so many bytes of records, unless the settings say otherwise.
pub const BATCH_BYTES: usize = 64 << 10;

/// The longest batch that the ingress takes, in bytes, which also bounds a record.
const BATCH_BYTES_MAX: usize = 256 << 10;

/// What stands before each record in a batch, in bytes.
pub(crate) const LENGTH_BYTES: usize = 4;

/// The longest record, in bytes.
pub const RECORD_BYTES_MAX: usize = BATCH_BYTES_MAX - LENGTH_BYTES;

/// The longest that a record waits for its batch to fill, unless the settings say otherwise.
pub const LINGER: Duration = Duration::from_millis(50);

/// The longest name of a pool or host, in bytes.
const NAME_BYTES_MAX: usize = 127;

/// Why a client can't be started.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// A name is empty, too long, or has other letters than visible ASCII.
    #[error("{0} is 1 to {NAME_BYTES_MAX} visible ASCII characters")]
    Name(&'static str),
    /// A size is out of its range.
    #[error("{name} is {least} to {most} bytes")]
    Size {
        /// Which one.
        name: &'static str,
        /// The least.
        least: usize,
        /// The most.
        most: usize,
    },
    /// The system has no thread or no random numbers.
    #[error(transparent)]
    System(io::Error),
}

/// How a client sends.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where to: a host and a port, looked up again for each connection.
    pub address: String,
    /// The pool of the records.
    pub pool: String,
    /// The name of this machine, for whoever reads the logs; may be empty.
    pub host: String,
    /// What an acknowledgement stands for, at the least.
    pub durability: Durability,
    /// The most bytes of records that were not acknowledged; then [`Client::send`] drops.
    ///
    /// [`Client::send`]: crate::Client::send
    pub buffer_bytes: usize,
    /// A batch is sent when it has so many bytes of records.
    pub batch_bytes: usize,
    /// The longest that a record waits for its batch to fill.
    pub linger: Duration,
    /// The level of zstd, if batches are compressed.
    pub level: Option<i32>,
    /// How long a connection may take.
    pub connect_time: Duration,
    /// How long is waited after the first failure; each further one doubles it, and a random part
    /// of at most a half is taken off, so that the clients of a server do not come back all at
    /// once.
    pub backoff_least: Duration,
    /// How long is waited at most.
    pub backoff_most: Duration,
    /// A server that takes nothing for so long is given up, and connected to again.
    pub stall_time: Duration,
}

impl Settings {
    /// The defaults, for this server and pool.
    pub fn new(address: impl Into<String>, pool: impl Into<String>) -> Settings {
        Settings {
            address: address.into(),
            pool: pool.into(),
            host: String::new(),
            durability: Durability::Written,
            buffer_bytes: BUFFER_BYTES,
            batch_bytes: BATCH_BYTES,
            linger: LINGER,
            level: Some(1),
            connect_time: Duration::from_secs(5),
            backoff_least: Duration::from_millis(50),
            backoff_most: Duration::from_secs(10),
            stall_time: Duration::from_secs(120),
        }
    }

    pub(crate) fn check(&self) -> Result<(), SettingsError> {
        let is_name = |text: &str| {
            text.len() <= NAME_BYTES_MAX && text.bytes().all(|byte| byte.is_ascii_graphic())
        };
        if self.pool.is_empty() || !is_name(&self.pool) {
            return Err(SettingsError::Name("pool"));
        }
        if !is_name(&self.host) {
            return Err(SettingsError::Name("host, if there is one,"));
        }
        let (least, most) = (LENGTH_BYTES + 1, BATCH_BYTES_MAX);
        if !(least..=most).contains(&self.batch_bytes) {
            return Err(SettingsError::Size { name: "batch_bytes", least, most });
        }
        let (least, most) = (self.batch_bytes, usize::MAX);
        if self.buffer_bytes < least {
            return Err(SettingsError::Size { name: "buffer_bytes", least, most });
        }
        Ok(())
    }
}
