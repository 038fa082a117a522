//! Commands: what each is, what is sent to the server for it, and what the client is then owed. A
//! command of which no value is to be packed is sent as the bytes that it came in.

use std::mem;
use std::sync::Arc;

use bytes::Bytes;
use cinch_wire::resp::{Event, write_error};

use super::inside::Question;
use super::owed::{Left, Owed, Transform, What};
use super::request::Mode;
use super::{Pending, SUBSCRIPTIONS_MAX, Session, Sharing, place, write_command};
use crate::command::{Class, Command, Connection, Inside, Keys, Shape, Values, command_named};
use crate::values::{self, HEAD_BYTES, Packing, Work};

/// What a client reads that sent a command unknown to the sidecar on keys of a namespace.
pub(super) const UNKNOWN: &str = "CINCH UNKNOWN the sidecar does not know this command, and it \
                                  names a key of a packed namespace";

/// How much room an empty buffer keeps, in bytes.
const KEPT_BYTES: usize = 4 << 10;

/// A command that is longer than this is looked at before it is whole, in bytes.
const LOOK_AT_BYTES: usize = 64 << 10;

impl Session {
    pub(super) fn take_requests(&mut self) {
        if self.client_in.is_empty() {
            return;
        }
        let input = mem::take(&mut self.client_in);
        let front = self.take_from(&input);
        self.keep_rest(input, front);
    }

    /// Keeps what is behind `front` for later.
    pub(super) fn keep_rest(&mut self, mut input: Vec<u8>, front: usize) {
        input.drain(..front);
        if input.is_empty() {
            input.shrink_to(KEPT_BYTES);
        }
        self.client_in = input;
    }

    /// The command that was held is taken now: how much of the input that was.
    pub(super) fn take_held(&mut self, input: &[u8]) -> usize {
        let end = self.request.scanned;
        self.whole(input, 0, end);
        self.request.scanned = 0;
        self.request.forget_places(true);
        end
    }

    /// Takes the commands at the front of the input: how much of it they were.
    pub(super) fn take_from(&mut self, input: &[u8]) -> usize {
        let mut events = mem::take(&mut self.events);
        // What is in front of `front` was dealt with.
        let mut front = 0;
        while !self.is_halted() && !self.is_closing {
            events.clear();
            let at = front + self.request.scanned;
            let scan = match self.requests.scan_one(&input[at..], &mut events) {
                Ok(scan) => scan,
                Err(error) => {
                    self.end_with(&format!("ERR Protocol error: {error}"));
                    break;
                }
            };
            if scan.consumed == 0 {
                break;
            }
            self.request.scanned += scan.consumed;
            let end = at + scan.consumed;
            if !self.request.note(&events, at, input) {
                self.end_with("ERR Protocol error: unbalanced quotes in request");
                break;
            }
            let is_whole = events.last() == Some(&Event::Complete);
            if !is_whole && self.request.mode == Mode::Whole && end - front > LOOK_AT_BYTES {
                if self.sharing == Sharing::Shared {
                    // Others would wait for the rest of it.
                    self.leave_lane();
                    break;
                }
                self.look_early(input, end - front);
            }
            match self.request.mode {
                Mode::Whole if is_whole => {
                    if !self.whole(input, front, end) {
                        break;
                    }
                }
                Mode::Whole => continue,
                Mode::Streamed => self.to_server.extend_from_slice(&input[front..end]),
                Mode::Skipped => {}
            }
            front = end;
            self.request.scanned = 0;
            self.request.forget_places(is_whole);
        }
        self.events = events;
        if self.commands > 0 {
            self.counters.commands.add_many(mem::take(&mut self.commands));
        }
        if self.is_closing {
            return input.len();
        }
        if front > 0 {
            self.request.moved(front);
        }
        front
    }

    /// The client does not keep to the protocol: it is told so in its turn, and no more is taken.
    fn end_with(&mut self, error: &str) {
        self.counters.protocol_errors.add();
        let mut reply = Vec::new();
        write_error(error, &mut reply);
        self.owed.push_back(Owed {
            what: What::Own(reply),
            is_hidden: false,
            may_be_queued: false,
        });
        self.is_closing = true;
        self.settle();
    }

