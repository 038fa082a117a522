//! One client's connection and the server's beside it: bytes between two sockets and a session.
//!
//! What is read at once is answered with one write. Neither side is read from while what came of it
//! can't be sent on, but commands of a client are taken while its replies wait: clients that write
//! a long pipeline before they read would else stand still for ever.
//!
//! It is one hand-written future: it is polled some hundred thousand times a second, and what a
//! poll does not need is not made for it.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

use tokio::sync::watch;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::lane::{Lane, Seat};
use crate::link::Link;
use crate::outgoing::Outgoing;
use crate::session::Session;
use crate::shared::{Shared, upstream};
use crate::values::Done;

/// How much is read at once, in bytes. One buffer serves all connections of an event loop.
const READ_BYTES: usize = 64 << 10;

/// How much may wait to be sent before the other side is not read from any more, in bytes.
const WAITING_BYTES_MAX: usize = 1 << 20;

/// How much of a client may be under way on a connection that it shares, in bytes.
const SHARED_BYTES_MAX: usize = 256 << 10;

thread_local! {
    static READ: RefCell<Vec<u8>> = RefCell::new(vec![0; READ_BYTES]);
}

/// Reads what is there into the loop's buffer and hands it on.
pub(crate) fn poll_read_with<T>(
    link: &mut Link,
    context: &mut Context<'_>,
    take: impl FnOnce(&[u8]) -> T,
) -> Poll<io::Result<T>> {
    READ.with_borrow_mut(|buffer| {
        link.poll_read(context, buffer).map_ok(|count| take(&buffer[..count]))
    })
}

/// Where commands go.
enum Server {
    /// A connection that is shared with other clients.
    Lane { lane: Arc<Lane>, seat: Arc<Seat> },
    /// One of its own is being made.
    Connecting(Pin<Box<dyn Future<Output = io::Result<Link>> + Send>>),
    /// One of its own.
    Own(Link),
    /// It is lost.
    Gone,
}

struct Connection {
    client: Link,
    server: Server,
    session: Session,
    shared: Arc<Shared>,
    to_client: Outgoing,
    to_server: Outgoing,
    has_client: bool,
    is_shut: bool,
    /// Bytes that are under way on a shared connection.
    lane_bytes: usize,
    job: Option<JoinHandle<Done>>,
}

/// Serves a client until one side ends, or until nothing is under way after `stop` says so. The
/// server is a connection of its own, or else a lane that is shared until that does not do.
pub(crate) async fn serve(
    client: Link,
    lane: Option<Arc<Lane>>,
    session: Session,
    shared: Arc<Shared>,
    mut stop: watch::Receiver<bool>,
) -> io::Result<()> {
    let server = match lane {
        _ if session.is_closing() => Server::Gone,
        Some(lane) => Server::Lane { lane, seat: Arc::default() },
        None => Server::Connecting(Box::pin(upstream(Arc::clone(&shared)))),
    };
    let mut connection = Connection {
        client,
        server,
        session,
        shared,
        to_client: Outgoing::default(),
        to_server: Outgoing::default(),
        has_client: true,
        is_shut: false,
        lane_bytes: 0,
        job: None,
    };
    let mut stopped = pin!(stop.changed());
    // A task that has asked to be woken by the stop is woken by it: asking once is enough.
    let mut has_asked = false;
    let outcome = poll_fn(|context| {
        if !has_asked {
            has_asked = stopped.as_mut().poll(context).is_pending();
        }
        connection.poll(context)
    })
    .await;
    if let Server::Lane { seat, .. } = &connection.server {
        seat.leave();
    }
    // The client reads the end of the connection whatever becomes of this.
    let _ended = poll_fn(|context| connection.client.poll_shutdown(context)).await;
    outcome
}

