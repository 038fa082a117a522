//! The signals of an ingress: SIGTERM and Ctrl-C ask it to write what it has and to end, a second
//! one ends it at once, and SIGHUP asks it to read its configuration again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

/// The exit status after a second signal, as that of a program that Ctrl-C has ended.
const ENDED_STATUS: i32 = 130;

/// What signals have asked for.
pub(crate) struct Signals {
    stop: Arc<AtomicBool>,
    reload: Arc<AtomicBool>,
}

impl Signals {
    /// Handles them from now on.
    pub(crate) fn handled() -> Signals {
        let signals = Signals { stop: Arc::default(), reload: Arc::default() };
        for signal in [SIGTERM, SIGINT] {
            // In this order: the first signal finds the flag unset. Where no handler can be set,
            // signals end the process, which is what they do anyway.
            let _set = flag::register_conditional_shutdown(
                signal,
                ENDED_STATUS,
                Arc::clone(&signals.stop),
            );
            let _set = flag::register(signal, Arc::clone(&signals.stop));
        }
        let _set = flag::register(SIGHUP, Arc::clone(&signals.reload));
        signals
    }

    /// Whether the ingress is to end.
    pub(crate) fn stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Whether the configuration is to be read again, asked once for each time.
    pub(crate) fn take_reload(&self) -> bool {
        self.reload.swap(false, Ordering::Relaxed)
    }
}
