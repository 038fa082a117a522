//! One connection of a client and its connection to the server, without sockets: bytes of both
//! sides come in, bytes for both sides come out. However they are cut, the outcome is the same.
//!
//! A queue holds what the client is owed, in the order of its commands; each reply of the server
//! belongs to its front, and replies of the sidecar's own wait there for their turn. What the
//! server thinks of the connection (is a transaction open, who is subscribed) is read from its
//! replies and never guessed from the commands, because a command may be denied.

mod change;
mod inside;
mod owed;
mod replies;
mod request;
mod requests;
mod rewrite;
mod rewriter;

use std::collections::{HashSet, VecDeque};
use std::mem;
use std::sync::Arc;

use cinch_rollout::live::Live;
use cinch_wire::resp::{Event, Resp, RespError, RespLimits, write_error};

use crate::command::Channels;
use crate::counters::Counters;
use crate::values::{Done, Work};
use owed::{Owed, Transform, What};
use replies::Reply;
use request::Request;
use rewrite::Changing;

/// The longest bulk that is scanned in one piece, in bytes. Longer ones are collected as they come.
const WHOLE_BYTES_MAX: u64 = 16 << 10;

/// The most channels that one connection may be subscribed to: their names are kept, to know how
/// many replies `UNSUBSCRIBE` without names will have.
const SUBSCRIPTIONS_MAX: usize = 65_536;

/// What holds for every session of a process.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The most replies that a client may be owed. Where it is reached, its commands wait.
    pub pipeline_max: usize,
    /// The longest command that is held to pack its values, in bytes.
    pub request_bytes_max: usize,
    /// The longest reply that is held to unpack its values, in bytes.
    pub reply_bytes_max: usize,
    /// Values of at least this many bytes are packed on another thread.
    pub pack_elsewhere_bytes: usize,
    /// Whether commands that change a value inside are done here; refused otherwise.
    pub rewrites: bool,
    /// Scripts that may work on keys of namespaces, by SHA-1 or by function name, in lower case.
    pub scripts: Vec<String>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            pipeline_max: 1_000_000,
            request_bytes_max: 128 << 20,
            reply_bytes_max: 256 << 20,
            pack_elsewhere_bytes: 64 << 10,
            rewrites: false,
            scripts: Vec::new(),
        }
    }
}

/// One connection of a client.
pub struct Session {
    live: Arc<Live>,
    limits: Arc<Limits>,
    counters: Arc<Counters>,
    requests: Resp,
    replies: Resp,
    events: Vec<Event>,
    /// What the client sent and is not done with.
    client_in: Vec<u8>,
    request: Request,
    /// What the server sent and is not done with.
    server_in: Vec<u8>,
    reply: Reply,
    to_server: Vec<u8>,
    to_client: Vec<u8>,
    owed: VecDeque<Owed>,
    /// What the commands say that the client has asked for; the server may have denied it.
    asked: Asked,
    /// What the server's replies say.
    known: Known,
    work: Option<Pending>,
    /// Whether a command waits for the server to say which of its arguments are keys.
    is_asking_keys: bool,
    /// The change inside a value that is under way; commands behind it wait.
    changing: Option<Box<Changing>>,
    /// No more commands are taken; when nothing is owed any more, the connection is closed.
    is_closing: bool,
    sharing: Sharing,
    /// How many commands went to the server since that was asked last.
    asked_count: usize,
    /// Commands that are not counted yet.
    commands: u64,
}

/// Whether the connection to the server is this client's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sharing {
    Own,
    Shared,
    /// It is to become so once nothing is outstanding. A command may be held until then.
    Leaving {
        holds_command: bool,
    },
}

/// The state of a connection as its commands set it.
#[derive(Debug, Default)]
struct Asked {
    in_transaction: bool,
    watches: bool,
    replies_off: bool,
    skips_next: bool,
}

/// The state of a connection as the server's replies tell it.
#[derive(Debug, Default)]
struct Known {
    /// What the replies to the queued commands of an open transaction are.
    queued: Vec<Option<Transform>>,
    is_monitor: bool,
    /// Messages come out of band, and arrays are always replies.
    is_version_3: bool,
    subscriptions: [HashSet<Vec<u8>>; 3],
    /// The first error of the sidecar's own commands.
    step_error: Option<String>,
}

/// A command whose values are being packed.
enum Pending {
    /// To be handed out.
    Ready { work: Work, what: Box<Owed> },
    /// Handed out.
    Out { what: Box<Owed> },
}

