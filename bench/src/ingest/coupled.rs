//! The baseline of the article's figures 3, 4 and 9: threads that read from a connection, do
//! everything with what they have read, and only then read the next one. What it does with the
//! bytes is what the ingress does: CAL is cut, metrics are counted, batches are compressed. But a
//! compressor or a file that is slow keeps its thread from reading.
//!
//! It has no limits and drops nothing: it is for the bench only.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{SystemTime, UNIX_EPOCH};
use std::{fmt, io, thread};

use cinch_ingest::config::{Address, Config, SinkKind};
use cinch_ingest::metric::{Rules, Windows};
use cinch_wire::cal::{Cal, Message};
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token, Waker};
use zlib_rs::{Deflate, DeflateFlush};
use zstd_safe::{CCtx, CParameter};

use crate::failure::Outcome;

/// Threads that read and handle: as many as the machine of the bench has processors.
const THREADS: usize = 2;

/// The bytes of a read, which are those of the ingress.
const READ_BYTES: usize = 64 << 10;

/// Connections that were accepted and that their thread has not looked at yet.
const ACCEPTED_MAX: usize = 1_024;

const WAKER: Token = Token(usize::MAX);

/// zlib's number for a gzip wrapper around the largest window, so that the stock gzip reads it.
const GZIP_WINDOW_BITS: u8 = 31;

/// Runs the coupled baseline until its standard input ends.
#[derive(Debug, clap::Args)]
pub(crate) struct CoupledArguments {
    config: PathBuf,
    compressor: Compressor,
}

/// What batches are compressed by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compressor {
    /// zstd at this level.
    Zstd(i32),
    /// zlib-rs at this level: zlib made faster by vector instructions, as Cloudflare's is.
    Zlib(i32),
}

impl fmt::Display for Compressor {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Compressor::Zstd(level) => write!(f, "zstd:{level}"),
            Compressor::Zlib(level) => write!(f, "zlib:{level}"),
        }
    }
}

impl FromStr for Compressor {
    type Err = String;

    fn from_str(text: &str) -> Result<Compressor, String> {
        let wrong = || format!("{text:?} is neither zstd:LEVEL nor zlib:LEVEL");
        let (name, level) = text.split_once(':').ok_or_else(wrong)?;
        let level = level.parse().map_err(|_| wrong())?;
        match name {
            "zstd" => Ok(Compressor::Zstd(level)),
            "zlib" => Ok(Compressor::Zlib(level)),
            _ => Err(wrong()),
        }
    }
}

/// A compressor with its memory, used from batch to batch.
pub(super) enum Context {
    Zstd(Box<CCtx<'static>>),
    Zlib(Box<Deflate>),
}

impl Context {
    pub(super) fn new(compressor: Compressor) -> Outcome<Context> {
        Ok(match compressor {
            Compressor::Zstd(level) => {
                let mut context = Box::new(CCtx::create());
                let set = context.set_parameter(CParameter::CompressionLevel(level));
                set.map_err(zstd_safe::get_error_name)?;
                Context::Zstd(context)
            }
            Compressor::Zlib(level) => {
                Context::Zlib(Box::new(Deflate::new(level, true, GZIP_WINDOW_BITS)))
            }
        })
    }

    /// Compresses all of this into one frame, which replaces what is in `out`.
    pub(super) fn pack(&mut self, input: &[u8], out: &mut Vec<u8>) -> Outcome {
        out.clear();
        match self {
            Context::Zstd(context) => {
                out.reserve(zstd_safe::compress_bound(input.len()));
                context.compress2(out, input).map_err(zstd_safe::get_error_name)?;
            }
            Context::Zlib(deflate) => {
                deflate.reset();
                out.resize(zlib_rs::compress_bound(input.len()) + 32, 0);
                let done = deflate.compress(input, out, DeflateFlush::Finish);
                done.map_err(|error| format!("zlib: {error:?}"))?;
                out.truncate(usize::try_from(deflate.total_out())?);
            }
        }
        Ok(())
    }

    fn ending(&self) -> &'static str {
        match self {
            Context::Zstd(_) => "zst",
            Context::Zlib(_) => "gz",
        }
    }
}

struct Connection {
    stream: TcpStream,
    cal: Cal,
    part: Vec<u8>,
}

/// What one thread has.
struct Coupled {
    connections: Vec<Option<Connection>>,
    rules: Rules,
    messages: Vec<Message>,
    batch: Vec<u8>,
    batch_bytes: usize,
    context: Context,
    frame: Vec<u8>,
    file: File,
}

