//! Replies: whose each is, and what becomes of it. One that nobody looks into passes as the bytes
//! that it came in.

use std::mem;

use cinch_wire::resp::{AggregateKind, Event, LineKind, RespError};

use super::owed::{Left, Owed, What};
use super::rewriter::{Plan, Rewriter};
use super::{Session, place, write_command};
use crate::command::Channels;

/// What is done with the reply that is coming.
pub(super) enum Reply {
    /// None has begun.
    Between,
    /// Its bytes pass.
    Passes { is_fronts: bool },
    /// It is nobody's.
    Dropped { is_fronts: bool },
    /// It is written anew.
    Rewritten { rewriter: Box<Rewriter>, is_hidden: bool },
    /// It is kept until it is clear what it is.
    Kept(Kept),
}

/// A reply that is kept.
pub(super) struct Kept {
    pub(super) raw: Vec<u8>,
    pub(super) bulks: Vec<Vec<u8>>,
    is_inside_bulk: bool,
    /// A bulk was longer than the limit.
    pub(super) is_cut: bool,
    limit_bytes: usize,
    why: Why,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Why {
    /// It may be an acknowledgement of a subscription, or a message.
    Subscribed,
    /// It is for the sidecar: the keys of a command.
    Keys,
    /// It is for the sidecar: a value that is changed inside.
    Change,
}

/// How much room an empty buffer keeps, in bytes.
const KEPT_BYTES: usize = 4 << 10;

/// The longest acknowledgement or list of keys that is kept, in bytes: names as long as commands.
const KEPT_BYTES_MAX: usize = 16 << 20;

impl Reply {
    /// Whether the client has been sent a part of it.
    pub(super) fn has_begun(&self) -> bool {
        matches!(self, Reply::Passes { .. })
    }
}

impl Session {
    pub(super) fn take_replies(&mut self, bytes: &[u8]) -> Result<(), RespError> {
        if self.server_in.is_empty() {
            let (at, result) = self.take_replies_from(bytes);
            self.server_in.extend_from_slice(&bytes[at..]);
            return result;
        }
        let mut input = mem::take(&mut self.server_in);
        input.extend_from_slice(bytes);
        let (at, result) = self.take_replies_from(&input);
        input.drain(..at);
        if input.is_empty() {
            input.shrink_to(KEPT_BYTES);
        }
        self.server_in = input;
        result
    }

    /// Takes what is at the front of the input: how much of it.
    fn take_replies_from(&mut self, input: &[u8]) -> (usize, Result<(), RespError>) {
        let mut events = mem::take(&mut self.events);
        let mut at = 0;
        let result = loop {
            events.clear();
            let scan = match self.replies.scan_one(&input[at..], &mut events) {
                Ok(scan) => scan,
                Err(error) => break Err(error),
            };
            if scan.consumed == 0 {
                break Ok(());
            }
            let is_whole = events.last() == Some(&Event::Complete);
            self.part_of_reply(&input[at..at + scan.consumed], &events, is_whole);
            at += scan.consumed;
            if is_whole && !self.client_in.is_empty() && !self.is_halted() {
                // It has made room for commands that waited.
                self.take_requests();
            }
        };
        self.events = events;
        (at, result)
    }

    fn part_of_reply(&mut self, raw: &[u8], events: &[Event], is_whole: bool) {
        if let Reply::Between = self.reply {
            self.reply = self.begin(events, raw);
        }
        match &mut self.reply {
            Reply::Between => {}
            Reply::Passes { .. } => self.to_client.extend_from_slice(raw),
            Reply::Dropped { .. } => {}
            Reply::Rewritten { rewriter, .. } => rewriter.take(events, raw),
            Reply::Kept(kept) => {
                kept.take(raw, events);
                if kept.is_message() {
                    // A message is long, maybe; whose it is is clear.
                    self.to_client.extend_from_slice(&kept.raw);
                    self.reply = Reply::Passes { is_fronts: false };
                }
            }
        }
        if is_whole {
            self.end();
        }
    }