    /// Decides over a long command before it is whole.
    fn look_early(&mut self, input: &[u8], bytes: usize) {
        let arguments = self.request.arguments_of(input);
        let Some(name) = arguments.first() else { return };
        let command = command_named(name);
        let is_untouched = match command.map(|found| found.class) {
            Some(Class::Opaque) => true,
            Some(Class::Pack { values: Values::One(_) | Values::Fields(_), .. }) => {
                arguments.get(1).is_some_and(|key| !self.is_ours(key))
            }
            _ => false,
        };
        if is_untouched {
            let is_hidden = self.count_command();
            let may_be_queued = self.asked.in_transaction;
            self.expect(Owed { what: What::Pass, is_hidden, may_be_queued });
            self.request.mode = Mode::Streamed;
        } else if bytes > self.limits.request_bytes_max {
            let is_hidden = self.count_command();
            let limit = self.limits.request_bytes_max;
            self.refuse(
                &format!("TOOLARGE the command is longer than request_bytes_max, {limit} bytes"),
                is_hidden,
            );
            self.request.mode = Mode::Skipped;
        }
    }

    pub(super) fn is_ours(&self, key: &[u8]) -> bool {
        values::namespace_of(&self.live.snapshot(), key).is_some()
    }

    /// Takes a command that is whole; false where it has to wait for a connection of its own.
    fn whole(&mut self, input: &[u8], front: usize, end: usize) -> bool {
        let raw = &input[front..end];
        let is_taken = match &self.request.inline {
            Some(words) => {
                let words = words.clone();
                let arguments: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
                arguments.is_empty() || self.command(raw, &arguments)
            }
            None => {
                let arguments = self.request.arguments_of(input);
                self.command(raw, &arguments)
            }
        };
        if !is_taken {
            self.sharing = Sharing::Leaving { holds_command: true };
        }
        is_taken
    }

    /// Counts a command; answers whether its reply is for nobody.
    fn count_command(&mut self) -> bool {
        self.commands += 1;
        let skips = mem::take(&mut self.asked.skips_next);
        self.asked.replies_off || skips
    }

    fn command(&mut self, raw: &[u8], arguments: &[&[u8]]) -> bool {
        let command = command_named(arguments[0]);
        if self.sharing == Sharing::Shared && command.is_none_or(|found| found.needs_own) {
            return false;
        }
        let is_hidden = self.count_command();
        match command {
            None => self.unknown(raw, arguments, is_hidden),
            Some(command) => self.known_command(command, raw, arguments, is_hidden),
        }
        true
    }

    fn known_command(
        &mut self,
        command: &Command,
        raw: &[u8],
        arguments: &[&[u8]],
        is_hidden: bool,
    ) {
        match command.class {
            Class::Opaque => self.send(raw, What::Pass, is_hidden),
            Class::Connection(kind) => self.connection(kind, raw, arguments, is_hidden),
            Class::Pack { values, reply } => self.pack(values, reply, raw, arguments, is_hidden),
            Class::Unpack(shape) => self.unpack(shape, raw, arguments, is_hidden),
            Class::Inside(inside) => self.inside(inside, raw, arguments, is_hidden),
            Class::Refused(keys) => {
                let first = match keys {
                    Keys::First => arguments.get(1..2),
                    Keys::From(index) => arguments.get(index..),
                };
                self.refuse_ours(first.unwrap_or_default(), raw, command.name, is_hidden);
            }
            Class::Changes { is_only_read } => {
                self.change(command.name, is_only_read, raw, arguments, is_hidden);
            }
            Class::Moves => self.moves(raw, arguments, command.name, is_hidden),
            Class::Script => self.script(raw, arguments, command.name, is_hidden),
            Class::Replication => self.refuse(
                &format!("REFUSED {}: replicas connect to the server directly", command.name),
                is_hidden,
            ),
        }
    }

    /// Sends a command as it came.
    pub(super) fn send(&mut self, raw: &[u8], what: What, is_hidden: bool) {
        self.to_server.extend_from_slice(raw);
        self.owe(what, is_hidden);
    }

    fn send_instead(&mut self, arguments: &[&[u8]], what: What, is_hidden: bool) {
        write_command(arguments, &mut self.to_server);
        self.owe(what, is_hidden);
    }

    fn owe(&mut self, what: What, is_hidden: bool) {
        let may_be_queued = self.asked.in_transaction;
        self.expect(Owed { what, is_hidden, may_be_queued });
    }

    pub(super) fn refuse(&mut self, why: &str, is_hidden: bool) {
        self.counters.refused.add();
        self.refuse_with(format!("CINCH {why}"), is_hidden);
    }

    pub(super) fn refuse_ours(&mut self, keys: &[&[u8]], raw: &[u8], name: &str, is_hidden: bool) {
        match keys.iter().find(|key| self.is_ours(key)) {
            Some(_) => self.refuse(
                &format!("REFUSED {name} works on stored bytes, and this key's are packed"),
                is_hidden,
            ),
            None => self.send(raw, What::Pass, is_hidden),
        }
    }