/// Runs it until standard input ends.
pub(crate) fn serve(arguments: &CoupledArguments) -> Outcome {
    cinch_ingest::limits::raise_open_files();
    let config = Config::read(&arguments.config)?;
    let Some(Address::Tcp(address)) = config.listeners.first().map(|one| &one.address) else {
        return Err("the baseline listens on TCP".into());
    };
    let Some(SinkKind::Filer(filer)) = config.sinks.first().map(|sink| &sink.kind) else {
        return Err("the baseline writes to files".into());
    };
    fs::create_dir_all(&filer.directory)?;
    let is_over = Arc::new(AtomicBool::new(false));
    let windows = Arc::new(Windows::new(config.metrics.clone().into()));
    let (mut threads, mut senders, mut wakers) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..THREADS {
        let context = Context::new(arguments.compressor)?;
        let file = File::create(filer.directory.join(format!("{number}.{}", context.ending())))?;
        let (sender, streams) = sync_channel(ACCEPTED_MAX);
        let poll = Poll::new()?;
        let waker = Arc::new(Waker::new(poll.registry(), WAKER)?);
        let (windows, is_over) = (Arc::clone(&windows), Arc::clone(&is_over));
        let batch_bytes = config.default_pool.batch_bytes;
        threads.push(thread::spawn(move || {
            let coupled = Coupled {
                connections: Vec::new(),
                rules: Rules::new(windows),
                messages: Vec::new(),
                batch: Vec::new(),
                batch_bytes,
                context,
                frame: Vec::new(),
                file,
            };
            coupled.run(poll, &streams, &is_over)
        }));
        senders.push(sender);
        wakers.push(waker);
    }
    let listener = TcpListener::bind(address)?;
    let of_accept = wakers.clone();
    // It ends with the process: what it waits for is another connection.
    thread::spawn(move || {
        for (number, stream) in listener.incoming().map_while(Result::ok).enumerate() {
            let thread = number % THREADS;
            if senders[thread].send(stream).is_err() || of_accept[thread].wake().is_err() {
                break;
            }
        }
    });
    io::stdin().read_to_end(&mut Vec::new())?;
    is_over.store(true, Ordering::Release);
    wakers.iter().try_for_each(|waker| waker.wake())?;
    for thread in threads {
        thread.join().map_err(|_| "a thread panicked")??;
    }
    Ok(())
}

impl Coupled {
    fn run(
        mut self,
        mut poll: Poll,
        streams: &Receiver<std::net::TcpStream>,
        is_over: &AtomicBool,
    ) -> Outcome {
        let mut events = Events::with_capacity(1_024);
        let (mut ready, mut buffer) = (VecDeque::new(), vec![0; READ_BYTES]);
        while !is_over.load(Ordering::Acquire) || !ready.is_empty() {
            let wait = (!ready.is_empty()).then_some(std::time::Duration::ZERO);
            match poll.poll(&mut events, wait) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                result => result?,
            }
            let since = SystemTime::now().duration_since(UNIX_EPOCH)?;
            self.rules.at(since.as_secs());
            for stream in streams.try_iter() {
                self.add(&poll, stream)?;
            }
            ready.extend(events.iter().map(|event| event.token()).filter(|it| *it != WAKER));
            for _ in 0..ready.len() {
                let Some(Token(number)) = ready.pop_front() else { break };
                if self.read(number, &mut buffer)? {
                    ready.push_back(Token(number));
                }
            }
        }
        self.seal()
    }

    fn add(&mut self, poll: &Poll, stream: std::net::TcpStream) -> io::Result<()> {
        stream.set_nonblocking(true)?;
        let mut stream = TcpStream::from_std(stream);
        let token = Token(self.connections.len());
        poll.registry().register(&mut stream, token, Interest::READABLE)?;
        let connection = Connection { stream, cal: Cal::default(), part: Vec::new() };
        self.connections.push(Some(connection));
        Ok(())
    }

    /// Reads once and does everything with it; whether there may be more.
    fn read(&mut self, number: usize, buffer: &mut [u8]) -> Outcome<bool> {
        let Some(connection) = self.connections.get_mut(number).and_then(Option::as_mut) else {
            return Ok(false);
        };
        let count = match connection.stream.read(buffer) {
            Ok(0) => {
                self.connections[number] = None;
                return Ok(false);
            }
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(true),
            Err(_) => {
                self.connections[number] = None;
                return Ok(false);
            }
        };
        let mut part = std::mem::take(&mut connection.part);
        let has_part = !part.is_empty();
        if has_part {
            part.extend_from_slice(&buffer[..count]);
        }
        let bytes = if has_part { &part[..] } else { &buffer[..count] };
        self.messages.clear();
        let scan = connection.cal.scan(bytes, &mut self.messages)?;
        if let Some(label) = connection.cal.label() {
            for message in &self.messages {
                let body = message.body.of(bytes);
                self.batch.extend_from_slice(body);
                self.rules.cal(&label.pool, &label.host, body);
            }
        }
        connection.part = bytes[scan.consumed..].to_vec();
        if self.batch.len() >= self.batch_bytes {
            self.seal()?;
        }
        Ok(count == buffer.len())
    }

    fn seal(&mut self) -> Outcome {
        if !self.batch.is_empty() {
            self.context.pack(&self.batch, &mut self.frame)?;
            self.file.write_all(&self.frame)?;
            self.batch.clear();
        }
        Ok(())
    }
}