impl Connection {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            let mut has_moved = self.poll_work(context)?;
            has_moved |= self.poll_server(context);
            self.to_client.take(self.session.to_client());
            if !self.to_client.is_sent() {
                has_moved |= self.to_client.poll_send(context, &mut self.client)?.is_ready();
            }
            if self.is_over() {
                return Poll::Ready(Ok(()));
            }
            has_moved |= self.poll_client(context)?;
            if !has_moved {
                return Poll::Pending;
            }
        }
    }

    fn is_over(&self) -> bool {
        if !self.to_client.is_sent() {
            return false;
        }
        if matches!(self.server, Server::Gone) || self.session.is_done() {
            return true;
        }
        if !self.has_client && !matches!(self.server, Server::Own(_)) && self.owes_nothing() {
            return true;
        }
        let is_stopping = self.shared.is_stopping.load(Ordering::Relaxed);
        is_stopping && self.to_server.is_sent() && self.session.is_idle()
    }

    /// Whether all that the client has said is answered.
    fn owes_nothing(&self) -> bool {
        !self.session.has_commands() && self.session.is_answered() && self.to_server.len() == 0
    }

    /// Has values packed on another thread, and takes them back.
    fn poll_work(&mut self, context: &mut Context<'_>) -> io::Result<bool> {
        let mut has_moved = false;
        if let Some(work) = self.session.take_work() {
            has_moved = true;
            match Arc::clone(&self.shared.packing).try_acquire_owned() {
                Ok(permit) => {
                    self.shared.counters.packed_elsewhere.add();
                    self.job = Some(spawn_blocking(move || {
                        let done = work.run();
                        drop(permit);
                        done
                    }));
                }
                Err(_) => {
                    self.shared.counters.shed.add();
                    self.session.packed(work.shed());
                }
            }
        }
        if let Some(job) = &mut self.job
            && let Poll::Ready(done) = Pin::new(job).poll(context)
        {
            self.job = None;
            self.session.packed(done.map_err(io::Error::other)?);
            has_moved = true;
        }
        Ok(has_moved)
    }

    fn poll_client(&mut self, context: &mut Context<'_>) -> io::Result<bool> {
        let is_crowded = match self.server {
            Server::Lane { .. } => {
                self.lane_bytes >= SHARED_BYTES_MAX || self.to_client.len() >= WAITING_BYTES_MAX
            }
            _ => self.to_server.len() >= WAITING_BYTES_MAX,
        };
        if is_crowded || !self.has_client || !self.session.wants_client() {
            return Ok(false);
        }
        let session = &mut self.session;
        let read = poll_read_with(&mut self.client, context, |bytes| {
            session.client_sent(bytes);
            bytes.len()
        });
        match read? {
            Poll::Pending => Ok(false),
            Poll::Ready(count) => {
                self.has_client = count > 0;
                Ok(true)
            }
        }
    }

    fn poll_server(&mut self, context: &mut Context<'_>) -> bool {
        match &mut self.server {
            Server::Gone => {
                self.session.to_server().clear();
                false
            }
            Server::Own(_) => self.poll_own(context),
            Server::Lane { .. } => self.poll_lane(context),
            Server::Connecting(connecting) => {
                self.to_server.take(self.session.to_server());
                match connecting.as_mut().poll(context) {
                    Poll::Pending => return false,
                    Poll::Ready(Ok(link)) => {
                        self.server = Server::Own(link);
                        self.session.has_own();
                    }
                    Poll::Ready(Err(_)) => {
                        self.shared.counters.upstream_failures.add();
                        self.session.server_unreachable();
                        self.server = Server::Gone;
                    }
                }
                true
            }
        }
    }

    fn poll_own(&mut self, context: &mut Context<'_>) -> bool {
        let Server::Own(link) = &mut self.server else { return false };
        let mut has_moved = false;
        self.to_server.take(self.session.to_server());
        if !self.to_server.is_sent() {
            match self.to_server.poll_send(context, link) {
                Poll::Ready(Ok(())) => has_moved = true,
                // The end is found by reading, behind what the server said before.
                Poll::Ready(Err(_)) => self.to_server = Outgoing::default(),
                Poll::Pending => {}
            }
        }
        if !self.has_client
            && !self.is_shut
            && !self.session.has_commands()
            && self.to_server.is_sent()
        {
            // The server answers what it was sent, and ends its side in turn.
            match link.poll_shutdown(context) {
                Poll::Ready(_) => self.is_shut = true,
                Poll::Pending => return has_moved,
            }
        }
        if self.to_client.len() >= WAITING_BYTES_MAX {
            return has_moved;
        }
        let session = &mut self.session;
        let read = poll_read_with(link, context, |bytes| match bytes.is_empty() {
            true => Ok(false),
            false => session.server_sent(bytes).map(|()| true),
        });
        match read {
            Poll::Pending => has_moved,
            Poll::Ready(Ok(Ok(true))) => true,
            Poll::Ready(read) => {
                if let Ok(Err(_)) = read {
                    self.shared.counters.protocol_errors.add();
                }
                self.lose_server();
                true
            }
        }
    }

    fn poll_lane(&mut self, context: &mut Context<'_>) -> bool {
        let Server::Lane { lane, seat } = &mut self.server else { return false };
        let asked = self.session.take_asked();
        let bytes = self.session.to_server();
        if !bytes.is_empty() {
            self.lane_bytes += bytes.len();
            lane.send(seat, bytes, asked);
        }
        let session = &mut self.session;
        let inbox = seat.poll(context, |bytes| session.server_sent(bytes));
        let mut has_moved = inbox.has_more;
        if self.session.is_answered() {
            self.lane_bytes = 0;
        }
        if inbox.is_lost || inbox.is_broken {
            self.lose_server();
            return true;
        }
        if self.to_client.len() >= WAITING_BYTES_MAX {
            // Who reads slowly has others wait no longer than for what is under way.
            self.session.leave_lane();
        }
        if self.session.wants_own() {
            if let Server::Lane { seat, .. } = &self.server {
                seat.leave();
            }
            self.server = Server::Connecting(Box::pin(upstream(Arc::clone(&self.shared))));
            has_moved = true;
        }
        has_moved
    }

    fn lose_server(&mut self) {
        self.session.server_ended();
        self.to_server = Outgoing::default();
        self.server = Server::Gone;
    }
}