    /// Whose the reply is that begins with these events, and what becomes of it.
    fn begin(&mut self, events: &[Event], raw: &[u8]) -> Reply {
        let first = events.iter().find(|event| !matches!(event, Event::Complete)).copied();
        let is_push = matches!(
            first,
            Some(
                Event::Aggregate(AggregateKind::Push, _) | Event::StreamBegins(AggregateKind::Push)
            )
        );
        let is_array = matches!(
            first,
            Some(Event::Aggregate(AggregateKind::Array, _) | Event::StreamBegins(_))
        );
        let is_simple = matches!(first, Some(Event::Line(LineKind::Simple, _)));
        let is_error = matches!(first, Some(Event::Line(LineKind::Error, _)))
            || matches!(first, Some(Event::Bulk(cinch_wire::resp::BulkKind::Error, _)));
        let is_subscribed = !self.known.is_version_3
            && self.known.subscriptions.iter().any(|names| !names.is_empty());
        let Some(front) = self.owed.front_mut() else {
            return match is_array && is_subscribed {
                true => Reply::Kept(Kept::of(Why::Subscribed, KEPT_BYTES_MAX)),
                false => Reply::Passes { is_fronts: false },
            };
        };
        let awaits_names = matches!(front.what, What::Acknowledgements { .. });
        if is_push || is_array && is_subscribed {
            return match awaits_names || is_array {
                true => Reply::Kept(Kept::of(Why::Subscribed, KEPT_BYTES_MAX)),
                false => Reply::Passes { is_fronts: false },
            };
        }
        if self.known.is_monitor && is_simple && !matches!(front.what, What::Reset) {
            return Reply::Passes { is_fronts: false };
        }
        if awaits_names && is_array {
            return Reply::Kept(Kept::of(Why::Subscribed, KEPT_BYTES_MAX));
        }
        let is_hidden = front.is_hidden;
        let passes = match is_hidden {
            true => Reply::Dropped { is_fronts: true },
            false => Reply::Passes { is_fronts: true },
        };
        if front.may_be_queued {
            // Not so if the server has denied the transaction.
            let is_queued = raw.starts_with(b"+QUEUED\r\n");
            if is_queued {
                let what = mem::replace(&mut front.what, What::Pass);
                self.known.queued.push(match what {
                    What::Unpack(transform) => Some(transform),
                    _ => None,
                });
                return passes;
            }
        }
        match &front.what {
            What::Multi if is_simple => {
                self.known.queued.clear();
                passes
            }
            What::Discard if is_simple => {
                self.known.queued.clear();
                passes
            }
            What::Monitor if is_simple => {
                self.known.is_monitor = true;
                passes
            }
            What::Reset if is_simple => {
                self.known = super::Known::default();
                passes
            }
            What::Hello { is_version_3 } if !is_error => {
                self.known.is_version_3 = *is_version_3;
                passes
            }
            What::Exec => {
                let queued = mem::take(&mut self.known.queued);
                let is_rewritten = is_array && queued.iter().any(Option::is_some);
                match is_rewritten {
                    true => self.rewritten(Plan::Each(queued), is_hidden),
                    false => passes,
                }
            }
            What::Unpack(transform) => {
                if is_error && self.known.step_error.is_some() {
                    // The reason stands in the error of an earlier step.
                    return Reply::Dropped { is_fronts: true };
                }
                let plan = Plan::One(transform.clone());
                self.rewritten(plan, is_hidden)
            }
            What::Step => {
                if is_error && self.known.step_error.is_none() {
                    self.known.step_error = Some(match raw.starts_with(b"-NOPERM") {
                        true => STEP_REFUSED.to_owned(),
                        false => String::from_utf8_lossy(&raw[1..]).trim_end().to_owned(),
                    });
                }
                Reply::Dropped { is_fronts: true }
            }
            What::Instead(_) => Reply::Dropped { is_fronts: true },
            What::KeysOf(_) => Reply::Kept(Kept::of(Why::Keys, KEPT_BYTES_MAX)),
            What::ChangeRead | What::ChangeWrite => {
                Reply::Kept(Kept::of(Why::Change, self.limits.reply_bytes_max))
            }
            _ => passes,
        }
    }