impl Session {
    /// A session that acts by `live` from command to command.
    pub fn new(live: Arc<Live>, limits: Arc<Limits>, counters: Arc<Counters>) -> Session {
        let wire = RespLimits { whole_bytes_max: WHOLE_BYTES_MAX, ..RespLimits::default() };
        Session {
            live,
            limits,
            counters,
            requests: Resp::requests(wire),
            // A server's aggregates may be as long as its memory allows.
            replies: Resp::replies(RespLimits { elements_max: u64::MAX >> 8, ..wire }),
            events: Vec::new(),
            client_in: Vec::new(),
            request: Request::default(),
            server_in: Vec::new(),
            reply: Reply::Between,
            to_server: Vec::new(),
            to_client: Vec::new(),
            owed: VecDeque::new(),
            asked: Asked::default(),
            known: Known::default(),
            work: None,
            is_asking_keys: false,
            changing: None,
            is_closing: false,
            sharing: Sharing::Own,
            asked_count: 0,
            commands: 0,
        }
    }

    /// The connection to the server is shared with other sessions, until a command needs one that
    /// is this session's own.
    pub fn shares(&mut self) {
        self.sharing = Sharing::Shared;
    }

    /// Whether it is time for a connection of its own: nothing of it is under way on the shared
    /// one any more.
    pub fn wants_own(&self) -> bool {
        matches!(self.sharing, Sharing::Leaving { .. })
            && self.owed.is_empty()
            && self.work.is_none()
    }

    /// No more commands go to the shared connection.
    pub fn leave_lane(&mut self) {
        if self.sharing == Sharing::Shared {
            self.sharing = Sharing::Leaving { holds_command: false };
        }
    }

    /// From here on the connection to the server is its own.
    pub fn has_own(&mut self) {
        let before = std::mem::replace(&mut self.sharing, Sharing::Own);
        if before == (Sharing::Leaving { holds_command: true }) {
            let input = mem::take(&mut self.client_in);
            let front = self.take_held(&input);
            self.keep_rest(input, front);
        }
        self.take_requests();
    }

    /// How many replies the server owes for what was sent since this was asked last.
    pub fn take_asked(&mut self) -> usize {
        mem::take(&mut self.asked_count)
    }

    /// Whether nothing is owed to the client.
    pub fn is_answered(&self) -> bool {
        self.owed.is_empty() && self.work.is_none()
    }

    /// There are too many clients: this one is told so.
    pub fn turn_away(&mut self) {
        write_error("ERR max number of clients reached", &mut self.to_client);
        self.is_closing = true;
    }

    /// Whether no more commands are taken.
    pub fn is_closing(&self) -> bool {
        self.is_closing
    }

    /// Takes what the client sent.
    pub fn client_sent(&mut self, bytes: &[u8]) {
        if self.client_in.is_empty() {
            let front = self.take_from(bytes);
            self.client_in.extend_from_slice(&bytes[front..]);
        } else {
            self.client_in.extend_from_slice(bytes);
            self.take_requests();
        }
    }

    /// Takes what the server sent.
    ///
    /// # Errors
    /// [`RespError`]: the server does not speak RESP, so that no reply can be told from another.
    /// Both connections are to be closed.
    pub fn server_sent(&mut self, bytes: &[u8]) -> Result<(), RespError> {
        self.take_replies(bytes)
    }

    /// What is to be sent to the server. The caller takes it away.
    pub fn to_server(&mut self) -> &mut Vec<u8> {
        &mut self.to_server
    }

    /// What is to be sent to the client. The caller takes it away.
    pub fn to_client(&mut self) -> &mut Vec<u8> {
        &mut self.to_client
    }

    /// Whether the client is to be read from. It is not while its commands can't be taken.
    pub fn wants_client(&self) -> bool {
        !self.is_halted() && !self.is_closing
    }

    /// Values to be packed elsewhere; the caller gives them back to [`Session::packed`].
    pub fn take_work(&mut self) -> Option<Work> {
        match self.work.take() {
            Some(Pending::Ready { work, what }) => {
                self.work = Some(Pending::Out { what });
                Some(work)
            }
            other => {
                self.work = other;
                None
            }
        }
    }

    /// Takes back what was packed; the commands behind it go on.
    pub fn packed(&mut self, done: Done) {
        if let Some(Pending::Out { what }) = self.work.take() {
            match done.arguments {
                Ok(arguments) => {
                    let arguments: Vec<&[u8]> = arguments.iter().map(Vec::as_slice).collect();
                    write_command(&arguments, &mut self.to_server);
                    self.expect(*what);
                }
                Err(error) => {
                    let changing = self.changing.take();
                    let is_hidden = changing.map_or(what.is_hidden, |found| found.is_hidden());
                    self.refuse_with(format!("CINCH TOOLARGE {error}"), is_hidden);
                }
            }
        }
        self.take_requests();
    }

