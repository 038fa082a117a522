//! The load: many connections that send as CAL clients do. A connection is a non-blocking socket
//! with a small buffer that gets a bunch of whole messages on schedule; a bunch that the socket
//! has not taken within the interval is a disconnect, and what was left of it is lost.
//!
//! One thread sends for all connections, so that what is measured has the other processors.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use socket2::{Domain, Protocol as SocketProtocol, SockRef, Socket, Type};

use crate::config::Protocol;
use crate::histogram::Histogram;
use crate::limits::raise_open_files;

mod messages;

pub use messages::Messages;

/// The send buffer of a CAL client's machine, in bytes.
pub const SEND_BUFFER_BYTES: usize = 128 << 10;

/// What a client waits for its bunch to be taken: 128 KiB at 200 KB/s, the article's 0.64 s.
pub const BUNCH_DEADLINE: Duration = Duration::from_millis(640);

/// How long a client waits for a connection.
const CONNECT_TIME: Duration = Duration::from_secs(5);

/// What a load is.
#[derive(Debug, Clone)]
pub struct Load {
    /// Where to.
    pub address: SocketAddr,
    /// How the messages are framed.
    pub protocol: Protocol,
    /// How many connections.
    pub connections: usize,
    /// Bytes in a second, of all connections together.
    pub rate: u64,
    /// Bytes of a bunch.
    pub bunch_bytes: usize,
    /// How long.
    pub duration: Duration,
    /// When a bunch that was not taken is a disconnect.
    pub deadline: Duration,
}

/// What came of a load.
#[derive(Debug)]
pub struct LoadResult {
    /// How long it took.
    pub elapsed: Duration,
    /// Bytes that sockets have taken.
    pub sent_bytes: u64,
    /// Messages of bunches that were taken whole.
    pub sent_messages: u64,
    /// Bunches that were not taken in time, and connections that the server closed.
    pub disconnects: u64,
    /// Messages that were lost with them, at least in part.
    pub lost_messages: u64,
    /// Bunches that were sent later than they were due, because this side was not quick enough.
    pub late_bunches: u64,
    /// From the time a bunch was due to the time when it was taken whole: the pause as a client
    /// sees it.
    pub pause: Histogram,
}

struct Bunch {
    messages: usize,
    due: Instant,
    sent: usize,
}

struct Sender {
    stream: Option<TcpStream>,
    waiting: VecDeque<Bunch>,
    is_pending: bool,
}

/// Runs a load to its end.
///
/// # Errors
/// When the server can't be connected to.
pub fn run(load: &Load, messages: &Messages) -> io::Result<LoadResult> {
    raise_open_files();
    let mut run = Run::start(load, messages)?;
    let interval = Duration::from_secs_f64(load.bunch_bytes as f64 / load.rate.max(1) as f64);
    let start = Instant::now();
    let total = (load.duration.as_secs_f64() / interval.as_secs_f64()) as u64;
    let mut next = 0;
    let mut events = Events::with_capacity(1_024);
    while next < total || run.pending > 0 {
        let now = Instant::now();
        while next < total && start + interval.mul_f64(next as f64) <= now {
            let due = start + interval.mul_f64(next as f64);
            let number = (next % load.connections as u64) as usize;
            run.offer(number, due)?;
            next += 1;
        }
        let wait = match next < total {
            true => (start + interval.mul_f64(next as f64)).saturating_duration_since(now),
            false => Duration::from_millis(10),
        };
        match run.poll.poll(&mut events, Some(wait.min(Duration::from_millis(10)))) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            result => result?,
        }
        for event in &events {
            run.send(event.token().0)?;
        }
        run.give_up_late()?;
    }
    let mut result = run.result;
    result.elapsed = start.elapsed();
    Ok(result)
}

struct Run<'a> {
    load: &'a Load,
    messages: &'a Messages,
    poll: Poll,
    senders: Vec<Sender>,
    pending: usize,
    looked: Instant,
    result: LoadResult,
}