    fn rewritten(&self, plan: Plan, is_hidden: bool) -> Reply {
        let live = std::sync::Arc::clone(&self.live);
        let rewriter = Rewriter::new(live, plan, self.limits.reply_bytes_max);
        Reply::Rewritten { rewriter: Box::new(rewriter), is_hidden }
    }

    /// A reply is whole.
    fn end(&mut self) {
        match mem::replace(&mut self.reply, Reply::Between) {
            Reply::Between => {}
            Reply::Passes { is_fronts: false } | Reply::Dropped { is_fronts: false } => {}
            Reply::Passes { is_fronts: true } => {
                self.owed.pop_front();
            }
            Reply::Dropped { is_fronts: true } => self.end_dropped(),
            Reply::Rewritten { mut rewriter, is_hidden } => {
                let damaged = mem::take(&mut rewriter.damaged);
                for _ in 0..rewriter.undecodable {
                    self.counters.undecodable.add();
                }
                if !is_hidden {
                    self.to_client.extend_from_slice(&rewriter.finish());
                }
                self.known.step_error = None;
                self.owed.pop_front();
                self.remove(&damaged);
            }
            Reply::Kept(mut kept) => match kept.why {
                Why::Keys => self.keys_arrived(&kept),
                Why::Change => self.change_arrived(&mut kept),
                Why::Subscribed => self.acknowledged(kept),
            },
        }
        self.settle();
    }

    /// Removes damaged values from a cache, if they are still what was read. A client that watches
    /// keys or has a transaction open would be disturbed by that; then the next reader does it.
    fn remove(&mut self, damaged: &[(Vec<u8>, Vec<u8>)]) {
        if self.asked.in_transaction || self.asked.watches || self.is_closing {
            return;
        }
        for (key, value) in damaged {
            write_command(&[b"EVAL", COMPARE_AND_DELETE, b"1", key, value], &mut self.to_server);
            self.expect(Owed { what: What::Removal, is_hidden: true, may_be_queued: false });
            self.counters.removed.add();
        }
    }

    fn end_dropped(&mut self) {
        let Some(owed) = self.owed.pop_front() else { return };
        let error = match owed.what {
            What::Instead(reply) => Some(reply),
            What::Unpack(_) => self.known.step_error.take().map(|error| {
                let mut reply = Vec::new();
                cinch_wire::resp::write_error(&error, &mut reply);
                reply
            }),
            _ => None,
        };
        if let (Some(reply), false) = (error, owed.is_hidden) {
            self.to_client.extend_from_slice(&reply);
        }
    }

    /// An array or push that may be an acknowledgement of a subscription.
    fn acknowledged(&mut self, kept: Kept) {
        self.to_client.extend_from_slice(&kept.raw);
        let Some((channels, is_subscribing)) = kept.acknowledgement() else {
            // Something else that is an array: the reply to PING while subscribed.
            let is_push = kept.raw.first() == Some(&b'>');
            if !is_push {
                self.owed.pop_front();
            }
            return;
        };
        let before = self.known.subscriptions[place(channels)].len();
        let names = &mut self.known.subscriptions[place(channels)];
        if let Some(name) = kept.bulks.get(1) {
            match is_subscribing {
                true => {
                    names.insert(name.clone());
                }
                false => {
                    names.remove(name);
                }
            }
        }
        let Some(Owed { what: What::Acknowledgements { channels: awaited, left }, .. }) =
            self.owed.front_mut()
        else {
            return;
        };
        if *awaited != channels {
            return;
        }
        let count = match *left {
            Left::Count(count) => count,
            Left::AllThereAre => before.max(1),
        };
        *left = Left::Count(count.saturating_sub(1));
        if count <= 1 {
            self.owed.pop_front();
        }
    }

