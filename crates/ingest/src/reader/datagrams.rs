//! Datagrams: each is one record, or a few lines. Nobody can be asked to wait, so what the system
//! had no room for is lost, and it says how much that was.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::ports::PortSocket;
use super::{Reader, STARVED_WAIT};
use crate::chunk::Event;
use crate::connection::{Connection, Peer};
use crate::limits::{DATAGRAM_SENDERS_MAX, DATAGRAMS_PER_TURN};

/// Where Linux tells of datagrams that it dropped.
const SYSTEM_TABLES: [&str; 2] = ["/proc/net/udp", "/proc/net/udp6"];

/// The columns of those tables that name the socket and count what was dropped.
const INODE_COLUMN: usize = 9;
const DROPS_COLUMN: usize = 12;

impl Reader {
    /// Takes datagrams of every port that has some, a turn's worth each.
    pub(super) fn datagrams(&mut self) {
        for port in 0..self.ports.len() {
            if !self.ports[port].is_of_datagrams() || !self.ports[port].may_have_more {
                continue;
            }
            let listener = self.ports[port].listener;
            let pool = self.shared.pools.named(&self.shared.config.listeners[listener].pool);
            for _ in 0..DATAGRAMS_PER_TURN {
                // They stay with the system while there is no room for them here.
                if pool.is_to_wait() || pool.is_above_rate(false) || self.shared.chunks.free() == 0
                {
                    self.is_waiting = true;
                    break;
                }
                if !self.datagram(port) {
                    self.ports[port].may_have_more = false;
                    break;
                }
            }
        }
    }

    /// Takes what the system holds, before the sockets are closed.
    pub(super) fn last_datagrams(&mut self, deadline: Instant) {
        self.ports.iter_mut().for_each(|port| port.may_have_more = port.is_of_datagrams());
        while self.ports.iter().any(|port| port.may_have_more) && Instant::now() < deadline {
            self.is_waiting = false;
            self.datagrams();
            self.hand_over(self.is_waiting);
            if self.is_waiting {
                std::thread::sleep(STARVED_WAIT);
            }
        }
        self.count_lost_datagrams();
    }

    /// Takes a datagram, if there is one.
    fn datagram(&mut self, port: usize) -> bool {
        let listener = self.ports[port].listener;
        let most = self.shared.config.listeners[listener].record_bytes_max;
        // One byte more than may come shows that more came.
        let (count, sender) = match self.ports[port].receive(&mut self.scratch[..=most]) {
            Ok(received) => received,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
            // An error about one datagram, or an interruption.
            Err(_) => return true,
        };
        let metrics = &self.shared.metrics.listeners[listener];
        metrics.reads.fetch_add(1, Ordering::Relaxed);
        metrics.read_bytes.fetch_add(count as u64, Ordering::Relaxed);
        if count > most {
            metrics.datagrams_truncated.fetch_add(1, Ordering::Relaxed);
        }
        let count = count.min(most);
        let connection = self.sender(port, sender);
        let worker = self.worker(connection.id);
        while self.chunk(worker, count).is_none() {
            self.shared.wait_for_chunk();
        }
        if let Some(chunk) = &mut self.filling[worker] {
            let start = chunk.used;
            chunk.bytes[start..start + count].copy_from_slice(&self.scratch[..count]);
            chunk.add_read(&connection, count);
        }
        true
    }

    /// Who sent a datagram, as a connection. Too many of them are forgotten at once.
    fn sender(&mut self, port: usize, sender: Option<SocketAddr>) -> Arc<Connection> {
        if let Some(known) = self.ports[port].senders.get(&sender) {
            return Arc::clone(known);
        }
        if self.ports[port].senders.len() >= DATAGRAM_SENDERS_MAX {
            for (_, old) in std::mem::take(&mut self.ports[port].senders) {
                self.note(old.id, Event::Closed(old.id));
            }
        }
        let listener = self.ports[port].listener;
        let peer = match (sender, &self.ports[port].socket) {
            (Some(sender), _) => Peer::Network(sender),
            (None, PortSocket::UnixDatagram(_, path)) => Peer::Local(path.as_path().into()),
            (None, _) => Peer::Local(Path::new("").into()),
        };
        let connection = self.shared.connection(listener, self.number, peer);
        self.note(connection.id, Event::Opened(Arc::clone(&connection)));
        self.ports[port].senders.insert(sender, Arc::clone(&connection));
        connection
    }

    /// Asks the system how many datagrams it had no room for.
    pub(super) fn count_lost_datagrams(&mut self) {
        let has_udp = |port: &super::Port| matches!(port.socket, PortSocket::Udp(_));
        if !self.ports.iter().any(has_udp) {
            return;
        }
        let tables = SYSTEM_TABLES.map(|path| std::fs::read_to_string(path).unwrap_or_default());
        for port in &mut self.ports {
            let PortSocket::Udp(socket) = &port.socket else { continue };
            let Some(lost) = lost_by(socket.as_raw_fd(), &tables) else { continue };
            let new = lost.saturating_sub(port.lost);
            port.lost = lost;
            let metrics = &self.shared.metrics.listeners[port.listener];
            metrics.datagrams_lost.fetch_add(new, Ordering::Relaxed);
        }
    }
}

/// What the system's tables say of this socket.
fn lost_by(descriptor: i32, tables: &[String]) -> Option<u64> {
    let link = std::fs::read_link(format!("/proc/self/fd/{descriptor}")).ok()?;
    let inode = link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?;
    let column = |line: &str, number| line.split_whitespace().nth(number).map(str::to_owned);
    let mut lines = tables.iter().flat_map(|table| table.lines());
    let line = lines.find(|line| column(line, INODE_COLUMN).is_some_and(|found| found == inode))?;
    column(line, DROPS_COLUMN)?.parse().ok()
}
