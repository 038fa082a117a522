//! Changes inside packed values: the value is read and unpacked, changed here, packed again, and
//! stored if nobody has changed it meanwhile; else it is read again. The time to live stays.
//!
//! The client's commands behind it wait. Its own connection does all of it, so that the server
//! knows whose it is; `EVAL` is what compares and sets in one step.

use std::mem;
use std::sync::Arc;

use bytes::Bytes;

use super::change::Change;
use super::owed::{Owed, What};
use super::replies::Kept;
use super::{Pending, Session, write_command};
use crate::values::{self, Packing, Work};
use cinch_wire::resp::write_error;

/// A change that is under way.
pub(super) struct Changing {
    change: Change,
    key: Vec<u8>,
    tries: u32,
    is_hidden: bool,
    /// What the client reads once it is stored.
    reply: Vec<u8>,
}

/// How often a value is read again that others have changed meanwhile.
const TRIES_MAX: u32 = 64;

/// Stores a value if the stored one is what it was.
const COMPARE_AND_SET: &[u8] = b"local v = redis.call('GET', KEYS[1]) \
    if (v and ARGV[1] == '1' and v == ARGV[2]) or (not v and ARGV[1] == '0') then \
    redis.call('SET', KEYS[1], ARGV[3], 'KEEPTTL') return 1 end return 0";

/// Where the key and the new value are among the arguments of `EVAL`.
const PACKING: Packing = Packing { argument: 6, key: 3 };

impl Session {
    pub(super) fn change(
        &mut self,
        name: &str,
        is_only_read: bool,
        raw: &[u8],
        arguments: &[&[u8]],
        is_hidden: bool,
    ) {
        let Some(key) = arguments.get(1).copied().filter(|key| self.is_ours(key)) else {
            return self.send(raw, What::Pass, is_hidden);
        };
        if !is_only_read && !self.limits.rewrites {
            return self.refuse_ours(&[key], raw, name, is_hidden);
        }
        if self.asked.in_transaction {
            let why = format!(
                "REFUSED {name} of a packed value takes more than one step, and a \
                               transaction has no place for them"
            );
            return self.refuse(&why, is_hidden);
        }
        match Change::of(name, arguments) {
            Err(error) => self.refuse_with(error, is_hidden),
            Ok(change) => {
                let key = key.to_vec();
                self.read_for(Changing { change, key, tries: 0, is_hidden, reply: Vec::new() });
            }
        }
    }

    fn read_for(&mut self, changing: Changing) {
        write_command(&[b"GET", &changing.key], &mut self.to_server);
        self.changing = Some(Box::new(changing));
        self.expect(Owed { what: What::ChangeRead, is_hidden: false, may_be_queued: false });
    }

    /// The value has come, or the outcome of storing it.
    pub(super) fn change_arrived(&mut self, kept: &mut Kept) {
        let owed = self.owed.pop_front();
        let Some(changing) = self.changing.take() else { return };
        if matches!(kept.raw.first(), Some(b'-' | b'!')) {
            let reply = mem::take(&mut kept.raw);
            return self.answer_change(*changing, &reply);
        }
        match owed.map(|owed| owed.what) {
            Some(What::ChangeWrite) if kept.raw == b":1\r\n" => {
                self.counters.changed_inside.add();
                let reply = changing.reply.clone();
                self.answer_change(*changing, &reply);
            }
            Some(What::ChangeWrite) if changing.tries < TRIES_MAX => {
                self.read_for(Changing { tries: changing.tries + 1, ..*changing });
            }
            Some(What::ChangeWrite) => {
                let words = "CINCH BUSY others change the value again and again";
                self.fail_change(*changing, words);
            }
            _ => self.value_arrived(*changing, kept),
        }
    }

    fn value_arrived(&mut self, mut changing: Changing, kept: &mut Kept) {
        if kept.is_cut {
            let limit = self.limits.reply_bytes_max;
            let words = format!("CINCH TOOLARGE the value is longer than {limit} bytes");
            return self.fail_change(changing, &words);
        }
        let is_nothing = kept.raw.starts_with(b"$-1") || kept.raw.starts_with(b"_");
        let stored = kept.bulks.pop().filter(|_| !is_nothing);
        let live = Arc::clone(&self.live);
        let snapshot = live.snapshot();
        let ready = values::namespace_of(&snapshot, &changing.key);
        let unpacked = match (&stored, ready) {
            (Some(stored), Some(ready)) => values::unpack(ready, &changing.key, stored),
            _ => Ok(None),
        };
        let unpacked = match unpacked {
            Ok(unpacked) => unpacked,
            Err(error) => {
                self.counters.undecodable.add();
                let kind = error.error.kind();
                let words = format!("CINCH UNDECODABLE ({kind}) {error}");
                return self.fail_change(changing, &words);
            }
        };
        let payload = unpacked.as_deref().or(stored.as_deref());
        let changed = match changing.change.apply(payload, self.known.is_version_3) {
            Ok(changed) => changed,
            Err(words) => return self.fail_change(changing, &words),
        };
        let Some(payload) = changed.payload else {
            return self.answer_change(changing, &changed.reply);
        };
        changing.reply = changed.reply;
        let exists = if stored.is_some() { "1" } else { "0" };
        let what = Owed { what: What::ChangeWrite, is_hidden: false, may_be_queued: false };
        let mut arguments: Vec<Vec<u8>> =
            [b"EVAL".as_slice(), COMPARE_AND_SET, b"1", &changing.key, exists.as_bytes()]
                .map(<[u8]>::to_vec)
                .into();
        arguments.push(stored.unwrap_or_default());
        if payload.len() >= self.limits.pack_elsewhere_bytes {
            arguments.push(payload);
            let work = Work::new(Arc::clone(&self.live), arguments, vec![PACKING]);
            self.work = Some(Pending::Ready { work, what: Box::new(what) });
            self.changing = Some(Box::new(changing));
            return;
        }
        let payload = Bytes::from(payload);
        let packed = match ready {
            Some(ready) => values::pack(ready, &changing.key, &payload),
            None => Ok(payload),
        };
        match packed {
            Err(error) => self.fail_change(changing, &format!("CINCH TOOLARGE {error}")),
            Ok(value) => {
                let mut sent: Vec<&[u8]> = arguments.iter().map(Vec::as_slice).collect();
                sent.push(&value);
                write_command(&sent, &mut self.to_server);
                self.changing = Some(Box::new(changing));
                self.expect(what);
            }
        }
    }

    fn answer_change(&mut self, changing: Changing, reply: &[u8]) {
        if !changing.is_hidden {
            self.to_client.extend_from_slice(reply);
        }
    }

    fn fail_change(&mut self, changing: Changing, words: &str) {
        let mut reply = Vec::new();
        write_error(words, &mut reply);
        self.answer_change(changing, &reply);
    }
}

impl Changing {
    pub(super) fn is_hidden(&self) -> bool {
        self.is_hidden
    }
}
