//! The clients of the bench: one process, many connections, calls at a rate that does not wait for
//! answers. A call's time runs from when it was due, so that a server that stands still is seen.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use cinch_wire::resp::{Event, LineKind, Resp, RespLimits, write_array, write_bulk};
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use serde_json::{Value, json};

use super::contestants::own_program;
use super::link::Link;
use crate::failure::Outcome;
use crate::random::Random;

/// How long the last answers are waited for.
const SETTLE_MAX: Duration = Duration::from_secs(60);

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum What {
    /// Every key is SET once, each connection one after the other
    Fill,
    /// Every key is GET once, the same way
    Read,
    /// Keys are GET at a rate
    Rate,
    /// Keys are GET as fast as they come, each connection one after the other
    Most,
}

/// The clients of `proxy`
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct LoadArguments {
    to: SocketAddr,
    #[arg(long)]
    what: What,
    /// Payloads, one a line: the value of each key.
    #[arg(long)]
    payloads: PathBuf,
    #[arg(long)]
    connections: usize,
    #[arg(long, default_value_t = 0.0)]
    rate: f64,
    #[arg(long, default_value_t = 0)]
    seconds: u64,
    /// The first payloads are asked for most: the n-th as often as 1/n says.
    #[arg(long)]
    zipf: bool,
}

/// What clients saw.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) calls: f64,
    pub(super) seconds: f64,
    pub(super) p50_us: f64,
    pub(super) p99_us: f64,
    /// Of the first payload alone.
    pub(super) first_p99_us: f64,
}

/// A load to be run by a process of its own.
pub(super) struct Load<'a> {
    pub(super) to: SocketAddr,
    pub(super) what: What,
    pub(super) payloads: &'a Path,
    pub(super) connections: usize,
    pub(super) rate: f64,
    pub(super) seconds: u64,
    pub(super) zipf: bool,
}

impl Load<'_> {
    /// Runs it at the far end of a link, or here.
    pub(super) fn run(&self, link: Option<&Link>) -> Outcome<Seen> {
        let mut command = own_program("proxy-load", link)?;
        let what = clap::ValueEnum::to_possible_value(&self.what).ok_or("a load has a name")?;
        command.arg(self.to.to_string()).arg("--what").arg(what.get_name());
        command.arg("--payloads").arg(self.payloads);
        command.arg("--connections").arg(self.connections.to_string());
        command.arg("--rate").arg(self.rate.to_string());
        command.arg("--seconds").arg(self.seconds.to_string());
        if self.zipf {
            command.arg("--zipf");
        }
        let output = command.stderr(Stdio::inherit()).output()?;
        if !output.status.success() {
            return Err("the clients failed".into());
        }
        let seen: Value = serde_json::from_slice(&output.stdout)?;
        let number = |name: &str| seen[name].as_f64().ok_or("the clients print numbers");
        Ok(Seen {
            calls: number("calls")?,
            seconds: number("seconds")?,
            p50_us: number("p50_us")?,
            p99_us: number("p99_us")?,
            first_p99_us: number("first_p99_us")?,
        })
    }
}

