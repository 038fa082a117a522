//! When a reader does not read although it could: it lets bytes gather between two turns, and it
//! leaves those alone who are above a limit of bytes in a second.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use super::{PATIENCE, Reader};

/// The least time between two turns in which nobody was read who is answered. At a high rate a few
/// bytes arrive all the time: a reader that looks at once is woken for each read, and that costs as
/// much as the read.
const TURN_LEAST: Duration = Duration::from_millis(1);

/// How often it is looked whether connections that are above a limit may be read again.
pub(super) const PACE: Duration = Duration::from_millis(10);

/// Why a connection is not read now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// Its pool has no room; somebody tells when it has.
    Room,
    /// It would pass a limit of bytes in a second; only time helps.
    Rate,
}

impl Reader {
    /// Lets more arrive, where the last look found something soon and nobody waits for the end of
    /// this turn. Datagrams have no sender that waits when there is no room for them.
    pub(super) fn rest(&self, asked: Instant, polled: Instant) {
        let is_quiet = polled - asked >= TURN_LEAST;
        let has_more = self.wait() < PATIENCE;
        let has_datagrams = || self.ports.iter().any(super::Port::is_of_datagrams);
        if is_quiet || has_more || self.is_awaited || has_datagrams() {
            return;
        }
        if let Some(left) = TURN_LEAST.checked_sub(polled.elapsed()) {
            thread::sleep(left);
        }
    }

    /// Whether this connection has to wait, and for what.
    pub(super) fn has_to_wait(&self, slot: usize) -> Option<Wait> {
        let client = self.clients.get(slot).and_then(Option::as_ref)?;
        // What is thrown away costs nobody anything.
        if client.discarded_until.is_some() {
            return None;
        }
        let (rate, pool) = (&client.rate, client.connection.pool.get());
        if pool.is_some_and(|pool| pool.is_to_wait()) {
            return Some(Wait::Room);
        }
        let is_above = rate.as_ref().is_some_and(|(_, rate)| !rate.has_credit())
            || pool.is_some_and(|pool| pool.is_above_rate(client.connection.is_answered));
        // Whoever is left alone when the ingress stops is never read again.
        (is_above && !self.shared.is_stopping()).then_some(Wait::Rate)
    }

    /// Leaves a connection alone until it may be read again.
    pub(super) fn put_off(&mut self, slot: usize, wait: Wait) {
        if wait == Wait::Room {
            return self.held.push(slot);
        }
        self.paced.push(slot);
        if let Some(Some(client)) = self.clients.get(slot) {
            let metrics = &self.shared.metrics.listeners[client.connection.listener];
            metrics.paced_reads.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Queues those again whose time may have come; the others come back in their turn.
    pub(super) fn resume_paced(&mut self) {
        if self.paced.is_empty() || self.paced_looked.elapsed() < PACE {
            return;
        }
        self.paced_looked = Instant::now();
        std::mem::take(&mut self.paced).into_iter().for_each(|slot| self.queue(slot));
    }
}
