//! Ctrl-C, and the signals that ask a process to end: the first one asks for what was measured so
//! far, the second one ends the process.
//!
//! The flag is read between two payloads. Whoever waits for input that does not come reads no
//! flag, so a process that is still reading a while after the first signal ends without a result.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// How long a reader has to notice the flag before the process ends.
const READING_GRACE: Duration = Duration::from_secs(2);

/// What a signal tells a command, and what the command tells the handler.
#[derive(Debug, Clone, Default)]
pub struct Interrupt {
    /// Set by the first signal.
    pub stop: Arc<AtomicBool>,
    /// Set by the command while it waits for input.
    is_reading: Arc<AtomicBool>,
}

impl Interrupt {
    /// Handles signals from now on.
    pub fn handled() -> Interrupt {
        let interrupt = Interrupt::default();
        let handler = interrupt.clone();
        // Where no handler can be set, Ctrl-C ends the process, which is what it does anyway.
        let _ = ctrlc::set_handler(move || {
            if handler.stop.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
            if handler.is_reading.load(Ordering::Relaxed) {
                let reader = handler.clone();
                thread::spawn(move || reader.end_if_still_reading());
            }
        });
        interrupt
    }

    /// Runs what waits for input.
    pub fn while_reading<T>(&self, read: impl FnOnce() -> T) -> T {
        self.is_reading.store(true, Ordering::Relaxed);
        let result = read();
        self.is_reading.store(false, Ordering::Relaxed);
        result
    }

    fn end_if_still_reading(&self) {
        thread::sleep(READING_GRACE);
        if self.is_reading.load(Ordering::Relaxed) {
            eprintln!("cinch: interrupted while it waited for input");
            std::process::exit(130);
        }
    }
}