    /// The server has said which arguments of a command are keys.
    fn keys_arrived(&mut self, kept: &Kept) {
        self.is_asking_keys = false;
        let Some(Owed { what: What::KeysOf(raw), is_hidden, .. }) = self.owed.pop_front() else {
            return;
        };
        let is_list = kept.raw.first() == Some(&b'*');
        let has_none = kept.raw.starts_with(b"-ERR The command has no key arguments");
        let is_ours = {
            let snapshot = self.live.snapshot();
            let ours = |key: &Vec<u8>| crate::values::namespace_of(&snapshot, key).is_some();
            kept.bulks.iter().any(ours)
        };
        if (is_list || has_none) && !is_ours {
            self.counters.unknown.add();
            self.to_server.extend_from_slice(&raw);
            self.expect(Owed { what: What::Pass, is_hidden, may_be_queued: false });
        } else {
            self.counters.refused.add();
            self.refuse_with(super::requests::UNKNOWN.to_owned(), is_hidden);
        }
    }
}

/// Removes a value if it is this one. A field of a hash is none, and stays.
const COMPARE_AND_DELETE: &[u8] =
    b"if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

/// What a client reads whose user lacks a right that an answer needs.
const STEP_REFUSED: &str = "CINCH NOPERM the length of a packed value needs the right to MULTI, \
                            GETRANGE, STRLEN and EXEC";

impl Kept {
    fn of(why: Why, limit_bytes: usize) -> Kept {
        let (raw, bulks) = (Vec::new(), Vec::new());
        Kept { raw, bulks, is_inside_bulk: false, is_cut: false, limit_bytes, why }
    }

    fn take(&mut self, raw: &[u8], events: &[Event]) {
        let is_wanted = match self.why {
            Why::Subscribed => true,
            Why::Keys => self.raw.len() < KEPT_BYTES_MAX,
            // The kind of the reply, or the words of an error.
            Why::Change => self.raw.is_empty(),
        };
        if is_wanted {
            self.raw.extend_from_slice(raw);
        }
        for event in events {
            match event {
                Event::Bulk(_, body) => {
                    self.bulks.push(body.map_or(Vec::new(), |body| body.of(raw).to_vec()));
                }
                Event::BulkBegins(..) => {
                    self.bulks.push(Vec::new());
                    self.is_inside_bulk = true;
                }
                Event::BulkPart(part) => {
                    let limit_bytes = self.limit_bytes;
                    match self.bulks.last_mut().filter(|last| last.len() < limit_bytes) {
                        Some(last) => last.extend_from_slice(part.of(raw)),
                        None => self.is_cut = true,
                    }
                }
                Event::BulkEnds => self.is_inside_bulk = false,
                _ => {}
            }
        }
    }

    fn kind(&self) -> Option<&[u8]> {
        let is_whole = self.bulks.len() > 1 || !self.is_inside_bulk;
        self.bulks.first().filter(|_| is_whole).map(Vec::as_slice)
    }

    /// Whether it is out of band: a message or an invalidation.
    fn is_message(&self) -> bool {
        self.why == Why::Subscribed
            && matches!(
                self.kind(),
                Some(
                    b"message"
                        | b"pmessage"
                        | b"smessage"
                        | b"invalidate"
                        | b"tracking-redir-broken"
                )
            )
    }

    /// The kind of an acknowledgement, and whether it is of a subscription.
    fn acknowledgement(&self) -> Option<(Channels, bool)> {
        match self.kind()? {
            b"subscribe" => Some((Channels::Plain, true)),
            b"psubscribe" => Some((Channels::Patterns, true)),
            b"ssubscribe" => Some((Channels::Sharded, true)),
            b"unsubscribe" => Some((Channels::Plain, false)),
            b"punsubscribe" => Some((Channels::Patterns, false)),
            b"sunsubscribe" => Some((Channels::Sharded, false)),
            _ => None,
        }
    }
}
