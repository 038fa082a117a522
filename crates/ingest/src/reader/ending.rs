//! How connections end that did not end by themselves: those that were refused hear why before they
//! are closed, and those that take too long for something are not waited for.

use std::io::ErrorKind;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::{Outcome, Reader};
use crate::config::Protocol;
use crate::limits::{DISCARD_S, HANDSHAKE_S, HTTP_IDLE_S};

/// How often it is looked for connections that took too long for something.
const SWEEP: Duration = Duration::from_secs(1);

impl Reader {
    /// Nothing more is sent, and what still comes is thrown away: a close now could take the answer
    /// away from the client that has bytes under way.
    pub(super) fn finish(&mut self, slot: usize) {
        let Some(Some(client)) = self.clients.get_mut(slot) else { return };
        client.discarded_until = Some(Instant::now() + Duration::from_secs(DISCARD_S));
        if !self.answer(slot) {
            return self.remove(slot);
        }
        self.queue(slot);
    }

    /// Reads what nobody wants any more.
    pub(super) fn discard(&mut self, slot: usize) -> Outcome {
        let Some(Some(client)) = self.clients.get_mut(slot) else { return Outcome::Empty };
        match client.transport.read_raw(&mut self.scratch) {
            Ok(0) => Outcome::Gone,
            Ok(_) => Outcome::More,
            Err(error) if error.kind() == ErrorKind::WouldBlock => Outcome::Empty,
            Err(error) if error.kind() == ErrorKind::Interrupted => Outcome::More,
            Err(_) => Outcome::Gone,
        }
    }

    /// Closes connections that took too long for something.
    pub(super) fn sweep(&mut self) {
        if self.swept.elapsed() < SWEEP {
            return;
        }
        self.swept = Instant::now();
        self.count_lost_datagrams();
        self.shared.metrics.listeners.iter().for_each(|listener| listener.clients.forget());
        for slot in 0..self.clients.len() {
            if self.is_late(slot) {
                self.remove(slot);
            }
        }
    }

    fn is_late(&mut self, slot: usize) -> bool {
        let has_to_wait = self.has_to_wait(slot).is_some();
        let Some(client) = &mut self.clients[slot] else { return false };
        if let Some(until) = client.discarded_until {
            return self.swept > until;
        }
        let listener = client.connection.listener;
        if client.transport.is_shaking_hands() {
            let is_late = client.opened.elapsed() > Duration::from_secs(HANDSHAKE_S);
            let metrics = &self.shared.metrics.listeners[listener];
            metrics.handshakes_failed.fetch_add(u64::from(is_late), Ordering::Relaxed);
            return is_late;
        }
        if self.shared.config.listeners[listener].protocol != Protocol::Http {
            return false;
        }
        // A client that was not read, or not answered, is not the one who is idle.
        if has_to_wait || client.connection.waits.load(Ordering::Acquire) > 0 {
            client.active = self.swept;
        }
        client.active.elapsed() > Duration::from_secs(HTTP_IDLE_S)
    }
}
