//! Ctrl-C: the first one asks for what was measured so far, the second one ends the process.
//!
//! The flag is set by a thread of the `ctrlc` crate and read between two payloads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that Ctrl-C sets.
pub fn flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&flag);
    // Where no handler can be set, Ctrl-C ends the process, which is what it does anyway.
    let _ = ctrlc::set_handler(move || {
        if set.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
    flag
}