    /// A value that leaves its namespace would be read by nobody who can unpack it.
    fn moves(&mut self, raw: &[u8], arguments: &[&[u8]], name: &str, is_hidden: bool) {
        let differs = {
            let snapshot = self.live.snapshot();
            let name_of = |index: usize| {
                let key = arguments.get(index)?;
                values::namespace_of(&snapshot, key).map(|ready| ready.namespace().name.clone())
            };
            name_of(1) != name_of(2)
        };
        if differs {
            let why = format!("REFUSED {name} from one namespace to another: read and write it");
            self.refuse(&why, is_hidden);
        } else {
            self.send(raw, What::Pass, is_hidden);
        }
    }

    fn script(&mut self, raw: &[u8], arguments: &[&[u8]], name: &str, is_hidden: bool) {
        let is_allowed = arguments.get(1).is_some_and(|script| {
            let script = String::from_utf8_lossy(script).to_lowercase();
            self.limits.scripts.contains(&script)
        });
        // What the server does not take for a number it refuses.
        let count = arguments.get(2).map_or(0, |text| number(text));
        let keys = arguments.get(3..).unwrap_or_default().iter().take(count);
        if !is_allowed && keys.into_iter().any(|key| self.is_ours(key)) {
            let why = format!(
                "REFUSED {name} may work on stored bytes, and a key's are packed; allow it by its \
                 SHA-1 or name in [proxy.redis] scripts"
            );
            self.refuse(&why, is_hidden);
        } else {
            self.send(raw, What::Pass, is_hidden);
        }
    }

    /// A command that is not in the table. Where an argument looks like a key of a namespace, the
    /// server is asked whether it is one.
    fn unknown(&mut self, raw: &[u8], arguments: &[&[u8]], is_hidden: bool) {
        if !arguments[1..].iter().any(|argument| self.is_ours(argument)) {
            self.counters.unknown.add();
            return self.send(raw, What::Pass, is_hidden);
        }
        if self.asked.in_transaction {
            self.counters.refused.add();
            return self.refuse_with(UNKNOWN.to_owned(), is_hidden);
        }
        let mut question: Vec<&[u8]> = vec![b"COMMAND", b"GETKEYS"];
        question.extend_from_slice(arguments);
        self.is_asking_keys = true;
        self.send_instead(&question, What::KeysOf(raw.to_vec()), is_hidden);
    }

    fn connection(&mut self, kind: Connection, raw: &[u8], arguments: &[&[u8]], is_hidden: bool) {
        let is_bare = arguments.len() == 1;
        let was_in_transaction = self.asked.in_transaction;
        let what = match kind {
            Connection::Multi => {
                self.asked.in_transaction |= is_bare;
                What::Multi
            }
            Connection::Exec => {
                self.asked.in_transaction = false;
                self.asked.watches = false;
                What::Exec
            }
            Connection::Discard => {
                self.asked.in_transaction &= !is_bare;
                self.asked.watches &= !is_bare;
                What::Discard
            }
            Connection::Watch => {
                self.asked.watches = true;
                What::Pass
            }
            Connection::Reset => {
                self.asked = super::Asked::default();
                What::Reset
            }
            Connection::Unwatch => {
                self.asked.watches &= was_in_transaction;
                return self.send(raw, What::Pass, is_hidden);
            }
            Connection::Quit => What::Pass,
            Connection::Client => return self.client(raw, arguments, is_hidden),
            Connection::Hello | Connection::Monitor if was_in_transaction => {
                return self.refuse(IN_TRANSACTION, is_hidden);
            }
            Connection::Subscribe(_) | Connection::Unsubscribe(_) if was_in_transaction => {
                return self.refuse(IN_TRANSACTION, is_hidden);
            }
            Connection::Hello => match arguments.get(1) {
                Some(version) => What::Hello { is_version_3: *version == b"3" },
                None => What::Pass,
            },
            Connection::Monitor => What::Monitor,
            Connection::Subscribe(channels) => {
                let names = &self.known.subscriptions[place(channels)];
                if names.len() + arguments.len() > SUBSCRIPTIONS_MAX {
                    let why = format!("REFUSED more than {SUBSCRIPTIONS_MAX} subscriptions");
                    return self.refuse(&why, is_hidden);
                }
                let left = Left::Count(arguments.len() - 1);
                match is_bare {
                    true => What::Pass,
                    false => What::Acknowledgements { channels, left },
                }
            }
            Connection::Unsubscribe(channels) => {
                let left = match is_bare {
                    true => Left::AllThereAre,
                    false => Left::Count(arguments.len() - 1),
                };
                What::Acknowledgements { channels, left }
            }
        };
        self.to_server.extend_from_slice(raw);
        // These are executed in a transaction, never queued.
        self.expect(Owed { what, is_hidden, may_be_queued: false });
    }