/// How often each key is asked for at most.
pub(super) fn shares(keys: usize, is_zipf: bool) -> Vec<f64> {
    let weights: Vec<f64> =
        (1..=keys).map(|rank| if is_zipf { 1.0 / rank as f64 } else { 1.0 }).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

/// A call that waits for its answer.
struct Call {
    due: Instant,
    key: usize,
}

struct Connection {
    stream: TcpStream,
    out: Vec<u8>,
    sent: usize,
    replies: Resp,
    rest: Vec<u8>,
    waiting: VecDeque<Call>,
    /// The length of the bulk of the answer that is coming.
    length: u64,
}

struct Clients {
    poll: Poll,
    connections: Vec<Connection>,
    payloads: Vec<Vec<u8>>,
    is_set: bool,
    times_us: Vec<f64>,
    first_us: Vec<f64>,
    buffer: Vec<u8>,
}

pub(crate) fn run(arguments: &LoadArguments) -> Outcome {
    let text = std::fs::read(&arguments.payloads)?;
    let payloads: Vec<Vec<u8>> = text
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(<[u8]>::to_vec)
        .collect();
    let poll = Poll::new()?;
    let mut connections = Vec::new();
    for index in 0..arguments.connections {
        let stream = std::net::TcpStream::connect(arguments.to)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let mut stream = TcpStream::from_std(stream);
        let interest = Interest::READABLE | Interest::WRITABLE;
        poll.registry().register(&mut stream, Token(index), interest)?;
        connections.push(Connection {
            stream,
            out: Vec::new(),
            sent: 0,
            replies: Resp::replies(RespLimits::default()),
            rest: Vec::new(),
            waiting: VecDeque::new(),
            length: 0,
        });
    }
    let is_set = arguments.what == What::Fill;
    let mut clients = Clients {
        poll,
        connections,
        payloads,
        is_set,
        times_us: Vec::new(),
        first_us: Vec::new(),
        buffer: vec![0; 1 << 20],
    };
    let start = Instant::now();
    match arguments.what {
        What::Fill | What::Read => clients.each_once()?,
        What::Rate => clients.at_rate(arguments)?,
        What::Most => clients.most(arguments)?,
    }
    let seconds = start.elapsed().as_secs_f64();
    let Clients { mut times_us, mut first_us, .. } = clients;
    let seen = json!({
        "calls": times_us.len(),
        "seconds": seconds,
        "p50_us": quantile(&mut times_us, 0.5),
        "p99_us": quantile(&mut times_us, 0.99),
        "first_p99_us": quantile(&mut first_us, 0.99),
    });
    println!("{seen}");
    Ok(())
}

fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let index = (values.len() as f64 * share) as usize;
    values.get(index.min(values.len().saturating_sub(1))).copied().unwrap_or(0.0)
}

impl Clients {
    fn each_once(&mut self) -> Outcome {
        let keys = self.payloads.len();
        let mut next = 0;
        while self.times_us.len() < keys {
            for index in 0..self.connections.len() {
                if next < keys && self.connections[index].waiting.is_empty() {
                    self.call(index, next, Instant::now())?;
                    next += 1;
                }
            }
            self.turn(None)?;
        }
        Ok(())
    }

    fn most(&mut self, arguments: &LoadArguments) -> Outcome {
        let mut picks = Picks::new(self.payloads.len(), arguments.zipf);
        let end = Instant::now() + Duration::from_secs(arguments.seconds);
        while Instant::now() < end {
            for index in 0..self.connections.len() {
                if self.connections[index].waiting.is_empty() {
                    self.call(index, picks.key(), Instant::now())?;
                }
            }
            self.turn(None)?;
        }
        Ok(())
    }

    fn at_rate(&mut self, arguments: &LoadArguments) -> Outcome {
        let mut picks = Picks::new(self.payloads.len(), arguments.zipf);
        let start = Instant::now();
        let end = start + Duration::from_secs(arguments.seconds);
        let (mut due, mut calls) = (start, 0);
        loop {
            let now = Instant::now();
            while due <= now && due < end {
                self.call(calls % self.connections.len(), picks.key(), due)?;
                calls += 1;
                // Callers know nothing of each other.
                due += Duration::from_secs_f64(-(1.0 - picks.unit()).ln() / arguments.rate);
            }
            if due >= end && self.times_us.len() == calls {
                return Ok(());
            }
            if now > end + SETTLE_MAX {
                return Err("the last answers never came".into());
            }
            let wait = due.saturating_duration_since(Instant::now());
            self.turn(Some(if due < end { wait } else { Duration::from_millis(100) }))?;
        }
    }