    /// Whether both connections can be closed: nothing more is taken, and nothing is owed.
    pub fn is_done(&self) -> bool {
        self.is_closing && self.owed.is_empty() && self.to_client.is_empty() && self.work.is_none()
    }

    /// Whether closing now would cut nothing: no command has begun, nothing is owed, no transaction
    /// is open.
    pub fn is_idle(&self) -> bool {
        self.owed.is_empty()
            && self.client_in.is_empty()
            && !self.requests.is_inside_value()
            && self.to_client.is_empty()
            && self.to_server.is_empty()
            && self.work.is_none()
            && !self.asked.in_transaction
    }

    /// Whether commands wait that were not sent yet.
    pub fn has_commands(&self) -> bool {
        self.is_halted() && (self.work.is_some() || !self.client_in.is_empty())
    }

    /// The server can't be reached: whoever has asked nothing yet is told so, too.
    pub fn server_unreachable(&mut self) {
        let is_silent = self.owed.is_empty();
        self.end_owed("CINCH UPSTREAM the server can't be reached");
        if is_silent {
            write_error("CINCH UPSTREAM the server can't be reached", &mut self.to_client);
        }
    }

    /// The server is gone: every reply that is owed becomes an error, but for one that has begun,
    /// which can only be cut off.
    pub fn server_ended(&mut self) {
        if !self.owed.is_empty() {
            self.counters.upstream_failures.add();
        }
        self.end_owed(
            "CINCH UPSTREAM the connection to the server was lost; it is not known whether the \
             command was done",
        );
    }

    fn end_owed(&mut self, error: &str) {
        self.is_closing = true;
        self.work = None;
        self.changing = None;
        let has_begun = self.reply.has_begun();
        for owed in mem::take(&mut self.owed) {
            if has_begun {
                return;
            }
            match owed.what {
                What::Own(reply) if !owed.is_hidden => self.to_client.extend_from_slice(&reply),
                What::Own(_) | What::Step => {}
                _ if owed.is_hidden => {}
                _ => write_error(error, &mut self.to_client),
            }
        }
    }

    /// Whether commands have to wait.
    fn is_halted(&self) -> bool {
        self.work.is_some()
            || self.is_asking_keys
            || self.changing.is_some()
            || self.owed.len() >= self.limits.pipeline_max
            || matches!(self.sharing, Sharing::Leaving { .. })
    }

    /// Owes a reply that the server will send.
    fn expect(&mut self, owed: Owed) {
        self.asked_count += 1;
        self.owed.push_back(owed);
    }

    /// Answers a command that was not sent.
    fn refuse_with(&mut self, error: String, is_hidden: bool) {
        let mut reply = Vec::new();
        write_error(&error, &mut reply);
        if self.asked.in_transaction {
            // The server is told by a command that it refuses too, so that EXEC aborts.
            self.to_server.extend_from_slice(REFUSED_WHEN_QUEUED);
            let what = What::Instead(reply);
            self.expect(Owed { what, is_hidden, may_be_queued: false });
        } else {
            let what = What::Own(reply);
            self.owed.push_back(Owed { what, is_hidden, may_be_queued: false });
            self.settle();
        }
    }

    /// Sends the sidecar's own replies whose turn it is.
    fn settle(&mut self) {
        while let Some(Owed { what: What::Own(_), .. }) = self.owed.front() {
            let Some(Owed { what: What::Own(reply), is_hidden, .. }) = self.owed.pop_front() else {
                return;
            };
            if !is_hidden {
                self.to_client.extend_from_slice(&reply);
            }
        }
    }
}

/// A command that every server refuses, because its one argument is missing.
const REFUSED_WHEN_QUEUED: &[u8] = b"*1\r\n$3\r\nGET\r\n";

/// Writes a command as an array of bulks.
fn write_command(arguments: &[&[u8]], out: &mut Vec<u8>) {
    cinch_wire::resp::write_array(arguments.len() as u64, out);
    for argument in arguments {
        cinch_wire::resp::write_bulk(argument, out);
    }
}

/// The place of a kind of subscription.
fn place(channels: Channels) -> usize {
    match channels {
        Channels::Plain => 0,
        Channels::Patterns => 1,
        Channels::Sharded => 2,
    }
}