    /// `CLIENT REPLY` is the sidecar's own: the server answers everything, so that the queue always
    /// knows whose a reply is, and what the client does not want is dropped.
    fn client(&mut self, raw: &[u8], arguments: &[&[u8]], is_hidden: bool) {
        let is_reply = arguments.len() == 3 && arguments[1].eq_ignore_ascii_case(b"REPLY");
        if !is_reply {
            return self.send(raw, What::Pass, is_hidden);
        }
        if self.asked.in_transaction {
            return self.refuse(IN_TRANSACTION, is_hidden);
        }
        let own = |reply: &[u8]| What::Own(reply.to_vec());
        let (what, is_hidden) = match arguments[2].to_ascii_uppercase().as_slice() {
            b"ON" => {
                self.asked.replies_off = false;
                (own(b"+OK\r\n"), false)
            }
            b"OFF" => {
                self.asked.replies_off = true;
                (own(b""), true)
            }
            b"SKIP" => {
                self.asked.skips_next = !self.asked.replies_off;
                (own(b""), true)
            }
            _ => (own(b"-ERR syntax error\r\n"), is_hidden),
        };
        self.owed.push_back(Owed { what, is_hidden, may_be_queued: false });
        self.settle();
    }

    fn pack(
        &mut self,
        values: Values,
        reply: Option<Shape>,
        raw: &[u8],
        arguments: &[&[u8]],
        is_hidden: bool,
    ) {
        if matches!(values, Values::One(2)) && has_comparison(arguments) {
            return self.refuse_ours(&arguments[1..2], raw, "SET with a comparison", is_hidden);
        }
        let snapshot = self.live.snapshot();
        let mut packings = packings(values, arguments);
        packings.retain(|row| values::namespace_of(&snapshot, arguments[row.key]).is_some());
        if packings.is_empty() {
            return self.send(raw, What::Pass, is_hidden);
        }
        // Of the commands that may answer with the old value SET does so only where it is told.
        let is_get = |text: &&[u8]| text.eq_ignore_ascii_case(b"GET");
        let is_silent = arguments[0].len() == 3 && !arguments[3..].iter().any(is_get);
        let what = match reply {
            Some(shape) if !is_silent => What::Unpack(Transform::of(shape, arguments[1])),
            _ => What::Pass,
        };
        let bytes: usize = packings.iter().map(|row| arguments[row.argument].len()).sum();
        let is_tried = |row: &Packing| {
            let ready = values::namespace_of(&snapshot, arguments[row.key]);
            ready.is_some_and(|ready| values::is_tried(ready, arguments[row.key]))
        };
        if bytes >= self.limits.pack_elsewhere_bytes && packings.iter().any(is_tried) {
            let arguments = arguments.iter().map(|argument| argument.to_vec()).collect();
            let work = Work::new(Arc::clone(&self.live), arguments, packings);
            let may_be_queued = self.asked.in_transaction;
            let what = Box::new(Owed { what, is_hidden, may_be_queued });
            self.work = Some(Pending::Ready { work, what });
            return;
        }
        let mut packed = Vec::with_capacity(packings.len());
        for row in &packings {
            let key = arguments[row.key];
            let Some(ready) = values::namespace_of(&snapshot, key) else { continue };
            match values::pack(ready, key, &Bytes::copy_from_slice(arguments[row.argument])) {
                Ok(value) => packed.push((row.argument, value)),
                Err(error) => {
                    drop(snapshot);
                    return self.refuse(&format!("TOOLARGE {error}"), is_hidden);
                }
            }
        }
        drop(snapshot);
        let mut sent = arguments.to_vec();
        for (argument, value) in &packed {
            sent[*argument] = value;
        }
        self.send_instead(&sent, what, is_hidden);
    }

