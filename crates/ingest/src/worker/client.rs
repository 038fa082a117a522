//! A connection as its worker sees it: the machine of its protocol, the part of a record that has
//! come so far, and its pool once that is known.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use cinch_wire::cal::{Cal, CalError};
use cinch_wire::forward::ForwardError;
use cinch_wire::lines::{Framing, Lines, LinesError, Overlong};
use cinch_wire::native::NativeError;
use cinch_wire::stream::{StreamDecompressor, StreamError};
use cinch_wire::syslog::{Syslog, SyslogError};
use cinch_wire::{Scan, Span};

use super::Filling;
use super::forward::{ChunkError, Forward};
use super::http::{Http, HttpError};
use super::native::Native;
use crate::acknowledge::Receipt;
use crate::config::{Compression, Listener, Protocol, WhenSlow};
use crate::connection::Connection;
use crate::format::RunKind;
use crate::ingress::Shared;
use crate::limits::READ_BYTES_MAX;
use crate::pool::Pool;

/// A part buffer that has grown beyond this is given back when it is empty.
const PART_KEPT_BYTES: usize = 4 << 10;

/// What ends a connection.
#[derive(Debug, thiserror::Error)]
pub(super) enum ClientError {
    #[error(transparent)]
    Cal(#[from] CalError),
    #[error(transparent)]
    Lines(#[from] LinesError),
    #[error(transparent)]
    Syslog(#[from] SyslogError),
    #[error(transparent)]
    Native(#[from] NativeError),
    #[error(transparent)]
    Forward(#[from] ForwardError),
    #[error(transparent)]
    Chunk(#[from] ChunkError),
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error(transparent)]
    Stream(#[from] StreamError),
    #[error("pool {0} has as many connections as it may")]
    PoolIsFull(String),
    #[error("the system has no random numbers: {0}")]
    Random(#[from] getrandom::Error),
}

impl ClientError {
    /// Whether the client was told what is wrong, and should be able to read it.
    pub(super) fn was_answered(&self) -> bool {
        matches!(self, ClientError::Http(_) | ClientError::Native(_) | ClientError::Forward(_))
    }
}

/// A machine of a protocol that keeps what it cuts itself, because it answers.
pub(super) trait Keeper: Send {
    /// Takes all whole records of these bytes and returns how far they go and how many bytes are
    /// needed next.
    fn cut(
        &mut self,
        client: &mut Client,
        bytes: &[u8],
        filling: &mut Filling,
        shared: &Shared,
    ) -> Result<(usize, usize), ClientError>;

    /// The bytes that it holds of records that are not whole.
    fn held_bytes(&self) -> usize {
        0
    }
}

enum Machine {
    /// `None` while it is at work.
    Cal(Option<Box<Cal>>),
    Newline(Lines),
    Lengths(Lines, Vec<Span>),
    Syslog(Syslog, Vec<Span>),
    /// Each read is one datagram, and that one message of syslog.
    SyslogDatagram,
    /// Each read is one datagram, and that lines.
    LinesDatagram,
    /// `None` while it is at work.
    Keeper(Option<Box<dyn Keeper>>),
}

/// A compressed connection.
struct Stream {
    decompressor: StreamDecompressor,
    plain: Vec<u8>,
}

impl Stream {
    fn new(compression: Compression) -> Result<Stream, StreamError> {
        let decompressor = StreamDecompressor::with_defaults(compression.codec())?;
        Ok(Stream { decompressor, plain: vec![0; READ_BYTES_MAX] })
    }
}

/// A connection.
pub(super) struct Client {
    pub(super) connection: Arc<Connection>,
    machine: Machine,
    /// What the client compresses with, and where it is decompressed.
    stream: Option<Box<Stream>>,
    part: Vec<u8>,
    /// How many bytes the incomplete record must have before the machine can get further.
    needed: usize,
    pub(super) pool: Option<Arc<Pool>>,
    own_pool: Option<String>,
    pub(super) host: String,
}

impl Client {
    pub(super) fn new(
        connection: Arc<Connection>,
        listener: &Listener,
        shared: &Shared,
    ) -> Result<Client, ClientError> {
        let most = listener.record_bytes_max;
        let machine = match listener.protocol {
            Protocol::Syslog if listener.address.is_of_datagrams() => Machine::SyslogDatagram,
            Protocol::Lines if listener.address.is_of_datagrams() => Machine::LinesDatagram,
            Protocol::Cal => Machine::Cal(Some(Box::new(Cal::new(most)))),
            Protocol::Lines => {
                Machine::Newline(Lines::new(Framing::Newline, most, Overlong::Split))
            }
            Protocol::LengthPrefixed => {
                let lines = Lines::new(Framing::LengthPrefixed, most, Overlong::Refuse);
                Machine::Lengths(lines, Vec::new())
            }
            Protocol::Syslog => Machine::Syslog(Syslog::new(most, Overlong::Split), Vec::new()),
            Protocol::Forward => keeper(Forward::new(&connection, listener, shared)?),
            Protocol::Http | Protocol::OtlpGrpc => {
                keeper(Http::new(&connection, &listener.pool, shared))
            }
            Protocol::Native => keeper(Native::new(&connection, shared)),
        };
        let own_pool = (!listener.protocol.names_pool()).then(|| listener.pool.clone());
        let (part, host) = (Vec::new(), String::new());
        let stream = listener.compression.map(Stream::new).transpose()?.map(Box::new);
        Ok(Client { connection, machine, stream, part, needed: 0, pool: None, own_pool, host })
    }

    /// The pool that the listener gives it, if the client does not name one.
    pub(super) fn own_pool(&self) -> Option<String> {
        self.own_pool.clone()
    }

    /// The pool is known, which happens once: a label or a hello comes once. A pool that has as
    /// many connections as it may takes no further one.
    pub(super) fn set_pool(&mut self, pool: Arc<Pool>, host: String) -> Result<(), ClientError> {
        if pool.connections.fetch_add(1, Ordering::AcqRel) >= pool.settings.load().connections_max {
            pool.connections.fetch_sub(1, Ordering::AcqRel);
            return Err(ClientError::PoolIsFull(pool.name.clone()));
        }
        let _set = self.connection.pool.set(Arc::clone(&pool));
        self.pool = Some(pool);
        self.host = host;
        Ok(())
    }

    /// The connection is none of its pool any more.
    pub(super) fn leave_pool(&self) {
        if let Some(pool) = &self.pool {
            pool.connections.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// The bytes of the incomplete record, and of what decompresses it.
    pub(super) fn part_bytes(&self) -> usize {
        let of_stream = |stream: &Stream| stream.decompressor.memory_bytes() + stream.plain.len();
        let held = match &self.machine {
            Machine::Keeper(Some(keeper)) => keeper.held_bytes(),
            _ => 0,
        };
        self.part.len() + held + self.stream.as_deref().map_or(0, of_stream)
    }

    /// Takes what was read.
    pub(super) fn take(
        &mut self,
        mut bytes: &[u8],
        filling: &mut Filling,
        shared: &Shared,
    ) -> Result<(), ClientError> {
        if matches!(self.machine, Machine::SyslogDatagram | Machine::LinesDatagram) {
            self.keep_datagram(bytes, filling);
            return Ok(());
        }
        let Some(mut stream) = self.stream.take() else {
            return self.take_plain(bytes, filling, shared);
        };
        // A piece at a time, so that a few bytes that stand for gigabytes take no memory.
        loop {
            let progress = stream.decompressor.decompress(bytes, &mut stream.plain)?;
            bytes = &bytes[progress.consumed..];
            self.take_plain(&stream.plain[..progress.written], filling, shared)?;
            if progress.written < stream.plain.len() {
                break;
            }
        }
        self.stream = Some(stream);
        Ok(())
    }

    fn take_plain(
        &mut self,
        mut bytes: &[u8],
        filling: &mut Filling,
        shared: &Shared,
    ) -> Result<(), ClientError> {
        // An incomplete record gets no more than what completes it, so that the rest of the read
        // is cut where it lies.
        while !self.part.is_empty() && !bytes.is_empty() {
            let missing = self.missing(bytes);
            let (completing, rest) = bytes.split_at(missing.clamp(1, bytes.len()));
            bytes = rest;
            let mut part = std::mem::take(&mut self.part);
            part.extend_from_slice(completing);
            let consumed = self.cut(&part, filling, shared)?;
            part.drain(..consumed);
            if part.is_empty() && part.capacity() > PART_KEPT_BYTES {
                part = Vec::new();
            }
            self.part = part;
        }
        let consumed = self.cut(bytes, filling, shared)?;
        self.part.extend_from_slice(&bytes[consumed..]);
        Ok(())
    }

    /// How many of these bytes the incomplete record still needs, as far as can be seen.
    fn missing(&self, bytes: &[u8]) -> usize {
        match self.needed.saturating_sub(self.part.len()) {
            0 | 1 => match self.machine {
                // A line says only that it is not over yet.
                Machine::Newline(_) | Machine::Syslog(..) => {
                    memchr::memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1)
                }
                _ => bytes.len(),
            },
            missing => missing,
        }
    }

    /// Takes all whole records of these bytes and returns how far they go.
    fn cut(
        &mut self,
        bytes: &[u8],
        filling: &mut Filling,
        shared: &Shared,
    ) -> Result<usize, ClientError> {
        match &mut self.machine {
            Machine::Cal(cal) => {
                let Some(mut at_work) = cal.take() else { return Ok(bytes.len()) };
                let result = self.keep_cal(&mut at_work, bytes, filling, shared);
                self.machine = Machine::Cal(Some(at_work));
                let scan = result?;
                self.needed = scan.needed;
                Ok(scan.consumed)
            }
            Machine::Newline(lines) => {
                let block = lines.scan_block(bytes)?;
                let kept = &bytes[..block.scan.consumed];
                self.needed = block.scan.needed;
                self.keep_lines(kept, block.records, None, filling);
                Ok(block.scan.consumed)
            }
            Machine::Lengths(lines, spans) => {
                spans.clear();
                let result = lines.scan(bytes, spans).map_err(ClientError::from);
                let spans = std::mem::take(spans);
                self.keep_scanned(bytes, spans, result, filling)
            }
            Machine::Syslog(syslog, spans) => {
                spans.clear();
                let result = syslog.scan(bytes, spans).map_err(ClientError::from);
                let spans = std::mem::take(spans);
                self.keep_scanned(bytes, spans, result, filling)
            }
            Machine::Keeper(keeper) => {
                let Some(mut at_work) = keeper.take() else { return Ok(bytes.len()) };
                let result = at_work.cut(self, bytes, filling, shared);
                self.machine = Machine::Keeper(Some(at_work));
                let (consumed, needed) = result?;
                self.needed = needed;
                Ok(consumed)
            }
            Machine::SyslogDatagram | Machine::LinesDatagram => Ok(bytes.len()),
        }
    }

    /// Keeps the records that a scan has found, whether it went wrong behind them or not, and puts
    /// their list back where the next read finds its room.
    fn keep_scanned(
        &mut self,
        bytes: &[u8],
        list: Vec<Span>,
        result: Result<Scan, ClientError>,
        filling: &mut Filling,
    ) -> Result<usize, ClientError> {
        self.keep_records(bytes, &list, None, filling);
        if let Machine::Lengths(_, spans) | Machine::Syslog(_, spans) = &mut self.machine {
            *spans = list;
        }
        let scan = result?;
        self.needed = scan.needed;
        Ok(scan.consumed)
    }

    /// Whether these records are above what the pool may have, and it drops then. They are counted,
    /// and who waits for an answer is told. A pool that spills keeps them, and spares the
    /// compressor.
    pub(super) fn is_refused(
        &self,
        records: usize,
        bytes: usize,
        receipt: Option<&Receipt>,
        filling: &mut Filling,
    ) -> bool {
        let (Some(pool), Some(reason)) = (&self.pool, filling.over) else { return false };
        match pool.settings.load().when_slow {
            WhenSlow::Backpressure => false,
            WhenSlow::Spill => {
                filling.batch(pool).is_hurried = true;
                false
            }
            WhenSlow::Drop => {
                let (records, bytes) = (records as u64, bytes as u64);
                pool.counters.received.add(records, bytes);
                pool.dropped(reason, records, bytes);
                receipt.into_iter().for_each(Receipt::refuse);
                true
            }
        }
    }

    /// Keeps whole lines as they are; a last one without its newline gets one. Whether they were
    /// kept: what was not is counted, and its sender was told.
    pub(super) fn keep_lines(
        &self,
        kept: &[u8],
        records: usize,
        receipt: Option<Receipt>,
        filling: &mut Filling,
    ) -> bool {
        let Some(pool) = self.pool.as_ref().filter(|_| !kept.is_empty()) else { return true };
        if self.is_refused(records, kept.len(), receipt.as_ref(), filling) {
            return false;
        }
        let is_ended = kept.ends_with(b"\n");
        let batch = filling.batch(pool);
        batch.text.extend_from_slice(kept);
        let (kind, added) = if is_ended {
            (RunKind::Lines, kept.len())
        } else {
            batch.text.push(b'\n');
            (RunKind::LinesUnended, kept.len() + 1)
        };
        batch.sections.end_run(&self.connection, &self.host, kind, added, records);
        batch.promise(receipt);
        if filling.rules.want_lines() {
            filling.rules.lines(&pool.name, &self.host, kept);
        }
        self.kept(pool, added, records, filling);
        true
    }

    /// Keeps what one datagram holds.
    fn keep_datagram(&self, bytes: &[u8], filling: &mut Filling) {
        // Senders end a message with a newline or a NUL, as they would on a connection.
        let length = bytes.len() - bytes.iter().rev().take_while(|byte| is_end(**byte)).count();
        let kept = &bytes[..length];
        if kept.is_empty() {
            return;
        }
        if matches!(self.machine, Machine::SyslogDatagram) {
            self.keep_records(kept, &[Span { start: 0, end: kept.len() as u32 }], None, filling);
        } else {
            let records = memchr::memchr_iter(b'\n', kept).count() + 1;
            self.keep_lines(kept, records, None, filling);
        }
    }

    /// Keeps records that lie apart, each with a newline at its end or behind it. Whether they
    /// were kept: what was not is counted, and its sender was told.
    pub(super) fn keep_records(
        &self,
        bytes: &[u8],
        spans: &[Span],
        receipt: Option<Receipt>,
        filling: &mut Filling,
    ) -> bool {
        let Some(pool) = self.pool.as_ref().filter(|_| !spans.is_empty()) else { return true };
        let bytes_of_all = || spans.iter().map(|span| span.len()).sum();
        if filling.over.is_some()
            && self.is_refused(spans.len(), bytes_of_all(), receipt.as_ref(), filling)
        {
            return false;
        }
        let kind = match self.machine {
            Machine::Syslog(..) | Machine::SyslogDatagram => RunKind::Syslog,
            _ => RunKind::LengthPrefixed,
        };
        let batch = filling.batch(pool);
        let before = batch.text.len();
        for span in spans {
            let record = span.of(bytes);
            batch.text.extend_from_slice(record);
            // Senders of syslog often count a newline of their own.
            if !record.ends_with(b"\n") {
                batch.text.push(b'\n');
            }
            batch.sections.record(record.len(), memchr::memchr(b'\n', record).is_none());
        }
        let added = batch.text.len() - before;
        batch.sections.end_run(&self.connection, &self.host, kind, added, spans.len());
        batch.promise(receipt);
        if filling.rules.want_lines() {
            for span in spans {
                filling.rules.lines(&pool.name, &self.host, span.of(bytes));
            }
        }
        self.kept(pool, added, spans.len(), filling);
        true
    }

    pub(super) fn kept(
        &self,
        pool: &Arc<Pool>,
        bytes: usize,
        records: usize,
        filling: &mut Filling,
    ) {
        pool.counters.received.add(records as u64, bytes as u64);
        filling.batch(pool).records += records;
        filling.added(pool.number, bytes);
    }

    /// The connection has ended. What is left of lines is a line; what is left of a record with a
    /// length is lost, which is told by `true`.
    pub(super) fn finish(&mut self, filling: &mut Filling) -> bool {
        self.leave_pool();
        let part = std::mem::take(&mut self.part);
        if part.is_empty() {
            return false;
        }
        match &self.machine {
            Machine::Newline(_) => {
                self.keep_lines(&part, 1, None, filling);
                false
            }
            Machine::Syslog(syslog, _) => match syslog.finish(&part) {
                Ok(last) => {
                    self.keep_records(&part, last.as_slice(), None, filling);
                    false
                }
                Err(_) => true,
            },
            _ => true,
        }
    }
}

fn keeper(keeper: impl Keeper + 'static) -> Machine {
    Machine::Keeper(Some(Box::new(keeper)))
}

fn is_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r' | 0)
}