    fn call(&mut self, index: usize, key: usize, due: Instant) -> Outcome {
        let connection = &mut self.connections[index];
        let name = format!("menu:{key}");
        if self.is_set {
            write_array(3, &mut connection.out);
            write_bulk(b"SET", &mut connection.out);
            write_bulk(name.as_bytes(), &mut connection.out);
            write_bulk(&self.payloads[key], &mut connection.out);
        } else {
            write_array(2, &mut connection.out);
            write_bulk(b"GET", &mut connection.out);
            write_bulk(name.as_bytes(), &mut connection.out);
        }
        connection.waiting.push_back(Call { due, key });
        connection.send()
    }

    /// Waits for something to happen, no longer than this, and takes what has come.
    fn turn(&mut self, wait: Option<Duration>) -> Outcome {
        let mut ready =
            libc::pollfd { fd: self.poll.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let time = wait.map(|wait| libc::timespec {
            tv_sec: wait.as_secs() as libc::time_t,
            tv_nsec: wait.subsec_nanos().into(),
        });
        let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: one descriptor that is open, and a time that outlives the call or is null. It
        // waits to the nanosecond, which epoll itself does not.
        unsafe { libc::ppoll(&raw mut ready, 1, time, std::ptr::null()) };
        let mut events = Events::with_capacity(256);
        self.poll.poll(&mut events, Some(Duration::ZERO))?;
        for event in &events {
            let index = event.token().0;
            if event.is_writable() {
                self.connections[index].send()?;
            }
            if event.is_readable() {
                self.receive(index)?;
            }
        }
        Ok(())
    }

    fn receive(&mut self, index: usize) -> Outcome {
        loop {
            let connection = &mut self.connections[index];
            let count = match connection.stream.read(&mut self.buffer) {
                Ok(0) => return Err("the server closed a connection".into()),
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error.into()),
            };
            connection.rest.extend_from_slice(&self.buffer[..count]);
            let mut found = Vec::new();
            let scan = connection.replies.scan(&connection.rest, &mut found)?;
            let now = Instant::now();
            for event in &found {
                match event {
                    Event::Bulk(_, Some(body)) => {
                        connection.length = u64::from(body.end - body.start);
                    }
                    Event::BulkBegins(_, length) => connection.length = length.unwrap_or(0),
                    Event::Line(LineKind::Error, text) => {
                        let text = String::from_utf8_lossy(text.of(&connection.rest)).into_owned();
                        return Err(format!("the server says {text}").into());
                    }
                    Event::Complete => {
                        let call = connection.waiting.pop_front().ok_or("nobody asked")?;
                        if !self.is_set && connection.length != self.payloads[call.key].len() as u64
                        {
                            return Err(format!("menu:{} has another length", call.key).into());
                        }
                        let time_us = (now - call.due).as_secs_f64() * 1e6;
                        self.times_us.push(time_us);
                        if call.key == 0 {
                            self.first_us.push(time_us);
                        }
                    }
                    _ => {}
                }
            }
            connection.rest.drain(..scan.consumed);
        }
    }
}

impl Connection {
    fn send(&mut self) -> Outcome {
        while self.sent < self.out.len() {
            match self.stream.write(&self.out[self.sent..]) {
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        self.out.clear();
        self.sent = 0;
        Ok(())
    }
}

/// Which key is asked for next.
struct Picks {
    random: Random,
    /// The sum of the shares up to each key.
    up_to: Vec<f64>,
}

impl Picks {
    fn new(keys: usize, is_zipf: bool) -> Picks {
        let mut sum = 0.0;
        let add = |share: f64| {
            sum += share;
            sum
        };
        Picks {
            random: Random::new(7),
            up_to: shares(keys, is_zipf).into_iter().map(add).collect(),
        }
    }

    /// A number from 0 to below 1.
    fn unit(&mut self) -> f64 {
        (self.random.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn key(&mut self) -> usize {
        let unit = self.unit();
        self.up_to.partition_point(|sum| *sum < unit).min(self.up_to.len() - 1)
    }
}