    fn unpack(&mut self, shape: Shape, raw: &[u8], arguments: &[&[u8]], is_hidden: bool) {
        let keys = match shape {
            Shape::EachKey => arguments.get(1..),
            _ => arguments.get(1..2),
        };
        let keys = keys.unwrap_or_default();
        // HRANDFIELD and HSCAN answer with fields alone if they are told so.
        let has = |word: &[u8]| arguments.iter().any(|text| text.eq_ignore_ascii_case(word));
        let is_without_values = match command_named(arguments[0]).map(|found| found.name) {
            Some("HRANDFIELD") => arguments.len() < 4 || !has(b"WITHVALUES"),
            Some("HSCAN") => arguments.len() > 3 && arguments[3..].iter().any(is_novalues),
            _ => false,
        };
        if is_without_values || !keys.iter().any(|key| self.is_ours(key)) {
            return self.send(raw, What::Pass, is_hidden);
        }
        let keys = keys.iter().map(|key| key.to_vec()).collect();
        let transform = Transform { shape, keys, question: None, is_head_and_length: false };
        self.send(raw, What::Unpack(transform), is_hidden);
    }

    fn inside(&mut self, inside: Inside, raw: &[u8], arguments: &[&[u8]], is_hidden: bool) {
        let Some(key) = arguments.get(1).copied().filter(|key| self.is_ours(key)) else {
            return self.send(raw, What::Pass, is_hidden);
        };
        let question = match Question::of(inside, arguments) {
            Ok(question) => question,
            Err(error) => return self.refuse_with(error, is_hidden),
        };
        let is_header_enough = inside == Inside::Length
            && !self.asked.in_transaction
            && !self.asked.watches
            && self.has_only_envelopes(key);
        let mut transform = Transform::of(Shape::Value, key);
        if !is_header_enough {
            transform.question = Some(question);
            let what = What::Unpack(transform);
            return match inside {
                Inside::FieldLength => {
                    self.send_instead(&[b"HGET", key, arguments[2]], what, is_hidden);
                }
                _ => self.send_instead(&[b"GET", key], what, is_hidden),
            };
        }
        transform.is_head_and_length = true;
        let last = (HEAD_BYTES - 1).to_string();
        let range: [&[u8]; 4] = [b"GETRANGE", key, b"0", last.as_bytes()];
        for step in [&[b"MULTI".as_slice()][..], &range, &[b"STRLEN", key]] {
            write_command(step, &mut self.to_server);
            self.expect(Owed { what: What::Step, is_hidden, may_be_queued: false });
        }
        self.send_instead(&[b"EXEC"], What::Unpack(transform), is_hidden);
    }

    /// Whether the values of a key's namespace say their length in their first bytes.
    fn has_only_envelopes(&self, key: &[u8]) -> bool {
        let snapshot = self.live.snapshot();
        values::namespace_of(&snapshot, key)
            .is_some_and(|ready| ready.namespace().foreign_formats.is_empty())
    }
}

/// What a client reads that changes its connection inside a transaction.
const IN_TRANSACTION: &str = "REFUSED inside a transaction the sidecar takes no command that \
                              changes how replies come";

fn is_novalues(argument: &&[u8]) -> bool {
    argument.eq_ignore_ascii_case(b"NOVALUES")
}

/// Whether `SET` compares the stored value or its digest with something, as newer servers can.
fn has_comparison(arguments: &[&[u8]]) -> bool {
    const WORDS: [&[u8]; 4] = [b"IFEQ", b"IFNE", b"IFDEQ", b"IFDNE"];
    let is_one = |text: &&[u8]| WORDS.iter().any(|word| text.eq_ignore_ascii_case(word));
    arguments.len() > 4 && arguments[3..].iter().any(is_one)
}

/// Which arguments are values, and where their keys are.
fn packings(values: Values, arguments: &[&[u8]]) -> Vec<Packing> {
    let count = arguments.len();
    let of_first = |argument| Packing { argument, key: 1 };
    match values {
        Values::One(index) => (index..count).take(1).map(of_first).collect(),
        Values::Pairs(from) => {
            let pairs = (from + 1..count).step_by(2);
            pairs.map(|argument| Packing { argument, key: argument - 1 }).collect()
        }
        Values::Fields(from) => (from + 1..count).step_by(2).map(of_first).collect(),
        Values::NamedFields => {
            let word = arguments.iter().position(|text| text.eq_ignore_ascii_case(b"FIELDS"));
            // FIELDS, how many, field, value, …
            word.map_or(Vec::new(), |at| {
                let fields = arguments.get(at + 1).map_or(0, |text| number(text));
                (at + 3..count).step_by(2).take(fields).map(of_first).collect()
            })
        }
        Values::CountedPairs => {
            let pairs = arguments.get(1).map_or(0, |text| number(text));
            let values = (3..count).step_by(2).take(pairs);
            values.map(|argument| Packing { argument, key: argument - 1 }).collect()
        }
    }
}

/// A count among the arguments; 0 where it is none.
fn number(text: &[u8]) -> usize {
    std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}