impl<'a> Run<'a> {
    fn start(load: &'a Load, messages: &'a Messages) -> io::Result<Run<'a>> {
        let result = LoadResult {
            elapsed: Duration::ZERO,
            sent_bytes: 0,
            sent_messages: 0,
            disconnects: 0,
            lost_messages: 0,
            late_bunches: 0,
            pause: Histogram::default(),
        };
        let poll = Poll::new()?;
        let looked = Instant::now();
        let mut run = Run { load, messages, poll, senders: Vec::new(), pending: 0, looked, result };
        for number in 0..load.connections {
            let (waiting, is_pending) = (VecDeque::new(), false);
            run.senders.push(Sender { stream: None, waiting, is_pending });
            run.connect(number)?;
        }
        Ok(run)
    }

    fn connect(&mut self, number: usize) -> io::Result<()> {
        let domain = Domain::for_address(self.load.address);
        let socket = Socket::new(domain, Type::STREAM, Some(SocketProtocol::TCP))?;
        socket.set_send_buffer_size(SEND_BUFFER_BYTES)?;
        socket.connect_timeout(&self.load.address.into(), CONNECT_TIME)?;
        let mut stream: std::net::TcpStream = socket.into();
        SockRef::from(&stream).set_tcp_nodelay(true)?;
        // The label fits an empty socket buffer, so it is written as one.
        stream.write_all(&self.messages.greeting(number))?;
        stream.set_nonblocking(true)?;
        let mut stream = TcpStream::from_std(stream);
        self.poll.registry().register(&mut stream, Token(number), Interest::WRITABLE)?;
        self.senders[number].stream = Some(stream);
        Ok(())
    }

    /// A bunch is due on this connection.
    fn offer(&mut self, number: usize, due: Instant) -> io::Result<()> {
        if due.elapsed() > self.load.deadline / 2 {
            self.result.late_bunches += 1;
        }
        let messages = self.messages.next();
        self.senders[number].waiting.push_back(Bunch { messages, due, sent: 0 });
        self.send(number)
    }

    fn send(&mut self, number: usize) -> io::Result<()> {
        let sender = &mut self.senders[number];
        while let (Some(stream), Some(bunch)) = (&mut sender.stream, sender.waiting.front_mut()) {
            let bytes = self.messages.bunch(bunch.messages);
            match stream.write(&bytes.bytes[bunch.sent..]) {
                Ok(count) => {
                    bunch.sent += count;
                    self.result.sent_bytes += count as u64;
                    if bunch.sent == bytes.bytes.len() {
                        self.result.pause.add(bunch.due.elapsed());
                        self.result.sent_messages += bytes.messages;
                        sender.waiting.pop_front();
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return self.disconnect(number),
            }
        }
        let is_pending = !sender.waiting.is_empty();
        match (sender.is_pending, is_pending) {
            (false, true) => self.pending += 1,
            (true, false) => self.pending -= 1,
            _ => {}
        }
        sender.is_pending = is_pending;
        Ok(())
    }

    /// The connection is unhealthy: what waits on it is lost, and it is made anew.
    fn disconnect(&mut self, number: usize) -> io::Result<()> {
        let sender = &mut self.senders[number];
        self.result.disconnects += 1;
        let lost = sender.waiting.drain(..).map(|bunch| self.messages.bunch(bunch.messages));
        self.result.lost_messages += lost.map(|bunch| bunch.messages).sum::<u64>();
        self.pending -= usize::from(std::mem::take(&mut sender.is_pending));
        sender.stream = None;
        self.connect(number)
    }

    fn give_up_late(&mut self) -> io::Result<()> {
        if self.pending == 0 || self.looked.elapsed() < Duration::from_millis(5) {
            return Ok(());
        }
        self.looked = Instant::now();
        for number in 0..self.senders.len() {
            let oldest = self.senders[number].waiting.front();
            if oldest.is_some_and(|bunch| bunch.due.elapsed() > self.load.deadline) {
                // What the socket takes by now was not late, only not asked for.
                self.send(number)?;
                let oldest = self.senders[number].waiting.front();
                if oldest.is_some_and(|bunch| bunch.due.elapsed() > self.load.deadline) {
                    self.disconnect(number)?;
                }
            }
        }
        Ok(())
    }
}
